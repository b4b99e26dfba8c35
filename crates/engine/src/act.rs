//! The one action pipeline (LC-01): resolve, check, dispatch, settle, verify.
//!
//! Architecture invariant: nothing is sent before its target is proven to be there and to take it, nothing is sent
//! twice, and only what was seen afterwards is called an effect.

use std::sync::Arc;
use std::time::Duration;

use mdm_core::change::ChangeKind;
use mdm_core::condition::{Condition, Standing};
use mdm_core::device::Input;
use mdm_core::error::Failure;
use mdm_core::geometry::Point;
use mdm_core::identity::ElementId;
use mdm_core::query::Query;
use mdm_core::resolve::{self, Resolution, ResolveOptions, Target};
use mdm_core::settle::Stability;
use mdm_core::tracker::{Seen, Since};

use crate::progress::Progress;
use crate::session::Session;
use crate::watch::{Ending, Goal, Moving, Wait};

/// Where an action goes.
#[derive(Debug, Clone, PartialEq)]
pub enum Aim {
    /// Degraded: nothing is checked (AC-02).
    Point(Point),
    Element(Query),
}

/// What is looked at after the dispatch.
#[derive(Debug, Clone, PartialEq)]
pub struct Follow {
    /// Wait until the screen rests, and say what changed.
    pub settle: bool,
    pub window: Duration,
    /// What the action is meant to bring about.
    pub expect: Option<Condition>,
    /// For settling and for the expectation.
    pub timeout: Duration,
}

/// Where one end of the action went.
#[derive(Debug, Clone)]
pub struct Hit {
    pub point: Point,
    pub target: Option<(ElementId, Target)>,
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
    pub seen: Arc<Seen>,
    pub since: Option<Since>,
    pub observed: ChangeKind,
    pub stability: Stability,
    pub moving: Vec<Moving>,
    pub captures: u64,
    pub verdict: Verdict,
    /// What was expected was already so before the action, which therefore proves little.
    pub held_before: bool,
}

#[derive(Debug, Clone)]
pub struct Acted<const N: usize> {
    pub before: Option<Arc<Seen>>,
    pub hits: [Hit; N],
    /// `None` when nobody asked. An error when the screen could not be read: the input was sent all the same.
    pub after: Option<Result<After, Failure>>,
}

impl Session {
    /// Resolves every aim on one look at the screen, sends one input, and follows what comes of it. The turn is held
    /// throughout, so that nothing else is done to the device between the action and its verdict.
    pub async fn act<const N: usize>(
        &self,
        aims: [Aim; N],
        input: impl FnOnce([Point; N]) -> Input,
        follow: &Follow,
        progress: &Progress,
    ) -> Result<Acted<N>, Failure> {
        let _turn = self.turn(progress).await?;
        let follows = follow.settle || follow.expect.is_some();
        let looks = follows || aims.iter().any(|aim| matches!(aim, Aim::Element(_)));
        let before = if looks { Some(self.observe_now(progress).await?) } else { None };
        let mut hits = Vec::with_capacity(N);
        for aim in &aims {
            hits.push(hit(aim, before.as_deref())?);
        }
        let hits: [Hit; N] = std::array::from_fn(|at| hits[at].clone());
        self.send(input(std::array::from_fn(|at| hits[at].point)), progress).await?;
        let after = match &before {
            Some(before) if follows => Some(self.follow(before, follow, progress).await),
            _ => None,
        };
        Ok(Acted { before, hits, after })
    }

    async fn follow(
        &self,
        before: &Arc<Seen>,
        follow: &Follow,
        progress: &Progress,
    ) -> Result<After, Failure> {
        let spent = Duration::from_millis(progress.elapsed_ms());
        let progress = progress.within(spent + follow.timeout);
        let Some(condition) = &follow.expect else {
            let settled = self.settle_now(before, follow.window, &progress).await?;
            return Ok(After {
                seen: settled.seen,
                since: settled.since,
                observed: settled.observed,
                stability: settled.stability,
                moving: settled.moving,
                captures: settled.captures,
                verdict: Verdict::NotAsked,
                held_before: false,
            });
        };
        let window = if follow.settle { follow.window } else { Duration::ZERO };
        let wait = Wait::holding(Goal::Condition(condition.clone()), window);
        let waited = self.watch_now(&wait, before, &progress).await?;
        if let (Ending::Unreadable(failure), None) = (&waited.ending, &waited.seen) {
            return Err(failure.clone());
        }
        let verdict = verdict(&waited.ending, waited.standing);
        Ok(After {
            seen: waited.seen.unwrap_or_else(|| Arc::clone(before)),
            since: waited.since,
            observed: waited.observed,
            stability: waited.stability,
            moving: waited.moving,
            captures: waited.captures,
            verdict,
            held_before: condition.judge(before).holds(),
        })
    }
}

/// Contradicted is only what a whole capture at the end of the time shows to be otherwise.
fn verdict(ending: &Ending, standing: Option<Standing>) -> Verdict {
    match (ending, standing) {
        (Ending::Reached, _) => Verdict::Confirmed,
        (Ending::Unreadable(failure), _) => Verdict::Undetermined { why: failure.to_string() },
        (_, Some(Standing::Fails { observed, .. })) => Verdict::Contradicted { observed },
        (_, Some(Standing::Unknown { why })) => Verdict::Undetermined { why },
        (_, Some(Standing::Ambiguous { indexes })) => {
            Verdict::Undetermined { why: format!("{} elements are meant, and they differ", indexes.len()) }
        }
        (_, Some(Standing::Holds { .. })) => {
            Verdict::Undetermined { why: "it held at the end, but not for long enough to be sure".to_owned() }
        }
        (_, None) => Verdict::Undetermined { why: "the screen could not be read in time".to_owned() },
    }
}

fn hit(aim: &Aim, seen: Option<&Seen>) -> Result<Hit, Failure> {
    match (aim, seen) {
        (Aim::Point(point), _) => Ok(Hit { point: *point, target: None }),
        (Aim::Element(query), Some(seen)) => {
            let resolution = resolve::resolve(seen, query, &ResolveOptions::default());
            if let Some(failure) = resolve::failure(seen, query, &resolution) {
                return Err(failure);
            }
            match resolution {
                Resolution::Found(target) => {
                    let id = seen.ids[target.index as usize];
                    Ok(Hit { point: target.point, target: Some((id, target)) })
                }
                _ => Err(unlooked()),
            }
        }
        (Aim::Element(_), None) => Err(unlooked()),
    }
}

fn unlooked() -> Failure {
    Failure::new(
        mdm_core::error::ErrorCode::InternalError,
        "an element was meant before the screen was read",
        "this is a defect of the server, please report it; nothing was sent",
    )
}
