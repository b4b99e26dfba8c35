//! Replays the adb calls of the program's predecessor: its parsers must accept this phone's answers.
//!
//! The recordings are outside of the project; without them the test is skipped.

use std::collections::BTreeSet;
use std::path::PathBuf;

use mdm_virtual_device::PhoneConfig;

use crate::host::{Host, Output, phone_and_host};
use crate::recorded::report_missing;

/// The words of every recorded adb call, without its device. A full JSON reader is not needed to find them.
fn recorded() -> Option<BTreeSet<Vec<String>>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/spec/transcripts");
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(folder).ok()? {
        let text = std::fs::read_to_string(entry.expect("a directory entry").path()).unwrap_or_default();
        let Some(rest) = text.split("\"adb_argv\":").nth(1) else { continue };
        for mut words in lists(rest) {
            if words.first().is_some_and(|word| word == "-s") {
                words.drain(..words.len().min(2));
            }
            all.insert(words);
        }
    }
    Some(all)
}

/// The inner lists of a list of lists of strings.
fn lists(json: &str) -> Vec<Vec<String>> {
    let (mut all, mut current, mut depth) = (Vec::new(), Vec::new(), 0);
    let mut chars = json.chars();
    while let Some(c) = chars.next() {
        match c {
            '[' => depth += 1,
            ']' => {
                depth -= 1;
                if depth == 1 {
                    all.push(std::mem::take(&mut current));
                } else if depth <= 0 {
                    break;
                }
            }
            '"' => {
                let mut word = String::new();
                while let Some(c) = chars.next().filter(|c| *c != '"') {
                    word.extend(if c == '\\' { chars.next() } else { Some(c) });
                }
                current.push(word);
            }
            _ => {}
        }
    }
    all
}

/// First the line of the resumed activity, then the record in it.
fn names_an_activity(out: &str) -> bool {
    let begins =
        |mark: &str| out.lines().map(str::trim).find(|line| line.starts_with(mark)).map(str::to_owned);
    let line = begins("mResumedActivity:").or_else(|| begins("ResumedActivity:"));
    let record = line.as_deref().and_then(|line| line.split_once("ActivityRecord{")).map(|(_, rest)| rest);
    record.is_some_and(|rest| {
        rest.split_whitespace()
            .any(|word| word.split_once('/').is_some_and(|(p, a)| !p.is_empty() && !a.is_empty()))
    })
}

/// `MM-DD hh:mm:ss.mmm pid tid L Tag: message`, on every line that is no header.
fn are_threadtime_lines(out: &str) -> bool {
    let is_entry = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().take(5).collect();
        matches!(words.as_slice(), [date, time, pid, tid, level]
            if date.len() == 5 && time.len() == 12 && pid.parse::<u32>().is_ok() && tid.parse::<u32>().is_ok()
                && "VDIWEF".contains(level))
            && line.contains(": ")
    };
    out.lines().filter(|line| !line.starts_with("--------- ")).all(is_entry)
}

fn is_size(out: &str) -> bool {
    let sizes = out.trim().strip_prefix("Physical size: ").and_then(|size| size.split_once('x'));
    sizes.is_some_and(|(w, h)| {
        w.parse::<u32>().is_ok() && h.lines().next().is_some_and(|h| h.parse::<u32>().is_ok())
    })
}

/// Checks an answer by the rules of the predecessor's parsers. A missing app must be refused.
fn accepts(words: &[&str], output: &Output) -> bool {
    let (out, ok) = (output.out.trim(), output.code == Some(0));
    let missing = words.contains(&"com.missing");
    match words {
        ["getprop", _] => ok && !out.contains('\n'),
        ["wm", "size"] => ok && is_size(out),
        ["uiautomator", "dump", path] => ok && out == format!("UI hierchary dumped to: {path}"),
        ["cat", _] => ok && out.starts_with("<?xml") && out.ends_with("</hierarchy>"),
        ["dumpsys", "activity", "activities"] => ok && names_an_activity(&output.out),
        ["pidof", _] if missing => !ok && out.is_empty(),
        ["pidof", _] => ok && out.lines().next().is_some_and(|pid| pid.parse::<u32>().is_ok()),
        ["pm", "path", _] if missing => !out.contains("package:"),
        ["pm", "path", _] => ok && out.starts_with("package:/"),
        ["pm", "clear", _] if missing => out != "Success",
        ["pm", "clear", _] => out == "Success",
        ["pm", "install", ..] => ok && out.contains("Success"),
        ["monkey", ..] if missing => !ok,
        ["monkey", ..] => ok && out.contains("Events injected: 1"),
        ["logcat", ..] => ok && are_threadtime_lines(&output.out),
        ["input", "text", text] if text.contains(['&', ';', '$']) => true,
        // An injection that the predecessor let through: what the shell makes of it, no parser sees.
        ["am", "force-stop", name] if name.contains(';') => true,
        ["input" | "rm" | "am", ..] => ok,
        _ => false,
    }
}

async fn answer(host: &mut Host, words: &[&str]) -> Output {
    match words {
        // A stream would never end.
        ["logcat", rest @ ..] if !rest.contains(&"-d") => {
            host.shell(&format!("logcat -d {}", rest.join(" "))).await
        }
        words => host.shell(&words.join(" ")).await,
    }
}

#[tokio::test(start_paused = true)]
#[expect(clippy::print_stderr, reason = "the figures of a comparison")]
async fn the_predecessors_parsers_accept_the_answers() {
    let Some(recorded) = recorded() else {
        report_missing("recordings of the predecessor");
        return;
    };
    for (version, sdk) in [("12", 31), ("16", 36)] {
        let config = PhoneConfig { android_version: version.to_owned(), sdk, ..PhoneConfig::default() };
        let (_phone, mut host) = phone_and_host(config).await;
        host.run("am start -W -n com.workbench/.LoginActivity").await;
        host.run("uiautomator dump /sdcard/ui.xml").await;
        let (mut tried, mut refused) = (0, Vec::new());
        for call in &recorded {
            let words: Vec<&str> = call.iter().map(String::as_str).collect();
            let words = match words.as_slice() {
                ["shell", rest @ ..] => rest,
                ["logcat", ..] => words.as_slice(),
                _ => continue,
            };
            // The recordings speak of an app that this phone knows by another name, and of its pid.
            let pid = host.run("pidof com.workbench").await;
            let words: Vec<String> = words
                .iter()
                .map(|word| word.replace("com.example.app", "com.workbench").replace("4321", pid.trim()))
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if words.contains(&"/data/local/tmp/app.apk") {
                host.run("printf 'PK..package=com.made.up ' > /data/local/tmp/app.apk").await;
            }
            tried += 1;
            let output = answer(&mut host, &words).await;
            if !accepts(&words, &output) {
                refused.push(format!("{words:?}: {output:?}"));
            }
            host.run("pidof com.workbench || am start -n com.workbench/.LoginActivity").await;
        }
        eprintln!(
            "Android {version}: {} of {tried} recorded device commands accepted",
            tried - refused.len()
        );
        assert!(tried > 40, "only {tried} commands were found in the recordings");
        assert_eq!(refused, Vec::<String>::new());
    }
}
