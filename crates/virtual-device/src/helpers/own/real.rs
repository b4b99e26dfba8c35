//! A connection to the helper's own code, which the surface runs in a process of Java: bytes are handed over as they come,
//! and time as it passes. What a phone does around the helper is done here: costs, faults, who has UiAutomation.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::BytesMut;
use mdm_wire::helper::{ANSWER_BYTES_MAX, Answer, HEAD_BYTES, Head, Refusal, RefusalCode, Request, UiEvent};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::watch;
use tokio::time::{Duration, Instant};

use super::session::next_frame;
use super::{Helper, record};
use crate::faults::Fault;
use crate::helpers::Automation;
use crate::phone::Phone;
use crate::surface::{HelperState, HelperStep};

/// Numbers connections of all phones of this process.
static LAST_CONNECTION: AtomicU32 = AtomicU32::new(0);
/// A helper that is always due must not keep the phone awake.
const WAKE_LEAST: Duration = Duration::from_millis(1);
/// Requests with an effect that wait for their answers; a client waits for each.
const UNANSWERED_MAX: usize = 64;

/// The kind of an answer to a greeting, which only a client that knows the nonce gets.
const GREETED: u8 = 129;

/// Serves until the client goes, says goodbye, or breaks the protocol. Returns true if it was a client that knew the nonce.
pub async fn serve(helper: &Helper, phone: &Phone, socket: DuplexStream) -> bool {
    let connection = LAST_CONNECTION.fetch_add(1, Ordering::Relaxed);
    let open = HelperStep::Open { nonce: &helper.nonce };
    let opened = phone.with(|state| state.surface.helper(connection, open));
    let mut session = Session {
        phone,
        connection,
        automation: None,
        changed: phone.change_watch(),
        is_open: opened.is_some_and(|state| state.is_open),
        is_greeted: false,
        due: None,
        unanswered: VecDeque::new(),
        silent: false,
        dies: false,
    };
    session.converse(helper, socket).await;
    session.is_greeted
}

struct Session<'a> {
    phone: &'a Phone,
    connection: u32,
    automation: Option<Automation>,
    /// Tells that the screen changed since the last step.
    changed: watch::Receiver<u64>,
    is_open: bool,
    is_greeted: bool,
    due: Option<Instant>,
    /// Requests with an effect: their numbers and words.
    unanswered: VecDeque<(u32, Vec<String>)>,
    /// No event is told any more, which is a fault.
    silent: bool,
    /// The process dies once its output is written, which is a fault.
    dies: bool,
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.phone.with(|state| {
            state.surface.helper(self.connection, HelperStep::Close);
            // Nobody will say what became of these.
            for (_, words) in self.unanswered.drain(..) {
                state.record.command(words);
            }
        });
    }
}

impl Session<'_> {
    async fn converse(&mut self, helper: &Helper, mut socket: DuplexStream) {
        let mut input = BytesMut::new();
        while self.is_open {
            let frame = next_frame(&mut input);
            let output = match frame {
                Ok(Some((head, payload))) => {
                    helper.note_request();
                    self.request(head, &payload).await
                }
                // What is no frame is for the helper to judge.
                Err(_) => self.step(&input.split()),
                Ok(None) => match self.wait(&mut socket, &mut input).await {
                    true => self.step(&[]),
                    false => return,
                },
            };
            if socket.write_all(&output).await.is_err() || self.dies {
                return;
            }
        }
    }

    /// Waits until there are bytes or something is due; false when the connection has ended.
    async fn wait(&mut self, socket: &mut DuplexStream, input: &mut BytesMut) -> bool {
        let due = self.due.map(|due| due.max(Instant::now() + WAKE_LEAST));
        let listens = self.automation.is_some();
        let sleep = async {
            match due {
                Some(due) => tokio::time::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            read = socket.read_buf(input) => matches!(read, Ok(1..)),
            () = sleep => true,
            _ = self.changed.changed(), if listens => true,
        }
    }

    /// Hands one request over, after the time that it takes to reach the helper. Returns what is for the client.
    async fn request(&mut self, head: Head, payload: &[u8]) -> Vec<u8> {
        let (delay, dies, late) = self.phone.with(|state| {
            let delay = state.faults.happens(Fault::HelperDelay, state.now);
            let dies = state.faults.happens(Fault::HelperDeath, state.now);
            let delay = if delay { state.faults.between(Fault::HelperDelay, 1000, 6000) } else { 0 };
            (delay, dies, dies && state.faults.between(Fault::HelperDeath, 0, 2) == 1)
        });
        self.dies = dies;
        let request = Request::decode(head.kind, payload).ok();
        let words = request.as_ref().and_then(record::words);
        let cost = self.phone.with(|state| match &request {
            _ if words.is_some() => state.config.timing.helper_input(),
            Some(Request::Tree { .. }) => state.config.timing.helper_tree(),
            _ => Duration::ZERO,
        });
        tokio::time::sleep(cost + Duration::from_millis(delay)).await;
        if dies && !late {
            return Vec::new();
        }
        if let Some(words) = words {
            if self.unanswered.len() == UNANSWERED_MAX {
                self.unanswered.pop_front();
            }
            self.unanswered.push_back((head.id, words));
        }
        let length = (payload.len() + HEAD_BYTES - 4) as u32;
        let frame = [&length.to_be_bytes()[..], &head.id.to_be_bytes(), &[head.kind], payload].concat();
        let output = self.step(&frame);
        if self.dies { Vec::new() } else { output }
    }

    /// Lets the helper go on, and returns what is for the client.
    fn step(&mut self, input: &[u8]) -> Vec<u8> {
        self.changed.mark_unchanged();
        let held = self.automation.is_some();
        let stepped = self.phone.with(|state| {
            let refused = !input.is_empty() && state.faults.happens(Fault::HelperRefused, state.now);
            let is_free = held || !(state.automation_busy || refused);
            let stepped = state.surface.helper(self.connection, HelperStep::Step { is_free, input });
            if stepped.as_ref().is_some_and(|stepped| stepped.holds_automation && !held) {
                state.automation_busy = true;
            }
            stepped
        });
        let Some(HelperState { is_open, holds_automation, due, output }) = stepped else {
            self.is_open = false;
            return Vec::new();
        };
        (self.is_open, self.due) = (is_open, due);
        match (holds_automation, held) {
            (true, false) => self.automation = Some(Automation::taken(self.phone)),
            (false, true) => self.automation = None,
            _ => {}
        }
        self.told(output)
    }

    /// Notes which requests were carried out. Leaves events out of the output once they are silenced.
    fn told(&mut self, output: Vec<u8>) -> Vec<u8> {
        if output.is_empty() {
            return output;
        }
        let mut rest = output.as_slice();
        let mut told = Vec::with_capacity(output.len());
        while let Some((frame, head, after)) = first_frame(rest) {
            rest = after;
            let is_event = head.id == 0 && head.kind == UiEvent::KIND;
            if is_event && !self.silent {
                self.silent = self.phone.with(|state| state.faults.happens(Fault::HelperSilence, state.now));
            }
            if !is_event || !self.silent {
                told.extend_from_slice(frame);
            }
            self.is_greeted |= head.kind == GREETED;
            self.note_answer(head, frame.get(HEAD_BYTES..).unwrap_or_default());
        }
        told.extend_from_slice(rest);
        told
    }

    fn note_answer(&mut self, head: Head, payload: &[u8]) {
        let Some(at) = self.unanswered.iter().position(|(id, _)| *id == head.id) else { return };
        let Some((_, words)) = self.unanswered.remove(at) else { return };
        let undone = match Answer::decode(head.kind, payload) {
            Ok(Answer::Refused(Refusal { code, .. })) => {
                matches!(code, RefusalCode::TooLate | RefusalCode::AutomationBusy)
            }
            _ => false,
        };
        if !undone {
            self.phone.with(|state| state.record.command(words));
        }
    }
}

/// Takes the first whole frame: its bytes, its head, and what comes after it.
fn first_frame(bytes: &[u8]) -> Option<(&[u8], Head, &[u8])> {
    let head = Head::decode(*bytes.first_chunk::<HEAD_BYTES>()?, ANSWER_BYTES_MAX).ok()?;
    let (frame, rest) = bytes.split_at_checked(HEAD_BYTES + head.payload_bytes)?;
    Some((frame, head, rest))
}
