//! A phone, an app and a caller.

use std::sync::Arc;

use mdm_android::HelperMode;
use mdm_ios::connect::{Connector, Transport};
use mdm_ios::real::RealDevices;
use mdm_ios::route::Way;
use mdm_ios::source::{IosSource, SourceConfig};
use mdm_virtual_device::{IPhone, Phone, PhoneConfig, Timing};
use mobile_debug_mcp::answer::Answer;
use mobile_debug_mcp::app::{App, Devices, EmbeddedIPhone};
use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::tools;
use tokio_util::sync::CancellationToken;

pub const APP: &str = "com.workbench";

#[derive(Clone)]
pub struct World {
    pub phone: Phone,
    pub app: Arc<App>,
}

impl World {
    pub fn new(timing: Timing) -> World {
        World::with(PhoneConfig { timing, ..PhoneConfig::default() })
    }

    pub fn with(config: PhoneConfig) -> World {
        World::served(config, HelperMode::Never)
    }

    /// A phone on which our helper runs, or may run, or may not.
    pub fn served(config: PhoneConfig, helper: HelperMode) -> World {
        World::around(Phone::new(config), helper)
    }

    /// A phone that is there already, on which our helper runs, or may run, or may not.
    pub fn around(phone: Phone, helper: HelperMode) -> World {
        let devices = Devices { phone: Some(phone.clone()), helper, ..Devices::default() };
        World { phone, app: Arc::new(App::new(devices)) }
    }

    /// An iPhone that is reached in these ways only.
    pub fn reaching(iphone: &IPhone, ways: &[Way]) -> World {
        let phone = iphone.phone().clone();
        let embedded = EmbeddedIPhone { phone: iphone.clone(), ways: ways.to_vec() };
        let devices = Devices { iphone: Some(embedded), ..Devices::default() };
        World { phone, app: Arc::new(App::new(devices)) }
    }

    /// A real iPhone that is found through usbmuxd, in whichever ways it offers.
    pub fn on_cable(iphone: &IPhone) -> World {
        let phone = iphone.phone().clone();
        let iphone = iphone.clone();
        let connector: Connector = Arc::new(move || {
            let opened = iphone.connect_usbmuxd();
            Box::pin(async move { Ok(Box::new(opened?) as Box<dyn Transport>) })
        });
        let usbmuxd = Some((RealDevices::with(connector), "usbmuxd".to_owned()));
        let source = IosSource::new(SourceConfig { usbmuxd, ..SourceConfig::default() });
        World { phone, app: Arc::new(App::with_source(Arc::new(source))) }
    }

    /// Starts the phone with the app in front.
    pub async fn started(timing: Timing) -> World {
        let world = World::new(timing);
        world.ok("start_app", &format!(r#"{{"appId":"{APP}"}}"#)).await;
        world
    }

    pub async fn call(&self, tool: &str, json: &str) -> Answer {
        call(&self.app, tool, json).await
    }

    /// Makes a call that must succeed, and returns its text.
    #[track_caller]
    pub fn ok<'a>(&'a self, tool: &'a str, json: &'a str) -> impl Future<Output = String> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let answer = self.call(tool, json).await;
            assert!(!answer.is_error, "{caller}: {tool} {json} failed: {}", answer.text());
            answer.text()
        }
    }

    /// Makes a call whose success is a fact among others, and returns its text.
    pub async fn told(&self, tool: &str, json: &str) -> String {
        self.call(tool, json).await.text()
    }

    /// Makes a call that must fail, and returns its code.
    #[track_caller]
    pub fn code<'a>(&'a self, tool: &'a str, json: &'a str) -> impl Future<Output = String> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let answer = self.call(tool, json).await;
            assert!(answer.is_error, "{caller}: {tool} {json} succeeded: {}", answer.text());
            code_of(&answer)
        }
    }

    pub async fn tree(&self) -> String {
        self.ok("get_ui_tree", r#"{"coordinates":true,"ids":true}"#).await
    }

    /// Reads trees until one shows `text`.
    pub async fn tree_with(&self, text: &str) -> String {
        for _ in 0..50 {
            let tree = self.tree().await;
            if tree.contains(text) {
                return tree;
            }
        }
        panic!("{text:?} never appeared; the last tree was\n{}", self.tree().await);
    }

    pub async fn tap(&self, label: &str) {
        let tree = self.tree().await;
        let (x, y) = point_of(&tree, label);
        self.ok("tap", &format!(r#"{{"x":{x},"y":{y}}}"#)).await;
    }
}

pub async fn call(app: &App, tool: &str, json: &str) -> Answer {
    let arguments: JsonObject = serde_json::from_str(json).expect("the test's own JSON");
    let entry = tools::find(tool).expect("the tool exists");
    entry.call(app, arguments, CancellationToken::new()).await
}

pub fn code_of(answer: &Answer) -> String {
    fact(&answer.text(), "code")
}

/// Returns the value of `"key":"value"` or `"key":number` in the first line.
#[track_caller]
pub fn fact(text: &str, key: &str) -> String {
    let first = text.lines().next().unwrap_or("");
    let after = first.split_once(&format!("\"{key}\":")).unwrap_or_else(|| panic!("no {key} in {first}")).1;
    match after.strip_prefix('"') {
        Some(string) => string.split('"').next().unwrap_or("").to_owned(),
        None => after.split([',', '}']).next().unwrap_or("").to_owned(),
    }
}

/// Returns the outline's line of the tappable element with this label.
#[track_caller]
pub fn line_of<'a>(tree: &'a str, label: &str) -> &'a str {
    let quoted = format!("\"{label}\"");
    let found = tree.lines().skip(1).find(|line| line.contains(&quoted) && line.contains('@'));
    found.unwrap_or_else(|| panic!("nothing to tap shows {label:?} in\n{tree}"))
}

#[track_caller]
pub fn point_of(tree: &str, label: &str) -> (i32, i32) {
    let point = line_of(tree, label).split_once('@').expect("line_of finds points").1;
    let (x, y) = point.split_whitespace().next().and_then(|p| p.split_once(',')).expect("x,y");
    (x.parse().expect("x"), y.parse().expect("y"))
}
