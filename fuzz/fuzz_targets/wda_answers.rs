//! Any bytes as the answers of WebDriverAgent: each question gets the next of them.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use mdm_fuzz::{answering, runtime};
use mdm_ios::tree::{Limits, parse};
use mdm_ios::wda::Wda;

/// Limit of the waiting for one answer, in the time of the paused clock.
const ANSWER_MAX: Duration = Duration::from_secs(30);

fuzz_target!(|data: &[u8]| {
    runtime().block_on(async {
        let wda = Wda::new(answering::web_driver_agent(data), "127.0.0.1:8100".to_owned());
        let all = async {
            let _ = wda.status().await;
            let _ = wda.device().await;
            let _ = wda.screen().await;
            let _ = wda.is_locked().await;
            let _ = wda.active_app().await;
            if let Ok(tree) = wda.tree().await {
                let _ = parse(&tree.bytes, &Limits::default());
            }
            let _ = wda.active_frame().await;
            let _ = wda.app_state("com.example").await;
            let _ = wda.screenshot().await;
            let _ = wda.set_slider(0, 1, 0.5).await;
            let _ = wda.type_keys("text").await;
        };
        let _ = tokio::time::timeout(ANSWER_MAX, all).await;
    });
});
