//! When an app is at rest, told as it changes.

use mdm_wire::idb::{
    AccessibilityQuiescenceRequest, AccessibilityQuiescenceResponse, AppActivity, BusySignal, Empty,
    QuiescenceEvent, QuiescenceState, QuiescenceTarget,
};
use tokio::time::{Duration, Instant};
use tonic::Status;

use super::calls::{Answer, AnswerSender, Answers, answers};
use crate::iphone::IPhone;
use crate::iphone::names::package_of;

/// How long nothing may change before the app is at rest, if the client names nothing.
const QUIET_WINDOW_MS: u32 = 200;
/// Time between two looks at the app.
const LOOK: Duration = Duration::from_millis(20);

pub async fn follow(
    iphone: &IPhone,
    request: AccessibilityQuiescenceRequest,
) -> Answer<Answers<AccessibilityQuiescenceResponse>> {
    let package = package(iphone, request.target.as_ref());
    let pid =
        package.as_deref().and_then(|package| iphone.phone().with(|state| state.processes.pid(package)));
    let (Some(package), Some(pid)) = (package, pid) else {
        return Err(Status::not_found("There is no such process to observe"));
    };
    let window = Duration::from_millis(u64::from(request.quiet_window_ms.unwrap_or(QUIET_WINDOW_MS)));
    let (sender, receiver) = answers();
    let watch = Watch { iphone: iphone.clone(), package, pid, window, sender };
    tokio::spawn(watch.run());
    Ok(receiver)
}

/// The named process, or that of the app in front.
fn package(iphone: &IPhone, target: Option<&QuiescenceTarget>) -> Option<String> {
    match target {
        Some(QuiescenceTarget::BundleId(bundle)) => Some(package_of(bundle).to_owned()),
        Some(QuiescenceTarget::Pid(wanted)) => iphone.phone().with(|state| {
            let mut processes = state.processes.iter();
            processes.find(|(_, pid)| u64::from(*pid) == *wanted).map(|(name, _)| name.to_owned())
        }),
        None => Some(iphone.phone().with(|state| state.front().0.to_owned())),
    }
}

struct Watch {
    iphone: IPhone,
    package: String,
    pid: u32,
    window: Duration,
    sender: AnswerSender<AccessibilityQuiescenceResponse>,
}

impl Watch {
    async fn run(self) {
        let mut told = None;
        loop {
            let (pid, activity) = self.look();
            if pid != Some(self.pid) {
                // The client may be gone already: then nobody wants to hear it.
                let _ = self.tell(QuiescenceEvent::TargetExited(Empty {})).await;
                return;
            }
            if told != Some(activity) {
                told = Some(activity);
                let busy_signals = match activity {
                    AppActivity::Busy => vec![BusySignal::AnimationsInactive.into()],
                    _ => Vec::new(),
                };
                let state = QuiescenceState { state: activity.into(), busy_signals };
                if self.tell(QuiescenceEvent::State(state)).await.is_err() {
                    return;
                }
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = self.sender.closed() => return,
            }
        }
    }

    fn look(&self) -> (Option<u32>, AppActivity) {
        self.iphone.phone().with(|state| {
            let since = Instant::now().saturating_duration_since(state.surface.changes(state.now).visible_at);
            let activity = if state.surface.is_moving() || state.is_rootless() {
                AppActivity::Busy
            } else if since < self.window {
                AppActivity::Settling
            } else {
                AppActivity::Quiet
            };
            (state.processes.pid(&self.package), activity)
        })
    }

    async fn tell(&self, event: QuiescenceEvent) -> Result<(), ()> {
        let answer = AccessibilityQuiescenceResponse { pid: u64::from(self.pid), event: Some(event) };
        self.sender.send(Ok(answer)).await.map_err(|_| ())
    }
}
