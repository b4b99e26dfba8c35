//! Walks through all states on the framework phone.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use mdm_virtual_device::{FrameworkApp, FrameworkConfig, Phone, PhoneConfig, Timing};
use tokio::time::{Duration, sleep};

use crate::host::Host;
use crate::levels;
use crate::page::difference;
use crate::table::{Setting, State, states};
use crate::tree::{Node, parse};

const VARIABLE: &str = "MDM_TEST_FRAMEWORK";
/// The level with which the model phone is compared.
const SDK_RECORDED: u32 = 34;
/// Names a level that is compared with the recording.
const OTHER_LEVEL: &str = "MDM_MATRIX_API";
const PAGES_MAX: usize = 200;
const NEXT_PAGE: &str = "input keyevent 131";
const START: &str = "am start -n org.mdm.widgets/.StatesActivity";

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

fn start(home: PathBuf, sdk: u32) -> Phone {
    let app = FrameworkApp::Builtin("widgets".to_owned());
    let framework = FrameworkConfig { home, app, sdk, log: None };
    let config = PhoneConfig { timing: Timing::Instant, ..PhoneConfig::default() };
    Phone::with_framework(config, &framework).unwrap()
}

pub type Nodes = BTreeMap<String, Option<Node>>;

/// One page of states on the framework phone.
struct Page {
    ids: Vec<String>,
    is_last: bool,
    root: Node,
}

async fn page((phone, host): (&Phone, &mut Host)) -> Page {
    let views = phone.truth().framework.unwrap().views;
    let note = views.iter().find(|view| view.id.ends_with(":id/page")).expect("the page says what it shows");
    let mut words = note.text.split(' ');
    let is_last = words.next() == Some("end");
    let ids = words.map(str::to_owned).collect();
    let dump = host.dump().await;
    let root = parse(&dump).unwrap_or_else(|| panic!("no tree of {}: {dump}", note.text));
    Page { ids, is_last, root }
}

/// The nodes of the states in one setting.
async fn set_up(host: &mut Host, commands: &[&str]) {
    for command in commands {
        host.run(command).await;
        sleep(Duration::from_millis(500)).await;
    }
}

async fn walk((phone, host): (&Phone, &mut Host), setting: Setting, table: &[State]) -> Nodes {
    host.run(START).await;
    set_up(host, setting.commands()).await;
    let mut found = BTreeMap::new();
    for number in 0..PAGES_MAX {
        sleep(Duration::from_secs(1)).await;
        let page = page((phone, host)).await;
        let state = table.iter().find(|state| state.id == page.ids[0]).unwrap();
        let mut slots = Vec::new();
        page.root.find_all("org.mdm.widgets:id/slot", &mut slots);
        if slots.is_empty() {
            found.insert(state.id.clone(), Some(page.root.clone()));
        }
        for (id, slot) in page.ids.iter().zip(&slots) {
            found.insert(id.clone(), slot.children.first().cloned().map(|node| without_time(id, node)));
        }
        assert!(
            state.window.is_some() || slots.len() == page.ids.len(),
            "{number} {setting:?}: {:?}",
            page.ids
        );
        if state.window.is_some() {
            host.run("input keyevent 4").await;
            sleep(Duration::from_millis(500)).await;
        }
        if page.is_last {
            break;
        }
        host.run(NEXT_PAGE).await;
    }
    set_up(host, setting.back()).await;
    found
}

/// The hands of the clock tell the hour of the test.
fn without_time(id: &str, mut node: Node) -> Node {
    if id == "analog_clock" {
        node.set("content-desc", "TIME");
    }
    node
}

/// Writes the states of all settings; a state that is as in the first setting is left out.
fn record(table: &[State], settings: &[(Setting, Nodes)]) -> String {
    let mut out = String::from("<states>\n");
    let written = |node: &Option<Node>| {
        let mut out = String::new();
        node.iter().for_each(|node| node.write(1, &mut out));
        out
    };
    for state in table {
        let first = written(&settings[0].1[&state.id]);
        for (setting, nodes) in settings {
            let text = written(&nodes[&state.id]);
            if *setting == Setting::Plain || text != first {
                let _ =
                    write!(out, "<state id={:?} setting={:?}>\n{text}</state>\n", state.id, setting.name());
            }
        }
    }
    out.push_str("</states>\n");
    out
}

/// Reads what [`record`] wrote.
pub fn recorded() -> BTreeMap<(String, &'static str), Option<Node>> {
    let text = std::fs::read_to_string(file()).unwrap_or_default();
    let parts = text.split("<state id=\"").skip(1).map(|part| {
        let (head, body) = part.split_once(">\n").expect("a head");
        let (id, setting) = head.split_once("\" setting=").expect("an id and a setting");
        let setting = Setting::ALL.into_iter().find(|known| setting.trim_matches('"') == known.name());
        let body = body.split("</state>").next().unwrap_or_default();
        ((id.to_owned(), setting.expect("a setting").name()), parse(body))
    });
    parts.collect()
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/matrix/recorded.xml")
}

/// One test, because each start of the framework takes seconds.
#[tokio::test(start_paused = true)]
async fn the_framework_shows_what_is_recorded() {
    let Some(home) = home("the_framework_shows_what_is_recorded") else { return };
    let table = states();
    let settings = all_settings(home, SDK_RECORDED, &table).await;
    if let Some(problem) = difference(&file(), &record(&table, &settings), "UPDATE_MATRIX") {
        panic!("{problem}");
    }
}

/// Compares another API level with what is recorded, when one is named: it takes as long as the recording.
#[tokio::test(start_paused = true)]
async fn another_level_differs_as_is_listed() {
    let Some(sdk) = std::env::var(OTHER_LEVEL).ok().and_then(|level| level.parse().ok()) else { return };
    let Some(home) = home("another_level_differs_as_is_listed") else { return };
    let table = states();
    let page = levels::page(sdk, &table, &recorded(), &all_settings(home, sdk, &table).await);
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/figures/matrix-{sdk}.md"));
    if let Some(problem) = difference(&path, &page, "UPDATE_FIGURES") {
        panic!("{problem}");
    }
}

async fn all_settings(home: PathBuf, sdk: u32, table: &[State]) -> Vec<(Setting, Nodes)> {
    let phone = start(home, sdk);
    let mut host = Host::connect(&phone).await;
    let mut settings = Vec::new();
    for setting in Setting::ALL {
        let nodes = walk((&phone, &mut host), setting, table).await;
        for state in table {
            assert!(nodes.contains_key(&state.id), "{} was not shown in {setting:?}", state.id);
        }
        settings.push((setting, nodes));
    }
    settings
}
