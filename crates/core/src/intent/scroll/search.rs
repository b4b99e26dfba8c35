//! The search for a target by scrolling, as a pure machine: it is fed with captures and says what to do next (AC-10).
//!
//! Architecture invariant: every stroke goes over what was seen a moment ago, and leaves a part of the last view in
//! sight, so that nothing is passed by unseen.

mod failure;
mod locate;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::{Axis, Direction, Movement, Stroke, StrokeOptions};
use crate::change::settle::Stability;
use crate::change::tracker::Observation;
use crate::failure::Failure;
use crate::identity::ElementId;
use crate::intent::resolve;
use crate::intent::selector::{Relation, Selector};
use crate::screen::geometry::{Point, Rect};
use locate::Found;

/// The quiet that counts as rest after a stroke.
const WINDOW_MS: u64 = 250;
/// A list that glides moves less than a pixel in this time only when it is as good as at rest.
const GLIDE_MS: u64 = 200;
/// A stroke that stands still is followed by another look when something still moved, so often.
const RESTS_MAX: u32 = 5;
/// Strokes to bring a target that was found wholly into sight.
const NUDGES_MAX: u32 = 4;
/// Strokes back over a part that was passed too fast.
const BACKS_MAX: u32 = 4;
/// Rows that are on their way get this long, so often at one place.
const LOADING_MS: u64 = 5000;
/// Times that a list is waited for while it loads more.
const LOADS_MAX: u32 = 3;
/// Rows that come without a sign of it get this long at what seems to be the end.
const LATE_MS: u64 = 1000;
/// A stroke that only proves an end is short: a long one over the top of a list makes many lists load anew. In parts of
/// the view.
const PROOF_PART: i32 = 12;
/// However long a step is asked for, a part of the last view stays in sight.
const AMOUNT_MAX: f64 = 0.8;
const AMOUNT_MIN: f64 = 0.05;

/// What is looked for, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct ScrollTo {
    /// `None`: the end of the content in this direction.
    pub target: Option<Selector>,
    /// What is scrolled, or something in or around it; else what a person would scroll.
    pub inside: Option<Selector>,
    pub direction: Direction,
    pub scrolls_max: u32,
    /// The length of one step, as a part of what is seen of the container.
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
    /// The target; `None` when it was not found.
    pub found: Option<InSight>,
    pub scrolls: u32,
    /// The last direction: a target that is known to lie elsewhere is worth more than the one that was asked for.
    pub direction: Direction,
    pub container: Option<ElementId>,
    /// Others that scroll the same way.
    pub others: Vec<ElementId>,
    pub stability: Stability,
}

/// What the engine does next for the search.
#[derive(Debug, Clone, PartialEq)]
pub enum ScrollStep {
    /// Find out where the keyboard is, then call [`ScrollSearch::keyboard_is`].
    AskForKeyboard,
    /// Send this stroke, settle for `window_ms`, then call [`ScrollSearch::stroked`].
    Stroke { stroke: Stroke, window_ms: u64 },
    /// Settle once more for `window_ms`, then call [`ScrollSearch::rested`].
    Rest { window_ms: u64 },
    /// Wait for a change for so long, then call [`ScrollSearch::waited`].
    WaitForMore { ms: u64, window_ms: u64 },
    /// The target is in sight, or the end is reached where that was asked for.
    Done,
}

/// What one stroke led to, as far as it could be seen.
pub struct AfterStroke<'a> {
    pub seen: Arc<Observation>,
    pub stability: Stability,
    /// When `seen` was captured, and for how long before that nothing had moved.
    pub at_ms: u64,
    pub still_ms: u64,
    /// Captures between the last view and this one, oldest first.
    pub between: &'a [Arc<Observation>],
}

/// One search on its way.
pub struct ScrollSearch<'a> {
    asked: &'a ScrollTo,
    selector: Option<Selector>,
    done: Scrolled,
    amount: f64,
    /// Strokes in a row that moved nothing.
    still: u32,
    /// The last stroke went less far than it should: the end may be near.
    short: bool,
    /// When what a step moved last came to rest.
    stopped_ms: u64,
    nudges: u32,
    loads: u32,
    /// The view before something was passed too fast.
    passed: Option<Passed>,
    /// It goes from page to page, with nothing in between.
    snaps: bool,
    /// Where the keyboard is, once that was asked: nothing of ours opens or closes it on the way.
    keyboard: Option<Option<Rect>>,
    /// It glides far when it is let go.
    slower: u32,
    travelled_px: i32,
    state: State,
}

/// A view, the container in it, and strokes back to it so far.
struct Passed {
    view: Arc<Observation>,
    container: ElementId,
    backs: u32,
}

/// A stroke that was sent and what it was for.
struct Sent {
    before: Arc<Observation>,
    container: ElementId,
    direction: Direction,
    way_px: i32,
    purpose: Purpose,
    /// A capture on the way showed the target, and it is gone again.
    passed_by: bool,
    /// When its effect was seen, and since when nothing had moved then.
    seen_ms: u64,
    still_since_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Bring a target that is partly in sight wholly into it.
    Nudge,
    /// Go back over what was passed too fast.
    Back,
    /// Go on. `proof`: a short stroke that only shows that this is the end.
    Step { proof: bool },
}

enum State {
    /// The next step depends on where the target is on the last capture.
    Deciding,
    Stroked(Sent),
    /// Waits until a list has stopped gliding.
    Gliding {
        sent: Sent,
        container: ElementId,
        rests: u32,
    },
    /// Waits at what seems to be the end, for what may come.
    Waiting {
        since_revision: u64,
    },
}

impl<'a> ScrollSearch<'a> {
    pub fn new(asked: &'a ScrollTo, seen: Arc<Observation>) -> ScrollSearch<'a> {
        let mut selector = asked.target.clone();
        if let (Some(target), Some(inside)) = (&mut selector, &asked.inside)
            && target.near.is_none()
        {
            target.near = Some((Relation::Inside, Box::new(inside.clone())));
        }
        let amount = if asked.amount.is_finite() { asked.amount } else { AMOUNT_MAX };
        ScrollSearch {
            asked,
            selector,
            done: Scrolled {
                before: Arc::clone(&seen),
                seen,
                found: None,
                scrolls: 0,
                direction: asked.direction,
                container: None,
                others: Vec::new(),
                stability: Stability::Stable,
            },
            amount: amount.clamp(AMOUNT_MIN, AMOUNT_MAX),
            still: 0,
            // Content that may be at its start already is not pulled far: many lists load anew then.
            short: asked.target.is_none() && !asked.direction.is_forward(),
            stopped_ms: 0,
            nudges: 0,
            loads: 0,
            passed: None,
            snaps: false,
            keyboard: None,
            slower: 1,
            travelled_px: 0,
            state: State::Deciding,
        }
    }

    pub fn report(self) -> Scrolled {
        self.done
    }

    /// Takes back the last stroke, which surely did not go out.
    pub fn not_sent(&mut self) {
        self.done.scrolls = self.done.scrolls.saturating_sub(1);
    }

    pub fn last_capture(&self) -> Arc<Observation> {
        Arc::clone(&self.done.seen)
    }

    /// True if this capture shows the target.
    pub fn shows_target(&self, seen: &Observation) -> bool {
        self.selector.as_ref().is_some_and(|selector| !resolve::candidates(seen, selector).is_empty())
    }

    /// True if the content turns pages: nothing lies between two views that have nothing in common.
    pub fn turns_pages(&self) -> bool {
        self.snaps
    }

    /// How far the finger moved the content in all, as far as it followed; positive towards greater coordinates.
    pub fn travelled_px(&self) -> i32 {
        self.travelled_px
    }

    /// The container that is scrolled, once it is known.
    pub fn container_id(&self) -> Option<ElementId> {
        self.done.container
    }

    /// Decides the next step from the last capture.
    pub fn next_step(&mut self) -> Result<ScrollStep, Failure> {
        let found = self.locate()?;
        if self.keyboard.is_none() && !matches!(found, Found::Here(_)) {
            return Ok(ScrollStep::AskForKeyboard);
        }
        match found {
            Found::Here(target) => Ok(self.found(target)),
            Found::Partly(target, container, direction, way_px) => {
                if self.nudges >= NUDGES_MAX || !self.may_go_on() {
                    return Ok(self.found(target));
                }
                self.nudges += 1;
                let id = self.done.seen.ids[container as usize];
                self.done.found = Some(target.clone());
                match self.stroke(id, direction, way_px, Purpose::Nudge) {
                    Some(step) => Ok(step),
                    None => Ok(self.found(target)),
                }
            }
            Found::Away(container, direction, way_px) => {
                self.check_budget()?;
                self.done.direction = direction;
                self.done.container = Some(self.done.seen.ids[container as usize]);
                self.step(Some(way_px))
            }
            Found::Nowhere => {
                self.check_budget()?;
                self.step(None)
            }
        }
    }

    /// Takes in where the keyboard is.
    pub fn keyboard_is(&mut self, place: Option<Rect>) -> Result<ScrollStep, Failure> {
        self.keyboard = Some(place);
        self.next_step()
    }

    /// The stroke that `next_step` asked for was sent, and the screen settled.
    pub fn stroked(&mut self, after: AfterStroke<'_>) -> Result<ScrollStep, Failure> {
        let State::Stroked(mut sent) = std::mem::replace(&mut self.state, State::Deciding) else {
            return self.next_step();
        };
        (sent.seen_ms, sent.still_since_ms) = (after.at_ms, after.at_ms.saturating_sub(after.still_ms));
        sent.passed_by = after.between.iter().any(|seen| self.shows_target(seen));
        self.done.stability = after.stability;
        self.done.seen = after.seen;
        let seen = &self.done.seen;
        let again = super::again(&sent.before, sent.container, seen);
        let container = again.map_or(sent.container, |index| seen.ids[index as usize]);
        // Movement alone is no change that counts, so a list may still glide when a screen is called quiet; and a tap
        // on a list that glides only stops it.
        if after.still_ms >= GLIDE_MS {
            return self.arrived(sent);
        }
        self.state = State::Gliding { sent, container, rests: 0 };
        Ok(ScrollStep::Rest { window_ms: GLIDE_MS })
    }

    /// The rest that was asked for is over.
    pub fn rested(
        &mut self,
        later: Arc<Observation>,
        between: &[Arc<Observation>],
    ) -> Result<ScrollStep, Failure> {
        let State::Gliding { mut sent, container, rests } =
            std::mem::replace(&mut self.state, State::Deciding)
        else {
            return self.next_step();
        };
        sent.passed_by |= between.iter().any(|seen| self.shows_target(seen));
        let axis = sent.direction.axis();
        let moved = super::movement(&self.done.seen, &later, container, axis).moved();
        let again = super::again(&self.done.seen, container, &later);
        let container = again.map_or(container, |index| later.ids[index as usize]);
        self.done.seen = later;
        if moved && rests + 1 < RESTS_MAX {
            self.state = State::Gliding { sent, container, rests: rests + 1 };
            return Ok(ScrollStep::Rest { window_ms: GLIDE_MS });
        }
        self.arrived(sent)
    }

    /// The wait for more rows is over.
    pub fn waited(&mut self, seen: Option<Arc<Observation>>) -> Result<ScrollStep, Failure> {
        let State::Waiting { since_revision } = std::mem::replace(&mut self.state, State::Deciding) else {
            return self.next_step();
        };
        if let Some(seen) = seen {
            self.done.seen = seen;
        }
        self.end_or_more(since_revision)
    }

    /// The stroke has come to its end: what did it move?
    fn arrived(&mut self, sent: Sent) -> Result<ScrollStep, Failure> {
        failure::check_screen(&sent.before, &self.done.seen)?;
        let expected = Some(signed(sent.way_px, sent.direction));
        let axis = sent.direction.axis();
        let movement = super::measure(&sent.before, &self.done.seen, sent.container, axis, expected).movement;
        self.rename(&sent.before, sent.container);
        match sent.purpose {
            Purpose::Back => self.next_step(),
            // Where nothing moved it is as much in sight as it gets.
            Purpose::Nudge => match (movement.moved(), self.done.found.take()) {
                (false, Some(target)) => Ok(self.found(target)),
                _ => self.next_step(),
            },
            Purpose::Step { proof } => self.stepped(sent, movement, proof),
        }
    }

    fn stepped(&mut self, sent: Sent, movement: Movement, proof: bool) -> Result<ScrollStep, Failure> {
        self.note(movement, &sent, proof);
        let passed_by = sent.passed_by && !self.shows_target(&self.done.seen);
        match movement {
            Movement::None => return self.look_for_more(sent.before.revision),
            Movement::Gap if !self.snaps => {
                self.passed = Some(Passed { view: sent.before, container: sent.container, backs: 0 });
            }
            _ if passed_by => {
                self.passed = Some(Passed { view: sent.before, container: sent.container, backs: 0 });
            }
            _ => {}
        }
        self.next_step()
    }

    /// Nothing moved: more may be on its way, or this is the end.
    fn look_for_more(&mut self, since_revision: u64) -> Result<ScrollStep, Failure> {
        let ms = if self.is_loading() {
            self.loads += 1;
            LOADING_MS
        } else if self.still == 1 {
            LATE_MS
        } else {
            return self.end_or_more(since_revision);
        };
        self.state = State::Waiting { since_revision };
        Ok(ScrollStep::WaitForMore { ms, window_ms: WINDOW_MS })
    }

    fn end_or_more(&mut self, since_revision: u64) -> Result<ScrollStep, Failure> {
        if self.done.seen.revision != since_revision {
            self.still = 0;
            self.short = false;
            return self.next_step();
        }
        if self.still < 2 || self.is_loading() {
            return self.next_step();
        }
        match &self.asked.target {
            Some(target) => Err(failure::end_reached(target, &self.done)),
            None => Ok(ScrollStep::Done),
        }
    }

    fn is_loading(&self) -> bool {
        self.done.seen.loading().is_some() && self.loads < LOADS_MAX
    }

    fn found(&mut self, target: InSight) -> ScrollStep {
        self.done.found = Some(target);
        ScrollStep::Done
    }

    /// One step of the search.
    fn step(&mut self, known_px: Option<i32>) -> Result<ScrollStep, Failure> {
        let container = self.container()?;
        let view = self.view(container);
        if let Some(back) = self.back() {
            let way = (f64::from(view) * self.amount * 0.4) as i32;
            return match self.stroke(container, back, way, Purpose::Back) {
                Some(step) => Ok(step),
                None => self.next_step(),
            };
        }
        let proof = self.still > 0 || self.short;
        let usual = (f64::from(view) * self.amount) as i32;
        let way = if proof { view / PROOF_PART } else { known_px.map_or(usual, |known| known.min(usual)) };
        let direction = self.done.direction;
        self.stroke(container, direction, way, Purpose::Step { proof })
            .ok_or_else(|| failure::no_room(container, &self.done))
    }

    /// `None` when there is no place for a finger.
    fn stroke(
        &mut self,
        container: ElementId,
        direction: Direction,
        way_px: i32,
        purpose: Purpose,
    ) -> Option<ScrollStep> {
        let before = Arc::clone(&self.done.seen);
        let index = before.index_of(container)?;
        let another = matches!(purpose, Purpose::Step { .. }) && self.still > 0;
        let place = StrokeOptions { another, keyboard: self.keyboard.flatten(), slower: self.slower };
        let stroke = super::stroke(&before.reading, index as u32, direction, way_px, place)?;
        // Counted before it is sent: one whose answer is lost may have happened.
        self.done.scrolls += 1;
        let way_px = stroke.way_px;
        self.travelled_px = self.travelled_px.saturating_add(signed(way_px, direction));
        self.state = State::Stroked(Sent {
            before,
            container,
            direction,
            way_px,
            purpose,
            passed_by: false,
            seen_ms: 0,
            still_since_ms: 0,
        });
        Some(ScrollStep::Stroke { stroke, window_ms: WINDOW_MS })
    }

    fn may_go_on(&self) -> bool {
        self.done.scrolls < self.asked.scrolls_max
    }

    fn check_budget(&self) -> Result<(), Failure> {
        if self.may_go_on() { Ok(()) } else { Err(failure::out_of_scrolls(self.asked)) }
    }

    /// What is scrolled. An id that did not live through a stroke is looked for anew.
    fn container(&mut self) -> Result<ElementId, Failure> {
        let seen = &self.done.seen;
        if let Some(id) = self.done.container.filter(|id| seen.index_of(*id).is_some()) {
            return Ok(id);
        }
        let picked = super::pick(seen, self.asked.inside.as_ref(), self.done.direction.axis())?;
        let id = seen.ids[picked.index as usize];
        self.done.others = picked.others.iter().map(|other| seen.ids[*other as usize]).collect();
        self.done.container = Some(id);
        Ok(id)
    }

    /// Keeps the container under the id that it has now.
    fn rename(&mut self, before: &Observation, container: ElementId) {
        let seen = &self.done.seen;
        let now = super::again(before, container, seen).map(|index| seen.ids[index as usize]);
        if self.done.container == Some(container) && now.is_some() {
            self.done.container = now;
        }
    }

    /// How much of the content is in sight, in pixels along the way.
    fn view(&self, container: ElementId) -> i32 {
        let seen = &self.done.seen;
        let axis: Axis = self.done.direction.axis();
        let band = seen.index_of(container).and_then(|index| super::band(&seen.reading, index as u32, axis));
        band.map_or(0, |band| axis.length(band))
    }

    /// The way back over what was passed too fast, until the views meet.
    fn back(&mut self) -> Option<Direction> {
        let passed = self.passed.take()?;
        let axis = self.done.direction.axis();
        if passed.backs > 0 {
            match super::movement(&passed.view, &self.done.seen, passed.container, axis) {
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

    fn note(&mut self, movement: Movement, sent: &Sent, proof: bool) {
        match movement {
            // A short proof that moved nothing after a step that stopped early: that is twice, if rows had time to come.
            Movement::None => {
                let had_time = sent.seen_ms >= self.stopped_ms.saturating_add(LATE_MS);
                self.still += if self.short && had_time { 2 } else { 1 };
            }
            Movement::By(by) => {
                self.still = 0;
                self.loads = 0;
                self.short = !proof && by.saturating_abs() < sent.way_px / 2;
                self.stopped_ms = sent.still_since_ms;
            }
            Movement::Gap => {
                self.still = 0;
                self.short = false;
            }
        }
    }
}

/// A distance with its direction: positive towards greater coordinates.
fn signed(way_px: i32, direction: Direction) -> i32 {
    if direction.is_forward() { way_px } else { way_px.saturating_neg() }
}
