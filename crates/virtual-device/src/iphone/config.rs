//! The configuration of a new iPhone.

use std::sync::Arc;

use crate::app::user::AppFile;
use crate::config::{Network, Reader, Timing};
use crate::faults::Faults;

#[derive(Debug, Clone)]
pub struct IPhoneConfig {
    pub udid: String,
    /// The name that its owner gave it.
    pub name: String,
    /// Apple's name of the model, such as `iPhone16,1`.
    pub product_type: String,
    pub ios_version: String,
    pub kind: IPhoneKind,
    /// What a phone on a cable offers to developers, from iOS 17 on.
    pub developer_image: DeveloperImage,
    /// Apps to install beside the phone's own.
    pub apps: Vec<Arc<AppFile>>,
    pub network: Network,
    pub timing: Timing,
    pub faults: Faults,
    pub iphone_faults: IPhoneFaults,
    /// Varies pids and noise; the same seed gives the same phone.
    pub seed: u64,
    /// Records everything that the screen shows, for [`crate::Phone::film`].
    pub film: bool,
    /// Whose trees the film shows.
    pub reader: Reader,
}

impl Default for IPhoneConfig {
    fn default() -> IPhoneConfig {
        IPhoneConfig {
            udid: "6B2F5A0C-7F0E-4C57-9F2B-2C1D4E8A9B10".to_owned(),
            name: "Virtual iPhone".to_owned(),
            product_type: "iPhone16,1".to_owned(),
            ios_version: "18.5".to_owned(),
            kind: IPhoneKind::Simulator,
            developer_image: DeveloperImage::New,
            apps: Vec::new(),
            network: Network::Off,
            timing: Timing::Instant,
            faults: Faults::default(),
            iphone_faults: IPhoneFaults::default(),
            seed: 1,
            film: false,
            reader: Reader::WebDriverAgent,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IPhoneKind {
    Simulator,
    Device,
}

impl IPhoneConfig {
    /// The first two numbers of the version of iOS.
    pub(crate) fn version(&self) -> (u32, u32) {
        let mut numbers = self.ios_version.split('.').map(|number| number.parse().unwrap_or(0));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    }
}

/// The image with developer services that is mounted on a phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeveloperImage {
    None,
    /// Of an Xcode before 27.
    Old,
    /// Of Xcode 27. What is new in it needs iOS 27.
    New,
}

/// How this iPhone misbehaves all the time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IPhoneFaults {
    /// The companion's tree has only the application, as for a while after a boot.
    pub one_element_tree: bool,
    /// The companion writes values of controls as numbers.
    pub numeric_values: bool,
    /// Touches and keys through the companion are answered with success and have no effect.
    pub hid_ignored: bool,
    /// The companion is of 2022: none of the newer calls and fields.
    pub old_companion: bool,
    /// The app's content lies deeper than WebDriverAgent can read, as below many views in each other.
    pub deep_tree: bool,
    /// WebDriverAgent waits for an app that never comes to rest, for this time at each call.
    pub idle_hang_ms: u64,
    /// A touch through WebDriverAgent takes effect this long after its answer.
    pub late_gesture_ms: u64,
    /// The phone trusts no computer, and its owner refuses each that asks.
    pub pairing_refused: bool,
    /// The phone is locked with a passcode: no service starts.
    pub passcode_locked: bool,
    /// Developer mode is off, so that nothing of the developer image runs.
    pub developer_mode_off: bool,
    /// The phone remembers another certificate of the computer than the computer has.
    pub wrong_certificate: bool,
}
