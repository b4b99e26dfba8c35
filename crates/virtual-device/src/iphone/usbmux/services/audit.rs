//! `axAuditDaemon.remoteserver`: what Accessibility Inspector of a Mac asks, over DTX. Its focus goes from element to
//! element, and the phone tells what it speaks of each. Nothing tells where an element is.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::time::Duration;

use mdm_wire::dtx::{Argument, Content, Message};
use plist::{Dictionary, Value};
use tokio::io::AsyncWrite;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::iphone::IPhone;
use crate::iphone::element::{ElementValue, UiElement};
use crate::iphone::names::{bundle_of, package_of};
use crate::iphone::usbmux::Wire;
use crate::iphone::usbmux::dtx::{self, Peer};
use crate::iphone::usbmux::plists::dictionary;

pub const NAME: &str = "com.apple.accessibility.axAuditDaemon.remoteserver";
/// How long the focus takes from one element to the next.
const MOVE_TIME: Duration = Duration::from_millis(100);
/// Calls that wait while the focus moves.
const CALLS_MAX: usize = 64;
const PROTOCOL_VERSION: u64 = 157;
const SPRINGBOARD: &str = "com.apple.springboard";
/// States of an app, as SpringBoard counts them.
const FOREGROUND: (u64, &str) = (8, "Foreground Running");
const SUSPENDED: (u64, &str) = (2, "Background Task Suspended");
const ELEMENT_CHANGED: &str = "hostInspectorCurrentElementChanged:";
const METHODS: [&str; 9] = [
    "deviceInspectorSetMonitoredEventType:",
    "deviceInspectorShowVisuals:",
    "deviceInspectorMoveWithOptions:",
    "deviceInspectorSupportedEventTypes",
    "deviceInspectorCanNavWhileMonitoringEvents",
    "deviceApiVersion",
    "deviceSetAppMonitoringEnabled:",
    "deviceInspectorShowIgnoredElements:",
    "deviceCapabilities",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Previous,
    Next,
    First,
    Last,
}

/// An element at which the focus stops.
struct Stop {
    token: Vec<u8>,
    words: String,
    identifier: String,
}

struct Session<'a, W> {
    phone: &'a IPhone,
    peer: Peer<W>,
    /// Where the focus is going, and when it is there.
    moving: Option<(Direction, Instant)>,
    /// A move came while another one ran: nothing is told of the focus any more.
    is_confused: bool,
}

pub async fn serve(phone: &IPhone, stream: &mut (impl Wire + ?Sized)) -> io::Result<()> {
    let (mut read, write) = tokio::io::split(stream);
    if phone.config().iphone_faults.developer_mode_off {
        // lockdownd connects, finds nobody behind the name, and hangs up.
        return dtx::read(&mut read).await.map(drop);
    }
    let (sender, calls) = mpsc::channel(CALLS_MAX);
    let reading = async {
        loop {
            let message = dtx::read(&mut read).await?;
            if sender.send(message).await.is_err() {
                return Ok(());
            }
        }
    };
    let peer = Peer::greet(write, capabilities()).await?;
    let session = Session { phone, peer, moving: None, is_confused: false };
    tokio::select! {
        ended = reading => ended,
        ended = session.run(calls) => ended,
    }
}

impl<W: AsyncWrite + Unpin> Session<'_, W> {
    async fn run(mut self, mut calls: mpsc::Receiver<Message>) -> io::Result<()> {
        loop {
            let there = self.moving.map(|(_, at)| at);
            let arrival = async {
                match there {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                call = calls.recv() => match call {
                    Some(call) => self.take(&call).await?,
                    None => return Ok(()),
                },
                () = arrival => self.arrive().await?,
            }
        }
    }

    async fn take(&mut self, call: &Message) -> io::Result<()> {
        let Some((method, arguments)) = call.call() else { return Ok(()) };
        let number = arguments.first().and_then(Argument::number);
        let mut answer = None;
        match method {
            "deviceCapabilities" => {
                answer = Some(Value::Array(METHODS.map(Value::from).to_vec()));
            }
            "deviceApiVersion" => answer = Some(self.api_version().into()),
            "deviceInspectorSupportedEventTypes" => answer = Some(2_u64.into()),
            "deviceInspectorCanNavWhileMonitoringEvents" => answer = Some(false.into()),
            "deviceInspectorSetMonitoredEventType:" => {
                self.tell("hostInspectorMonitoredEventTypeChanged:", number.unwrap_or(0).into()).await?;
            }
            "deviceSetAppMonitoringEnabled:" if is_true(arguments) => self.tell_apps().await?,
            "deviceInspectorMoveWithOptions:" => {
                // One move at a time: the daemon does not recover from a second one.
                self.is_confused |= self.moving.is_some();
                self.moving = direction(arguments).map(|direction| (direction, Instant::now() + MOVE_TIME));
            }
            _ => {}
        }
        self.peer.reply(call, Content::Answer(answer)).await
    }

    /// The focus has arrived. Nothing is told where it was before already.
    async fn arrive(&mut self) -> io::Result<()> {
        let Some((direction, _)) = self.moving.take() else { return Ok(()) };
        let stops = stops(self.phone);
        let known = self.phone.device(|device| device.focus.clone());
        let at = stops.iter().position(|stop| Some(&stop.token) == known.as_ref());
        let last = stops.len().saturating_sub(1);
        let to = match (direction, at) {
            (Direction::Previous, Some(0)) => None,
            (Direction::Previous, at) => Some(at.map_or(last, |at| at - 1)),
            (Direction::Next, at) => Some(at.filter(|at| *at < last).map_or(0, |at| at + 1)),
            (Direction::First, at) => Some(0).filter(|to| at != Some(*to)),
            (Direction::Last, at) => Some(last).filter(|to| at != Some(*to)),
        };
        match to.and_then(|to| stops.get(to)) {
            Some(stop) if !self.is_confused => {
                self.phone.device(|device| device.focus = Some(stop.token.clone()));
                self.tell(ELEMENT_CHANGED, focus(stop)).await
            }
            _ => Ok(()),
        }
    }

    /// Tells the state of every app that runs.
    async fn tell_apps(&mut self) -> io::Result<()> {
        let front = self.phone.phone().with(|state| bundle_of(state.front().0).to_owned());
        for app in self.phone.apps() {
            let Some(pid) = app.pid else { continue };
            let in_front = app.bundle == front || app.bundle == SPRINGBOARD;
            let (state, words) = if in_front { FOREGROUND } else { SUSPENDED };
            let told = dictionary([
                ("appName", "Unknown".into()),
                ("displayID", app.bundle.as_str().into()),
                ("elevated_state", state.into()),
                ("elevated_state_description", words.into()),
                ("execName", app.executable.as_str().into()),
                ("name", "SBApplicationNotificationStateChanged".into()),
                ("pid", u64::from(pid).into()),
                ("state", state.into()),
                ("state_description", words.into()),
            ]);
            self.tell("hostAppStateChanged:", told).await?;
        }
        Ok(())
    }

    async fn tell(&mut self, method: &str, argument: Value) -> io::Result<()> {
        self.peer.call(0, method, vec![Argument::Object(argument)], false).await.map(drop)
    }

    /// 21 is of iOS 15 and 26 of iOS 27.
    fn api_version(&self) -> u64 {
        match self.phone.config().version().0 {
            ..=16 => 22,
            17 => 23,
            18 => 24,
            26 => 25,
            _ => 26,
        }
    }
}

fn capabilities() -> Value {
    dictionary([
        ("com.apple.accessibility.axAuditDaemon.protocolVersion", PROTOCOL_VERSION.into()),
        ("com.apple.private.DTXBlockCompression", 2_u64.into()),
        ("com.apple.private.DTXConnection", 1_u64.into()),
    ])
}

fn is_true(arguments: &[Argument]) -> bool {
    let Some(argument) = arguments.first() else { return false };
    let is_yes = argument.object().and_then(Value::as_boolean) == Some(true);
    is_yes || argument.number().is_some_and(|number| number != 0)
}

/// `{direction: 4, …}`, each in an object that says that it is passed as it is.
fn direction(arguments: &[Argument]) -> Option<Direction> {
    let Some(Argument::Object(options)) = arguments.first() else { return None };
    let number = inner(inner(options)?.as_dictionary()?.get("direction")?)?.as_unsigned_integer()?;
    match number {
        3 => Some(Direction::Previous),
        4 => Some(Direction::Next),
        5 => Some(Direction::First),
        6 => Some(Direction::Last),
        _ => None,
    }
}

fn inner(object: &Value) -> Option<&Value> {
    object.as_dictionary()?.get("Value")
}

fn passthrough(value: Value) -> Value {
    dictionary([("ObjectType", "passthrough".into()), ("Value", value)])
}

fn typed(name: &str, fields: Dictionary) -> Value {
    dictionary([("ObjectType", name.into()), ("Value", passthrough(Value::Dictionary(fields)))])
}

/// What is told of an element that has the focus now.
fn focus(stop: &Stop) -> Value {
    let mut element = Dictionary::new();
    element.insert("PlatformElementValue_v1".to_owned(), passthrough(Value::Data(stop.token.clone())));
    if !stop.identifier.is_empty() {
        let identifier = passthrough(stop.identifier.as_str().into());
        element.insert("AccessibilityIdentifier_v1".to_owned(), identifier);
    }
    let mut fields = Dictionary::new();
    for key in ["CaptionTextValue_v1", "SpokenDescriptionValue_v1"] {
        fields.insert(key.to_owned(), passthrough(stop.words.as_str().into()));
    }
    fields.insert("ElementValue_v1".to_owned(), typed("AXAuditElement_v1", element));
    fields.insert("InspectorSectionsValue_v1".to_owned(), passthrough(Value::Array(Vec::new())));
    typed("AXAuditInspectorFocus_v1", fields)
}

/// The elements at which VoiceOver stops, in their order.
fn stops(phone: &IPhone) -> Vec<Stop> {
    let Some(tree) = phone.elements() else { return Vec::new() };
    let is_system = phone.applications().is_some_and(|front| front.system.is_some());
    let pid = phone.phone().with(|state| {
        let front = if is_system { package_of(SPRINGBOARD) } else { state.front().0 }.to_owned();
        state.processes.pid(&front).unwrap_or(0)
    });
    let mut found = Vec::new();
    add_stops(&tree, pid, &mut Vec::new(), &mut found);
    found
}

fn add_stops(element: &UiElement, pid: u32, path: &mut Vec<usize>, found: &mut Vec<Stop>) {
    if element.accessible {
        let mut hasher = DefaultHasher::new();
        (path.as_slice(), element.kind, &element.identifier).hash(&mut hasher);
        // The process, an address and a number, as real ones have.
        let mut token = pid.to_le_bytes().to_vec();
        token.extend(hasher.finish().to_le_bytes());
        token.extend((found.len() as u64 + 1).to_le_bytes());
        found.push(Stop { token, words: words(element), identifier: element.identifier.clone() });
        // What is inside an element of accessibility is spoken with it.
        return;
    }
    for (at, child) in element.children.iter().enumerate() {
        path.push(at);
        add_stops(child, pid, path, found);
        path.pop();
    }
}

/// `Log in, Button`: the label, the value and the traits.
fn words(element: &UiElement) -> String {
    let value = match &element.value {
        Some(ElementValue::Text(text)) if !text.is_empty() => text.clone(),
        Some(ElementValue::Fraction(at)) => format!("{:.0}%", at * 100.0),
        Some(ElementValue::On(on)) => u8::from(*on).to_string(),
        Some(ElementValue::Text(_)) | None => element.placeholder.clone(),
    };
    let traits = element.traits.iter().map(|name| spaced(name));
    let selected = (element.selected && !element.traits.contains(&"Selected")).then(|| "Selected".to_owned());
    let all = [element.label.clone(), value].into_iter().chain(traits).chain(selected);
    all.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join(", ")
}

/// `KeyboardKey` is told as `Keyboard Key`.
fn spaced(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter);
    }
    words
}
