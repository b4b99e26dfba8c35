//! One connection: requests in order, events between them.

use bytes::{Buf, BytesMut};
use mdm_wire::helper::{
    Answer, Argument, Flags, HEAD_BYTES, Head, KeyPress, Node, REQUEST_BYTES_MAX, Refusal, RefusalCode,
    Request, TextMode, TextWay, Tree, TreeAnswer, UiEvent, VERSION, Welcome, Window,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::{Duration, Instant};

use super::events::EventWatch;
use super::tree::{KeptTrees, all_nodes, present};
use super::{Helper, fingers, picture, record};
use crate::app::keys;
use crate::app::nodes::action;
use crate::faults::Fault;
use crate::helpers::Automation;
use crate::phone::Phone;
use crate::state::CLIPBOARD_BYTES_MAX;
use crate::surface::Performed;

/// UiAutomation is given back when nothing was asked for this long.
const RELEASE_AFTER: Duration = Duration::from_secs(30);
/// How long accessibility waits for an app's answer.
const INTERACTION_LIMIT: Duration = Duration::from_secs(5);

/// A request that cannot be carried out ends with one of these.
enum Failed {
    Refused(Refusal),
    /// The process dies without an answer, which is a fault.
    Died,
}

fn refuse(code: RefusalCode, message: impl Into<String>) -> Failed {
    Failed::Refused(Refusal { code, message: message.into() })
}

struct Session<'a> {
    phone: &'a Phone,
    automation: Option<Automation>,
    kept: KeptTrees,
    events: Option<EventWatch>,
    /// The client wants events, also those after UiAutomation was given back and taken again.
    wants_events: bool,
    /// Events that the helper tells of itself.
    own_events: Vec<UiEvent>,
    /// The number of the last event that was told.
    last_event: u32,
    /// No event is told any more, which is a fault.
    silent: bool,
    /// The next request with an effect must not begin after this uptime.
    until_ms: Option<u64>,
}

/// Serves until the client goes, says goodbye, or breaks the protocol. Returns true if it was a client that knew the nonce.
pub async fn serve(helper: &Helper, phone: &Phone, socket: DuplexStream) -> bool {
    let mut greeted = false;
    converse(helper, phone, socket, &mut greeted).await;
    greeted
}

async fn converse(helper: &Helper, phone: &Phone, mut socket: DuplexStream, greeted: &mut bool) {
    let mut session = Session {
        phone,
        automation: None,
        kept: KeptTrees::default(),
        events: None,
        wants_events: false,
        own_events: Vec::new(),
        last_event: 0,
        silent: false,
        until_ms: None,
    };
    let mut input = BytesMut::new();
    loop {
        let Ok(frame) = next_frame(&mut input) else { return };
        let Some((head, payload)) = frame else {
            if !session.wait(&mut socket, &mut input).await {
                return;
            }
            continue;
        };
        helper.note_request();
        let Some(mut frame) = session.answer(helper, head, &payload, greeted).await else { return };
        frame.extend(session.take_own_events());
        if socket.write_all(&frame).await.is_err()
            || matches!(Request::decode(head.kind, &payload), Ok(Request::Bye))
        {
            return;
        }
    }
}

pub type Frame = (Head, BytesMut);

/// Takes a whole frame from what was received, if there is one.
pub fn next_frame(input: &mut BytesMut) -> Result<Option<Frame>, mdm_wire::helper::Broken> {
    let Some(start) = input.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
    let head = Head::decode(*start, REQUEST_BYTES_MAX)?;
    if input.len() < HEAD_BYTES + head.payload_bytes {
        return Ok(None);
    }
    input.advance(HEAD_BYTES);
    Ok(Some((head, input.split_to(head.payload_bytes))))
}

impl Session<'_> {
    /// Waits for bytes, and tells events meanwhile; false when the connection has ended.
    async fn wait(&mut self, socket: &mut DuplexStream, input: &mut BytesMut) -> bool {
        let phone = self.phone;
        let release_at = Instant::now() + RELEASE_AFTER;
        loop {
            let listening = self.events.as_mut().filter(|_| self.automation.is_some() && !self.silent);
            let told = async {
                match listening {
                    Some(events) => {
                        events.wait(phone).await;
                        events.take(phone)
                    }
                    None => std::future::pending().await,
                }
            };
            let holds = self.automation.is_some();
            tokio::select! {
                biased;
                read = socket.read_buf(input) => return matches!(read, Ok(1..)),
                events = told => {
                    for event in self.troubled(events) {
                        if socket.write_all(&event.frame()).await.is_err() {
                            return false;
                        }
                    }
                }
                () = tokio::time::sleep_until(release_at), if holds => {
                    self.release();
                    if socket.write_all(&self.take_own_events()).await.is_err() {
                        return false;
                    }
                }
            }
        }
    }

    /// Applies the faults of events.
    fn troubled(&mut self, events: Vec<mdm_wire::helper::UiEvent>) -> Vec<mdm_wire::helper::UiEvent> {
        if events.is_empty() {
            return events;
        }
        let happens = |fault| self.phone.with(|state| state.faults.happens(fault, state.now));
        if happens(Fault::HelperSilence) {
            self.silent = true;
            return Vec::new();
        }
        match &mut self.events {
            Some(watch) if happens(Fault::HelperFlood) => {
                events.into_iter().chain(watch.flood(self.phone)).collect()
            }
            _ => events,
        }
    }

    fn release(&mut self) {
        self.automation = None;
        self.kept.clear();
        if let Some(mut events) = self.events.take() {
            self.own_events.extend((!self.silent).then(|| events.ended(self.phone)));
            self.last_event = events.number();
        }
    }

    fn take_own_events(&mut self) -> Vec<u8> {
        self.own_events.drain(..).flat_map(|event| event.frame()).collect()
    }

    /// Returns the answer's frame; nothing when the connection is to be closed.
    async fn answer(
        &mut self,
        helper: &Helper,
        head: Head,
        payload: &[u8],
        greeted: &mut bool,
    ) -> Option<Vec<u8>> {
        let request = match Request::decode(head.kind, payload) {
            Ok(request) => request,
            Err(broken) if *greeted => {
                let refusal = Refusal { code: RefusalCode::BadRequest, message: broken.to_string() };
                return Some(Answer::Refused(refusal).frame(head.id, head.kind));
            }
            Err(_) => return None,
        };
        if !*greeted {
            let Request::Hello(hello) = &request else { return None };
            if hello.nonce != helper.nonce || hello.version != VERSION {
                return None;
            }
            *greeted = true;
        }
        let answer = match self.carry_out(request).await {
            Ok(answer) => answer,
            Err(Failed::Refused(refusal)) => Answer::Refused(refusal),
            Err(Failed::Died) => return None,
        };
        Some(answer.frame(head.id, head.kind))
    }

    async fn carry_out(&mut self, request: Request) -> Result<Answer, Failed> {
        let (delay, dies, late) = self.phone.with(|state| {
            let delay = state.faults.happens(Fault::HelperDelay, state.now);
            let dies = state.faults.happens(Fault::HelperDeath, state.now);
            let delay = if delay { state.faults.between(Fault::HelperDelay, 1000, 6000) } else { 0 };
            (delay, dies, dies && state.faults.between(Fault::HelperDeath, 0, 2) == 1)
        });
        if delay > 0 {
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        if dies && !late {
            return Err(Failed::Died);
        }
        let answer = self.perform(request).await;
        if dies { Err(Failed::Died) } else { answer }
    }

    async fn perform(&mut self, request: Request) -> Result<Answer, Failed> {
        if let Some(words) = record::words(&request) {
            self.input(words).await?;
        }
        match request {
            Request::Hello(_) => Ok(Answer::Hello(self.phone.with(|state| Welcome {
                version: VERSION,
                sdk: u16::try_from(state.config.sdk).unwrap_or(u16::MAX),
                uptime_ms: state.clock.uptime_ms(state.now),
            }))),
            Request::Tree { known } => self.tree(known).await,
            Request::Touch(samples) => {
                fingers::touch(self.phone, &samples).await;
                Ok(Answer::Done)
            }
            Request::Keys(keys) => {
                press(self.phone, &keys).await;
                Ok(Answer::Done)
            }
            Request::Text { mode, serial, index, text } => {
                self.text(mode, serial, index, &text).map(Answer::Text)
            }
            Request::Action { serial, index, action, argument } => {
                self.action(serial, index, action, argument)
            }
            Request::Picture { width_max, height_max, quality } => {
                self.take_automation()?;
                let picture = picture::take(self.phone, width_max, height_max, quality);
                picture.map(Answer::Picture).ok_or_else(|| refuse(RefusalCode::Internal, "no picture"))
            }
            Request::GetClipboard => {
                let text = self.phone.with(|state| state.clipboard.clone());
                Ok(Answer::Clipboard(Some(text).filter(|text| !text.is_empty())))
            }
            Request::SetClipboard(text) if text.len() > CLIPBOARD_BYTES_MAX => {
                Err(refuse(RefusalCode::BadRequest, "the text is too long"))
            }
            Request::SetClipboard(text) => {
                self.phone.with(|state| state.clipboard = text);
                Ok(Answer::Done)
            }
            Request::Events { on } => self.listen(on),
            Request::Release => {
                self.release();
                Ok(Answer::Done)
            }
            Request::Bye => Ok(Answer::Done),
            Request::Until { uptime_ms } => {
                self.until_ms = Some(uptime_ms);
                Ok(Answer::Done)
            }
        }
    }

    fn take_automation(&mut self) -> Result<(), Failed> {
        if self.automation.is_some() {
            return Ok(());
        }
        let refused = self.phone.with(|state| state.faults.happens(Fault::HelperRefused, state.now));
        self.automation = if refused { None } else { Automation::take(self.phone) };
        if self.automation.is_none() {
            return Err(refuse(RefusalCode::AutomationBusy, "UiAutomationService already registered"));
        }
        if self.wants_events && self.events.is_none() {
            self.events = Some(EventWatch::start(self.phone, self.last_event));
        }
        Ok(())
    }

    fn listen(&mut self, on: bool) -> Result<Answer, Failed> {
        if on {
            self.take_automation()?;
            if self.events.is_none() {
                self.events = Some(EventWatch::start(self.phone, self.last_event));
            }
        } else if let Some(events) = self.events.take() {
            self.last_event = events.number();
        }
        self.wants_events = on;
        Ok(Answer::Done)
    }

    /// Makes ready for a request with an effect, which is refused when its time is over.
    async fn input(&mut self, words: Vec<String>) -> Result<(), Failed> {
        self.take_automation()?;
        let cost = self.phone.with(|state| state.config.timing.helper_input());
        tokio::time::sleep(cost).await;
        let uptime_ms = self.phone.with(|state| state.clock.uptime_ms(state.now));
        if self.until_ms.take().is_some_and(|until_ms| uptime_ms > until_ms) {
            return Err(refuse(RefusalCode::TooLate, "the time for it is over"));
        }
        self.phone.with(|state| state.record.command(words));
        Ok(())
    }

    async fn tree(&mut self, known: u64) -> Result<Answer, Failed> {
        self.take_automation()?;
        let (cost, responding) = self.phone.with(|state| {
            (state.config.timing.helper_tree(), state.surface.windows(&state.screen()).responding)
        });
        let began_ms = self.phone.with(|state| state.clock.uptime_ms(state.now));
        tokio::time::sleep(cost).await;
        if !responding {
            tokio::time::sleep(INTERACTION_LIMIT).await;
        }
        let tree = self.phone.with(|state| {
            if state.is_rootless() {
                return None;
            }
            let lies = state.faults.happens(Fault::HelperLie, state.now);
            let mut tree = present(state);
            tree.uptime_ms = began_ms;
            let is_whole = !lies || !lie(&mut tree);
            state.note_tree(is_whole);
            Some(tree)
        });
        let mut tree = tree.ok_or_else(|| refuse(RefusalCode::NoWindow, "no window has a root"))?;
        let hash = tree.hash();
        if hash == known && self.kept.has(hash) {
            return Ok(Answer::Tree(Box::new(TreeAnswer::Same)));
        }
        self.kept.keep(&mut tree);
        Ok(Answer::Tree(Box::new(TreeAnswer::New { hash, tree })))
    }

    fn text(&mut self, mode: TextMode, serial: u32, index: u32, text: &str) -> Result<TextWay, Failed> {
        if mode == TextMode::Replace {
            let node = match serial {
                0 => self.focused_field()?,
                serial => self.find(serial, index)?,
            };
            let action = Performed::SetText(text.to_owned());
            return match self.phone.with(|state| state.perform(node, &action)) {
                true => Ok(TextWay::SetText),
                false => Err(refuse(RefusalCode::Refused, "the node takes no text")),
            };
        }
        self.focused_field()?;
        self.phone.with(|state| {
            state.type_text(text);
            if mode == TextMode::InsertAndSubmit {
                state.key(keys::ENTER);
            }
        });
        Ok(TextWay::SetText)
    }

    fn focused_field(&self) -> Result<usize, Failed> {
        let tree = self.phone.with(|state| present(state));
        let is_field = |node: &Node| {
            node.flags.has(Flags::FOCUSED)
                && (node.flags.has(Flags::EDITABLE) || node.class.ends_with("EditText"))
        };
        let found = all_nodes(&tree).position(|(_, node)| is_field(node));
        found.ok_or_else(|| refuse(RefusalCode::NodeGone, "nothing has the input focus"))
    }

    fn action(&mut self, serial: u32, index: u32, number: u32, argument: Argument) -> Result<Answer, Failed> {
        let performed = match (number, argument) {
            (action::CLICK, _) => Performed::Click,
            (action::LONG_CLICK, _) => Performed::LongClick,
            (action::FOCUS, _) => Performed::Focus,
            (action::SCROLL_FORWARD, _) => Performed::ScrollForward,
            (action::SCROLL_BACKWARD, _) => Performed::ScrollBackward,
            (action::SET_PROGRESS, Argument::Progress(value)) => Performed::SetProgress(value),
            _ => return Err(refuse(RefusalCode::Refused, "the node does not have this action")),
        };
        let node = self.find(serial, index)?;
        match self.phone.with(|state| state.perform(node, &performed)) {
            true => Ok(Answer::Done),
            false => Err(refuse(RefusalCode::Refused, "the node did not take the action")),
        }
    }

    /// Finds a node of an earlier tree on the screen now.
    fn find(&self, serial: u32, index: u32) -> Result<usize, Failed> {
        let gone = || refuse(RefusalCode::NodeGone, "the node is not on the screen any more");
        let kept = self.kept.tree(serial).ok_or_else(gone)?;
        let (window, node) = all_nodes(kept)
            .nth(index as usize)
            .ok_or_else(|| refuse(RefusalCode::BadRequest, "the tree does not have so many nodes"))?;
        let tree = self.phone.with(|state| present(state));
        let (at, now) = place_of(&tree, window, node, index).ok_or_else(gone)?;
        if (&now.class, &now.text, &now.description) != (&node.class, &node.text, &node.description) {
            return Err(refuse(RefusalCode::NodeChanged, "the node shows something else now"));
        }
        Ok(at)
    }
}

/// Finds the same node by its number; where nodes have none, by its place.
fn place_of<'a>(tree: &'a Tree, window: &Window, node: &Node, index: u32) -> Option<(usize, &'a Node)> {
    let mut all = all_nodes(tree).enumerate();
    match node.source {
        Some(_) => all
            .find(|(_, (in_window, other))| in_window.id == window.id && other.source == node.source)
            .map(|(at, (_, node))| (at, node)),
        None => all.nth(index as usize).map(|(at, (_, node))| (at, node)),
    }
}

/// Changes a tree as a vendor's accessibility might: the first words are others. True if there were any to change.
fn lie(tree: &mut Tree) -> bool {
    let nodes = tree.windows.iter_mut().flat_map(|window| &mut window.nodes);
    let mut words = nodes.flat_map(|node| [&mut node.text, &mut node.description]);
    words.find(|words| !words.is_empty()).map(|words| *words = "…".into()).is_some()
}

async fn press(phone: &Phone, keys: &[KeyPress]) {
    for key in keys {
        if key.hold_ms > 0 {
            tokio::time::sleep(Duration::from_millis(key.hold_ms.into())).await;
        }
        let code = u32::from(key.code);
        match u64::from(key.hold_ms) >= crate::app::ui::LONG_PRESS_MS {
            true => phone.with(|state| state.long_key(code)),
            false => phone.with(|state| state.key(code)),
        }
    }
}
