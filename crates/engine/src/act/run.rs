//! One action on its way through the pipeline, with its trace.

use std::sync::Arc;
use std::time::Duration;

use mdm_core::action::failure::{Dispatch, ErrorCode, Failure};
use mdm_core::action::recover::{self, Obstacle, Recovery, RecoveryContext, Strategy};
use mdm_core::action::trace::{Lifecycle, Stage, StepResult, Trace};
use mdm_core::change::settle::Stability;
use mdm_core::change::tracker::Observation;
use mdm_core::intent::actionable::{self, NotActionable};
use mdm_core::intent::predicate::Judgement;
use mdm_core::intent::resolve::{self, Reason, Resolution, ResolveOptions};
use mdm_core::intent::scroll::Direction;
use mdm_core::intent::selector::Selector;
use mdm_core::port::{AppReport, Input};
use mdm_core::screen::element::{Element, Role};
use mdm_core::screen::geometry::Rect;

use super::{Acted, Action, After, Aim, Deed, Follow, Hit, Verdict};
use crate::progress::Progress;
use crate::scroll::ScrollTo;
use crate::session::Session;
use crate::watch::{Ending, Goal, Patience, Wait};

/// The rest that a recovery waits for, and how long it waits.
const REST: Duration = Duration::from_millis(250);
const REFRESH_MAX: Duration = Duration::from_secs(3);
/// Looks at a target that seems to move, before the whole screen has to rest first.
const STILL_LOOKS_MAX: u32 = 2;
/// How far a target is looked for, when that is asked for.
const SCROLLS_MAX: u32 = 10;
const SCROLL_PART: f64 = 0.7;
/// A device that needs seconds for a look gets the time for two of them, whatever the timeout (W2).
const LOOKS_MIN: u64 = 2;
const SLOW_DEVICE: Duration = Duration::from_secs(30);

pub(crate) struct Run<'a> {
    pub session: &'a Session,
    pub action: &'a Action,
    pub progress: &'a Progress,
    pub trace: Trace,
    pub tried: Vec<Strategy>,
    scrolled: bool,
}

/// Why a target cannot be acted on now, in words and for the table.
pub(super) struct Refusal {
    failure: Failure,
    trouble: Obstacle,
}

/// Two looks in a row, the older one where there is one.
struct Looks {
    earlier: Option<Arc<Observation>>,
    now: Arc<Observation>,
}

impl<'a> Run<'a> {
    pub fn new(session: &'a Session, action: &'a Action, progress: &'a Progress) -> Run<'a> {
        let trace = Trace::new(action.id.clone(), action.name, session.clock.now_ms());
        Run { session, action, progress, trace, tried: Vec::new(), scrolled: false }
    }

    /// Whatever came of it is kept (TR-01).
    pub fn end<T>(mut self, done: Result<T, Failure>) -> Result<T, Failure> {
        let now_ms = self.session.clock.now_ms();
        if done.is_err() {
            self.trace.reach(Lifecycle::Failed, now_ms);
        }
        self.session.memory().journal.keep(self.trace);
        done.map_err(|failure| Failure { action_id: Some(self.action.id.as_str().into()), ..failure })
    }

    pub fn note(&mut self, stage: Stage, result: StepResult, note: impl Into<String>) {
        self.trace.step(stage, result, self.session.clock.now_ms(), note);
    }

    pub fn reach(&mut self, state: Lifecycle) {
        self.trace.reach(state, self.session.clock.now_ms());
    }

    /// For actions that verify themselves.
    pub fn proved(&mut self, met: bool, ui_changed: bool) {
        let (result, state) = match met {
            true => (StepResult::Success, Lifecycle::Verified),
            false => (StepResult::Failure, Lifecycle::Failed),
        };
        self.note(Stage::Verify, result, "");
        self.reach(state);
        self.trace.expectation_met = Some(met);
        self.trace.ui_changed = Some(ui_changed);
    }

    pub async fn act<const N: usize>(
        &mut self,
        aims: &[Aim; N],
        deed: impl Fn(&[Hit; N]) -> Deed,
    ) -> Result<Acted<N>, Failure> {
        loop {
            let (before, hits) = self.aim(aims).await?;
            let sent = self.dispatch(deed(&hits)).await;
            let (report, dispatch, after) = match sent {
                Ok(report) => (report, Dispatch::NotApplied, self.follow(before.as_ref()).await),
                Err(failure) if failure.dispatch == Dispatch::Unknown => {
                    let after = self.rescue(before.as_ref(), failure).await?;
                    (AppReport::default(), Dispatch::Unknown, Some(Ok(after)))
                }
                Err(failure) => {
                    self.send_again(failure)?;
                    continue;
                }
            };
            let recovered = std::mem::take(&mut self.tried);
            return Ok(Acted { before, hits, report, dispatch, recovered, after });
        }
    }

    fn looks(&self, aims: &[Aim]) -> bool {
        self.action.follow.follows() || aims.iter().any(|aim| matches!(aim, Aim::Element(_)))
    }

    /// Where the action goes, proven on the last of two looks that agree (AC-05).
    pub async fn aim<const N: usize>(
        &mut self,
        aims: &[Aim; N],
    ) -> Result<(Option<Arc<Observation>>, [Hit; N]), Failure> {
        if !self.looks(aims) {
            let hits = each(aims, None).map_err(|refusal| refusal.failure)?;
            self.reach(Lifecycle::Resolved);
            return Ok((None, hits));
        }
        let earlier = self.session.memory().tracker.last().cloned();
        let mut looks = Looks { earlier, now: self.session.observe_now(self.progress).await? };
        let mut still_looks = 0;
        loop {
            let hits = each(aims, Some(&looks.now));
            let moving = hits.as_ref().ok().and_then(|hits| looks.moving(hits));
            let refusal = match (hits, moving) {
                (Ok(hits), None) => match self.under_keyboard(&hits, &looks.now).await? {
                    Some(refusal) => refusal,
                    None => {
                        self.note_target(&hits);
                        return Ok((Some(looks.now), hits));
                    }
                },
                (Ok(_), Some(_)) if still_looks < STILL_LOOKS_MAX => {
                    still_looks += 1;
                    let now = self.session.observe_now(self.progress).await?;
                    looks = Looks { earlier: Some(looks.now), now };
                    continue;
                }
                (Ok(_), Some(refusal)) | (Err(refusal), _) => refusal,
            };
            still_looks = 0;
            looks = match self.out_of_sight(aims, &refusal) {
                Some(query) => self.scroll(query, looks).await?,
                None => self.recover(refusal, looks).await?,
            };
        }
    }

    /// What has to be scrolled to: once, and only when that was asked for (AC-10).
    fn out_of_sight(&mut self, aims: &[Aim], refusal: &Refusal) -> Option<Selector> {
        let away = matches!(refusal.trouble, Obstacle::NotFound | Obstacle::OutOfSight);
        if !away || !self.action.scroll || self.scrolled {
            return None;
        }
        self.scrolled = true;
        aims.iter().find_map(|aim| match aim {
            Aim::Element(query) => Some(query.clone()),
            Aim::Point(_) => None,
        })
    }

    async fn scroll(&mut self, query: Selector, looks: Looks) -> Result<Looks, Failure> {
        let asked = ScrollTo {
            query,
            inside: None,
            direction: Direction::Down,
            scrolls_max: SCROLLS_MAX,
            amount: SCROLL_PART,
        };
        let scrolled = self.session.scroll_now(&asked, looks.now, self.progress).await?;
        let found = scrolled.end.is_ok();
        let result = if found { StepResult::Success } else { StepResult::Failure };
        self.note(Stage::Execute, result, format!("{} scrolls", scrolled.scrolls));
        scrolled.end?;
        let now = self.session.observe_now(self.progress).await?;
        Ok(Looks { earlier: Some(scrolled.seen), now })
    }

    /// The keyboard is in no tree, so the device is asked for it wherever one may be: where a field has the focus.
    async fn under_keyboard(&self, hits: &[Hit], seen: &Observation) -> Result<Option<Refusal>, Failure> {
        if hits.iter().all(|hit| hit.target.is_none()) || !has_focused_field(seen) {
            return Ok(None);
        }
        let keyboard = self.session.keyboard(self.progress).await?;
        Ok(keyboard.and_then(|keyboard| behind(keyboard, hits, seen)))
    }

    fn note_target(&mut self, hits: &[Hit]) {
        let target = hits.iter().find_map(|hit| hit.target.as_ref());
        let note = target.map_or_else(String::new, |(id, target)| {
            let preferred = [Reason::OnScreenPreferred, Reason::UncoveredPreferred];
            let alternate = target.reasons.iter().any(|reason| preferred.contains(reason));
            let how = if alternate { Strategy::AlternateCandidate.as_str() } else { "" };
            format!("{id} {how}").trim_end().to_owned()
        });
        self.note(Stage::Resolve, StepResult::Success, note);
        self.reach(Lifecycle::Resolved);
    }

    /// Does what the table allows, or gives up for good.
    async fn recover(&mut self, refusal: Refusal, looks: Looks) -> Result<Looks, Failure> {
        let Refusal { failure, trouble } = refusal;
        let scene = RecoveryContext {
            damaged: !looks.now.reading.snapshot.is_whole(),
            restless: looks.restless(),
            retryable: failure.retryable(),
        };
        let Some(strategy) = recover::next(trouble, scene, &self.tried) else {
            self.note(Stage::Resolve, StepResult::Failure, failure.code.as_str());
            return Err(self.terminal(failure));
        };
        self.note(Stage::Resolve, StepResult::Retry, failure.code.as_str());
        self.tried.push(strategy);
        self.session.metrics.note(|counts| counts.retries += 1);
        if strategy == Strategy::StepBack {
            self.session.send(Input::HideKeyboard, self.progress).await?;
        }
        let rested = match strategy {
            Strategy::StateRefresh | Strategy::StepBack => self.rest(looks.now).await?,
            _ => looks.now,
        };
        self.note(Stage::Recover, StepResult::Retry, strategy.as_str());
        let now = self.session.observe_now(self.progress).await?;
        Ok(Looks { earlier: Some(rested), now })
    }

    /// Looks until the screen rests. One that shows that it is loading rests, too, so there a change is waited for.
    async fn rest(&self, since: Arc<Observation>) -> Result<Arc<Observation>, Failure> {
        let spent = Duration::from_millis(self.progress.elapsed_ms());
        let progress = self.progress.within(spent + REFRESH_MAX);
        let goal = if since.loading().is_some() { Goal::Change } else { Goal::Quiet };
        let waited = self.session.watch_now(&Wait::holding(goal, REST), &since, &progress).await?;
        match (waited.ending, waited.seen) {
            (Ending::Unreadable(failure), None) => Err(failure),
            // A device that is slower than that has been waited for, too.
            (_, seen) => Ok(seen.unwrap_or(since)),
        }
    }

    /// RC-02: what was tried, and that it is over.
    fn terminal(&self, failure: Failure) -> Failure {
        if self.tried.is_empty() {
            return failure;
        }
        let recovery = Recovery { strategies: self.tried.clone(), terminal: true };
        Failure { recovery: Some(Box::new(recovery)), ..failure }
    }

    pub async fn dispatch(&mut self, deed: Deed) -> Result<AppReport, Failure> {
        let sent = self.session.perform(deed, self.progress).await;
        match &sent {
            Ok(_) => {
                self.note(Stage::Execute, StepResult::Success, "");
                self.reach(Lifecycle::Dispatched);
                self.reach(Lifecycle::PendingVerification);
                self.session.note_unsettled(&self.action.id);
            }
            Err(failure) => self.note(Stage::Execute, StepResult::Failure, failure.code.as_str()),
        }
        sent
    }

    /// Only for what the device did not take: it may be sent again, to where its target is then.
    fn send_again(&mut self, failure: Failure) -> Result<(), Failure> {
        let scene = RecoveryContext { retryable: failure.retryable(), ..RecoveryContext::default() };
        let Some(strategy) = recover::next(Obstacle::NotApplied, scene, &self.tried) else {
            return Err(self.terminal(failure));
        };
        self.tried.push(strategy);
        self.session.metrics.note(|counts| counts.retries += 1);
        self.note(Stage::Recover, StepResult::Retry, strategy.as_str());
        Ok(())
    }

    /// The answer was lost. Nothing is sent again; if what was expected is seen, that is the answer.
    async fn rescue(
        &mut self,
        before: Option<&Arc<Observation>>,
        failure: Failure,
    ) -> Result<After, Failure> {
        if self.action.follow.expect.is_none() || failure.code == ErrorCode::Cancelled {
            return Err(failure);
        }
        match self.follow(before).await {
            Some(Ok(after)) if after.verdict == Verdict::Confirmed && !after.held_before => Ok(after),
            _ => Err(failure),
        }
    }

    pub async fn follow(&mut self, before: Option<&Arc<Observation>>) -> Option<Result<After, Failure>> {
        let before = before.filter(|_| self.action.follow.follows())?;
        let after = self.watch(before, &self.action.follow).await;
        match &after {
            Ok(after) => self.note_after(after),
            Err(failure) => self.note(Stage::Verify, StepResult::Failure, failure.code.as_str()),
        }
        Some(after)
    }

    fn note_after(&mut self, after: &After) {
        let stable = after.stability == Stability::Stable;
        let rested = if stable { StepResult::Success } else { StepResult::Failure };
        self.note(Stage::Stabilize, rested, after.stability.as_str());
        if stable || after.verdict == Verdict::Confirmed {
            self.session.note_settled();
        }
        self.trace.ui_changed = Some(after.observed.is_relevant());
        self.trace.expectation_met = match after.verdict {
            Verdict::Confirmed => Some(true),
            Verdict::Contradicted { .. } => Some(false),
            Verdict::NotAsked | Verdict::Undetermined { .. } => None,
        };
        if after.verdict != Verdict::NotAsked {
            let met = self.trace.expectation_met == Some(true);
            let result = if met { StepResult::Success } else { StepResult::Failure };
            let reason = after.failure_reason().map_or("confirmed", |reason| reason.as_str());
            self.note(Stage::Verify, result, reason);
        }
        self.reach(after.lifecycle());
    }

    async fn watch(&self, before: &Arc<Observation>, follow: &Follow) -> Result<After, Failure> {
        let spent = Duration::from_millis(self.progress.elapsed_ms());
        let progress = self.progress.within(spent + follow.timeout + SLOW_DEVICE);
        let goal = follow.expect.clone().map_or(Goal::Quiet, Goal::Predicate);
        let window = if follow.settle { follow.window } else { Duration::ZERO };
        let patience = Patience { ms: follow.timeout.as_millis() as u64, captures: LOOKS_MIN };
        let wait = Wait { patience: Some(patience), ..Wait::holding(goal, window) };
        let waited = self.session.watch_now(&wait, before, &progress).await?;
        if let (Ending::Unreadable(failure), None) = (&waited.ending, &waited.seen) {
            return Err(failure.clone());
        }
        let (verdict, held_before) = match &follow.expect {
            None => (Verdict::NotAsked, false),
            Some(condition) => (verdict(&waited.ending, waited.standing), condition.judge(before).holds()),
        };
        Ok(After {
            seen: waited.seen.unwrap_or_else(|| Arc::clone(before)),
            since: waited.since,
            observed: waited.observed,
            stability: waited.stability,
            moving: waited.moving,
            captures: waited.captures,
            verdict,
            held_before,
        })
    }
}

impl Looks {
    fn restless(&self) -> bool {
        let changed = self.earlier.as_ref().is_some_and(|earlier| earlier.revision != self.now.revision);
        changed || self.now.loading().is_some()
    }

    /// The first target that is not where it was one look ago, or was not there.
    fn moving(&self, hits: &[Hit]) -> Option<Refusal> {
        let is_moving =
            |id| self.earlier.as_ref().is_none_or(|seen| actionable::is_moving(seen, &self.now, id));
        let targets = hits.iter().filter_map(|hit| hit.target.as_ref());
        let (_, target) = targets.into_iter().find(|(id, _)| is_moving(*id))?;
        let failure = Failure::new(
            ErrorCode::ElementNotInteractable,
            format!(
                "{} is moving: no two looks agree on where it is",
                resolve::tell(&self.now, target.index)
            ),
            "wait with wait_for_ui condition stable; what never stands still can only be tapped by x and y",
        );
        Some(Refusal { failure, trouble: Obstacle::Moving })
    }
}

/// Contradicted is only what a whole capture at the end of the time shows to be otherwise.
fn verdict(ending: &Ending, standing: Option<Judgement>) -> Verdict {
    match (ending, standing) {
        (Ending::Reached, _) => Verdict::Confirmed,
        (Ending::Unreadable(failure), _) => Verdict::Undetermined { why: failure.to_string() },
        (_, Some(Judgement::Fails { observed, .. })) => Verdict::Contradicted { observed },
        (_, Some(Judgement::Unknown { why })) => Verdict::Undetermined { why },
        (_, Some(Judgement::Ambiguous { indexes })) => {
            Verdict::Undetermined { why: format!("{} elements are meant, and they differ", indexes.len()) }
        }
        (_, Some(Judgement::Holds { .. })) => {
            Verdict::Undetermined { why: "it held at the end, but not for long enough to be sure".to_owned() }
        }
        (_, None) => Verdict::Undetermined { why: "the screen could not be read in time".to_owned() },
    }
}

fn each<const N: usize>(aims: &[Aim; N], seen: Option<&Observation>) -> Result<[Hit; N], Refusal> {
    let mut hits = Vec::with_capacity(N);
    for aim in aims {
        hits.push(hit(aim, seen)?);
    }
    Ok(std::array::from_fn(|at| hits[at].clone()))
}

fn hit(aim: &Aim, seen: Option<&Observation>) -> Result<Hit, Refusal> {
    let (query, seen) = match (aim, seen) {
        (Aim::Point(point), _) => return Ok(Hit { point: *point, visible: None, target: None }),
        (Aim::Element(_), None) => return Err(unlooked()),
        (Aim::Element(query), Some(seen)) => (query, seen),
    };
    let resolution = resolve::resolve(seen, query, &ResolveOptions::default());
    if let Some(failure) = resolve::failure(seen, query, &resolution) {
        let trouble = trouble(seen, query.id.is_some(), &resolution);
        return Err(Refusal { failure, trouble });
    }
    let Resolution::Found(target) = resolution else { return Err(unlooked()) };
    let index = target.index as usize;
    let visible = seen.reading.nodes[index].visible;
    Ok(Hit { point: target.point, visible, target: Some((seen.ids[index], target)) })
}

fn trouble(seen: &Observation, by_id: bool, resolution: &Resolution) -> Obstacle {
    match resolution {
        Resolution::NotFound { .. } if by_id => Obstacle::Stale,
        Resolution::NotFound { .. } | Resolution::Found(_) => Obstacle::NotFound,
        Resolution::Ambiguous(_) => Obstacle::Ambiguous,
        Resolution::NotActionable { why, .. } => match why {
            NotActionable::OutOfSight => Obstacle::OutOfSight,
            NotActionable::Disabled => Obstacle::Disabled,
            NotActionable::Doubtful { .. } => Obstacle::Doubtful,
            NotActionable::Covered { by } => {
                Obstacle::Covered { by_keyboard: seen.reading.element(*by).role == Role::Key }
            }
        },
    }
}

fn has_focused_field(seen: &Observation) -> bool {
    let focused = |element: &Element| element.role == Role::TextField && element.state.focused == Some(true);
    seen.reading.snapshot.elements.iter().any(focused)
}

fn behind(keyboard: Rect, hits: &[Hit], seen: &Observation) -> Option<Refusal> {
    let named = hits.iter().filter_map(|hit| Some((hit.point, hit.target.as_ref()?)));
    let (_, (_, target)) = named.into_iter().find(|(point, _)| keyboard.contains(*point))?;
    let failure = Failure::new(
        ErrorCode::ElementNotInteractable,
        format!("{} is under the keyboard", resolve::tell(seen, target.index)),
        "hide it with hide_keyboard",
    );
    Some(Refusal { failure, trouble: Obstacle::Covered { by_keyboard: true } })
}

fn unlooked() -> Refusal {
    let failure = Failure::new(
        ErrorCode::InternalError,
        "an element was meant before the screen was read",
        "this is a defect of the server, please report it; nothing was sent",
    );
    Refusal { failure, trouble: Obstacle::Doubtful }
}
