//! testmanagerd: sessions of XCTest, in which an installed runner is authorised and told what to do.
//!
//! A client has two connections: one that authorises the process, and one with the session, which the runner speaks to.

use std::io;

use futures_util::StreamExt as _;
use mdm_wire::dtx::{Argument, Content, Message};
use mdm_wire::keyed_archive::CLASS;
use plist::Value;
use tokio::io::AsyncWrite;
use tokio::time::{Duration, Instant, sleep_until};

use super::Wire;
use super::dtx::{self, Channels, Peer};
use super::plists::dictionary;
use crate::iphone::IPhone;
use crate::iphone::runner::Authorised;

/// How a client names the daemon: with both sides, or as older ones do.
const DAEMON: [&str; 2] = [
    "dtxproxy:XCTestManager_IDEInterface:XCTestManager_DaemonConnectionInterface",
    "XCTestManager_IDEInterface",
];
/// What the runner opens, and its number.
const DRIVER: &str = "dtxproxy:XCTestDriverInterface:XCTestManager_IDEInterface";
const DRIVER_CODE: u32 = 1;
const DRIVER_CHANNEL: i32 = DRIVER_CODE as i32;
const PROTOCOL_VERSION: i64 = 36;
/// What a runner takes to load its tests.
const START: Duration = Duration::from_millis(1000);
const UUID_BYTES: usize = 16;

/// How far the runner of a session has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Its process is not authorised, or loads.
    Awaited,
    /// It opened its channel by this call, and waits for the answer.
    Opening(u32),
    /// It asked by this call what to do, and waits for that and for the word to begin.
    Ready {
        asked: u32,
        configured: bool,
        told: bool,
    },
    Runs {
        since: Instant,
    },
}

struct Session<'a, W> {
    phone: &'a IPhone,
    peer: Peer<W>,
    identifier: Option<Vec<u8>>,
    stage: Stage,
    runner: Option<RunnerOfSession>,
}

/// The runner ends with the connection of its session.
struct RunnerOfSession {
    phone: IPhone,
    pid: u32,
}

impl Drop for RunnerOfSession {
    fn drop(&mut self) {
        self.phone.end_runner(self.pid);
    }
}

pub async fn serve(phone: &IPhone, stream: &mut (impl Wire + ?Sized)) -> io::Result<()> {
    let (reader, writer) = tokio::io::split(stream);
    let incoming =
        futures_util::stream::unfold(reader, async |mut reader| Some((dtx::read(&mut reader).await, reader)));
    tokio::pin!(incoming);
    let peer = Peer::greet(writer, dtx::capabilities()).await?;
    let mut session = Session { phone, peer, identifier: None, stage: Stage::Awaited, runner: None };
    let mut channels = Channels::default();
    loop {
        tokio::select! {
            message = incoming.next() => match message {
                Some(message) => {
                    let message = message?;
                    channels.note(&message);
                    session.hear(&message, channels.name(&message)).await?;
                }
                None => return Ok(()),
            },
            runner = loaded(phone, session.identifier.as_deref()), if session.stage == Stage::Awaited => {
                session.open(&runner).await?;
            }
            // A runner that ended takes the connection with it.
            () = ended(phone, session.runner.as_ref(), session.stage) => return Ok(()),
        }
    }
}

/// Waits until the runner of this session is authorised and has loaded its tests.
async fn loaded(phone: &IPhone, session: Option<&[u8]>) -> Authorised {
    let Some(session) = session else { return std::future::pending().await };
    let runner = phone.authorised_runner(session).await;
    let slow = Duration::from_millis(phone.config().iphone_faults.slow_runner_ms);
    sleep_until(runner.since + START.max(slow)).await;
    runner
}

async fn ended(phone: &IPhone, runner: Option<&RunnerOfSession>, stage: Stage) {
    let Some(runner) = runner else { return std::future::pending().await };
    let crash_ms = phone.config().iphone_faults.runner_crash_ms;
    let crash = async {
        match stage {
            Stage::Runs { since } if crash_ms > 0 => {
                sleep_until(since + Duration::from_millis(crash_ms)).await;
            }
            _ => std::future::pending().await,
        }
    };
    tokio::select! {
        () = crash => {}
        () = phone.runner_ended(runner.pid, matches!(stage, Stage::Runs { .. })) => {}
    }
}

impl<W: AsyncWrite + Unpin> Session<'_, W> {
    async fn hear(&mut self, message: &Message, channel: &str) -> io::Result<()> {
        let Some((method, arguments)) = message.call() else { return self.hear_answer(message).await };
        let answer = match method {
            method if DAEMON.contains(&channel) => self.daemon(method, arguments),
            "_IDE_startExecutingTestPlanWithProtocolVersion:" if message.channel == -DRIVER_CHANNEL => {
                if let Stage::Ready { told, .. } = &mut self.stage {
                    *told = true;
                }
                Content::Answer(None)
            }
            _ if message.channel != 0 => dtx::no_such_method(method),
            _ => Content::Answer(None),
        };
        self.peer.reply(message, answer).await?;
        self.begin().await
    }

    fn daemon(&mut self, method: &str, arguments: &[Argument]) -> Content {
        let answer: Value = match method {
            "_IDE_initiateControlSessionWithCapabilities:" => capabilities(),
            "_IDE_initiateControlSessionWithProtocolVersion:" => PROTOCOL_VERSION.into(),
            "_IDE_initiateSessionWithIdentifier:capabilities:" => {
                self.initiate(arguments);
                capabilities()
            }
            "_IDE_initiateSessionWithIdentifier:forClient:atPath:protocolVersion:" => {
                self.initiate(arguments);
                PROTOCOL_VERSION.into()
            }
            "_IDE_authorizeTestSessionWithProcessID:" => {
                let pid = arguments.first().and_then(Argument::number);
                let pid = pid.and_then(|pid| u32::try_from(pid).ok());
                pid.is_some_and(|pid| self.phone.authorise_runner(pid)).into()
            }
            method => return dtx::no_such_method(method),
        };
        Content::Answer(Some(answer))
    }

    fn initiate(&mut self, arguments: &[Argument]) {
        let identifier = arguments.first().and_then(Argument::object).and_then(Value::as_data);
        self.identifier = identifier.filter(|identifier| identifier.len() == UUID_BYTES).map(<[u8]>::to_vec);
    }

    /// The runner introduces itself.
    async fn open(&mut self, runner: &Authorised) -> io::Result<()> {
        self.runner = Some(RunnerOfSession { phone: self.phone.clone(), pid: runner.pid });
        self.stage = Stage::Opening(self.peer.open(DRIVER_CODE, DRIVER).await?);
        Ok(())
    }

    async fn hear_answer(&mut self, answer: &Message) -> io::Result<()> {
        match &mut self.stage {
            Stage::Opening(call) if answer.answers(*call) => {
                let arguments = vec![Argument::Object(capabilities())];
                let method = "_XCT_testRunnerReadyWithCapabilities:";
                let asked = self.peer.call(DRIVER_CHANNEL, method, arguments, true).await?;
                self.stage = Stage::Ready { asked, configured: false, told: false };
                Ok(())
            }
            Stage::Ready { asked, configured, .. } if answer.answers(*asked) => {
                let Content::Answer(Some(Value::Dictionary(bundle))) = &answer.content else { return Ok(()) };
                *configured = bundle.contains_key("testBundleURL");
                self.begin().await
            }
            _ => Ok(()),
        }
    }

    /// Runs the tests once the runner knows which, and was told to: WebDriverAgent's test never ends.
    async fn begin(&mut self) -> io::Result<()> {
        if !matches!(self.stage, Stage::Ready { configured: true, told: true, .. }) {
            return Ok(());
        }
        self.stage = Stage::Runs { since: Instant::now() };
        for method in ["_XCT_didBeginInitializingForUITesting", "_XCT_didBeginExecutingTestPlan"] {
            self.peer.call(DRIVER_CHANNEL, method, Vec::new(), false).await?;
        }
        let words = vec![Argument::Object("Built at Nov 10 2026 09:41:00".into())];
        self.peer.call(DRIVER_CHANNEL, "_XCT_logDebugMessage:", words, false).await?;
        self.phone.start_wda();
        Ok(())
    }
}

/// What both sides of a session can do.
fn capabilities() -> Value {
    const NAMES: [&str; 4] = [
        "XCTIssue capability",
        "skipped test capability",
        "test timeout capability",
        "ubiquitous test identifiers",
    ];
    let all = dictionary(NAMES.map(|name| (name, 1_u64.into())));
    dictionary([(CLASS, "XCTCapabilities".into()), ("capabilities-dictionary", all)])
}
