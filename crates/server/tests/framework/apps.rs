//! The product judged on apps with other people's views: Material Components, Compose and React Native. Material's and
//! React Native's views are read as any others. Compose has one view for a whole screen, so that app tells itself what it
//! shows and where, and every app tells what became of it (`app.` facts of a view): none of it goes through accessibility.

use std::path::Path;

use mdm_android::HelperMode;
use mdm_virtual_device::{
    FrameworkApp, FrameworkConfig, FrameworkTruth, Phone, PhoneConfig, Truth, ViewTruth,
};
use tokio::time::Duration;

use crate::product::{Product, Reply, phone};
use crate::views::Screen;
use crate::{home, lines, reading};

const MATERIAL: &str = "org.mdm.material";
const COMPOSE: &str = "org.mdm.compose";

/// An app on a phone of its own. Faults are gathered, because each start takes seconds.
struct App {
    product: Product,
    faults: Vec<String>,
    facts: usize,
}

impl App {
    fn start(home: &Path, name: &str, package: &'static str) -> App {
        let phone = phone(home.to_path_buf(), name, 34);
        App { product: Product::on(&phone, package, HelperMode::Never), faults: Vec::new(), facts: 0 }
    }

    /// Makes a call that must succeed.
    async fn ok(&mut self, tool: &str, json: &str) -> Reply {
        let reply = self.product.call(tool, json).await;
        if reply.is_error {
            self.faults.push(format!("{tool} {json} failed: {}", reply.text));
        }
        reply
    }

    async fn tap(&mut self, text: &str) -> Reply {
        self.ok("tap_element", &format!(r#"{{"selector":{{"text":"{text}"}}}}"#)).await
    }

    fn is(&mut self, what: &str, found: &str, wanted: &str) {
        if found != wanted {
            self.faults.push(format!("{what}: {found:?}, not {wanted:?}"));
        }
    }

    /// The lines of the tree that say these words must be these.
    fn says(&mut self, tree: &Reply, words: &str, wanted: &[&str]) {
        let found: Vec<&str> = tree
            .lines()
            .filter(|line| line.contains(words))
            .filter_map(|line| line.trim().split_once(' '))
            .map(|(_, rest)| rest.split(" @").next().unwrap_or(rest))
            .collect();
        if found != wanted {
            self.faults.push(format!("lines with {words}: {found:?}, not {wanted:?}"));
        }
    }

    async fn tree(&mut self) -> Reply {
        self.ok("get_ui_tree", r#"{"max_tokens":100000}"#).await
    }

    /// Reads the screen and compares it with what the views (or the app) say.
    async fn read(&mut self, page: &str) -> Reply {
        let before = self.screen();
        let tree = self.product.tree().await;
        let after = self.screen();
        let reading = reading::judge(&before, &after, &lines::read(&tree.text));
        self.facts += reading.facts;
        let faults = reading.lost.iter().map(|lost| format!("{page}: lost: {lost}"));
        self.faults
            .extend(faults.chain(reading.untrue.iter().map(|untrue| format!("{page}: untrue: {untrue}"))));
        println!("== {page}: {} facts\n{}", reading.facts, tree.text);
        tree
    }

    fn screen(&self) -> Screen {
        let truth = self.product.truth();
        match self.told("places") {
            Some(places) => composed(truth, &places),
            None => Screen::of(truth),
        }
    }

    fn views(&self) -> Vec<ViewTruth> {
        self.product.truth().framework.unwrap().views
    }

    /// Returns what the app tells of itself.
    fn told(&self, key: &str) -> Option<String> {
        let key = format!("app.{key}");
        let views = self.views();
        let mut facts = views.into_iter().flat_map(|view| view.facts);
        facts.find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    fn app(&self, key: &str) -> String {
        self.told(key).unwrap_or_else(|| panic!("the app does not tell {key}"))
    }

    fn view(&self, id: &str) -> ViewTruth {
        let found = self.views().into_iter().find(|view| view.id.ends_with(&format!("/{id}")));
        found.unwrap_or_else(|| panic!("no view {id}"))
    }

    fn fact(&self, id: &str, key: &str) -> String {
        let facts = self.view(id).facts;
        facts.into_iter().find(|(name, _)| name == key).map(|(_, value)| value).unwrap_or_default()
    }

    /// From here on the helper serves the product.
    fn use_helper(&mut self, package: &'static str) {
        self.product = Product::on(&self.product.phone, package, HelperMode::Always);
    }

    fn end(self, name: &str) {
        println!("{name}: {} facts compared", self.facts);
        assert!(self.faults.is_empty(), "{name}:\n{}", self.faults.join("\n"));
    }

    /// F1: an id names its row as long as it names anything, also when rows are used again for others.
    async fn delete_after_scrolling(&mut self) {
        let tree = self.tree().await;
        let early = delete_of(&tree, "Item 5");
        self.ok("scroll_to_element", r#"{"selector":{"text":"Item 150"},"max_scrolls":60}"#).await;
        let reply =
            self.product.call("tap_element", &serde_json::json!({ "element_id": early }).to_string()).await;
        println!("Delete of Item 5 after scrolling: {}", reply.text.lines().next().unwrap_or(""));
        let deleted = self.app("deleted");
        if !(deleted.is_empty() && reply.is_error || deleted == "Item 5") {
            self.faults
                .push(format!("F1: {early} was Delete of Item 5; deleted {deleted:?}: {}", reply.text));
        }
        let tree = self.tree().await;
        let late = delete_of(&tree, "Item 150");
        self.ok("tap_element", &serde_json::json!({ "element_id": late }).to_string()).await;
        let wanted = if deleted.is_empty() { "Item 150".to_owned() } else { format!("{deleted}, Item 150") };
        let found = self.app("deleted");
        self.is("F1: deleted", &found, &wanted);
    }
}

/// Returns the id of the button in the row with these words; `none` without one.
fn delete_of(tree: &Reply, row: &str) -> String {
    let lines = lines::read(&tree.text);
    let is_row = |line: &&lines::Line| line.words.iter().any(|said| said.head == row);
    let is_delete = |line: &&lines::Line| line.words.iter().any(|said| said.head == "Delete");
    let button = lines.iter().skip_while(|line| !is_row(line)).find(is_delete);
    button.map_or_else(|| format!("none after {row}: {}", tree.text), |line| line.element.clone())
}

/// Views as the app tells them: each line is a kind, a rectangle and words.
fn composed(truth: Truth, places: &str) -> Screen {
    let (width, height) = (1080, 2400);
    let mut views = vec![view(1, 0, (0, 0, width, height), "")];
    let told = places.lines().filter_map(|line| {
        let (kind, rest) = line.split_once(' ')?;
        let (focused, rest) = rest.split_once(' ')?;
        let (bounds, text) = rest.split_once(' ')?;
        let sides: Vec<i32> = bounds.split(',').filter_map(|side| side.parse().ok()).collect();
        let [left, top, right, bottom] = sides[..] else { return None };
        Some((kind, focused == "true", (left, top, right, bottom), text))
    });
    let mut told: Vec<_> = told.collect();
    // A control stands before the words inside it.
    told.sort_by_key(|(kind, ..)| *kind == "words");
    for (kind, focused, bounds, text) in told {
        let number = views.len() as i64 + 1;
        let around = views.iter().rev().find(|around| kind == "words" && is_around(around.visible, bounds));
        // Android passes it on to all views inside.
        let selected = around.is_some_and(|around| around.selected) || kind == "selected";
        let mut one = view(number, around.map_or(1, |around| around.number), bounds, text);
        one.clickable = kind != "words";
        one.selected = selected;
        one.focused = focused;
        one.enabled = kind != "disabled";
        one.checked = match kind {
            "on" => Some(true),
            "off" => Some(false),
            _ => None,
        };
        let name = match kind {
            "on" | "off" => "tellsChecked",
            "field" => "inputType",
            "secret" => "password",
            _ => "told",
        };
        one.facts = vec![(name.to_owned(), "true".to_owned())];
        if kind == "value" {
            one.facts = told_to_readers(text);
            one.text.clear();
        }
        views.push(one);
    }
    let framework = FrameworkTruth { is_known: true, focused_window: 1, views, ..FrameworkTruth::default() };
    Screen::of(Truth { framework: Some(framework), ..truth })
}

/// A value that only a reader is told, of a hundred: as it is, as a part of one, and in Compose's words. A dump has none.
fn told_to_readers(value: &str) -> Vec<(String, String)> {
    let part = value.parse().unwrap_or(0.0) / 100.0;
    let facts = [
        ("value", value),
        ("drawn", &format!("{value} percent.")),
        ("drawn", &format!("{part}")),
        ("appDrawn", "true"),
    ];
    facts.map(|(name, fact)| (name.to_owned(), fact.to_owned())).into()
}

fn is_around(outer: (i32, i32, i32, i32), inner: (i32, i32, i32, i32)) -> bool {
    outer.0 <= inner.0 && outer.1 <= inner.1 && outer.2 >= inner.2 && outer.3 >= inner.3
}

fn view(number: i64, parent: i64, visible: (i32, i32, i32, i32), text: &str) -> ViewTruth {
    ViewTruth {
        number,
        parent,
        window: 1,
        class: "told".to_owned(),
        id: String::new(),
        text: text.to_owned(),
        description: String::new(),
        checked: None,
        selected: false,
        enabled: true,
        focused: false,
        clickable: false,
        has_click_listener: false,
        long_clickable: false,
        visible,
        scroll: (0, 0),
        facts: Vec::new(),
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_said_of_a_material_app_is_so() {
    let Some(home) = home("what_is_said_of_a_material_app_is_so") else { return };
    let mut app = App::start(&home, "material", MATERIAL);
    tokio::time::sleep(Duration::from_secs(1)).await;
    app.read("Home").await;
    app.tap("More options").await;
    app.read("Menu").await;
    let reply = app.product.call("tap_element", r#"{"selector":{"text":"Sorted"}}"#).await;
    // The item is a text and a box beside it, and a dump without accessibility says of neither that it is clicked.
    app.is("a menu item with a box", reply.fact("code"), "AMBIGUOUS_TARGET");
    app.tap("Help").await;
    let found = app.view("told").text;
    app.is("menu", &found, "Help");
    material_settings(&mut app).await;
    app.tap("Items").await;
    app.read("Items").await;
    app.delete_after_scrolling().await;
    material_form(&mut app).await;
    material_tabs(&mut app).await;
    material_windows(&mut app).await;
    app.use_helper(MATERIAL);
    material_with_helper(&mut app).await;
    app.end("material");
}

async fn material_settings(app: &mut App) {
    app.tap("Settings").await;
    app.read("Settings").await;
    app.ok(
        "tap_element",
        r#"{"selector":{"text":"Wi-Fi"},"expect":{"selector":{"text":"Wi-Fi"},"checked":false}}"#,
    )
    .await;
    app.tap("Express").await;
    app.tap("Fresh").await;
    let states = ["wifi", "express", "standard", "fresh"].map(|id| app.view(id).checked);
    app.is("states", &format!("{states:?}"), "[Some(false), Some(true), Some(false), Some(true)]");
    // Material's slider is two nodes: the bar without a value, and its thumb, which tells it.
    let bar = r#"{"selector":{"resource_id":"volume"},"target_value":70}"#;
    let reply = app.product.call("adjust_control", bar).await;
    println!("volume, by its bar: {}", reply.text);
    app.is("the bar tells no value", reply.fact("code"), "ELEMENT_NOT_INTERACTABLE");
    // Its words change with its value, and it stays the same slider.
    let thumb = r#"{"selector":{"text":"Value, 30"},"target_value":70}"#;
    let reply = app.product.call("adjust_control", thumb).await;
    let found = app.fact("volume", "value");
    println!("volume {found}, by its thumb: {}", reply.text);
    app.is("said to be reached", &(!reply.is_error).to_string(), &(found == "70").to_string());
    assert_ne!(reply.fact("code"), "STALE_REFERENCE", "{}", reply.text);
    app.read("Settings, used").await;
}

async fn material_with_helper(app: &mut App) {
    app.product.open(".FormActivity").await;
    app.ok("type_text", r#"{"selector":{"resource_id":"name"},"text":"Grüße 日本"}"#).await;
    let found = app.view("name").text;
    app.is("name, with the helper", &found, "Grüße 日本");
    app.read("Form, with the helper").await;
    app.ok("hide_keyboard", "{}").await;
    // F89: the window of its choices never has the focus, so no dump has them.
    app.ok("tap_element", r#"{"selector":{"resource_id":"country"}}"#).await;
    app.tap("Japan").await;
    let found = app.view("country").text;
    app.is("country", &found, "Japan");
    app.product.open(".MainActivity").await;
    app.tap("Settings").await;
    let thumb = r#"{"selector":{"text":"Value, 30"},"target_value":70}"#;
    app.ok("adjust_control", thumb).await;
    let found = app.fact("volume", "value");
    app.is("volume, with the helper", &found, "70");
    app.read("Settings, with the helper").await;
}

async fn material_form(app: &mut App) {
    app.product.open(".FormActivity").await;
    app.read("Form").await;
    app.ok("type_text", r#"{"selector":{"resource_id":"name"},"text":"Ada"}"#).await;
    let found = app.view("name").text;
    app.is("name", &found, "Ada");
    app.ok("type_text", r#"{"selector":{"resource_id":"secret"},"text":"hunter2"}"#).await;
    let found = app.view("secret").text;
    app.is("secret", &found, "hunter2");
    app.ok("hide_keyboard", "{}").await;
    app.tap("Save").await;
    app.read("Form with an error").await;
}

async fn material_tabs(app: &mut App) {
    app.product.open(".TabsActivity").await;
    app.read("Tabs").await;
    let tab = r#"{"selector":{"text":"Reviews"},"expect":{"selector":{"text":"Reviews"},"selected":true}}"#;
    app.ok("tap_element", tab).await;
    app.read("Reviews").await;
    let shown = app.views().into_iter().any(|view| view.text == "This is Reviews" && view.visible.0 == 0);
    app.is("the page of Reviews is shown", &shown.to_string(), "true");
}

async fn material_windows(app: &mut App) {
    app.product.open(".WindowsActivity").await;
    app.read("Windows").await;
    app.tap("Dialog").await;
    app.read("Dialog").await;
    app.tap("Large").await;
    app.tap("OK").await;
    let found = app.view("told").text;
    app.is("dialog", &found, "Size chosen");
    app.tap("Sheet").await;
    app.read("Sheet").await;
    app.tap("Copy link").await;
    let found = app.view("told").text;
    app.is("sheet", &found, "Link copied");
    app.tap("Snackbar").await;
    app.read("Snackbar").await;
    app.tap("Undo").await;
    let found = app.view("told").text;
    app.is("snackbar", &found, "Taken back");
}

#[tokio::test(start_paused = true)]
async fn what_is_said_of_a_compose_app_is_so() {
    let Some(home) = home("what_is_said_of_a_compose_app_is_so") else { return };
    let mut app = App::start(&home, "compose", COMPOSE);
    tokio::time::sleep(Duration::from_secs(1)).await;
    compose_form(&mut app).await;
    compose_settings(&mut app).await;
    app.tap("Items").await;
    app.read("Items").await;
    app.delete_after_scrolling().await;
    compose_tabs(&mut app).await;
    compose_windows(&mut app).await;
    app.use_helper(COMPOSE);
    compose_with_helper(&mut app).await;
    app.end("compose");
}

async fn compose_form(app: &mut App) {
    let tree = app.read("Form").await;
    // F36: a push button is no check box. F32: a chosen tab is a tab, and selected.
    app.says(&tree, "\"Form\"", &["tab \"Form\" selected"]);
    app.says(&tree, "\"Save\"", &["button \"Save\""]);
    app.ok("type_text", r#"{"selector":{"text":"Name"},"text":"Ada"}"#).await;
    let found = app.app("name");
    app.is("name", &found, "Ada");
    app.ok("type_text", r#"{"selector":{"text":"Password"},"text":"hunter2"}"#).await;
    let found = app.app("secret");
    app.is("secret", &found, "hunter2");
    app.ok("hide_keyboard", "{}").await;
    app.tap("Save").await;
    let found = app.app("told");
    app.is("saved", &found, "Saved Ada");
    app.read("Form, used").await;
}

async fn compose_settings(app: &mut App) {
    let page =
        r#"{"selector":{"text":"Settings"},"expect":{"selector":{"text":"Settings"},"selected":true}}"#;
    app.ok("tap_element", page).await;
    app.read("Settings").await;
    for name in ["Wi-Fi", "Newsletter", "Fresh", "Express"] {
        app.tap(name).await;
    }
    let found = (app.app("on"), app.app("delivery"));
    app.is("F33: states", &format!("{found:?}"), r#"("Fresh, Newsletter, Sale", "Express")"#);
    // F86: no dump tells the value of this slider; that the words above it do is not certain ("Level 2").
    let slider = r#"{"selector":{"role":"slider"},"target_value":70}"#;
    let reply = app.product.call("adjust_control", slider).await;
    app.is("F86: refused", reply.fact("code"), "ELEMENT_NOT_INTERACTABLE");
    let found = app.app("volume");
    app.is("F86: not touched", &found, "30");
    let tree = app.read("Settings, used").await;
    // F33: one line for each choice. F87: the words above the slider keep their line.
    let radios = tree.lines().filter(|line| line.contains("Standard") || line.contains("Express")).count();
    app.is("F33: lines of the radio buttons", &radios.to_string(), "2");
    app.says(&tree, "\"Volume 30\"", &["text \"Volume 30\""]);
}

async fn compose_with_helper(app: &mut App) {
    app.tap("Form").await;
    let name = r#"{"selector":{"text":"Name"},"text":"Grüße 日本","clear":true}"#;
    app.ok("type_text", name).await;
    let found = app.app("name");
    app.is("name, with the helper", &found, "Grüße 日本");
    app.ok("hide_keyboard", "{}").await;
    app.read("Form, with the helper").await;
    app.tap("Settings").await;
    app.ok("adjust_control", r#"{"selector":{"role":"slider"},"target_value":70}"#).await;
    let found = app.app("volume");
    app.is("F86: volume, with the helper", &found, "70");
    app.read("Settings, with the helper").await;
}

async fn compose_tabs(app: &mut App) {
    app.tap("Tabs").await;
    let tree = app.read("Tabs").await;
    app.says(&tree, "\"Overview\"", &["tab \"Overview\" selected"]);
    let tab = r#"{"selector":{"text":"Photos"},"expect":{"selector":{"text":"Photos"},"selected":true}}"#;
    app.ok("tap_element", tab).await;
    let found = app.app("tab");
    app.is("tab", &found, "Photos");
    app.read("Photos").await;
}

async fn compose_windows(app: &mut App) {
    app.tap("Windows").await;
    app.read("Windows").await;
    app.tap("Ask").await;
    println!("{}", app.tree().await.text);
    app.tap("Yes").await;
    let found = app.app("told");
    app.is("dialog", &found, "Everything deleted");
    app.tap("Share").await;
    println!("{}", app.tree().await.text);
    app.tap("Copy link").await;
    let found = app.app("told");
    app.is("sheet", &found, "Link copied");
    app.tap("Austria").await;
    println!("{}", app.tree().await.text);
    app.tap("Peru").await;
    let found = app.app("country");
    app.is("country", &found, "Peru");
}

#[tokio::test(start_paused = true)]
async fn what_is_said_of_react_natives_views_is_so() {
    let Some(home) = home("what_is_said_of_react_natives_views_is_so") else { return };
    let mut app = App::start(&home, "reactnative", "org.mdm.reactnative");
    tokio::time::sleep(Duration::from_secs(1)).await;
    app.read("React Native").await;
    app.tap("New order").await;
    let found = app.app("orders");
    app.is("orders", &found, "1");
    app.ok("type_text", r#"{"selector":{"text":"Name"},"text":"Ada"}"#).await;
    app.ok("hide_keyboard", "{}").await;
    app.tap("Express").await;
    app.ok("scroll_to_element", r#"{"selector":{"text":"Row 40"},"max_scrolls":30}"#).await;
    let tree = app.read("React Native, used").await;
    let id = delete_of(&tree, "Row 40");
    let delete = serde_json::json!({ "element_id": id }).to_string();
    app.ok("tap_element", &delete).await;
    let found = app.app("deleted");
    app.is("F1: deleted", &found, "Row 40");
    app.end("reactnative");
}

/// An APK as a stranger has one: its code is converted, and what it needs and cannot have is said by name.
#[tokio::test(start_paused = true)]
async fn an_apk_says_what_it_needs_and_cannot_have() {
    let Some(home) = home("an_apk_says_what_it_needs_and_cannot_have") else { return };
    let _ = std::fs::remove_dir_all(home.join("converted"));
    let start = |name: &str| {
        let log = Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.apk.log")));
        let app = FrameworkApp::Apk(home.join("apps").join(format!("{name}.apk")));
        let framework = FrameworkConfig { home: home.clone(), app, sdk: 34, log };
        Phone::with_framework(PhoneConfig { sdk: 34, ..PhoneConfig::default() }, &framework)
    };
    let later = start("later").err().unwrap();
    assert!(later.contains("Requires newer sdk version #99"), "{later}");
    let phone = start("needy").unwrap();
    assert_eq!(
        phone.needs(),
        [
            "the app has native code, which does not run here: libneedy.so",
            "the app uses Google Play services, which are not here: com.google.android.gms",
            "the app needs a library that is not here: com.example.scanner",
        ]
    );
    let product = Product::on(&phone, "org.mdm.needy", HelperMode::Never);
    let log = product.call("get_logs", r#"{"level":"warn"}"#).await;
    for need in phone.needs() {
        assert!(log.text.contains(need), "{need}: {}", log.text);
    }
    let reply = product.call("tap_element", r#"{"selector":{"text":"Scan"}}"#).await;
    assert!(reply.text.contains("no needy in java.library.path"), "{}", reply.text);
}
