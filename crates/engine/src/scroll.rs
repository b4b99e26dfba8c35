//! Scrolls until a target is in sight, or it is certain that it will not come (AC-10).
//!
//! Architecture invariant: every stroke goes over what was seen a moment ago, is sent once, and is followed by a look at
//! rest. Each stroke leaves a part of the last view in sight, so that nothing is passed by unseen.

use std::sync::Arc;
use std::time::Duration;

use mdm_core::action::failure::{ErrorCode, Failure};
use mdm_core::action::trace::{Lifecycle, Stage, StepResult};
use mdm_core::change::settle::Stability;
use mdm_core::change::tracker::Observation;
use mdm_core::identity::ElementId;
use mdm_core::intent::actionable::NotActionable;
use mdm_core::intent::resolve::{self, Candidate, Resolution, ResolveOptions};
use mdm_core::intent::scroll::{self, Axis, Direction, Movement, Place, Sight};
use mdm_core::intent::selector::{Relation, Selector};
use mdm_core::port::Input;
use mdm_core::screen::geometry::{Point, Rect};

use crate::act::{Action, Run};
use crate::progress::Progress;
use crate::session::Session;
use crate::watch::{Goal, Patience, Wait};

/// The quiet that counts as rest after a stroke.
const WINDOW: Duration = Duration::from_millis(250);
/// A list that glides moves less than a pixel in this time only when it is as good as at rest.
const GLIDE_MS: u64 = 200;
/// A stroke that stands still is followed by another look when something still moved, so often.
const RESTS_MAX: u32 = 5;
/// Steps to bring a target that was found wholly into sight.
const NUDGES_MAX: u32 = 4;
/// Strokes back over a part that was passed too fast.
const BACKS_MAX: u32 = 4;
/// Rows that are on their way get this long, so often at one place.
const LOADING_MS: u64 = 5000;
const LOADS_MAX: u32 = 3;
/// Rows that come without a sign of it get this long at what seems to be the end.
const LATE_MS: u64 = 600;
/// A stroke that only proves an end is short: a long one over the top of a list makes many lists load anew. In parts of
/// the view.
const PROOF_PART: i32 = 12;
/// However long a step is asked for, a part of the last view stays in sight.
const AMOUNT_MAX: f64 = 0.8;
const AMOUNT_MIN: f64 = 0.05;
/// Earlier captures that are searched for a target that only passed by.
const PASSED_MAX: u64 = 16;

#[derive(Debug, Clone, PartialEq)]
pub struct ScrollTo {
    pub query: Selector,
    /// What is scrolled, or something in or around it; else what a person would scroll.
    pub inside: Option<Selector>,
    pub direction: Direction,
    pub scrolls_max: u32,
    /// Of one step, as a part of what is seen of the container.
    pub amount: f64,
}

/// A target in sight.
#[derive(Debug, Clone, PartialEq)]
pub struct InSight {
    pub id: ElementId,
    pub point: Point,
    pub confidence: f64,
    /// It can be seen and takes no input.
    pub disabled: bool,
}

/// What was done, and where it ended.
#[derive(Debug, Clone)]
pub struct Scrolled {
    pub before: Arc<Observation>,
    pub seen: Arc<Observation>,
    pub end: Result<InSight, Failure>,
    pub scrolls: u32,
    /// The last direction: a target that is known to lie elsewhere is worth more than the one that was asked for.
    pub direction: Direction,
    pub container: Option<ElementId>,
    /// Others that scroll the same way.
    pub others: Vec<ElementId>,
    pub stability: Stability,
}

/// One search on its way.
struct Hunt<'a> {
    asked: &'a ScrollTo,
    query: Selector,
    done: Scrolled,
    amount: f64,
    /// Strokes in a row that moved nothing.
    still: u32,
    /// The last stroke went less far than it should: the end may be near.
    short: bool,
    nudges: u32,
    loads: u32,
    /// The view before something was passed too fast.
    passed: Option<Passed>,
    /// It goes from page to page, with nothing in between.
    snaps: bool,
    keyboard: Option<Rect>,
    /// It glides far when it is let go.
    slower: u32,
}

/// A view, the container in it, and strokes back to it so far.
struct Passed {
    view: Arc<Observation>,
    container: ElementId,
    backs: u32,
}

enum Found {
    Here(InSight),
    /// In sight, but not wholly: this container has to go that way.
    Partly(InSight, u32, Direction, i32),
    /// In the tree and out of sight.
    Away(u32, Direction, i32),
    Nowhere,
}

impl Session {
    pub async fn scroll_to(
        &self,
        action: &Action,
        asked: &ScrollTo,
        progress: &Progress,
    ) -> Result<Scrolled, Failure> {
        let _turn = self.turn(progress).await?;
        let mut run = Run::new(self, action, progress);
        let done = match self.observe_now(progress).await {
            Ok(seen) => self.scroll_now(asked, seen, progress).await,
            Err(failure) => Err(failure),
        };
        if let Ok(scrolled) = &done {
            let found = scrolled.end.is_ok();
            run.note(Stage::Execute, StepResult::Success, format!("{} scrolls", scrolled.scrolls));
            run.reach(Lifecycle::Dispatched);
            run.proved(found, scrolled.before.revision != scrolled.seen.revision);
            if scrolled.stability == Stability::Stable {
                self.note_settled();
            }
        }
        run.end(done)
    }

    /// For callers that hold the turn and have looked. Only what stops it before anything was done is an error.
    pub(crate) async fn scroll_now(
        &self,
        asked: &ScrollTo,
        seen: Arc<Observation>,
        progress: &Progress,
    ) -> Result<Scrolled, Failure> {
        let mut hunt = Hunt::new(asked, seen);
        let end = self.hunt(&mut hunt, progress).await;
        match end {
            Err(failure) if hunt.done.scrolls == 0 => Err(failure),
            end => Ok(Scrolled { end, ..hunt.done }),
        }
    }

    async fn hunt(&self, hunt: &mut Hunt<'_>, progress: &Progress) -> Result<InSight, Failure> {
        loop {
            match hunt.look()? {
                Found::Here(target) => return Ok(target),
                Found::Partly(target, container, direction, way_px) => {
                    let nudged = hunt.nudges < NUDGES_MAX && hunt.may_go_on();
                    if !nudged || !self.nudge(hunt, container, direction, way_px, progress).await? {
                        return Ok(target);
                    }
                }
                Found::Away(container, direction, way_px) => {
                    hunt.check_budget()?;
                    hunt.done.direction = direction;
                    hunt.done.container = Some(hunt.done.seen.ids[container as usize]);
                    self.step(hunt, Some(way_px), progress).await?;
                }
                Found::Nowhere => {
                    hunt.check_budget()?;
                    self.step(hunt, None, progress).await?;
                }
            }
        }
    }

    /// False when nothing moved: then it is as much in sight as it gets.
    async fn nudge(
        &self,
        hunt: &mut Hunt<'_>,
        container: u32,
        direction: Direction,
        way_px: i32,
        progress: &Progress,
    ) -> Result<bool, Failure> {
        hunt.nudges += 1;
        let id = hunt.done.seen.ids[container as usize];
        let Some((movement, _)) = self.stroke(hunt, id, direction, way_px, false, progress).await? else {
            return Ok(false);
        };
        Ok(movement.moved())
    }

    /// One step of the search, with all that follows from what it shows.
    async fn step(
        &self,
        hunt: &mut Hunt<'_>,
        known_px: Option<i32>,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let container = hunt.container()?;
        if let Some(back) = hunt.back() {
            let way = (f64::from(hunt.view(container)) * hunt.amount * 0.4) as i32;
            self.stroke(hunt, container, back, way, false, progress).await?;
            return Ok(());
        }
        let view = hunt.view(container);
        let proof = hunt.still > 0 || hunt.short;
        let usual = (f64::from(view) * hunt.amount) as i32;
        let way = if proof { view / PROOF_PART } else { known_px.map_or(usual, |known| known.min(usual)) };
        let (direction, before) = (hunt.done.direction, Arc::clone(&hunt.done.seen));
        let sent = self.stroke(hunt, container, direction, way, hunt.still > 0, progress).await?;
        let Some((movement, way)) = sent else { return Err(no_room(container)) };
        hunt.note(movement, way, proof);
        match movement {
            Movement::None => self.end_or_more(hunt, &before, progress).await,
            Movement::Gap if !hunt.snaps => {
                hunt.passed = Some(Passed { view: before, container, backs: 0 });
                Ok(())
            }
            _ => {
                if self.passed_by(hunt, &before) {
                    hunt.passed = Some(Passed { view: before, container, backs: 0 });
                }
                Ok(())
            }
        }
    }

    /// Nothing moved: more may be on its way, or this is the end.
    async fn end_or_more(
        &self,
        hunt: &mut Hunt<'_>,
        before: &Arc<Observation>,
        progress: &Progress,
    ) -> Result<(), Failure> {
        let came = |hunt: &Hunt<'_>| hunt.done.seen.revision != before.revision;
        let loading = hunt.done.seen.loading().is_some() && hunt.loads < LOADS_MAX;
        if loading {
            hunt.loads += 1;
            self.wait_for_more(hunt, LOADING_MS, progress).await?;
        } else if hunt.still == 1 {
            self.wait_for_more(hunt, LATE_MS, progress).await?;
        }
        if came(hunt) {
            hunt.still = 0;
            hunt.short = false;
            return Ok(());
        }
        if hunt.still < 2 || hunt.done.seen.loading().is_some() && hunt.loads < LOADS_MAX {
            return Ok(());
        }
        Err(hunt.end_reached())
    }

    async fn wait_for_more(&self, hunt: &mut Hunt<'_>, ms: u64, progress: &Progress) -> Result<(), Failure> {
        let patience = Some(Patience { ms, captures: 2 });
        let wait = Wait { patience, ..Wait::holding(Goal::Change, WINDOW) };
        let waited = self.watch_now(&wait, &hunt.done.seen, progress).await?;
        if let Some(seen) = waited.seen {
            hunt.done.seen = seen;
        }
        Ok(())
    }

    /// Sends one stroke and looks until the content rests. `None` when there is no place for a finger.
    async fn stroke(
        &self,
        hunt: &mut Hunt<'_>,
        container: ElementId,
        direction: Direction,
        way_px: i32,
        another: bool,
        progress: &Progress,
    ) -> Result<Option<(Movement, i32)>, Failure> {
        let before = Arc::clone(&hunt.done.seen);
        let Some(index) = before.index_of(container) else { return Ok(None) };
        if hunt.done.scrolls == 0 {
            // Nothing of ours opens or closes it on the way.
            hunt.keyboard = self.keyboard(progress).await?;
        }
        let place = Place { another, keyboard: hunt.keyboard, slower: hunt.slower };
        let stroke = scroll::stroke(&before.reading, index as u32, direction, way_px, place);
        let Some(stroke) = stroke else { return Ok(None) };
        // Counted before it is sent: one whose answer is lost may have happened.
        hunt.done.scrolls += 1;
        let input = Input::Swipe { from: stroke.from, to: stroke.to, duration_ms: stroke.duration_ms };
        self.send(input, progress).await?;
        let asked_ms = self.clock.now_ms();
        let settled = self.settle_now(&before, WINDOW, progress).await?;
        let each_ms = (self.clock.now_ms() - asked_ms) / settled.captures.max(1);
        hunt.done.stability = settled.stability;
        hunt.done.seen = settled.seen;
        let now = scroll::again(&before, container, &hunt.done.seen);
        let now = now.map_or(container, |index| hunt.done.seen.ids[index as usize]);
        self.rest(hunt, now, direction.axis(), each_ms, progress).await?;
        if screen_of(&hunt.done.seen) != screen_of(&before) {
            return Err(left(&before, &hunt.done.seen));
        }
        let movement = scroll::movement(&before, &hunt.done.seen, container, direction.axis());
        hunt.rename(&before, container);
        Ok(Some((movement, stroke.way_px)))
    }

    /// Movement alone is no change that counts, so a list may still glide when a screen is called quiet; and a tap on
    /// a list that glides only stops it. Captures that take long have seen the end of it.
    async fn rest(
        &self,
        hunt: &mut Hunt<'_>,
        mut container: ElementId,
        axis: Axis,
        each_ms: u64,
        progress: &Progress,
    ) -> Result<(), Failure> {
        if each_ms >= GLIDE_MS && hunt.done.seen.diff.cosmetic.moved == 0 {
            return Ok(());
        }
        for _ in 0..RESTS_MAX {
            let glide = Duration::from_millis(GLIDE_MS);
            let later = self.settle_now(&hunt.done.seen, glide, progress).await?.seen;
            let moved = scroll::movement(&hunt.done.seen, &later, container, axis).moved();
            let again = scroll::again(&hunt.done.seen, container, &later);
            container = again.map_or(container, |index| later.ids[index as usize]);
            hunt.done.seen = later;
            if !moved {
                break;
            }
        }
        Ok(())
    }

    /// A capture on the way showed the target, and it is gone again.
    fn passed_by(&self, hunt: &Hunt<'_>, before: &Observation) -> bool {
        let now = hunt.done.seen.revision;
        let from = (before.revision + 1).max(now.saturating_sub(PASSED_MAX));
        let memory = self.memory();
        let shows = |seen: &Observation| !resolve::candidates(seen, &hunt.query).is_empty();
        !shows(&hunt.done.seen)
            && (from..now).any(|revision| memory.tracker.since(revision).is_some_and(|s| shows(&s.base)))
    }
}

impl<'a> Hunt<'a> {
    fn new(asked: &'a ScrollTo, seen: Arc<Observation>) -> Hunt<'a> {
        let mut query = asked.query.clone();
        if let (None, Some(inside)) = (&query.near, &asked.inside) {
            query.near = Some((Relation::Inside, Box::new(inside.clone())));
        }
        let amount = if asked.amount.is_finite() { asked.amount } else { AMOUNT_MAX };
        Hunt {
            asked,
            query,
            done: Scrolled {
                before: Arc::clone(&seen),
                seen,
                end: Err(out_of_scrolls(asked)),
                scrolls: 0,
                direction: asked.direction,
                container: None,
                others: Vec::new(),
                stability: Stability::Stable,
            },
            amount: amount.clamp(AMOUNT_MIN, AMOUNT_MAX),
            still: 0,
            short: false,
            nudges: 0,
            loads: 0,
            passed: None,
            snaps: false,
            keyboard: None,
            slower: 1,
        }
    }

    fn may_go_on(&self) -> bool {
        self.done.scrolls < self.asked.scrolls_max
    }

    fn check_budget(&self) -> Result<(), Failure> {
        if self.may_go_on() { Ok(()) } else { Err(out_of_scrolls(self.asked)) }
    }

    /// Where the target is on the last look.
    fn look(&self) -> Result<Found, Failure> {
        let seen = &*self.done.seen;
        let resolution = resolve::resolve(seen, &self.query, &ResolveOptions::default());
        let (candidate, point, disabled) = match &resolution {
            Resolution::Found(target) => {
                return Ok(self.placed(target.matched, target.index, target.point, target.confidence, false));
            }
            Resolution::NotFound { .. } => return Ok(Found::Nowhere),
            Resolution::NotActionable { candidate, why: NotActionable::OutOfSight } => {
                let away = scroll::away(&seen.reading, candidate.matched);
                let away = away.map(|(container, direction, way)| Found::Away(container, direction, way));
                return Ok(away.unwrap_or(Found::Nowhere));
            }
            Resolution::NotActionable { candidate, why } => match (why, middle(seen, candidate)) {
                (NotActionable::Disabled | NotActionable::Doubtful { .. }, Some(point)) => {
                    (candidate, point, *why == NotActionable::Disabled)
                }
                (NotActionable::Covered { by }, Some(point)) => {
                    let found =
                        self.placed(candidate.matched, candidate.index, point, candidate.confidence, false);
                    return self.covered(found, candidate.matched, *by, &resolution);
                }
                _ => return Err(self.refused(&resolution)),
            },
            Resolution::Ambiguous(_) => return Err(self.refused(&resolution)),
        };
        Ok(self.placed(candidate.matched, candidate.index, point, candidate.confidence, disabled))
    }

    fn placed(&self, matched: u32, index: u32, point: Point, confidence: f64, disabled: bool) -> Found {
        let seen = &*self.done.seen;
        let target = InSight { id: seen.ids[index as usize], point, confidence, disabled };
        match scroll::sight(&seen.reading, matched) {
            Sight::Clear => Found::Here(target),
            Sight::Cut { container, direction, way_px } => {
                Found::Partly(target, container, direction, way_px)
            }
        }
    }

    /// From under a bar it can be scrolled, from under a dialog it cannot.
    fn covered(
        &self,
        found: Found,
        matched: u32,
        by: u32,
        resolution: &Resolution,
    ) -> Result<Found, Failure> {
        if self.nudges >= NUDGES_MAX || !self.may_go_on() {
            return Err(self.refused(resolution));
        }
        let reading = &self.done.seen.reading;
        match (found, scroll::uncover(reading, matched, by)) {
            (Found::Here(target), Some((container, direction, way_px))) => {
                Ok(Found::Partly(target, container, direction, way_px))
            }
            (found @ Found::Partly(..), _) => Ok(found),
            _ => Err(self.refused(resolution)),
        }
    }

    fn refused(&self, resolution: &Resolution) -> Failure {
        let failure = resolve::failure(&self.done.seen, &self.query, resolution);
        failure.unwrap_or_else(|| out_of_scrolls(self.asked))
    }

    /// What is scrolled. A name that did not live through a stroke is looked for anew.
    fn container(&mut self) -> Result<ElementId, Failure> {
        let seen = &self.done.seen;
        if let Some(id) = self.done.container.filter(|id| seen.index_of(*id).is_some()) {
            return Ok(id);
        }
        let picked = scroll::pick(seen, self.asked.inside.as_ref(), self.done.direction.axis())?;
        let id = seen.ids[picked.index as usize];
        self.done.others = picked.others.iter().map(|other| seen.ids[*other as usize]).collect();
        self.done.container = Some(id);
        Ok(id)
    }

    /// The container under the name that it has now.
    fn rename(&mut self, before: &Observation, container: ElementId) {
        let seen = &self.done.seen;
        let now = scroll::again(before, container, seen).map(|index| seen.ids[index as usize]);
        if self.done.container == Some(container) && now.is_some() {
            self.done.container = now;
        }
    }

    /// How much of the content is in sight, in pixels along the way.
    fn view(&self, container: ElementId) -> i32 {
        let seen = &self.done.seen;
        let axis = self.done.direction.axis();
        let band = seen.index_of(container).and_then(|index| scroll::band(&seen.reading, index as u32, axis));
        band.map_or(0, |band| axis.length(band))
    }

    /// The way back over what was passed too fast, until the views meet.
    fn back(&mut self) -> Option<Direction> {
        let passed = self.passed.take()?;
        let axis = self.done.direction.axis();
        if passed.backs > 0 {
            match scroll::movement(&passed.view, &self.done.seen, passed.container, axis) {
                // Back where it came from: it turns pages, and nothing lies between two pages.
                Movement::None => {
                    self.snaps = true;
                    self.slower = 1;
                }
                Movement::By(_) => self.amount = (self.amount * 0.6).max(AMOUNT_MIN),
                Movement::Gap if passed.backs < BACKS_MAX => {
                    self.passed = Some(Passed { backs: passed.backs + 1, ..passed });
                    return Some(self.done.direction.opposite());
                }
                Movement::Gap => {}
            }
            return None;
        }
        self.slower = self.slower.saturating_mul(2);
        self.passed = Some(Passed { backs: 1, ..passed });
        Some(self.done.direction.opposite())
    }

    fn note(&mut self, movement: Movement, way_px: i32, proof: bool) {
        match movement {
            // A short proof that moved nothing after a step that stopped early: that is twice.
            Movement::None => self.still += if self.short { 2 } else { 1 },
            Movement::By(by) => {
                self.still = 0;
                self.loads = 0;
                self.short = !proof && by.saturating_abs() < way_px / 2;
            }
            Movement::Gap => {
                self.still = 0;
                self.short = false;
            }
        }
    }

    fn end_reached(&self) -> Failure {
        let seen = &self.done.seen;
        let index = self.done.container.and_then(|id| seen.index_of(id));
        let what = index.map_or_else(String::new, |index| resolve::tell(seen, index as u32));
        let others = self.done.others.iter().filter_map(|id| seen.index_of(*id));
        let others: Vec<String> = others.map(|index| resolve::tell(seen, index as u32)).collect();
        let hint = if others.is_empty() {
            format!("look the other way with direction {}", self.done.direction.opposite().name())
        } else {
            format!(
                "look the other way with direction {}, or inside another that scrolls",
                self.done.direction.opposite().name()
            )
        };
        let message = format!(
            "nothing matches {} {} to the end of {what}",
            self.asked.query.describe(),
            self.done.direction.name()
        );
        Failure::new(ErrorCode::NavigationNoChange, message, hint).with_candidates(others)
    }
}

fn middle(seen: &Observation, candidate: &Candidate) -> Option<Point> {
    seen.reading.nodes.get(candidate.matched as usize)?.visible.map(|rect| rect.center())
}

fn screen_of(seen: &Observation) -> Option<String> {
    seen.reading.snapshot.screen.as_ref().map(|screen| screen.component())
}

fn left(before: &Observation, now: &Observation) -> Failure {
    let name = |seen: &Observation| screen_of(seen).unwrap_or_else(|| "another screen".to_owned());
    Failure::new(
        ErrorCode::VerificationFailed,
        format!("the screen changed from {} to {} while it was scrolled", name(before), name(now)),
        "read it with get_ui_tree; go back before scrolling again",
    )
}

fn no_room(container: ElementId) -> Failure {
    Failure::new(
        ErrorCode::ElementNotInteractable,
        format!("{container} shows too little of itself to be scrolled with a finger"),
        "scroll what is around it first, or name another with inside",
    )
}

fn out_of_scrolls(asked: &ScrollTo) -> Failure {
    Failure::new(
        ErrorCode::ElementNotFound,
        format!(
            "nothing matches {} within {} scrolls {}",
            asked.query.describe(),
            asked.scrolls_max,
            asked.direction.name()
        ),
        "look at the first and last row below: go on with the same call, or the other way",
    )
}
