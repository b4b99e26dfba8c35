//! Compares the outline of each screen of the virtual phone with outlines.md. A difference changes what every agent
//! reads: review it, then update the file with UPDATE_OUTLINES=1.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use mdm_android::adb::direct::Transport;
use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::Link;
use mdm_android::adb::{Adb, Script};
use mdm_android::hierarchy::{Limits, parse};
use mdm_core::outline::{OutlineOptions, text};
use mdm_core::screen::reading::ScreenReading;
use mdm_virtual_device::{Phone, PhoneConfig, Timing};

const OUTPUT_BYTES_MAX: usize = 4 << 20;

const SCREENS: [(&str, &[&str]); 4] = [
    ("com.android.launcher3", &[".Launcher"]),
    (
        "com.workbench",
        &[
            ".LoginActivity",
            ".HomeActivity",
            ".SettingsActivity",
            ".GalleryActivity",
            ".ControlsActivity",
            ".SlidersActivity",
            ".LongListActivity",
            ".FormActivity",
            ".DialogsActivity",
            ".OverlayActivity",
            ".GesturesActivity",
            ".DuplicatesActivity",
            ".WebActivity",
            ".TroubleActivity",
            ".NetworkActivity",
            ".ComposeActivity",
            ".ReactActivity",
            ".FlutterActivity",
            ".GameActivity",
            ".CalendarActivity",
            ".FeedActivity",
            ".ZoomActivity",
        ],
    ),
    ("com.shop", &[".MainActivity", ".ProductActivity", ".CartActivity", ".CheckoutActivity"]),
    ("com.android.settings", &[".Settings"]),
];

fn connected(phone: &Phone) -> Adb {
    let phone = phone.clone();
    let connector = Arc::new(move || {
        let connected = phone.connect();
        Box::pin(async move { Ok(Box::new(connected?) as Box<dyn Transport>) }) as _
    });
    Adb::direct(Link::new(connector, HostKey::at("/nonexistent/adbkey")))
}

async fn run(adb: &Adb, command: &'static str) -> Vec<u8> {
    adb.shell(&Script::new(command), OUTPUT_BYTES_MAX).await.unwrap().stdout.to_vec()
}

#[tokio::test(start_paused = true)]
async fn outlines_of_all_screens_match_the_file() {
    let phone = Phone::new(PhoneConfig { timing: Timing::Instant, ..PhoneConfig::default() });
    let adb = connected(&phone);
    let mut page = "# What an agent reads of the virtual phone's screens\n".to_owned();
    for (package, activities) in SCREENS {
        for activity in activities {
            let start = Script::new("am start -W -n").arg(&format!("{package}/{activity}"));
            adb.shell(&start, OUTPUT_BYTES_MAX).await.unwrap();
            let xml = run(&adb, "uiautomator dump /data/local/tmp/x >/dev/null; cat /data/local/tmp/x").await;
            let snapshot = parse(&xml, &Limits::default());
            assert!(!snapshot.elements.is_empty(), "{package}/{activity}: {}", String::from_utf8_lossy(&xml));
            let outline = text(&ScreenReading::new(snapshot), &OutlineOptions::default());
            let _ = write!(page, "\n## {package}/{activity}\n\n```\n{outline}```\n");
        }
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outlines.md");
    if std::env::var_os("UPDATE_OUTLINES").is_some() {
        std::fs::write(&kept, &page).unwrap();
    }
    let before = std::fs::read_to_string(&kept).unwrap_or_default();
    let first = page.lines().zip(before.lines()).find(|(now, before)| now != before);
    assert!(
        page == before,
        "read the screens, then UPDATE_OUTLINES=1 writes them; first difference: {first:?}"
    );
}
