//! Completion of arguments: devices, apps, and labels of what is on the screen.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mdm_core::change::tracker::Observation;
use mdm_core::meaning::label::{label, may_act};
use mdm_core::port::Availability;
use mdm_engine::{Progress, Session, WantedDevice};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::args::JsonObject;
use crate::caller::Caller;

/// A person waits while typing.
const TIME_MAX: Duration = Duration::from_secs(3);
/// Values that one completion offers, which the protocol allows.
pub const VALUES_MAX: usize = 100;
/// Characters of one value.
const LABEL_CHARS_MAX: usize = 80;

/// What fits the beginning that was typed. What cannot be known in time is empty.
pub async fn complete(
    app: &App,
    caller: &Caller,
    argument: &str,
    begun: &str,
    device: Option<&str>,
    cancelled: CancellationToken,
) -> Vec<String> {
    let progress = Progress::new(TIME_MAX, cancelled);
    // What no tool would show is not shown by the way.
    let shows = |tool: &str| app.shows_freely(tool, &JsonObject::new());
    let all = match argument {
        "device" | "device_id" if shows("list_devices") => devices(app, &progress).await,
        "app_id" if shows("manage_app") || shows("start_app") => {
            match session(app, caller, device, &progress).await {
                Some(session) => apps(app, &session, &progress).await,
                None => Vec::new(),
            }
        }
        "element" | "text" if shows("get_ui_tree") => match session(app, caller, device, &progress).await {
            Some(session) => labels(&session, &progress).await,
            None => Vec::new(),
        },
        _ => Vec::new(),
    };
    fitting(all, begun)
}

/// The values with these letters in them, each once. Those that begin with them come first, each kind as it was found.
fn fitting(all: Vec<String>, begun: &str) -> Vec<String> {
    let begun = begun.to_lowercase();
    let (mut seen, mut first, mut later) = (BTreeSet::new(), Vec::new(), Vec::new());
    for value in all {
        let plain = value.to_lowercase();
        if plain.contains(&begun) && seen.insert(value.clone()) {
            if plain.starts_with(&begun) { first.push(value) } else { later.push(value) }
        }
    }
    first.append(&mut later);
    first
}

async fn session(
    app: &App,
    caller: &Caller,
    device: Option<&str>,
    progress: &Progress,
) -> Option<Arc<Session>> {
    let wanted = WantedDevice { id: device.map(str::to_owned), ..WantedDevice::default() };
    // To ask for a completion is not to work with a device.
    let session = match device {
        Some(id) => app.fleet.find(id, None, progress).await,
        None => app.fleet.choose(&wanted, &caller.binding.copied(), progress).await,
    };
    session.ok()
}

async fn devices(app: &App, progress: &Progress) -> Vec<String> {
    let list = app.fleet.list(None, progress).await;
    let usable = list.devices.into_iter().filter(|listed| listed.availability == Availability::Ready);
    usable.map(|listed| listed.id).collect()
}

async fn apps(app: &App, session: &Session, progress: &Progress) -> Vec<String> {
    let apps = session.apps(false, progress).await.unwrap_or_default();
    apps.into_iter().map(|app| app.id).filter(|id| app.policy.check_app(id).is_ok()).collect()
}

async fn labels(session: &Session, progress: &Progress) -> Vec<String> {
    let last = session.memory().tracker.last().cloned();
    let seen: Option<Arc<Observation>> = match last {
        Some(seen) => Some(seen),
        None => session.observe(progress).await.ok(),
    };
    let Some(seen) = seen else { return Vec::new() };
    let snapshot = &seen.reading.snapshot;
    let targets = (0..snapshot.elements.len()).filter(|index| may_act(snapshot, *index));
    let words = targets.filter_map(|index| label(snapshot, index).map(|label| label.text.into_owned()));
    words.map(|words| words.chars().take(LABEL_CHARS_MAX).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_offered_once_and_the_best_first() {
        // MC-01
        let all = ["Undelete", "Delete", "Milk", "Delete", "delete all"].map(str::to_owned).to_vec();
        assert_eq!(fitting(all.clone(), "DEL"), ["Delete", "delete all", "Undelete"]);
        assert_eq!(fitting(all, "x"), Vec::<String>::new());
    }
}
