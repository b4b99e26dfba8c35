//! Faults of dumps and taps on Android's own views: they stand in front of the screen, whoever draws it.

use std::time::Duration;

use mdm_android::adb::Script;
use tokio::time::Instant;

use crate::file::Scenario;
use crate::play::Shell;
use crate::stage::Phones;
use crate::views;
use crate::world::World;

const PAGE: &str = "com.workbench/.ShelfActivity";
const FIRST_FRAMES: Duration = Duration::from_millis(100);
/// A late tap comes before this.
const LATE: Duration = Duration::from_secs(2);

/// Faults, and the clicks that a tap makes at once and in the end.
const TAPS: [(&str, [&str; 2]); 4] =
    [("", ["1", "1"]), ("lost-tap=1", ["0", "0"]), ("late-tap=1", ["0", "1"]), ("double-tap=1", ["1", "2"])];

/// Faults, whether a dump is whole and holds views, and how many seconds it takes at least.
const DUMPS: [(&str, bool, bool, u64); 7] = [
    ("", true, true, 0),
    ("failing-dump=1", false, false, 0),
    ("empty-dump=1", false, false, 0),
    ("truncated-dump=1", false, true, 0),
    ("null-root=1", false, false, 0),
    ("slow-dump=1", true, true, 1),
    ("hanging-dump=1", true, true, 60),
];

/// Panics at the first fault that does something else.
pub fn check(phones: &Phones) {
    for (fault, clicks) in TAPS {
        let found = on_phone(phones, fault, async |world, shell| tapped(world, shell).await);
        assert_eq!(found, clicks.map(str::to_owned), "{fault}");
    }
    for (fault, is_whole, has_views, seconds) in DUMPS {
        let (tree, took) = on_phone(phones, fault, async |_, shell| dumped(shell).await);
        let found = (tree.contains("</hierarchy>") && tree.contains("<node"), took.as_secs() >= seconds);
        assert_eq!(found, (is_whole, true), "{fault}: {took:?} {tree}");
        assert!(has_views || !tree.contains("<node"), "{fault}: {tree}");
    }
    on_phone(phones, "stale-dump=1", async |world, shell| {
        let first = dumped(shell).await.0;
        tapped(world, shell).await;
        assert_eq!(dumped(shell).await.0, first, "stale-dump");
    });
}

fn on_phone<T>(phones: &Phones, fault: &str, act: impl AsyncFnOnce(&World, &Shell) -> T) -> T {
    let faults = if fault.is_empty() { String::new() } else { format!("- faults: {fault}\n") };
    let page = format!("# Faults\n\n- shows: nothing\n- app: {PAGE}\n- timing: instant\n{faults}");
    let scenario = Scenario::parse(&page).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.unwrap().block_on(async {
        let world = phones.world(&scenario).unwrap();
        let shell = Shell::of(&world);
        shell.run(&Script::new("am start -W -n").arg(PAGE)).await.unwrap();
        if !fault.starts_with("null-root") {
            tokio::time::sleep(FIRST_FRAMES).await;
        }
        act(&world, &shell).await
    })
}

/// Taps once; returns how often the view was clicked soon after, and in the end.
async fn tapped(world: &World, shell: &Shell) -> [String; 2] {
    let views = world.phone.truth().framework.unwrap().views;
    let (left, top, right, bottom) = views.iter().find(|view| view.id.ends_with("/like")).unwrap().visible;
    let at = Script::new("input tap");
    let at = at.arg(&i32::midpoint(left, right).to_string()).arg(&i32::midpoint(top, bottom).to_string());
    shell.run(&at).await.unwrap();
    let clicks = || views::value_of(&world.phone.truth().framework.unwrap(), "liked").unwrap();
    tokio::time::sleep(Duration::from_millis(17)).await;
    let soon = clicks();
    tokio::time::sleep(LATE).await;
    [soon, clicks()]
}

async fn dumped(shell: &Shell) -> (String, Duration) {
    let began = Instant::now();
    // What a dump that fails printed matters as little as its exit code.
    let tree = shell.run(&Script::new("uiautomator dump /dev/tty")).await.unwrap_or_default();
    (tree, began.elapsed())
}
