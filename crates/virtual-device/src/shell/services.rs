//! What the system services behind `cmd`, `settings` and `dumpsys` remember.

use std::collections::BTreeMap;

use tokio_util::sync::CancellationToken;

use crate::state::{SETTINGS_MAX, State};

pub const IME: &str = "com.android.inputmethod.latin/.LatinIME";
/// Longest value of a setting; the real provider refuses about as much.
const VALUE_BYTES_MAX: usize = 32 * 1024;
/// First release whose log lines name the launch mode and the outcome.
const LONG_START_LINES_SDK: u32 = 33;

#[derive(Debug, Default)]
pub struct Services {
    pub night: Night,
    /// Package to language tags.
    pub locales: BTreeMap<String, String>,
    /// `package/operation` to mode.
    pub operations: BTreeMap<String, String>,
    /// When the frame counters of a process were last reset.
    pub frames_since_ms: BTreeMap<String, u64>,
    /// Processes that shells left in the background, by pid.
    pub jobs: BTreeMap<u32, Job>,
}

#[derive(Debug, Clone)]
pub struct Job {
    /// Its command line.
    pub command: String,
    pub stop: CancellationToken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Night {
    #[default]
    No,
    Yes,
    Auto,
}

impl Night {
    pub fn name(self) -> &'static str {
        match self {
            Night::No => "no",
            Night::Yes => "yes",
            Night::Auto => "auto",
        }
    }
}

/// What is set on a phone that somebody just unpacked.
pub fn default_settings(seed: u64) -> BTreeMap<String, String> {
    let android_id = format!("{:016x}", seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def0);
    let pairs: [(&str, &str); 26] = [
        ("global/adb_enabled", "1"),
        ("global/airplane_mode_on", "0"),
        ("global/animator_duration_scale", "1.0"),
        ("global/auto_time", "1"),
        ("global/bluetooth_on", "1"),
        ("global/development_settings_enabled", "1"),
        ("global/device_provisioned", "1"),
        ("global/mode_ringer", "2"),
        ("global/stay_on_while_plugged_in", "0"),
        ("global/transition_animation_scale", "1.0"),
        ("global/wifi_on", "1"),
        ("global/window_animation_scale", "1.0"),
        ("secure/accessibility_enabled", "0"),
        ("secure/android_id", &android_id),
        ("secure/default_input_method", IME),
        ("secure/enabled_input_methods", IME),
        ("secure/location_mode", "3"),
        ("secure/show_ime_with_hard_keyboard", "1"),
        ("secure/user_setup_complete", "1"),
        ("system/accelerometer_rotation", "0"),
        ("system/font_scale", "1.0"),
        ("system/haptic_feedback_enabled", "1"),
        ("system/screen_brightness", "102"),
        ("system/screen_off_timeout", "60000"),
        ("system/time_12_24", "12"),
        ("system/user_rotation", "0"),
    ];
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

impl State {
    pub fn setting(&self, namespace: &str, key: &str) -> Option<String> {
        self.settings.get(&format!("{namespace}/{key}")).cloned()
    }

    /// False when the provider refuses: too many, or too long.
    pub fn put_setting(&mut self, namespace: &str, key: &str, value: &str) -> bool {
        let name = format!("{namespace}/{key}");
        let room = self.settings.contains_key(&name) || self.settings.len() < SETTINGS_MAX;
        if !room || name.len() + value.len() > VALUE_BYTES_MAX {
            return false;
        }
        self.settings.insert(name, value.to_owned());
        if namespace == "system" && matches!(key, "user_rotation" | "accelerometer_rotation") {
            self.rotate();
        }
        true
    }

    /// The rotation settings changed.
    fn rotate(&mut self) {
        self.ui.changed(self.now);
    }

    /// Quarter turns that the screen shows.
    pub fn display_rotation(&self) -> u32 {
        0
    }

    /// Without a sensor that could turn it, a phone with free rotation stays as it is.
    pub fn rotation_is_locked(&self) -> bool {
        self.setting("system", "accelerometer_rotation").as_deref() != Some("1")
    }

    /// What the log says when an activity starts.
    pub fn start_line(&self, intent: &str, uid: u32) -> String {
        if self.config.sdk < LONG_START_LINES_SDK {
            return format!("START u0 {{{intent}}} from uid {uid}");
        }
        let allowed = if uid == 2000 { " (BAL_ALLOW_PERMISSION)" } else { "" };
        format!("START u0 {{{intent}}} with LAUNCH_MULTIPLE from uid {uid}{allowed} result code=0")
    }
}
