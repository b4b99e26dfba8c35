//! What the companion reaches, and pictures of its screen.

use bytes::Bytes;
use mdm_wire::idb::{
    CompanionInfo, ConnectRequest, ConnectResponse, PictureFormat, PictureSize, ScreenDimensions,
    ScreenshotRequest, ScreenshotResponse, TargetDescription, TargetDescriptionRequest,
    TargetDescriptionResponse,
};
use tonic::Status;

use super::calls::Answer;
use crate::helpers::picture;
use crate::iphone::{IPhone, IPhoneKind, SCALE};

pub async fn connect(iphone: &IPhone, request: ConnectRequest) -> Answer<ConnectResponse> {
    // As idb does it: a file of the client that the companion sees too means one file system.
    let is_local = !request.local_file_path.is_empty()
        && tokio::task::spawn_blocking(move || std::path::Path::new(&request.local_file_path).exists())
            .await
            .unwrap_or(false);
    Ok(ConnectResponse { companion: Some(CompanionInfo { is_local, ..info(iphone) }) })
}

pub async fn describe(
    iphone: &IPhone,
    _request: TargetDescriptionRequest,
) -> Answer<TargetDescriptionResponse> {
    let config = iphone.config();
    let (width, height) = iphone.phone().with(|state| state.display.physical_size());
    let simulator = config.kind == IPhoneKind::Simulator;
    let (width, height, scale) = (u64::from(width), u64::from(height), u64::from(SCALE));
    let target = TargetDescription {
        udid: config.udid.clone(),
        name: config.name.clone(),
        screen_dimensions: Some(ScreenDimensions {
            width,
            height,
            density: f64::from(SCALE),
            width_points: width / scale,
            height_points: height / scale,
        }),
        state: "Booted".to_owned(),
        target_type: if simulator { "simulator" } else { "device" }.to_owned(),
        os_version: format!("iOS {}", config.ios_version),
        architecture: "arm64".to_owned(),
        extended: Bytes::from_static(b"{}"),
        diagnostics: Bytes::new(),
    };
    Ok(TargetDescriptionResponse { target_description: Some(target), companion: Some(info(iphone)) })
}

fn info(iphone: &IPhone) -> CompanionInfo {
    CompanionInfo {
        udid: iphone.config().udid.clone(),
        is_local: false,
        metadata: Bytes::from_static(b"{}"),
        supported_compressions: Vec::new(),
    }
}

pub async fn screenshot(iphone: &IPhone, request: ScreenshotRequest) -> Answer<ScreenshotResponse> {
    let old = iphone.config().iphone_faults.old_companion;
    let jpeg = !old && request.format == i32::from(PictureFormat::Jpeg);
    let image_data = if jpeg {
        let quality = if request.compression_quality > 0.0 { request.compression_quality } else { 0.8 };
        picture::jpeg(iphone.phone(), (quality * 100.0) as u8).map(Bytes::from)
    } else {
        Some(picture::png(iphone.phone()))
    };
    let image_data = image_data.ok_or_else(|| Status::internal("Could not take a screenshot"))?;
    if old {
        return Ok(ScreenshotResponse { image_data, ..ScreenshotResponse::default() });
    }
    let (width, height) = iphone.phone().with(|state| state.display.physical_size());
    let size = Some(PictureSize { width, height });
    Ok(ScreenshotResponse {
        image_data,
        image_format: if jpeg { "jpeg" } else { "png" }.to_owned(),
        destination: size,
        source: size,
        screen_scale: f64::from(SCALE),
    })
}
