//! npm's node-simctl, Appium's client of `xcrun simctl`, with the virtual iPhone's xcrun on its PATH.

use std::path::Path;

use serde::Deserialize;

use crate::clients::script;
use crate::iphone::{Face, IPhone};
use crate::libimobiledevice::write_app;
use crate::process::{part, run};

/// What the script saw; the words of errors are simctl's.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Seen {
    appearance: String,
    pasteboard: String,
    not_installed: String,
    shut_down: String,
    screenshot_bytes: usize,
    udid_inside: String,
}

#[test]
fn node_simctl_knows_the_iphone() {
    let Some(node) = part("MDM_TEST_NODE_BIN", "node-simctl") else { return };
    let Some(library) = part("MDM_TEST_NODE_SIMCTL", "node-simctl") else { return };
    let phone = IPhone::start(&[Face::Xcrun]);
    let app = phone.folder.path().join("Hello.app");
    write_app(&app);
    let folder = Path::new(phone.place(Face::Xcrun)).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = script(&node, "interop/node/simctl.mjs");
    command.arg(&library).arg(&phone.udid).arg(&app).env("PATH", path);
    let done = run(&mut command).ok();
    let seen: Seen = serde_json::from_str(&done.out()).unwrap_or_else(|e| panic!("{e}: {}", done.out()));
    assert_eq!((seen.appearance.as_str(), seen.pasteboard.as_str()), ("dark", "copied ✓"));
    assert!(seen.not_installed.contains("com.example.hello"), "{}", seen.not_installed);
    assert!(seen.shut_down.contains("Shutdown"), "{}", seen.shut_down);
    assert!(seen.screenshot_bytes > 1000);
    assert_eq!(seen.udid_inside, phone.udid);
}
