//! Actions on elements through accessibility instead of a finger.

use mdm_wire::idb::{
    AccessibilityActionRequest, AccessibilityActionResponse, ActionTarget, DragDestination, ElementAction,
    ElementDrag, ElementScroll, ElementTap, ElementWait, Point, ScrollDirection, SearchableKey, WaitResponse,
    WaitResult,
};
use tokio::time::{Duration, Instant};
use tonic::Status;

use super::calls::Answer;
use super::elements::AxNode;
use super::hid::{seconds, to_pixels};
use super::query::{self, Search};
use crate::iphone::IPhone;
use crate::iphone::element::{ElementValue, Frame};

/// Time between two looks of a wait that names none.
const POLL: Duration = Duration::from_millis(250);
/// How long the finger moves that accessibility scrolls with.
const SCROLL_MS: u64 = 300;
const DRAG_HOLD_MS: u64 = 600;

/// What an action needs of an element.
struct Aim {
    center: Point,
    is_field: bool,
    expected: Option<String>,
}

pub async fn perform(
    iphone: &IPhone,
    request: AccessibilityActionRequest,
) -> Answer<AccessibilityActionResponse> {
    iphone.note_request(&["accessibility_action"]);
    match &request.action {
        Some(ElementAction::Tap(tap)) => press(iphone, &request, tap)?,
        Some(ElementAction::Scroll(scroll)) => self::scroll(iphone, &request, *scroll)?,
        Some(ElementAction::SetValue(set)) => {
            let aim = needed(iphone, &request, "set_value")?;
            let at = to_pixels(aim.center);
            // The value of anything but a field is taken and nothing happens.
            if aim.is_field {
                iphone.phone().with(|state| state.set_text(at, &set.value));
            }
        }
        Some(ElementAction::Drag(drag)) => self::drag(iphone, &request, drag).await?,
        Some(ElementAction::Wait(wait)) => return self::wait(iphone, &request, *wait).await,
        None => return Err(Status::invalid_argument("accessibility_action requires an action")),
    }
    Ok(AccessibilityActionResponse::default())
}

fn press(iphone: &IPhone, request: &AccessibilityActionRequest, tap: &ElementTap) -> Answer<()> {
    let key = SearchableKey::try_from(tap.expected_key)
        .map_err(|_| Status::invalid_argument("unrecognized accessibility key"))?;
    let aim = aim(iphone, request, Some(key))?.ok_or_else(|| no_target("tap"))?;
    if tap.check_expected_value && aim.expected.as_deref() != Some(tap.expected_value.as_str()) {
        return Err(Status::internal(format!(
            "Expected value '{}' does not match '{}'",
            tap.expected_value,
            aim.expected.unwrap_or_default()
        )));
    }
    let (x, y) = to_pixels(aim.center);
    iphone.phone().with(|state| state.tap(x, y));
    Ok(())
}

/// Scrolls by a part of the screen: the content moves against the direction.
fn scroll(iphone: &IPhone, request: &AccessibilityActionRequest, scroll: ElementScroll) -> Answer<()> {
    let direction = ScrollDirection::try_from(scroll.direction)
        .map_err(|_| Status::invalid_argument("unknown scroll direction"))?;
    let application = query::application(iphone)?;
    let Frame { width, height, .. } = application.frame;
    let from =
        aim(iphone, request, None)?.map_or(Point { x: width / 2.0, y: height / 2.0 }, |aim| aim.center);
    let (dx, dy) = match direction {
        ScrollDirection::Up => (0.0, 1.0),
        ScrollDirection::Down => (0.0, -1.0),
        ScrollDirection::Left => (1.0, 0.0),
        ScrollDirection::Right => (-1.0, 0.0),
        ScrollDirection::Visible => return Ok(()),
    };
    let to = Point {
        x: (from.x + dx * width / 3.0).clamp(1.0, width - 1.0),
        y: (from.y + dy * height / 3.0).clamp(1.0, height - 1.0),
    };
    iphone.phone().with(|state| state.swipe(to_pixels(from), to_pixels(to), SCROLL_MS));
    Ok(())
}

async fn drag(iphone: &IPhone, request: &AccessibilityActionRequest, drag: &ElementDrag) -> Answer<()> {
    let from = needed(iphone, request, "drag")?.center;
    let target = match &drag.destination {
        Some(DragDestination::Marker(marker)) => ActionTarget::Marker(marker.clone()),
        Some(DragDestination::Point(point)) => ActionTarget::Point(*point),
        None => return Err(Status::invalid_argument("accessibility_action drag requires a destination")),
    };
    let to = needed(iphone, &AccessibilityActionRequest { target: Some(target), ..request.clone() }, "drag")?;
    let time = seconds(drag.duration) + seconds(drag.press_duration);
    tokio::time::sleep(time).await;
    let ms = (time.as_millis() as u64).max(DRAG_HOLD_MS);
    iphone.phone().with(|state| state.drag_and_drop(to_pixels(from), to_pixels(to.center), ms));
    Ok(())
}

async fn wait(
    iphone: &IPhone,
    request: &AccessibilityActionRequest,
    wait: ElementWait,
) -> Answer<AccessibilityActionResponse> {
    let until = Instant::now() + seconds(wait.timeout);
    let pause = Some(seconds(wait.poll_interval)).filter(|pause| !pause.is_zero()).unwrap_or(POLL);
    loop {
        let found = matches!(aim(iphone, request, None), Ok(Some(_)));
        if found || Instant::now() >= until {
            let result = if found { WaitResult::Found } else { WaitResult::TimedOut };
            let message = if found { "" } else { "The element did not appear in time" }.to_owned();
            return Ok(AccessibilityActionResponse {
                wait_result: result.into(),
                wait: Some(WaitResponse { result: result.into(), message }),
            });
        }
        tokio::time::sleep(pause).await;
    }
}

fn needed(iphone: &IPhone, request: &AccessibilityActionRequest, action: &str) -> Answer<Aim> {
    aim(iphone, request, None)?.ok_or_else(|| no_target(action))
}

fn no_target(action: &str) -> Status {
    Status::invalid_argument(format!("accessibility_action {action} requires a marker or point target"))
}

/// Nothing if the request names no element.
fn aim(
    iphone: &IPhone,
    request: &AccessibilityActionRequest,
    expected: Option<SearchableKey>,
) -> Answer<Option<Aim>> {
    let application = query::application(iphone)?;
    let tree = query::tree(iphone, &application);
    let node: &AxNode<'_> = match &request.target {
        Some(ActionTarget::Point(point)) => query::at_point(&tree, point.x, point.y)?,
        Some(ActionTarget::Marker(marker)) => {
            let search = Search::new(marker, request.match_key, request.depth, request.ignore_case)?;
            search.find(&tree.root).ok_or_else(|| search.not_found())?
        }
        None => return Ok(None),
    };
    let Frame { x, y, width, height } = node.frame();
    Ok(Some(Aim {
        center: Point { x: x + width / 2.0, y: y + height / 2.0 },
        is_field: matches!(node.element.value, Some(ElementValue::Text(_))),
        expected: expected.and_then(|key| query::search_key(key).read(node)),
    }))
}
