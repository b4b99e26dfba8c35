//! The truth is for tests: no service and no command reveals it.

use mdm_virtual_device::{Faults, PhoneConfig};

use crate::host::phone_and_host;

const PASSWORD: &str = "s3cret-never-shown";

/// Commands that read. If one of them revealed the truth, the password would be in its output.
const READERS: [&str; 16] = [
    "logcat -d -b all -v long",
    "dumpsys",
    "dumpsys window",
    "dumpsys activity activities",
    "dumpsys package com.workbench",
    "dumpsys input_method",
    "getprop",
    "settings list global; settings list secure; settings list system",
    "uiautomator dump /dev/tty",
    "ls -laR / 2>/dev/null",
    "cat /data/local/tmp/* /sdcard/* 2>/dev/null",
    "cmd clipboard get text",
    "ps -A; pm list packages",
    "run-as com.workbench ls",
    "truth; cat /proc/truth; getprop truth; dumpsys truth; cmd truth; service call truth 1; content query --uri content://truth",
    "set; env",
];

#[tokio::test(start_paused = true)]
async fn nothing_on_the_wire_reads_the_truth() {
    let faults = Faults { lost_tap: 0.0001, ..Faults::default() };
    let (phone, mut host) = phone_and_host(PhoneConfig { faults, ..PhoneConfig::default() }).await;
    host.run("am start -W -n com.workbench/.LoginActivity").await;
    host.tap("resource-id=\"com.workbench:id/password\"").await;
    host.run(&format!("input text {PASSWORD}")).await;
    assert!(phone.truth().fields.values().any(|value| value == PASSWORD), "the truth knows it");
    for script in READERS {
        let output = host.shell(script).await;
        for shown in [&output.out, &output.err] {
            assert!(!shown.contains(PASSWORD), "{script} tells the password");
            assert!(!shown.contains("lost-tap") && !shown.contains("LostTap"), "{script} tells of faults");
        }
    }
    for service in
        ["truth:", "fault:", "test:", "debug:", "localabstract:truth", "localfilesystem:/truth", "jdwp:1"]
    {
        assert_eq!(host.open(service).await, None, "{service}");
    }
}
