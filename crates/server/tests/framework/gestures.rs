//! Gestures and the language through the product's tools, without a helper: what comes of them is judged by the app's views.

use mdm_android::HelperMode;
use mdm_virtual_device::ViewTruth;

use crate::home;
use crate::product::{Product, Reply, phone};

const PACKAGE: &str = "org.mdm.widgets";
/// The newest level: the other tests take the older ones.
const SDK: u32 = 36;

fn view(product: &Product, name: &str) -> ViewTruth {
    let views = product.truth().framework.unwrap().views;
    let found = views.into_iter().find(|view| view.id.ends_with(&format!("/{name}")));
    found.unwrap_or_else(|| panic!("no view {name}"))
}

async fn ok(product: &Product, tool: &str, json: &str) -> Reply {
    let reply = product.call(tool, json).await;
    assert!(!reply.is_error, "{tool} {json} failed: {}", reply.text);
    reply
}

/// One test, because each start of the framework takes seconds.
#[tokio::test(start_paused = true)]
async fn gestures_and_the_language_reach_the_views() {
    let Some(home) = home("gestures_and_the_language_reach_the_views") else { return };
    let product = Product::on(&phone(home, "widgets", SDK), PACKAGE, HelperMode::Never);
    assert!(product.open(".GestureActivity").await);
    carries(&product).await;
    zooms(&product).await;
    assert!(product.open(".RangeActivity").await);
    slides(&product).await;
    assert!(product.open(".PickerActivity").await);
    speaks_german(&product).await;
}

async fn carries(product: &Product) {
    let reply = ok(product, "drag", r#"{"from":{"text":"Card"},"to":{"text":"Bin"}}"#).await;
    assert_eq!(view(product, "dropped").text, "in the bin", "{}", reply.text);
    assert!(reply.text.contains("\"in the bin\""), "{}", reply.text);
}

/// What the app's detector of two fingers says, not what the fingers did.
async fn zooms(product: &Product) {
    for (scale, wanted) in [("2", 200), ("0.5", 100)] {
        let reply =
            ok(product, "pinch", &format!(r#"{{"selector":{{"text":"Pad"}},"scale":{scale}}}"#)).await;
        let told = view(product, "zoomed").text;
        let percent: i32 = told.split('%').next().unwrap().parse().unwrap();
        assert!((percent - wanted).abs() <= wanted / 10 && told.ends_with("by 2 fingers"), "{told}");
        assert!(reply.text.contains(&told), "{}", reply.text);
    }
}

/// A slider that is dragged by its thumb.
async fn slides(product: &Product) {
    let (left, top, right, bottom) = view(product, "seek_half").visible;
    let (x, y) = ((left + right) / 2, (top + bottom) / 2);
    let drag = format!(r#"{{"x1":{x},"y1":{y},"x2":{},"y2":{y}}}"#, left + (right - left) * 3 / 4);
    ok(product, "drag", &drag).await;
    let facts = view(product, "seek_half").facts;
    let progress = facts.iter().find(|(name, _)| name == "progress").unwrap().1.parse::<i32>().unwrap();
    assert!((70..=80).contains(&progress), "{progress}");
}

async fn speaks_german(product: &Product) {
    let date = |tree: &Reply, month: &str| tree.text.contains(&format!("{month} 2026"));
    let tree = product.tree().await;
    assert!(date(&tree, "March") && !date(&tree, "März"), "{}", tree.text);
    ok(product, "set_device", r#"{"setting":"locale","value":"de-DE"}"#).await;
    let tree = product.tree().await;
    assert!(date(&tree, "März") && !date(&tree, "March"), "{}", tree.text);
}
