//! The list of states.

use serde::Deserialize;

const TABLE: &str = include_str!("../../../../framework/app/res/raw/states.json");

/// A widget in one state. What only the app on the framework phone reads is left out here.
#[derive(Debug, Clone, Deserialize)]
pub struct State {
    pub id: String,
    pub widget: String,
    pub state: String,
    /// The kind of window that is opened over the page: a dialog, a menu or a popup.
    pub window: Option<String>,
    /// Why what the framework phone shows of it is no measure.
    pub unjudged: Option<String>,
    /// The same state in the language of the model phone's apps.
    pub model: serde_json::Value,
}

pub fn states() -> Vec<State> {
    serde_json::from_str(TABLE).expect("states.json is a list of states")
}

/// A way to hold the phone and to set it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    Plain,
    LargeFont,
    Landscape,
    Arabic,
}

impl Setting {
    pub const ALL: [Setting; 4] = [Setting::Plain, Setting::LargeFont, Setting::Landscape, Setting::Arabic];

    pub fn name(self) -> &'static str {
        match self {
            Setting::Plain => "plain",
            Setting::LargeFont => "font 1.3",
            Setting::Landscape => "landscape",
            Setting::Arabic => "Arabic",
        }
    }

    /// The shell commands that set the phone up.
    pub fn commands(self) -> &'static [&'static str] {
        match self {
            Setting::Plain => &[],
            Setting::LargeFont => &["settings put system font_scale 1.3"],
            Setting::Landscape => {
                &["settings put system accelerometer_rotation 0", "settings put system user_rotation 1"]
            }
            Setting::Arabic => &["cmd locale set-app-locales org.mdm.widgets --locales ar"],
        }
    }

    /// The shell commands that take it back.
    pub fn back(self) -> &'static [&'static str] {
        match self {
            Setting::Plain => &[],
            Setting::LargeFont => &["settings put system font_scale 1.0"],
            Setting::Landscape => &["settings put system user_rotation 0"],
            Setting::Arabic => &["cmd locale set-app-locales org.mdm.widgets --locales en-US"],
        }
    }
}
