//! What a simulator remembers besides its phone: whether it is booted, and what its tools set.

use std::collections::{BTreeMap, BTreeSet};

/// Pushes that are remembered for tests.
const PUSHES_MAX: usize = 100;
/// Grants that are remembered.
const PRIVACY_MAX: usize = 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    pub bundle: String,
    pub payload: String,
}

/// The state of the simulator as its tools see it; tests read it to learn what commands did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SimulatorState {
    pub shut_down: bool,
    pub content_size: Option<String>,
    pub increase_contrast: bool,
    pub location: Option<(f64, f64)>,
    /// Services that were granted (true) or revoked, by bundle and service.
    pub privacy: BTreeMap<(String, String), bool>,
    pub pushes: Vec<Push>,
    pub status_bar: BTreeMap<String, String>,
    /// Names of media files that were added.
    pub media: BTreeSet<String>,
    pub opened_urls: Vec<String>,
    /// Names of crash reports that were removed.
    pub deleted_crashes: BTreeSet<String>,
    /// The arguments of each log that clients of the companion followed.
    pub logs_followed: Vec<String>,
}

impl SimulatorState {
    pub fn push(&mut self, push: Push) {
        if self.pushes.len() < PUSHES_MAX {
            self.pushes.push(push);
        }
    }

    pub fn follow_log(&mut self, arguments: &[String]) {
        if self.logs_followed.len() < PUSHES_MAX {
            self.logs_followed.push(arguments.join(" "));
        }
    }

    pub fn open(&mut self, url: &str) {
        if self.opened_urls.len() < PUSHES_MAX {
            self.opened_urls.push(url.to_owned());
        }
    }

    pub fn permit(&mut self, bundle: &str, service: &str, granted: Option<bool>) {
        let key = (bundle.to_owned(), service.to_owned());
        match granted {
            Some(granted) if self.privacy.len() < PRIVACY_MAX => {
                self.privacy.insert(key, granted);
            }
            Some(_) => {}
            None => {
                self.privacy.retain(|(owner, name), _| {
                    !((bundle.is_empty() || owner == bundle) && (service == "all" || name == service))
                });
            }
        }
    }
}
