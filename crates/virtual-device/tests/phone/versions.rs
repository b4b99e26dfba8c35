//! The same commands on Android 12 and 16, compared with golden files: clients parse every one of these outputs.
//!
//! `UPDATE_GOLDEN=1` writes the files anew; read the difference before you keep it.

use std::fmt::Write as _;
use std::path::PathBuf;

use mdm_virtual_device::PhoneConfig;

use crate::host::phone_and_host;

const COMMANDS: &[&str] = &[
    "getprop ro.build.version.release; getprop ro.build.version.sdk",
    "am start -W -n com.workbench/.LoginActivity",
    "am start -n com.workbench/.LoginActivity",
    "am start -n com.workbench/.Nope",
    "am start -a android.intent.action.VIEW -d https://example.com/a?b=1",
    "am broadcast -a com.example.PING --es k v",
    "am get-current-user; am stack list",
    "am instrument -w com.nobody/.Runner",
    "dumpsys activity activities",
    "dumpsys activity top",
    "dumpsys activity processes",
    "dumpsys activity services io.appium.settings",
    "dumpsys window displays",
    "dumpsys window windows",
    "dumpsys window policy",
    "dumpsys window | grep -E 'mCurrentFocus|mFocusedApp'",
    "dumpsys package com.workbench",
    "dumpsys package com.nobody",
    "dumpsys display",
    "dumpsys SurfaceFlinger --list; dumpsys SurfaceFlinger --display-id; dumpsys SurfaceFlinger --latency | head -n 1",
    "dumpsys input_method | grep -E 'mInputShown|mCurMethodId'",
    "dumpsys gfxinfo com.workbench | head -n 8",
    "dumpsys meminfo com.workbench",
    "dumpsys battery; dumpsys power; dumpsys deviceidle get deep",
    "dumpsys cpuinfo; dumpsys notification; dumpsys nonsense",
    "dumpsys -l; service check window; service check nonsense",
    "wm size; wm density; wm user-rotation; wm size 720x1280; wm size; wm size reset; wm nonsense",
    "pm list packages; pm list packages -3 -f -U --show-versioncode; pm path com.workbench; pm path com.nobody",
    "pm list features | head -n 3; pm has-feature android.hardware.wifi; pm has-feature no.such; pm list users",
    "cmd package resolve-activity --brief com.workbench; cmd package resolve-activity com.nobody",
    "cmd package query-activities --brief -a android.intent.action.MAIN -c android.intent.category.LAUNCHER",
    "pm grant com.workbench android.permission.CAMERA; pm grant com.workbench no.such.PERMISSION",
    "pm disable-user com.workbench; pm list packages -d; pm enable com.workbench; pm uninstall com.nobody",
    "cmd display get-displays",
    "cmd uimode night; cmd uimode night yes; cmd uimode night no",
    "cmd locale get-app-locales com.workbench; cmd clipboard get text; cmd nonsense",
    "settings get system user_rotation; settings get global nope; settings get nowhere x; settings delete global nope",
    "content query --uri content://settings/system --where \"name='user_rotation'\"",
    "ime list -s; ime set nobody/.Ime; ime list -a -s",
    "monkey -p com.workbench -c android.intent.category.LAUNCHER 1; monkey -p com.nobody 1",
    "pidof com.workbench; pidof nobody; ps -A -o PID,NAME; run-as com.workbench id; run-as com.android.settings id",
    "logcat -d -v brief ActivityTaskManager:I '*:S'",
    "logcat -d -v process -t 1; logcat -d -v tag -t 1; logcat -d -v raw -t 1; logcat -d -v time -t 1",
    "logcat -d -v threadtime -t 1; logcat -d -v long -t 1; logcat -d -v threadtime,year,usec,uid -t 1; logcat -g",
    "screenrecord /sdcard/x.mp4; bugreportz -v; getenforce; df /data; uptime",
];

async fn transcript(config: PhoneConfig) -> String {
    let (_phone, mut host) = phone_and_host(config).await;
    let mut all = String::new();
    for command in COMMANDS {
        let output = host.shell(command).await;
        let _ = write!(all, "$ {command}\n{}", output.out);
        for line in output.err.lines() {
            let _ = writeln!(all, "! {line}");
        }
        if output.code != Some(0) {
            let _ = writeln!(all, "? {:?}", output.code.expect("a code"));
        }
        all.push('\n');
    }
    all
}

async fn check(name: &str, config: PhoneConfig) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/phone/golden").join(name);
    let got = transcript(config).await;
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &got).expect("the golden file can be written");
    }
    let wanted = std::fs::read_to_string(&path).expect("the golden file is there");
    for (line, (got, wanted)) in got.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(got, wanted, "{name}:{}", line + 1);
    }
    assert_eq!(got.len(), wanted.len(), "{name} ends earlier or later");
}

#[tokio::test(start_paused = true)]
async fn android_12() {
    let config = PhoneConfig { android_version: "12".to_owned(), sdk: 31, ..PhoneConfig::default() };
    check("android-12.txt", config).await;
}

#[tokio::test(start_paused = true)]
async fn android_16() {
    check("android-16.txt", PhoneConfig::default()).await;
}
