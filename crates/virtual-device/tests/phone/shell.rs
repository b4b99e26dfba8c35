//! The shell and the programs in it, as scripts of real clients use them.

use mdm_virtual_device::PhoneConfig;

use crate::host::{Host, phone_and_host, workbench};

async fn check(host: &mut Host, script: &str, out: &str, code: u8) {
    let output = host.shell(script).await;
    assert_eq!((output.out.as_str(), output.code), (out, Some(code)), "{script}\n{}", output.err);
}

#[tokio::test(start_paused = true)]
async fn scripts_of_clients() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let h = &mut host;
    check(h, "echo out; echo err >&2; exit 7", "out\n", 7).await;
    check(h, "false; echo $?", "1\n", 0).await;
    check(h, "x='a b'; [ \"$x\" = 'a b' ] && echo same || echo other", "same\n", 0).await;
    check(h, "if [ -f /nope ]; then echo y; elif [ -d /sdcard ]; then echo d; else echo n; fi", "d\n", 0)
        .await;
    check(h, "for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done", "1\n3\n", 0).await;
    check(h, "i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; echo $i", "3\n", 0).await;
    check(h, "echo $(echo a; echo b) \"$(echo a; echo b)\"", "a b a\nb\n", 0).await;
    check(h, "echo 'it'\\''s' \"q\\\"uote\" \\$x", "it's q\"uote $x\n", 0).await;
    check(h, "printf '%s-%d\\n' a 1 b 2", "a-1\nb-2\n", 0).await;
    check(h, "nonsense", "", 127).await;
    check(h, "ls /nope 2>&1", "ls: /nope: No such file or directory\n", 1).await;
    check(h, "ls /nope 2>/dev/null || echo no", "no\n", 0).await;
    check(h, "( exit 3 ); echo $?; { echo g; } | cat", "3\ng\n", 0).await;
    check(h, "echo one two | wc -w; printf 'a\\nb\\nc\\n' | head -n 2 | tail -1", "2\nb\n", 0).await;
    check(h, "f() { echo \"f:$1\"; return 4; }; f x; echo $?", "f:x\n4\n", 0).await;
    check(h, "case abc in a*) echo yes;; *) echo no;; esac", "yes\n", 0).await;
    check(h, "A=5 sh -c 'echo $A$0$1' s t; echo \"[$A]\"", "5st\n[]\n", 0).await;
    check(h, "export X=1; exec echo done; echo never", "done\n", 0).await;
    check(h, "rm '/data/local/tmp/a.apk' </dev/null; echo $?", "1\n", 0).await;
    check(h, "pidof nobody || echo NO_HELPER", "NO_HELPER\n", 0).await;
    check(h, "echo a >/sdcard/f; echo b >>/sdcard/f; cat </sdcard/f; rm /sdcard/f", "a\nb\n", 0).await;
    check(h, "echo \"${x:-default} ${#PATH}\" | grep -c default", "1\n", 0).await;
    check(h, "! true; echo $?; true && ! false && echo ok", "1\nok\n", 0).await;
    check(h, "mkdir -p /sdcard/a/b && ls /sdcard/a && mv /sdcard/a /sdcard/c && ls -d /sdcard/c/b && rm -r /sdcard/c", "b\n/sdcard/c/b\n", 0).await;
    check(h, "echo hi | grep -q hi && echo found; echo hi | grep -v hi", "found\n", 1).await;
    check(h, "echo 'x' > /system/x", "", 1).await;
    check(
        h,
        "getprop ro.product.model; getprop ro.build.version.sdk; getprop no.such",
        "Virtual Phone\n36\n\n",
        0,
    )
    .await;
    check(h, "id -u; whoami; settings get global device_name", "2000\nshell\nnull\n", 0).await;
    check(h, "echo unfinished 'quote", "", 1).await;
    assert!(host.run("getprop").await.contains("[ro.product.model]: [Virtual Phone]\n"));
}

#[tokio::test(start_paused = true)]
async fn the_old_protocol_mixes_the_streams_and_loses_the_code() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let bytes = host.service("shell:echo out; echo err >&2; exit 7; ").await;
    assert_eq!(bytes, b"out\nerr\n");
    let bytes = host.service("shell:echo x; echo X4EXIT:$?").await;
    assert_eq!(bytes, b"x\nX4EXIT:0\n");
}

#[tokio::test(start_paused = true)]
async fn an_endless_script_ends() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    assert_eq!(host.shell("while true; do :; done").await.code, Some(137));
    assert_eq!(host.shell("f() { f; }; f").await.code, Some(1));
    let deep = format!("{}echo x{}", "$(".repeat(200), ")".repeat(200));
    assert_eq!(host.shell(&deep).await.code, Some(1));
    let row = format!("{} echo x", "nohup ".repeat(5000));
    assert_eq!(host.shell(&row).await.out, "x\n");
    // Doubling a string for ever, and many copies of a long one.
    let doubling = "x=aaaaaaaa; i=0; while [ $i -lt 60 ]; do x=$x$x; i=$((i+1)); done; echo ${#x}";
    assert_eq!(host.run(doubling).await, "1048576\n");
    let copies = format!("{doubling} >/dev/null; echo {}; echo code $?", "$x ".repeat(2000));
    assert_eq!(host.run(&copies).await, "code 126\n");
    assert_eq!(host.shell(&format!("echo x{}", "| cat ".repeat(1000))).await.code, Some(137));
}

#[tokio::test(start_paused = true)]
async fn device_time_is_the_test_clock() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let before: u64 = host.run("date +%s").await.trim().parse().unwrap();
    host.run("sleep 90").await;
    let after: u64 = host.run("date +%s").await.trim().parse().unwrap();
    assert_eq!(after - before, 90);
}

#[tokio::test(start_paused = true)]
async fn log_formats_add_up() {
    let (_phone, mut host) = workbench().await;
    let last = |text: String| text.lines().last().unwrap_or("").to_owned();
    let plain = last(host.run("logcat -d -v threadtime").await);
    assert!(plain.starts_with("03-02 09:00:0"), "{plain}");
    for script in
        ["logcat -d -v threadtime,year", "logcat -d -v threadtime -v year", "logcat -d -vthreadtime -vyear"]
    {
        assert_eq!(last(host.run(script).await), format!("2026-{plain}"), "{script}");
    }
    let epoch = last(host.run("logcat -d -v epoch").await);
    assert!(epoch.starts_with("17724420"), "{epoch}");
    assert_eq!(host.run("logcat -t 3").await.lines().filter(|l| !l.starts_with("---")).count(), 3);
    let all = host.run("logcat -d").await;
    assert_eq!(host.run("export ANDROID_LOG_TAGS=\"''\"; exec logcat '-d'").await, all);
    assert!(host.run("logcat -d -b crash").await.is_empty());
    let pid = host.run("pidof com.workbench").await;
    assert_eq!(
        host.run(&format!("logcat -d --pid={}", pid.trim())).await,
        "",
        "the app itself said nothing yet"
    );
    host.run("sleep 5; am force-stop com.workbench").await;
    let since = host.run("logcat -d -T '03-02 09:00:05.000'").await;
    assert!(since.contains("Killing") && !since.contains("Displayed"), "{since}");
    host.run("logcat -c").await;
    assert_eq!(host.run("logcat -d").await, "");
    assert_eq!(host.shell("logcat -v nonsense").await.code, Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_streaming_log_shows_what_happens_later() {
    let (phone, mut host) = workbench().await;
    let mut viewer = Host::connect(&phone).await;
    let reading =
        tokio::spawn(async move { viewer.run("logcat -T 1 AuthRepo:E '*:S' | grep -m 1 POST").await });
    crate::host::log_in(&mut host, "x").await;
    let line = reading.await.unwrap();
    assert!(line.contains("-> 401"), "{line}");
}

#[tokio::test(start_paused = true)]
async fn shells_read_what_the_host_writes() {
    use mdm_wire::adb::frame::Command;
    use mdm_wire::adb::shell::Packet;
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let (local, remote) = host.open("shell,v2,raw:cat; echo end").await.unwrap();
    let mut out = bytes::BytesMut::new();
    Packet::Stdin(bytes::Bytes::from_static(b"typed\n")).encode(&mut out);
    Packet::CloseStdin.encode(&mut out);
    host.send(Command::Write, local, remote, out.freeze()).await;
    let output = crate::host::packets(&host.read_to_end((local, remote)).await);
    assert_eq!((output.out.as_str(), output.code), ("typed\nend\n", Some(0)));
}

/// A helper that is started in the background with its output sent away outlives its shell, holds the phone's one
/// UiAutomation, and gives it back when it is killed.
#[tokio::test(start_paused = true)]
async fn a_detached_helper_outlives_its_shell() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let launch = "CLASSPATH=/data/local/tmp/x nohup app_process / com.mobilenext.mobilecli.DeviceServer";
    check(&mut host, &format!("{launch} >/dev/null 2>&1 & echo started"), "started\n", 0).await;
    check(&mut host, "uiautomator dump /sdcard/a.xml 2>/dev/null", "", 137).await;
    check(&mut host, "pkill -f DeviceServer", "", 0).await;
    check(&mut host, "uiautomator dump /sdcard/a.xml", "UI hierchary dumped to: /sdcard/a.xml\n", 0).await;
    check(&mut host, "pkill -f DeviceServer", "", 1).await;
}
