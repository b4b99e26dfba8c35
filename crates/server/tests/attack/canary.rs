//! F66: a secret that was typed is in nothing that leaves the program.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::server::{Server, call};

/// Typed into a plain field, called a secret.
const CANARY: &str = "kestrel-Canary 7\"q";
/// Typed into a password field, without a word about it.
const PASSWORD: &str = "osprey-canary-81";
/// Cannot be typed through the shell of this phone: what is refused must not be shown either.
const FOREIGN: &str = "gärfågel-canary";
const PIN: &str = "48151623";
const OPEN: &str = "nothing secret here";

/// What must be found nowhere: parts, so that quoting and cutting hide nothing from the test.
const TRACES: [&str; 5] = ["kestrel", "osprey", "gärfågel", "48151623", "rfågel-can"];

/// Arguments for tools that need some; all name the secret where they can.
fn arguments(tool: &str) -> Vec<String> {
    let canary = serde_json::to_string(CANARY).unwrap();
    let selector = format!(r#"{{"selector":{{"text":{canary}}},"timeout_ms":300}}"#);
    // Waits without a time would wait for a minute.
    let plain = if tool.starts_with("wait_") { r#"{"timeout_ms":300}"# } else { "{}" };
    let mut all =
        vec![plain.to_owned(), selector, format!(r#"{{{canary}:1}}"#), format!(r#"{{"text":{canary}}}"#)];
    all.extend(match tool {
        "get_ui_tree" => vec![r#"{"format":"json"}"#.to_owned(), r#"{"format":"raw"}"#.to_owned()],
        "find_element" => vec![format!(r#"{{"selector":{{"text":{canary},"contains":true}}}}"#)],
        "expect_state" => vec![format!(
            r#"{{"selector":{{"resource_id":"email"}},"property":"text_value","expected":{canary},"timeout_ms":300}}"#
        )],
        "wait_for_ui" => vec![format!(r#"{{"text":{canary},"timeout_ms":300}}"#)],
        "expect_screen" | "wait_for_screen_change" => vec![format!(r#"{{"screen":{canary},"timeout_ms":300}}"#)],
        "start_app" | "terminate_app" | "restart_app" | "reset_app_data" => vec![format!(r#"{{"app_id":{canary}}}"#)],
        "get_logs" => vec![format!(r#"{{"contains":{canary}}}"#), r#"{"limit":1000}"#.to_owned()],
        "press_key" => vec![format!(r#"{{"key":{canary}}}"#)],
        "type_text" => vec![
            format!(r#"{{"text":{PIN},"secure":true}}"#),
            format!(r#"{{"text":{canary},"secure":true,"selector":{{"text":{canary}}},"timeout_ms":300}}"#),
        ],
        "run_flow" => vec![format!(
            r#"{{"steps":[{{"tool":"find_element","arguments":{{"selector":{{"text":{canary}}}}}}},
                {{"tool":"type_text","arguments":{{"text":{canary},"secure":true}}}},
                {{"tool":"get_ui_tree","arguments":{{}}}}]}}"#
        )],
        _ => Vec::new(),
    });
    all.iter().map(|json| json.replace('\n', " ")).collect()
}

/// Every line that the program writes while the tools are called.
struct Heard {
    server: Server,
    lines: Vec<String>,
    next: u64,
}

impl Heard {
    /// Asks, and keeps everything up to the answer.
    fn ask(&mut self, line: &str) -> String {
        self.server.say(line);
        let id = Some(Value::from(self.next));
        self.next += 1;
        loop {
            let line = self.server.hear_line();
            self.lines.push(line.clone());
            let message: crate::server::Message = serde_json::from_str(&line).unwrap();
            if message.id == id {
                return line;
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &str) -> String {
        self.ask(&call(self.next, tool, arguments))
    }

    fn method(&mut self, method: &str, params: &str) -> String {
        self.ask(&format!(r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{params}}}"#, self.next))
    }
}

#[test]
fn a_typed_secret_leaves_the_program_nowhere() {
    // F66, S8
    let server = Server::start(&["--log", "trace", "serve", "--virtual", "android"]);
    let mut heard = Heard { server, lines: Vec::new(), next: 1 };
    let started = heard.call("start_app", r#"{"app_id":"com.workbench"}"#);
    assert!(started.contains("com.workbench"), "{started}");
    // That the test would see it: what is no secret is shown.
    heard.call(
        "type_text",
        &format!(r#"{{"text":"{OPEN}","selector":{{"resource_id":"email"}},"clear":true}}"#),
    );
    let tree = heard.call("get_ui_tree", "{}");
    assert!(tree.contains(OPEN), "{tree}");

    let secrets =
        [(FOREIGN, "email", true, false), (PASSWORD, "password", false, true), (CANARY, "email", true, true)];
    for (text, field, secure, is_typed) in secrets {
        let text = serde_json::to_string(text).unwrap();
        let typed = heard.call(
            "type_text",
            &format!(
                r#"{{"text":{text},"selector":{{"resource_id":"{field}"}},"clear":true,"secure":{secure},"settle":true}}"#
            ),
        );
        assert_eq!(typed.contains(r#"\"success\":true"#), is_typed, "{typed}");
    }
    let tree = heard.call("get_ui_tree", "{}");
    assert!(tree.contains("[secret]") && !tree.contains(OPEN), "it stands in a plain field: {tree}");
    heard.method("resources/subscribe", r#"{"uri":"screen://virtual-android/screen"}"#);
    heard.method("resources/read", r#"{"uri":"screen://virtual-android/screen"}"#);
    heard.method(
        "resources/read",
        r#"{"uri":"screen://virtual-android/element?text=kestrel-Canary%207%22q&contains=true"}"#,
    );
    heard.method("resources/read", r#"{"uri":"screen://kestrel-Canary 7\"q/screen"}"#);
    heard.method("tools/call", &format!(r#"{{"name":{}}}"#, serde_json::to_string(CANARY).unwrap()));

    let tools: Value = serde_json::from_str(&heard.method("tools/list", "{}")).unwrap();
    let names: BTreeSet<String> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    for tool in &names {
        for arguments in arguments(tool) {
            // With progress, so that notifications are heard too.
            let params =
                format!(r#"{{"name":"{tool}","arguments":{arguments},"_meta":{{"progressToken":"p"}}}}"#);
            heard.method("tools/call", &params);
        }
    }
    assert!(names.len() >= 36);
    let notifications = heard.lines.iter().filter(|line| line.contains("notifications/")).count();
    let Heard { server, lines, .. } = heard;
    let (rest, log) = server.finish();
    println!(
        "{} lines of stdout ({notifications} notifications), {} of the log",
        lines.len() + rest.len(),
        log.len()
    );
    assert!(notifications > 3 && log.len() > 100, "the test hears both");
    for line in lines.iter().chain(&rest).chain(&log) {
        let lower = line.to_lowercase();
        for trace in TRACES {
            assert!(!lower.contains(trace), "{trace:?} in {line}");
        }
    }
}
