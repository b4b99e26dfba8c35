//! State of the system services behind `cmd` and `dumpsys`.

use std::collections::BTreeMap;

use tokio_util::sync::CancellationToken;

pub const IME: &str = "com.android.inputmethod.latin/.LatinIME";

#[derive(Debug, Default)]
pub struct Services {
    pub night: Night,
    /// Language tags by package.
    pub locales: BTreeMap<String, String>,
    /// The test provider of locations: whether it is switched on, and the place that it tells.
    pub test_location: Option<TestLocation>,
    /// Modes by `package/operation`.
    pub operations: BTreeMap<String, String>,
    /// When the frame counters of a process were last reset, by process name.
    pub frames_since_ms: BTreeMap<String, u64>,
    /// Processes that shells left in the background, by pid.
    pub jobs: BTreeMap<u32, Job>,
}

#[derive(Debug, Clone)]
pub struct Job {
    /// Its command line.
    pub command: String,
    pub stop: CancellationToken,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TestLocation {
    pub enabled: bool,
    /// Latitude and longitude in degrees.
    pub place: Option<(f64, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Night {
    #[default]
    No,
    Yes,
    Auto,
}

impl Night {
    pub fn name(self) -> &'static str {
        match self {
            Night::No => "no",
            Night::Yes => "yes",
            Night::Auto => "auto",
        }
    }
}
