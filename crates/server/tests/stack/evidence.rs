//! What a device tells besides its screen: crashes that nobody asked for, logs that are followed, lines of an action.

use mdm_virtual_device::{AppFile, PhoneConfig, Timing};
use tokio::time::Duration;

use crate::gestures::on_screen;
use crate::world::{World, fact};

/// An app that writes a line with every tap, crashes late, and restarts under another process.
const CHATTY: &str = r#"{"package": "org.example.chatty", "label": "Chatty", "start": "Home",
    "screens": {"Home": {"content": [
        {"type": "button", "text": "Say", "on_tap": [{"log": {"tag": "Chatty", "message": "said it"}}, {"log": {"tag": "Choreographer", "message": "Skipped 31 frames!"}}]},
        {"type": "button", "text": "Fail", "on_tap": [{"log": {"priority": "E", "tag": "AuthRepo", "message": "401 invalid credentials"}}]},
        {"type": "button", "text": "Later", "on_tap": [{"after": {"ms": 900, "do": [{"crash": "java.io.IOException: cart is gone"}]}}]},
        {"type": "text", "text": "Ready"}]}}}"#;
const CHATTY_ID: &str = "org.example.chatty";

async fn chatty() -> World {
    let apps = vec![AppFile::parse(CHATTY).expect("an app")];
    let world = World::with(PhoneConfig { apps, timing: Timing::Brisk, ..PhoneConfig::default() });
    world.ok("start_app", &format!(r#"{{"app_id":"{CHATTY_ID}","settle":true}}"#)).await;
    world
}

async fn tap(world: &World, text: &str, settle: bool) -> String {
    world.ok("tap_element", &format!(r#"{{"selector":{{"text":"{text}"}},"settle":{settle}}}"#)).await
}

#[tokio::test(start_paused = true)]
async fn a_crash_between_two_calls_is_told_once_by_the_next_answer_of_any_tool() {
    // F44
    let world = chatty().await;
    let sent = tap(&world, "Later", false).await;
    assert!(!sent.contains("crashed"), "{sent}");
    tokio::time::sleep(Duration::from_secs(3)).await;
    let next = world.ok("list_devices", "{}").await;
    println!("{next}");
    let told = next.lines().nth(1).expect("a line below the facts");
    let start = "! org.example.chatty crashed: java.io.IOException: \"cart is gone\" at ";
    assert!(told.starts_with(start), "{next}");
    let after =
        format!(" s after {} on virtual-android; get_crash c1 has the rest", fact(&sent, "action_id"));
    assert!(told.ends_with(&after), "{next}");
    let again = world.ok("list_devices", "{}").await;
    assert!(!again.contains("crashed"), "once is enough: {again}");
}

#[tokio::test(start_paused = true)]
async fn a_crash_is_read_again_by_its_id_and_listed() {
    // F44, OB-01
    let world = chatty().await;
    tap(&world, "Later", false).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let crash = world.ok("get_crash", "{}").await;
    println!("{crash}");
    assert_eq!((fact(&crash, "id"), fact(&crash, "exception")), ("c1".into(), "java.io.IOException".into()));
    assert!(
        crash.contains("java.io.IOException: \"cart is gone\"\n> ") && crash.contains("after_action"),
        "{crash}"
    );
    assert_eq!(crash.matches("crashed:").count(), 0, "who asks for it is not told of it besides: {crash}");
    assert_eq!(world.ok("get_crash", r#"{"id":"c1"}"#).await, crash);
    let list = world.ok("list_crashes", "{}").await;
    assert!(fact(&list, "count") == "1" && list.contains("c1 org.example.chatty crashed"), "{list}");
    for wrong in [r#"{"id":"c9"}"#, r#"{"id":"nine"}"#, r#"{"app_id":"com.workbench"}"#] {
        assert_eq!(world.code("get_crash", wrong).await, "INVALID_ARGUMENT", "{wrong}");
    }
}

#[tokio::test(start_paused = true)]
async fn renamed_frames_get_their_names_from_the_builds_mapping() {
    // SE-02
    let world = chatty().await;
    tap(&world, "Later", false).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let file = std::env::temp_dir().join(format!("mdm-mapping-{}.txt", std::process::id()));
    let mapping = "# compiler: R8\ncom.example.Basket -> org.example.chatty.AppKt:\n    1:1:void empty():42:42 -> onEvent\n";
    std::fs::write(&file, mapping).unwrap();
    let named = world.ok("get_crash", &format!(r#"{{"symbols":{:?}}}"#, file.display().to_string())).await;
    println!("{named}");
    assert!(named.contains("> com.example.Basket.empty(") && named.contains(":42)"), "{named}");
    std::fs::write(&file, "milk\n").unwrap();
    let wrong = format!(r#"{{"symbols":{:?}}}"#, file.display().to_string());
    for wrong in [wrong.as_str(), r#"{"symbols":"/etc/passwd"}"#, r#"{"symbols":"nowhere.txt"}"#] {
        assert_eq!(world.code("get_crash", wrong).await, "INVALID_ARGUMENT", "{wrong}");
    }
    std::fs::remove_file(file).unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_app_that_does_not_respond_is_told() {
    // F44: the second touch waits for the first one's work, and after five seconds the system says so.
    let world =
        on_screen("TroubleActivity", PhoneConfig { timing: Timing::Brisk, ..PhoneConfig::default() }).await;
    world.told("tap_element", r#"{"selector":{"text":"Freeze for 30 s"},"settle":false}"#).await;
    world.told("tap", r#"{"x":500,"y":900}"#).await;
    tokio::time::sleep(Duration::from_secs(8)).await;
    let next = world.told("get_current_screen", "{}").await;
    println!("{next}");
    assert!(next.contains("! com.workbench does not respond: \"Input dispatching timed out"), "{next}");
}

#[tokio::test(start_paused = true)]
async fn the_lines_of_an_action_are_those_of_its_time_the_telling_ones() {
    // TR-02, DF-01
    let world = chatty().await;
    tap(&world, "Say", true).await;
    let failed = fact(&tap(&world, "Fail", true).await, "action_id");
    tap(&world, "Say", true).await;
    let log = world.ok("get_logs", &format!(r#"{{"action_id":"{failed}"}}"#)).await;
    println!("{log}");
    assert!(log.contains("E AuthRepo(") && log.contains("401 invalid credentials"), "{log}");
    assert!(!log.contains("said it"), "those are of other actions: {log}");
    let shown = log.lines().find(|line| line.contains("AuthRepo")).expect("the line");
    let ms: u64 = shown.strip_prefix('+').and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap();
    assert!(ms < 1000, "W18: by the device's clock, from the moment it was sent: {shown}");
    assert_eq!(world.code("get_logs", r#"{"action_id":"tap_1_1"}"#).await, "INVALID_ARGUMENT");
}

#[tokio::test(start_paused = true)]
async fn an_expectation_that_is_not_met_is_told_with_what_the_app_logged() {
    // TR-02, DF-01
    let world = chatty().await;
    tap(&world, "Fail", true).await;
    let json = r#"{"selector":{"text":"Fail"},"expect":{"text":"Welcome"}}"#;
    let text = world.told("tap_element", json).await;
    println!("{text}");
    let line = text.lines().find(|line| line.contains("AuthRepo")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.starts_with("log: +") && line.contains("401 invalid credentials"), "{line}");
    assert_eq!(text.matches("AuthRepo").count(), 1, "the line of the tap before is none of it: {text}");
    let met = world.ok("tap_element", r#"{"selector":{"text":"Fail"},"expect":{"text":"Ready"}}"#).await;
    assert!(!met.contains("AuthRepo"), "nothing needs to be explained: {met}");
}

#[tokio::test(start_paused = true)]
async fn what_the_platform_always_says_is_hidden_and_counted() {
    // DF-01
    let world = chatty().await;
    tap(&world, "Say", true).await;
    let quiet = world.ok("get_logs", &format!(r#"{{"app_id":"{CHATTY_ID}"}}"#)).await;
    let all = world.ok("get_logs", &format!(r#"{{"app_id":"{CHATTY_ID}","noise":true}}"#)).await;
    println!("{quiet}\n{all}");
    let number = |text: &str, key: &str| fact(text, key).parse::<usize>().unwrap_or_default();
    assert!(quiet.contains("said it") && all.contains("said it"));
    assert_eq!(
        number(&quiet, "count") + number(&quiet, "hidden"),
        number(&all, "count"),
        "every line is accounted for"
    );
}

#[tokio::test(start_paused = true)]
async fn a_followed_log_goes_on_from_cursor_to_cursor_and_from_process_to_process() {
    // OB-01, W15
    let world = chatty().await;
    let begun = world.ok("read_log_stream", &format!(r#"{{"app_id":"{CHATTY_ID}"}}"#)).await;
    println!("{begun}");
    assert!(begun.contains(r#""stream_started":true"#), "{begun}");
    tap(&world, "Say", true).await;
    let read = |cursor: String| {
        let world = &world;
        async move { world.ok("read_log_stream", &format!(r#"{{"after":{cursor}}}"#)).await }
    };
    let first = read(fact(&begun, "cursor")).await;
    println!("{first}");
    assert_eq!(first.matches("said it").count(), 1, "{first}");
    world.ok("restart_app", &format!(r#"{{"app_id":"{CHATTY_ID}","settle":true}}"#)).await;
    tap(&world, "Say", true).await;
    let second = read(fact(&first, "cursor")).await;
    println!("{second}");
    assert_eq!(second.matches("said it").count(), 1, "of the new process, and none twice: {second}");
    let ended = world.ok("read_log_stream", r#"{"stop":true}"#).await;
    assert_eq!(fact(&ended, "following"), "false", "{ended}");
}

#[tokio::test(start_paused = true)]
async fn the_predecessors_three_calls_are_answered() {
    // CO-01, W15, S2
    let world = chatty().await;
    let names = [r#""default""#, r#""x/../../escape""#];
    for name in names {
        let json = format!(r#"{{"packageName":"{CHATTY_ID}","level":"info","sessionId":{name}}}"#);
        assert!(world.ok("start_log_stream", &json).await.contains(r#""stream_started":true"#));
        tap(&world, "Say", true).await;
        let read = world.ok("read_log_stream", &format!(r#"{{"sessionId":{name}}}"#)).await;
        assert!(read.contains("said it"), "{read}");
        let stopped = world.ok("stop_log_stream", &format!(r#"{{"sessionId":{name}}}"#)).await;
        assert_eq!(fact(&stopped, "following"), "false");
    }
    for number in 0..4 {
        world.ok("start_log_stream", &format!(r#"{{"sessionId":"s{number}"}}"#)).await;
    }
    assert_eq!(world.code("start_log_stream", r#"{"sessionId":"s4"}"#).await, "INVALID_ARGUMENT", "S10");
}

/// 50,000 lines a second for a minute.
const STORMY: &str = r#"{"package": "org.example.storm", "label": "Storm", "start": "Home",
    "screens": {"Home": {"content": [{"type": "button", "text": "Blow", "on_tap": [
        {"log_storm": {"tag": "Storm", "lines": 500, "every_ms": 10, "times": 6000}}]}]}}}"#;
const STORM_LINES: u64 = 3_000_000;

#[tokio::test(start_paused = true)]
async fn a_storm_of_lines_is_read_whole_or_what_is_missing_is_counted() {
    // OB-01, S10, W35
    for pause_ms in [100, 3000] {
        let apps = vec![AppFile::parse(STORMY).expect("an app")];
        let world = World::with(PhoneConfig { apps, timing: Timing::Brisk, ..PhoneConfig::default() });
        world.ok("start_app", r#"{"app_id":"org.example.storm","settle":true}"#).await;
        let begun = world.ok("read_log_stream", r#"{"app_id":"org.example.storm"}"#).await;
        let mut cursor = fact(&begun, "cursor");
        world.ok("tap_element", r#"{"selector":{"text":"Blow"},"settle":false}"#).await;
        let (mut seen, mut dropped) = (0_u64, 0_u64);
        let mut silent = 0;
        while silent < 3 {
            tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            let before = seen + dropped;
            loop {
                let page =
                    world.ok("read_log_stream", &format!(r#"{{"after":{cursor},"limit":1000}}"#)).await;
                seen += page.matches(" of a storm\"").count() as u64;
                dropped += if page.contains("\"dropped\":") {
                    fact(&page, "dropped").parse::<u64>().unwrap()
                } else {
                    0
                };
                assert!(!page.contains("\"gaps\""), "{page:.300}");
                cursor = fact(&page, "cursor");
                if !page.contains("\"more\":") {
                    break;
                }
            }
            silent = if seen + dropped == before { silent + 1 } else { 0 };
        }
        println!("read every {pause_ms} ms: {seen} lines read, {dropped} dropped and counted");
        assert!(seen + dropped >= STORM_LINES, "every line is accounted for: {seen} + {dropped}");
        assert_eq!(dropped == 0, pause_ms == 100, "read often enough, nothing is lost; {dropped} dropped");
    }
}
