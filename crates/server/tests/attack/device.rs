//! Devices that attack. F62: the memory stays small and every call ends by its time. F71.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::adbd::{Adbd, Attack};
use crate::server::{MEMORY_MAX_MB, Server};

/// Most cases wait for their time to pass.
const AT_ONCE: usize = 4;
/// For a busy machine, beyond the time of the call itself.
const SLACK_S: f64 = 5.0;

struct Case {
    attack: Attack,
    tool: &'static str,
    arguments: &'static str,
    /// The call's own limit.
    limit_s: f64,
}

const fn case(attack: Attack, tool: &'static str, arguments: &'static str, limit_s: f64) -> Case {
    Case { attack, tool, arguments, limit_s }
}

/// As large an answer as anybody may ask for.
const LARGE_JSON: &str = r#"{"format":"json","max_tokens":1000000}"#;

/// The tools whose own limit is short, or that the attack is about.
const CASES: [Case; 20] = [
    case(Attack::None, "get_ui_tree", "{}", 5.0),
    case(Attack::Silent, "get_current_screen", "{}", 10.0),
    case(Attack::EndlessAuth, "get_current_screen", "{}", 10.0),
    case(Attack::HugeLength, "get_current_screen", "{}", 10.0),
    case(Attack::NeverReads, "get_current_screen", "{}", 10.0),
    case(Attack::FloodOpenStream, "get_current_screen", "{}", 10.0),
    case(Attack::FloodUnknownStreams, "get_current_screen", "{}", 10.0),
    case(Attack::FloodOkays, "get_current_screen", "{}", 10.0),
    case(Attack::FloodCloses, "get_current_screen", "{}", 10.0),
    case(Attack::FloodOpens, "get_current_screen", "{}", 10.0),
    case(Attack::OneBytePerSecond, "get_current_screen", "{}", 10.0),
    case(Attack::EndlessOutput, "get_current_screen", "{}", 10.0),
    case(Attack::EndlessErrorOutput, "get_current_screen", "{}", 10.0),
    case(Attack::EndlessLog, "get_logs", "{}", 20.0),
    case(Attack::GiganticTree, "get_ui_tree", "{}", 30.0),
    case(Attack::DeepTree, "get_ui_tree", "{}", 30.0),
    case(Attack::LongLabels, "get_ui_tree", "{}", 30.0),
    case(Attack::LongLabels, "get_ui_tree", LARGE_JSON, 30.0),
    case(Attack::EndlessPicture, "capture_screenshot", "{}", 20.0),
    case(Attack::EmptyPicture, "capture_screenshot", "{}", 20.0),
];

/// What a case came to: a line of the table, and what is wrong with it.
struct Finding {
    line: String,
    problem: Option<String>,
}

fn attacked(case: &Case) -> Finding {
    let Case { attack, tool, arguments, limit_s } = case;
    let adbd = Adbd::start(*attack);
    let mut server = Server::start(&["serve", "--device", &adbd.address]);
    let began = Instant::now();
    let text = server.call(tool, arguments);
    let (took_s, peak_mb) = (began.elapsed().as_secs_f64(), server.peak_mb());
    let code = text.split_once("\"code\":\"").and_then(|(_, rest)| rest.split('"').next()).unwrap_or("ok");
    let line = format!(
        "{:<22} {tool:<23} {limit_s:>4.0} s {took_s:>5.1} s {peak_mb:>3.0} MB  {code}, {} bytes\n",
        format!("{attack:?}"),
        text.len()
    );
    let right_answer = match attack {
        // That the adbd of this test is one.
        Attack::None => text.contains("\"Go\""),
        Attack::EmptyPicture => code == "SCREENSHOT_UNAVAILABLE",
        Attack::LongLabels => code == "ok" && text.contains("long words"),
        _ => true,
    };
    let fits = took_s <= limit_s + SLACK_S && peak_mb <= MEMORY_MAX_MB && right_answer;
    Finding { problem: (!fits).then(|| format!("{line}{text:.300}")), line }
}

#[test]
fn a_hostile_device_costs_little_memory_and_no_more_than_the_calls_time() {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut findings = Vec::new();
        while let Some(case) = CASES.get(next.fetch_add(1, Ordering::SeqCst)) {
            findings.push(attacked(case));
        }
        findings
    };
    let findings: Vec<Finding> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let table: String = findings.iter().map(|finding| finding.line.as_str()).collect();
    println!("\nattack                 tool                    limit    took   peak  answer\n{table}");
    let problems: Vec<&String> = findings.iter().filter_map(|finding| finding.problem.as_ref()).collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn a_wait_on_a_device_that_never_answers_ends_by_its_timeout() {
    // F62, F71
    for attack in [Attack::NeverReads, Attack::OneBytePerSecond] {
        let arguments = r#"{"selector":{"text":"Nobody"},"timeout_ms":2000}"#;
        let finding = attacked(&case(attack, "expect_element_visible", arguments, 2.0));
        println!("{}", finding.line);
        assert_eq!(finding.problem, None);
    }
}

#[test]
fn a_tap_that_never_comes_back_is_answered_by_its_timeout() {
    // F71
    let adbd = Adbd::start(Attack::StuckTap);
    let mut server = Server::start(&["serve", "--device", &adbd.address]);
    let began = Instant::now();
    let text = server.call("tap", r#"{"x":100,"y":50,"timeout_ms":1000}"#);
    let took = began.elapsed();
    assert_eq!(adbd.inputs(), 1);
    assert!(text.contains(r#""dispatched":"unknown""#), "{text}");
    println!("a stuck tap with timeout_ms 1000 was answered after {} ms", took.as_millis());
    assert!(took < Duration::from_millis(2500), "{took:?}: {text}");
}
