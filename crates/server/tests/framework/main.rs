//! The product judged on Android's own views: activities of ApiDemos are read, and their controls are used. What the
//! product says is compared with the view objects (docs/framework-phone.md says how).
//!
//! Every run of the tests takes a part of the activities. `cargo xtask judge` takes all of them and writes
//! docs/figures/apidemos.md, or apidemos-35.md and so on for another API level.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]
#![allow(clippy::print_stdout, reason = "figures are there to be read")]

mod actions;
mod apps;
mod controls;
mod faults;
mod gestures;
mod helper;
mod lines;
mod product;
mod reading;
mod report;
mod views;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use mdm_virtual_device::Random;

use controls::{Kind, controls};
use product::Product;
use report::Report;
use views::Screen;

const VARIABLE: &str = "MDM_TEST_FRAMEWORK";
/// Set by `cargo xtask judge`: takes every activity.
const ALL: &str = "MDM_JUDGE_WHOLE";
/// Judges only activities with this in their names, and prints their trees.
const ONLY: &str = "MDM_JUDGE_ONLY";
/// The API level of the phone.
const API: &str = "MDM_JUDGE_API";
const API_DEFAULT: u32 = 34;
const SEED: &str = "MDM_JUDGE_SEED";
const SEED_DEFAULT: u64 = 13;
/// Of the manifest, without the package.
const ACTIVITIES: &str = include_str!("activities.txt");
const WHOLE_ACTIVITIES_MIN: usize = 320;

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

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn api() -> u32 {
    number(API).and_then(|level| u32::try_from(level).ok()).unwrap_or(API_DEFAULT)
}

/// How much of ApiDemos is judged.
#[derive(Debug, Clone, Copy)]
struct Extent {
    activities: usize,
    actions: usize,
    /// Actions more: a control may be gone after a new start.
    spare: usize,
}

const PART: Extent = Extent { activities: 25, actions: 30, spare: 1 };
/// On the level after the usual one.
const SAMPLE: Extent = Extent { activities: 8, actions: 8, spare: 8 };
const WHOLE: Extent = Extent { activities: usize::MAX, actions: 300, spare: 15 };

/// One test for reading and using, because each start of the framework takes seconds.
#[tokio::test(start_paused = true)]
async fn what_is_said_of_apidemos_is_so() {
    let whole = std::env::var_os(ALL).is_some();
    judge("what_is_said_of_apidemos_is_so", api(), if whole { WHOLE } else { PART }).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_said_of_apidemos_on_android_15_is_so() {
    // The other test takes all of it on one level.
    if std::env::var_os(ALL).is_none() {
        judge("what_is_said_of_apidemos_on_android_15_is_so", 35, SAMPLE).await;
    }
}

async fn judge(test: &str, sdk: u32, extent: Extent) {
    let Some(home) = home(test) else { return };
    let product = Product::start(home, sdk);
    let seed = number(SEED).unwrap_or(SEED_DEFAULT);
    let mut random = Random::new(seed, 0);
    let mut report = Report { seed, sdk, ..Report::default() };
    let mut places = BTreeMap::new();
    for activity in chosen(extent.activities, &mut random) {
        read_one(&product, activity, &mut report, &mut places).await;
    }
    let wanted = extent.actions;
    for (activity, kind, number) in choose(&places, wanted + extent.spare, &mut random) {
        if report.outcomes.len() == wanted {
            break;
        }
        match actions::act(&product, activity, kind, number, &mut random).await {
            Some(outcome) => report.add(outcome),
            None => println!("{activity}: {kind:?} {number} is not there any more"),
        }
    }
    println!("{}", report.summary());
    if extent.activities == WHOLE.activities && std::env::var_os(ONLY).is_none() {
        report.write();
        assert!(report.started >= WHOLE_ACTIVITIES_MIN, "{} activities started", report.started);
    }
    let found = places.values().map(Vec::len).sum::<usize>();
    assert_eq!(report.outcomes.len(), wanted.min(found), "actions that could be tried");
    assert_eq!((report.lost(), report.untrue(), report.wrong()), (0, 0, 0));
}

fn chosen(most: usize, random: &mut Random) -> Vec<&'static str> {
    if let Ok(only) = std::env::var(ONLY) {
        return ACTIVITIES.lines().filter(|name| name.contains(&only)).collect();
    }
    let mut all: Vec<&str> = ACTIVITIES.lines().collect();
    while all.len() > most {
        all.remove(random.below(all.len()));
    }
    all
}

/// What can be done where: for each kind the activities, each as often as it has such controls.
type Places = BTreeMap<Kind, Vec<(&'static str, usize)>>;

async fn read_one(product: &Product, activity: &'static str, report: &mut Report, places: &mut Places) {
    if !product.open(activity).await {
        let why = product.call("get_logs", r#"{"level":"error","limit":1}"#).await;
        println!("{activity} does not start: {}", why.text);
        report.not_started.push(activity.to_owned());
        return;
    }
    report.started += 1;
    let before = Screen::of(product.truth());
    let tree = product.tree().await;
    let after = Screen::of(product.truth());
    if tree.is_error {
        report.refused(activity, &tree);
        return;
    }
    let reading = reading::judge(&before, &after, &lines::read(&tree.text));
    let mut numbers: BTreeMap<Kind, usize> = BTreeMap::new();
    for control in controls(&before) {
        let number = numbers.entry(control.kind).or_default();
        places.entry(control.kind).or_default().push((activity, *number));
        *number += 1;
    }
    let is_faulty = !reading.lost.is_empty() || !reading.untrue.is_empty();
    report.read(activity, reading);
    if is_faulty || std::env::var_os(ONLY).is_some() {
        println!("{}", tree.text);
    }
}

/// Chooses controls of every kind by their shares. What a kind has too few of is made up by taps.
fn choose(places: &Places, wanted: usize, random: &mut Random) -> Vec<(&'static str, Kind, usize)> {
    let mut chosen = Vec::new();
    // The first kind comes last, and fills up.
    for (kind, share) in Kind::SHARES.into_iter().rev() {
        let mut left = places.get(&kind).cloned().unwrap_or_default();
        let count = if kind == Kind::SHARES[0].0 { wanted - chosen.len() } else { wanted * share / 100 };
        for _ in 0..count.min(left.len()) {
            let (activity, number) = left.swap_remove(random.below(left.len()));
            chosen.push((activity, kind, number));
        }
    }
    chosen
}
