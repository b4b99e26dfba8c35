//! The helper's own code, out of the jar that a phone gets, over Android's own views: what the product reads and does with
//! it is judged by the view objects.

use mdm_android::HelperMode;
use tokio::time::Duration;

use crate::home;
use crate::product::{Product, Reply, phone};

const PACKAGE: &str = "org.mdm.widgets";

async fn show(product: &Product, tool: &str, json: &str) -> Reply {
    let reply = product.call(tool, json).await;
    println!("{tool} {json}\n{}\n", reply.text);
    reply
}

#[tokio::test(start_paused = true)]
async fn the_code_of_the_helpers_jar_serves_the_product() {
    let Some(home) = home("the_code_of_the_helpers_jar_serves_the_product") else { return };
    let phone = phone(home, "widgets");
    let auto = Product::on(&phone, PACKAGE, HelperMode::Auto);
    for page in ["Range", "Picker", "Text", "Choice", "Dialog", "Gesture"] {
        let t = std::time::Instant::now();
        assert!(auto.open(&format!(".{page}Activity")).await);
        println!("open {page} {:?}", t.elapsed());
        show(&auto, "get_ui_tree", "{}").await;
        println!("{:?}", t.elapsed());
    }
    show(&auto, "tap_element", r#"{"selector":{"text":"Announce"}}"#).await;
    show(&auto, "pinch", r#"{"selector":{"text":"Pad"},"scale":2}"#).await;
    show(&auto, "get_ui_tree", "{}").await;
    auto.open(".DialogActivity").await;
    show(&auto, "tap_element", r#"{"selector":{"text":"Toast"}}"#).await;
    show(&auto, "tap_element", r#"{"selector":{"text":"Popup menu"}}"#).await;
    show(&auto, "press_back", "{}").await;
    show(&auto, "get_ui_tree", "{}").await;
    auto.open(".RangeActivity").await;
    show(&auto, "adjust_control", r#"{"selector":{"resource_id":"seek"},"target_value":73}"#).await;
    show(&auto, "adjust_control", r#"{"selector":{"resource_id":"rating"},"target_value":4}"#).await;
    auto.open(".PickerActivity").await;
    show(&auto, "adjust_control", r#"{"selector":{"resource_id":"number_picker"},"target_value":12}"#).await;
    auto.open(".TextActivity").await;
    show(&auto, "type_text", r#"{"selector":{"resource_id":"empty"},"text":"Grüße 日本"}"#).await;
    show(&auto, "type_text", r#"{"selector":{"resource_id":"multiline"},"text":"","clear_first":true}"#).await;
    show(&auto, "type_text", r#"{"selector":{"resource_id":"password"},"text":"hunter2"}"#).await;
    show(&auto, "type_text", r#"{"selector":{"resource_id":"suggest"},"text":"ap"}"#).await;
    show(&auto, "get_ui_tree", "{}").await;
    show(&auto, "capture_screenshot", "{}").await;
    tokio::time::sleep(Duration::from_secs(31)).await;
}
