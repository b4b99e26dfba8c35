//! Walks through all states on the framework phone, and asks the product what it sees.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::Link;
use mdm_android::adb::{Adb, Script};
use mdm_virtual_device::{FrameworkApp, FrameworkConfig, Phone, PhoneConfig, Timing, Truth, ViewTruth};
use mobile_debug_mcp::app::{App, Devices, phone_connector};
use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::tools;
use tokio::time::{Duration, sleep};
use tokio_util::sync::CancellationToken;

use crate::judge::{self, Judgement};
use crate::page::difference;
use crate::table::{Setting, State, states};
use crate::views::Screen;

const VARIABLE: &str = "MDM_TEST_FRAMEWORK";
/// Names another API level than that of the page of figures.
const API: &str = "MDM_MATRIX_API";
const API_DEFAULT: u32 = 34;
pub const PAGES_MAX: usize = 200;
const OUTPUT_BYTES_MAX: usize = 1024 * 1024;
const BACK: &str = "input keyevent 4";
pub const NEXT_PAGE: &str = "input keyevent 131";
const START: &str = "am start -n org.mdm.widgets/.StatesActivity";
const TREE: &str = r#"{"coordinates":true,"ids":true,"max_tokens":100000}"#;

/// The folder that `cargo xtask test` names. `None` has been reported as a skip.
pub fn home(test: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE) {
        return Some(path.into());
    }
    let message = format!("skipped: {test}: {VARIABLE} is not set, get it with: cargo xtask framework");
    assert!(!std::env::var("CI").is_ok_and(|value| value == "true"), "{message}");
    // Direct to stderr: the harness hides the output of a passing test.
    std::io::stderr().write_all(format!("{message}\n").as_bytes()).unwrap();
    None
}

fn api() -> u32 {
    std::env::var(API).ok().and_then(|level| level.parse().ok()).unwrap_or(API_DEFAULT)
}

pub struct World {
    pub phone: Phone,
    adb: Adb,
    app: App,
}

impl World {
    pub fn start(home: PathBuf) -> World {
        let app = FrameworkApp::Builtin("widgets".to_owned());
        let framework = FrameworkConfig { home, app, sdk: api(), log: None };
        let config = PhoneConfig { timing: Timing::Instant, ..PhoneConfig::default() };
        let phone = Phone::with_framework(config, &framework).unwrap();
        let link = Link::new(phone_connector(phone.clone()), HostKey::at("/dev/null"));
        let devices = Devices { phone: Some(phone.clone()), ..Devices::default() };
        World { phone, adb: Adb::direct(link), app: App::new(devices) }
    }

    pub async fn run(&self, script: &'static str) {
        self.adb.shell(&Script::new(script), OUTPUT_BYTES_MAX).await.unwrap();
        sleep(Duration::from_millis(500)).await;
    }

    pub async fn start_activity(&self, component: &str) {
        self.adb.shell(&Script::new("am start -n").arg(component), OUTPUT_BYTES_MAX).await.unwrap();
        sleep(Duration::from_millis(1000)).await;
    }

    pub async fn call(&self, tool: &str, json: &str) -> String {
        let arguments: JsonObject = serde_json::from_str(json).unwrap();
        let tool = tools::find(tool).unwrap();
        tool.call(&self.app, arguments, CancellationToken::new()).await.text()
    }

    pub async fn tree(&self) -> String {
        self.call("get_ui_tree", TREE).await
    }
}

/// Returns what the page says of itself: whether it is the last one, and its states.
pub fn note(truth: &Truth) -> String {
    let views = truth.framework.iter().flat_map(|framework| &framework.views);
    let note = views.into_iter().find(|view| view.id.ends_with(":id/page"));
    note.unwrap_or_else(|| panic!("{} shows no page, {:?}", truth.activity, truth.framework)).text.clone()
}

/// Views of windows that have no focus, without those of the page itself.
fn unfocused(truth: &Truth) -> Vec<ViewTruth> {
    let framework = truth.framework.as_ref().unwrap();
    let page = framework.views.iter().find(|view| view.id.ends_with(":id/page")).map(|view| view.window);
    let is_other = |view: &&ViewTruth| view.window != framework.focused_window && Some(view.window) != page;
    framework.views.iter().filter(is_other).cloned().collect()
}

async fn walk(world: &World, setting: Setting, table: &[State]) -> Judgement {
    let mut all = Judgement::default();
    world.run(START).await;
    for command in setting.commands() {
        world.run(command).await;
    }
    for _ in 0..PAGES_MAX {
        sleep(Duration::from_millis(500)).await;
        let before = world.phone.truth();
        let tree = world.tree().await;
        let after = world.phone.truth();
        let note = note(&after);
        let mut words = note.split(' ');
        let is_last = words.next() == Some("end");
        let shown: Vec<&State> = words.filter_map(|id| table.iter().find(|state| state.id == id)).collect();
        if std::env::var_os("MDM_MATRIX_SHOW").is_some() {
            println!("--- {} {note}\n{tree}", setting.name());
        }
        let (unfocused, before, after) = (unfocused(&after), Screen::of(before), Screen::of(after));
        let page = judge::Page {
            setting,
            shown: &shown,
            before: &before,
            after: &after,
            unfocused: &unfocused,
            tree: &tree,
        };
        all.add(judge::judge(&page));
        if shown[0].window.is_some() {
            world.run(BACK).await;
        }
        if is_last {
            break;
        }
        world.run(NEXT_PAGE).await;
    }
    for command in setting.back() {
        world.run(command).await;
    }
    all
}

/// One test, because each start of the framework takes seconds.
#[tokio::test(start_paused = true)]
async fn the_product_says_what_the_views_hold() {
    let Some(home) = home("the_product_says_what_the_views_hold") else { return };
    let table = states();
    let world = World::start(home);
    let mut all = Judgement::default();
    for setting in Setting::ALL {
        all.add(walk(&world, setting, &table).await);
    }
    println!("{} states, {} facts, {} wrong", all.states, all.facts, all.wrong.len());
    let wrong: Vec<String> =
        all.wrong.iter().map(|(states, problem)| format!("{states}: {problem}")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures/matrix-product.md");
    if api() != API_DEFAULT {
        return;
    }
    if let Some(problem) = difference(&file, &page(&all), "UPDATE_FIGURES") {
        panic!("{problem}");
    }
}

fn page(all: &Judgement) -> String {
    let mut out = format!(
        "# What the product says of the framework's widgets\n\n{} states (each widget and state in four settings) on the \
         framework phone through its dump: {} facts of the view objects compared with the lines of `get_ui_tree`, {} \
         not right. [framework-phone.md](../framework-phone.md) says what is compared.\n\n## Not known from a dump\n\n\
         The view has it and no line claims to know it.\n\n| times | what |\n|---|---|\n",
        all.states,
        all.facts,
        all.wrong.len()
    );
    for (name, count) in &all.unknown {
        let _ = writeln!(out, "| {count} | {name} |");
    }
    out
}
