//! One connection to the helper: requests in order, and events that are read all the time.
//!
//! A caller that gives up in the middle leaves a whole frame behind it: frames are written by a task of their own, and an
//! answer that nobody waits for any more is skipped by its number.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Buf, BytesMut};
use mdm_core::port::{DeviceError, DeviceErrorKind, Dispatch};
use mdm_wire::helper::{ANSWER_BYTES_MAX, Answer, HEAD_BYTES, Head, Refusal, RefusalCode, Request, UiEvent};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::heard::EventMemory;
use crate::adb::AdbStream;
use crate::adb::shell::ShellStream;

/// Requests that wait to be written.
const REQUESTS_MAX: usize = 16;
/// Size of one read.
const READ_BYTES: usize = 64 * 1024;
/// Why a link ended, when nothing else is known.
const CLOSED: &str = "the helper on the device closed its connection";

/// What became of a request that has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkError {
    /// The link was at its end before anything was sent.
    NotSent(String),
    /// The link ended after the request was sent.
    Lost(String),
    /// The helper answered something that cannot be.
    Protocol(String),
    Refused(Refusal),
}

impl LinkError {
    /// True if the helper is gone, or not to be believed.
    pub fn is_end(&self) -> bool {
        !matches!(self, LinkError::Refused(_))
    }

    /// An error of something that only reads, before the effect that it was asked for.
    pub fn before_effect(self) -> LinkError {
        match self {
            LinkError::Lost(why) | LinkError::Protocol(why) => LinkError::NotSent(why),
            other => other,
        }
    }

    /// An error after a part of the effect was done.
    pub fn in_the_middle(self) -> LinkError {
        match self {
            LinkError::NotSent(why) => LinkError::Lost(why),
            LinkError::Refused(refusal) => LinkError::Lost(refused(&refusal)),
            other => other,
        }
    }

    /// The error of a request that changes something on the device.
    pub fn of_effect(self) -> DeviceError {
        let dispatch = match &self {
            LinkError::NotSent(_) => Dispatch::NotSent,
            LinkError::Lost(_) | LinkError::Protocol(_) => Dispatch::Unknown,
            LinkError::Refused(_) => Dispatch::Refused,
        };
        DeviceError::from(self).with_dispatch(dispatch)
    }
}

impl From<LinkError> for DeviceError {
    fn from(error: LinkError) -> DeviceError {
        let (kind, detail) = match error {
            LinkError::NotSent(why) | LinkError::Lost(why) => (DeviceErrorKind::ConnectionLost, why),
            LinkError::Protocol(why) => (DeviceErrorKind::Protocol, why),
            LinkError::Refused(refusal) => {
                let kind = match refusal.code {
                    RefusalCode::AutomationBusy => DeviceErrorKind::TreeBusy,
                    RefusalCode::NoWindow => DeviceErrorKind::NoWindow,
                    RefusalCode::Protected => DeviceErrorKind::ScreenshotUnavailable,
                    RefusalCode::Unsupported => DeviceErrorKind::NotSupported,
                    RefusalCode::BadRequest => DeviceErrorKind::InvalidRequest,
                    RefusalCode::TooLate => DeviceErrorKind::TooLate,
                    _ => DeviceErrorKind::Rejected,
                };
                (kind, refused(&refusal))
            }
        };
        DeviceError::new(kind, detail)
    }
}

fn refused(refusal: &Refusal) -> String {
    let why = match refusal.code {
        RefusalCode::AutomationBusy => {
            return "another program holds the device's UiAutomation; Android allows one at a time"
                .to_owned();
        }
        RefusalCode::NoWindow => {
            return "no window has the focus: the device is between two apps or locked".to_owned();
        }
        RefusalCode::NodeGone => "the element is not on the screen any more",
        RefusalCode::NodeChanged => "the element shows something else now",
        RefusalCode::Protected => "the window may not be photographed",
        RefusalCode::Unsupported => "this Android version does not have it",
        RefusalCode::TooLate => "the device was stuck until it was too late for it",
        _ => "the device did not take it",
    };
    format!("{why} ({:.200})", refusal.message)
}

/// Answers that are awaited.
#[derive(Default)]
struct Awaited {
    /// The number of the last request.
    last_id: u32,
    senders: HashMap<u32, (u8, oneshot::Sender<Result<Answer, LinkError>>)>,
    /// Why the link ended, once it has.
    ended: Option<LinkError>,
}

type Shared = Arc<Mutex<Awaited>>;

fn lock(shared: &Shared) -> MutexGuard<'_, Awaited> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

pub struct Link {
    frames: mpsc::Sender<Vec<u8>>,
    awaited: Shared,
    stop: CancellationToken,
    _stop_with_this: DropGuard,
}

/// Forgets a request whose caller gave up.
struct Waiting<'a> {
    awaited: &'a Shared,
    id: u32,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        lock(self.awaited).senders.remove(&self.id);
    }
}

impl Link {
    /// Begins to read and write. The shell is kept, because the helper ends with its standard input.
    pub fn new(stream: AdbStream, shell: ShellStream, memory: Arc<EventMemory>) -> Link {
        let (reader, writer) = tokio::io::split(stream);
        let (frames, to_write) = mpsc::channel(REQUESTS_MAX);
        let awaited = Shared::default();
        let stop = CancellationToken::new();
        tokio::spawn(stop.clone().run_until_cancelled_owned(write_all(writer, to_write)));
        let reading = read_all(reader, shell, Arc::clone(&awaited), memory);
        tokio::spawn(stop.clone().run_until_cancelled_owned(reading));
        Link { frames, awaited, stop: stop.clone(), _stop_with_this: stop.drop_guard() }
    }

    /// Ends the link because of an answer that cannot be, and returns the error that says so.
    pub fn cut(&self, what: &str) -> LinkError {
        let error = broken(what);
        lock(&self.awaited).ended.get_or_insert(error.clone());
        self.stop.cancel();
        error
    }

    /// Says why the link is at its end, if it is.
    pub fn ended(&self) -> Option<String> {
        match &lock(&self.awaited).ended {
            None => None,
            Some(LinkError::NotSent(why) | LinkError::Lost(why) | LinkError::Protocol(why)) => {
                Some(why.clone())
            }
            Some(LinkError::Refused(refusal)) => Some(refused(refusal)),
        }
    }

    pub async fn request(&self, request: &Request) -> Result<Answer, LinkError> {
        self.request_until(request, None).await
    }

    /// Asks for something that the device must not begin after this uptime.
    pub async fn request_until(&self, request: &Request, until_ms: Option<u64>) -> Result<Answer, LinkError> {
        let room = self.frames.reserve().await.map_err(|_| self.not_sent())?;
        let (sender, answer) = oneshot::channel();
        let id = {
            let mut awaited = lock(&self.awaited);
            if awaited.ended.is_some() {
                drop(awaited);
                return Err(self.not_sent());
            }
            // The limit has the number before. Nobody waits for its answer, so that is skipped.
            let id = awaited.last_id.wrapping_add(2).max(2);
            awaited.last_id = id;
            awaited.senders.insert(id, (request.kind(), sender));
            id
        };
        let _waiting = Waiting { awaited: &self.awaited, id };
        let mut frames =
            until_ms.map(|uptime_ms| Request::Until { uptime_ms }.frame(id - 1)).unwrap_or_default();
        frames.extend(request.frame(id));
        room.send(frames);
        match answer.await {
            Ok(Ok(Answer::Refused(refusal))) => Err(LinkError::Refused(refusal)),
            Ok(answer) => answer,
            Err(_) => Err(LinkError::Lost(CLOSED.to_owned())),
        }
    }

    fn not_sent(&self) -> LinkError {
        LinkError::NotSent(self.ended().unwrap_or_else(|| CLOSED.to_owned()))
    }
}

fn broken(what: &str) -> LinkError {
    LinkError::Protocol(format!("the helper on the device broke its protocol: {what}"))
}

async fn write_all(mut writer: WriteHalf<AdbStream>, mut frames: mpsc::Receiver<Vec<u8>>) {
    while let Some(frame) = frames.recv().await {
        // The reader hears of the end too, and tells it to those who wait.
        if writer.write_all(&frame).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}

async fn read_all(
    reader: ReadHalf<AdbStream>,
    shell: ShellStream,
    awaited: Shared,
    memory: Arc<EventMemory>,
) {
    let why = read_frames(reader, &awaited, &memory).await;
    let mut awaited = lock(&awaited);
    for (_, (_, sender)) in awaited.senders.drain() {
        // A caller that has gone needs no answer.
        let _ = sender.send(Err(why.clone()));
    }
    awaited.ended = Some(why);
    drop(shell);
}

/// Reads until the link ends, and says why it did.
async fn read_frames(mut reader: ReadHalf<AdbStream>, awaited: &Shared, memory: &EventMemory) -> LinkError {
    let mut input = BytesMut::new();
    let broken =
        |what: &str| LinkError::Protocol(format!("the helper on the device broke its protocol: {what}"));
    loop {
        while let Some(start) = input.first_chunk::<HEAD_BYTES>() {
            let head = match Head::decode(*start, ANSWER_BYTES_MAX) {
                Ok(head) => head,
                Err(fault) => return broken(&fault.to_string()),
            };
            if input.len() < HEAD_BYTES + head.payload_bytes {
                break;
            }
            input.advance(HEAD_BYTES);
            let payload = input.split_to(head.payload_bytes);
            if let Err(what) = take(head, &payload, awaited, memory) {
                return broken(&what);
            }
        }
        input.reserve(READ_BYTES);
        match reader.read_buf(&mut input).await {
            Ok(1..) => {}
            Ok(0) => return LinkError::Lost(CLOSED.to_owned()),
            Err(error) => return LinkError::Lost(format!("{CLOSED}: {error}")),
        }
    }
}

fn take(head: Head, payload: &[u8], awaited: &Shared, memory: &EventMemory) -> Result<(), String> {
    if head.kind == UiEvent::KIND && head.id == 0 {
        memory.note(&UiEvent::decode(payload).map_err(|fault| fault.to_string())?);
        return Ok(());
    }
    let (request_kind, sender) = {
        let mut awaited = lock(awaited);
        match awaited.senders.remove(&head.id) {
            Some(waiting) => waiting,
            None if head.id != 0 && head.id <= awaited.last_id => return Ok(()),
            None => return Err("an answer to a request that was never made".to_owned()),
        }
    };
    let answer = match Answer::belongs(head.kind, request_kind) {
        true => Answer::decode(head.kind, payload).map_err(|fault| fault.to_string()),
        false => Err("an answer to another request".to_owned()),
    };
    // A caller that has gone needs no answer.
    let _ = sender.send(answer.clone().map_err(|what| broken(&what)));
    answer.map(drop)
}
