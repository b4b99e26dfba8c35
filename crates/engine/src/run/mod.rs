//! One call on its way: resolve, prove, dispatch, watch, verdict (LC-01), with its trace written as it happens.
//!
//! Architecture invariant: nothing is sent before its target is proven to be there and to take it, nothing that may
//! have had an effect is sent twice (RC-04), and only what was seen afterwards is called an effect.

mod adjust;
mod aftermath;
mod aim;
mod blind;
mod command;
mod read_list;
mod scroll;
mod typing;
mod verify;
mod words;

use std::sync::Arc;
use std::time::Duration;

use mdm_core::action::event::Event;
use mdm_core::action::outcome::{Effect, Outcome, Sent, SentKind, worse};
use mdm_core::action::recover::{self, Obstacle, RecoveryContext, Strategy};
use mdm_core::action::request::{Act, Action, Command, Request, What};
use mdm_core::action::trace::{Lifecycle, Trace};
use mdm_core::change::tracker::Observation;
use mdm_core::failure::{Cause, Failure};
use mdm_core::intent::target::Target;
use mdm_core::intent::watch::{Ending, Goal, Wait, WatchReport};
use mdm_core::intent::{back, resolve};
use mdm_core::port::{AppReport, DeviceErrorKind, Dispatch, Input, PicturePrint, Support};
use mdm_core::screen::geometry::{Point, Rect};

use crate::poll::{self, Counted, Turn};
use crate::progress::Progress;
use crate::session::Session;
use blind::is_blind;
use command::commands;

pub async fn run(session: &Session, request: Request, progress: &Progress) -> Outcome {
    let trace = Trace::new(&request, session.now_ms());
    let what = request.what.clone();
    let progress = &match &what {
        What::Act(act) => progress.within(Duration::from_millis(act.patience.call_ms)),
        What::Wait(_) => progress.clone(),
    };
    let mut run = Run {
        session,
        progress,
        outcome: Outcome::new(request, trace),
        scrolled: false,
        drawn_before: None,
        picture_before: None,
        heard_before: session.heard_number(),
        gaps_before: session.heard_gaps(),
    };
    run.note(Event::CallBegan { name: run.outcome.request.name });
    let done = match &what {
        What::Act(act) => run.act(act).await,
        What::Wait(wait) => run.wait(wait).await,
    };
    run.end(done)
}

struct Run<'a> {
    session: &'a Session,
    progress: &'a Progress,
    outcome: Outcome,
    /// The target was scrolled to already.
    scrolled: bool,
    /// The part that the action goes to and of which the tree tells nothing, and a print of it before the action.
    drawn_before: Option<(Rect, Option<PicturePrint>)>,
    /// A print of the whole screen before the action, where the device has no tree.
    picture_before: Option<PicturePrint>,
    /// What the device had told by itself before the first command was sent.
    heard_before: u64,
    /// How often it had been silent by then.
    gaps_before: u64,
}

impl Run<'_> {
    fn note(&mut self, event: Event) {
        let at_ms = self.session.now_ms();
        self.outcome.trace.record(&event, at_ms);
        self.session.tell(self.progress, at_ms, event);
    }

    /// Whatever came of it is kept (TR-01).
    fn end(mut self, done: Result<(), Failure>) -> Outcome {
        if let Err(failure) = done {
            let dispatch = worse(failure.dispatch, self.outcome.dispatch());
            let failure = self.with_what_it_was(failure);
            self.outcome.failure = Some(failure.with_dispatch(dispatch));
            self.note(Event::Reached(Lifecycle::Failed));
        }
        if let What::Act(act) = &self.outcome.request.what {
            let by_point = act.action.targets().iter().any(|target| matches!(target, Target::Point(_)));
            let first_try =
                self.outcome.lifecycle() != Lifecycle::Failed && self.outcome.recovered.is_empty();
            self.session.metrics().note_action(first_try, by_point);
        }
        let error = self.outcome.failure.as_ref().map(Failure::code);
        self.note(Event::CallEnded { error });
        let ended_ms = self.session.now_ms();
        let mut memory = self.session.memory();
        memory.windows.ended(&self.outcome.request.id, ended_ms);
        memory.traces.keep(self.outcome.trace.clone());
        memory.tracker.note_answer();
        drop(memory);
        self.outcome
    }

    /// A failure about an id that names nothing now says what it named.
    fn with_what_it_was(&self, failure: Failure) -> Failure {
        let What::Act(act) = &self.outcome.request.what else { return failure };
        if failure.cause != Cause::StaleElement {
            return failure;
        }
        let memory = self.session.memory();
        let targets = act.action.targets();
        let ids = targets.iter().filter_map(|target| target.selector()?.id);
        ids.into_iter().find_map(|id| resolve::stale_now(&memory.tracker, id)).unwrap_or(failure)
    }

    async fn act(&mut self, act: &Act) -> Result<(), Failure> {
        if let Some(what) = act.action.unsupported(&self.session.capabilities()) {
            let message = format!("this device cannot {what}");
            return Err(Failure::new(Cause::Device(DeviceErrorKind::NotSupported), message));
        }
        // Held throughout, so that nothing else is done to the device between the action and its verdict.
        let _turn = self.session.turn(self.progress).await?;
        let done = match &act.action {
            Action::Type(typing) => self.type_text(act, typing).await,
            Action::Adjust(asked) => self.adjust(asked).await,
            Action::ScrollTo(asked) => self.scroll_to(asked).await,
            Action::ReadList(asked) => self.read_list(asked).await,
            _ => self.send_and_follow(act).await,
        };
        if let Err(failure) = &done {
            self.outcome.failure = Some(failure.clone());
        }
        self.note_crash().await;
        self.note_log().await;
        done
    }

    async fn wait(&mut self, wait: &Wait) -> Result<(), Failure> {
        let base = match wait.since_revision {
            Some(revision) => Some(self.kept(revision)?),
            None => None,
        };
        let how = (Turn::TakenForEachLook, Counted::AsWait);
        let report = poll::watch(self.session, wait, base, how, self.progress).await?;
        self.note(Event::Settled { stability: report.stability });
        if report.is_success() {
            self.session.note_settled();
            self.note(Event::Reached(Lifecycle::Verified));
        } else {
            self.note(Event::Reached(Lifecycle::Failed));
        }
        self.outcome.effect = Effect::Watched(Box::new(report));
        Ok(())
    }

    /// The capture of a revision that an agent was told of.
    fn kept(&self, revision: u64) -> Result<Arc<Observation>, Failure> {
        let memory = self.session.memory();
        let last = memory.tracker.last();
        let newest = last.map_or(0, |seen| seen.revision);
        if revision > newest {
            let message = format!("revision {revision} was never handed out, the newest is {newest}");
            return Err(Failure::new(Cause::UnknownRevision, message));
        }
        let current = last.filter(|seen| seen.revision == revision).cloned();
        current.or_else(|| memory.tracker.since(revision).map(|since| since.base)).ok_or_else(|| {
            let message =
                format!("revision {revision} is no longer kept, the newest is {newest}: it did change since");
            Failure::new(Cause::StaleRevision, message)
        })
    }

    async fn send_and_follow(&mut self, act: &Act) -> Result<(), Failure> {
        let targets = act.action.targets();
        loop {
            self.aim(act, &targets).await?;
            self.drawn_before = self.print_drawing(act).await;
            let commands = match self.back_button(act).await? {
                Some(point) => vec![(SentKind::Touch, Command::Input(Input::Tap(point)))],
                None => commands(&act.action, &self.outcome.places),
            };
            let closes_keyboard = self.back_closes_keyboard(act).await;
            match self.send_all(&commands).await {
                Ok(report) => {
                    self.note(Event::Reached(Lifecycle::PendingVerification));
                    self.follow(act).await;
                    self.outcome.closed_keyboard =
                        closes_keyboard && self.keyboard_is_shown().await == Some(false);
                    if let Action::Turn(wanted) = act.action {
                        self.check_turned(wanted).await?;
                    }
                    return self.note_app(act, report).await;
                }
                Err(failure) if failure.dispatch == Dispatch::Unknown => {
                    return self.rescue(act, failure).await;
                }
                Err(failure) => self.send_again(failure)?,
            }
        }
    }

    /// The button that leads back, where the system has no key for it: it does so also where the gesture does not.
    async fn back_button(&self, act: &Act) -> Result<Option<Point>, Failure> {
        if act.action != Action::Back || self.session.capabilities().back != Support::Maybe {
            return Ok(None);
        }
        match self.session.capture_now(self.progress).await {
            Ok(seen) => Ok(back::button(&seen)),
            // Where no tree shows a button, the gesture is all there is.
            Err(failure) if is_blind(&failure) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    async fn send_all(&mut self, commands: &[(SentKind, Command)]) -> Result<AppReport, Failure> {
        let mut report = AppReport::default();
        for (kind, command) in commands {
            report = self.send(*kind, command).await?;
        }
        let id = self.outcome.request.id.clone();
        if self.session.note_unsettled(&id) {
            self.note(Event::Premature);
        }
        Ok(report)
    }

    /// Sends one command, once, and writes down what became of it.
    async fn send(&mut self, what: SentKind, command: &Command) -> Result<AppReport, Failure> {
        if !self.progress.has_time_for(Duration::from_millis(self.session.send_ms())) {
            return Err(Failure::new(Cause::Timeout, "time was up before it could be sent"));
        }
        let at_ms = self.session.now_ms();
        if self.outcome.sent.is_empty() {
            (self.heard_before, self.gaps_before) = (self.session.heard_number(), self.session.heard_gaps());
        }
        self.session.memory().windows.sent(&self.outcome.request.id, self.outcome.request.name, at_ms);
        let sent = self.session.send_now(command, self.progress).await;
        let (dispatch, error) = match &sent {
            Ok(_) => (Dispatch::Taken, None),
            Err(failure) => (failure.dispatch, Some(failure.code())),
        };
        self.outcome.sent.push(Sent { what, at_ms, dispatch });
        self.note(Event::Sent { what, dispatch, error });
        sent
    }

    /// Only for what the device did not take: it may be sent again, to where its target is then.
    fn send_again(&mut self, failure: Failure) -> Result<(), Failure> {
        let untouched = self.outcome.dispatch().is_safe_to_repeat();
        let obstacle = if untouched { Obstacle::NotApplied } else { Obstacle::FateUnknown };
        let context = RecoveryContext { retryable: failure.retryable(), ..RecoveryContext::default() };
        let Some(strategy) = recover::next(obstacle, context, &self.outcome.recovered) else {
            return Err(failure);
        };
        self.recovering(strategy);
        Ok(())
    }

    fn recovering(&mut self, strategy: Strategy) {
        self.outcome.recovered.push(strategy);
        self.note(Event::Recovering { strategy });
    }

    /// What is in front after an app command. The command itself has succeeded; a screen that cannot be read is not its
    /// failure.
    async fn note_app(&mut self, act: &Act, report: AppReport) -> Result<(), Failure> {
        if !matches!(act.action, Action::App(_) | Action::Set(_) | Action::Restart { .. }) {
            return Ok(());
        }
        // The driver has read it back.
        let told = report.setting.as_ref().is_some_and(|setting| setting.after.is_some());
        let read_back = told || report.removed || report.installed.is_some() || report.granted.is_some();
        if read_back && act.expect.is_none() {
            self.note(Event::Reached(Lifecycle::Verified));
        }
        if let Some(setting) = report.setting {
            self.outcome.effect = Effect::Set(setting);
            return Ok(());
        }
        let screen = match command::launches(&act.action) {
            true => self.session.screen_now(self.progress).await.ok(),
            false => None,
        };
        let in_front = |app: &str| screen.as_ref().is_some_and(|screen| screen.app == app);
        let launched = command::launched_app(&act.action);
        if launched.is_some_and(in_front) && act.expect.is_none() {
            self.note(Event::Reached(Lifecycle::Verified));
        }
        // A shell that starts nothing may say nothing (F48).
        if let Some(app) = launched.filter(|app| !in_front(app)) {
            self.check_installed(app).await?;
        }
        self.outcome.effect = Effect::App(report, screen);
        Ok(())
    }

    /// Looks until the screen is at rest for `window_ms`, or time is up.
    async fn settle(&self, since: &Arc<Observation>, window_ms: u64) -> Result<WatchReport, Failure> {
        let wait = Wait::new(Goal::Quiet, window_ms);
        let how = (Turn::Held, Counted::AsPart);
        let report = poll::watch(self.session, &wait, Some(Arc::clone(since)), how, self.progress).await?;
        match (&report.ending, &report.seen) {
            (Ending::Reached | Ending::Timeout, Some(_)) => Ok(report),
            (Ending::Unreadable(failure), _) => Err(failure.clone()),
            _ => Err(Failure::new(Cause::Unread, "time was up before the screen could be read")),
        }
    }

    /// Waits from a capture that is at hand.
    async fn watch(
        &self,
        wait: &Wait,
        since: &Arc<Observation>,
        progress: &Progress,
    ) -> Result<WatchReport, Failure> {
        let how = (Turn::Held, Counted::AsWait);
        poll::watch(self.session, wait, Some(Arc::clone(since)), how, progress).await
    }
}
