//! Settings of an Android device. Each change is followed by what the device says of it: a command that was taken is not
//! yet a change.

use mdm_core::port::{
    DeviceError, DeviceErrorKind, Dispatch, NightMode, Place, SettingChange, SettingReport,
};
use mdm_wire::helper::{Answer, Request};

use crate::AndroidDevice;
use crate::adb::Script;
use crate::apps::check_app_id;
use crate::device::{NO_SHELL_COMMANDS, SHORT_BYTES_MAX, rejected};
use crate::helper::{Link, LinkError};
use crate::text;

/// The three settings that make up the animations.
const SCALES: [&str; 3] = ["window_animation_scale", "transition_animation_scale", "animator_duration_scale"];
/// The scale of a device on which nobody changed it.
const SCALE_USUAL: &str = "1.0";
/// Longest list of languages.
const TAGS_CHARS_MAX: usize = 200;
/// Places are told with this many digits after the point, which is about 10 cm.
const PLACE_DIGITS: usize = 6;
/// What stands in the dump beside a provider that tells a place of ours.
const MOCKED: &str = "gps provider [mock]";

impl AndroidDevice {
    pub(crate) async fn change_setting(&self, change: &SettingChange) -> Result<SettingReport, DeviceError> {
        match change {
            SettingChange::DarkMode(mode) => self.set_night(*mode).await,
            SettingChange::Animations(on) => self.set_animations(*on).await,
            SettingChange::Wifi(on) => self.set_switch(&WIFI, *on).await,
            SettingChange::MobileData(on) => self.set_switch(&MOBILE_DATA, *on).await,
            SettingChange::AirplaneMode(on) => self.set_switch(&AIRPLANE, *on).await,
            SettingChange::Location(Some(place)) => self.set_place(*place).await,
            SettingChange::Location(None) => self.forget_place().await,
            SettingChange::Locale { app, tags } => self.set_locale(app, tags).await,
            SettingChange::Clipboard(text) => self.set_clipboard(text).await,
        }
    }

    async fn answer(&self, script: &Script) -> Result<String, DeviceError> {
        let output = self.run(script, SHORT_BYTES_MAX).await?;
        Ok(format!("{}\n{}", output.stdout_text(), String::from_utf8_lossy(&output.stderr)).trim().to_owned())
    }

    async fn set_night(&self, mode: NightMode) -> Result<SettingReport, DeviceError> {
        let read = Script::new("cmd uimode night");
        let before = night_word(&self.answer(&read).await?);
        if before.is_none() {
            return Err(DeviceError::not_supported("change its dark mode from the shell"));
        }
        let (verb, wanted) = match mode {
            NightMode::Off => (" no", "off"),
            NightMode::On => (" yes", "on"),
            NightMode::Auto => (" auto", "auto"),
        };
        self.act(&Script::new("cmd uimode night").then(verb)).await?;
        let after = night_word(&self.read_back(&read).await?);
        confirmed(before, after, wanted)
    }

    async fn set_switch(&self, switch: &Switch, on: bool) -> Result<SettingReport, DeviceError> {
        let before = (switch.read)(&self.answer(&Script::new(switch.question)).await?);
        if before.is_none() && switch.tells_or_is_missing {
            return Err(DeviceError::not_supported("switch this from the shell"));
        }
        self.act(&Script::new(if on { switch.on } else { switch.off })).await?;
        let after = (switch.read)(&self.read_back(&Script::new(switch.question)).await?);
        let word = |on: bool| if on { "on" } else { "off" }.to_owned();
        confirmed(before.map(word), after.map(word), &word(on))
    }

    async fn set_animations(&self, on: bool) -> Result<SettingReport, DeviceError> {
        let before = self.scales().await?;
        let wanted = if on {
            self.state().animations.clone().unwrap_or_else(|| SCALES.map(|_| SCALE_USUAL.to_owned()))
        } else {
            SCALES.map(|_| "0".to_owned())
        };
        if !on && !is_off(&before) {
            self.state().animations = Some(before.clone());
        }
        let mut script = Script::new("true");
        for (name, scale) in SCALES.iter().zip(&wanted) {
            script = script.then(" && settings put global").arg(name).arg(scale);
        }
        self.act(&script).await?;
        let after = self.scales().await.map_err(|error| error.with_dispatch(Dispatch::Taken))?;
        let word = |scales: &[String; 3]| if is_off(scales) { "off" } else { "on" };
        let report = confirmed(Some(word(&before).to_owned()), Some(word(&after).to_owned()), word(&wanted))?;
        if on {
            self.state().animations = None;
        }
        Ok(report)
    }

    async fn scales(&self) -> Result<[String; 3], DeviceError> {
        let script = SCALES
            .iter()
            .fold(Script::new("true"), |script, name| script.then("; settings get global").arg(name));
        let output = self.run(&script, SHORT_BYTES_MAX).await?;
        let text = output.stdout_text();
        let mut lines = text.lines().map(|line| line.trim().to_owned());
        let scale = |line: Option<String>| {
            line.filter(|line| line != "null").unwrap_or_else(|| SCALE_USUAL.to_owned())
        };
        Ok(SCALES.map(|_| scale(lines.next())))
    }

    async fn set_place(&self, place: Place) -> Result<SettingReport, DeviceError> {
        let wanted = shown(place);
        let before = place_told(&self.answer(&Script::new("dumpsys location")).await?);
        // The shell may mock locations only when it was allowed to.
        let script = Script::new("appops set com.android.shell android:mock_location allow && ")
            .then("cmd location providers add-test-provider gps && ")
            .then("cmd location providers set-test-provider-enabled gps true && ")
            .then("cmd location providers set-test-provider-location gps --location")
            .arg(&wanted);
        let output = self.act_with_code(&script).await?;
        let said = format!("{}{}", output.message(), output.stdout_text());
        if ["Unknown command", NO_SHELL_COMMANDS, "Can't find service"]
            .iter()
            .any(|words| said.contains(words))
        {
            return Err(DeviceError::not_supported(
                "set a location from the shell, which Android can since 12",
            ));
        }
        if output.exit_code != 0 {
            return Err(rejected(&output));
        }
        let after = place_told(&self.read_back(&Script::new("dumpsys location")).await?);
        confirmed(before, after, &wanted)
    }

    async fn forget_place(&self) -> Result<SettingReport, DeviceError> {
        let before = place_told(&self.answer(&Script::new("dumpsys location")).await?);
        let script = Script::new("cmd location providers remove-test-provider gps; r=$?; ")
            .then("appops set com.android.shell android:mock_location default; exit $r");
        self.act(&script).await?;
        let dump = self.read_back(&Script::new("dumpsys location")).await?;
        let after = if dump.contains(MOCKED) { place_told(&dump) } else { Some("real".to_owned()) };
        confirmed(before, after, "real")
    }

    async fn set_locale(&self, app: &str, tags: &str) -> Result<SettingReport, DeviceError> {
        check_app_id(app)?;
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ',');
        if tags.len() > TAGS_CHARS_MAX || !tags.chars().all(allowed) || tags.starts_with('-') {
            let detail = format!("{tags:.60?} is no list of languages, which looks like de-DE or de-DE,en");
            return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
        }
        let read = Script::new("cmd locale get-app-locales").arg(app).then(" --user 0");
        let told = self.answer(&read).await?;
        let Some(before) = locales_told(&told) else {
            if told.contains("Unknown package") {
                return Err(crate::apps::not_installed(app, &self.id));
            }
            return Err(DeviceError::not_supported(
                "change the language of an app, which Android can since 13",
            ));
        };
        self.act(&Script::new("cmd locale set-app-locales").arg(app).then(" --user 0 --locales").arg(tags))
            .await?;
        let after = locales_told(&self.read_back(&read).await?);
        confirmed(Some(before), after, tags)
    }

    /// AOSP gives the shell no clipboard; some devices do, and the helper has one.
    async fn set_clipboard(&self, clip: &str) -> Result<SettingReport, DeviceError> {
        if clip.contains('\0') || clip.chars().count() > text::TEXT_CHARS_MAX {
            let detail =
                format!("the clipboard takes at most {} characters and no NUL", text::TEXT_CHARS_MAX);
            return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
        }
        if let Some(link) = self.helper.link(self).await? {
            match self.clipboard_through(&link, clip).await {
                Err(error) if self.may_use_shell(&error) => self.helper.tell_of_shell(),
                set => {
                    let (before, after) = set.map_err(LinkError::of_effect)?;
                    return confirmed(before, after.or_else(|| Some(String::new())), clip);
                }
            }
        }
        let read = Script::new("cmd clipboard get text");
        let before = self.answer(&read).await?;
        if before.contains(NO_SHELL_COMMANDS) {
            return Err(DeviceError::not_supported("reach its clipboard from the shell"));
        }
        self.act(&Script::new("cmd clipboard set text").arg(clip)).await?;
        let after = self.read_back(&read).await?;
        confirmed(Some(before), Some(after), clip.trim())
    }

    /// Returns what the clipboard held before and holds afterwards.
    async fn clipboard_through(
        &self,
        link: &Link,
        clip: &str,
    ) -> Result<(Option<String>, Option<String>), LinkError> {
        let read = async || match self.helper.ask(link, &Request::GetClipboard).await? {
            Answer::Clipboard(text) => Ok(text),
            _ => Err(link.cut("an answer to another request")),
        };
        let before = read().await?;
        self.helper.ask(link, &Request::SetClipboard(clip.to_owned())).await?;
        Ok((before, read().await?))
    }

    /// Reads after a change: what fails then has not undone the change.
    async fn read_back(&self, script: &Script) -> Result<String, DeviceError> {
        self.answer(script).await.map_err(|error| error.with_dispatch(Dispatch::Taken))
    }
}

/// A setting that is on or off, with the commands that ask and change it.
struct Switch {
    question: &'static str,
    on: &'static str,
    off: &'static str,
    read: fn(&str) -> Option<bool>,
    /// A device that cannot answer the question cannot be switched either.
    tells_or_is_missing: bool,
}

const WIFI: Switch = Switch {
    question: "settings get global wifi_on",
    on: "svc wifi enable",
    off: "svc wifi disable",
    // 2 means on in spite of the airplane mode, 3 off because of it.
    read: |answer| match answer {
        "1" | "2" => Some(true),
        "0" | "3" => Some(false),
        _ => None,
    },
    tells_or_is_missing: false,
};

const MOBILE_DATA: Switch = Switch {
    question: "settings get global mobile_data",
    on: "svc data enable",
    off: "svc data disable",
    read: |answer| match answer {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    },
    tells_or_is_missing: false,
};

const AIRPLANE: Switch = Switch {
    question: "cmd connectivity airplane-mode",
    on: "cmd connectivity airplane-mode enable",
    off: "cmd connectivity airplane-mode disable",
    read: |answer| match answer {
        "enabled" => Some(true),
        "disabled" => Some(false),
        _ => None,
    },
    tells_or_is_missing: true,
};

/// The report of a change, unless the device says something else than was wanted. A device that does not tell is not
/// doubted, and the report says so.
fn confirmed(
    before: Option<String>,
    after: Option<String>,
    wanted: &str,
) -> Result<SettingReport, DeviceError> {
    match after.as_deref().filter(|after| *after != wanted) {
        None => Ok(SettingReport { before, after }),
        Some(other) => {
            let detail =
                format!("the device took the command and still says {other:.100?} instead of {wanted:.100?}");
            Err(DeviceError::new(DeviceErrorKind::Rejected, detail).with_dispatch(Dispatch::Taken))
        }
    }
}

/// `Night mode: yes`.
fn night_word(answer: &str) -> Option<String> {
    let word = answer.lines().find_map(|line| line.trim().strip_prefix("Night mode: "))?;
    Some(match word.trim() {
        "yes" => "on".to_owned(),
        "no" => "off".to_owned(),
        other => other.to_owned(),
    })
}

fn is_off(scales: &[String; 3]) -> bool {
    scales.iter().all(|scale| scale.parse::<f64>() == Ok(0.0))
}

fn shown(place: Place) -> String {
    format!("{:.*},{:.*}", PLACE_DIGITS, place.latitude, PLACE_DIGITS, place.longitude)
}

/// `last location=Location[gps 41.387400,2.168600 hAcc=…`.
fn place_told(dump: &str) -> Option<String> {
    let place = dump.split("Location[gps ").nth(1)?.split_whitespace().next()?;
    let (latitude, longitude) = place.split_once(',')?;
    Some(shown(Place { latitude: latitude.parse().ok()?, longitude: longitude.parse().ok()? }))
}

/// `Locales for com.example for user 0 are [de-DE,en]`.
fn locales_told(answer: &str) -> Option<String> {
    let (_, tags) = answer.lines().find(|line| line.starts_with("Locales for "))?.rsplit_once(" are [")?;
    Some(tags.trim().trim_end_matches(']').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_the_services_are_read() {
        assert_eq!(night_word("Night mode: yes").as_deref(), Some("on"));
        assert_eq!(night_word("Night mode: custom_schedule").as_deref(), Some("custom_schedule"));
        assert_eq!(night_word("cmd: Can't find service: uimode"), None);
        assert_eq!(locales_told("Locales for a.b for user 0 are [de-DE]").as_deref(), Some("de-DE"));
        assert_eq!(locales_told("Locales for a.b for user 0 are []").as_deref(), Some(""));
        let dump =
            "  gps provider:\n    last location=Location[gps -33.868800,151.209300 hAcc=100.0 et=+1h]\n";
        assert_eq!(place_told(dump).as_deref(), Some("-33.868800,151.209300"));
        assert_eq!(place_told("last location=null"), None);
    }

    #[test]
    fn a_device_that_says_something_else_is_not_believed() {
        let after = |after: Option<&str>| confirmed(None, after.map(str::to_owned), "on");
        assert!(after(Some("on")).is_ok());
        assert_eq!(after(Some("off")).unwrap_err().dispatch, Dispatch::Taken);
        assert_eq!(after(None).map(|report| report.after), Ok(None), "it is not called confirmed");
    }
}
