//! A virtual iPhone: the same apps, clock, faults and truth as the Android phone, with the protocols of iOS in front.
//!
//! [`IPhone::elements`] is the one accessibility tree; every face writes it in its own format.

mod config;
pub mod element;
mod names;
mod tree;
mod wda;

use tokio::time::Instant;

use crate::app::geometry::Screen;
use crate::config::{PhoneConfig, Platform};
use crate::phone::Phone;
use crate::surface::SystemEvent;
pub use config::{IPhoneConfig, IPhoneFaults, IPhoneKind};
use element::UiElement;
pub use names::{bundle_of, package_of};

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
    wda: std::sync::Arc<tokio::sync::Mutex<wda::WdaState>>,
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
            ..PhoneConfig::default()
        });
        IPhone { phone, config: std::sync::Arc::new(config), wda: std::sync::Arc::default() }
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
        self.phone.with(|state| {
            let screen: Screen = state.screen();
            let scene = state.surface.scene(&screen, state.now)?;
            let mut app = tree::application(&scene, &screen);
            // An app that has drawn nothing yet shows its launch screen, which is empty.
            if state.surface.windows(&screen).opening {
                app.children.iter_mut().for_each(|window| window.children.clear());
            }
            let system = scene.dialog_of_system.then(|| tree::system_application(&scene, &screen));
            Some(Applications { bundle_id: bundle_of(scene.package).to_owned(), app, system })
        })
    }

    pub fn is_locked(&self) -> bool {
        self.phone.with(|state| state.surface.windows(&state.screen()).locked)
    }

    /// Locks the phone, or unlocks it again.
    pub fn set_locked(&self, locked: bool) {
        self.phone.with(|state| state.surface.system(SystemEvent::Locked(locked), state.now));
    }

    /// The time by the phone's clock, for faces that wait.
    pub fn now(&self) -> Instant {
        Instant::now()
    }
}

/// What is on the screen.
pub(crate) struct Applications {
    /// The app in front, whether or not the system lies over it.
    pub bundle_id: String,
    pub app: UiElement,
    pub system: Option<UiElement>,
}
