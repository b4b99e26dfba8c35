//! What a phone speaks of its screen, through the service of Accessibility Inspector. Nothing has to be installed, and
//! lockdownd starts it without a tunnel.
//!
//! The focus of accessibility is moved from element to element, and the phone tells what it would speak of each. It
//! never tells where an element is. Lists may scroll while the focus goes through them. A second move before the first
//! one was told makes the phone silent, so one is never sent.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use idevice::provider::IdeviceProvider as _;
use idevice::{IdeviceError, ReadWrite};
use mdm_core::port::{DeviceError, DeviceErrorKind, SpokenItem, SpokenScreen};
use mdm_wire::dtx::{Argument, Broken, Content, HEAD_BYTES, Head, Message, Parts};
use plist::{Dictionary, Value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, timeout_at};

use super::error::Effect;
use super::handshake;
use super::link::{Link, Provider, session};

const SERVICE: &str = "com.apple.accessibility.axAuditDaemon.remoteserver";
/// Elements that are listed, and how long that may take.
const ITEMS_MAX: usize = 300;
/// How long a screen is listed; what was read until then is told.
const WALK_MAX: Duration = Duration::from_secs(20);
/// How long one move is waited for. It tells its end after the list has scrolled.
const MOVE_MAX: Duration = Duration::from_secs(3);
/// Characters that are kept of what is spoken.
const WORDS_CHARS_MAX: usize = 1000;
/// Largest part of a message. What is told of one element has 20 KB.
const PART_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The same words as at the beginning, this many in a row, are the beginning again: tokens may change while lists scroll.
const BEGINNING: usize = 3;
const ELEMENT_CHANGED: &str = "hostInspectorCurrentElementChanged:";
/// Numbers of directions.
const NEXT: u64 = 4;
const FIRST: u64 = 5;

type Stream = Box<dyn ReadWrite>;

/// How the walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The focus came to where it began.
    Around,
    TooMany,
    TooLong,
    /// A move was not told.
    Silence,
    /// The phone ended the connection.
    HungUp,
}

struct Walk {
    items: Vec<SpokenItem>,
    end: End,
}

/// Lists what the phone speaks of its screen.
pub async fn spoken(link: &Link) -> Result<SpokenScreen, DeviceError> {
    let walk = link.with(Effect::Reads, async |provider| walk(&provider).await).await?;
    let cut = match walk.end {
        End::Around => None,
        End::TooMany => Some(format!("there are more than {ITEMS_MAX} elements")),
        End::TooLong => Some(format!("it was read for {} s", WALK_MAX.as_secs())),
        End::Silence => Some("the phone stopped telling where its focus is".to_owned()),
        End::HungUp => Some("the phone ended the connection".to_owned()),
    };
    if walk.items.is_empty() {
        let why = match walk.end {
            End::HungUp => match super::developer_mode(link).await? {
                Some(false) => super::mode_is_off(&link.udid),
                _ => format!(
                    "the accessibility audit of the iPhone {} ended at once: turn Developer Mode on and restart the \
                     phone",
                    link.udid
                ),
            },
            _ => format!(
                "the iPhone {} spoke of no element: the app in front may have none, or the screen is off",
                link.udid
            ),
        };
        return Err(DeviceError::new(DeviceErrorKind::TreeUnavailable, why));
    }
    Ok(SpokenScreen { items: walk.items, cut })
}

async fn walk(provider: &Provider) -> Result<Walk, IdeviceError> {
    let record = provider.get_pairing_file().await?;
    let (mut lockdown, _) = session(provider, &record).await?;
    let (port, uses_tls) = lockdown.start_service(SERVICE).await?;
    let stream = provider.connect(port).await?.get_socket();
    let stream = stream.ok_or_else(|| IdeviceError::UnexpectedResponse("no connection".to_owned()))?;
    let (stream, buffer) = match uses_tls {
        true => handshake::prove(stream, &record).await?,
        false => (stream, Vec::new()),
    };
    Ok(walk_on(stream, buffer).await?)
}

async fn walk_on(stream: Stream, buffer: Vec<u8>) -> io::Result<Walk> {
    let mut inspector =
        Inspector { stream, buffer, parts: Parts::default(), sent: 0, until: Instant::now() + WALK_MAX };
    let mut walk = Walk { items: Vec::new(), end: End::Around };
    walk.end = match inspector.go_around(&mut walk.items).await {
        Ok(end) => end,
        Err(error) if ended(&error) => End::HungUp,
        Err(error) => return Err(error),
    };
    Ok(walk)
}

/// A door for the fuzzer: how many elements such a connection tells of.
#[cfg(fuzzing)]
pub async fn count_on(stream: Stream) -> io::Result<usize> {
    walk_on(stream, Vec::new()).await.map(|walk| walk.items.len())
}

fn ended(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | BrokenPipe | ConnectionReset | ConnectionAborted)
}

/// An element that has the focus.
struct Focus {
    token: Vec<u8>,
    item: SpokenItem,
}

struct Inspector {
    stream: Stream,
    /// What came and is no whole message yet.
    buffer: Vec<u8>,
    parts: Parts,
    sent: u32,
    until: Instant,
}

impl Inspector {
    async fn go_around(&mut self, items: &mut Vec<SpokenItem>) -> io::Result<End> {
        self.call("deviceSetAppMonitoringEnabled:", true.into()).await?;
        self.call("deviceInspectorSetMonitoredEventType:", 0_u64.into()).await?;
        // Nothing is drawn around the elements.
        self.call("deviceInspectorShowVisuals:", false.into()).await?;
        let end = self.visit_all(items).await?;
        // Nobody listens any more; a phone that is gone does not matter.
        let _ = self.call("deviceSetAppMonitoringEnabled:", false.into()).await;
        Ok(end)
    }

    async fn visit_all(&mut self, items: &mut Vec<SpokenItem>) -> io::Result<End> {
        // The focus stays where somebody left it, and a move to where it is already is not told: so two steps aside
        // first, because the first one may lead from nowhere to the first element.
        let Some(aside) = self.go(NEXT).await? else { return Ok(End::Silence) };
        let Some(further) = self.go(NEXT).await? else {
            items.push(aside.item);
            return Ok(End::Silence);
        };
        let first = self.go(FIRST).await?.unwrap_or(further);
        let mut seen = BTreeSet::from([first.token]);
        items.push(first.item);
        while items.len() < ITEMS_MAX {
            let Some(next) = self.go(NEXT).await? else {
                return Ok(if Instant::now() >= self.until { End::TooLong } else { End::Silence });
            };
            if !seen.insert(next.token) {
                return Ok(End::Around);
            }
            items.push(next.item);
            if begins_again(items) {
                items.truncate(items.len() - BEGINNING);
                return Ok(End::Around);
            }
        }
        Ok(End::TooMany)
    }

    /// Moves the focus, and returns where it went; nothing if that is not told in time.
    async fn go(&mut self, direction: u64) -> io::Result<Option<Focus>> {
        let options = [
            ("allowNonAX", false.into()),
            ("direction", direction.into()),
            ("includeContainers", true.into()),
        ];
        let options = options.into_iter().map(|(key, value)| (key.to_owned(), passthrough(value)));
        let options = passthrough(Value::Dictionary(options.collect::<Dictionary>()));
        self.call("deviceInspectorMoveWithOptions:", options).await?;
        let until = self.until.min(Instant::now() + MOVE_MAX);
        loop {
            let message = match timeout_at(until, self.next()).await {
                Ok(message) => message?,
                Err(_) => return Ok(None),
            };
            let Content::Call { method, arguments } = message.content else { continue };
            // Other calls tell of apps that come and go.
            if method == ELEMENT_CHANGED
                && let Some(Argument::Object(told)) = arguments.first()
                && let Some(focus) = read_focus(told)
            {
                return Ok(Some(focus));
            }
        }
    }

    async fn call(&mut self, method: &str, argument: Value) -> io::Result<()> {
        self.sent += 1;
        let message = Message {
            identifier: self.sent,
            conversation: 0,
            channel: 0,
            wants_reply: false,
            content: Content::Call { method: method.to_owned(), arguments: vec![Argument::Object(argument)] },
        };
        self.stream.write_all(&message.encode()).await?;
        self.stream.flush().await
    }

    /// Reads a message. Nothing is lost when a caller stops to wait for it.
    async fn next(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = self.take()? {
                return Ok(message);
            }
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Takes the next message from what has come, if it is whole.
    fn take(&mut self) -> io::Result<Option<Message>> {
        let broken = |Broken(what): Broken| io::Error::other(what);
        while let Some((head, rest)) = self.buffer.split_first_chunk::<HEAD_BYTES>() {
            let head = Head::decode(head).map_err(broken)?;
            let length = head.body_bytes();
            if length > PART_BYTES_MAX {
                return Err(io::Error::other("a part that is too long"));
            }
            let Some(body) = rest.get(..length) else { return Ok(None) };
            let whole = self.parts.push(&head, body).map_err(broken)?;
            self.buffer.drain(..HEAD_BYTES + length);
            if whole.is_some() {
                return Ok(whole);
            }
        }
        Ok(None)
    }
}

fn begins_again(items: &[SpokenItem]) -> bool {
    items.len() >= 2 * BEGINNING && items.get(items.len() - BEGINNING..) == items.get(..BEGINNING)
}

fn passthrough(value: Value) -> Value {
    let pairs = [("ObjectType", "passthrough".into()), ("Value", value)];
    Value::Dictionary(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Reads an `AXAuditInspectorFocus_v1`. Nothing if no element has the focus.
fn read_focus(told: &Value) -> Option<Focus> {
    let fields = bare(told).as_dictionary()?;
    let element = bare(fields.get("ElementValue_v1")?).as_dictionary()?;
    let token = bare(element.get("PlatformElementValue_v1")?).as_data()?.to_vec();
    let text = |fields: &Dictionary, key: &str| {
        let text = bare(fields.get(key)?).as_string()?.trim();
        (!text.is_empty()).then(|| text.chars().take(WORDS_CHARS_MAX).collect::<String>())
    };
    let words = text(fields, "SpokenDescriptionValue_v1").or_else(|| text(fields, "CaptionTextValue_v1"));
    let stable_id = text(element, "AccessibilityIdentifier_v1");
    Some(Focus { token, item: SpokenItem { words: words.unwrap_or_default(), stable_id } })
}

/// What is inside objects that only say of which type it is.
fn bare(value: &Value) -> &Value {
    let mut value = value;
    while let Some(object) = value.as_dictionary()
        && object.contains_key("ObjectType")
        && let Some(inside) = object.get("Value")
    {
        value = inside;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(words: &str) -> SpokenItem {
        SpokenItem { words: words.to_owned(), stable_id: None }
    }

    #[test]
    fn the_beginning_is_known_again_by_three_in_a_row() {
        let of = |words: &str| words.chars().map(|word| item(&word.to_string())).collect::<Vec<_>>();
        assert!(begins_again(&of("abcdabc")));
        for no in ["abc", "abcab", "abcdab", "abcdbca", "abcdeaac"] {
            assert!(!begins_again(&of(no)), "{no}");
        }
    }

    #[test]
    fn a_focus_without_an_element_is_none() {
        let pairs = |pairs: &[(&str, Value)]| {
            let pairs = pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
            Value::Dictionary(pairs.collect())
        };
        let typed =
            |name: &str, fields: Value| pairs(&[("ObjectType", name.into()), ("Value", passthrough(fields))]);
        let words = ("CaptionTextValue_v1", passthrough("Log in, Button".into()));
        let none = typed("AXAuditInspectorFocus_v1", pairs(std::slice::from_ref(&words)));
        assert!(read_focus(&none).is_none());
        let token = pairs(&[("PlatformElementValue_v1", passthrough(Value::Data(vec![1, 2])))]);
        let element = ("ElementValue_v1", typed("AXAuditElement_v1", token));
        let focus =
            read_focus(&typed("AXAuditInspectorFocus_v1", pairs(&[words, element]))).expect("a focus");
        assert_eq!((focus.token, focus.item), (vec![1, 2], item("Log in, Button")));
        assert!(read_focus(&"nonsense".into()).is_none());
    }
}
