//! What an agent must not miss of an action: an app that crashed (F44), a keyboard that was closed (F46).

use mdm_core::action::outcome::Outcome;
use mdm_core::action::recover::Strategy;
use mdm_core::port::CrashReport;
use mdm_engine::UntoldCrash;
use serde::Serialize;

use super::log_lines::{self, Time};

/// An app that ended, or does not respond, because of the action.
#[derive(Debug, Serialize)]
pub struct CrashFacts {
    app: String,
    exception: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
}

impl CrashFacts {
    pub fn new(report: &CrashReport) -> CrashFacts {
        CrashFacts {
            app: report.app.clone(),
            exception: report.exception().to_owned(),
            message: report.message().to_owned(),
        }
    }
}

pub fn lines(outcome: &Outcome) -> String {
    let mut lines = String::new();
    if let Some(crash) = &outcome.crash {
        let id = outcome.crash_number.map_or_else(String::new, |number| format!("c{number}"));
        lines.push_str(&format!("! {}; get_crash {id} has the rest\n", crash.summary()));
    }
    for (after_ms, entry) in &outcome.log {
        lines.push_str("log: ");
        log_lines::push(&mut lines, entry, 1, Time::After(*after_ms));
    }
    if outcome.closed_keyboard {
        lines.push_str("closed the keyboard; going back from the screen takes another press_back\n");
    }
    if outcome.recovered.contains(&Strategy::StepBack) {
        lines.push_str("closed the keyboard first: it covered the target\n");
    }
    lines
}

/// A crash that no answer has told of yet, for the next answer of any tool (F44).
pub fn news(untold: &UntoldCrash) -> String {
    let id = untold.known.id();
    let after = match &untold.after {
        Some((action, ms)) => format!(", {}.{} s after {action}", ms / 1000, ms % 1000 / 100),
        None => String::new(),
    };
    let device = &untold.device;
    format!("! {}{after} on {device}; get_crash {id} has the rest\n", untold.known.report.summary())
}

/// The name of a recovery for a reader who does not know the table.
pub fn in_plain_words(strategy: &'static str) -> &'static str {
    if strategy == Strategy::StepBack.as_str() { "closed the keyboard" } else { strategy }
}
