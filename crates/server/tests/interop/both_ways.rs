//! Our own binary against the phone: over its own adb connection, and through the real adb server.

use std::process::Command;

use crate::phone::{APP, Adb, Phone};
use crate::process::{BINARY, Done, part, run};

const TREE: &str = r#"{"platform":"android"}"#;

#[track_caller]
fn call(adb: &Adb, tool: &str, arguments: &str, options: &[&str]) -> Done {
    run(adb.environment(Command::new(BINARY).args(["call", tool, arguments]).args(options)))
}

/// Every case with each adb.
fn with_each(case: &str, test: impl Fn(Adb)) {
    for variable in ["MDM_TEST_ADB29", "MDM_TEST_ADB36"] {
        let Some(program) = part(variable, case) else { return };
        test(Adb::start(program));
    }
}

#[test]
fn both_ways_to_the_phone_show_the_same_screen() {
    with_each("the same outline both ways", |adb| {
        let phone = Phone::start(&[]);
        adb.run(&["connect", &phone.address]).ok();
        adb.shell(&format!("am start -n {APP}/.LoginActivity"));
        let direct =
            call(&adb, "get_ui_tree", TREE, &["--no-adb-server", "--device", &phone.address]).ok().out();
        phone.ran("uiautomator dump");
        let served = call(&adb, "get_ui_tree", TREE, &[]).ok().out();
        phone.ran("uiautomator dump");
        assert!(direct.contains("Log in"), "{direct}");
        assert_eq!(direct, served);
    });
}

/// W28: a phone that has not let us in is listed as what it is, and is never taken for a phone that can be used.
#[test]
fn an_unauthorized_phone_is_listed_and_never_counts() {
    with_each("an unauthorized phone", |adb| {
        let locked = Phone::start(&["--auth", "refuse"]);
        adb.run(&["connect", &locked.address]);
        assert!(adb.run(&["devices"]).ok().out().contains(&format!("{}\tunauthorized", locked.address)));
        let list = call(&adb, "list_devices", "{}", &[]).ok().out();
        assert!(list.contains(&locked.address) && list.contains("unauthorized"), "{list}");
        let alone = call(&adb, "get_ui_tree", TREE, &[]);
        assert_eq!(alone.code, Some(1), "{}", alone.out());

        let open = Phone::start(&[]);
        adb.run(&["connect", &open.address]).ok();
        call(&adb, "get_ui_tree", TREE, &[]).ok();
        open.ran("uiautomator dump");
    });
}

/// W28, without any adb server.
#[test]
fn an_unauthorized_phone_is_no_device_over_a_direct_connection_either() {
    let Some(program) = part("MDM_TEST_ADB36", "a direct unauthorized phone") else { return };
    let (adb, locked) = (Adb::start(program), Phone::start(&["--auth", "refuse"]));
    let options = ["--no-adb-server", "--device", &locked.address];
    let list = call(&adb, "list_devices", "{}", &options).ok().out();
    assert!(list.contains(&locked.address) && list.contains("unauthorized"), "{list}");
    assert_eq!(call(&adb, "get_ui_tree", TREE, &options).code, Some(1));
}
