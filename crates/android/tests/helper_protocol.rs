//! What docs/helper-protocol.md says, asked of two helpers in the same words: the model phone's own, and the code of the
//! jar itself, which runs on the framework phone.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail like tests"
)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mdm_android::adb::direct::Transport;
use mdm_android::adb::key::HostKey;
use mdm_android::adb::link::Link;
use mdm_android::adb::shell::ShellStream;
use mdm_android::adb::{Adb, AdbStream, Script};
use mdm_virtual_device::{FrameworkApp, FrameworkConfig, Phone, PhoneConfig, Timing};
use mdm_wire::adb::shell::Packet;
use mdm_wire::helper::{
    ANSWER_BYTES_MAX, Answer, Argument, Finger, HEAD_BYTES, Head, Hello, KeyPress, PictureFormat,
    RefusalCode, Request, Sample, TextMode, Tree, TreeAnswer, UiEvent, WindowFlags,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Duration, Instant, timeout};

const VARIABLE: &str = "MDM_TEST_FRAMEWORK";
const FILE: &str = "/data/local/tmp/h.jar";
const NONCE: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const ACTION_CLICK: u32 = 16;
const KEY_HOME: u16 = 3;

/// A phone, and the helper that was started on it.
struct World {
    phone: Phone,
    adb: Adb,
    shell: Option<ShellStream>,
}

impl World {
    fn new(phone: Phone) -> World {
        let connects = phone.clone();
        let connector = Arc::new(move || {
            let connected = connects.connect();
            Box::pin(async move { Ok(Box::new(connected?) as Box<dyn Transport>) }) as _
        });
        let adb = Adb::direct(Link::new(connector, HostKey::at("/nonexistent/adbkey")));
        World { phone, adb, shell: None }
    }

    async fn run(&self, command: &'static str) -> String {
        self.adb.shell(&Script::new(command), 1 << 20).await.unwrap().stdout_text()
    }

    /// Starts the helper out of a jar, and returns the first line that it says.
    async fn start(&mut self, jar: &[u8]) -> String {
        self.shell = None;
        self.adb.push(&mut &*jar, FILE, 0o644, 0, |_| {}).await.unwrap();
        let script = Script::new(
            "CLASSPATH=/data/local/tmp/h.jar app_process / mdm.helper.Main sock /data/local/tmp/h.jar",
        );
        let mut shell = self.adb.shell_stream(&script).await.unwrap();
        shell.write_stdin(b"000102030405060708090a0b0c0d0e0f\n").await.unwrap();
        let said = shell.next().await.unwrap();
        self.shell = Some(shell);
        match said {
            Some(Packet::Stdout(line)) => String::from_utf8(line.to_vec()).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    async fn started(&mut self) {
        assert_eq!(self.start(&jar()).await, "mdm-helper 1 ready\n");
        assert!(self.phone.truth().leftover_files.is_empty(), "the jar is gone");
    }

    /// How the helper's process ended.
    async fn ended(&mut self) -> Option<Packet> {
        let shell = self.shell.as_mut().unwrap();
        timeout(Duration::from_secs(5), shell.next()).await.expect("an end").unwrap()
    }

    async fn connect(&self) -> Client {
        let stream = self.adb.open("localabstract:sock").await.unwrap();
        Client { stream, last: 0, events: Vec::new() }
    }

    async fn greeted(&mut self) -> Client {
        self.started().await;
        let mut client = self.connect().await;
        match client.ask(&hello(NONCE)).await {
            Answer::Hello(welcome) => assert_eq!(welcome.version, 1),
            other => panic!("{other:?}"),
        }
        client
    }
}

fn jar() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../helper/mdm-helper.jar");
    std::fs::read(path).unwrap()
}

fn hello(nonce: [u8; 16]) -> Request {
    Request::Hello(Hello { version: 1, nonce })
}

struct Client {
    stream: AdbStream,
    last: u32,
    events: Vec<UiEvent>,
}

impl Client {
    /// Returns the next frame; nothing at the end of the connection.
    async fn frame(&mut self) -> Option<(Head, Vec<u8>)> {
        let mut start = [0; HEAD_BYTES];
        self.stream.read_exact(&mut start).await.ok()?;
        let head = Head::decode(start, ANSWER_BYTES_MAX).unwrap();
        let mut payload = vec![0; head.payload_bytes];
        self.stream.read_exact(&mut payload).await.ok()?;
        Some((head, payload))
    }

    /// Sends bytes under the next number and returns the answer to them. Events before it are kept.
    async fn answer_to(&mut self, frame: &[u8]) -> Answer {
        self.stream.write_all(frame).await.unwrap();
        loop {
            let (head, payload) = self.frame().await.expect("an answer");
            if head.id == 0 && head.kind == UiEvent::KIND {
                self.events.push(UiEvent::decode(&payload).unwrap());
                continue;
            }
            assert_eq!(head.id, self.last, "answers come in order");
            return Answer::decode(head.kind, &payload).unwrap();
        }
    }

    async fn ask(&mut self, request: &Request) -> Answer {
        self.last += 1;
        self.answer_to(&request.frame(self.last)).await
    }

    #[track_caller]
    fn refused<'a>(&'a mut self, request: &'a Request, code: RefusalCode) -> impl Future<Output = ()> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            match self.ask(request).await {
                Answer::Refused(refusal) => assert_eq!(refusal.code, code, "{caller}: {refusal:?}"),
                other => panic!("{caller}: {other:?}"),
            }
        }
    }

    #[track_caller]
    fn done<'a>(&'a mut self, request: &'a Request) -> impl Future<Output = ()> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let answer = self.ask(request).await;
            assert!(matches!(answer, Answer::Done), "{caller}: {answer:?}");
        }
    }

    async fn tree(&mut self, known: u64) -> (u64, Tree) {
        match self.ask(&Request::Tree { known }).await {
            Answer::Tree(tree) => match *tree {
                TreeAnswer::New { hash, tree } => (hash, tree),
                TreeAnswer::Same => panic!("the same"),
            },
            other => panic!("{other:?}"),
        }
    }

    /// Waits for an event that was not told before.
    async fn event(&mut self) -> UiEvent {
        if self.events.is_empty() {
            let next = timeout(Duration::from_secs(60), self.frame()).await.expect("an event");
            let (head, payload) = next.expect("an event");
            assert_eq!((head.id, head.kind), (0, UiEvent::KIND));
            return UiEvent::decode(&payload).unwrap();
        }
        self.events.remove(0)
    }

    async fn assert_closed(&mut self) {
        let next = timeout(Duration::from_secs(5), self.frame()).await.expect("an end");
        assert!(next.is_none(), "{next:?}");
    }
}

fn click(serial: u32, index: u32) -> Request {
    Request::Action { serial, index, action: ACTION_CLICK, argument: Argument::None }
}

fn touch(ms: u32) -> Request {
    let down = Finger { id: 0, x: 540, y: 1200 };
    Request::Touch(vec![Sample { at_ms: 0, fingers: vec![down] }, Sample { at_ms: ms, fingers: Vec::new() }])
}

/// A frame whose payload is given as it is.
fn raw(id: u32, kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len() + 5).unwrap();
    [&length.to_be_bytes()[..], &id.to_be_bytes(), &[kind], payload].concat()
}

async fn greetings(world: &mut World) {
    world.started().await;
    for message in
        [hello([9; 16]), Request::Hello(Hello { version: 2, nonce: NONCE }), Request::Tree { known: 0 }]
    {
        let mut stranger = world.connect().await;
        stranger.stream.write_all(&message.frame(1)).await.unwrap();
        stranger.assert_closed().await;
    }
    let mut client = world.connect().await;
    assert!(matches!(client.ask(&hello(NONCE)).await, Answer::Hello(_)), "strangers did not end it");
    client.done(&Request::Bye).await;
    client.assert_closed().await;
    assert!(matches!(world.ended().await, Some(Packet::Exit(0))));
    world.started().await;
    for _ in 0..10 {
        let mut stranger = world.connect().await;
        stranger.stream.write_all(&hello([9; 16]).frame(1)).await.unwrap();
        stranger.assert_closed().await;
    }
    assert!(matches!(world.ended().await, Some(Packet::Exit(0))), "ten strangers do");
}

async fn bad_requests(world: &mut World) {
    let mut client = world.greeted().await;
    for (kind, payload) in [
        (99, &[][..]),
        (2, &[0; 7]),
        (2, &[0; 9]),
        (3, &[0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 9, 0, 0, 0, 9]),
        // The same finger twice, one that Android does not know, keys that are held too long, too good a picture.
        (3, &[&[0, 2, 0, 0, 0, 0, 2][..], &[1; 18], &[0, 0, 0, 9, 0]].concat()),
        (3, &[0, 2, 0, 0, 0, 0, 1, 32, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 9, 0]),
        (4, &[0, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0xea, 0x61]),
        (7, &[0, 0, 0, 0, 101]),
        (4, &[0, 0]),
        (10, &[2]),
    ] {
        client.last += 1;
        let answer = client.answer_to(&raw(client.last, kind, payload)).await;
        let is_refused =
            matches!(&answer, Answer::Refused(refusal) if refusal.code == RefusalCode::BadRequest);
        assert!(is_refused, "{kind} {payload:?}: {answer:?}");
    }
    client.stream.write_all(&[0xff; 64]).await.unwrap();
    client.assert_closed().await;
    assert!(matches!(world.ended().await, Some(Packet::Exit(0))));
}

async fn trees(world: &mut World) {
    let mut client = world.greeted().await;
    let (hash, first) = client.tree(0).await;
    assert_eq!((first.serial, first.complete, first.width, first.height), (1, true, 1080, 2400));
    let focused: Vec<_> = first
        .windows
        .iter()
        .filter(|w| w.flags.has(WindowFlags::FOCUSED) && w.flags.has(WindowFlags::ACTIVE))
        .collect();
    assert_eq!(focused.len(), 1, "{first:?}");
    let (package, activity) = first.component.split_once('/').unwrap();
    assert!(activity.starts_with(package), "{}", first.component);
    assert!(
        matches!(client.ask(&Request::Tree { known: hash }).await, Answer::Tree(same) if *same == TreeAnswer::Same)
    );
    let (again, second) = client.tree(hash ^ 1).await;
    assert_eq!((again, second.serial), (hash, 2));
    client.refused(&click(9, 0), RefusalCode::NodeGone).await;
    client.refused(&click(2, 20_000), RefusalCode::BadRequest).await;
    client.done(&Request::Release).await;
    client.refused(&click(2, 0), RefusalCode::NodeGone).await;
    assert_eq!(client.tree(hash).await.1.serial, 3, "a released tree is sent again");
    let nowhere = Request::Text { mode: TextMode::Insert, serial: 0, index: 0, text: "x".to_owned() };
    client.refused(&nowhere, RefusalCode::NodeGone).await;
    client.done(&Request::Bye).await;
}

async fn others(world: &mut World) {
    let mut client = world.greeted().await;
    assert_eq!(client.ask(&Request::GetClipboard).await, Answer::Clipboard(None));
    client.done(&Request::SetClipboard("Grüße 日本 😀".to_owned())).await;
    assert_eq!(client.ask(&Request::GetClipboard).await, Answer::Clipboard(Some("Grüße 日本 😀".to_owned())));
    for (max, quality, format, magic) in
        [(0, 0, PictureFormat::Png, &b"\x89PNG"[..]), (500, 80, PictureFormat::Jpeg, b"\xff\xd8\xff")]
    {
        match client.ask(&Request::Picture { width_max: max, height_max: max, quality }).await {
            Answer::Picture(picture) => {
                assert_eq!((picture.width, picture.height, picture.format), (1080, 2400, format));
                assert!(picture.bytes.starts_with(magic), "{:?}", picture.bytes.first_chunk::<4>());
            }
            other => panic!("{other:?}"),
        }
    }
    client.done(&Request::Until { uptime_ms: 1 }).await;
    client.refused(&touch(50), RefusalCode::TooLate).await;
    assert!(!commands(world).contains("helper touch"), "what came too late was not done");
    let begun = Instant::now();
    client.done(&touch(700)).await;
    let took = begun.elapsed().as_millis();
    assert!((700..750).contains(&took), "a finger is down as long as it says: {took} ms");
    assert!(commands(world).contains("helper touch"));
    client.done(&Request::Bye).await;
}

fn commands(world: &World) -> String {
    world.phone.truth().commands.join("\n")
}

async fn events(world: &mut World, other: &'static str) {
    let mut client = world.greeted().await;
    client.done(&Request::Events { on: true }).await;
    world.run(other).await;
    let told = client.event().await;
    assert_eq!(told.number, 1, "{told:?}");
    tokio::time::sleep(Duration::from_secs(2)).await;
    client.done(&Request::Release).await;
    let end = loop {
        let told = client.event().await;
        if told.kind == 0 {
            break told;
        }
    };
    assert_eq!((end.window, end.text.as_str()), (-1, ""), "UiAutomation was given back");
    client.tree(0).await;
    client.done(&Request::Keys(vec![KeyPress { code: KEY_HOME, meta: 0, hold_ms: 0 }])).await;
    let again = client.event().await;
    assert!(again.number > end.number && again.kind != 0, "the wish stays: {again:?}");
    assert!(world.phone.truth().activity.starts_with("com.android.launcher3"));
    let (_, home) = client.tree(0).await;
    assert!(home.component.starts_with("com.android.launcher3/"), "{}", home.component);
    // It idles, and gives UiAutomation back without being told.
    let end = loop {
        let told = client.event().await;
        if told.kind == 0 {
            break told;
        }
    };
    assert!(end.number > again.number);
    client.done(&Request::Bye).await;
}

/// A helper that is killed in the middle of a gesture leaves UiAutomation to others.
async fn killed(world: &mut World, go: &'static str) {
    let mut client = world.greeted().await;
    world.run(go).await;
    // Right after a start there is no window yet.
    tokio::time::sleep(Duration::from_secs(1)).await;
    client.tree(0).await;
    client.stream.write_all(&touch(5_000).frame(50)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.run("pkill -9 -f mdm.helper.Main").await;
    client.assert_closed().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let dumped = world.run("uiautomator dump /sdcard/d.xml && cat /sdcard/d.xml").await;
    assert!(dumped.contains("<hierarchy"), "{dumped}");
    let mut client = world.greeted().await;
    client.tree(0).await;
    client.done(&touch(50)).await;
    client.done(&Request::Bye).await;
}

/// Goes through everything, with two commands that each open a screen.
async fn all(world: &mut World, go: &'static str, other: &'static str) {
    world.run(go).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    greetings(world).await;
    bad_requests(world).await;
    trees(world).await;
    others(world).await;
    events(world, other).await;
    killed(world, go).await;
}

#[tokio::test(start_paused = true)]
async fn the_model_phones_helper_keeps_to_the_protocol() {
    let config = PhoneConfig { timing: Timing::Instant, ..PhoneConfig::default() };
    let mut world = World::new(Phone::new(config));
    let [go, other] =
        ["am start -n com.workbench/.LoginActivity", "am start -n com.workbench/.SettingsActivity"];
    all(&mut world, go, other).await;
}

/// The folder that `cargo xtask test` names. `None` has been reported as a skip.
fn home(test: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE) {
        return Some(path.into());
    }
    let message = format!("skipped: {test}: {VARIABLE} is not set, get it with: cargo xtask framework");
    assert!(!std::env::var("CI").is_ok_and(|value| value == "true"), "{message}");
    // Direct to stderr: the harness hides the output of a passing test.
    std::io::stderr().write_all(format!("{message}\n").as_bytes()).unwrap();
    None
}

#[tokio::test(start_paused = true)]
async fn the_code_of_the_jar_keeps_to_the_protocol() {
    let Some(home) = home("the_code_of_the_jar_keeps_to_the_protocol") else { return };
    let app = FrameworkApp::Builtin("widgets".to_owned());
    let framework = FrameworkConfig { home, app, sdk: 34, log: None };
    let config = PhoneConfig { timing: Timing::Instant, ..PhoneConfig::default() };
    let mut world = World::new(Phone::with_framework(config, &framework).unwrap());
    let [go, other] =
        ["am start -n org.mdm.widgets/.RangeActivity", "am start -n org.mdm.widgets/.ToggleActivity"];
    all(&mut world, go, other).await;
    // This phone runs the code of one jar, and says so when it is given another one.
    let mut other = jar();
    other.push(0);
    let said = world.start(&other).await;
    assert_eq!(
        said,
        "mdm-helper 1 failed: this phone runs another build of the helper: cargo xtask framework renews it\n"
    );
}
