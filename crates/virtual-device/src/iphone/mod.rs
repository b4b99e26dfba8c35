//! A virtual iPhone: the same apps, clock, faults and truth as the Android phone, with the protocols of iOS in front.
//!
//! [`IPhone::elements`] is the one accessibility tree; every face writes it in its own format.

mod apps;
pub mod companion;
mod config;
mod crash_files;
pub mod element;
mod names;
mod program;
mod runner;
mod shown;
mod simulator;
mod system_log;
mod tree;
mod usbmux;
mod wda;
pub mod xcrun;

use tokio::time::Instant;

use crate::app::geometry::{Point, Screen};
use crate::config::{PhoneConfig, Platform};
use crate::phone::Phone;
use crate::surface::{Surface, SystemEvent};
pub use config::{DeveloperImage, GivenFaults, IPhoneConfig, IPhoneFaults, IPhoneKind};
use element::UiElement;
pub use names::{bundle_of, package_of};
use program::Program;
pub use runner::RUNNER_BUNDLE;
use runner::Runner;
pub(crate) use shown::shown_nodes;
pub use simulator::{Push, SimulatorState};
use usbmux::DeviceState;
pub use usbmux::PortOpener;

/// Pixels of the upright screen, and pixels a point, of an iPhone 15 Pro.
const WIDTH_PX: u32 = 1179;
const HEIGHT_PX: u32 = 2556;
pub const SCALE: u32 = 3;
/// The bundle id of the home screen, whose application also shows the system's alerts.
pub const SPRINGBOARD: &str = "com.apple.springboard";

/// An iPhone. It is cheap to clone, and all clones are the same phone.
#[derive(Clone, Debug)]
pub struct IPhone {
    phone: Phone,
    config: std::sync::Arc<IPhoneConfig>,
    simulator: std::sync::Arc<std::sync::Mutex<SimulatorState>>,
    wda: std::sync::Arc<std::sync::Mutex<wda::MainThread>>,
    wda_program: Program,
    companion_program: Program,
    runner: tokio::sync::watch::Sender<Option<Runner>>,
    device: std::sync::Arc<std::sync::Mutex<DeviceState>>,
}

impl IPhone {
    pub fn new(config: IPhoneConfig) -> IPhone {
        let phone = Phone::new(PhoneConfig {
            model: config.name.clone(),
            width: WIDTH_PX,
            height: HEIGHT_PX,
            density: 160 * SCALE,
            platform: Platform::Ios,
            timing: config.timing,
            apps: config.apps.clone(),
            network: config.network.clone(),
            faults: config.faults,
            seed: config.seed,
            film: config.film,
            reader: config.reader,
            ..PhoneConfig::default()
        });
        let iphone = IPhone {
            phone,
            config: std::sync::Arc::new(config),
            simulator: std::sync::Arc::default(),
            device: std::sync::Arc::default(),
            wda: std::sync::Arc::default(),
            wda_program: Program::default(),
            companion_program: Program::default(),
            runner: tokio::sync::watch::Sender::default(),
        };
        if iphone.config.runner_installed {
            iphone.install_runner();
        }
        iphone
    }

    /// The phone behind all faces: its truth, film and switches for tests.
    pub fn phone(&self) -> &Phone {
        &self.phone
    }

    pub fn config(&self) -> &IPhoneConfig {
        &self.config
    }

    /// Returns what accessibility of iOS tells about what is in front: the app, or the system's own application when
    /// one of its alerts lies over the app. Nothing for a surface that is not drawn from widgets.
    pub fn elements(&self) -> Option<UiElement> {
        self.applications().map(|front| front.system.unwrap_or(front.app))
    }

    /// Returns the app in front, and the system's application when it lies over the app.
    pub(crate) fn applications(&self) -> Option<Applications> {
        self.phone.with(|state| Applications::on(state.surface.as_ref(), &state.screen(), state.now))
    }

    /// Reads or changes what the simulator remembers besides its phone.
    pub fn simulator<R>(&self, act: impl FnOnce(&mut SimulatorState) -> R) -> R {
        act(&mut self.simulator.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Ends WebDriverAgent, as a crash of its runner does. Touches that it has begun go on.
    pub fn end_wda(&self) {
        self.wda_program.end();
    }

    /// Starts WebDriverAgent again: it knows no session of before.
    pub fn start_wda(&self) {
        *self.wda.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = wda::MainThread::default();
        self.wda_program.start();
    }

    pub fn end_companion(&self) {
        self.companion_program.end();
    }

    pub fn start_companion(&self) {
        self.companion_program.start();
    }

    pub(crate) fn boot_simulator(&self) {
        self.simulator(|simulator| simulator.shut_down = false);
        self.phone.reboot();
        self.start_wda();
        self.start_companion();
    }

    /// What is not booted has nobody to answer.
    pub(crate) fn shut_simulator_down(&self) {
        self.simulator(|simulator| simulator.shut_down = true);
        self.end_wda();
        self.end_companion();
        self.phone.reboot();
    }

    /// Removes the apps that were installed and everything that was set.
    pub(crate) fn erase_simulator(&self) {
        for app in self.apps().into_iter().filter(|app| !app.system) {
            self.uninstall_app(&app.bundle);
        }
        self.simulator(|simulator| {
            *simulator = SimulatorState { shut_down: true, ..SimulatorState::default() }
        });
    }

    /// Notes what a client asked the phone to do, for [`crate::Truth::commands`].
    pub(crate) fn note_request(&self, words: &[&str]) {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        self.phone.with(|state| state.record.command(words));
    }

    /// Notes that a client asked for a touch that begins here, in pixels.
    pub(crate) fn note_touch(&self, (x, y): Point) {
        self.note_request(&["touch", &x.to_string(), &y.to_string()]);
    }

    pub fn is_locked(&self) -> bool {
        self.phone.with(|state| state.surface.windows(&state.screen()).locked)
    }

    /// Locks the phone, or unlocks it again.
    pub fn set_locked(&self, locked: bool) {
        self.phone.with(|state| state.surface.system(SystemEvent::Locked(locked), state.now));
    }
}

/// The phone's wall clock as Apple's tools write it in JSON, now or at boot.
fn clock_text(phone: &IPhone, at_boot: bool) -> String {
    let ms = phone.phone.with(|state| {
        let now = state.clock.wall_ms(state.now);
        if at_boot { now.saturating_sub(state.clock.uptime_ms(state.now)) } else { now }
    });
    let at = crate::clock::Civil::from_ms(ms);
    format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", at.year, at.month, at.day, at.hour, at.minute, at.second)
}

/// What is on the screen.
pub(crate) struct Applications {
    /// The app in front, whether or not the system lies over it.
    pub bundle_id: String,
    pub app: UiElement,
    pub system: Option<UiElement>,
}

impl Applications {
    fn on(surface: &dyn Surface, screen: &Screen, now: Instant) -> Option<Applications> {
        let scene = surface.scene(screen, now)?;
        let mut app = tree::application(&scene, screen);
        // An app that has drawn nothing yet shows its launch screen, which is empty.
        if surface.windows(screen).opening {
            app.children.iter_mut().for_each(|window| window.children.clear());
        }
        let system = scene.dialog_of_system.then(|| tree::system_application(&scene, screen));
        Some(Applications { bundle_id: bundle_of(scene.package).to_owned(), app, system })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_simulator_that_is_shut_down_has_nobody_to_answer() {
        let phone = IPhone::new(IPhoneConfig::default());
        let mut open = phone.connect_wda().expect("it is booted");
        phone.shut_simulator_down();
        assert!(phone.connect_wda().is_err() && phone.connect_companion().is_err());
        let mut rest = Vec::new();
        assert_eq!(open.read_to_end(&mut rest).await.expect("an end"), 0);
        phone.boot_simulator();
        assert!(phone.connect_wda().is_ok() && phone.connect_companion().is_ok());
    }
}
