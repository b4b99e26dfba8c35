//! The methods that the client calls.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::{Duration, Instant};

use super::wire::{DeviceInfo, ObjectInfo, UiSelector};
use super::{Fault, Server};
use crate::app::keys;
use crate::helpers::automation::settled;
use crate::helpers::scroll::{self, Direction};
use crate::helpers::selector::Selector;
use crate::helpers::tree::{Node, Tree, xml};
use crate::helpers::{picture, touch};
use crate::phone::Phone;
use crate::state::CLIPBOARD_BYTES_MAX;

/// A finger moves one step in this time.
const STEP_MS: u64 = 5;
const LONG_PRESS_MS: u64 = 500;
/// Between two looks at the screen while something is waited for.
const POLL: Duration = Duration::from_millis(200);
const WAIT_MS_MAX: u64 = 600_000;

type Answer = Result<Box<RawValue>, Fault>;

fn give(value: impl Serialize) -> Answer {
    to_raw_value(&value).map_err(|e| Fault::new(-32603, e.to_string()))
}

fn take<T: DeserializeOwned>(params: &RawValue) -> Result<T, Fault> {
    serde_json::from_str(params.get()).map_err(|_| Fault::parameters())
}

pub async fn call(server: &Server, phone: &Phone, method: &str, params: &RawValue) -> Answer {
    // The real one waits for a quiet screen too, and goes on without.
    settled(phone).await;
    match method {
        "deviceInfo" => give(device_info(phone)),
        "dumpWindowHierarchy" => give(dump(phone)),
        "takeScreenshot" => screenshot(phone, params),
        "click" | "longClick" => click(phone, method, params).await,
        "swipe" | "drag" => swipe(phone, params).await,
        "swipePoints" => swipe_points(phone, params).await,
        "dragTo" => drag_to(phone, params).await,
        "injectInputEvent" => inject(phone, params),
        "pressKey" | "pressKeyCode" => press(phone, method, params),
        "makeToast" | "getLastToast" | "clearLastToast" => toast(server, method, params),
        "setClipboard" | "getClipboard" | "pasteClipboard" | "clearInputText" => {
            clipboard(phone, method, params)
        }
        "wakeUp" => press_code(phone, 224),
        "sleep" => press_code(phone, 223),
        "waitForIdle" => give(true),
        // Neither a shade nor tiles can be opened here, and the method says so.
        "openNotification" | "openQuickSettings" => give(false),
        "scrollTo" => scroll_to(phone, params).await,
        name if name.starts_with("scroll") || name.starts_with("fling") => {
            scroll_by(phone, name, params).await
        }
        _ => object(phone, method, params).await,
    }
}

/// Methods whose first argument says which object is meant.
async fn object(phone: &Phone, method: &str, params: &RawValue) -> Answer {
    match method {
        "exist" => {
            let (which,) = take::<(UiSelector,)>(params)?;
            give(find(phone, &which)?.is_some())
        }
        "count" => {
            let (which,) = take::<(UiSelector,)>(params)?;
            give(selector(&which)?.all(&Tree::of(phone)).len())
        }
        "objInfo" => {
            let (which,) = take::<(UiSelector,)>(params)?;
            give(ObjectInfo::of(&must_find(phone, &which)?))
        }
        "objInfoOfAllInstances" => {
            let (which,) = take::<(UiSelector,)>(params)?;
            let tree = Tree::of(phone);
            let found = selector(&which)?.all(&tree);
            give(found.iter().filter_map(|at| tree.nodes.get(*at)).map(ObjectInfo::of).collect::<Vec<_>>())
        }
        "getText" => {
            let (which,) = take::<(UiSelector,)>(params)?;
            give(must_find(phone, &which)?.get("text"))
        }
        "setText" => {
            let (which, text) = take::<(UiSelector, String)>(params)?;
            give(touch::set_text(phone, must_find(phone, &which)?.centre(), &text))
        }
        "clearTextField" => {
            let (which,) = take::<(UiSelector,)>(params)?;
            give(touch::set_text(phone, must_find(phone, &which)?.centre(), ""))
        }
        "waitForExists" | "waitUntilGone" => {
            let (which, ms) = take::<(UiSelector, u64)>(params)?;
            give(wait(phone, &which, ms, method == "waitForExists").await?)
        }
        _ => Err(Fault::new(-32601, "method not found")),
    }
}

fn selector(which: &UiSelector) -> Result<Selector, Fault> {
    which.selector().ok_or_else(Fault::parameters)
}

fn find(phone: &Phone, which: &UiSelector) -> Result<Option<Node>, Fault> {
    let tree = Tree::of(phone);
    Ok(selector(which)?.first(&tree).and_then(|at| tree.nodes.get(at).cloned()))
}

fn must_find(phone: &Phone, which: &UiSelector) -> Result<Node, Fault> {
    find(phone, which)?.ok_or_else(|| Fault::not_found(&format!("{which:?}")))
}

async fn wait(phone: &Phone, which: &UiSelector, ms: u64, there: bool) -> Result<bool, Fault> {
    let deadline = Instant::now() + Duration::from_millis(ms.min(WAIT_MS_MAX));
    loop {
        if find(phone, which)?.is_some() == there {
            return Ok(true);
        }
        let now = Instant::now();
        if now >= deadline {
            return Ok(false);
        }
        tokio::time::sleep_until(deadline.min(now + POLL)).await;
    }
}

fn device_info(phone: &Phone) -> DeviceInfo {
    let rotation = Tree::of(phone).rotation;
    phone.with(|state| {
        let screen = state.screen();
        let dp = |px: i32| (i64::from(px) * 160 / i64::from(screen.density.max(1))) as i32;
        DeviceInfo {
            current_package_name: state.ui.front().0.to_string(),
            display_height: screen.height,
            display_rotation: rotation,
            display_size_dp_x: dp(screen.width),
            display_size_dp_y: dp(screen.height),
            display_width: screen.width,
            product_name: state.properties.get("ro.product.name").cloned().unwrap_or_default(),
            screen_on: true,
            sdk_int: state.config.sdk,
            natural_orientation: rotation.is_multiple_of(2),
        }
    })
}

/// The helper's dump says of each node that it is visible; escaping keeps the mark out of any text.
fn dump(phone: &Phone) -> String {
    xml(phone).replace(" bounds=\"", " visible-to-user=\"true\" bounds=\"")
}

fn screenshot(phone: &Phone, params: &RawValue) -> Answer {
    let (_scale, quality) = take::<(f32, u8)>(params)?;
    let jpeg = picture::jpeg(phone, quality).ok_or_else(|| Fault::new(-32603, "no picture"))?;
    give(STANDARD.encode(jpeg))
}

fn point(x: f64, y: f64) -> (i32, i32) {
    (x as i32, y as i32)
}

/// At a point, at a point for a time, or on an object.
async fn click(phone: &Phone, method: &str, params: &RawValue) -> Answer {
    let is_long = method == "longClick";
    let (at, ms) = if let Ok((x, y, ms)) = take::<(f64, f64, u64)>(params) {
        (point(x, y), Some(ms))
    } else if let Ok((x, y)) = take::<(f64, f64)>(params) {
        (point(x, y), None)
    } else if let Ok((which,)) = take::<(UiSelector,)>(params) {
        (must_find(phone, &which)?.centre(), None)
    } else {
        let (which, _corner) = take::<(UiSelector, String)>(params)?;
        (must_find(phone, &which)?.centre(), None)
    };
    match ms.or(is_long.then_some(LONG_PRESS_MS)) {
        Some(ms) => touch::swipe(phone, at, at, ms).await,
        None => touch::tap(phone, at),
    }
    give(true)
}

async fn swipe(phone: &Phone, params: &RawValue) -> Answer {
    let (x1, y1, x2, y2, steps) = take::<(f64, f64, f64, f64, u64)>(params)?;
    touch::swipe(phone, point(x1, y1), point(x2, y2), steps.saturating_mul(STEP_MS)).await;
    give(true)
}

/// Only the ends of the way matter to the screens of this phone.
async fn swipe_points(phone: &Phone, params: &RawValue) -> Answer {
    let (points, steps) = take::<(Vec<f64>, u64)>(params)?;
    let [x1, y1, .., x2, y2] = points.as_slice() else { return Err(Fault::parameters()) };
    touch::swipe(phone, point(*x1, *y1), point(*x2, *y2), steps.saturating_mul(STEP_MS)).await;
    give(true)
}

async fn drag_to(phone: &Phone, params: &RawValue) -> Answer {
    let (from, to, steps) = if let Ok((which, x, y, steps)) = take::<(UiSelector, f64, f64, u64)>(params) {
        (must_find(phone, &which)?.centre(), point(x, y), steps)
    } else {
        let (which, target, steps) = take::<(UiSelector, UiSelector, u64)>(params)?;
        (must_find(phone, &which)?.centre(), must_find(phone, &target)?.centre(), steps)
    };
    touch::swipe(phone, from, to, steps.saturating_mul(STEP_MS)).await;
    give(true)
}

fn inject(phone: &Phone, params: &RawValue) -> Answer {
    const DOWN: u8 = 0;
    const UP: u8 = 1;
    let (action, x, y, _meta) = take::<(u8, f64, f64, i32)>(params)?;
    match action {
        DOWN => touch::down(phone, point(x, y)),
        UP => touch::up(phone, point(x, y)),
        _ => {}
    }
    give(true)
}

fn press(phone: &Phone, method: &str, params: &RawValue) -> Answer {
    if method == "pressKeyCode" {
        let code = take::<(u32,)>(params).map(|(code,)| code);
        return press_code(phone, code.or_else(|_| take::<(u32, u32)>(params).map(|(code, _)| code))?);
    }
    let (name,) = take::<(String,)>(params)?;
    let code = match name.to_lowercase().as_str() {
        "home" => keys::HOME,
        "back" => keys::BACK,
        "left" => 21,
        "right" => 22,
        "up" => 19,
        "down" => 20,
        "center" => 23,
        "menu" => 82,
        "search" => 84,
        "enter" => keys::ENTER,
        "delete" | "del" => keys::DEL,
        "recent" => 187,
        "volume_up" => 24,
        "volume_down" => 25,
        "volume_mute" => 164,
        "camera" => 27,
        "power" => 26,
        _ => return Err(Fault::parameters()),
    };
    press_code(phone, code)
}

fn press_code(phone: &Phone, code: u32) -> Answer {
    touch::key(phone, code);
    give(true)
}

/// The helper hears toasts, its own too.
fn toast(server: &Server, method: &str, params: &RawValue) -> Answer {
    let mut toast = server.toast();
    match method {
        "makeToast" => {
            let (text, _ms) = take::<(String, f64)>(params)?;
            *toast = Some(text);
            give(true)
        }
        "getLastToast" => give(toast.as_deref()),
        _ => {
            *toast = None;
            give(())
        }
    }
}

fn clipboard(phone: &Phone, method: &str, params: &RawValue) -> Answer {
    match method {
        "setClipboard" => {
            let (_label, text) = take::<(Option<String>, String)>(params)?;
            if text.len() > CLIPBOARD_BYTES_MAX {
                return Err(Fault::new(-32001, "android.os.TransactionTooLargeException"));
            }
            phone.with(|state| state.clipboard = text);
            give(())
        }
        "getClipboard" => give(phone.with(|state| state.clipboard.clone())),
        "pasteClipboard" => {
            touch::key(phone, keys::PASTE);
            give(())
        }
        _ => {
            touch::clear_focused(phone);
            give(())
        }
    }
}

async fn scroll_to(phone: &Phone, params: &RawValue) -> Answer {
    let (which, target, vertical) = take::<(UiSelector, UiSelector, bool)>(params)?;
    let (list, target) = (selector(&which)?, selector(&target)?);
    if list.first(&Tree::of(phone)).is_none() {
        return Err(Fault::not_found(&format!("{which:?}")));
    }
    give(scroll::into_view(phone, &list, &target, vertical).await)
}

/// `scrollForward(which, vertical, steps)`, `flingToEnd(which, vertical, swipes)` and the like.
async fn scroll_by(phone: &Phone, method: &str, params: &RawValue) -> Answer {
    let rest = method.strip_prefix("scroll").map(|rest| (rest, scroll::SCROLL_STEPS));
    let (rest, steps) = rest.or_else(|| Some((method.strip_prefix("fling")?, scroll::FLING_STEPS))).unzip();
    let (Some(rest), Some(steps)) = (rest, steps) else { return Err(Fault::new(-32601, "method not found")) };
    let (which, vertical, first, second) = if let Ok((w, v)) = take::<(UiSelector, bool)>(params) {
        (w, v, None, None)
    } else if let Ok((w, v, a)) = take::<(UiSelector, bool, u64)>(params) {
        (w, v, Some(a), None)
    } else {
        let (w, v, a, b) = take::<(UiSelector, bool, u64, u64)>(params)?;
        (w, v, Some(a), Some(b))
    };
    let list = selector(&which)?;
    must_find(phone, &which)?;
    let direction = match rest {
        "Forward" | "ToEnd" => Direction::Forward,
        "Backward" | "ToBeginning" => Direction::Backward,
        _ => return Err(Fault::new(-32601, "method not found")),
    };
    if rest.starts_with("To") {
        let (swipes, steps) = (first.unwrap_or(scroll::SWIPES_MAX), second.unwrap_or(steps));
        give(scroll::to_end(phone, &list, direction, vertical, swipes, steps).await)
    } else {
        give(scroll::once(phone, &list, direction, vertical, first.unwrap_or(steps)).await)
    }
}
