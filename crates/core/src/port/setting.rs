//! Settings of a device that change how apps behave.

/// One change of a setting.
#[derive(Debug, Clone, PartialEq)]
pub enum SettingChange {
    DarkMode(NightMode),
    /// Off while tests run; on restores what was before.
    Animations(bool),
    Wifi(bool),
    MobileData(bool),
    AirplaneMode(bool),
    /// A place that apps are told instead of the real one; `None` tells the real one again.
    Location(Option<Place>),
    /// The languages of one app, as `de-DE,en`; the empty text is the device's own.
    Locale {
        app: String,
        tags: String,
    },
    Clipboard(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NightMode {
    Off,
    On,
    /// By the time of day.
    Auto,
}

/// A place on Earth, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub latitude: f64,
    pub longitude: f64,
}

impl SettingChange {
    pub fn name(&self) -> &'static str {
        match self {
            SettingChange::DarkMode(_) => "dark_mode",
            SettingChange::Animations(_) => "animations",
            SettingChange::Wifi(_) => "wifi",
            SettingChange::MobileData(_) => "mobile_data",
            SettingChange::AirplaneMode(_) => "airplane_mode",
            SettingChange::Location(_) => "location",
            SettingChange::Locale { .. } => "locale",
            SettingChange::Clipboard(_) => "clipboard",
        }
    }
}

/// What the device said before and after a change, in words that [`SettingChange`] could be read from again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingReport {
    /// `None` where the device does not tell.
    pub before: Option<String>,
    pub after: Option<String>,
}
