//! The messages between the phone and its Java process: a length of four bytes, then fields in big-endian order. A
//! text is its length and UTF-8. docs/framework-phone.md has the list. Everything that is read is checked.

use crate::app::geometry::Rect;

/// A picture of a large screen fits.
pub const FRAME_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Entries of one list in an answer.
const LIST_MAX: usize = 50_000;
pub const VERSION: u32 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Advance = 1,
    Gesture = 2,
    Motion = 3,
    Key = 4,
    Text = 5,
    Dump = 6,
    Picture = 7,
    Launch = 8,
    Kill = 9,
    Configure = 10,
    Accessibility = 11,
    Truth = 12,
    Commit = 13,
    SelectAll = 14,
    Helper = 15,
    Restart = 16,
}

/// One request, field by field.
pub struct Request(Vec<u8>);

impl Request {
    pub fn new(kind: Kind, uptime_ms: u64) -> Request {
        Request(vec![0, 0, 0, 0, kind as u8]).i64(i64::try_from(uptime_ms).unwrap_or(i64::MAX))
    }

    pub fn u8(mut self, value: u8) -> Request {
        self.0.push(value);
        self
    }

    pub fn i32(mut self, value: i32) -> Request {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn i64(mut self, value: i64) -> Request {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub fn text(self, text: &str) -> Request {
        self.field(text.as_bytes())
    }

    /// Adds bytes with their count in front.
    pub fn field(self, bytes: &[u8]) -> Request {
        let mut request = self.i32(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
        request.0.extend(bytes);
        request
    }

    /// Returns the message with its length in front.
    pub fn bytes(mut self) -> Vec<u8> {
        let length = u32::try_from(self.0.len() - 4).unwrap_or(u32::MAX).to_be_bytes();
        self.0[..4].copy_from_slice(&length);
        self.0
    }
}

/// An answer that does not hold what it must.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed("an answer ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed("an answer ends too early"))
    }

    pub fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    pub fn flag(&mut self) -> Result<bool, Malformed> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed("a flag is neither 0 nor 1")),
        }
    }

    pub fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    fn i32(&mut self) -> Result<i32, Malformed> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub fn i64(&mut self) -> Result<i64, Malformed> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    pub fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    /// Reads a text. Java may have cut one inside of a character.
    pub fn text(&mut self) -> Result<String, Malformed> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    /// Reads a time since boot; `None` is never.
    pub fn time(&mut self) -> Result<Option<u64>, Malformed> {
        Ok(u64::try_from(self.i64()?).ok())
    }

    fn rect(&mut self) -> Result<Rect, Malformed> {
        Ok(Rect::new(self.i32()?, self.i32()?, self.i32()?, self.i32()?))
    }

    fn list<T>(&mut self, one: impl Fn(&mut Self) -> Result<T, Malformed>) -> Result<Vec<T>, Malformed> {
        let count = self.u32()? as usize;
        if count > LIST_MAX {
            return Err(Malformed("a list is too long"));
        }
        (0..count).map(|_| one(self)).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Log { at_ms: u64, priority: char, tag: String, message: String },
    Toast { text: String, from_ms: u64, until_ms: u64 },
    Started { at_ms: u64, activity: String, within: bool },
    Crashed { at_ms: u64, activity: String, trace: String },
    Listener(ListenerCall),
}

/// A call of a view's listener, or a finger that came down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenerCall {
    pub at_ms: u64,
    /// The number of the view in [`ViewTruth`].
    pub view: i64,
    /// `click`, `longClick`, or `touch` for the innermost view under the finger.
    pub what: String,
}

fn entry(reader: &mut Reader<'_>) -> Result<Entry, Malformed> {
    let at = |reader: &mut Reader<'_>| Ok(reader.time()?.unwrap_or(0));
    Ok(match reader.u8()? {
        1 => Entry::Log {
            at_ms: at(reader)?,
            priority: char::from(reader.u8()?),
            tag: reader.text()?,
            message: reader.text()?,
        },
        2 => Entry::Toast { text: reader.text()?, from_ms: at(reader)?, until_ms: at(reader)? },
        3 => Entry::Started { at_ms: at(reader)?, activity: reader.text()?, within: reader.flag()? },
        4 => Entry::Crashed { at_ms: at(reader)?, activity: reader.text()?, trace: reader.text()? },
        5 => Entry::Listener(ListenerCall { at_ms: at(reader)?, view: reader.i64()?, what: reader.text()? }),
        _ => return Err(Malformed("an entry of an unknown kind")),
    })
}

/// What every answer says about the phone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    pub entries: Vec<Entry>,
    /// Entries that did not fit.
    pub entries_left: u32,
    pub events: u64,
    pub event_at_ms: Option<u64>,
    pub draws: u64,
    pub drawn_at_ms: Option<u64>,
    /// When words, states or places of views last changed.
    pub content_at_ms: Option<u64>,
    /// No app is in front.
    pub home: bool,
    pub package: String,
    pub activity: String,
    /// The task's activities, the top one last.
    pub stack: Vec<String>,
    pub has_window: bool,
    /// The focused window is a dialog, a menu or another popup.
    pub is_dialog: bool,
    pub window: Rect,
    pub keyboard: bool,
    /// The name of the focused field; empty without one.
    pub editor: String,
}

pub fn status(reader: &mut Reader<'_>) -> Result<Status, Malformed> {
    let entries = reader.list(entry)?;
    let entries_left = reader.u32()?;
    let events = reader.time()?.unwrap_or(0);
    let event_at_ms = reader.time()?;
    let draws = reader.time()?.unwrap_or(0);
    let drawn_at_ms = reader.time()?;
    let content_at_ms = reader.time()?;
    let _uptime = reader.i64()?;
    let home = reader.flag()?;
    let (package, activity) = (reader.text()?, reader.text()?);
    let stack = reader.list(Reader::text)?;
    let (has_window, is_dialog, window) = (reader.flag()?, reader.flag()?, reader.rect()?);
    let keyboard = reader.flag()?;
    let _keyboard_place = reader.rect()?;
    let editor = reader.text()?;
    Ok(Status {
        entries,
        entries_left,
        events,
        event_at_ms,
        draws,
        drawn_at_ms,
        content_at_ms,
        home,
        package,
        activity,
        stack,
        has_window,
        is_dialog,
        window,
        keyboard,
        editor,
    })
}

/// What a process says when it is up: its state, and what its app needs and this phone has not.
pub fn greeting(reader: &mut Reader<'_>) -> Result<(Status, Vec<String>), Malformed> {
    Ok((status(reader)?, reader.list(Reader::text)?))
}

/// A view that is on the screen, read from the object itself and not from accessibility.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewTruth {
    /// Stands for the object as long as it lives.
    pub number: i64,
    /// The number of its parent; 0 for the root of a window.
    pub parent: i64,
    pub window: u32,
    pub class: String,
    /// `package:id/name`, or nothing.
    pub id: String,
    pub text: String,
    pub description: String,
    /// `None` for what cannot be checked.
    pub checked: Option<bool>,
    pub selected: bool,
    pub enabled: bool,
    pub focused: bool,
    pub clickable: bool,
    pub has_click_listener: bool,
    pub long_clickable: bool,
    /// What of it can be seen: left, top, right, bottom; empty when it is scrolled away.
    pub visible: (i32, i32, i32, i32),
    pub scroll: (i32, i32),
    /// What its class knows besides, such as progress, rating, value, date, selected position.
    pub facts: Vec<(String, String)>,
}

/// Reads the number of the focused window, and the views of all windows.
pub fn views(reader: &mut Reader<'_>) -> Result<(u32, Vec<ViewTruth>), Malformed> {
    let focused_window = reader.u32()?;
    let views = reader.list(|reader| {
        Ok(ViewTruth {
            number: reader.i64()?,
            parent: reader.i64()?,
            window: reader.u32()?,
            class: reader.text()?,
            id: reader.text()?,
            text: reader.text()?,
            description: reader.text()?,
            checked: match reader.u8()? {
                0 => None,
                state => Some(state == 2),
            },
            selected: reader.flag()?,
            enabled: reader.flag()?,
            focused: reader.flag()?,
            clickable: reader.flag()?,
            has_click_listener: reader.flag()?,
            long_clickable: reader.flag()?,
            visible: reader.rect()?.sides(),
            scroll: (reader.i32()?, reader.i32()?),
            facts: reader.list(|reader| Ok((reader.text()?, reader.text()?)))?,
        })
    })?;
    Ok((focused_window, views))
}

/// The view that a finger lands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitView {
    pub class: String,
    pub id: String,
    pub label: String,
    pub enabled: bool,
}

pub fn hit(reader: &mut Reader<'_>) -> Result<Option<HitView>, Malformed> {
    if reader.i64()? == 0 {
        return Ok(None);
    }
    let (class, id, label) = (reader.text()?, reader.text()?, reader.text()?);
    Ok(Some(HitView { class, id, label, enabled: reader.flag()? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_its_length_kind_time_and_fields() {
        let bytes = Request::new(Kind::Launch, 258).text(".A").bytes();
        assert_eq!(bytes, [0, 0, 0, 15, 8, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 2, b'.', b'A']);
    }

    #[test]
    fn an_answer_that_lies_about_its_lengths_is_refused() {
        assert_eq!(Reader(&[0, 0, 0, 9, b'a']).text(), Err(Malformed("an answer ends too early")));
        assert_eq!(views(&mut Reader(&[0xff; 12])), Err(Malformed("a list is too long")));
        assert_eq!(status(&mut Reader(&[0, 0, 0, 1, 77])), Err(Malformed("an entry of an unknown kind")));
        assert_eq!(Reader(&[2]).flag(), Err(Malformed("a flag is neither 0 nor 1")));
    }
}
