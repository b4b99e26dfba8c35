//! The settings provider: values by namespace (`system`, `secure`, `global`) and key.

use std::collections::BTreeMap;

use crate::shell::services::IME;

/// Entries that clients may add to one store.
pub const ENTRIES_MAX: usize = 1000;
/// Longest name and value together; the real provider refuses about as much.
const ENTRY_BYTES_MAX: usize = 32 * 1024;

#[derive(Debug)]
pub struct Settings {
    /// By `namespace/key`.
    values: BTreeMap<String, String>,
}

impl Settings {
    /// Returns the settings of a new phone.
    pub fn new(seed: u64) -> Settings {
        let android_id = format!("{:016x}", seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def0);
        let pairs: [(&str, &str); 27] = [
            ("global/adb_enabled", "1"),
            ("global/airplane_mode_on", "0"),
            ("global/animator_duration_scale", "1.0"),
            ("global/auto_time", "1"),
            ("global/bluetooth_on", "1"),
            ("global/development_settings_enabled", "1"),
            ("global/device_provisioned", "1"),
            ("global/mobile_data", "1"),
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
        let values = pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Settings { values }
    }

    pub fn get(&self, namespace: &str, key: &str) -> Option<&str> {
        self.values.get(&format!("{namespace}/{key}")).map(String::as_str)
    }

    /// Returns false when the provider refuses: too many entries, or too long.
    pub fn put(&mut self, namespace: &str, key: &str, value: &str) -> bool {
        let name = format!("{namespace}/{key}");
        let room = self.values.contains_key(&name) || self.values.len() < ENTRIES_MAX;
        let fits = room && name.len() + value.len() <= ENTRY_BYTES_MAX;
        if fits {
            self.values.insert(name, value.to_owned());
        }
        fits
    }

    pub fn remove(&mut self, namespace: &str, key: &str) -> bool {
        self.values.remove(&format!("{namespace}/{key}")).is_some()
    }

    /// Returns keys and values of one namespace, by key.
    pub fn rows(&self, namespace: &str) -> Vec<(String, String)> {
        let prefix = format!("{namespace}/");
        let all = self.values.iter();
        all.filter_map(|(key, value)| Some((key.strip_prefix(&prefix)?.to_owned(), value.clone()))).collect()
    }

    pub fn rotation_is_locked(&self) -> bool {
        self.get("system", "accelerometer_rotation") != Some("1")
    }
}
