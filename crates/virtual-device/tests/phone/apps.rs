//! Shop, Settings and the launcher, as a person would use them.

use std::time::Duration;

use mdm_virtual_device::PhoneConfig;

use crate::host::{node, phone_and_host};

async fn wait(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

#[tokio::test(start_paused = true)]
async fn buying_a_lamp_from_search_to_confirmation() {
    let (phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    host.tap("content-desc=\"Shop\"").await;
    host.tap("resource-id=\"query\"").await;
    host.run("input text lamp").await;
    host.tap("text=\"Search\"").await;
    assert!(!host.dump().await.contains("Oak table"), "results are on their way");
    wait(450).await;
    let results = host.dump().await;
    assert_eq!(results.matches("lamp\"").count(), 4, "three results and the query: {results}");
    host.tap("text=\"Reading lamp\"").await;
    host.tap("text=\"Add to cart\"").await;
    host.tap("text=\"Add to cart\"").await;
    assert!(host.dump().await.contains("text=\"2\" resource-id=\"cart_badge\""));
    host.tap("resource-id=\"cart\"").await;
    assert!(host.dump().await.contains("text=\"€59.00\" resource-id=\"total\""));
    host.tap("text=\"Checkout\" resource-id=\"\" class=\"android.widget.TextView\"").await;
    host.tap("text=\"Place order\"").await;
    assert_eq!(host.dump().await.matches("resource-id=\"mistake\"").count(), 4);
    for (field, text) in
        [("name", "Ada"), ("street", "Lane%s1"), ("postcode", "12345"), ("card", "4111111111111111")]
    {
        host.tap(&format!("resource-id=\"{field}\"")).await;
        host.run(&format!("input text {text}")).await;
        host.run("input keyevent BACK").await;
    }
    host.tap("text=\"Place order\"").await;
    wait(1200).await;
    let done = host.dump().await;
    assert!(done.contains("text=\"Order number 1001\""), "{done}");
    let truth = phone.truth();
    assert_eq!((truth.fields["shop.orders"].as_str(), truth.fields["shop.cart"].as_str()), ("1", "0"));
    assert_eq!(truth.activity, "com.shop/.ConfirmationActivity");
}

#[tokio::test(start_paused = true)]
async fn settings_switch_and_slide() {
    let (phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    host.tap("content-desc=\"Settings\"").await;
    host.tap("text=\"Network &amp; internet\"").await;
    assert!(phone.truth().switches["wifi"]);
    host.tap("text=\"Wi-Fi\"").await;
    assert!(!phone.truth().switches["wifi"]);
    host.tap("content-desc=\"Navigate up\"").await;
    host.tap("text=\"Display\"").await;
    host.tap("text=\"Dark theme\"").await;
    assert!(phone.truth().switches["dark_ui"]);
    let tree = host.dump().await;
    assert!(node(&tree, "android.widget.SeekBar").unwrap().contains("content-desc=\"Font size\""));
    let [left, top, right, bottom] = crate::host::bounds(&tree, "android.widget.SeekBar");
    host.run(&format!("input tap {} {}", right - 50, (top + bottom) / 2)).await;
    assert_eq!(phone.truth().sliders["font_size"], 3.0, "{left} {right}");
}
