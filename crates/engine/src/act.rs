//! The one action pipeline (LC-01): resolve, check, dispatch, settle, verify, recover.
//!
//! Architecture invariant: nothing is sent before its target is proven to be there and to take it, nothing that may
//! have had an effect is sent twice (RC-04), and only what was seen afterwards is called an effect.

mod run;
mod typing;

use std::sync::Arc;
use std::time::Duration;

use mdm_core::action::failure::{Dispatch, Failure};
use mdm_core::action::recover::{FailureReason, Strategy};
use mdm_core::action::trace::Lifecycle;
use mdm_core::change::diff::ChangeKind;
use mdm_core::change::settle::Stability;
use mdm_core::change::tracker::{Comparison, Observation};
use mdm_core::identity::ElementId;
use mdm_core::intent::predicate::Predicate;
use mdm_core::intent::resolve::Resolved;
use mdm_core::intent::selector::Selector;
use mdm_core::port::{AppAction, AppReport, Input};
use mdm_core::screen::geometry::{Point, Rect};

use crate::progress::Progress;
use crate::session::Session;
use crate::watch::Moving;
pub(crate) use run::Run;
pub use typing::{ReadBack, Typed, Typing};

/// What is asked of the pipeline besides the deed itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// Never given twice.
    pub id: String,
    /// A name of [`mdm_core::action::kind::TABLE`].
    pub name: &'static str,
    pub follow: Follow,
    /// Scroll to what is not in sight (AC-10).
    pub scroll: bool,
}

/// Where an action goes.
#[derive(Debug, Clone, PartialEq)]
pub enum Aim {
    /// Degraded: nothing is checked (AC-02).
    Point(Point),
    Element(Selector),
}

/// What is done once its places are known.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    Input(Input),
    App {
        action: AppAction,
        app: String,
    },
    /// Terminates and starts, so that no other call sees the app gone.
    Restart {
        app: String,
    },
}

/// What is looked at after the dispatch.
#[derive(Debug, Clone, PartialEq)]
pub struct Follow {
    /// Wait until the screen rests, and say what changed.
    pub settle: bool,
    pub window: Duration,
    /// What the action is meant to bring about.
    pub expect: Option<Predicate>,
    /// For settling and for the expectation.
    pub timeout: Duration,
}

impl Follow {
    pub fn follows(&self) -> bool {
        self.settle || self.expect.is_some()
    }
}

/// Where one end of the action went.
#[derive(Debug, Clone)]
pub struct Hit {
    pub point: Point,
    /// What can be seen of the target.
    pub visible: Option<Rect>,
    pub target: Option<(ElementId, Resolved)>,
}

/// Whether what was expected came true.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    NotAsked,
    Confirmed,
    Contradicted { observed: String },
    Undetermined { why: String },
}

/// What was seen after the dispatch.
#[derive(Debug, Clone)]
pub struct After {
    pub seen: Arc<Observation>,
    pub since: Option<Comparison>,
    pub observed: ChangeKind,
    pub stability: Stability,
    pub moving: Vec<Moving>,
    pub captures: u64,
    pub verdict: Verdict,
    /// What was expected was already so before the action, which therefore proves little.
    pub held_before: bool,
}

impl After {
    /// Why it is not verified (LC-05).
    pub fn failure_reason(&self) -> Option<FailureReason> {
        match &self.verdict {
            Verdict::NotAsked | Verdict::Confirmed => None,
            Verdict::Undetermined { .. } => Some(FailureReason::VerificationTimeout),
            Verdict::Contradicted { .. } if self.observed.is_relevant() => {
                Some(FailureReason::UnexpectedChange)
            }
            Verdict::Contradicted { .. } => Some(FailureReason::NoChange),
        }
    }

    pub fn lifecycle(&self) -> Lifecycle {
        match &self.verdict {
            Verdict::Confirmed => Lifecycle::Verified,
            Verdict::Contradicted { .. } => Lifecycle::Failed,
            Verdict::NotAsked | Verdict::Undetermined { .. } => Lifecycle::PendingVerification,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Acted<const N: usize> {
    pub before: Option<Arc<Observation>>,
    pub hits: [Hit; N],
    pub report: AppReport,
    /// Unknown when the device's answer was lost, and only what was seen afterwards says that it took it.
    pub dispatch: Dispatch,
    /// What had to be tried before it could be sent (RC-02).
    pub recovered: Vec<Strategy>,
    /// `None` when nobody asked. An error when the screen could not be read: the input was sent all the same.
    pub after: Option<Result<After, Failure>>,
}

impl Session {
    /// Resolves every aim on one look at the screen, does one deed, and follows what comes of it. The turn is held
    /// throughout, so that nothing else is done to the device between the action and its verdict.
    pub async fn act<const N: usize>(
        &self,
        action: &Action,
        aims: [Aim; N],
        deed: impl Fn(&[Hit; N]) -> Deed,
        progress: &Progress,
    ) -> Result<Acted<N>, Failure> {
        let _turn = self.turn(progress).await?;
        let mut run = Run::new(self, action, progress);
        let done = run.act(&aims, deed).await;
        run.end(done)
    }
}
