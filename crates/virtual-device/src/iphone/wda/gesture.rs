//! Fingers: taps, presses, swipes, drags, two fingers.

use serde_json::Value;
use tokio::time::Duration;

use super::Agent;
use super::answer::{CommandResult, WdaError};
use super::route::Call;
use super::snapshot::{Node, Snapshot};
use crate::app::geometry::Point;
use crate::iphone::element::Frame;
use crate::iphone::{IPhone, SCALE};

/// The longest gesture.
const GESTURE_MS_MAX: u64 = 120_000;
/// Time between two reports of a moving finger.
const STEP_MS: u64 = 20;
/// The speed of a drag that says none, in points per second.
const DRAG_SPEED: f64 = 1000.0;
/// The speed of a swipe that says none.
const SWIPE_SPEED: f64 = 1500.0;
const DOUBLE_TAP_MS: u64 = 100;
/// A finger that rests this long before it is lifted throws nothing.
const CALM_MS: u64 = 200;
/// Swipes that may bring an element into sight.
const SCROLLS_MAX: usize = 40;

/// Points of the screen.
pub type Spot = (f64, f64);

/// One finger: where it is at which time. It comes down at the first point and is lifted at the last one.
#[derive(Debug, Clone, PartialEq)]
pub struct Finger {
    pub points: Vec<(u64, Spot)>,
}

impl Finger {
    pub fn press(at: Spot, ms: u64) -> Finger {
        Finger { points: vec![(0, at), (ms, at)] }
    }

    /// Rests, moves in a line, and rests again.
    pub fn drag(from: Spot, to: Spot, held_ms: u64, move_ms: u64, calm_ms: u64) -> Finger {
        let moved = held_ms.saturating_add(move_ms);
        let points = vec![(0, from), (held_ms, from), (moved, to), (moved.saturating_add(calm_ms), to)];
        Finger { points }
    }

    fn end_ms(&self) -> u64 {
        self.points.last().map_or(0, |(at, _)| (*at).min(GESTURE_MS_MAX))
    }

    fn first(&self) -> Spot {
        self.points.first().map_or((0.0, 0.0), |(_, spot)| *spot)
    }

    fn last(&self) -> Spot {
        self.points.last().map_or((0.0, 0.0), |(_, spot)| *spot)
    }

    fn rests(&self) -> bool {
        self.points.iter().all(|(_, spot)| *spot == self.first())
    }

    /// Returns where the finger is at a time.
    fn at(&self, ms: u64) -> Spot {
        let after = self.points.iter().position(|(at, _)| *at > ms);
        let Some(after) = after.filter(|after| *after > 0) else {
            return if after == Some(0) { self.first() } else { self.last() };
        };
        let ((from_ms, from), (to_ms, to)) = (self.points[after - 1], self.points[after]);
        let share = (ms - from_ms) as f64 / (to_ms - from_ms).max(1) as f64;
        (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share)
    }
}

pub fn pixel((x, y): Spot) -> Point {
    let px = |points: f64| (points * f64::from(SCALE)).round() as i32;
    (px(x), px(y))
}

/// Performs a gesture in its own time.
async fn perform(phone: &IPhone, fingers: &[Finger]) {
    let starts: Vec<u64> = fingers.iter().filter_map(|f| f.points.first().map(|(at, _)| *at)).collect();
    let begin = starts.iter().copied().min().unwrap_or(0).min(GESTURE_MS_MAX);
    sleep_ms(begin).await;
    match fingers {
        [] => {}
        [finger] => one_finger(phone, finger, begin).await,
        [first, second, ..] => {
            let end = first.end_ms().max(second.end_ms());
            sleep_ms(end.saturating_sub(begin)).await;
            let from = [pixel(first.first()), pixel(second.first())];
            let to = [pixel(first.last()), pixel(second.last())];
            phone.phone().with(|state| state.pinch(from, to, end.saturating_sub(begin)));
        }
    }
}

async fn one_finger(phone: &IPhone, finger: &Finger, begin: u64) {
    let (from, end) = (pixel(finger.first()), finger.end_ms());
    phone.phone().with(|state| state.put_finger_down(from));
    if finger.rests() {
        sleep_ms(end.saturating_sub(begin)).await;
        return phone.phone().with(|state| state.lift_from_iphone(from));
    }
    let mut now = begin;
    while now < end {
        let step = STEP_MS.min(end - now);
        sleep_ms(step).await;
        now += step;
        let at = pixel(finger.at(now));
        phone.phone().with(|state| state.move_finger(at));
    }
    phone.phone().with(|state| state.lift_from_iphone(pixel(finger.last())));
}

async fn sleep_ms(ms: u64) {
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms.min(GESTURE_MS_MAX))).await;
    }
}

/// What a gesture starts from: the whole app, or an element.
struct Place {
    frame: Frame,
}

impl Place {
    fn at(&self, x: f64, y: f64) -> Spot {
        (self.frame.x + x, self.frame.y + y)
    }

    fn share(&self, x: f64, y: f64) -> Spot {
        self.at(self.frame.width * x, self.frame.height * y)
    }
}

fn ms(seconds: f64) -> u64 {
    (seconds.clamp(0.0, GESTURE_MS_MAX as f64 / 1000.0) * 1000.0).round() as u64
}

fn travel_ms(from: Spot, to: Spot, speed: f64) -> u64 {
    let distance = (to.0 - from.0).hypot(to.1 - from.1);
    ms(distance / if speed > 0.0 { speed } else { DRAG_SPEED }).max(STEP_MS)
}

impl Agent<'_> {
    /// Sends a gesture.
    pub async fn send(&self, fingers: Vec<Finger>) {
        if let Some(finger) = fingers.first() {
            self.phone.note_touch(pixel(finger.first()));
        }
        self.perform_some_time(fingers).await;
    }

    /// With the fault of late gestures this one has its effect after the answer.
    async fn perform_some_time(&self, fingers: Vec<Finger>) {
        self.rest_for_event().await;
        let late = self.phone.config().iphone_faults.late_gesture_ms;
        if late == 0 {
            return perform(self.phone, &fingers).await;
        }
        let phone = self.phone.clone();
        tokio::spawn(async move {
            sleep_ms(late).await;
            perform(&phone, &fingers).await;
        });
    }

    /// Taps a key of the keyboard: a part of what was asked, and no request of its own.
    pub async fn tap_key(&self, spot: Spot) {
        self.perform_some_time(vec![Finger::press(spot, 0)]).await;
    }

    pub async fn tap_at(&self, spot: Spot) {
        self.send(vec![Finger::press(spot, 0)]).await;
    }

    /// Taps an element. As XCTest does, it is scrolled into sight first; what cannot be hit then is an error.
    pub async fn tap_element(&self, id: &str) -> Result<(), WdaError> {
        let spot = self.reachable(id).await?;
        self.tap_at(spot).await;
        Ok(())
    }

    async fn reachable(&self, id: &str) -> Result<Spot, WdaError> {
        let (snapshot, at) = self.resolve(id).await?;
        if on_screen(&snapshot, at) {
            return Ok(snapshot.nodes[at].hit_point());
        }
        let (snapshot, at) = self.scroll_into_sight(id).await?;
        Ok(snapshot.nodes[at].hit_point())
    }

    /// Handles the gestures below `/wda`, of an element or of the whole screen.
    pub async fn gesture(&mut self, id: Option<&str>, what: &str, call: &Call) -> CommandResult {
        match (what, id) {
            ("scroll", _) => return self.scroll(id, call).await,
            ("scrollTo", Some(id)) => {
                self.scroll_into_sight(id).await?;
                return Ok(Value::Null);
            }
            ("keyboardInput", _) => {
                return Err(WdaError::unsupported(
                    "typeKey API is only supported since Xcode15 and iPadOS 17",
                ));
            }
            ("forceTouch", _) => {
                let message = "This device does not support force press interactions";
                return Err(WdaError::element_state(message));
            }
            ("swipe", _) => check_direction(call)?,
            ("tapWithNumberOfTaps", _) => check_taps(call)?,
            _ => {}
        }
        let xy = xy(call)?;
        let place = self.place(id).await?;
        // A point that a request gives is one of the element's own; without one it is the middle.
        let spot = match (xy, id) {
            (Some((x, y)), _) => place.at(x, y),
            (None, Some(id)) => self.reachable(id).await?,
            (None, None) => place.share(0.5, 0.5),
        };
        let number = |name: &str| call.number(name).unwrap_or(0.0);
        let fingers = match what {
            "tap" => vec![Finger::press(spot, 0)],
            "doubleTap" => return self.taps(spot, 2).await,
            "tapWithNumberOfTaps" => return self.taps(spot, number("numberOfTaps") as usize).await,
            "touchAndHold" => vec![Finger::press(spot, ms(number("duration")))],
            "twoFingerTap" => {
                vec![Finger::press(place.share(0.4, 0.5), 0), Finger::press(place.share(0.6, 0.5), 0)]
            }
            "swipe" => vec![swipe(&place, xy.map(|_| spot), call)],
            "pinch" | "rotate" => pinch(&place, if what == "pinch" { number("scale") } else { 1.0 }),
            "dragfromtoforduration" | "pressAndDragWithVelocity" => {
                vec![self.drag(&place, what, id, call).await?]
            }
            _ => return Err(WdaError::unknown_command("Unhandled route")),
        };
        self.send(fingers).await;
        Ok(Value::Null)
    }

    async fn place(&self, id: Option<&str>) -> Result<Place, WdaError> {
        let frame = match id {
            Some(id) => {
                let (snapshot, at) = self.resolve(id).await?;
                snapshot.nodes[at].element.frame
            }
            None => self.snapshot().await?.nodes[0].element.frame,
        };
        Ok(Place { frame })
    }

    async fn taps(&self, spot: Spot, times: usize) -> CommandResult {
        self.send(vec![Finger::press(spot, 0)]).await;
        for _ in 1..times.clamp(1, 10) {
            sleep_ms(DOUBLE_TAP_MS).await;
            perform(self.phone, &[Finger::press(spot, 0)]).await;
        }
        Ok(Value::Null)
    }

    async fn drag(
        &self,
        place: &Place,
        what: &str,
        id: Option<&str>,
        call: &Call,
    ) -> Result<Finger, WdaError> {
        let number = |name: &str| call.number(name).unwrap_or(0.0);
        let from = place.at(number("fromX"), number("fromY"));
        let to = place.at(number("toX"), number("toY"));
        if what == "dragfromtoforduration" {
            return Ok(Finger::drag(from, to, ms(number("duration")), travel_ms(from, to, DRAG_SPEED), 0));
        }
        let (from, to) = match (id, call.text("toElement")) {
            (Some(_), Some(other)) => {
                let (snapshot, at) = self.resolve(other).await?;
                (place.share(0.5, 0.5), snapshot.nodes[at].hit_point())
            }
            (Some(_), None) => {
                return Err(WdaError::argument("Cannot extract cached element for UUID: (null)"));
            }
            (None, _) => (from, to),
        };
        let (held, calm) = (ms(number("pressDuration")), ms(number("holdDuration")));
        Ok(Finger::drag(from, to, held, travel_ms(from, to, number("velocity")), calm))
    }

    async fn scroll(&mut self, id: Option<&str>, call: &Call) -> CommandResult {
        let snapshot = match id {
            Some(id) => self.resolve(id).await?,
            None => (self.snapshot().await?, 0),
        };
        let (snapshot, root) = (&snapshot.0, snapshot.1);
        let last = |wanted: &dyn Fn(&Node) -> bool| {
            snapshot.below(root).into_iter().rfind(|at| wanted(&snapshot.nodes[*at]))
        };
        if let Some(name) = call.text("name") {
            let found = last(&|node| node.name() == Some(name));
            let Some(at) = found else {
                return Err(WdaError::not_matched(format!("'{name}' identifier didn't match any elements")));
            };
            let uid = snapshot.nodes[at].uid.clone();
            self.scroll_uid_into_sight(&uid).await?;
            return Ok(Value::Null);
        }
        if let Some(direction) = call.text("direction") {
            let share = call.number("distance").unwrap_or(1.0).clamp(0.0, 10.0);
            let finger = scroll_by(&snapshot.nodes[root].element.frame, direction, share);
            if let Some(finger) = finger {
                self.send(vec![finger]).await;
            }
            return Ok(Value::Null);
        }
        if let Some(text) = call.text("predicateString") {
            let predicate = super::predicate::parse(text)?;
            let mut found = None;
            for at in snapshot.below(root) {
                if predicate.holds(snapshot, at)? {
                    found = Some(at);
                }
            }
            let Some(at) = found else {
                return Err(WdaError::not_matched(format!("'{text}' predicate didn't match any elements")));
            };
            let uid = snapshot.nodes[at].uid.clone();
            self.scroll_uid_into_sight(&uid).await?;
            return Ok(Value::Null);
        }
        if !call.get("toVisible").is_null() {
            let uid = snapshot.nodes[root].uid.clone();
            self.scroll_uid_into_sight(&uid).await?;
            return Ok(Value::Null);
        }
        Err(WdaError::argument("Unsupported scroll type"))
    }

    async fn scroll_into_sight(&self, id: &str) -> Result<(Snapshot, usize), WdaError> {
        self.resolve(id).await?;
        self.scroll_uid_into_sight(id).await
    }

    /// Drags the container until the element's middle is in sight.
    async fn scroll_uid_into_sight(&self, uid: &str) -> Result<(Snapshot, usize), WdaError> {
        let mut before = None;
        for _ in 0..SCROLLS_MAX {
            let snapshot = self.snapshot().await?;
            let Some(at) = snapshot.find(uid) else { return Err(super::element::gone()) };
            if on_screen(&snapshot, at) {
                return Ok((snapshot, at));
            }
            let Some(container) = snapshot.parents(at).find(|parent| scrolls(&snapshot.nodes[*parent]))
            else {
                break;
            };
            let area = snapshot.nodes[container].element.frame;
            let spot = snapshot.nodes[at].hit_point();
            if before.replace(spot) == Some(spot) {
                break;
            }
            let (dx, dy) = (spot.0 - area.x - area.width / 2.0, spot.1 - area.y - area.height / 2.0);
            let sideways = spot.0 < area.x || spot.0 > area.x + area.width;
            let finger = if sideways {
                let far = dx.clamp(-area.width * 0.4, area.width * 0.4);
                line(&area, (far / 2.0, 0.0), (-far / 2.0, 0.0))
            } else {
                let far = dy.clamp(-area.height * 0.4, area.height * 0.4);
                line(&area, (0.0, far / 2.0), (0.0, -far / 2.0))
            };
            self.send(vec![finger]).await;
        }
        let message = "Failed to perform scroll with visible cell due to max scroll count reached";
        Err(WdaError::element_state(message))
    }
}

/// A calm drag between two points that are given from the middle of an area.
fn line(area: &Frame, from: Spot, to: Spot) -> Finger {
    let middle = (area.x + area.width / 2.0, area.y + area.height / 2.0);
    let spot = |(x, y): Spot| (middle.0 + x, middle.1 + y);
    let (from, to) = (spot(from), spot(to));
    Finger::drag(from, to, 0, travel_ms(from, to, DRAG_SPEED), CALM_MS)
}

/// Scrolling down brings what is below into sight: the finger goes up.
fn scroll_by(area: &Frame, direction: &str, share: f64) -> Option<Finger> {
    let (width, height) = (area.width * share.min(0.9) / 2.0, area.height * share.min(0.9) / 2.0);
    Some(match direction {
        "up" => line(area, (0.0, -height), (0.0, height)),
        "down" => line(area, (0.0, height), (0.0, -height)),
        "left" => line(area, (-width, 0.0), (width, 0.0)),
        "right" => line(area, (width, 0.0), (-width, 0.0)),
        _ => return None,
    })
}

fn scrolls(node: &Node) -> bool {
    matches!(node.element.kind, "ScrollView" | "Table" | "CollectionView" | "WebView")
}

/// Returns true if the middle of an element is inside everything that scrolls around it, and can be seen.
pub fn on_screen(snapshot: &Snapshot, at: usize) -> bool {
    let (x, y) = snapshot.nodes[at].hit_point();
    let inside = |frame: &Frame| {
        x >= frame.x && x < frame.x + frame.width && y >= frame.y && y < frame.y + frame.height
    };
    let around = snapshot.parents(at).filter(|parent| *parent == 0 || scrolls(&snapshot.nodes[*parent]));
    let mut around = around.map(|parent| &snapshot.nodes[parent].element.frame);
    around.all(inside)
}

fn xy(call: &Call) -> Result<Option<Spot>, WdaError> {
    match (call.number("x"), call.number("y")) {
        (Some(x), Some(y)) => Ok(Some((x, y))),
        (None, None) => Ok(None),
        _ => Err(WdaError::argument("Both x and y coordinates must be provided")),
    }
}

fn check_taps(call: &Call) -> Result<(), WdaError> {
    if call.number("numberOfTaps").is_none() || call.number("numberOfTouches").is_none() {
        let message = "Both 'numberOfTaps' and 'numberOfTouches' arguments must be provided";
        return Err(WdaError::argument(message));
    }
    Ok(())
}

fn check_direction(call: &Call) -> Result<(), WdaError> {
    let Some(direction) = call.text("direction") else {
        return Err(WdaError::argument("Missing 'direction' parameter"));
    };
    if matches!(direction.to_lowercase().as_str(), "up" | "down" | "left" | "right") {
        return Ok(());
    }
    Err(WdaError::argument(format!(
        "Unsupported swipe direction '{direction}'. Only the following directions are supported: (\n    up,\n    \
         down,\n    left,\n    right\n)"
    )))
}

/// A quick swipe through the middle of a place, or from a point.
fn swipe(place: &Place, from: Option<Spot>, call: &Call) -> Finger {
    let (dx, dy) = match call.text("direction").unwrap_or("").to_lowercase().as_str() {
        "up" => (0.0, -1.0),
        "down" => (0.0, 1.0),
        "left" => (-1.0, 0.0),
        _ => (1.0, 0.0),
    };
    let reach = (place.frame.width * 0.35, place.frame.height * 0.35);
    let middle = place.share(0.5, 0.5);
    let start = from.unwrap_or((middle.0 - dx * reach.0, middle.1 - dy * reach.1));
    let end = match from {
        Some(from) => (from.0 + dx * reach.0, from.1 + dy * reach.1),
        None => (middle.0 + dx * reach.0, middle.1 + dy * reach.1),
    };
    let speed = call.number("velocity").filter(|speed| *speed > 0.0).unwrap_or(SWIPE_SPEED);
    Finger::drag(start, end, 0, travel_ms(start, end, speed), 0)
}

/// Two fingers beside the middle of a place that move apart or together.
fn pinch(place: &Place, scale: f64) -> Vec<Finger> {
    let scale = if scale > 0.0 { scale.clamp(0.05, 20.0) } else { 1.0 };
    let wide = 0.4;
    let (first, last) = if scale >= 1.0 { (wide / scale, wide) } else { (wide, wide * scale) };
    let finger = |side: f64| {
        let spot = |far: f64| place.share(0.5 + side * far, 0.5);
        Finger::drag(spot(first), spot(last), 0, 500, 0)
    };
    vec![finger(-1.0), finger(1.0)]
}
