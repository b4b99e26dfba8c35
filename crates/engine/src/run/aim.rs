//! Where an action goes: resolved, proven on two captures that agree, with the recoveries that the table allows.

use std::sync::Arc;
use std::time::Duration;

use mdm_core::action::event::Event;
use mdm_core::action::outcome::{Place, SentKind};
use mdm_core::action::recover::{self, Obstacle, RecoveryContext, Strategy};
use mdm_core::action::request::{Act, Action, Command};
use mdm_core::action::trace::Lifecycle;
use mdm_core::change::tracker::Observation;
use mdm_core::failure::{Cause, Failure};
use mdm_core::identity::ElementId;
use mdm_core::intent::actionable::{self, NotActionable};
use mdm_core::intent::hit_test;
use mdm_core::intent::resolve::{self, Reason, Resolution, describe};
use mdm_core::intent::scroll::{Direction, ScrollTo};
use mdm_core::intent::selector::Selector;
use mdm_core::intent::target::Target;
use mdm_core::intent::typing::focused_field;
use mdm_core::intent::watch::{Ending, Goal, Wait};
use mdm_core::port::{Input, Support};
use mdm_core::screen::element::Role;
use mdm_core::screen::geometry::{Point, Rect};

use super::Run;

/// The rest that a recovery waits for, and how long it waits.
const REST_MS: u64 = 250;
/// How long a recovery waits for rest.
const REFRESH_MAX: Duration = Duration::from_secs(3);
/// Looks at a target that seems to move, before the whole screen has to rest first.
const STILL_LOOKS_MAX: u32 = 2;
/// The time between two looks that prove that a target holds still: four frames.
const STILL_MS: u64 = 60;
/// Scrolls to a target that is not in sight, and the length of one as a part of what scrolls.
const SCROLLS_MAX: u32 = 10;
const SCROLL_PART: f64 = 0.7;

/// Why a target cannot be acted on now: the failure for the caller, the obstacle for the recovery table.
struct Obstruction {
    failure: Failure,
    obstacle: Obstacle,
}

/// Two captures in a row, the older one where there is one.
struct Captures {
    earlier: Option<Arc<Observation>>,
    now: Arc<Observation>,
}

impl Run<'_> {
    /// Finds every target and proves that it can be acted on (AC-05). Fills in `before` and `places`.
    pub async fn aim(&mut self, act: &Act, targets: &[Target]) -> Result<(), Failure> {
        self.refuse_points_off_screen(targets)?;
        let looks = act.is_followed() || targets.iter().any(|target| target.selector().is_some());
        if !looks {
            self.outcome.places = places(act, targets, None).map_err(|obstruction| obstruction.failure)?;
            self.note(Event::Reached(Lifecycle::Resolved));
            return Ok(());
        }
        if targets.iter().all(|target| target.selector().is_none()) {
            return self.aim_blindly(act, targets).await;
        }
        let earlier = self.session.memory().tracker.last().cloned();
        let mut captures = Captures { earlier, now: self.session.capture_now(self.progress).await? };
        let mut still_looks = 0;
        loop {
            let found = places(act, targets, Some(&captures.now));
            let moving = found.as_ref().ok().and_then(|places| {
                self.covered_lately(places, &captures.now).or_else(|| captures.moving(places))
            });
            let obstruction = match (found, moving) {
                (Ok(places), None) => match self.behind_something(&places, &captures.now).await? {
                    Some(obstruction) => obstruction,
                    None => {
                        self.proven(places, captures.now);
                        return Ok(());
                    }
                },
                (Ok(_), Some(moving))
                    if moving.obstacle == Obstacle::Moving && still_looks < STILL_LOOKS_MAX =>
                {
                    still_looks += 1;
                    let pause = Duration::from_millis(captures.too_close_ms());
                    self.progress.pause("seeing whether the target holds still", pause).await?;
                    let now = self.session.capture_now(self.progress).await?;
                    captures = Captures { earlier: Some(captures.now), now };
                    continue;
                }
                (Ok(_), Some(obstruction)) | (Err(obstruction), _) => obstruction,
            };
            still_looks = 0;
            captures = match self.out_of_sight(act, targets, &obstruction) {
                Some(selector) => self.scroll_into_sight(selector, captures).await?,
                None => self.recover(obstruction, captures).await?,
            };
        }
    }

    /// Refuses a point that no way of holding the device puts on the screen, as far as its size is known (F48).
    fn refuse_points_off_screen(&self, targets: &[Target]) -> Result<(), Failure> {
        let memory = self.session.memory();
        let Some(size) = memory.tracker.last().map(|seen| seen.reading.snapshot.size) else { return Ok(()) };
        let longest = i64::from(size.width).max(i64::from(size.height));
        let is_off = |point: &Point| i64::from(point.x).max(i64::from(point.y)) >= longest;
        let points = targets.iter().filter_map(|target| match target {
            Target::Point(point) => Some(*point),
            Target::Element(_) => None,
        });
        match points.into_iter().find(is_off).filter(|_| longest > 0) {
            None => Ok(()),
            Some(Point { x, y }) => {
                let message =
                    format!("{x},{y} is outside of the screen, which has {}x{}", size.width, size.height);
                Err(Failure::new(Cause::InvalidArgument, message))
            }
        }
    }

    /// For an action that needs no element: the screen before it is only something to compare with. One that cannot be
    /// read, such as one that never rests, does not stop the action (F23).
    async fn aim_blindly(&mut self, act: &Act, targets: &[Target]) -> Result<(), Failure> {
        let places = places(act, targets, None).map_err(|obstruction| obstruction.failure)?;
        match self.session.capture_now(&self.progress.first_half()).await {
            Ok(seen) => self.proven(places, seen),
            Err(failure) if failure.cause == Cause::Cancelled => return Err(failure),
            Err(failure) => {
                self.outcome.places = places;
                self.look_blindly(&failure).await;
                self.note(Event::Obstructed { code: failure.code(), again: true });
                self.note(Event::Reached(Lifecycle::Resolved));
            }
        }
        Ok(())
    }

    fn proven(&mut self, places: Vec<Place>, seen: Arc<Observation>) {
        let target = places.iter().find_map(|place| place.target.as_ref());
        let preferred = [Reason::OnScreenPreferred, Reason::UncoveredPreferred];
        let alternate =
            target.is_some_and(|(_, resolved)| resolved.reasons.iter().any(|r| preferred.contains(r)));
        let element = target.map(|(id, _)| *id);
        self.outcome.places = places;
        self.outcome.before = Some(seen);
        self.note(Event::Resolved { element, alternate });
    }

    /// The target that has to be scrolled to: once, and only when that was asked for (AC-10).
    fn out_of_sight(&mut self, act: &Act, targets: &[Target], obstruction: &Obstruction) -> Option<Selector> {
        let away = matches!(obstruction.obstacle, Obstacle::NotFound | Obstacle::OutOfSight);
        if !away || !act.scroll_to_target || self.scrolled {
            return None;
        }
        self.scrolled = true;
        targets.iter().find_map(Target::selector).cloned()
    }

    async fn scroll_into_sight(&mut self, target: Selector, captures: Captures) -> Result<Captures, Failure> {
        let asked = ScrollTo {
            target: Some(target),
            inside: None,
            direction: Direction::Down,
            scrolls_max: SCROLLS_MAX,
            amount: SCROLL_PART,
        };
        let (scrolled, end) = self.scroll_search(&asked, captures.now).await;
        end?;
        let now = self.session.capture_now(self.progress).await?;
        Ok(Captures { earlier: Some(scrolled.seen), now })
    }

    /// Refuses a target with something at its place that was not there when the target was seen before. Whether that lies
    /// in front the tree does not always say; what comes up over something else does (F30).
    fn covered_lately(&self, places: &[Place], now: &Observation) -> Option<Obstruction> {
        if self.session.capabilities().hit_test != Support::No {
            // The device will say it.
            return None;
        }
        let memory = self.session.memory();
        let came_later = |target: ElementId, cover: ElementId| {
            let seen = memory.tracker.kept().filter(|seen| seen.revision < now.revision);
            let with_target = seen.filter(|seen| seen.index_of(target).is_some());
            with_target.into_iter().any(|seen| seen.is_same_place(now) && seen.index_of(cover).is_none())
        };
        places.iter().filter_map(|place| place.target.as_ref()).find_map(|(id, target)| {
            let place = actionable::find_place(&now.reading, target.index, target.matched).ok()?;
            let cover = place.maybe_covered_by?;
            came_later(*id, now.ids[cover as usize]).then(|| {
                let [target, cover] = [target.index, cover].map(|index| describe(now, index));
                let message = format!("{target} is covered by {cover}, which came up later");
                let failure = Failure::new(Cause::Covered, message);
                Obstruction { failure, obstacle: Obstacle::Covered { by_keyboard: false } }
            })
        })
    }

    /// Asks the device for what the tree cannot tell: what lies over the target.
    async fn behind_something(
        &self,
        places: &[Place],
        seen: &Observation,
    ) -> Result<Option<Obstruction>, Failure> {
        let under_keyboard = self.under_keyboard(places, seen).await?;
        if under_keyboard.is_some() || self.session.capabilities().hit_test == Support::No {
            return Ok(under_keyboard);
        }
        for place in places {
            let Some((_, target)) = &place.target else { continue };
            let Some(hit) = self.session.element_at(place.point, self.progress).await? else { continue };
            if let Some(cover) = hit_test::cover(seen, target.index, &hit) {
                let message = format!("{} is covered by {}", describe(seen, target.index), cover.words);
                let obstacle = Obstacle::Covered { by_keyboard: cover.is_keyboard };
                return Ok(Some(Obstruction { failure: Failure::new(Cause::Covered, message), obstacle }));
            }
        }
        Ok(None)
    }

    /// The keyboard is in no tree, so the device is asked for it wherever one may be: where a field has the focus.
    async fn under_keyboard(
        &self,
        places: &[Place],
        seen: &Observation,
    ) -> Result<Option<Obstruction>, Failure> {
        if places.iter().all(|place| place.target.is_none()) || focused_field(seen).is_none() {
            return Ok(None);
        }
        let keyboard = self.session.keyboard_now(self.progress).await?;
        Ok(keyboard.and_then(|keyboard| behind(keyboard, places, seen)))
    }

    /// Does what the table allows, or gives up for good. When the time is up meanwhile, the obstacle is still the reason.
    async fn recover(&mut self, obstruction: Obstruction, captures: Captures) -> Result<Captures, Failure> {
        let why = obstruction.failure.clone();
        let recovered = self.try_recovery(obstruction, captures).await;
        recovered.map_err(|failure| if failure.cause == Cause::Timeout { why } else { failure })
    }

    async fn try_recovery(
        &mut self,
        obstruction: Obstruction,
        captures: Captures,
    ) -> Result<Captures, Failure> {
        let Obstruction { failure, obstacle } = obstruction;
        let context = RecoveryContext {
            damaged: !captures.now.reading.snapshot.is_whole(),
            restless: captures.is_restless(),
            retryable: failure.retryable(),
        };
        let next = recover::next(obstacle, context, &self.outcome.recovered);
        self.note(Event::Obstructed { code: failure.code(), again: next.is_some() });
        let Some(strategy) = next else { return Err(failure) };
        if strategy == Strategy::StepBack {
            let hidden = self.send(SentKind::HideKeyboard, &Command::Input(Input::HideKeyboard)).await;
            match hidden {
                Ok(_) => {}
                // A keyboard that cannot be closed is still what stands in the way.
                Err(refused) if refused.dispatch.is_safe_to_repeat() => {
                    let message =
                        format!("{}, which could not be closed: {}", failure.message, refused.message);
                    return Err(Failure { message, ..failure });
                }
                Err(lost) => return Err(lost),
            }
        }
        let rested = match strategy {
            Strategy::StateRefresh | Strategy::StepBack => self.rest(captures.now).await?,
            _ => captures.now,
        };
        self.recovering(strategy);
        let now = self.session.capture_now(self.progress).await?;
        Ok(Captures { earlier: Some(rested), now })
    }

    /// Looks until the screen rests. One that shows that it is loading rests, too, so there a change is waited for.
    async fn rest(&self, since: Arc<Observation>) -> Result<Arc<Observation>, Failure> {
        let goal = if since.loading().is_some() { Goal::Change } else { Goal::Quiet };
        let progress = self.progress.within_next(REFRESH_MAX);
        let report = self.watch(&Wait::new(goal, REST_MS), &since, &progress).await?;
        match (report.ending, report.seen) {
            (Ending::Unreadable(failure), None) => Err(failure),
            // A device that is slower than that has been waited for, too.
            (_, seen) => Ok(seen.unwrap_or(since)),
        }
    }
}

impl Captures {
    fn is_restless(&self) -> bool {
        let changed = self.earlier.as_ref().is_some_and(|earlier| earlier.revision != self.now.revision);
        changed || self.now.loading().is_some()
    }

    /// How much longer the older capture must be ago, so that what moves has moved in between.
    fn too_close_ms(&self) -> u64 {
        let between =
            |seen: &Arc<Observation>| self.now.captured_at_ms.saturating_sub(seen.unchanged_since_ms);
        STILL_MS.saturating_sub(self.earlier.as_ref().map_or(STILL_MS, between))
    }

    /// Refuses the first target that is not where it was one capture ago, or was not there.
    fn moving(&self, places: &[Place]) -> Option<Obstruction> {
        let is_moving = |id| {
            let earlier = self.earlier.as_ref().filter(|_| self.too_close_ms() == 0);
            earlier.is_none_or(|seen| actionable::is_moving(seen, &self.now, id))
        };
        let targets = places.iter().filter_map(|place| place.target.as_ref());
        let (_, target) = targets.into_iter().find(|(id, _)| is_moving(*id))?;
        let told = describe(&self.now, target.index);
        let message = format!("{told} is moving: no two looks agree on where it is");
        Some(Obstruction { failure: Failure::new(Cause::Moving, message), obstacle: Obstacle::Moving })
    }
}

fn places(act: &Act, targets: &[Target], seen: Option<&Observation>) -> Result<Vec<Place>, Obstruction> {
    let taps = matches!(act.action, Action::Tap { .. } | Action::DoubleTap { .. } | Action::LongPress { .. });
    targets.iter().map(|target| place(target, seen, taps)).collect()
}

fn place(target: &Target, seen: Option<&Observation>, taps: bool) -> Result<Place, Obstruction> {
    let (selector, seen) = match (target, seen) {
        (Target::Point(point), _) => return Ok(Place { point: *point, visible: None, target: None }),
        (Target::Element(_), None) => return Err(never_looked()),
        (Target::Element(selector), Some(seen)) => (selector, seen),
    };
    let resolution = if taps { resolve::to_tap(seen, selector) } else { resolve::to_act(seen, selector) };
    if let Some(obstruction) = hidden_by_keyboard(seen, &resolution) {
        return Err(obstruction);
    }
    if let Some(failure) = resolve::failure(seen, selector, &resolution) {
        let obstacle = obstacle(seen, selector.id.is_some(), &resolution);
        return Err(Obstruction { failure, obstacle });
    }
    let Resolution::Found(resolved) = resolution else { return Err(never_looked()) };
    let index = resolved.index as usize;
    let visible = seen.reading.nodes[index].visible;
    Ok(Place { point: resolved.point, visible, target: Some((seen.ids[index], resolved)) })
}

fn obstacle(seen: &Observation, by_id: bool, resolution: &Resolution) -> Obstacle {
    match resolution {
        Resolution::NotFound { .. } if by_id => Obstacle::Stale,
        Resolution::NotFound { .. } | Resolution::Found(_) => Obstacle::NotFound,
        Resolution::Ambiguous(_) => Obstacle::Ambiguous,
        Resolution::NotActionable { why, .. } => match why {
            NotActionable::OutOfSight => Obstacle::OutOfSight,
            NotActionable::Disabled => Obstacle::Disabled,
            NotActionable::Doubtful { .. } | NotActionable::Static { .. } => Obstacle::Doubtful,
            NotActionable::Covered { by } => {
                Obstacle::Covered { by_keyboard: seen.reading.element(*by).role == Role::Key }
            }
        },
    }
}

/// Where the tree has the keyboard, it says of what is under it only that it cannot be seen.
fn hidden_by_keyboard(seen: &Observation, resolution: &Resolution) -> Option<Obstruction> {
    let Resolution::NotActionable { candidate, why: NotActionable::OutOfSight } = resolution else {
        return None;
    };
    let middle = seen.reading.element(candidate.index).bounds.center();
    let keyboard =
        seen.reading.snapshot.elements.iter().find(|element| element.class.ends_with("Keyboard"))?;
    keyboard.bounds.contains(middle).then(|| under_keyboard(seen, candidate.index))
}

fn under_keyboard(seen: &Observation, index: u32) -> Obstruction {
    let message = format!("{} is under the keyboard", describe(seen, index));
    let failure = Failure::new(Cause::UnderKeyboard, message);
    Obstruction { failure, obstacle: Obstacle::Covered { by_keyboard: true } }
}

fn behind(keyboard: Rect, places: &[Place], seen: &Observation) -> Option<Obstruction> {
    let named = places.iter().filter_map(|place| Some((place.point, place.target.as_ref()?)));
    let (_, (_, target)) = named.into_iter().find(|(point, _)| keyboard.contains(*point))?;
    Some(under_keyboard(seen, target.index))
}

fn never_looked() -> Obstruction {
    let failure = Failure::new(Cause::Defect, "an element was meant before the screen was read");
    Obstruction { failure, obstacle: Obstacle::Doubtful }
}
