//! The configuration of a new iPhone.

use std::str::FromStr;
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
    /// WebDriverAgent is installed and does not run: XCTest starts it. Without this it runs where its port is opened.
    pub runner_installed: bool,
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
            runner_installed: false,
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

    /// True if an image is mounted. Without developer mode none can be.
    pub(crate) fn has_developer_services(&self) -> bool {
        self.developer_image != DeveloperImage::None && !self.iphone_faults.developer_mode_off
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
    /// The phone trusts no computer until its owner has answered, this long after it was asked.
    pub pairing_pending_ms: u64,
    /// The phone is locked with a passcode: no service starts.
    pub passcode_locked: bool,
    /// Developer mode is off, so that nothing of the developer image runs.
    pub developer_mode_off: bool,
    /// The phone remembers another certificate of the computer than the computer has.
    pub wrong_certificate: bool,
    /// The owner of the phone has not trusted whoever signed WebDriverAgent's runner.
    pub untrusted_runner: bool,
    /// WebDriverAgent's runner takes this long to start.
    pub slow_runner_ms: u64,
    /// WebDriverAgent's runner crashes this long after its start.
    pub runner_crash_ms: u64,
}

impl IPhoneFaults {
    /// The longest time that a fault may be given.
    const MS_MAX: u64 = 600_000;
    /// The time of a fault for which none is given.
    const MS_USUAL: u64 = 5_000;

    /// The names of the command line.
    pub const NAMES: [&str; 15] = [
        "one-element-tree",
        "numeric-values",
        "hid-ignored",
        "old-companion",
        "deep-tree",
        "idle-hang",
        "late-gesture",
        "pairing-refused",
        "pairing-pending",
        "passcode-locked",
        "developer-mode-off",
        "wrong-certificate",
        "untrusted-runner",
        "slow-runner",
        "runner-crash",
    ];

    /// Takes `NAME`, or `NAME=MS` of a fault that has a time. False if an iPhone has no fault of this name.
    fn take(&mut self, word: &str) -> Result<bool, String> {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let flag = match name {
            "one-element-tree" => &mut self.one_element_tree,
            "numeric-values" => &mut self.numeric_values,
            "hid-ignored" => &mut self.hid_ignored,
            "old-companion" => &mut self.old_companion,
            "deep-tree" => &mut self.deep_tree,
            "pairing-refused" => &mut self.pairing_refused,
            "passcode-locked" => &mut self.passcode_locked,
            "developer-mode-off" => &mut self.developer_mode_off,
            "wrong-certificate" => &mut self.wrong_certificate,
            "untrusted-runner" => &mut self.untrusted_runner,
            name => return self.take_time(name, word, value),
        };
        if value.is_some() {
            return Err(format!("{word}: it is there all the time and takes no rate"));
        }
        *flag = true;
        Ok(true)
    }
}

impl IPhoneFaults {
    fn take_time(&mut self, name: &str, word: &str, value: Option<&str>) -> Result<bool, String> {
        let time = match name {
            "idle-hang" => &mut self.idle_hang_ms,
            "late-gesture" => &mut self.late_gesture_ms,
            "pairing-pending" => &mut self.pairing_pending_ms,
            "slow-runner" => &mut self.slow_runner_ms,
            "runner-crash" => &mut self.runner_crash_ms,
            _ => return Ok(false),
        };
        *time = milliseconds(word, value)?;
        Ok(true)
    }
}

fn milliseconds(word: &str, value: Option<&str>) -> Result<u64, String> {
    let ms =
        value.map_or(Ok(IPhoneFaults::MS_USUAL), str::parse).map_err(|error| format!("{word}: {error}"))?;
    match ms {
        1..=IPhoneFaults::MS_MAX => Ok(ms),
        _ => Err(format!("{word}: milliseconds from 1 to {}", IPhoneFaults::MS_MAX)),
    }
}

/// The faults of a command line: those that every phone can have, and those of iPhones.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GivenFaults {
    pub faults: Faults,
    pub iphone: IPhoneFaults,
}

/// Parses words between commas: `NAME` or `NAME=RATE` of [`Faults`], `NAME` or `NAME=MS` of [`IPhoneFaults`].
impl FromStr for GivenFaults {
    type Err = String;

    fn from_str(text: &str) -> Result<GivenFaults, String> {
        let (mut iphone, mut others) = (IPhoneFaults::default(), Vec::new());
        for word in text.split(',').filter(|word| !word.is_empty()) {
            if !iphone.take(word)? {
                others.push(word);
            }
        }
        let of_iphones =
            |error: String| format!("{error}; of iPhones also {}", IPhoneFaults::NAMES.join(", "));
        Ok(GivenFaults { faults: others.join(",").parse().map_err(of_iphones)?, iphone })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_every_phone_and_of_iphones_are_read_and_nonsense_is_named() {
        let given: GivenFaults =
            "hid-ignored,lost-tap=0.5,late-gesture=2500,idle-hang".parse().expect("valid");
        let iphone = IPhoneFaults {
            hid_ignored: true,
            late_gesture_ms: 2500,
            idle_hang_ms: IPhoneFaults::MS_USUAL,
            ..IPhoneFaults::default()
        };
        assert_eq!(given, GivenFaults { faults: Faults { lost_tap: 0.5, ..Faults::default() }, iphone });
        assert!("tap".parse::<GivenFaults>().expect_err("unknown").contains("wrong-certificate"));
        for wrong in ["hid-ignored=1", "late-gesture=0", "late-gesture=x", "idle-hang=9999999", "lost-tap=2"]
        {
            assert!(wrong.parse::<GivenFaults>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_name_is_of_a_fault_of_its_own() {
        let all: Vec<IPhoneFaults> =
            IPhoneFaults::NAMES.map(|name| name.parse::<GivenFaults>().expect("its name").iphone).to_vec();
        for (index, one) in all.iter().enumerate() {
            assert_ne!(*one, IPhoneFaults::default());
            assert!(!all[..index].contains(one), "{}", IPhoneFaults::NAMES[index]);
        }
    }
}
