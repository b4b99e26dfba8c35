//! Apps from files: the example from end to end, and files that are wrong.

use std::sync::Arc;
use std::time::Duration;

use mdm_virtual_device::{AppFile, Phone, PhoneConfig, Random};
use proptest::prelude::*;
use serde_json::Value;

use crate::host::{Host, centre, node, phone_and_host};

/// Changed apps that are opened and touched.
const APPS_DRIVEN: usize = 60;
const EXAMPLE: &str = include_str!("../../../../examples/apps/trail-log.json");

fn example() -> Arc<AppFile> {
    AppFile::parse(EXAMPLE).unwrap_or_else(|error| panic!("{error}"))
}

async fn wait(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

async fn opened() -> (Phone, Host) {
    let config = PhoneConfig { apps: vec![example()], ..PhoneConfig::default() };
    let (phone, mut host) = phone_and_host(config).await;
    host.tap("content-desc=\"Trail Log\"").await;
    (phone, host)
}

fn id(name: &str) -> String {
    format!("resource-id=\"org.example.traillog:id/{name}\"")
}

async fn fill(host: &mut Host, field: &str, text: &str) {
    host.tap(&id(field)).await;
    host.run(&format!("input text '{text}'")).await;
    host.run("input keyevent BACK").await;
}

async fn sign_in(host: &mut Host, password: &str) {
    fill(host, "email", "ada@example.com").await;
    fill(host, "password", password).await;
    if host.dump().await.contains("enabled=\"false\"") {
        host.tap(&id("agree")).await;
    }
    host.tap(&id("sign_in")).await;
}

async fn signed_in() -> (Phone, Host) {
    let (phone, mut host) = opened().await;
    sign_in(&mut host, "correct horse").await;
    wait(800).await;
    (phone, host)
}

#[tokio::test(start_paused = true)]
async fn fields_are_validated_and_signing_in_takes_its_time() {
    let (phone, mut host) = opened().await;
    assert_eq!(phone.truth().activity, "org.example.traillog/.SignInActivity");
    let button = host.dump().await;
    assert!(node(&button, &id("sign_in")).unwrap().contains("enabled=\"false\""), "rules are not read");
    fill(&mut host, "email", "ada").await;
    host.tap(&id("agree")).await;
    host.tap(&id("sign_in")).await;
    let tree = host.dump().await;
    assert!(node(&tree, &id("email_error")).unwrap().contains("text=\"Enter an email address\""), "{tree}");
    assert!(node(&tree, &id("password_error")).unwrap().contains("text=\"Required\""));
    fill(&mut host, "email", "@example.com").await;
    fill(&mut host, "password", "wrong horse").await;
    host.tap(&id("sign_in")).await;
    let busy = host.dump().await;
    assert!(busy.contains(&id("progress")) && !busy.contains("_error\""), "{busy}");
    wait(800).await;
    let failed = host.dump().await;
    assert!(failed.contains("text=\"Wrong email or password\"") && !failed.contains(&id("progress")));
    let log = host.run("logcat -d -s AuthRepo:E SignIn:V").await;
    assert!(log.contains("401 for ada@example.com") && log.contains("form has mistakes"), "{log}");
    let truth = phone.truth();
    assert_eq!(truth.fields["org.example.traillog.password"], "wrong horse");
    assert!(truth.switches["org.example.traillog.failed"]);
}

#[tokio::test(start_paused = true)]
async fn rows_are_added_checked_and_deleted() {
    let (phone, mut host) = signed_in().await;
    assert_eq!(phone.truth().activity, "org.example.traillog/.TripsActivity");
    host.tap(&id("new_trip")).await;
    host.tap(&id("save")).await;
    assert!(host.dump().await.contains("text=\"Required\""), "nothing is saved without a name");
    fill(&mut host, "name", "Night%swalk").await;
    fill(&mut host, "length", "09").await;
    host.tap(&id("difficulty")).await;
    host.tap("text=\"Hard\"").await;
    let [left, top, right, bottom] = crate::host::bounds(&host.dump().await, &id("rating"));
    host.run(&format!("input tap {} {}", right - (bottom - top) / 3, (top + bottom) / 2)).await;
    assert_eq!(phone.truth().sliders["org.example.traillog.rating"], 5.0, "{left}");
    host.tap(&id("save")).await;
    let list = host.dump().await;
    assert!(list.contains("text=\"Night walk\"") && list.contains("text=\"09 km, Hard\""), "{list}");
    assert_eq!(phone.truth().sliders["org.example.traillog.trips.rows"], 4.0);
    assert_eq!(list.matches(&id("trip_title")).count(), 4, "rows share their ids");
    let done = "content-desc=\"Ridge walk walked\"";
    assert!(node(&list, done).unwrap().contains("checked=\"false\""));
    host.tap(done).await;
    let list = host.dump().await;
    assert!(node(&list, done).unwrap().contains("checked=\"true\""));
    assert!(node(&list, "Old railway walked").unwrap().contains("checked=\"false\""), "only this row");
    let (x, y) = centre(&list, "text=\"Lake loop\"");
    host.run(&format!("input swipe {x} {y} {x} {y} 700")).await;
    assert!(host.dump().await.contains("text=\"Delete Lake loop?\""));
    host.tap("text=\"Delete\"").await;
    let list = host.dump().await;
    assert!(!list.contains("Lake loop") && list.contains("Ridge walk"), "{list}");
    host.run("input keyevent HOME; input swipe 540 5 540 900").await;
    assert!(host.dump().await.contains("Night walk was added"));
}

#[tokio::test(start_paused = true)]
async fn what_is_saved_outlives_the_process_and_nothing_outlives_clearing() {
    let (phone, mut host) = signed_in().await;
    host.tap("text=\"Settings\"").await;
    host.tap(&id("units_mi")).await;
    host.tap(&id("offline_maps")).await;
    host.run("am force-stop org.example.traillog").await;
    let truth = phone.truth();
    assert_eq!(truth.fields["org.example.traillog.units"], "mi");
    assert!(truth.switches["org.example.traillog.offline_maps"]);
    assert_eq!(truth.fields["org.example.traillog.tab"], "all", "not saved");
    host.run("pm clear org.example.traillog").await;
    assert_eq!(phone.truth().fields["org.example.traillog.units"], "km");
    assert!(host.run("pm list packages -3").await.contains("package:org.example.traillog"));
    assert!(host.run("monkey -p org.example.traillog 1").await.contains("Events injected: 1"));
    assert_eq!(phone.truth().activity, "org.example.traillog/.SignInActivity");
}

#[tokio::test(start_paused = true)]
async fn crashes_freezes_permissions_and_secret_screens() {
    let (phone, mut host) = signed_in().await;
    host.tap("text=\"Ridge walk\"").await;
    let trip = host.dump().await;
    assert!(
        trip.contains("androidx.compose.ui.platform.ComposeView") && trip.contains("text=\"Ridge walk\"")
    );
    let pixels = host.service("exec:screencap").await;
    let header = pixels.len() - 1080 * 2400 * 4;
    let middle = header + (1200 * 1080 + 540) * 4;
    assert_eq!(pixels[middle..middle + 3], [0, 0, 0], "a secure screen is black");
    host.tap("text=\"Add a photo\"").await;
    host.tap("text=\"While using the app\"").await;
    assert_eq!(phone.truth().toasts.last().unwrap().text, "Say cheese");
    host.run("input keyevent BACK").await;
    host.tap("text=\"Settings\"").await;
    let (x, y) = centre(&host.dump().await, "text=\"All\"");
    host.tap(&id("rebuild")).await;
    host.run(&format!("input tap {x} {y}")).await;
    wait(6000).await;
    assert!(host.dump().await.contains("Trail Log isn't responding"));
    host.tap("text=\"Wait\"").await;
    wait(15_000).await;
    assert_eq!(phone.truth().fields["org.example.traillog.tab"], "all", "the tap was only late");
    host.tap("text=\"Settings\"").await;
    host.tap(&id("report")).await;
    let crash = host.run("logcat -b crash -d").await;
    assert!(crash.contains("java.lang.IllegalStateException: no report for ada@example.com"), "{crash}");
    assert!(crash.contains("Process: org.example.traillog"));
    assert!(phone.truth().activity.starts_with("com.android.launcher3"));
}

/// The example with one text replaced.
fn changed(from: &str, to: &str) -> String {
    assert!(EXAMPLE.contains(from), "{from}");
    EXAMPLE.replacen(from, to, 1)
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table: each wrong file with its place and problem")]
fn wrong_files_are_refused_with_the_place() {
    for (text, place, problem) in [
        ("{".to_owned(), "line 1, column 1", "EOF while parsing"),
        (changed("\"label\"", "\"lable\""), "line 3, column 9", "unknown field `lable`"),
        (changed("\"type\": \"image\"", "\"type\": \"imag\""), "line 30, column", "unknown variant `imag`"),
        (changed("\"org.example.traillog\"", "\"traillog\""), "package", "two or more words"),
        (changed("org.example.traillog", "com.workbench"), "package", "the phone has an app of that name"),
        (changed("\"start\": \"SignIn\"", "\"start\": \"Login\""), "start", "no screen \"Login\""),
        (
            changed("\"value\": \"email\"", "\"value\": \"mail\""),
            "screens.SignIn.content[3].value",
            "no value \"mail\"",
        ),
        (
            changed("\"value\": \"agree\"", "\"value\": \"email\""),
            "screens.SignIn.content[5].value",
            "is a text, not true or false",
        ),
        (
            changed("{\"go\": \"Trip\"}", "{\"go\": \"Tour\"}"),
            "screens.Trips.content[1].on_tap[0]",
            "no screen \"Tour\"",
        ),
        (
            changed("{\"dialog\": \"about\"}", "{\"dialog\": \"abut\"}"),
            "screens.SignIn.content[9].on_tap[0]",
            "no dialog",
        ),
        (
            changed("\"rows\": \"trips\"", "\"rows\": \"tours\""),
            "screens.Trips.content[1].rows",
            "no list \"tours\"",
        ),
        (
            changed("\"{summary}\"", "\"{sumary}\""),
            "screens.Trips.content[1].children[0].children[1].children[1].text",
            "no value or column \"sumary\"",
        ),
        (
            changed("\"ms\": 800", "\"ms\": 0"),
            "screens.SignIn.content[6].on_tap[4]",
            "from 1 to 600000 milliseconds",
        ),
        (
            changed("\"height\": 32", "\"height\": -1"),
            "screens.SignIn.content[0].height",
            "from 0 to 10000 dp",
        ),
        (changed("\"max\": 5", "\"max\": 1"), "screens.NewTrip.content[4]", "\"min\" must be less"),
        (
            changed("\"fields\": [\"email\"", "\"fields\": [\"units\""),
            "screens.SignIn.content[6].on_tap[0]",
            "no field with the value",
        ),
        (changed("[\"signed_in\",", "[\"signed\","), "saved", "no value or list \"signed\""),
        (
            changed(
                "\"answers\": [{\"text\": \"OK\"}]",
                "\"answers\": [{\"text\": \"1\"}, {\"text\": \"2\"}, {\"text\": \"3\"}, {\"text\": \"4\"}]",
            ),
            "dialogs.about.answers",
            "at most 3 answers",
        ),
        (
            changed("\"title\": \"My trips\"", "\"activity\": \".SignInActivity\""),
            "screens.Trips.activity",
            "another screen is",
        ),
        (
            changed("\"priority\": \"W\"", "\"priority\": \"Q\""),
            "screens.SignIn.content[6].on_tap[0].check.else[0]",
            "a priority is one of",
        ),
        ("x".repeat(1024 * 1024 + 1), "", "longer than 1048576 bytes"),
    ] {
        let error = AppFile::parse(&text).expect_err(problem);
        assert!(error.place.starts_with(place), "{place} / {error}");
        assert!(error.problem.contains(problem), "{problem} / {error}");
    }
}

#[test]
fn limits_of_depth_and_number_hold() {
    let nested = |depth: usize| {
        let open = "{\"type\":\"column\",\"children\":[".repeat(depth);
        changed("{\"type\": \"space\", \"height\": 32}", &format!("{open}{}", "]}".repeat(depth)))
    };
    AppFile::parse(&nested(24)).unwrap();
    let error = AppFile::parse(&nested(25)).expect_err("too deep");
    assert!(error.problem.contains("deeper than 24"), "{error}");
    let many = format!("{}{{\"type\": \"space\"}}", "{\"type\": \"space\"},".repeat(5000));
    let error =
        AppFile::parse(&changed("{\"type\": \"space\", \"height\": 32}", &many)).expect_err("too many");
    assert!(error.problem.contains("more than 5000 widgets"), "{error}");
    let missing = AppFile::load(std::path::Path::new("/nowhere/app.json")).expect_err("no file");
    assert!(missing.to_string().starts_with("/nowhere/app.json: "), "{missing}");
}

/// How many values there are in a document, itself among them.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

/// The value with this number.
fn pick(value: &mut Value, number: usize) -> Option<&mut Value> {
    if number == 0 {
        return Some(value);
    }
    let children: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(members) => members.values_mut().collect(),
        _ => return None,
    };
    let mut before = 1;
    for child in children {
        let size = count(child);
        if number < before + size {
            return pick(child, number - before);
        }
        before += size;
    }
    None
}

/// Opens an app, touches it at some points, and dumps it.
fn drive(app: Arc<AppFile>, taps: &[(i32, i32)]) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let package = app.package().to_owned();
        let config = PhoneConfig { apps: vec![app], ..PhoneConfig::default() };
        let (_phone, mut host) = phone_and_host(config).await;
        host.run(&format!("monkey -p {package} 1")).await;
        for (x, y) in taps {
            host.run(&format!("input tap {x} {y}; input text a")).await;
            wait(900).await;
            let tree = host.dump().await;
            assert!(tree.ends_with("</hierarchy>"), "{tree}");
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A changed text is read or refused, and never breaks the phone.
    #[test]
    fn no_change_of_the_text_panics(
        cuts in proptest::collection::vec((0.0f64..1.0, 0usize..12, "[\\[\\]{}\",:a-z0-9é.-]{0,6}"), 1..4),
        taps in proptest::collection::vec((0i32..1080, 0i32..2400), 1..4),
    ) {
        let mut chars: Vec<char> = EXAMPLE.chars().collect();
        for (place, length, new) in &cuts {
            let at = (place * chars.len() as f64) as usize;
            let end = (at + length).min(chars.len());
            chars.splice(at..end, new.chars());
        }
        if let Ok(app) = AppFile::parse(&chars.into_iter().collect::<String>()) {
            drive(app, &taps);
        }
    }
}

/// Replaces parts of the file by others until enough of the results could be opened. They are the same in every run.
#[test]
fn no_change_of_the_parts_panics() {
    let mut random = Random::new(1, 0);
    let mut driven = 0;
    for tries in 0.. {
        assert!(tries < 20_000, "only {driven} could be opened");
        let mut document: Value = serde_json::from_str(EXAMPLE).unwrap();
        for _ in 0..=random.below(2) {
            let size = count(&document);
            let (from, to) = (random.below(size), random.below(size));
            let new = match random.below(6) {
                0 => Value::from(1e300),
                1 => Value::from("\u{0}<&\"é\n{{"),
                2 => Value::Array(Vec::new()),
                _ => pick(&mut document, from).unwrap().clone(),
            };
            *pick(&mut document, to).unwrap() = new;
        }
        if let Ok(app) = AppFile::parse(&document.to_string()) {
            let mut tap = || (random.below(1080) as i32, random.below(2400) as i32);
            drive(app, &[tap(), tap(), tap()]);
            driven += 1;
            if driven == APPS_DRIVEN {
                return;
            }
        }
    }
}
