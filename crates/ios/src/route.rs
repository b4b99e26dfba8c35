//! Which program serves which request. The first one in a row that the device has is used, and no other when it fails:
//! a tree is never silently one of another kind.

use mdm_core::port::{DeviceError, DeviceErrorKind};

/// A program or protocol through which an iPhone or a simulator is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    Idb,
    Wda,
    Simctl,
    /// The services of a real phone, over usbmuxd.
    Usb,
    /// The developer services of a real phone with iOS 17.4 or later, in its tunnel.
    CoreDevice,
    /// Touches, keys and buttons among them, from iOS 27 on.
    Hid,
    /// What a real phone speaks of its screen to Accessibility Inspector.
    Audit,
}

impl Way {
    pub const ALL: [Way; 7] =
        [Way::Idb, Way::Wda, Way::Simctl, Way::Usb, Way::CoreDevice, Way::Hid, Way::Audit];

    pub fn as_str(self) -> &'static str {
        match self {
            Way::Idb => "idb",
            Way::Wda => "WebDriverAgent",
            Way::Simctl => "simctl",
            Way::Usb => "usbmux",
            Way::CoreDevice => "CoreDevice",
            Way::Hid => "touches of CoreDevice",
            Way::Audit => "accessibility audit",
        }
    }
}

/// What is asked of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Tree,
    /// A list of what is spoken, without places: no tree, and never taken for one.
    Spoken,
    Picture,
    Touch,
    Text,
    /// Home, volume and lock.
    Button,
    HideKeyboard,
    Turn,
    Launch,
    Terminate,
    Install,
    ListApps,
    OpenLink,
    Permit,
    ReadLog,
    FollowLog,
    Crashes,
    AnswerAlert,
    DarkMode,
    Location,
    Clipboard,
    /// Sets the value of a control through accessibility.
    SetValue,
}

impl Verb {
    /// The ways that can do it, the preferred one first. WebDriverAgent's trees have containers, the keyboard and alerts
    /// of the system, which those of idb have not. Where both do the same, idb is faster. Touches of CoreDevice come last:
    /// nothing tells whether they arrived.
    pub fn ways(self) -> &'static [Way] {
        match self {
            Verb::Tree => &[Way::Wda, Way::Idb],
            Verb::Spoken => &[Way::Audit],
            Verb::Touch | Verb::Text | Verb::Button => &[Way::Idb, Way::Wda, Way::Hid],
            Verb::Turn => &[Way::Idb, Way::Wda],
            Verb::SetValue => &[Way::Wda],
            Verb::Picture => &[Way::Idb, Way::CoreDevice, Way::Wda, Way::Simctl, Way::Usb],
            Verb::HideKeyboard | Verb::AnswerAlert => &[Way::Wda],
            Verb::Launch | Verb::Terminate => &[Way::Idb, Way::Simctl, Way::CoreDevice, Way::Wda],
            Verb::Install | Verb::ListApps => &[Way::Idb, Way::Simctl, Way::Usb],
            Verb::OpenLink => &[Way::Idb, Way::Simctl, Way::Wda],
            Verb::Permit => &[Way::Simctl, Way::Idb],
            Verb::ReadLog => &[Way::Simctl, Way::Idb, Way::Usb],
            Verb::FollowLog => &[Way::Idb, Way::Simctl, Way::Usb],
            Verb::Crashes => &[Way::Idb, Way::Usb, Way::Simctl],
            Verb::DarkMode | Verb::Clipboard => &[Way::Simctl, Way::Wda],
            Verb::Location => &[Way::Simctl, Way::Idb, Way::Wda],
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Tree => "read the screen",
            Verb::Spoken => "list what is spoken",
            Verb::Picture => "take pictures",
            Verb::Touch => "touch the screen",
            Verb::Text => "type",
            Verb::Button => "press buttons",
            Verb::HideKeyboard => "hide the keyboard",
            Verb::Turn => "turn the screen",
            Verb::Launch => "start apps",
            Verb::Terminate => "end apps",
            Verb::Install => "install apps",
            Verb::ListApps => "list apps",
            Verb::OpenLink => "open links",
            Verb::Permit => "change permissions",
            Verb::ReadLog => "read the log of the past",
            Verb::FollowLog => "follow the log",
            Verb::Crashes => "read crash reports",
            Verb::AnswerAlert => "answer alerts by name",
            Verb::DarkMode => "change the appearance",
            Verb::Location => "set the place",
            Verb::Clipboard => "set the clipboard",
            Verb::SetValue => "set values through accessibility",
        }
    }
}

/// Picks the way for a request from those that a device has.
pub fn choose(verb: Verb, has: impl Fn(Way) -> bool) -> Result<Way, DeviceError> {
    if let Some(way) = verb.ways().iter().copied().find(|way| has(*way)) {
        return Ok(way);
    }
    let names = |ways: &mut dyn Iterator<Item = Way>| ways.map(Way::as_str).collect::<Vec<_>>();
    let wanted = names(&mut verb.ways().iter().copied()).join(" or ");
    let had = names(&mut Way::ALL.into_iter().filter(|way| has(*way))).join(", ");
    let detail = match had.is_empty() {
        true => format!("nothing reaches this iPhone: to {} it needs {wanted}", verb.as_str()),
        false => format!("this iPhone is reached through {had}; to {} it needs {wanted}", verb.as_str()),
    };
    Err(DeviceError::new(DeviceErrorKind::NotSupported, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_way_that_is_there_is_taken_and_what_is_missing_is_named() {
        assert_eq!(choose(Verb::Touch, |way| way != Way::Simctl), Ok(Way::Idb));
        assert_eq!(choose(Verb::Tree, |way| way == Way::Wda), Ok(Way::Wda));
        let error = choose(Verb::Install, |way| way == Way::Wda).unwrap_err();
        assert_eq!(
            error.detail,
            "this iPhone is reached through WebDriverAgent; to install apps it needs idb or simctl or usbmux"
        );
        assert_eq!(error.kind, DeviceErrorKind::NotSupported);
    }
}
