//! Any JSON object as the arguments of every tool: each is read, or refused with bounded words. Tools that only look at a
//! screen are called as well, without a device, also with the arguments of the predecessor.
#![no_main]

use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use mdm_fuzz::runtime;
use mobile_debug_mcp::app::{App, Devices};
use mobile_debug_mcp::args::JsonObject;
use mobile_debug_mcp::compat;
use mobile_debug_mcp::target::SelectorArg;
use mobile_debug_mcp::tools::{self, By};
use tokio_util::sync::CancellationToken;

/// Tools that start nothing and open no file of this machine.
const CALLED: [&str; 16] = [
    "tap_element",
    "tap",
    "type_text",
    "find_element",
    "wait_for_ui",
    "expect_state",
    "expect_element_visible",
    "swipe",
    "drag",
    "pinch",
    "press_key",
    "adjust_control",
    "scroll_to_element",
    "read_list",
    "get_logs",
    "use_device",
];

/// Bytes of one answer: what was given wrongly is repeated in part only.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

fn app() -> &'static App {
    static APP: OnceLock<App> = OnceLock::new();
    APP.get_or_init(|| App::new(Devices::default()))
}

fn by() -> By {
    By::new(app(), Arc::clone(&app().own), CancellationToken::new())
}

fuzz_target!(|data: &[u8]| {
    let Ok(arguments) = serde_json::from_slice::<JsonObject>(data) else { return };
    for entry in tools::all() {
        let _ = entry.check(arguments.clone());
    }
    if let Ok(selector) = SelectorArg::read(arguments.clone()) {
        let _ = selector.selector();
    }
    runtime().block_on(async {
        for entry in CALLED.iter().filter_map(|name| tools::find(name)) {
            let answer = entry.call(app(), arguments.clone(), CancellationToken::new()).await;
            let text = answer.text();
            assert!(text.len() <= ANSWER_BYTES_MAX, "{} answered {} bytes", entry.name, text.len());
            if compat::TOOLS.contains(&entry.name) {
                compat::call(app(), entry, arguments.clone(), by()).await;
            }
        }
    });
});
