//! The helper's own code, out of the jar that a phone gets, over Android's own views: what the product reads and does with
//! it is judged by the view objects.

use mdm_android::{HelperMode, Hub, HubConfig};
use mdm_virtual_device::{Phone, ViewTruth};
use mobile_debug_mcp::app::endpoints;
use tokio::time::Duration;

use crate::product::{Product, Reply, phone};
use crate::{api, home};

const PACKAGE: &str = "org.mdm.widgets";
/// The helper gives UiAutomation back after 30 s without a request.
const GIVEN_BACK: Duration = Duration::from_secs(31);
const PAGES: [&str; 7] = ["Range", "Picker", "Text", "Choice", "Dialog", "Lists", "Gesture"];

/// The product with the helper on the phone.
struct Helped {
    product: Product,
    phone: Phone,
}

impl Helped {
    async fn page(&self, name: &str) {
        assert!(self.product.open(&format!(".{name}Activity")).await, "{name}");
    }

    /// Makes a call that must succeed without the shell's help.
    #[track_caller]
    fn ok<'a>(&'a self, tool: &'a str, json: &'a str) -> impl Future<Output = Reply> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let reply = self.product.call(tool, json).await;
            assert!(!reply.is_error, "{caller}: {tool} {json} failed: {}", reply.text);
            assert!(!reply.text.contains("\"via\":\"shell\""), "{caller}: {}", reply.text);
            reply
        }
    }

    async fn tree(&self) -> Reply {
        self.ok("get_ui_tree", r#"{"max_tokens":100000}"#).await
    }

    fn view(&self, name: &str) -> ViewTruth {
        let views = self.phone.truth().framework.unwrap().views;
        let found = views.into_iter().find(|view| view.id.ends_with(&format!("/{name}")));
        found.unwrap_or_else(|| panic!("no view {name}"))
    }

    fn fact(&self, name: &str, key: &str) -> String {
        let view = self.view(name);
        let found = view.facts.iter().find(|(other, _)| other == key);
        found.unwrap_or_else(|| panic!("{name} has no {key}")).1.clone()
    }
}

/// Returns the line without its element id.
#[track_caller]
fn line<'a>(reply: &'a Reply, words: &str) -> &'a str {
    let found = reply.lines().find(|line| line.contains(words));
    let found = found.unwrap_or_else(|| panic!("no line with {words}: {}", reply.text)).trim();
    found.split_once(' ').map_or(found, |(_, rest)| rest)
}

/// One test, because each start of the framework takes seconds.
#[tokio::test(start_paused = true)]
async fn the_code_of_the_helpers_jar_serves_the_product() {
    let Some(home) = home("the_code_of_the_helpers_jar_serves_the_product") else { return };
    let phone = phone(home, "widgets", api());
    let automatic = Helped { product: Product::on(&phone, PACKAGE, HelperMode::Auto), phone: phone.clone() };
    trusted(&automatic).await;
    tokio::time::sleep(GIVEN_BACK).await;
    agrees_with_dumps(&automatic).await;
    let helped = Helped { product: Product::on(&phone, PACKAGE, HelperMode::Always), phone: phone.clone() };
    ranges(&helped).await;
    pickers(&helped).await;
    fields(&helped).await;
    suggestions(&helped).await;
    told(&helped).await;
    gestures(&helped).await;
    lists(&helped).await;
    crash(&helped).await;
    tokio::time::sleep(GIVEN_BACK).await;
    let shell = Product::on(&phone, PACKAGE, HelperMode::Never).tree().await;
    assert!(!shell.is_error, "UiAutomation was not given back: {}", shell.text);
}

/// A part of it on the newest level.
#[tokio::test(start_paused = true)]
async fn the_code_of_the_helpers_jar_serves_the_product_on_android_16() {
    let Some(home) = home("the_code_of_the_helpers_jar_serves_the_product_on_android_16") else { return };
    let phone = phone(home, "widgets", 36);
    let helped = Helped { product: Product::on(&phone, PACKAGE, HelperMode::Auto), phone: phone.clone() };
    trusted(&helped).await;
    ranges(&helped).await;
    fields(&helped).await;
    gestures(&helped).await;
}

fn dumps(phone: &Phone) -> usize {
    phone.truth().commands.iter().filter(|command| command.contains("uiautomator dump")).count()
}

/// Mode `auto` compares once, believes the helper, and needs no dump any more.
async fn trusted(helped: &Helped) {
    helped.page("Range").await;
    let compared = dumps(&helped.phone);
    assert_eq!(compared, 1, "one dump to compare with");
    helped.page("Text").await;
    let tree = helped.tree().await;
    assert_eq!(line(&tree, "\"Name\""), "field \"Name\" = \"Ada\"");
    assert_eq!(dumps(&helped.phone), compared);
}

/// What `doctor --try-helper` does, on several screens.
async fn agrees_with_dumps(helped: &Helped) {
    for page in PAGES {
        helped.page(page).await;
        tokio::time::sleep(GIVEN_BACK).await;
        let hub = Hub::new(HubConfig::of_process(endpoints(Some(helped.phone.clone()), Vec::new()), false));
        let reports = hub.examine_helpers().await;
        let [(_, lines)] = reports.as_slice() else { panic!("{reports:?}") };
        println!("{page}: {}", lines.join("; "));
        let agrees = lines.iter().any(|line| line == "the tree agrees with the dump");
        assert!(agrees && !lines.iter().any(|line| line.starts_with('!')), "{page}: {lines:#?}");
    }
}

async fn ranges(helped: &Helped) {
    helped.page("Range").await;
    let tree = helped.tree().await;
    assert_eq!(line(&tree, "\"Volume\""), "slider \"Volume\" 0 of 0..100");
    assert_eq!(line(&tree, "\"Disabled\""), "slider \"Disabled\" 20 of 0..100 disabled");
    // Android counts the half stars of this bar, of which it has ten.
    assert_eq!(line(&tree, "slider \"Rating\""), "slider \"Rating\" 5 of 0..10 \"2.5 stars out of 5\"");
    let set = helped.ok("adjust_control", r#"{"selector":{"resource_id":"seek"},"target_value":73}"#).await;
    assert_eq!((set.fact("adjustment_mode"), set.fact("attempts")), ("semantic", "1"), "{}", set.text);
    assert_eq!(
        (helped.fact("seek", "progress"), helped.view("adjusted").text),
        ("73".into(), "volume 73".into())
    );
    helped.ok("adjust_control", r#"{"selector":{"resource_id":"rating"},"target_value":8}"#).await;
    assert_eq!(helped.fact("rating", "rating"), "4.0");
}

async fn pickers(helped: &Helped) {
    helped.page("Picker").await;
    let tree = helped.tree().await;
    assert_eq!(line(&tree, "stepper \"Number\""), "stepper \"Number\" 7 scrollable");
    helped.ok("adjust_control", r#"{"selector":{"role":"stepper"},"target_value":12}"#).await;
    assert_eq!(helped.fact("number_picker", "value"), "12");
}

async fn fields(helped: &Helped) {
    helped.page("Text").await;
    let tree = helped.tree().await;
    // F83
    assert_eq!(line(&tree, "\"Say something\""), "field \"Say something\"");
    let typed = r#"{"selector":{"resource_id":"empty"},"text":"Grüße 日本"}"#;
    let reply = helped.ok("type_text", typed).await;
    assert_eq!(reply.fact("read_back"), "seen", "{}", reply.text);
    assert_eq!(
        (helped.view("empty").text, helped.view("echo").text),
        ("Grüße 日本".into(), "Grüße 日本".into())
    );
    let tree = helped.tree().await;
    assert_eq!(line(&tree, "\"Say something\""), "field \"Say something\" = \"Grüße 日本\" focused");
    assert_eq!(helped.view("multiline").text, "one\ntwo");
    helped.ok("type_text", r#"{"selector":{"resource_id":"multiline"},"text":"","clear":true}"#).await;
    assert_eq!(helped.view("multiline").text, "");
    helped.ok("type_text", r#"{"selector":{"resource_id":"multiline"},"text":"ä\nb"}"#).await;
    assert_eq!(helped.view("multiline").text, "ä\nb");
    let reply = helped.ok("type_text", r#"{"selector":{"resource_id":"password"},"text":"hunter2"}"#).await;
    assert_eq!(reply.fact("read_back"), "hidden", "{}", reply.text);
    assert_eq!(helped.view("password").text, "hunter2");
    tokio::time::sleep(Duration::from_secs(2)).await;
    let tree = helped.tree().await;
    assert_eq!(line(&tree, "\"Password\""), "field \"Password\" = (hidden, 7) focused");
    helped.ok("hide_keyboard", "{}").await;
    assert!(!helped.phone.truth().keyboard_shown);
}

/// F89: suggestions lie in a window that never has the focus.
async fn suggestions(helped: &Helped) {
    helped.page("Text").await;
    helped.ok("type_text", r#"{"selector":{"resource_id":"suggest"},"text":"ap","scroll":true}"#).await;
    let tree = helped.tree().await;
    assert_eq!(line(&tree, "= \"ap\""), "field = \"ap\" #suggest focused");
    assert_eq!(line(&tree, "\"apricot\""), "button \"apricot\"");
    helped.ok("tap_element", r#"{"selector":{"text":"apricot"}}"#).await;
    assert_eq!(helped.view("suggest").text, "apricot");
}

async fn told(helped: &Helped) {
    helped.page("Dialog").await;
    let reply = helped.ok("tap_element", r#"{"selector":{"text":"Toast"}}"#).await;
    assert_eq!(line(&reply, "Saved"), "\"Saved\"", "{}", reply.text);
    helped.ok("tap_element", r#"{"selector":{"text":"Popup menu"}}"#).await;
    let tree = helped.tree().await;
    assert_eq!(line(&tree, "\"Paste\""), "row \"Paste\"");
    // The menu takes every touch, so accessibility is not told of what lies behind it.
    assert!(!tree.text.contains("\"Alert\""), "{}", tree.text);
    helped.ok("tap_element", r#"{"selector":{"text":"Paste"}}"#).await;
    assert_eq!(helped.view("result").text, "Paste");
    helped.page("Gesture").await;
    let reply = helped.ok("tap_element", r#"{"selector":{"text":"Announce"}}"#).await;
    assert_eq!(line(&reply, "Sync is done"), "\"Sync is done\"", "{}", reply.text);
}

async fn gestures(helped: &Helped) {
    helped.page("Gesture").await;
    helped.ok("pinch", r#"{"selector":{"text":"Pad"},"scale":2}"#).await;
    assert_eq!(helped.view("zoomed").text, "200% by 2 fingers");
    let reply = helped.ok("capture_screenshot", "{}").await;
    assert!(reply.text.contains(r#""image":{"width":461,"height":1024}"#), "{}", reply.text);
}

async fn lists(helped: &Helped) {
    helped.page("Lists").await;
    let tree = helped.tree().await;
    assert!(tree.lines().any(|line| line.contains("\"Row 0\"")), "{}", tree.text);
}

/// The app ends and the helper does not, which is another process.
async fn crash(helped: &Helped) {
    helped.page("Dialog").await;
    let reply = helped.product.call("tap_element", r#"{"selector":{"text":"Crash"}}"#).await;
    assert!(reply.text.contains("asked to crash"), "{}", reply.text);
    helped.page("Range").await;
    assert_eq!(line(&helped.tree().await, "\"Half\""), "slider \"Half\" 50 of 0..100");
}
