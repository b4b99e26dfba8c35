//! What whoever runs this server allows: a file that names tools, apps and devices, and what a person has to agree to
//! first (SE-04).
//!
//! ```toml
//! [tools]
//! deny = ["manage_app", "transfer_file"]
//! [apps]
//! allow = ["com.example.*"]
//! [devices]
//! allow = ["emulator-*", "virtual-android"]
//! [confirm]
//! tools = ["install_app"]
//! destructive = true
//! without_client = "refuse"   # or "allow", where the client cannot ask its user
//! ```

use std::collections::BTreeSet;
use std::path::Path;

use mdm_core::action::request::Action;
use mdm_core::failure::{Cause, Failure};
use mdm_core::port::{AppCommand, Key, OpenRequest, SettingChange};
use serde::Deserialize;

use crate::args::{self, JsonObject};
use crate::pattern::Pattern;
use crate::refusal::Refusal;
use crate::tools::{self, Effect, Entry};

/// The policy; a larger file is refused at the start.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// Entries of one list; a longer list is refused at the start.
const PATTERNS_MAX: usize = 1000;
/// Devices and apps that a question names, each.
const NAMED_MAX: usize = 5;
/// Characters of the name of a device or app in a question.
const NAME_CHARS_MAX: usize = 100;

#[derive(Debug, Clone, Default)]
pub struct Policy {
    pub tools: Lists,
    apps: Lists,
    devices: Lists,
    confirm: Confirm,
}

/// What is allowed, and what of it is not.
#[derive(Debug, Clone, Default)]
pub struct Lists {
    /// None: everything.
    pub allow: Option<Vec<Pattern>>,
    pub deny: Vec<Pattern>,
}

#[derive(Debug, Clone, Default)]
struct Confirm {
    tools: Vec<Pattern>,
    destructive: bool,
    /// Calls of clients that cannot ask go on unasked.
    may_do_without: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct PolicyFile {
    tools: ListsFile,
    apps: ListsFile,
    devices: ListsFile,
    confirm: ConfirmFile,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ListsFile {
    allow: Option<Vec<String>>,
    deny: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ConfirmFile {
    tools: Vec<String>,
    destructive: bool,
    without_client: WithoutClient,
}

#[derive(Deserialize, Default, PartialEq)]
#[serde(rename_all = "lowercase")]
enum WithoutClient {
    #[default]
    Refuse,
    Allow,
}

fn patterns(given: Vec<String>) -> Result<Vec<Pattern>, String> {
    if given.len() > PATTERNS_MAX {
        return Err(format!("a list has more than {PATTERNS_MAX} entries"));
    }
    given.iter().map(|text| text.parse()).collect()
}

impl ListsFile {
    fn lists(self) -> Result<Lists, String> {
        Ok(Lists { allow: self.allow.map(patterns).transpose()?, deny: patterns(self.deny)? })
    }
}

impl Lists {
    fn allows(&self, name: &str) -> bool {
        let in_list = |list: &[Pattern]| list.iter().any(|pattern| pattern.matches(name));
        self.allow.as_deref().is_none_or(in_list) && !in_list(&self.deny)
    }

    fn is_open(&self) -> bool {
        self.allow.is_none() && self.deny.is_empty()
    }
}

impl Policy {
    pub fn read(file: &Path) -> Result<Policy, String> {
        let named = |problem: String| format!("{}: {problem}", file.display());
        let size = std::fs::metadata(file).map_err(|error| named(error.to_string()))?.len();
        if size > FILE_BYTES_MAX {
            return Err(named(format!("it is larger than {FILE_BYTES_MAX} bytes")));
        }
        let text = std::fs::read_to_string(file).map_err(|error| named(error.to_string()))?;
        Policy::parse(&text).map_err(named)
    }

    pub fn parse(text: &str) -> Result<Policy, String> {
        let file: PolicyFile = toml::from_str(text).map_err(|error| error.to_string())?;
        let names = [&file.tools.deny, &file.confirm.tools].into_iter().chain(&file.tools.allow).flatten();
        // A name that is no tool would forbid nothing.
        for name in names.filter(|name| !name.contains('*')) {
            tools::find(name).ok_or_else(|| format!("there is no tool {name:?}"))?;
        }
        let (tools, asked) = (file.tools.lists()?, patterns(file.confirm.tools)?);
        check_same("tools.deny", &tools.deny, &tools)?;
        check_same("confirm.tools", &asked, &tools)?;
        Ok(Policy {
            tools,
            apps: file.apps.lists()?,
            devices: file.devices.lists()?,
            confirm: Confirm {
                tools: asked,
                destructive: file.confirm.destructive,
                may_do_without: file.confirm.without_client == WithoutClient::Allow,
            },
        })
    }

    /// Refuses an app that a call names.
    pub fn check_app(&self, app: &str) -> Result<(), Refusal> {
        match self.apps.allows(app) {
            true => Ok(()),
            false => Err(forbidden(format!("the policy of this server does not allow the app {app:.100?}"))),
        }
    }

    /// Refuses an action on an app that is not allowed. True if it depends on which one is in front.
    pub fn check_action(&self, action: &Action) -> Result<bool, Refusal> {
        match touched(action) {
            Touched::Nothing => Ok(false),
            Touched::App(app) => self.check_app(app).map(|()| false),
            Touched::AnyApp if self.limits_apps() => {
                let message =
                    "the policy of this server limits the apps, and which app takes this is not known";
                Err(forbidden(message.to_owned()))
            }
            Touched::AnyApp => Ok(false),
            Touched::InFront => Ok(self.limits_apps()),
        }
    }

    pub fn check_device(&self, device: &str) -> Result<(), Refusal> {
        match self.devices.allows(device) {
            true => Ok(()),
            false => {
                Err(forbidden(format!("the policy of this server does not allow the device {device:.100?}")))
            }
        }
    }

    pub fn allows_device(&self, device: &str) -> bool {
        self.devices.allows(device)
    }

    pub fn limits_apps(&self) -> bool {
        !self.apps.is_open()
    }

    pub fn may_do_without_asking(&self) -> bool {
        self.confirm.may_do_without
    }

    /// What a person has to agree to before this call, also because of a step of it.
    pub fn question(&self, entry: &'static Entry, arguments: &JsonObject) -> Option<Question> {
        let steps = tools::flow_steps(entry, arguments);
        // A flow is asked for because of what is in it.
        let itself = self.names(entry) || (entry.name != tools::FLOW && self.asks(entry));
        let mut asked: BTreeSet<&'static str> = itself.then_some(entry.name).into_iter().collect();
        asked.extend(steps.iter().filter(|(step, _)| self.asks(step)).map(|(step, _)| step.name));
        if asked.is_empty() {
            return None;
        }
        let all = || std::iter::once(arguments).chain(steps.iter().map(|(_, arguments)| arguments));
        Some(Question {
            tools: asked.into_iter().collect::<Vec<_>>().join(", "),
            devices: named_by(all(), "device_id"),
            apps: named_by(all(), "app_id"),
        })
    }

    /// True if the tool is named, or the one of the list that does the same.
    fn names(&self, entry: &Entry) -> bool {
        let named = |name: &str| self.confirm.tools.iter().any(|pattern| pattern.matches(name));
        named(entry.name) || tools::same_as(entry.name).iter().any(|other| named(other))
    }

    fn asks(&self, entry: &Entry) -> bool {
        self.names(entry) || (self.confirm.destructive && entry.effect == Effect::Destroys)
    }
}

/// Refuses a list that names a tool and not the one that does the same: it would change nothing.
fn check_same(list: &str, named: &[Pattern], tools: &Lists) -> Result<(), String> {
    let is_named = |name: &str| named.iter().any(|pattern| pattern.matches(name));
    for entry in tools::MORE.iter().filter(|entry| is_named(entry.name)) {
        let others = tools::same_as(entry.name);
        if !others.is_empty() && others.iter().all(|other| !is_named(other) && tools.allows(other)) {
            let (name, others) = (entry.name, others.join(" and "));
            return Err(format!("{list} names {name:?}, and {others} would do the same: name both"));
        }
    }
    Ok(())
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub tools: String,
    /// As the call names them; none where it names none.
    devices: Vec<String>,
    apps: Vec<String>,
}

impl Question {
    /// Only names are in it: other words of the caller could lead the person astray. `usual` is the device of a call
    /// that names none.
    pub fn words(&self, usual: Option<&str>) -> String {
        let mut words = format!("An agent wants to use {}", self.tools);
        if !self.apps.is_empty() {
            words.push_str(&format!(" with the app {}", self.apps.join(", ")));
        }
        match (self.devices.is_empty(), usual) {
            (false, _) => words.push_str(&format!(" on {}", self.devices.join(", "))),
            (true, Some(device)) => words.push_str(&format!(" on {device}")),
            (true, None) => {}
        }
        words + ". Allow it once?"
    }
}

/// The values of an argument of several calls, each once.
fn named_by<'a>(calls: impl Iterator<Item = &'a JsonObject>, argument: &str) -> Vec<String> {
    let given = calls.flatten().filter(|(name, _)| args::is_named(name, argument));
    let names: BTreeSet<String> = given.filter_map(|(_, value)| value.as_str()).map(shown_name).collect();
    let more = names.len().saturating_sub(NAMED_MAX);
    let mut shown: Vec<String> = names.into_iter().take(NAMED_MAX).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    shown
}

/// A name as names are; anything else could be a sentence to the person who is asked.
fn shown_name(name: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-');
    match name.chars().all(is_name) && (1..=NAME_CHARS_MAX).contains(&name.len()) {
        true => name.to_owned(),
        false => "(a name that is none)".to_owned(),
    }
}

/// Which app an action is done to.
#[derive(Debug, PartialEq, Eq)]
enum Touched<'a> {
    /// It leaves whatever is in front.
    Nothing,
    App(&'a str),
    /// Whichever takes it, or one that is not known before.
    AnyApp,
    InFront,
}

fn touched(action: &Action) -> Touched<'_> {
    match action {
        Action::Back | Action::Key(Key::Back | Key::Home | Key::Recents) => Touched::Nothing,
        Action::Restart { app } => Touched::App(app),
        Action::App(command) => match command {
            AppCommand::Start { app }
            | AppCommand::Terminate { app }
            | AppCommand::ClearData { app }
            | AppCommand::Uninstall { app }
            | AppCommand::Permit { app, .. }
            | AppCommand::Install { app: Some(app), .. }
            | AppCommand::Open(OpenRequest { app: Some(app), .. }) => Touched::App(app),
            AppCommand::Install { app: None, .. } | AppCommand::Open(OpenRequest { app: None, .. }) => {
                Touched::AnyApp
            }
        },
        Action::Set(SettingChange::Locale { app, .. }) => Touched::App(app),
        _ => Touched::InFront,
    }
}

fn forbidden(message: String) -> Refusal {
    Failure::new(Cause::Forbidden, message).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(json: &str) -> JsonObject {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_policy_allows_and_denies_apps_and_devices() {
        // SE-04
        let policy =
            Policy::parse("[apps]\nallow=['com.example.*']\ndeny=['*.bank']\n[devices]\ndeny=['prod-*']")
                .unwrap();
        assert!(policy.check_app("com.example.shop").is_ok());
        for bad in ["com.other", "com.example.bank", ""] {
            assert_eq!(policy.check_app(bad).unwrap_err().failure.code().as_str(), "POLICY_DENIED", "{bad}");
        }
        assert!(policy.check_device("emulator-5554").is_ok() && policy.check_device("prod-1").is_err());
        assert!(policy.limits_apps());
        let open = Policy::default();
        assert!(open.check_app("any").is_ok() && !open.limits_apps());
    }

    #[test]
    fn mistakes_in_a_policy_are_said_and_not_passed_over() {
        for bad in [
            "[tool]\n",
            "[tools]\ndeny=['tapp']",
            "[tools]\ndeny=['reset_app_data']",
            "[confirm]\ntools=['press_home']",
            "[apps]\nallow='x'",
            "[confirm]\nwithout_client='maybe'",
            "x",
        ] {
            assert!(Policy::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_destroys_is_asked_for_also_inside_a_flow() {
        // SE-04
        let policy = Policy::parse("[confirm]\ndestructive=true\ntools=['install_app']").unwrap();
        let ask = |tool: &str, json: &str| {
            policy.question(tools::find(tool).unwrap(), &object(json)).map(|question| question.tools)
        };
        assert_eq!(ask("reset_app_data", "{}").as_deref(), Some("reset_app_data"));
        assert_eq!(ask("install_app", "{}").as_deref(), Some("install_app"));
        assert_eq!(ask("tap", "{}"), None);
        assert_eq!(ask("run_flow", r#"{"steps":[{"tool":"tap"}]}"#), None);
        let flow = r#"{"steps":[{"tool":"tap"},{"tool":"reset_app_data"},{"tool":"x"}]}"#;
        assert_eq!(ask("run_flow", flow).as_deref(), Some("reset_app_data"));
        // As the flow itself would read them.
        assert_eq!(
            ask("run_flow", r#"{"steps":[["reset_app_data",{}]]}"#).as_deref(),
            Some("reset_app_data")
        );
        assert_eq!(ask("run_flow", r#"{"Steps":[{"tool":"install_app"}]}"#).as_deref(), Some("install_app"));
        assert_eq!(ask("reset_app_data", r#"{"steps":[]}"#).as_deref(), Some("reset_app_data"));
        assert_eq!(ask("build_and_install", "{}").as_deref(), Some("build_and_install"), "it installs too");
        let many: Vec<String> =
            (0..30).map(|_| r#"{"tool":"manage_app"},{"tool":"tap"}"#.to_owned()).collect();
        let many = format!(r#"{{"steps":[{},{{"tool":"reset_app_data"}}]}}"#, many.join(","));
        assert_eq!(ask("run_flow", &many).as_deref(), Some("manage_app, reset_app_data"));
        assert_eq!(Policy::default().question(tools::find("reset_app_data").unwrap(), &object("{}")), None);
    }

    #[test]
    fn a_question_names_device_and_app_and_no_sentence_of_the_caller() {
        // SE-04, SE-05
        let policy = Policy::parse("[confirm]\ndestructive=true").unwrap();
        let words = |json: &str| {
            let question = policy.question(tools::find("reset_app_data").unwrap(), &object(json)).unwrap();
            question.words(Some("emulator-5554"))
        };
        let asked = words(r#"{"appId":"com.x","device_id":"R58"}"#);
        assert_eq!(asked, "An agent wants to use reset_app_data with the app com.x on R58. Allow it once?");
        assert!(words(r#"{"app_id":"com.x"}"#).ends_with("on emulator-5554. Allow it once?"));
        let lie = words(r#"{"app_id":"x. Only a test, say yes"}"#);
        assert!(lie.contains("(a name that is none)") && !lie.contains("say yes"), "{lie}");
    }

    #[test]
    fn only_keys_that_leave_an_app_need_no_app_in_front() {
        // SE-04
        let key = |key| touched(&Action::Key(key)) == Touched::Nothing;
        assert!(key(Key::Home) && key(Key::Back) && key(Key::Recents));
        assert!(!key(Key::Enter) && !key(Key::DpadCenter) && !key(Key::Android(29)));
        let link = OpenRequest { link: Some("bank://pay".to_owned()), ..OpenRequest::default() };
        assert_eq!(touched(&Action::App(AppCommand::Open(link))), Touched::AnyApp);
        let app = Some("com.evil".to_owned());
        let install = AppCommand::Install { files: Vec::new(), app };
        assert_eq!(touched(&Action::App(install)), Touched::App("com.evil"));
    }
}
