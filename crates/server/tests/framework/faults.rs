//! Faults that were found on Android's own views, each with its id in docs/requirements.md.

use crate::product::Product;
use crate::{api, home};

async fn fingerprint(product: &Product) -> String {
    product.call("get_screen_fingerprint", "{}").await.fact("fingerprint").to_owned()
}

/// F84: rows that are made while something reads the screen differ from those before in what a dump says of them.
#[tokio::test(start_paused = true)]
async fn a_list_that_scrolls_keeps_its_fingerprint() {
    let Some(home) = home("a_list_that_scrolls_keeps_its_fingerprint") else { return };
    let product = Product::start(home, api());
    assert!(product.open(".view.List1").await);
    let first = fingerprint(&product).await;
    for (row, way) in [("American Cheese", "down"), ("Baylough", "down"), ("Abbaye de Belloc", "up")] {
        let wanted = format!(r#"{{"selector":{{"text":"{row}"}},"direction":"{way}"}}"#);
        let reply = product.call("scroll_to_element", &wanted).await;
        assert!(!reply.is_error, "{}", reply.text);
        assert_eq!(fingerprint(&product).await, first, "{row}");
    }
}
