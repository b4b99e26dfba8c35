//! What an agent must not miss of an action: an app that crashed (F44), a keyboard that was closed (F46).

use mdm_core::action::outcome::Outcome;
use mdm_core::action::recover::Strategy;
use mdm_core::port::CrashReport;
use serde::Serialize;

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
        lines.push_str(&format!("! {}; get_logs with app_id has the rest\n", crash.summary()));
    }
    if outcome.closed_keyboard {
        lines.push_str("closed the keyboard; going back from the screen takes another press_back\n");
    }
    if outcome.recovered.contains(&Strategy::StepBack) {
        lines.push_str("closed the keyboard first: it covered the target\n");
    }
    lines
}

/// The name of a recovery for a reader who does not know the table.
pub fn in_plain_words(strategy: &'static str) -> &'static str {
    if strategy == Strategy::StepBack.as_str() { "closed the keyboard" } else { strategy }
}
