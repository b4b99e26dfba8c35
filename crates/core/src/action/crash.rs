//! Whether an action may have ended its app, and which of the platform's reports tells of it (F44).

use crate::action::outcome::{Effect, Outcome, Verdict};
use crate::action::request::{Action, What};
use crate::change::tracker::Observation;
use crate::intent::resolve::system_dialog;
use crate::port::{AppCommand, CrashReport};
use crate::screen::snapshot::Screen;

/// Clocks of devices are read in whole seconds, so a report may seem that much older than it is.
const CLOCK_MS: u64 = 1500;

/// The app that may have crashed, when what was seen after the action makes it worth asking: another app is in front, a
/// window of the system came up, the screen could not be read, or what was expected is not there.
/// `last`: what was seen last, for an action before which nobody looked.
pub fn suspect(outcome: &Outcome, last: Option<&Observation>) -> Option<String> {
    let What::Act(act) = &outcome.request.what else { return None };
    if outcome.sent.is_empty() {
        return None;
    }
    let before = outcome.before.as_deref();
    let launched = match &act.action {
        Action::App(AppCommand::Start { app }) | Action::Restart { app } => Some(app.clone()),
        Action::App(_) => return None,
        _ => None,
    };
    let seen = before.or(last);
    let app = launched.clone().or_else(|| Some(seen?.reading.snapshot.screen.as_ref()?.app.clone()))?;
    let is_in_front = |screen: Option<&Screen>| screen.is_some_and(|screen| screen.app == app);
    let suspicious = match (&outcome.after, &outcome.effect) {
        (Some(Err(_)), _) => true,
        (Some(Ok(after)), _) => {
            let is_doubtful = !matches!(after.verdict, Verdict::Confirmed | Verdict::NotAsked);
            is_doubtful
                || match before.filter(|_| launched.is_none()) {
                    Some(before) => left(before, &after.seen).is_some(),
                    None => !is_in_front(after.seen.reading.snapshot.screen.as_ref()),
                }
        }
        (None, Effect::App(_, screen)) => launched.is_some() && !is_in_front(screen.as_ref()),
        (None, _) => outcome.failure.is_some(),
    };
    suspicious.then_some(app)
}

/// The app that was in front before, when another one is now, or a window of the system came up.
pub fn left(before: &Observation, now: &Observation) -> Option<String> {
    let app_of = |seen: &Observation| seen.reading.snapshot.screen.as_ref().map(|screen| screen.app.clone());
    let app = app_of(before)?;
    let dialog = system_dialog(now).is_some() && system_dialog(before).is_none();
    (app_of(now).as_ref() != Some(&app) || dialog).then_some(app)
}

/// The newest report of this app that can have come of the action: not older than what was sent, nor told before.
pub fn caused(
    reports: Vec<CrashReport>,
    app: &str,
    sent_ms_ago: u64,
    is_told: impl Fn(&CrashReport) -> bool,
) -> Option<CrashReport> {
    let fresh = |report: &CrashReport| report.age_ms.is_some_and(|age| age <= sent_ms_ago + CLOCK_MS);
    reports.into_iter().rev().find(|report| report.app == app && fresh(report) && !is_told(report))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::{CrashKind, Thrown};

    fn report(app: &str, pid: u32, age_ms: Option<u64>) -> CrashReport {
        CrashReport {
            app: app.to_owned(),
            pid,
            kind: CrashKind::Exception,
            thread: None,
            thrown: vec![Thrown::new("E", "")],
            time_ms: None,
            age_ms,
            images: Vec::new(),
        }
    }

    #[test]
    fn only_a_report_of_the_app_that_is_new_and_untold_comes_of_the_action() {
        // F44
        let reports = || {
            vec![
                report("a", 1, Some(9000)),
                report("a", 2, Some(2000)),
                report("b", 3, Some(10)),
                report("a", 4, None),
            ]
        };
        let pid = |sent, told: Option<u32>| {
            caused(reports(), "a", sent, |report| told == Some(report.pid)).map(|report| report.pid)
        };
        assert_eq!(pid(1000, None), Some(2), "the clock counts whole seconds");
        assert_eq!(pid(100, None), None, "it happened before");
        assert_eq!(pid(1000, Some(2)), None, "it was told");
        assert_eq!(caused(reports(), "c", 60_000, |_| false), None);
    }
}
