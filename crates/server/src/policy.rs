//! What whoever runs this server allows: a file that names tools, apps and devices, and what a person has to agree to
//! first (SE-04).
//!
//! ```toml
//! [tools]
//! deny = ["reset_app_data", "transfer_file"]
//! [apps]
//! allow = ["com.example.*"]
//! [devices]
//! allow = ["emulator-*", "virtual-android"]
//! [confirm]
//! tools = ["install_app"]
//! destructive = true
//! without_client = "refuse"   # or "allow", where the client cannot ask its user
//! ```

use std::path::Path;

use mdm_core::failure::{Cause, Failure};
use serde::Deserialize;

use crate::args::JsonObject;
use crate::pattern::Pattern;
use crate::refusal::Refusal;
use crate::tools::{self, Effect, Entry};

/// The policy; a larger file is refused at the start.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// Entries of one list; a longer list is refused at the start.
const PATTERNS_MAX: usize = 1000;
/// Tools of a flow that a question names.
const NAMED_MAX: usize = 10;
/// Keys that leave an app that may not be used. They take an app to the front that is not chosen by the caller.
const LEAVING: [&str; 3] = ["press_back", "press_home", "press_key"];

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
        Ok(Policy {
            tools: file.tools.lists()?,
            apps: file.apps.lists()?,
            devices: file.devices.lists()?,
            confirm: Confirm {
                tools: patterns(file.confirm.tools)?,
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

    /// True where an action without the name of an app needs to know which app it would act on.
    pub fn looks_at_app_of(&self, tool: &str) -> bool {
        !self.apps.is_open() && !LEAVING.contains(&tool)
    }

    pub fn limits_apps(&self) -> bool {
        !self.apps.is_open()
    }

    pub fn may_do_without_asking(&self) -> bool {
        self.confirm.may_do_without
    }

    /// What a person has to agree to before this call, also because of a step of it.
    pub fn question(&self, entry: &Entry, arguments: &JsonObject) -> Option<Question> {
        let steps = arguments.get("steps").and_then(|steps| steps.as_array());
        let inner = steps.into_iter().flatten().filter_map(|step| tools::find(step.get("tool")?.as_str()?));
        // A flow is asked for because of what is in it.
        let is_flow = steps.is_some();
        let all = std::iter::once(entry).filter(|_| !is_flow || self.names(entry)).chain(inner);
        let mut asked: Vec<&'static str> =
            all.filter(|entry| self.asks(entry)).map(|entry| entry.name).collect();
        asked.dedup();
        asked.truncate(NAMED_MAX);
        (!asked.is_empty()).then(|| Question { tools: asked.join(", ") })
    }

    fn names(&self, entry: &Entry) -> bool {
        self.confirm.tools.iter().any(|pattern| pattern.matches(entry.name))
    }

    fn asks(&self, entry: &Entry) -> bool {
        self.names(entry) || (self.confirm.destructive && entry.effect == Effect::Destroys)
    }
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub tools: String,
}

impl Question {
    /// The device's or the caller's words are not in it: they could lead the person astray.
    pub fn words(&self, device: Option<&str>) -> String {
        match device {
            Some(device) => format!("An agent wants to use {} on {device}. Allow it once?", self.tools),
            None => format!("An agent wants to use {}. Allow it once?", self.tools),
        }
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
        assert!(policy.looks_at_app_of("tap") && !policy.looks_at_app_of("press_back"));
        let open = Policy::default();
        assert!(open.check_app("any").is_ok() && !open.looks_at_app_of("tap"));
    }

    #[test]
    fn mistakes_in_a_policy_are_said_and_not_passed_over() {
        for bad in [
            "[tool]\n",
            "[tools]\ndeny=['tapp']",
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
        let flow = r#"{"steps":[{"tool":"tap"},{"tool":"reset_app_data"},{"tool":"x"},{}]}"#;
        assert_eq!(ask("run_flow", flow).as_deref(), Some("reset_app_data"));
        assert_eq!(Policy::default().question(tools::find("reset_app_data").unwrap(), &object("{}")), None);
    }
}
