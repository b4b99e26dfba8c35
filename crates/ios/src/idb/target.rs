//! What the companion reaches, and pictures of its screen.

use bytes::Bytes;
use mdm_core::port::{DeviceError, DeviceErrorKind};
use mdm_wire::idb::{
    ScreenDimensions, ScreenshotRequest, ScreenshotResponse, TargetDescriptionRequest,
    TargetDescriptionResponse,
};

use super::Idb;
use super::call::Method;

/// A simulator, or rarely a device.
#[derive(Debug, Clone, PartialEq)]
pub struct IdbTarget {
    pub udid: String,
    pub name: String,
    /// `Booted`, `Shutdown` and so on.
    pub state: String,
    pub is_simulator: bool,
    /// `18.5`; as the companion wrote it if it is none of iOS.
    pub os_version: String,
    pub architecture: String,
    pub screen: Option<IdbScreen>,
}

/// The upright screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IdbScreen {
    pub width_px: u32,
    pub height_px: u32,
    pub width_points: u32,
    pub height_points: u32,
    /// Pixels a point.
    pub scale: f64,
}

impl Idb {
    pub async fn describe(&self) -> Result<IdbTarget, DeviceError> {
        const DESCRIBE: Method = Method::read("describe", "describe the simulator");
        let answer: TargetDescriptionResponse =
            self.ask(DESCRIBE, TargetDescriptionRequest { fetch_diagnostics: false }).await?;
        let Some(target) = answer.target_description else {
            return Err(DeviceError::new(
                DeviceErrorKind::Protocol,
                "the companion described nothing: it has no target",
            ));
        };
        let version = target.os_version.strip_prefix("iOS ").unwrap_or(&target.os_version).to_owned();
        Ok(IdbTarget {
            udid: target.udid,
            name: target.name,
            state: target.state,
            is_simulator: target.target_type.eq_ignore_ascii_case("simulator"),
            os_version: version,
            architecture: target.architecture,
            screen: target.screen_dimensions.and_then(screen),
        })
    }

    /// Returns a PNG of the upright screen, in pixels.
    pub async fn screenshot(&self) -> Result<Bytes, DeviceError> {
        const SCREENSHOT: Method = Method::read("screenshot", "take a picture of the screen");
        let answer: ScreenshotResponse = self.ask(SCREENSHOT, ScreenshotRequest::default()).await?;
        if answer.image_data.is_empty() {
            return Err(DeviceError::new(
                DeviceErrorKind::ScreenshotUnavailable,
                "the companion sent a picture without content; the simulator may not have drawn anything yet",
            ));
        }
        Ok(answer.image_data)
    }
}

/// Nothing for sizes that no screen has.
fn screen(told: ScreenDimensions) -> Option<IdbScreen> {
    let number = |value: u64| u32::try_from(value).ok().filter(|value| *value > 0);
    let (width_px, height_px) = (number(told.width)?, number(told.height)?);
    let scale = if told.density.is_finite() && told.density >= 1.0 { told.density } else { 1.0 };
    let points = |told: u64, px: u32| number(told).unwrap_or((f64::from(px) / scale).round() as u32);
    Some(IdbScreen {
        width_px,
        height_px,
        width_points: points(told.width_points, width_px),
        height_points: points(told.height_points, height_px),
        scale,
    })
}
