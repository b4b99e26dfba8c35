//! Which method a request is for.

use mdm_wire::idb::{self, Empty};

use super::calls::{HttpRequest, HttpResponse, both_ways, download, unary, unimplemented, upload};
use super::{actions, apps, crashes, files, hid, log, query, quiescence, system, target};
use crate::iphone::IPhone;

/// Methods that a companion of 2022 does not have.
const NEW: [&str; 4] =
    ["accessibility_action", "accessibility_quiescence", "get_orientation", "set_orientation"];

/// Runs one method with the function that knows it.
macro_rules! call {
    ($kind:ident, $iphone:ident, $request:ident, $method:path) => {
        $kind($request, |message| {
            let iphone = $iphone.clone();
            async move { $method(&iphone, message).await }
        })
        .await
    };
}

pub async fn answer(iphone: IPhone, request: HttpRequest) -> HttpResponse {
    let path = request.uri().path().to_owned();
    let Some((idb::SERVICE, method)) = path.strip_prefix('/').and_then(|path| path.split_once('/')) else {
        return unimplemented();
    };
    if iphone.config().iphone_faults.old_companion && NEW.contains(&method) {
        return unimplemented();
    }
    match method {
        "connect" => call!(unary, iphone, request, target::connect),
        "describe" => call!(unary, iphone, request, target::describe),
        "screenshot" => call!(unary, iphone, request, target::screenshot),
        "accessibility_info" => call!(unary, iphone, request, query::info),
        "accessibility_action" => call!(unary, iphone, request, actions::perform),
        "accessibility_quiescence" => call!(download, iphone, request, quiescence::follow),
        "hid" => call!(upload, iphone, request, hid::receive),
        "get_orientation" => call!(unary, iphone, request, system::get_orientation),
        "set_orientation" => call!(unary, iphone, request, system::set_orientation),
        "list_apps" => call!(unary, iphone, request, apps::list),
        "launch" => call!(both_ways, iphone, request, apps::launch),
        "terminate" => call!(unary, iphone, request, apps::terminate),
        "install" => call!(both_ways, iphone, request, apps::install),
        "uninstall" => call!(unary, iphone, request, apps::uninstall),
        "log" => call!(download, iphone, request, log::follow),
        "crash_list" => call!(unary, iphone, request, crashes::list),
        "crash_show" => call!(unary, iphone, request, crashes::show),
        "crash_delete" => call!(unary, iphone, request, crashes::delete),
        "ls" => call!(unary, iphone, request, files::list),
        "pull" => call!(download, iphone, request, files::pull),
        _ => system_call(iphone, method, request).await,
    }
}

/// Methods that set something of the simulator and answer nothing, most of them.
async fn system_call(iphone: IPhone, method: &str, request: HttpRequest) -> HttpResponse {
    match method {
        "open_url" => call!(unary, iphone, request, system::open_url),
        "approve" => call!(unary, iphone, request, system::approve),
        "revoke" => call!(unary, iphone, request, system::revoke),
        "set_location" => call!(unary, iphone, request, system::set_location),
        "send_notification" => call!(unary, iphone, request, system::send_notification),
        "setting" => call!(unary, iphone, request, system::set_setting),
        "get_setting" => call!(unary, iphone, request, system::get_setting),
        "list_settings" => call!(unary, iphone, request, system::list_settings),
        "focus" | "clear_keychain" | "simulate_memory_warning" => {
            unary(request, |_: Empty| async { Ok(Empty {}) }).await
        }
        _ => unimplemented(),
    }
}
