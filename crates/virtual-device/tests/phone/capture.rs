//! Dumps and screenshots.

use std::time::Duration;

use bytes::Bytes;
use mdm_virtual_device::{DumpFault, PhoneConfig, Timing};
use mdm_wire::adb::framebuffer::Header;
use tokio::time::Instant;

use crate::host::{Host, bounds, log_in, packets, phone_and_host, workbench};

/// The script that the server sends to capture a tree in one round trip.
const CAPTURE: &str = "f=/data/local/tmp/.mdm-1a2b-7.xml; rm -f \"$f\"; uiautomator dump \"$f\" 2>&1; r=$?; wm size; \
    dumpsys activity activities | grep -E 'ResumedActivity|mFocusedApp'; cat \"$f\"; rm -f \"$f\"; exit $r";

#[tokio::test(start_paused = true)]
async fn the_capture_script_answers_everything_at_once() {
    let (phone, mut host) = workbench().await;
    let output = host.shell(CAPTURE).await;
    assert_eq!((output.code, output.err.as_str()), (Some(0), ""));
    let mut lines = output.out.lines();
    assert_eq!(lines.next(), Some("UI hierchary dumped to: /data/local/tmp/.mdm-1a2b-7.xml"));
    assert_eq!(lines.next(), Some("Physical size: 1080x2400"));
    assert!(
        output.out.contains("  topResumedActivity=ActivityRecord{")
            && output.out.contains("  ResumedActivity: ActivityRecord{")
            && output.out.contains("com.workbench/.LoginActivity t")
    );
    let tree = lines.last().unwrap();
    assert!(tree.starts_with("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\"><node index=\"0\" text=\"\" resource-id=\"\" class=\"android.widget.FrameLayout\" package=\"com.workbench\" content-desc=\"\" checkable=\"false\""));
    assert!(tree.ends_with("</node></hierarchy>"));
    assert_eq!(phone.truth().leftover_files, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn every_node_has_the_attributes_of_a_real_dump_in_order() {
    const ORDER: [&str; 20] = [
        "index",
        "text",
        "resource-id",
        "class",
        "package",
        "content-desc",
        "checkable",
        "checked",
        "clickable",
        "enabled",
        "focusable",
        "focused",
        "scrollable",
        "long-clickable",
        "password",
        "selected",
        "bounds",
        "drawing-order",
        "hint",
        "",
    ];
    let (_phone, mut host) = workbench().await;
    let tree = host.dump().await;
    let nodes: Vec<&str> = tree.split("<node ").skip(1).collect();
    assert!(nodes.len() > 8);
    for node in nodes {
        let names: Vec<&str> = node.split("=\"").map(|part| part.rsplit(' ').next().unwrap_or("")).collect();
        let names = names.iter().take(ORDER.len() - 1).collect::<Vec<_>>();
        assert_eq!(names, ORDER[..ORDER.len() - 1].iter().collect::<Vec<_>>(), "{node}");
    }
}

/// The same for Android 12, which has fewer attributes.
#[tokio::test(start_paused = true)]
async fn older_phones_write_no_hint() {
    let (_phone, mut host) = phone_and_host(PhoneConfig { sdk: 31, ..PhoneConfig::default() }).await;
    let tree = host.dump().await;
    assert!(!tree.contains("hint=") && !tree.contains("drawing-order="));
}

#[tokio::test(start_paused = true)]
async fn dump_faults_are_those_of_phones_and_last_for_one_dump() {
    let (phone, mut host) = workbench().await;
    let path = "/data/local/tmp/f.xml";
    let dump = format!("uiautomator dump {path}");
    let whole = host.run(&format!("{dump} >/dev/null; cat {path}")).await;
    host.run(&format!("echo old > {path}")).await;
    for (fault, code, complaint, file) in [
        (DumpFault::NotIdle, 0, "ERROR: could not get idle state.\n", "old\n"),
        (DumpFault::NullRoot, 0, "ERROR: null root node returned by UiTestAutomationBridge.\n", "old\n"),
        (DumpFault::ErrorExitZero, 0, "ERROR: could not get idle state.\n", "old\n"),
        (DumpFault::Killed, 137, "Killed \n", "old\n"),
        (DumpFault::Truncated(100), 0, "", &whole[..100]),
        (DumpFault::Slow(3000), 0, "", whole.as_str()),
    ] {
        phone.inject_dump_fault(fault);
        let output = host.shell(&dump).await;
        assert_eq!((output.code, output.err.as_str()), (Some(code), complaint), "{fault:?}");
        assert_eq!(host.run(&format!("cat {path}")).await, file, "{fault:?}");
        host.run(&format!("{dump} && cat {path} | grep -q hierarchy && echo old > {path}")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_dump_waits_for_quiet() {
    let (_phone, mut host) =
        phone_and_host(PhoneConfig { timing: Timing::Phone, ..PhoneConfig::default() }).await;
    host.run("am start -n com.workbench/.LoginActivity; sleep 3").await;
    let begun = Instant::now();
    host.run("uiautomator dump").await;
    assert_eq!(begun.elapsed(), Duration::from_millis(1500), "start and quiet of a calm screen");
    log_in(&mut host, "x").await;
    // The answer arrives 600 ms after the tap, 100 ms into the wait: quiet counts from there.
    let begun = Instant::now();
    let tree = host.dump().await;
    assert_eq!(begun.elapsed(), Duration::from_millis(1600));
    assert!(tree.contains("Could not sign in"), "what the dump waited for is in it");
}

#[tokio::test(start_paused = true)]
async fn a_screen_that_never_rests_gives_an_error_after_ten_seconds() {
    let config = PhoneConfig { timing: Timing::Phone, ..PhoneConfig::default() };
    let (phone, mut host) = phone_and_host(config).await;
    let mut other = Host::connect(&phone).await;
    // Each key is an accessibility event; they come faster than the quiet time.
    let busy = tokio::spawn(async move {
        other.run("am start -n com.workbench/.LoginActivity").await;
        other.run("i=0; while [ $i -lt 40 ]; do input keyevent 4; i=$((i+1)); done").await
    });
    let begun = Instant::now();
    let output = host.shell("uiautomator dump").await;
    assert_eq!((output.code, output.err.as_str()), (Some(0), "ERROR: could not get idle state.\n"));
    assert_eq!(begun.elapsed(), Duration::from_millis(10_500));
    busy.abort();
}

#[tokio::test(start_paused = true)]
async fn a_second_dump_at_the_same_time_is_killed() {
    let config = PhoneConfig { timing: Timing::Brisk, ..PhoneConfig::default() };
    let (phone, mut host) = phone_and_host(config).await;
    let mut other = Host::connect(&phone).await;
    let (first, second) = tokio::join!(host.shell("uiautomator dump"), other.shell("uiautomator dump"));
    let mut codes = [first.code, second.code];
    codes.sort();
    assert_eq!(codes, [Some(0), Some(137)]);
    assert!((first.err + &second.err).contains("already registered!"));
    assert_eq!(host.shell("uiautomator dump").await.code, Some(0), "and the next one works");
}

#[tokio::test(start_paused = true)]
async fn a_fixed_tree_is_served_verbatim() {
    let fixed = Bytes::from_static(b"<hierarchy>\xff\x00 not even xml");
    let (phone, mut host) =
        phone_and_host(PhoneConfig { hierarchy: Some(fixed.clone()), ..PhoneConfig::default() }).await;
    let bytes = host.service("exec:uiautomator dump /sdcard/t.xml >/dev/null; cat /sdcard/t.xml").await;
    assert_eq!(bytes, fixed);
    phone.set_hierarchy(None);
    assert!(host.dump().await.contains("com.android.launcher3"));
}

#[tokio::test(start_paused = true)]
async fn dumping_to_the_terminal() {
    let (_phone, mut host) = workbench().await;
    let text = String::from_utf8(host.service("exec:uiautomator dump /dev/tty").await).unwrap();
    assert!(text.ends_with("</hierarchy>UI hierchary dumped to: /dev/tty\n"));
}

#[tokio::test(start_paused = true)]
async fn the_screenshot_shows_what_the_tree_says_in_every_form() {
    let (_phone, mut host) = workbench().await;
    let [left, top, right, bottom] = bounds(&host.dump().await, "text=\"Log in\"");
    let png = host.service("exec:screencap -p").await;
    let mut reader = png::Decoder::new(std::io::Cursor::new(&png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (1080, 2400));
    let at = |x: i32, y: i32| &pixels[((y * 1080 + x) * 4) as usize..][..3];
    let button = at(left + (bottom - top) / 2, top + 4);
    assert_ne!(button, at(left, top - 10), "the button has a colour of its own");
    assert_eq!(button, at(right - (bottom - top) / 2, top + 4));
    let raw = host.service("exec:screencap").await;
    assert_eq!(
        raw[..16],
        [&1080u32.to_le_bytes()[..], &2400u32.to_le_bytes(), &[1, 0, 0, 0], &[1, 0, 0, 0]].concat()
    );
    assert_eq!(raw[16..], pixels, "raw and PNG show the same");
    let frame = host.service("framebuffer:").await;
    let header = Header::decode(2, &frame[4..56]).unwrap();
    assert_eq!((header.width, header.height, header.size_bytes), (1080, 2400, 1080 * 2400 * 4));
    assert_eq!(frame[56..], pixels);
    // Through the shell's packets too, and unharmed by them.
    let bytes = host
        .service("shell,v2,raw:screencap -p | md5sum; screencap -p /sdcard/s.png; md5sum /sdcard/s.png")
        .await;
    let sums = packets(&bytes).out;
    let sums: Vec<&str> = sums.lines().filter_map(|l| l.split(' ').next()).collect();
    assert_eq!(sums[0], sums[1]);
}

#[tokio::test(start_paused = true)]
async fn another_size_lays_out_another_screen() {
    let (_phone, mut host) = workbench().await;
    host.run("wm size 720x1280").await;
    assert_eq!(host.run("wm size").await, "Physical size: 1080x2400\nOverride size: 720x1280\n");
    assert!(host.dump().await.contains("bounds=\"[0,0][720,1280]\""));
    host.run("wm size reset").await;
    assert_eq!(host.run("wm size").await, "Physical size: 1080x2400\n");
    assert_eq!(host.run("wm density").await, "Physical density: 420\n");
}
