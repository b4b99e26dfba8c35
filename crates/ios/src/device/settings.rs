//! Settings that change how apps behave.

use mdm_core::port::{DeviceError, DeviceErrorKind, NightMode, SettingChange, SettingReport};

use super::{IosDevice, Server, wrong_way};
use crate::route::Verb;
use crate::simctl::Appearance;

impl IosDevice {
    pub(super) async fn change_setting(&self, change: &SettingChange) -> Result<SettingReport, DeviceError> {
        match change {
            SettingChange::DarkMode(mode) => self.set_dark(*mode).await,
            SettingChange::Location(place) => {
                match (self.server(Verb::Location)?, place) {
                    (Server::Simctl(one), place) => one.simctl.set_location(&one.udid, *place).await?,
                    (Server::Wda(wda), place) => {
                        let place = place.map(|place| (place.latitude, place.longitude));
                        wda.set_location(place).await?;
                    }
                    (Server::Idb(idb), Some(place)) => {
                        idb.set_location(place.latitude, place.longitude).await?;
                    }
                    (Server::Usb(_) | Server::Core(_), _) => return Err(wrong_way(Verb::Location)),
                    (Server::Idb(_), None) => {
                        return Err(DeviceError::not_supported("be told its real place again by idb"));
                    }
                }
                Ok(SettingReport { before: None, after: None })
            }
            SettingChange::Clipboard(text) => {
                match self.server(Verb::Clipboard)? {
                    Server::Simctl(one) => one.simctl.set_pasteboard(&one.udid, text).await?,
                    Server::Wda(wda) => wda.set_clipboard(text).await?,
                    Server::Idb(_) | Server::Usb(_) | Server::Core(_) => {
                        return Err(wrong_way(Verb::Clipboard));
                    }
                }
                Ok(SettingReport { before: None, after: None })
            }
            other => {
                let detail = format!("iPhones do not let programs change {}", other.name());
                Err(DeviceError::new(DeviceErrorKind::NotSupported, detail))
            }
        }
    }

    async fn set_dark(&self, mode: NightMode) -> Result<SettingReport, DeviceError> {
        let (dark, appearance) = match mode {
            NightMode::On => (true, Appearance::Dark),
            NightMode::Off => (false, Appearance::Light),
            NightMode::Auto => return Err(DeviceError::not_supported("be told to follow the time of day")),
        };
        match self.server(Verb::DarkMode)? {
            Server::Simctl(one) => {
                let word = |appearance: Option<Appearance>| {
                    appearance.map(|a| if a == Appearance::Dark { "on" } else { "off" }.to_owned())
                };
                let before = word(one.simctl.appearance(&one.udid).await?);
                one.simctl.set_appearance(&one.udid, appearance).await?;
                let after = word(one.simctl.appearance(&one.udid).await?);
                Ok(SettingReport { before, after })
            }
            Server::Wda(wda) => {
                wda.set_dark(dark).await?;
                Ok(SettingReport { before: None, after: None })
            }
            Server::Idb(_) | Server::Usb(_) | Server::Core(_) => Err(wrong_way(Verb::DarkMode)),
        }
    }
}
