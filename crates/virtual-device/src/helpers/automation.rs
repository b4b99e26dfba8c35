//! The one UiAutomation of the phone.

use tokio::time::Instant;

use crate::phone::Phone;
use crate::surface::SystemEvent;

/// The registration of a process as the UiAutomation. It ends when this is dropped, however the process ends.
pub struct Automation(Phone);

impl Automation {
    pub const REFUSED: &str = "java.lang.IllegalStateException: UiAutomationService \
        android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@1a2b3c4already registered!\n\t\
        at android.os.Parcel.createExceptionOrNull(Parcel.java:3057)\n\t\
        at android.app.UiAutomation.connectWithTimeout(UiAutomation.java:409)\n";

    pub fn take(phone: &Phone) -> Option<Automation> {
        let free = phone.with(|state| !std::mem::replace(&mut state.automation_busy, true));
        free.then(|| {
            tell_apps(phone, true);
            Automation(phone.clone())
        })
    }

    /// The same for a process that noted by itself, under the phone's lock, that it has it.
    pub fn taken(phone: &Phone) -> Automation {
        tell_apps(phone, true);
        Automation(phone.clone())
    }
}

impl Drop for Automation {
    fn drop(&mut self) {
        tell_apps(&self.0, false);
        self.0.with(|state| state.automation_busy = false);
    }
}

/// Switches accessibility on or off for the apps: it is on only while a program reads the screen.
fn tell_apps(phone: &Phone, reads: bool) {
    phone.with(|state| {
        state.surface.system(SystemEvent::AccessibilityReader(reads), state.now);
        state.settle();
    });
}

/// Waits until no accessibility event came for the quiet time, at most for the idle limit.
pub async fn settled(phone: &Phone) {
    let timing = phone.with(|state| state.config.timing);
    let deadline = Instant::now() + timing.idle_limit();
    loop {
        let calm = phone.with(|state| state.changed_at()) + timing.quiet();
        let now = Instant::now();
        if calm <= now || now >= deadline {
            return;
        }
        tokio::time::sleep_until(calm.min(deadline)).await;
    }
}
