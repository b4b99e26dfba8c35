//! What every action takes and answers beyond its own inputs: an expectation, settling, and the one envelope.

use mdm_core::action::outcome::{After, Drawing, Effect as Came, Outcome, Place, Verdict};
use mdm_core::action::request::{Act, ActPatience, Action, Request, What};
use mdm_core::change::settle::Stability;
use mdm_core::change::tracker::Observation;
use mdm_core::evidence::exchange::Exchange;
use mdm_core::intent::resolve::{ExpectedChange, Reason, describe};
use mdm_core::intent::scroll::InSight;
use mdm_core::intent::typing::ReadBack;
use mdm_core::intent::watch::RESTING;
use mdm_core::meaning::label::label;
use mdm_core::meaning::role;
use mdm_core::port::{Dispatch, SettingChange, SettingReport};
use mdm_core::screen::element::Role;
use mdm_engine::{Session, WantedDevice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Call;
use super::adjust::AdjustFacts;
use super::aftermath::{self, CrashFacts};
use super::apps::AppFacts;
use super::build::BuildFacts;
use super::changed;
use super::manage::TransferFacts;
use super::network;
use super::read_list::{self, ListFacts};
use super::scroll::ScrollFacts;
use super::transitions::Transitions;
use super::typing::ReadBackFacts;
use crate::answer::{Answer, ErrorBody, Facts, Gist, candidate_lines};
use crate::args::JsonObject;
use crate::basis::MadeFrom;
use crate::expect::ExpectArg;
use crate::refusal::Refusal;
use crate::tree::{self, LoadingFacts};

/// The quiet that counts as rest after an action.
const WINDOW_MS: u64 = 250;
const TIMEOUT_MS: u32 = 5000;
/// The longest timeout of an action; a longer one is refused.
const TIMEOUT_MS_MAX: u32 = 60_000;
/// The whole call, unless `timeout_ms` says otherwise: time for a slow device to be looked at before and after, but not
/// for one that hangs.
const CALL_MS: u64 = 20_000;
/// The same for actions of many steps, which have a limit of their own.
const LONG_CALL_MS: u64 = 90_000;
/// Parts that a failed action names as done.
const SENT_MAX: usize = 8;
/// Requests that failed, where what was expected did not come.
const REQUESTS_MAX: usize = 3;
/// The confidence of one exact match; less is told.
const SURE: f64 = 0.9;

/// Flattened into the parameters of every action.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct AfterArg {
    #[schemars(with = "Option<JsonObject>")]
    expect: Option<ExpectArg>,
    settle: Option<bool>,
    timeout_ms: Option<u32>,
}

impl AfterArg {
    /// The action with what is to be looked at afterwards. `settles`: whether this action does so unless told otherwise.
    pub fn act(&self, action: Action, settles: bool) -> Result<Act, Refusal> {
        let timeout_ms = self.timeout_ms.unwrap_or(TIMEOUT_MS);
        if !(1..=TIMEOUT_MS_MAX).contains(&timeout_ms) {
            let message = format!("timeout_ms = {timeout_ms} is not between 1 and {TIMEOUT_MS_MAX}");
            return Err(Refusal::argument(message, "5000 is usual"));
        }
        let usual = match &action {
            Action::App(_)
            | Action::Set(_)
            | Action::Restart { .. }
            | Action::Type(_)
            | Action::Adjust(_)
            | Action::ScrollTo(_) => LONG_CALL_MS,
            _ => CALL_MS,
        };
        Ok(Act {
            action,
            scroll_to_target: false,
            expect: self.expect.as_ref().map(ExpectArg::predicate).transpose()?,
            patience: ActPatience {
                settle: self.settle.unwrap_or(settles),
                window_ms: WINDOW_MS,
                timeout_ms: timeout_ms.into(),
                call_ms: self.timeout_ms.map_or(usual, u64::from),
            },
        })
    }
}

/// What was named where no element and no place was.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum NamedFacts {
    App {
        #[serde(rename = "appId")]
        app_id: String,
    },
    Key {
        key: String,
    },
    Orientation {
        orientation: &'static str,
    },
    /// The length stands for the text, which may be a secret (S8).
    Text {
        characters: usize,
        #[serde(rename = "elementId", skip_serializing_if = "Option::is_none")]
        element_id: Option<String>,
    },
    Control {
        #[serde(rename = "elementId")]
        element_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    Nothing {},
}

/// Performs an action on the device that is meant, and answers with its envelope.
pub async fn perform(
    call: &Call<'_>,
    device: &WantedDevice,
    act: Act,
    named: Option<NamedFacts>,
) -> Result<Answer, Refusal> {
    let session = call.device(device, call.progress).await?;
    if call.app.policy.check_action(&act.action)? {
        call.check_app_in_front(&session, call.progress).await?;
    }
    let request = Request { id: call.action_id.clone(), name: call.tool, what: What::Act(Box::new(act)) };
    let outcome = session.run(request, call.progress).await;
    keep_secret(call, &outcome);
    let requests = failed_requests(call, &session, &outcome);
    let answer = answer(call, &session, &outcome, named).with_lines(&requests);
    Ok(answer.made_from(MadeFrom::Action(Box::new(outcome))))
}

/// The requests of an action that failed, where what was expected did not come and the proxy is on (TR-02).
fn failed_requests(call: &Call<'_>, session: &Session, outcome: &Outcome) -> String {
    let is_unmet = matches!(outcome.verdict(), Verdict::Contradicted { .. } | Verdict::Undetermined { .. });
    let mut lines = String::new();
    if !is_unmet {
        return lines;
    }
    let known = network::known(call, session, None);
    let of_action =
        |request: &&Exchange| request.action.as_ref() == Some(&outcome.request.id) && request.has_failed();
    for request in known.iter().filter(of_action).take(REQUESTS_MAX) {
        lines.push_str("request: ");
        network::push_exchange(&mut lines, request, false);
    }
    lines
}

/// What went into a secret field is a secret, also when nobody called it one (F66).
fn keep_secret(call: &Call<'_>, outcome: &Outcome) {
    if let What::Act(act) = &outcome.request.what
        && let (Action::Type(typing), Came::Typed(ReadBack::Hidden { .. })) = (&act.action, &outcome.effect)
    {
        call.app.secrets.remember(&typing.text);
    }
}

/// The envelope of every action, refused ones too (LC-06).
#[derive(Debug, Serialize)]
pub struct ActionFacts {
    /// Why it was refused or broke off.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
    action_id: String,
    action_type: &'static str,
    /// Verified and failed are said only with evidence (LC-01).
    lifecycle_state: &'static str,
    /// Each state and when it was last reached, in milliseconds since the action began; its id says when that was.
    transitions: Transitions,
    /// The device took it; no more than that (LC-03).
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    crash: Option<CrashFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retryable: Option<bool>,
    /// What became of a command that the device did not simply take.
    #[serde(skip_serializing_if = "Option::is_none")]
    dispatched: Option<&'static str>,
    /// What was sent before it failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sent: Vec<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    held_before: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<TargetFacts>,
    /// Where a gesture with two ends went to.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<TargetFacts>,
    #[serde(flatten)]
    own: OwnFacts,
    /// What had to be tried before it could be sent (RC-02).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recovered: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recovery: Option<RecoveryFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_change: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot_revision: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stability_state: Option<&'static str>,
    /// How long the screen had rested when the time was up.
    #[serde(skip_serializing_if = "Option::is_none")]
    rested_ms: Option<u64>,
    #[serde(rename = "loading_state", skip_serializing_if = "Option::is_none")]
    loading: Option<LoadingFacts>,
    elapsed_ms: u64,
}

/// What only one kind of action says.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum OwnFacts {
    Typed { details: ReadBackFacts },
    App(AppFacts),
    Set(SetFacts),
    Local(LocalFacts),
    Adjusted(Box<AdjustFacts>),
    Scrolled(ScrollFacts),
    ListRead(ListFacts),
    Nothing {},
}

/// What only actions without a screen say.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum LocalFacts {
    Built(Box<BuildFacts>),
    Copied(TransferFacts),
}

/// A setting as the device says it is, and was.
#[derive(Debug, Serialize)]
struct SetFacts {
    setting: &'static str,
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    was: Option<String>,
}

impl SetFacts {
    fn new(change: &SettingChange, report: &SettingReport) -> SetFacts {
        let value = report.after.clone().unwrap_or_else(|| "unknown".to_owned());
        SetFacts { setting: change.name(), value, was: report.before.clone() }
    }
}

/// What was tried before a failure became final (RC-02).
#[derive(Debug, Serialize)]
struct RecoveryFacts {
    failure_class: &'static str,
    attempts: usize,
    strategies: Vec<&'static str>,
    is_terminal: bool,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum TargetFacts {
    Place(PlaceFacts),
    Named { selector: NamedFacts },
}

#[derive(Debug, Default, Serialize)]
struct PlaceFacts {
    #[serde(rename = "elementId", skip_serializing_if = "Option::is_none")]
    element_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    point: [i32; 2],
    /// Where the description left a doubt; whole words on one element leave none.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    /// Why this element was taken, where others fit too or there is a doubt (ID-04).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<&'static str>,
    /// The others that fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<String>,
    /// What an action on it should change, where its kind tells (AC-09).
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_change: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    disabled: bool,
}

impl ActionFacts {
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    pub fn action_id(&self) -> &str {
        &self.action_id
    }

    /// The file that a build made.
    pub fn artifact(&self) -> Option<&str> {
        match &self.own {
            OwnFacts::Local(LocalFacts::Built(built)) => built.artifact_path.as_deref(),
            _ => None,
        }
    }

    /// Of what was refused or broke off.
    pub fn code(&self) -> Option<&'static str> {
        self.error.as_ref().map(|error| error.code)
    }

    pub fn gist(&self) -> Gist {
        let doubtful = self.verdict.is_some_and(|verdict| verdict != "confirmed");
        let words = [self.verdict, self.observed_change, self.stability_state].into_iter().flatten();
        Gist {
            // What was expected and is not known to have come true is no ground to go on from (F60).
            failed: self.error.is_some() || doubtful || self.crash.is_some() && self.verdict.is_none(),
            words: words.chain(self.recovered.iter().map(|word| aftermath::in_plain_words(word))).collect(),
        }
    }
}

/// The envelope of an action that was refused before it reached a device.
pub fn refused(call: &Call<'_>, refusal: &Refusal) -> Answer {
    local(call, None, Some(refusal), None).with_lines(&candidate_lines(&refusal.failure.candidates))
}

/// The envelope of an action that looks at no screen: one on this machine, a copied file, or none at all.
pub fn local(
    call: &Call<'_>,
    device: Option<String>,
    refusal: Option<&Refusal>,
    own: Option<LocalFacts>,
) -> Answer {
    let state = if refusal.is_some() { "failed" } else { "verified" };
    let facts = ActionFacts {
        error: refusal.map(|refusal| ErrorBody::new(call.tool, refusal)),
        action_id: call.action_id.clone(),
        action_type: call.tool,
        lifecycle_state: state,
        transitions: Transitions::once(state, call.progress.elapsed_ms()),
        success: refusal.is_none(),
        verdict: None,
        failure_code: refusal.map(|refusal| refusal.failure.code().as_str()),
        failure_reason: None,
        crash: None,
        retryable: refusal.map(|refusal| refusal.failure.retryable()),
        dispatched: refusal.and_then(|refusal| dispatched(refusal.failure.dispatch, true)),
        sent: Vec::new(),
        held_before: false,
        device,
        target: None,
        to: None,
        own: own.map_or(OwnFacts::Nothing {}, OwnFacts::Local),
        recovered: Vec::new(),
        recovery: None,
        observed_change: None,
        snapshot_revision: None,
        stability_state: None,
        rested_ms: None,
        loading: None,
        elapsed_ms: call.progress.elapsed_ms(),
    };
    let answer = Answer::new(Facts::Action(Box::new(facts)));
    match refusal {
        Some(refusal) => answer.made_from(MadeFrom::Refusal(refusal.failure.clone())),
        None => answer,
    }
}

/// The envelope of an action that ran, and below it what changed.
fn answer(call: &Call<'_>, session: &Session, outcome: &Outcome, named: Option<NamedFacts>) -> Answer {
    let refusal = outcome.failure.clone().map(Refusal::from);
    let verdict = outcome.verdict();
    let after = outcome.seen_after();
    let (target, to) = targets(outcome, named);
    let facts = ActionFacts {
        error: refusal.as_ref().map(|refusal| ErrorBody::new(call.tool, refusal)),
        action_id: outcome.request.id.clone(),
        action_type: call.tool,
        lifecycle_state: outcome.lifecycle().as_str(),
        transitions: Transitions::new(&outcome.trace),
        success: outcome.is_success(),
        verdict: verdict.as_str(),
        failure_code: outcome.failure_code().map(|code| code.as_str()),
        failure_reason: outcome.failure_reason().map(|reason| reason.as_str()),
        crash: outcome.crash.as_ref().map(CrashFacts::new),
        retryable: outcome.failure.as_ref().map(|failure| failure.retryable()),
        dispatched: match &outcome.failure {
            Some(failure) => dispatched(failure.dispatch, true),
            None => dispatched(outcome.dispatch(), false),
        },
        sent: sent(outcome),
        held_before: after.is_some_and(|after| after.held_before),
        device: Some(session.id().to_owned()),
        target,
        to,
        own: own(outcome),
        recovered: match &refusal {
            None => outcome.recovered.iter().map(|strategy| strategy.as_str()).collect(),
            Some(_) => Vec::new(),
        },
        recovery: recovery(outcome),
        observed_change: after.map_or_else(|| seen_in_pictures(outcome), observed_change),
        snapshot_revision: after.map(|after| after.seen.revision).or_else(|| scrolled_revision(outcome)),
        stability_state: after.map_or_else(|| scrolled_stability(outcome), stability),
        rested_ms: after.and_then(|after| after.rested_ms),
        loading: after.and_then(|after| LoadingFacts::of(&after.seen)),
        elapsed_ms: call.progress.elapsed_ms(),
    };
    let mut lines = aftermath::lines(outcome);
    if let (Some(failure), Came::Scrolled(scrolled)) = (&outcome.failure, &outcome.effect) {
        lines.push_str(&super::scroll::lines(scrolled, failure));
    } else if let Some(failure) = &outcome.failure {
        lines.push_str(&candidate_lines(&failure.candidates));
    }
    if let Came::ListRead(read) = &outcome.effect {
        lines.push_str(&read_list::lines(read));
    }
    match &outcome.after {
        None => {}
        Some(Err(failure)) => {
            lines.push_str(&format!("sent, but the screen could not be read afterwards: {failure}\n"));
            if seen_in_pictures(outcome).is_some() {
                lines.push_str("capture_screenshot shows what is there now\n");
            }
        }
        Some(Ok(after)) => changed::push_lines(&mut lines, outcome.before.as_deref(), after),
    }
    Answer::new(Facts::Action(Box::new(facts))).with_lines(&lines)
}

/// Said only where repeating needs thought: of a failure also when a part of it was done (F63).
fn dispatched(dispatch: Dispatch, failed: bool) -> Option<&'static str> {
    let told = dispatch == Dispatch::Unknown || failed && dispatch == Dispatch::Taken;
    told.then_some(dispatch.as_str())
}

/// The parts of a failed action that were done, where it has several (F63).
fn sent(outcome: &Outcome) -> Vec<&'static str> {
    let parts = || outcome.sent.iter().filter(|sent| !sent.what.is_harmless());
    let mut tried: Vec<&'static str> = parts().map(|sent| sent.what.as_str()).collect();
    tried.dedup();
    let taken = parts().filter(|sent| sent.dispatch == Dispatch::Taken);
    let mut kinds: Vec<&'static str> = taken.map(|sent| sent.what.as_str()).collect();
    kinds.dedup();
    kinds.truncate(SENT_MAX);
    let in_parts = tried.len() > 1 || matches!(kinds[..], ["focus" | "clear" | "app"]);
    if outcome.failure.is_some() && in_parts { kinds } else { Vec::new() }
}

fn recovery(outcome: &Outcome) -> Option<RecoveryFacts> {
    let class = outcome.failure.as_ref().and_then(|_| outcome.failure_class())?;
    (!outcome.recovered.is_empty()).then(|| RecoveryFacts {
        failure_class: class.as_str(),
        attempts: outcome.recovered.len(),
        strategies: outcome.recovered.iter().map(|strategy| strategy.as_str()).collect(),
        is_terminal: true,
    })
}

fn targets(outcome: &Outcome, named: Option<NamedFacts>) -> (Option<TargetFacts>, Option<TargetFacts>) {
    let seen = outcome.before.as_deref();
    let mut places = outcome.places.iter().map(|place| TargetFacts::Place(place_facts(place, seen)));
    match (&outcome.effect, named) {
        (Came::Scrolled(scrolled), _) => {
            let found = scrolled.found.as_ref().map(|found| in_sight(found, &scrolled.seen));
            (found.map(TargetFacts::Place), None)
        }
        (Came::Adjusted(adjusted), _) => {
            let (element_id, label) = (adjusted.id.to_string(), adjusted.label.clone());
            (Some(TargetFacts::Named { selector: NamedFacts::Control { element_id, label } }), None)
        }
        (_, Some(NamedFacts::Text { characters, .. })) => {
            let target = outcome.places.first().and_then(|place| place.target.as_ref());
            let element_id = target.map(|(id, _)| id.to_string());
            (Some(TargetFacts::Named { selector: NamedFacts::Text { characters, element_id } }), None)
        }
        (_, Some(selector)) => (Some(TargetFacts::Named { selector }), None),
        (_, None) => (places.next(), places.next()),
    }
}

fn place_facts(place: &Place, seen: Option<&Observation>) -> PlaceFacts {
    let point = [place.point.x, place.point.y];
    let (Some((id, target)), Some(seen)) = (&place.target, seen) else {
        return PlaceFacts { point, ..PlaceFacts::default() };
    };
    let change = Some(target.expected_change).filter(|change| *change != ExpectedChange::Any);
    // What was preferred to others, or may be covered, is told with its reason (F3, F30).
    let told = [Reason::OnScreenPreferred, Reason::UncoveredPreferred, Reason::MaybeCovered];
    let doubtful = target.reasons.iter().any(|reason| told.contains(reason));
    let reasons = target.reasons.iter().map(|reason| reason.name()).filter(|_| doubtful);
    let others = target.alternates.iter().map(|other| describe(seen, other.index)).filter(|_| doubtful);
    PlaceFacts {
        element_id: Some(id.to_string()),
        point,
        confidence: Some(target.confidence).filter(|confidence| *confidence < SURE || doubtful),
        reasons: reasons.collect(),
        candidates: others.collect(),
        expected_change: change.map(ExpectedChange::name),
        ..named_place(seen, target.index as usize)
    }
}

fn in_sight(found: &InSight, seen: &Observation) -> PlaceFacts {
    let index = seen.index_of(found.id);
    PlaceFacts {
        element_id: Some(found.id.to_string()),
        point: [found.point.x, found.point.y],
        confidence: Some(found.confidence).filter(|confidence| *confidence < 1.0),
        disabled: found.disabled,
        ..index.map(|index| named_place(seen, index)).unwrap_or_default()
    }
}

fn named_place(seen: &Observation, index: usize) -> PlaceFacts {
    let snapshot = &seen.reading.snapshot;
    PlaceFacts {
        role: Some(role::in_context(snapshot, index))
            .filter(|role| *role != Role::Unknown)
            .map(tree::role_name),
        label: label(snapshot, index).filter(|label| label.sure).map(|label| label.text.into_owned()),
        ..PlaceFacts::default()
    }
}

fn own(outcome: &Outcome) -> OwnFacts {
    let What::Act(act) = &outcome.request.what else { return OwnFacts::Nothing {} };
    match (&outcome.effect, &act.action) {
        (Came::Typed(read_back), Action::Type(typing)) => {
            OwnFacts::Typed { details: ReadBackFacts::new(read_back, typing.secure) }
        }
        (Came::App(report, screen), action) => OwnFacts::App(AppFacts::new(action, report, screen.as_ref())),
        (Came::Set(report), Action::Set(change)) => OwnFacts::Set(SetFacts::new(change, report)),
        (Came::Adjusted(adjusted), Action::Adjust(asked)) => {
            OwnFacts::Adjusted(Box::new(AdjustFacts::new(asked, adjusted, outcome.failure.is_none())))
        }
        (Came::Scrolled(scrolled), _) => OwnFacts::Scrolled(ScrollFacts::new(scrolled)),
        (Came::ListRead(read), _) => OwnFacts::ListRead(ListFacts::new(read)),
        _ => OwnFacts::Nothing {},
    }
}

fn scrolled_revision(outcome: &Outcome) -> Option<u64> {
    match &outcome.effect {
        Came::Scrolled(scrolled) => Some(scrolled.seen.revision),
        Came::ListRead(read) => Some(read.seen.revision),
        _ => None,
    }
}

fn scrolled_stability(outcome: &Outcome) -> Option<&'static str> {
    match &outcome.effect {
        Came::Scrolled(scrolled) => Some(scrolled.stability.as_str()),
        Came::ListRead(read) => Some(read.stability.as_str()),
        _ => None,
    }
}

/// What changed, by its kind. Where the tree told nothing, a picture may have.
fn observed_change(after: &After) -> Option<&'static str> {
    if after.drawing == Drawing::Changed { Some("pixels") } else { after.observed.as_str() }
}

/// Where no tree can be read, only pictures were compared.
fn seen_in_pictures(outcome: &Outcome) -> Option<&'static str> {
    let is_unread = matches!(outcome.after, Some(Err(_)));
    (is_unread && outcome.trace.ui_changed == Some(true)).then_some("pixels")
}

/// A screen that rested in vain is neither stable nor stabilizing: `rested_ms` says how long (F11). One that is loading
/// is not called stable: `loading_state` says by what it is known (F12).
fn stability(after: &After) -> Option<&'static str> {
    let is_loading = after.stability == Stability::Stable && after.seen.loading().is_some();
    Some(if after.rested_ms.is_some() || is_loading { RESTING } else { after.stability.as_str() })
}
