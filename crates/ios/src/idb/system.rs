//! Links, permissions, the place, the keychain, notifications, and how the simulator is held.

use mdm_core::port::DeviceError;
use mdm_wire::idb::{
    DeviceOrientation, Empty, GetOrientationResponse, HidOrientationKind, Location, OpenUrlRequest,
    Permission, PermissionRequest, SendNotificationRequest, SetLocationRequest, SetOrientationRequest,
};

use super::Idb;
use super::call::Method;

impl Idb {
    pub async fn open_url(&self, url: &str) -> Result<(), DeviceError> {
        const OPEN: Method = Method::act("open_url", "open the link");
        let _: OpenUrlRequest = self.ask(OPEN, OpenUrlRequest { url: url.to_owned() }).await?;
        Ok(())
    }

    pub async fn approve(&self, bundle: &str, permissions: &[Permission]) -> Result<(), DeviceError> {
        const APPROVE: Method = Method::act("approve", "grant the permission");
        self.permit(APPROVE, bundle, permissions).await
    }

    pub async fn revoke(&self, bundle: &str, permissions: &[Permission]) -> Result<(), DeviceError> {
        const REVOKE: Method = Method::act("revoke", "revoke the permission");
        self.permit(REVOKE, bundle, permissions).await
    }

    async fn permit(
        &self,
        method: Method,
        bundle: &str,
        permissions: &[Permission],
    ) -> Result<(), DeviceError> {
        let request = PermissionRequest {
            bundle_id: bundle.to_owned(),
            permissions: permissions.iter().map(|permission| i32::from(*permission)).collect(),
            scheme: String::new(),
        };
        let _: Empty = self.ask(method, request).await?;
        Ok(())
    }

    pub async fn set_location(&self, latitude: f64, longitude: f64) -> Result<(), DeviceError> {
        const PLACE: Method = Method::act("set_location", "set the place");
        let request = SetLocationRequest { location: Some(Location { latitude, longitude }) };
        let _: Empty = self.ask(PLACE, request).await?;
        Ok(())
    }

    /// `payload` is the JSON of a push notification.
    pub async fn send_notification(&self, bundle: &str, payload: &str) -> Result<(), DeviceError> {
        const NOTIFY: Method = Method::act("send_notification", "send the notification");
        let request =
            SendNotificationRequest { bundle_id: bundle.to_owned(), json_payload: payload.to_owned() };
        let _: Empty = self.ask(NOTIFY, request).await?;
        Ok(())
    }

    pub async fn clear_keychain(&self) -> Result<(), DeviceError> {
        const CLEAR: Method = Method::act("clear_keychain", "clear the keychain");
        let _: Empty = self.ask(CLEAR, Empty {}).await?;
        Ok(())
    }

    /// Returns how the simulator is held; nothing for flat on a table, and for what is not known.
    pub async fn orientation(&self) -> Result<Option<HidOrientationKind>, DeviceError> {
        const GET: Method = Method::read("get_orientation", "say how the simulator is held");
        let answer: GetOrientationResponse = self.ask(GET, Empty {}).await?;
        Ok(match DeviceOrientation::try_from(answer.orientation) {
            Ok(DeviceOrientation::Portrait) => Some(HidOrientationKind::Portrait),
            Ok(DeviceOrientation::PortraitUpsideDown) => Some(HidOrientationKind::PortraitUpsideDown),
            Ok(DeviceOrientation::LandscapeLeft) => Some(HidOrientationKind::LandscapeLeft),
            Ok(DeviceOrientation::LandscapeRight) => Some(HidOrientationKind::LandscapeRight),
            _ => None,
        })
    }

    pub async fn set_orientation(&self, kind: HidOrientationKind) -> Result<(), DeviceError> {
        const SET: Method = Method::act("set_orientation", "turn the simulator");
        let _: Empty = self.ask(SET, SetOrientationRequest { orientation: kind.into() }).await?;
        Ok(())
    }
}
