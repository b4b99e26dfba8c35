//! The methods that the client calls.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::{Duration, Instant};

use super::wire::{DeviceInfo, ObjectInfo, ObjectRef, UiSelector};
use super::{RpcError, Server, ToastLog};
use crate::app::keys;
use crate::helpers::automation::settled;
use crate::helpers::scroll::{self, Direction};
use crate::helpers::selector::{Relation, Selector, SelectorStep, Test};
use crate::helpers::tree::{Node, Tree, xml};
use crate::helpers::{picture, touch};
use crate::phone::Phone;
use crate::state::CLIPBOARD_BYTES_MAX;
use crate::surface::SystemEvent;

/// The time of one step of a finger.
const STEP_MS: u64 = 5;
const LONG_PRESS_MS: u64 = 500;
/// The interval of checks while a client waits for something.
const POLL: Duration = Duration::from_millis(200);
const WAIT_MS_MAX: u64 = 600_000;

type MethodResult = Result<Box<RawValue>, RpcError>;

fn success(value: impl Serialize) -> MethodResult {
    to_raw_value(&value).map_err(|e| RpcError::new(-32603, e.to_string()))
}

fn parse_arguments<T: DeserializeOwned>(params: &RawValue) -> Result<T, RpcError> {
    serde_json::from_str(params.get()).map_err(|_| RpcError::parameters())
}

pub async fn call(server: &Server, phone: &Phone, method: &str, params: &RawValue) -> MethodResult {
    // The real helper waits for a quiet screen too, and continues if there is none.
    settled(phone).await;
    match method {
        "deviceInfo" => success(device_info(phone)),
        "dumpWindowHierarchy" => success(dump(phone)),
        "takeScreenshot" => screenshot(phone, params),
        "click" | "longClick" => click(server, phone, method, params).await,
        "swipe" | "drag" => swipe(phone, params).await,
        "swipePoints" => swipe_points(phone, params).await,
        "dragTo" => drag_to(server, phone, params).await,
        "injectInputEvent" => inject(phone, params),
        "pressKey" | "pressKeyCode" => press(phone, method, params),
        "makeToast" | "getLastToast" | "clearLastToast" => toast(server, phone, method, params),
        "setClipboard" | "getClipboard" | "pasteClipboard" | "clearInputText" => {
            clipboard(phone, method, params)
        }
        "wakeUp" => press_code(phone, 224),
        "sleep" => press_code(phone, 223),
        "waitForIdle" => success(true),
        // The shade of this phone has no second stage with tiles.
        "openNotification" | "openQuickSettings" => {
            phone.with(|state| state.surface.system(SystemEvent::OpenShade, state.now));
            success(true)
        }
        "setOrientation" | "freezeRotation" => rotate(phone, method, params),
        "childByText" | "childByDescription" | "childByInstance" => {
            child(server, phone, method, params).await
        }
        "pinchIn" | "pinchOut" | "gesture" => {
            Err(RpcError::new(-32001, "java.lang.UnsupportedOperationException: this phone knows one finger"))
        }
        "scrollTo" => scroll_to(server, phone, params).await,
        name if name.starts_with("scroll") || name.starts_with("fling") => {
            scroll_by(server, phone, name, params).await
        }
        _ => object(server, phone, method, params).await,
    }
}

/// Methods whose first argument names an object.
async fn object(server: &Server, phone: &Phone, method: &str, params: &RawValue) -> MethodResult {
    match method {
        "exist" => {
            let (which,) = parse_arguments::<(ObjectRef,)>(params)?;
            success(find(server, phone, &which)?.is_some())
        }
        "count" => {
            let (which,) = parse_arguments::<(ObjectRef,)>(params)?;
            success(server.selector(&which)?.all(&Tree::of(phone)).len())
        }
        "objInfo" => {
            let (which,) = parse_arguments::<(ObjectRef,)>(params)?;
            success(ObjectInfo::of(&must_find(server, phone, &which)?))
        }
        "objInfoOfAllInstances" => {
            let (which,) = parse_arguments::<(ObjectRef,)>(params)?;
            let tree = Tree::of(phone);
            let found = server.selector(&which)?.all(&tree);
            success(found.iter().filter_map(|at| tree.nodes.get(*at)).map(ObjectInfo::of).collect::<Vec<_>>())
        }
        "getText" => {
            let (which,) = parse_arguments::<(ObjectRef,)>(params)?;
            success(must_find(server, phone, &which)?.get("text"))
        }
        "setText" => {
            let (which, text) = parse_arguments::<(ObjectRef, String)>(params)?;
            success(touch::set_text(phone, must_find(server, phone, &which)?.centre(), &text))
        }
        "clearTextField" => {
            let (which,) = parse_arguments::<(ObjectRef,)>(params)?;
            success(touch::set_text(phone, must_find(server, phone, &which)?.centre(), ""))
        }
        "waitForExists" | "waitUntilGone" => {
            let (which, ms) = parse_arguments::<(ObjectRef, u64)>(params)?;
            success(wait(server, phone, &which, ms, method == "waitForExists").await?)
        }
        _ => Err(RpcError::new(-32601, "method not found")),
    }
}

fn find(server: &Server, phone: &Phone, which: &ObjectRef) -> Result<Option<Node>, RpcError> {
    let tree = Tree::of(phone);
    Ok(server.selector(which)?.first(&tree).and_then(|at| tree.nodes.get(at).cloned()))
}

fn must_find(server: &Server, phone: &Phone, which: &ObjectRef) -> Result<Node, RpcError> {
    find(server, phone, which)?.ok_or_else(|| RpcError::not_found(&format!("{which:?}")))
}

async fn wait(
    server: &Server,
    phone: &Phone,
    which: &ObjectRef,
    ms: u64,
    there: bool,
) -> Result<bool, RpcError> {
    let deadline = Instant::now() + Duration::from_millis(ms.min(WAIT_MS_MAX));
    loop {
        if find(server, phone, which)?.is_some() == there {
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
            current_package_name: state.front().0.to_string(),
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

/// Returns the dump with `visible-to-user` on each node, as the helper writes it. Values cannot contain the replaced
/// text, because quotes are escaped.
fn dump(phone: &Phone) -> String {
    xml(phone).replace(" bounds=\"", " visible-to-user=\"true\" bounds=\"")
}

fn screenshot(phone: &Phone, params: &RawValue) -> MethodResult {
    let (_scale, quality) = parse_arguments::<(f32, u8)>(params)?;
    let jpeg = picture::jpeg(phone, quality).ok_or_else(|| RpcError::new(-32603, "no picture"))?;
    success(STANDARD.encode(jpeg))
}

fn point(x: f64, y: f64) -> (i32, i32) {
    (x as i32, y as i32)
}

/// Clicks at a point, at a point for a time, or on an object.
async fn click(server: &Server, phone: &Phone, method: &str, params: &RawValue) -> MethodResult {
    let is_long = method == "longClick";
    let (at, ms) = if let Ok((x, y, ms)) = parse_arguments::<(f64, f64, u64)>(params) {
        (point(x, y), Some(ms))
    } else if let Ok((x, y)) = parse_arguments::<(f64, f64)>(params) {
        (point(x, y), None)
    } else if let Ok((which,)) = parse_arguments::<(ObjectRef,)>(params) {
        (must_find(server, phone, &which)?.centre(), None)
    } else {
        let (which, _corner) = parse_arguments::<(ObjectRef, String)>(params)?;
        (must_find(server, phone, &which)?.centre(), None)
    };
    match ms.or(is_long.then_some(LONG_PRESS_MS)) {
        Some(ms) => touch::swipe(phone, at, at, ms).await,
        None => touch::tap(phone, at),
    }
    success(true)
}

async fn swipe(phone: &Phone, params: &RawValue) -> MethodResult {
    let (x1, y1, x2, y2, steps) = parse_arguments::<(f64, f64, f64, f64, u64)>(params)?;
    touch::swipe(phone, point(x1, y1), point(x2, y2), steps.saturating_mul(STEP_MS)).await;
    success(true)
}

/// Swipes through points; only the first and the last one matter to this phone.
async fn swipe_points(phone: &Phone, params: &RawValue) -> MethodResult {
    let (points, steps) = parse_arguments::<(Vec<f64>, u64)>(params)?;
    let [x1, y1, .., x2, y2] = points.as_slice() else { return Err(RpcError::parameters()) };
    touch::swipe(phone, point(*x1, *y1), point(*x2, *y2), steps.saturating_mul(STEP_MS)).await;
    success(true)
}

async fn drag_to(server: &Server, phone: &Phone, params: &RawValue) -> MethodResult {
    let (from, to, steps) =
        if let Ok((which, x, y, steps)) = parse_arguments::<(ObjectRef, f64, f64, u64)>(params) {
            (must_find(server, phone, &which)?.centre(), point(x, y), steps)
        } else {
            let (which, target, steps) = parse_arguments::<(ObjectRef, ObjectRef, u64)>(params)?;
            (must_find(server, phone, &which)?.centre(), must_find(server, phone, &target)?.centre(), steps)
        };
    touch::swipe(phone, from, to, steps.saturating_mul(STEP_MS)).await;
    success(true)
}

fn inject(phone: &Phone, params: &RawValue) -> MethodResult {
    const DOWN: u8 = 0;
    const UP: u8 = 1;
    const MOVE: u8 = 2;
    let (action, x, y, _meta) = parse_arguments::<(u8, f64, f64, i32)>(params)?;
    match action {
        DOWN => touch::down(phone, point(x, y)),
        UP => touch::up(phone, point(x, y)),
        MOVE => touch::moved(phone, point(x, y)),
        _ => {}
    }
    success(true)
}

fn press(phone: &Phone, method: &str, params: &RawValue) -> MethodResult {
    if method == "pressKeyCode" {
        let code = parse_arguments::<(u32,)>(params).map(|(code,)| code);
        return press_code(
            phone,
            code.or_else(|_| parse_arguments::<(u32, u32)>(params).map(|(code, _)| code))?,
        );
    }
    let (name,) = parse_arguments::<(String,)>(params)?;
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
        _ => return Err(RpcError::parameters()),
    };
    press_code(phone, code)
}

fn press_code(phone: &Phone, code: u32) -> MethodResult {
    touch::key(phone, code);
    success(true)
}

/// Handles toast methods. The helper knows toasts since its start, its own too.
fn toast(server: &Server, phone: &Phone, method: &str, params: &RawValue) -> MethodResult {
    let now = Instant::now();
    let mut toasts = server.toasts();
    match method {
        "makeToast" => {
            let (text, _ms) = parse_arguments::<(String, f64)>(params)?;
            toasts.own = Some((now, text));
            success(true)
        }
        "getLastToast" => {
            let shown = phone.with(|state| {
                let mut of_apps = state.surface.toasts().iter().skip(toasts.skip);
                of_apps.rfind(|toast| toast.from <= now).map(|toast| (toast.from, toast.text.clone()))
            });
            let last = shown.into_iter().chain(toasts.own.clone()).max_by_key(|(at, _)| *at);
            success(last.map(|(_, text)| text))
        }
        _ => {
            *toasts = ToastLog::from_now(phone);
            success(())
        }
    }
}

/// Handles rotation methods as UiAutomation does: the rotation is locked and stays as it was set.
fn rotate(phone: &Phone, method: &str, params: &RawValue) -> MethodResult {
    if method == "freezeRotation" {
        let (freeze,) = parse_arguments::<(bool,)>(params)?;
        let free = if freeze { "0" } else { "1" };
        phone.with(|state| state.put_setting("system", "accelerometer_rotation", free));
        return success(());
    }
    let (side,) = parse_arguments::<(String,)>(params)?;
    let turns = match side.as_str() {
        "natural" | "n" => 0,
        "left" | "l" => 1,
        "right" | "r" => 3,
        _ => return Err(RpcError::parameters()),
    };
    touch::rotate(phone, turns);
    success(true)
}

/// Finds an item of a collection by its content, and returns a name for the object.
async fn child(server: &Server, phone: &Phone, method: &str, params: &RawValue) -> MethodResult {
    let (which, pattern, wanted, may_scroll) = if method == "childByInstance" {
        let (which, pattern, instance) = parse_arguments::<(ObjectRef, UiSelector, usize)>(params)?;
        (which, pattern, Item::Instance(instance), false)
    } else {
        let by = if method == "childByText" { "text" } else { "description" };
        let scrolled = parse_arguments::<(ObjectRef, UiSelector, String, bool)>(params);
        let (which, pattern, value, may_scroll) = match scrolled {
            Ok(asked) => asked,
            Err(_) => parse_arguments::<(ObjectRef, UiSelector, String)>(params)
                .map(|(w, p, v)| (w, p, v, false))?,
        };
        (which, pattern, Item::With(Test::text(by, &value).ok_or_else(RpcError::parameters)?), may_scroll)
    };
    let list = server.selector(&which)?;
    let pattern = pattern.selector().filter(|p| p.then.is_empty()).ok_or_else(RpcError::parameters)?.first;
    let mut named = item(&Tree::of(phone), &list, &pattern, &wanted);
    if let (None, true, Item::With(test)) = (&named, may_scroll, &wanted) {
        let target =
            Selector { first: SelectorStep { tests: vec![test.clone()], instance: None }, then: Vec::new() };
        scroll::into_view(phone, &list, &target, true).await;
        named = item(&Tree::of(phone), &list, &pattern, &wanted);
    }
    let found = named.ok_or_else(|| RpcError::not_found(&format!("{which:?}")))?;
    success(server.name(found))
}

enum Item {
    Instance(usize),
    With(Test),
}

/// Returns the item's selector: the pattern in the list, with the number of the item.
fn item(tree: &Tree, list: &Selector, pattern: &SelectorStep, wanted: &Item) -> Option<Selector> {
    let nth = |instance: usize| {
        let mut all = list.clone();
        all.then
            .push((Relation::Child, SelectorStep { tests: pattern.tests.clone(), instance: Some(instance) }));
        all
    };
    let mut every = list.clone();
    every.then.push((Relation::Child, SelectorStep { tests: pattern.tests.clone(), instance: None }));
    let items = every.all(tree);
    let instance = match wanted {
        Item::Instance(instance) => Some(*instance).filter(|at| *at < items.len()),
        Item::With(test) => {
            let inside = Selector {
                first: SelectorStep { tests: vec![test.clone()], instance: None },
                then: Vec::new(),
            };
            items.iter().position(|at| !inside.all_below(tree, *at).is_empty())
        }
    };
    instance.map(nth)
}

fn clipboard(phone: &Phone, method: &str, params: &RawValue) -> MethodResult {
    match method {
        "setClipboard" => {
            let (_label, text) = parse_arguments::<(Option<String>, String)>(params)?;
            if text.len() > CLIPBOARD_BYTES_MAX {
                return Err(RpcError::new(-32001, "android.os.TransactionTooLargeException"));
            }
            phone.with(|state| state.clipboard = text);
            success(())
        }
        "getClipboard" => success(phone.with(|state| state.clipboard.clone())),
        "pasteClipboard" => {
            touch::key(phone, keys::PASTE);
            success(())
        }
        _ => {
            touch::clear_focused(phone);
            success(())
        }
    }
}

async fn scroll_to(server: &Server, phone: &Phone, params: &RawValue) -> MethodResult {
    let (which, target, vertical) = parse_arguments::<(ObjectRef, ObjectRef, bool)>(params)?;
    let (list, target) = (server.selector(&which)?, server.selector(&target)?);
    if list.first(&Tree::of(phone)).is_none() {
        return Err(RpcError::not_found(&format!("{which:?}")));
    }
    success(scroll::into_view(phone, &list, &target, vertical).await)
}

/// Handles `scrollForward(object, vertical, steps)`, `flingToEnd(object, vertical, swipes)` and the like.
async fn scroll_by(server: &Server, phone: &Phone, method: &str, params: &RawValue) -> MethodResult {
    let rest = method.strip_prefix("scroll").map(|rest| (rest, scroll::SCROLL_STEPS));
    let (rest, steps) = rest.or_else(|| Some((method.strip_prefix("fling")?, scroll::FLING_STEPS))).unzip();
    let (Some(rest), Some(steps)) = (rest, steps) else {
        return Err(RpcError::new(-32601, "method not found"));
    };
    let (which, vertical, first, second) = if let Ok((w, v)) = parse_arguments::<(ObjectRef, bool)>(params) {
        (w, v, None, None)
    } else if let Ok((w, v, a)) = parse_arguments::<(ObjectRef, bool, u64)>(params) {
        (w, v, Some(a), None)
    } else {
        let (w, v, a, b) = parse_arguments::<(ObjectRef, bool, u64, u64)>(params)?;
        (w, v, Some(a), Some(b))
    };
    let list = server.selector(&which)?;
    must_find(server, phone, &which)?;
    let direction = match rest {
        "Forward" | "ToEnd" => Direction::Forward,
        "Backward" | "ToBeginning" => Direction::Backward,
        _ => return Err(RpcError::new(-32601, "method not found")),
    };
    if rest.starts_with("To") {
        let (swipes, steps) = (first.unwrap_or(scroll::SWIPES_MAX), second.unwrap_or(steps));
        success(scroll::to_end(phone, &list, direction, vertical, swipes, steps).await)
    } else {
        success(scroll::once(phone, &list, direction, vertical, first.unwrap_or(steps)).await)
    }
}
