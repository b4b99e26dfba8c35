//! Whatever a peer sends, the phone neither panics nor stops serving others.

use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::BytesMut;
use mdm_virtual_device::{Phone, PhoneConfig};
use mdm_wire::adb::frame::{Command, Frame};
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::host::{Host, phone_and_host};

const COMMANDS: [Command; 8] = [
    Command::Sync,
    Command::Connect,
    Command::Auth,
    Command::Open,
    Command::Okay,
    Command::Close,
    Command::Write,
    Command::StartTls,
];

fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let payload = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..80),
        proptest::sample::select(vec![
            &b"sync:\0"[..],
            b"shell,v2:cat\0",
            b"shell:\0",
            b"exec:cat | grep ((((\0",
            b"tcp:7\0",
            b"reverse:forward:;\0",
            b"reverse:killforward:\0",
            b"abb_exec:\0",
            b"abb_exec:package\0install\0-S\0-1\0",
            b"framebuffer:\0",
            b"STAT\xff\xff\xff\x7f",
            b"SEND\x01\0\0\0,DATA\xff\xff\0\0",
            b"\x00\xff\xff\xff\xff",
        ])
        .prop_map(<[u8]>::to_vec),
    ];
    (0usize..8, 0u32..6, 0u32..6, payload).prop_map(|(command, arg0, arg1, payload)| {
        let mut out = BytesMut::new();
        Frame::new(COMMANDS[command], arg0, arg1, payload).encode(&mut out);
        out.to_vec()
    })
}

static OWN_PANICS: AtomicUsize = AtomicUsize::new(0);

/// Counts panics in the phone's own source, which the runtime swallows. The shell's parser is another crate; the
/// phone catches its panics.
fn count_own_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.location().is_some_and(|at| at.file().contains("virtual-device/src")) {
                OWN_PANICS.fetch_add(1, Ordering::SeqCst);
            }
            before(info);
        }));
    });
}

/// Sends bytes, hangs up, and checks over a new connection that the phone still works.
fn survives(bytes: &[u8], greet: bool) {
    count_own_panics();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let phone = Phone::new(PhoneConfig::default());
        let mut socket = phone.connect().unwrap();
        if greet {
            let mut hello = BytesMut::new();
            Frame::new(Command::Connect, 0x0100_0001, 4096, &b"host::"[..]).encode(&mut hello);
            socket.write_all(&hello).await.unwrap();
        }
        let (mut reader, mut writer) = tokio::io::split(socket);
        let reading = tokio::spawn(async move {
            let mut sink = Vec::new();
            let _ = reader.read_to_end(&mut sink).await;
        });
        let _ = writer.write_all(bytes).await;
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        let _ = writer.shutdown().await;
        reading.abort();
        let mut host = Host::connect(&phone).await;
        assert_eq!(host.run("echo alive").await, "alive\n");
    });
    assert_eq!(OWN_PANICS.load(Ordering::SeqCst), 0, "the phone panicked");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn frames_in_any_order(frames in proptest::collection::vec(any_frame(), 0..24), greet: bool) {
        survives(&frames.concat(), greet);
    }

    #[test]
    fn noise(bytes in proptest::collection::vec(any::<u8>(), 0..300), greet: bool) {
        survives(&bytes, greet);
    }

    #[test]
    fn scripts_of_noise(script in "[ -~\n]{0,60}") {
        count_own_panics();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
            let limit = std::time::Duration::from_secs(4 * 3600);
            let output = tokio::time::timeout(limit, host.shell(&format!("{script}\n"))).await;
            // Only a program that waits for input may still run; every other script has a code.
            if let Ok(output) = output {
                prop_assert!(output.code.is_some(), "{script:?} crashed the shell");
            }
            Ok(())
        })?;
        prop_assert_eq!(OWN_PANICS.load(Ordering::SeqCst), 0);
    }
}

/// Coordinates, codes and sizes at the edges of their types.
#[tokio::test(start_paused = true)]
async fn numbers_at_the_edges() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    for script in [
        "input tap 99999999999 -99999999999",
        "input tap NaN 1",
        "input swipe -2147483648 -2147483648 2147483647 2147483647 18446744073709551615",
        "input keyevent 4294967295",
        "wm size 0x0",
        "wm size 8192x8192 && uiautomator dump >/dev/null && screencap -p | wc -c && wm size reset",
        "wm density 1000 && uiautomator dump >/dev/null; wm density reset",
        "logcat -t 0; logcat -d -t 99999999999999999999999",
        "logcat -d -T '9999-12-31 23:59:59.999999999999'",
        "sleep -1; sleep 1e400; timeout x y",
        "head -c 99999999999 /dev/null; tail -n -5 /system/etc/hosts",
        "echo $((9223372036854775807 + 1)) $((1/0)) $((1<<99))",
        "exit 99999999999999999999",
        "date +%; printf '%'; printf '%99999s' x | wc -c",
        "cmd package install -S 18446744073709551616; cmd; cmd package; pm; am; wm; input; settings; dumpsys",
    ] {
        assert!(host.shell(script).await.code.is_some(), "{script}");
    }
    assert_eq!(host.run("echo alive").await, "alive\n");
}

/// Nesting that a recursive parser could choke on: it ends soon, with a code, and on a small stack.
#[tokio::test(start_paused = true)]
async fn deep_scripts_end() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    for piece in [
        "(",
        "((",
        "$(",
        "$((",
        "${x:-",
        "{ ",
        "if ",
        "while ",
        "for a in ",
        "case a in ",
        "! ",
        "`",
        "\"$(",
        "[[ (",
        "[[ ! ",
        "a=(",
        "<(",
        "f() ",
        "a&&",
        "a|",
        "a;",
        "'",
        "\\",
        "<<E\n",
        ">",
        "2>&",
        "((a[",
        "$((-",
        "$((1+",
        "$((a?",
        "time ",
        "x=${x#",
        "{a,",
        "[ ! ",
        "echo $",
        "\n",
        "a &",
    ] {
        for count in [1, 12, 23, 2000] {
            let script = piece.repeat(count);
            let output = host.shell(&script).await;
            assert!(output.code.is_some(), "{count} times {piece:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn closed_nesting_and_costly_patterns_end() {
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let long = "x=aaaaaaaa; i=0; while [ $i -lt 16 ]; do x=$x$x; i=$((i+1)); done";
    for (open, middle, close, count) in [
        ("(", "echo x", ")", 22),
        ("{ ", "echo x; ", "}; ", 22),
        ("$(", "echo x", ")", 22),
        ("\"$(", "echo x", ")\"", 22),
        ("if true; then ", "echo x; ", "fi; ", 22),
        ("while ", "false; ", "do :; done; ", 22),
        ("case a in a) ", "echo x; ", ";; esac; ", 22),
        ("${x:-", "y", "}", 22),
        ("echo $((", "(((((((((((((((((((1)))))))))))))))))))", "))", 1),
        ("echo $(( ", &"-".repeat(20_000), "1 ))", 1),
        ("echo $(( ", &"1+".repeat(20_000), "1 ))", 1),
        ("echo $(( ", &"1?".repeat(5_000), "1 ))", 1),
        ("[ ", &"! ".repeat(40_000), "x ]", 1),
        ("[ ", &"x -o ".repeat(20_000), "x ]", 1),
        ("true", &" && true".repeat(10_000), "", 1),
        ("grep '", &"(a*)*".repeat(1000), "' /system/etc/hosts", 1),
        ("x=a; echo ${x%", &"*".repeat(50_000), "}", 1),
        ("", &format!("{long}; echo ${{x%*b*b*b}}"), "", 1),
        ("", &format!("{long}; case $x in *a*a*a*a*b) echo y;; esac"), "", 1),
        ("", &format!("{long}; echo $x | grep '.*.*.*b'"), "", 1),
    ] {
        let script = format!("{}{middle}{}", open.repeat(count), close.repeat(count));
        let shown: String = script.chars().take(40).collect();
        assert!(host.shell(&script).await.code.is_some(), "{shown}");
    }
}

#[tokio::test]
async fn a_here_document_that_never_ends_is_an_error() {
    // Found by fuzzing: the parser read on for ever.
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let odd =
        ["<<'' ", "cat <<\"\"", "cat <<-'' x", "cat << ''\"\"\n", "cat <<\\", "<<\x0c<(\t", "cat <<X\nx\n"];
    for script in odd {
        assert!(host.shell(script).await.code.is_some_and(|code| code != 0), "{script:?}");
    }
    assert_eq!(host.run("cat <<X\nx\nX\n").await, "x\n");
    assert_eq!(host.run("cat <<-'END'\n\tx\n\tEND\n").await, "x\n");
    assert_eq!(host.run("echo $((1 << 4)) $((1<<(2)))").await, "16 4\n");
}

#[tokio::test]
async fn a_descriptor_that_is_no_number_is_a_syntax_error() {
    // Found by fuzzing: the parser broke off, which was caught.
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    assert!(host.shell("echo x 6666266622622622<").await.code.is_some_and(|code| code != 0));
    assert_eq!(host.run("echo 12345678901; echo 1>&1 y").await, "12345678901\ny\n");
}

#[tokio::test]
async fn a_home_with_a_number_larger_than_any_is_a_word() {
    // Found by fuzzing: the parser broke off.
    let (_phone, mut host) = phone_and_host(PhoneConfig::default()).await;
    let word = "~46499999966694669469";
    assert_eq!(host.run(&format!("echo {word}")).await, format!("{word}\n"));
    assert_eq!(host.shell("echo ~-99999999999999999999 {1..99999999999999999999}").await.code, Some(0));
}
