//! Two unmodified releases of adb, seven years apart, against the virtual phone.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use crate::phone::{APP, Adb, Phone};
use crate::process::part;

with_both_adbs! {
    connected:
    devices_names_the_model,
    exit_codes_arrive,
    stderr_stays_apart,
    a_screenshot_is_a_whole_png,
    fifty_megabytes_come_back_intact,
    logcat_tells_what_happened,
    a_forwarded_port_echoes,
    a_tap_changes_the_screen,
}

fn connected(variable: &str, case: &str, test: fn(&Adb, &Phone)) {
    let Some(program) = part(variable, case) else { return };
    let phone = Phone::start(&[]);
    let adb = Adb::with(program, &phone);
    test(&adb, &phone);
}

fn devices_names_the_model(adb: &Adb, phone: &Phone) {
    let list = adb.run(&["devices", "-l"]).ok().out();
    let line = list.lines().find(|line| line.starts_with(&phone.address)).unwrap_or_else(|| panic!("{list}"));
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[1], "device", "{line}");
    assert!(words.contains(&"model:Virtual_Phone"), "{line}");
}

fn exit_codes_arrive(adb: &Adb, phone: &Phone) {
    for code in [0, 1, 7, 255] {
        assert_eq!(adb.run(&["shell", &format!("exit {code}")]).code, Some(code));
    }
    phone.ran("exit 255");
    assert_eq!(adb.run(&["shell", "no-such-program"]).code, Some(127));
}

fn stderr_stays_apart(adb: &Adb, _: &Phone) {
    let done = adb.run(&["shell", "echo to-out; echo to-err >&2; exit 3"]);
    assert_eq!((done.out().as_str(), done.err().as_str()), ("to-out\n", "to-err\n"));
    assert_eq!(done.code, Some(3));
}

fn a_screenshot_is_a_whole_png(adb: &Adb, phone: &Phone) {
    let png = adb.run(&["exec-out", "screencap", "-p"]).ok().stdout;
    phone.ran("screencap");
    assert_eq!(&png[..16], b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR");
    let word = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((word(16), word(20)), (1080, 2400));
    assert_eq!(&png[png.len() - 12..], b"\0\0\0\0IEND\xaeB`\x82", "the picture is cut off");
}

fn fifty_megabytes_come_back_intact(adb: &Adb, _: &Phone) {
    const BYTES: usize = 50 * 1000 * 1000 + 7;
    let (sent, back) = (adb.home.path().join("sent"), adb.home.path().join("back"));
    let bytes = noise(BYTES);
    std::fs::write(&sent, &bytes).unwrap();
    adb.run(&["push", sent.to_str().unwrap(), "/data/local/tmp/big"]).ok();
    assert_eq!(adb.shell("wc -c < /data/local/tmp/big").trim(), BYTES.to_string());
    adb.run(&["pull", "/data/local/tmp/big", back.to_str().unwrap()]).ok();
    // assert_eq would print a hundred million bytes.
    assert!(std::fs::read(&back).unwrap() == bytes, "the file came back changed");
}

/// Bytes without repetition, so that a wrong offset shows.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let mut bytes: Vec<u8> = (0..length.div_ceil(8)).flat_map(|_| next()).collect();
    bytes.truncate(length);
    bytes
}

fn logcat_tells_what_happened(adb: &Adb, _: &Phone) {
    adb.run(&["logcat", "-c"]).ok();
    let starts =
        |log: String| log.lines().filter(|line| line.contains("START u0") && line.contains(APP)).count();
    assert_eq!(starts(adb.run(&["logcat", "-d"]).ok().out()), 0);
    adb.shell(&format!("am force-stop {APP}; am start -n {APP}/.LoginActivity"));
    assert_eq!(starts(adb.run(&["logcat", "-d"]).ok().out()), 1);
}

fn a_forwarded_port_echoes(adb: &Adb, _: &Phone) {
    let port: u16 = adb.run(&["forward", "tcp:0", "tcp:7"]).ok().out().trim().parse().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(b"there and back").unwrap();
    let mut back = [0; 14];
    stream.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"there and back");
    stream.shutdown(Shutdown::Both).unwrap();
}

fn a_tap_changes_the_screen(adb: &Adb, phone: &Phone) {
    adb.shell(&format!("am start -n {APP}/.LoginActivity"));
    let before = dump(adb);
    assert!(!before.contains("Use staging server"), "{before}");
    let (x, y) = centre_of(&before, "Settings");
    adb.shell(&format!("input tap {x} {y}"));
    phone.ran("input tap");
    let after = dump(adb);
    assert!(after.contains("Use staging server"), "{after}");
}

fn dump(adb: &Adb) -> String {
    adb.shell("rm -f /sdcard/t.xml; uiautomator dump /sdcard/t.xml >/dev/null && cat /sdcard/t.xml")
}

/// The middle of the node with this text, read from `bounds="[l,t][r,b]"`.
fn centre_of(xml: &str, text: &str) -> (i32, i32) {
    let node = xml.split("<node ").find(|node| node.contains(&format!("text=\"{text}\"")));
    let node = node.unwrap_or_else(|| panic!("no {text} in {xml}"));
    let bounds = node.split("bounds=\"").nth(1).unwrap().split('"').next().unwrap();
    let edges: Vec<i32> = bounds.split(['[', ']', ',']).filter_map(|edge| edge.parse().ok()).collect();
    ((edges[0] + edges[2]) / 2, (edges[1] + edges[3]) / 2)
}
