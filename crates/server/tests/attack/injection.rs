//! Hostile words in every argument of every tool (SE-01, S1 to S9), judged by the phone's own log of the commands that its
//! shell ran. The calls are made from the schemas of the tools, so a new tool is attacked by itself.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use mdm_virtual_device::{LOG_ENTRIES_MAX, Phone, PhoneConfig, Timing};
use mobile_debug_mcp::app::{App, Devices};
use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::paths::Roots;
use mobile_debug_mcp::tools::{self, Entry};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A program that nothing but an injection could start.
const CANARY: &str = "mdmcanary";
const APP_ID: &str = "com.workbench";

/// Programs that the driver's own scripts run.
const PROGRAMS: [&str; 32] = [
    "[",
    "am",
    "appops",
    "cat",
    "cmd",
    "date",
    "dumpsys",
    "echo",
    "exit",
    "false",
    "getevent",
    "getprop",
    "grep",
    "head",
    "id",
    "input",
    "logcat",
    "ls",
    "pidof",
    "pkill",
    "pm",
    "printf",
    "ps",
    "rm",
    "screencap",
    "sendevent",
    "settings",
    "sleep",
    "svc",
    "true",
    "uiautomator",
    "wm",
];

/// 60 words that break out of something somewhere: shells, options, paths, queries, terminals, formats.
fn hostile() -> Vec<String> {
    let touch = "touch /data/local/tmp/mdmcanary";
    let fixed = [
        "; mdmcanary",
        "&& mdmcanary",
        "|| mdmcanary",
        "| mdmcanary",
        "& mdmcanary &",
        "\nmdmcanary\n",
        "\r\nmdmcanary",
        "$(mdmcanary)",
        "`mdmcanary`",
        "${IFS}mdmcanary",
        "a;mdmcanary;b",
        "a$(mdmcanary)b",
        "'; mdmcanary; '",
        "\"; mdmcanary; \"",
        "'$(mdmcanary)'",
        "\"$(mdmcanary)\"",
        "\\'; mdmcanary; \\'",
        "a' && mdmcanary #",
        "a\" && mdmcanary #",
        "a`mdmcanary`",
        ") ; mdmcanary ; (",
        "} ; mdmcanary ; {",
        "<(mdmcanary)",
        "> /data/local/tmp/mdmcanary",
        ">> /data/local/tmp/mdmcanary",
        "< /data/local/tmp/mdmcanary",
        "!mdmcanary",
        "!!",
        "* ; mdmcanary",
        "~; mdmcanary",
        "-rf",
        "-rf /",
        "--help",
        "-e mdmcanary",
        "-c mdmcanary",
        "--user 10",
        "-Dx=mdmcanary",
        "--init-script=/tmp/mdmcanary",
        "-S",
        "../../../../etc/passwd",
        "/etc/passwd",
        "..\\..\\mdmcanary",
        "x/../../escape",
        "/data/data/com.workbench/../../../system/bin/mdmcanary",
        "file:///etc/passwd",
        "a\0; mdmcanary",
        "\0",
        "\u{1b}[2J\u{7}mdmcanary",
        "%s%n%x; mdmcanary",
        "com.a.b; mdmcanary",
        "com.a.b$(mdmcanary)",
        "com.workbench/.LoginActivity; mdmcanary",
        "' OR '1'='1'; mdmcanary; --",
        "tag:V *:S; mdmcanary",
        "\u{202e}yranacmdm",
        "ｍｄｍ；mdmcanary",
        "\u{feff}; mdmcanary",
    ];
    let mut all: Vec<String> = fixed.iter().map(|word| (*word).to_owned()).collect();
    all.push(format!("; {touch}"));
    all.push(format!("$({touch})"));
    all.push(format!("{}; mdmcanary", "A".repeat(20_000)));
    assert_eq!(all.len(), 60);
    all
}

/// A plain value for an argument, so that the call gets as far as it can.
fn plain(name: &str) -> Option<Value> {
    Some(match name {
        "app_id" => json!(APP_ID),
        "selector" | "inside" | "from" | "to" => json!({"text": "Email"}),
        "text" | "screen" | "contains" => json!("Email"),
        "key" => json!("volume_up"),
        "expected" | "value" => json!("on"),
        "permission" => json!("android.permission.CAMERA"),
        "link" => json!("https://example.com"),
        "local" => json!("Cargo.toml"),
        "remote" => json!("/sdcard/x"),
        "project_path" | "app_path" => json!("src"),
        "property" => json!("checked"),
        "steps" => json!([{"tool": "list_devices", "arguments": {}}]),
        "device_id" => json!("virtual-android"),
        _ => return None,
    })
}

fn by_type(property: &Value) -> Value {
    if let Some(first) = property["enum"].get(0) {
        return first.clone();
    }
    match property["type"].as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("x"),
    }
}

/// What is sent for one argument: the word itself, and where the argument is an object or a list, the word inside.
fn attacks(name: &str, property: Option<&Value>, word: &str) -> Vec<Value> {
    let kind = property.and_then(|property| property["type"].as_str()).unwrap_or("string");
    match (kind, name) {
        ("object", "extras") => vec![json!({"name": word}), json!({word: "value"})],
        ("object", "expect") => vec![json!({"text": word}), json!({"screen": word})],
        ("object", _) => vec![
            json!({"text": word}),
            json!({"resource_id": word}),
            json!({"regex": word}),
            json!({"element_id": word}),
        ],
        ("array", "steps") => vec![
            json!([{"tool": word, "arguments": {}}]),
            json!([{"tool": "start_app", "arguments": {"app_id": word}}]),
        ],
        ("array", _) => vec![json!([word])],
        ("string", _) => vec![json!(word)],
        _ => Vec::new(),
    }
}

/// Arguments with which the attacked one stands: all that are required, for every choice of the tool's first list of
/// choices, so that every action of a tool with verbs is attacked.
fn surroundings(entry: &Entry) -> Vec<JsonObject> {
    let schema = entry.schema();
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let required: Vec<String> =
        schema.get("required").and_then(|list| serde_json::from_value(list.clone()).ok()).unwrap_or_default();
    let mut base = JsonObject::new();
    for name in &required {
        let value = plain(name).unwrap_or_else(|| by_type(properties.get(name).unwrap_or(&Value::Null)));
        base.insert(name.clone(), value);
    }
    if entry.takes("timeout_ms") {
        base.insert("timeout_ms".to_owned(), json!(50));
    }
    let verbs = required.iter().find_map(|name| Some((name, properties.get(name)?.get("enum")?.as_array()?)));
    let Some((name, choices)) = verbs else { return vec![base] };
    let with = |choice: &Value| {
        let mut base = base.clone();
        base.insert(name.clone(), choice.clone());
        if entry.takes("app_id") {
            base.entry("app_id").or_insert(json!(APP_ID));
        }
        base
    };
    choices.iter().map(with).collect()
}

struct World {
    phone: Phone,
    app: App,
    calls: usize,
    commands: usize,
}

impl World {
    async fn call(&mut self, entry: &Entry, arguments: JsonObject) {
        self.calls += 1;
        let answer = entry.call(&self.app, arguments, CancellationToken::new()).await;
        let text = answer.text();
        assert!(!text.contains("INTERNAL_ERROR"), "{}: {text:.500}", entry.name);
    }

    /// Looks at every command that the phone ran since the moment.
    fn judge(&mut self, moment: &mdm_virtual_device::Moment, what: &str, words: &BTreeSet<String>) {
        let ran = self.phone.since(moment).argvs;
        assert!(ran.len() < LOG_ENTRIES_MAX, "{what}: some commands are not in the log any more");
        for argv in ran {
            self.commands += 1;
            let program = argv.first().map(String::as_str).unwrap_or_default();
            assert!(PROGRAMS.contains(&program), "{what}: the phone ran {program:.100?} in {argv:.300?}");
            // What is typed may be any word; everywhere else it has to stay a part of a longer one.
            if argv.starts_with(&["input".to_owned(), "text".to_owned()]) {
                continue;
            }
            assert!(!argv.iter().any(|word| word == CANARY), "{what}: {argv:.300?}");
            let options = argv.windows(2).find(|pair| {
                pair[1].starts_with('-') && words.contains(&pair[1]) && !takes_any_value(&argv, &pair[0])
            });
            assert_eq!(options, None, "{what}: an option came from outside: {argv:.300?}");
        }
    }
}

/// True for an option or command after which the shell's program takes the next word as a value, whatever it is.
fn takes_any_value(argv: &[String], before: &str) -> bool {
    let clipboard = argv.get(1).is_some_and(|service| service == "clipboard");
    clipboard && before == "text"
        || matches!(before, "-d" | "--es" | "--ei" | "--el" | "--ez")
        || argv.iter().rev().nth(2).is_some_and(|option| option == "--es")
}

/// Processes that this one has started.
fn children() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let read =
        |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("children")).unwrap_or_default();
    tasks.map(read).flat_map(|ids| ids.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn entries(folder: &Path) -> BTreeSet<OsString> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

#[tokio::test(start_paused = true)]
async fn no_word_of_a_caller_becomes_a_command_an_option_or_a_path_outside() {
    // SE-01, SE-02, S1 to S9
    let phone = Phone::new(PhoneConfig { timing: Timing::Instant, ..PhoneConfig::default() });
    let devices = Devices { phone: Some(phone.clone()), ..Devices::default() };
    // Words that are good names of files are written to, so they get a folder of their own and no other.
    let folder = std::env::temp_dir().join(format!("mdm-injection-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let roots = Roots::new(std::slice::from_ref(&folder)).unwrap();
    let beside = entries(Path::new("."));
    let mut world = World { phone, app: App::new(devices).allowing(roots), calls: 0, commands: 0 };
    let (words, start) = (hostile(), tools::find("start_app").unwrap());
    let known: BTreeSet<String> = words.iter().cloned().collect();
    let mut attacked = 0;
    for entry in tools::all() {
        let schema = entry.schema();
        for argument in entry.arguments() {
            let property = schema.get("properties").and_then(|all| all.get(&argument.name));
            if attacks(&argument.name, property, "").is_empty() {
                continue;
            }
            attacked += 1;
            for around in surroundings(entry) {
                let app = serde_json::from_value(json!({"app_id": APP_ID})).unwrap();
                world.call(start, app).await;
                let moment = world.phone.moment();
                for word in &words {
                    for attack in attacks(&argument.name, property, word) {
                        let mut arguments = around.clone();
                        arguments.insert(argument.name.clone(), attack);
                        world.call(entry, arguments).await;
                    }
                }
                world.judge(&moment, &format!("{} {}", entry.name, argument.name), &known);
            }
        }
    }
    let truth = world.phone.truth();
    let touched: Vec<&String> = truth.leftover_files.iter().filter(|file| file.contains("canary")).collect();
    assert_eq!(touched, Vec::<&String>::new());
    assert_eq!(children(), Vec::<String>::new(), "nothing was started on this machine");
    assert_eq!(entries(Path::new(".")), beside, "SE-02: nothing is written outside the allowed folder");
    std::fs::remove_dir_all(folder).unwrap();
    println!(
        "{} words in {attacked} arguments of {} tools: {} calls, {} commands on the phone, none from a word",
        words.len(),
        tools::all().count(),
        world.calls,
        world.commands
    );
    assert!(attacked >= 60 && world.commands > 1000, "the attack reaches the phone");
}
