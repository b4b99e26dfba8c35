//! The product in this process, with the framework phone as its only device.

use std::path::PathBuf;

use mdm_android::HelperMode;
use mdm_virtual_device::{FrameworkApp, FrameworkConfig, Phone, PhoneConfig, Timing, Truth};
use mobile_debug_mcp::app::{App, Devices};
use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::tools;
use tokio::time::Duration;
use tokio_util::sync::CancellationToken;

pub const PACKAGE: &str = "io.appium.android.apis";

/// What an agent reads after a call.
pub struct Reply {
    pub is_error: bool,
    pub text: String,
}

impl Reply {
    /// Returns the value of `"key":"value"` or `"key":true` in the first line; empty without one.
    pub fn fact(&self, key: &str) -> &str {
        let first = self.text.lines().next().unwrap_or("");
        let Some((_, after)) = first.split_once(&format!("\"{key}\":")) else { return "" };
        match after.strip_prefix('"') {
            Some(string) => string.split('"').next().unwrap_or(""),
            None => after.split([',', '}']).next().unwrap_or(""),
        }
    }

    /// Returns the lines below the first one.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines().skip(1)
    }
}

pub struct Product {
    pub phone: Phone,
    app: App,
    package: &'static str,
}

/// Starts a phone with one of the apps that were built with the framework. What Java prints is kept beside the tests.
pub fn phone(home: PathBuf, app: &str, sdk: u32) -> Phone {
    let log = Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{app}-{sdk}.log")));
    let app = FrameworkApp::Builtin(app.to_owned());
    let framework = FrameworkConfig { home, app, sdk, log };
    let config = PhoneConfig { timing: Timing::Phone, ..PhoneConfig::default() };
    Phone::with_framework(config, &framework).unwrap()
}

impl Product {
    /// Starts the phone with ApiDemos, which takes seconds.
    pub fn start(home: PathBuf, sdk: u32) -> Product {
        Product::on(&phone(home, "apidemos", sdk), PACKAGE, HelperMode::Never)
    }

    pub fn on(phone: &Phone, package: &'static str, helper: HelperMode) -> Product {
        let devices = Devices { phone: Some(phone.clone()), helper, ..Devices::default() };
        Product { phone: phone.clone(), app: App::new(devices), package }
    }

    pub async fn call(&self, tool: &str, json: &str) -> Reply {
        let arguments: JsonObject = serde_json::from_str(json).unwrap_or_else(|e| panic!("{json}: {e}"));
        let entry = tools::find(tool).unwrap_or_else(|| panic!("no tool {tool}"));
        let answer = entry.call(&self.app, arguments, CancellationToken::new()).await;
        Reply { is_error: answer.is_error, text: answer.text() }
    }

    pub fn truth(&self) -> Truth {
        self.phone.truth()
    }

    /// Ends the app, and opens one of its activities. False if it does not come up, or is gone after two seconds.
    pub async fn open(&self, activity: &str) -> bool {
        self.call("manage_app", &format!(r#"{{"action":"stop","app_id":"{}"}}"#, self.package)).await;
        let package = self.package;
        let open = format!(r#"{{"action":"open","app_id":"{package}","activity":"{activity}"}}"#);
        self.call("manage_app", &open).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        let truth = self.truth();
        let framework = truth.framework.unwrap_or_default();
        assert!(framework.is_known, "the views of {activity} could not be read");
        truth.activity.starts_with(package) && framework.focused_window != 0
    }

    pub async fn tree(&self) -> Reply {
        self.call("get_ui_tree", r#"{"coordinates":true,"ids":true,"max_tokens":100000}"#).await
    }
}
