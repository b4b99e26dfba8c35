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
async fn the_language_beyond_simple_commands() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let h = &mut host;
    check(h, "[[ abc == a* && 3 -lt 5 ]] && echo yes; [[ -z x ]] || echo no", "yes\nno\n", 0).await;
    check(h, "x=3; echo $((x+=2)) $((x++)) $x $((1 && 0 || 7))", "5 5 6 1\n", 0).await;
    check(h, "case 'a*' in 'a*') echo literal;; esac; case b in [!a]) echo set;; esac", "literal\nset\n", 0)
        .await;
    check(h, "set -e; false || echo kept; if false; then :; fi; false; echo never", "kept\n", 1).await;
    check(h, "trap 'echo bye' EXIT; echo hi; exit 3", "hi\nbye\n", 3).await;
    check(h, "(trap 'echo inner' EXIT); $(trap 'echo :' EXIT); echo end", "inner\nend\n", 0).await;
    check(h, "sleep 5 & p=$!; kill $p; wait $p; echo $?", "143\n", 0).await;
    check(h, "sh -c 'sleep 1; exit 4' & wait $!; echo $?", "4\n", 0).await;
    check(h, "f() { local x=1; echo $x; }; x=0; f; echo $x", "1\n0\n", 0).await;
    check(h, "IFS=:; v=a::b; for i in $v; do echo \"[$i]\"; done", "[a]\n[]\n[b]\n", 0).await;
    check(h, "set -- 'a b' c; for i in \"$@\"; do echo $i; done; shift; echo $# $1", "a b\nc\n1 c\n", 0)
        .await;
    check(h, "printf 'a b c\\n' | while read x y; do echo \"$y-$x\"; done", "b c-a\n", 0).await;
    check(h, "cat <<END\n$((1+1)) `echo q`\nEND\ncat <<'END'\n$x\nEND", "2 q\n$x\n", 0).await;
    check(h, "false; x=$(false); echo $?; false; y=1; echo $?", "1\n0\n", 0).await;
    check(h, "until [ ${i:-0} -ge 2 ]; do i=$((${i:-0}+1)); echo $i; done", "1\n2\n", 0).await;
    check(h, "set -o pipefail; false | true; echo $?", "1\n", 0).await;
    let d = "cd /data/local/tmp; mkdir -p g/a g/b; touch g/a/1.x g/b/2.x g/b/3.y;";
    check(
        h,
        &format!("{d} echo g/*/*.x g/[!a]/*; echo '*'g no*"),
        "g/a/1.x g/b/2.x g/b/2.x g/b/3.y\n*g no*\n",
        0,
    )
    .await;
    check(h, "cd /data/local/tmp; find g -name '*.x' | sort | xargs -n 1 basename; rm -r g", "1.x\n2.x\n", 0)
        .await;
    check(h, "timeout 1 sleep 9; echo $?; timeout 5 sh -c 'exit 3'; echo $?", "124\n3\n", 0).await;
    check(
        h,
        "unset nope; echo ${nope-a}${nope:=b}$nope${nope:+c}; p=/a/b.c; echo ${p##*/} ${p%.*}",
        "abbc\nb.c /a/b\n",
        0,
    )
    .await;
    check(h, "command -v ls cd; type nothing; echo $?", "/system/bin/ls\ncd\n1\n", 0).await;
}

#[tokio::test(start_paused = true)]
async fn tools_that_clients_pipe_through() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let h = &mut host;
    check(
        h,
        "printf 'b 2\\na 10\\na 10\\n' | sort | uniq -c | sort -k1nr | cut -c 1-8,9-",
        "      2 a 10\n      1 b 2\n",
        0,
    )
    .await;
    check(
        h,
        "echo 'package:com.a=1' | sed -e 's/^package://' -e 's/\\(.*\\)=\\(.\\)/\\2 \\1/'",
        "1 com.a\n",
        0,
    )
    .await;
    check(
        h,
        "printf '1\\n2\\n3\\n4\\n' | sed -n '2,3p;$p'; echo abc | sed 's/b/[&]/g;s/x/y/'",
        "2\n3\n4\na[b]c\n",
        0,
    )
    .await;
    check(h, "echo a:b:c | cut -d: -f1,3; echo HeLLo | tr 'A-Z' 'a-z'; echo aabb | tr -s a; echo a1b2 | tr -d '[:digit:]'", "a:c\nhello\nabb\nab\n", 0).await;
    check(
        h,
        "echo hello | base64; echo aGVsbG8K | base64 -d; echo -n abc | md5sum; echo -n abc | sha1sum",
        "aGVsbG8K\nhello\n900150983cd24fb0d6963f7d28e17f72  -\na9993e364706816aba3e25717850c26c9cd0d89d  -\n",
        0,
    )
    .await;
    check(
        h,
        "echo -n AB | xxd -p; echo AB | xxd",
        "4142\n00000000: 4142 0a                                  AB.\n",
        0,
    )
    .await;
    check(h, "cd /data/local/tmp; echo x > f; ln -s f l; readlink l; cat l; chmod u+x f; stat -c %a f; ls -l l | cut -c 1; rm f l", "f\nx\n744\nl\n", 0).await;
    check(
        h,
        "seq 3 | tac; seq 5 | tail -n +4; basename /a/b.apk .apk; dirname /a/b",
        "3\n2\n1\n4\n5\nb\n/a\n",
        0,
    )
    .await;
    check(h, "printf '%05.1f|%-4s|%4d|%x\\n' 3.14159 ab 7 255", "003.1|ab  |   7|ff\n", 0).await;
    check(
        h,
        "echo one two | grep -o 't..'; echo 'a.b' | grep -F -c .; printf 'x\\ny\\nz\\n' | grep -n -A1 y",
        "two\n1\n2:y\n3-z\n",
        0,
    )
    .await;
    check(h, "echo abcdef | dd bs=2 skip=1 count=1 2>/dev/null; echo; echo t | tee /sdcard/t; cat /sdcard/t; rm /sdcard/t", "cd\nt\nt\n", 0).await;
    check(
        h,
        "run-as com.workbench id -un; run-as com.android.settings true; run-as nobody true",
        "u0_a125\n",
        1,
    )
    .await;
    check(h, "pkill -f no.such.Server; echo $?; ps | wc -l; ps -A | grep -c zygote", "1\n3\n1\n", 0).await;
    check(h, "ps --help | grep -c ^-A", "1\n", 0).await;
}

#[tokio::test(start_paused = true)]
async fn settings_and_services_remember() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let h = &mut host;
    check(
        h,
        "settings put system user_rotation 1; settings get system user_rotation; wm user-rotation",
        "1\nlock 1\n",
        0,
    )
    .await;
    check(
        h,
        "wm user-rotation free; settings get system accelerometer_rotation; wm user-rotation",
        "1\nfree\n",
        0,
    )
    .await;
    check(h, "content insert --uri content://settings/system --bind name:s:accelerometer_rotation --bind value:i:0; settings list system | head -n 1", "accelerometer_rotation=0\n", 0).await;
    check(
        h,
        "cmd uimode night yes; cmd uimode night; svc wifi disable; settings get global wifi_on",
        "Night mode: yes\nNight mode: yes\n0\n",
        0,
    )
    .await;
    check(h, "pm grant com.workbench android.permission.CAMERA; dumpsys package com.workbench | grep -o 'CAMERA: granted=[a-z]*'", "CAMERA: granted=true\n", 0).await;
    check(h, "pm disable-user com.workbench; am start -n com.workbench/.LoginActivity; pm enable com.workbench", "Package com.workbench new state: disabled-user\nStarting: Intent { cmp=com.workbench/.LoginActivity }\nPackage com.workbench new state: enabled\n", 0).await;
    check(h, "appops set com.workbench CAMERA ignore; appops get com.workbench CAMERA; cmd locale set-app-locales com.workbench --locales de-DE; cmd locale get-app-locales com.workbench", "CAMERA: ignore\nLocales for com.workbench for user 0 are [de-DE]\n", 0).await;
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
async fn a_terminal_joins_the_streams_and_ends_lines_its_own_way() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let bytes = host.service("shell,v2,pty:echo out; echo err >&2; exit 3").await;
    let output = crate::host::packets(&bytes);
    assert_eq!((output.out.as_str(), output.err.as_str(), output.code), ("out\r\nerr\r\n", "", Some(3)));
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

/// An option whose letter is no ASCII is refused like any other unknown one.
#[tokio::test(start_paused = true)]
async fn logcat_reads_options_in_any_alphabet() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    check(&mut host, "logcat -éx 2>/dev/null; echo alive", "alive\n", 0).await;
}
