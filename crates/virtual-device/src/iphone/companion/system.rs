//! Links, permissions, the place, notifications, settings and how the phone is held.

use mdm_wire::idb::{
    DeviceOrientation, Empty, GetOrientationResponse, GetSettingRequest, GetSettingResponse,
    HidOrientationKind, ListSettingRequest, ListSettingResponse, OpenUrlRequest, Permission,
    PermissionRequest, SendNotificationRequest, SetLocationRequest, SetOrientationRequest, SettingChange,
    SettingKind, SettingRequest,
};
use tonic::Status;

use super::calls::Answer;
use super::hid::quarter_turns;
use crate::iphone::{IPhone, Push};

/// Where the phone's settings keep those of iOS.
const NAMESPACE: &str = "secure";
const LOCALE: &str = "AppleLocale";
const LOCALES: [&str; 6] = ["de_DE", "en_GB", "en_US", "es_ES", "fr_FR", "ja_JP"];

pub async fn open_url(iphone: &IPhone, request: OpenUrlRequest) -> Answer<OpenUrlRequest> {
    if request.url.is_empty() {
        return Err(Status::internal("Failed to open URL : it is empty"));
    }
    iphone.simulator(|simulator| simulator.open(&request.url));
    Ok(OpenUrlRequest::default())
}

pub async fn approve(iphone: &IPhone, request: PermissionRequest) -> Answer<Empty> {
    permit(iphone, &request, Some(true))
}

pub async fn revoke(iphone: &IPhone, request: PermissionRequest) -> Answer<Empty> {
    permit(iphone, &request, None)
}

fn permit(iphone: &IPhone, request: &PermissionRequest, granted: Option<bool>) -> Answer<Empty> {
    for number in &request.permissions {
        let permission =
            Permission::try_from(*number).map_err(|_| Status::invalid_argument("Unrecognized permission"))?;
        let service = match permission {
            Permission::Photos => "photos",
            Permission::Camera => "camera",
            Permission::Contacts => "contacts",
            Permission::Url if request.scheme.is_empty() => {
                return Err(Status::invalid_argument("You must specify a scheme when approving url"));
            }
            Permission::Url => "url",
            Permission::Location => "location",
            Permission::Notification => "notification",
            Permission::Microphone => "microphone",
        };
        iphone.simulator(|simulator| simulator.permit(&request.bundle_id, service, granted));
    }
    Ok(Empty {})
}

pub async fn set_location(iphone: &IPhone, request: SetLocationRequest) -> Answer<Empty> {
    let place = request.location.ok_or_else(|| Status::invalid_argument("There is no location"))?;
    iphone.simulator(|simulator| simulator.location = Some((place.latitude, place.longitude)));
    Ok(Empty {})
}

pub async fn send_notification(iphone: &IPhone, request: SendNotificationRequest) -> Answer<Empty> {
    let push = Push { bundle: request.bundle_id, payload: request.json_payload };
    iphone.simulator(|simulator| simulator.push(push));
    Ok(Empty {})
}

pub async fn get_orientation(iphone: &IPhone, _request: Empty) -> Answer<GetOrientationResponse> {
    let orientation = match iphone.phone().with(|state| state.display.rotation()) {
        1 => DeviceOrientation::LandscapeLeft,
        2 => DeviceOrientation::PortraitUpsideDown,
        3 => DeviceOrientation::LandscapeRight,
        _ => DeviceOrientation::Portrait,
    };
    Ok(GetOrientationResponse { orientation: orientation.into() })
}

pub async fn set_orientation(iphone: &IPhone, request: SetOrientationRequest) -> Answer<Empty> {
    let kind = HidOrientationKind::try_from(request.orientation)
        .map_err(|_| Status::invalid_argument("Unrecognized orientation type"))?;
    iphone.phone().set_rotation(quarter_turns(kind));
    Ok(Empty {})
}

pub async fn set_setting(iphone: &IPhone, request: SettingRequest) -> Answer<Empty> {
    match request.setting {
        Some(SettingChange::HardwareKeyboard(_)) => {}
        Some(SettingChange::Text(text)) => {
            let name = if text.setting == i32::from(SettingKind::Locale) { LOCALE } else { &text.name };
            iphone.phone().with(|state| state.put_setting(NAMESPACE, name, &text.value));
        }
        None => return Err(Status::invalid_argument("Unknown setting case")),
    }
    Ok(Empty {})
}

pub async fn get_setting(iphone: &IPhone, request: GetSettingRequest) -> Answer<GetSettingResponse> {
    let name = if request.setting == i32::from(SettingKind::Locale) { LOCALE } else { &request.name };
    let value = iphone.phone().with(|state| state.settings.get(NAMESPACE, name).map(str::to_owned));
    let default = if name == LOCALE { "en_US" } else { "" };
    Ok(GetSettingResponse { value: value.unwrap_or_else(|| default.to_owned()) })
}

pub async fn list_settings(_iphone: &IPhone, _request: ListSettingRequest) -> Answer<ListSettingResponse> {
    Ok(ListSettingResponse { values: LOCALES.iter().map(|locale| (*locale).to_owned()).collect() })
}
