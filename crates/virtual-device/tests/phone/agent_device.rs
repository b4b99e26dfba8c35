//! agent-device's helper, used as that client does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use mdm_virtual_device::Phone;
use mdm_wire::adb::frame::Command;

use crate::host::{Host, Output, centre, packets, workbench};

const PACKAGE: &str = "com.callstack.agentdevice.snapshothelper";
const RUNNER: &str = "com.callstack.agentdevice.snapshothelper/.SnapshotInstrumentation";

async fn phone_with_helper() -> (Phone, Host) {
    let (phone, mut host) = workbench().await;
    let apk = format!("printf 'PK.. package={PACKAGE} ' > /data/local/tmp/h.apk");
    host.run(&format!("{apk}; pm install /data/local/tmp/h.apk")).await;
    (phone, host)
}

/// A session, running: the transport that its shell has for itself, and that shell's stream.
struct Running {
    host: Host,
    ids: (u32, u32),
    heard: Vec<u8>,
}

impl Running {
    async fn start(phone: &Phone, port: u16) -> Running {
        let mut host = Host::connect(phone).await;
        let script = format!("shell,v2,raw:am instrument -w -e maxDepth 128 -e sessionPort {port} {RUNNER}");
        let ids = host.open(&script).await.expect("a shell");
        let mut heard = Vec::new();
        while !String::from_utf8_lossy(&heard).contains("STATUS_CODE") {
            let frame = host.frame().await.expect("the phone is there");
            assert_ne!(frame.command, Command::Close, "{:?}", packets(&heard));
            heard.extend_from_slice(&frame.payload);
        }
        host.send(Command::Okay, ids.0, ids.1, Bytes::new()).await;
        let said = packets(&heard).out;
        assert!(said.contains("INSTRUMENTATION_STATUS: sessionReady=true\n"), "{said}");
        Running { host, ids, heard }
    }

    async fn end(mut self) -> Output {
        self.heard.extend(self.host.read_to_end(self.ids).await);
        packets(&self.heard)
    }
}

/// Sends a line and returns the helper's answer.
async fn ask(host: &mut Host, port: u16, line: &str) -> String {
    let (local, remote) = host.open(&format!("tcp:{port}")).await.expect("the helper listens");
    host.send(Command::Write, local, remote, format!("{line}\n")).await;
    String::from_utf8(host.read_to_end((local, remote)).await).expect("text")
}

fn plan(kind: &str, pointers: &str, ms: u32) -> String {
    let plan = format!(
        r#"{{"protocol":"android-touch-plan-v1","kind":"{kind}","durationMs":{ms},"pointers":[{pointers}]}}"#
    );
    format!("gesture g1 {}", STANDARD.encode(plan))
}

fn finger(from: (i32, i32), to: (i32, i32), ms: u32) -> String {
    format!(
        r#"{{"pointerId":0,"samples":[{{"offsetMs":0,"x":{},"y":{}}},{{"offsetMs":{ms},"x":{},"y":{}.4}}]}}"#,
        from.0, from.1, to.0, to.1
    )
}

#[tokio::test(start_paused = true)]
async fn a_session_reads_the_screen_and_moves_fingers() {
    let (phone, mut host) = phone_with_helper().await;
    let session = Running::start(&phone, 45_001).await;
    let answer = ask(&mut host, 45_001, "snapshot s1").await;
    let (head, xml) = answer.split_once("\n\n").expect("a head");
    for line in
        ["ok=true", "requestId=s1", "agentDeviceProtocol=android-snapshot-helper-v1", "truncated=false"]
    {
        assert!(head.lines().any(|l| l == line), "{line} in {head}");
    }
    assert!(head.contains(&format!("byteLength={}", xml.len())), "{head}");
    assert!(xml.contains("text=\"Log in\"") && xml.contains("hint-showing=\"true\""), "{xml}");
    let at = centre(xml, "text=\"Settings\"");
    let said = ask(&mut host, 45_001, &plan("swipe", &finger(at, at, 60), 60)).await;
    assert!(said.contains("ok=true\n") && said.contains("injectedEvents=3\n"), "{said}");
    let after = ask(&mut host, 45_001, "snapshot s2").await;
    assert!(after.contains("Use staging server"), "{after}");
    assert!(ask(&mut host, 45_001, "viewport v").await.contains("width=1080\nheight=2400\n"));
    let quit = ask(&mut host, 45_001, "quit q").await;
    assert!(quit.contains("ok=true\n") && quit.contains("requestId=q\n"), "{quit}");
    let end = session.end().await;
    assert!(end.out.ends_with("INSTRUMENTATION_CODE: -1\n") && end.code == Some(0), "{end:?}");
    assert_eq!(host.open("tcp:45001").await, None, "nobody listens any more");
    assert!(host.dump().await.contains("Use staging server"), "the screen is free again");
}

#[tokio::test(start_paused = true)]
async fn a_keyboard_and_lists_are_told_of() {
    let (phone, mut host) = phone_with_helper().await;
    host.run("am start -n com.workbench/.GalleryActivity").await;
    let _session = Running::start(&phone, 45_002).await;
    let list = ask(&mut host, 45_002, "snapshot s").await;
    assert!(list.contains("can-scroll-forward") && !list.contains("can-scroll-backward"), "{list}");
    let swipe = plan("swipe", &finger((540, 1800), (540, 600), 400), 400);
    assert!(ask(&mut host, 45_002, &swipe).await.contains("ok=true"));
    let list = ask(&mut host, 45_002, "snapshot s").await;
    assert!(list.contains("can-scroll-backward"), "{list}");
    host.run("am start -n com.workbench/.LoginActivity").await;
    let form = ask(&mut host, 45_002, "snapshot s").await;
    assert!(form.contains("windowCount=1\n"), "{form}");
    let (x, y) = centre(&form, "id/email");
    host.run(&format!("input tap {x} {y}")).await;
    let form = ask(&mut host, 45_002, "snapshot s").await;
    assert!(form.contains("windowCount=2\n") && form.contains("window-type=\"2\""), "{form}");
    assert!(ask(&mut host, 45_002, "viewport v").await.contains("keyboardHeight=840\n"));
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_with_its_process() {
    let (phone, mut host) = phone_with_helper().await;
    let first = Running::start(&phone, 45_003).await;
    let pid = host.run(&format!("pidof {PACKAGE}")).await;
    let second = Running::start(&phone, 45_003).await;
    assert_ne!(host.run(&format!("pidof {PACKAGE}")).await, pid);
    assert!(first.end().await.out.contains("shortMsg=Process crashed."));
    assert!(ask(&mut host, 45_003, "snapshot s").await.contains("ok=true"), "the second one serves");
    host.run(&format!("am force-stop {PACKAGE}")).await;
    assert!(second.end().await.out.contains("shortMsg=Process crashed."));
    assert_eq!(host.shell(&format!("pidof {PACKAGE}")).await.code, Some(1));
    assert!(host.dump().await.contains("Log in"), "the screen is free again");
}

#[tokio::test(start_paused = true)]
async fn without_a_session_one_command_does_one_thing() {
    let (_phone, mut host) = phone_with_helper().await;
    let said = host.run(&format!("am instrument -w {RUNNER}")).await;
    let pieces = said.lines().filter_map(|l| l.strip_prefix("INSTRUMENTATION_STATUS: payloadBase64="));
    let xml: Vec<u8> = pieces.flat_map(|piece| STANDARD.decode(piece).unwrap()).collect();
    let xml = String::from_utf8(xml).unwrap();
    assert!(xml.contains("text=\"Log in\"") && xml.ends_with("</hierarchy>"), "{xml}");
    assert!(said.contains("INSTRUMENTATION_RESULT: ok=true\n") && said.ends_with("CODE: -1\n"), "{said}");
    let few = host.run(&format!("am instrument -w -e maxNodes 3 {RUNNER}")).await;
    assert!(few.contains("nodeCount=3\n") && few.contains("truncated=true\n"), "{few}");
    let area = host.run(&format!("am instrument -w -e mode viewport {RUNNER}")).await;
    assert!(area.contains("INSTRUMENTATION_RESULT: height=2400\n"), "{area}");
    let wrong = host.run(&format!("am instrument -w -e mode dance {RUNNER}")).await;
    assert!(wrong.contains("ok=false\n") && wrong.contains("Unsupported mode: dance"), "{wrong}");
    let path = "/data/local/tmp/out.xml";
    host.run(&format!("am instrument -w -e outputPath {path} -e emitChunks false {RUNNER}")).await;
    assert_eq!(host.run(&format!("cat {path}")).await, xml);
}

/// Everything from a client is hostile.
#[tokio::test(start_paused = true)]
async fn nonsense_is_refused_and_the_session_goes_on() {
    let (phone, mut host) = phone_with_helper().await;
    let _session = Running::start(&phone, 45_004).await;
    let far = finger((i32::MAX, i32::MIN), (i32::MIN, i32::MAX), 10);
    for line in [
        String::new(),
        "dance d".to_owned(),
        "gesture g".to_owned(),
        "gesture g ####".to_owned(),
        format!("gesture g {}", STANDARD.encode("{}")),
        plan("swipe", "", 10),
        plan("swipe", &finger((1, 1), (2, 2), 10), 11),
        plan("swipe", &finger((1, 1), (2, 2), 0), 0),
        plan("swipe", &finger((1, 1), (2, 2), 200_000), 200_000),
        plan("transform", &format!("{far},{far}"), 10),
        plan("waltz", &far, 10),
    ] {
        let said = ask(&mut host, 45_004, &line).await;
        assert!(said.contains("ok=false\n") && said.contains("message="), "{line}: {said}");
    }
    assert!(ask(&mut host, 45_004, &plan("swipe", &far, 10)).await.contains("ok=true\n"));
    let mut other = Host::connect(&phone).await;
    let ids = other.open("tcp:45004").await.expect("the helper listens");
    other.send(Command::Write, ids.0, ids.1, "snapshot without an end").await;
    other.send(Command::Close, ids.0, ids.1, Bytes::new()).await;
    assert_eq!(other.read_to_end(ids).await, b"");
    assert!(ask(&mut host, 45_004, "snapshot s").await.contains("ok=true\n"));
    let again = host.run(&format!("am instrument -w -e sessionPort 99999 {RUNNER}")).await;
    assert!(again.contains("bad sessionPort"), "{again}");
}
