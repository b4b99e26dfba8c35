//! Requests to the helper and its answers.

use super::number::{Broken, Reader, Writer};
use super::tree::Tree;
use super::{ANSWER_BIT, NONCE_BYTES, REFUSAL_KIND, frame};

/// Samples of one gesture; a request with more is refused.
const SAMPLES_MAX: usize = 2_000;
/// Fingers of one sample; a request with more is refused.
const FINGERS_MAX: usize = 10;
/// The longest gesture; a longer one is refused.
const GESTURE_MS_MAX: u32 = 60_000;
/// Keys of one request; a request with more is refused.
const KEYS_MAX: usize = 500;
/// Android's own limit.
const FINGER_ID_MAX: u8 = 31;
/// How long the keys of one request may be held together; longer is refused.
const HELD_MS_MAX: u64 = 60_000;
/// The best quality of a picture; a higher one is refused.
const QUALITY_MAX: u8 = 100;

#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    Hello(Hello),
    /// Asks for the tree, unless it still has this hash.
    Tree {
        known: u64,
    },
    Touch(Vec<Sample>),
    Keys(Vec<KeyPress>),
    /// A serial of 0 means the field that has the input focus.
    Text {
        mode: TextMode,
        serial: u32,
        index: u32,
        text: String,
    },
    Action {
        serial: u32,
        index: u32,
        action: u32,
        argument: Argument,
    },
    /// Sizes of 0 mean as it is; quality 0 means a PNG.
    Picture {
        width_max: u16,
        height_max: u16,
        quality: u8,
    },
    GetClipboard,
    SetClipboard(String),
    Events {
        on: bool,
    },
    Release,
    Bye,
    /// The next touch, keys, text or action must not begin after this uptime.
    Until {
        uptime_ms: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    pub version: u16,
    pub nonce: [u8; NONCE_BYTES],
}

/// The fingers that are down at a time, in milliseconds since the first sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    pub at_ms: u32,
    pub fingers: Vec<Finger>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finger {
    pub id: u8,
    pub x: i32,
    pub y: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyPress {
    pub code: u16,
    pub meta: u32,
    pub hold_ms: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextMode {
    Replace,
    Insert,
    /// Inserts, and then performs the editor's action.
    InsertAndSubmit,
}

/// How a text came into its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextWay {
    SetText,
    Committed,
    Pasted,
    Keys,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Argument {
    None,
    Progress(f32),
    Selection(i32, i32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Welcome {
    pub version: u16,
    pub sdk: u16,
    pub uptime_ms: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TreeAnswer {
    Same,
    New { hash: u64, tree: Tree },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFormat {
    Jpeg,
    Png,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenPicture {
    /// Of the screen, not of the picture.
    pub width: u16,
    pub height: u16,
    pub format: PictureFormat,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub code: RefusalCode,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalCode {
    BadRequest,
    AutomationBusy,
    NodeGone,
    NodeChanged,
    Refused,
    NoWindow,
    Protected,
    Unsupported,
    Internal,
    /// The time that `Until` named was over.
    TooLate,
    /// A code of a later version.
    Other(u16),
}

impl RefusalCode {
    const KNOWN: [RefusalCode; 10] = [
        RefusalCode::BadRequest,
        RefusalCode::AutomationBusy,
        RefusalCode::NodeGone,
        RefusalCode::NodeChanged,
        RefusalCode::Refused,
        RefusalCode::NoWindow,
        RefusalCode::Protected,
        RefusalCode::Unsupported,
        RefusalCode::Internal,
        RefusalCode::TooLate,
    ];

    fn from_number(number: u16) -> RefusalCode {
        let known = usize::from(number).checked_sub(1).and_then(|index| RefusalCode::KNOWN.get(index));
        known.copied().unwrap_or(RefusalCode::Other(number))
    }

    fn number(self) -> u16 {
        if let RefusalCode::Other(number) = self {
            return number;
        }
        let index = RefusalCode::KNOWN.iter().position(|known| *known == self).unwrap_or_default();
        index as u16 + 1
    }
}

/// The answer to a request; which one it is, its kind tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Hello(Welcome),
    /// Boxed, because the other answers are small.
    Tree(Box<TreeAnswer>),
    Text(TextWay),
    Picture(ScreenPicture),
    Clipboard(Option<String>),
    /// A request that has no other answer was carried out.
    Done,
    Refused(Refusal),
}

impl Request {
    /// The number of this kind of request.
    pub fn kind(&self) -> u8 {
        match self {
            Request::Hello(_) => 1,
            Request::Tree { .. } => 2,
            Request::Touch(_) => 3,
            Request::Keys(_) => 4,
            Request::Text { .. } => 5,
            Request::Action { .. } => 6,
            Request::Picture { .. } => 7,
            Request::GetClipboard => 8,
            Request::SetClipboard(_) => 9,
            Request::Events { .. } => 10,
            Request::Release => 11,
            Request::Bye => 12,
            Request::Until { .. } => 13,
        }
    }

    pub fn frame(&self, id: u32) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Request::Hello(hello) => _ = writer.u16(hello.version).raw(&hello.nonce),
            Request::Tree { known } => _ = writer.u64(*known),
            Request::Touch(samples) => write_samples(&mut writer, samples),
            Request::Keys(keys) => write_keys(&mut writer, keys),
            Request::Text { mode, serial, index, text } => {
                writer.u8(*mode as u8).u32(*serial).u32(*index).text(text);
            }
            Request::Action { serial, index, action, argument } => {
                writer.u32(*serial).u32(*index).u32(*action);
                match argument {
                    Argument::None => _ = writer.u8(0),
                    Argument::Progress(value) => _ = writer.u8(1).f32(*value),
                    Argument::Selection(start, end) => _ = writer.u8(2).i32(*start).i32(*end),
                }
            }
            Request::Picture { width_max, height_max, quality } => {
                writer.u16(*width_max).u16(*height_max).u8(*quality);
            }
            Request::SetClipboard(text) => _ = writer.text(text),
            Request::Events { on } => _ = writer.flag(*on),
            Request::Until { uptime_ms } => _ = writer.u64(*uptime_ms),
            Request::GetClipboard | Request::Release | Request::Bye => {}
        }
        frame(id, self.kind(), &writer.bytes)
    }

    pub fn decode(kind: u8, payload: &[u8]) -> Result<Request, Broken> {
        let mut reader = Reader::new(payload);
        let request = match kind {
            1 => Request::Hello(Hello { version: reader.u16()?, nonce: reader.array()? }),
            2 => Request::Tree { known: reader.u64()? },
            3 => Request::Touch(read_samples(&mut reader)?),
            4 => Request::Keys(read_keys(&mut reader)?),
            5 => Request::Text {
                mode: read_mode(&mut reader)?,
                serial: reader.u32()?,
                index: reader.u32()?,
                text: reader.text()?,
            },
            6 => Request::Action {
                serial: reader.u32()?,
                index: reader.u32()?,
                action: reader.u32()?,
                argument: read_argument(&mut reader)?,
            },
            7 => Request::Picture {
                width_max: reader.u16()?,
                height_max: reader.u16()?,
                quality: read_quality(&mut reader)?,
            },
            8 => Request::GetClipboard,
            9 => Request::SetClipboard(reader.text()?),
            10 => Request::Events { on: read_switch(&mut reader)? },
            11 => Request::Release,
            12 => Request::Bye,
            13 => Request::Until { uptime_ms: reader.u64()? },
            _ => return Err(Broken("no request has this kind")),
        };
        reader.end()?;
        Ok(request)
    }
}

fn write_samples(writer: &mut Writer, samples: &[Sample]) {
    writer.u16(u16::try_from(samples.len()).unwrap_or(u16::MAX));
    for sample in samples {
        writer.u32(sample.at_ms).u8(u8::try_from(sample.fingers.len()).unwrap_or(u8::MAX));
        for finger in &sample.fingers {
            writer.u8(finger.id).i32(finger.x).i32(finger.y);
        }
    }
}

fn read_samples(reader: &mut Reader<'_>) -> Result<Vec<Sample>, Broken> {
    let count = usize::from(reader.u16()?);
    let count = reader.at_most(count, SAMPLES_MAX)?;
    let mut samples: Vec<Sample> = Vec::with_capacity(count);
    for _ in 0..count {
        let at_ms = reader.u32()?;
        let fingers = usize::from(reader.u8()?);
        let fingers = reader.at_most(fingers, FINGERS_MAX)?;
        let fingers = (0..fingers)
            .map(|_| Ok(Finger { id: reader.u8()?, x: reader.i32()?, y: reader.i32()? }))
            .collect::<Result<Vec<Finger>, Broken>>()?;
        let is_known = |at: usize, id: u8| fingers.iter().take(at).any(|other| other.id == id);
        if fingers.iter().enumerate().any(|(at, f)| f.id > FINGER_ID_MAX || is_known(at, f.id)) {
            return Err(Broken("a finger is there twice, or its number is too high"));
        }
        if at_ms > GESTURE_MS_MAX || samples.last().is_some_and(|last| last.at_ms > at_ms) {
            return Err(Broken("samples are not in order of time, or take longer than a minute"));
        }
        samples.push(Sample { at_ms, fingers });
    }
    match samples.last() {
        Some(last) if last.fingers.is_empty() => Ok(samples),
        _ => Err(Broken("the last sample does not lift all fingers")),
    }
}

fn write_keys(writer: &mut Writer, keys: &[KeyPress]) {
    writer.u16(u16::try_from(keys.len()).unwrap_or(u16::MAX));
    for key in keys {
        writer.u16(key.code).u32(key.meta).u32(key.hold_ms);
    }
}

fn read_keys(reader: &mut Reader<'_>) -> Result<Vec<KeyPress>, Broken> {
    let count = usize::from(reader.u16()?);
    let count = reader.at_most(count, KEYS_MAX)?;
    let key = |_| Ok(KeyPress { code: reader.u16()?, meta: reader.u32()?, hold_ms: reader.u32()? });
    let keys = (0..count).map(key).collect::<Result<Vec<KeyPress>, Broken>>()?;
    let held_ms: u64 = keys.iter().map(|key| u64::from(key.hold_ms)).sum();
    match held_ms {
        0..=HELD_MS_MAX if count > 0 => Ok(keys),
        _ => Err(Broken("no keys, or they are held for more than a minute")),
    }
}

fn read_quality(reader: &mut Reader<'_>) -> Result<u8, Broken> {
    match reader.u8()? {
        quality @ 0..=QUALITY_MAX => Ok(quality),
        _ => Err(Broken("no picture has this quality")),
    }
}

fn read_switch(reader: &mut Reader<'_>) -> Result<bool, Broken> {
    match reader.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Broken("events are on or off")),
    }
}

fn read_mode(reader: &mut Reader<'_>) -> Result<TextMode, Broken> {
    match reader.u8()? {
        0 => Ok(TextMode::Replace),
        1 => Ok(TextMode::Insert),
        2 => Ok(TextMode::InsertAndSubmit),
        _ => Err(Broken("no text is typed in this mode")),
    }
}

fn read_argument(reader: &mut Reader<'_>) -> Result<Argument, Broken> {
    match reader.u8()? {
        0 => Ok(Argument::None),
        1 => Ok(Argument::Progress(reader.f32()?)),
        2 => Ok(Argument::Selection(reader.i32()?, reader.i32()?)),
        _ => Err(Broken("no action has this argument")),
    }
}

impl Answer {
    /// The bytes of an answer to a request of this kind.
    pub fn frame(&self, id: u32, request_kind: u8) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Answer::Hello(welcome) => {
                writer.u16(welcome.version).u16(welcome.sdk).u64(welcome.uptime_ms);
            }
            Answer::Tree(tree) => match tree.as_ref() {
                TreeAnswer::Same => _ = writer.u8(0),
                TreeAnswer::New { hash, tree } => _ = writer.u8(1).u64(*hash).raw(&tree.encode()),
            },
            Answer::Text(way) => _ = writer.u8(*way as u8 + 1),
            Answer::Picture(picture) => {
                writer.u16(picture.width).u16(picture.height).u8(picture.format as u8 + 1);
                let count = u32::try_from(picture.bytes.len()).unwrap_or(u32::MAX);
                writer.u32(count).raw(&picture.bytes);
            }
            Answer::Clipboard(text) => {
                writer.flag(text.is_some()).text(text.as_deref().unwrap_or_default());
            }
            Answer::Done => {}
            Answer::Refused(refusal) => {
                writer.u16(refusal.code.number()).text(&refusal.message);
                return frame(id, REFUSAL_KIND, &writer.bytes);
            }
        }
        frame(id, request_kind | ANSWER_BIT, &writer.bytes)
    }

    /// True if an answer of this kind belongs to a request of that kind.
    pub fn belongs(kind: u8, request_kind: u8) -> bool {
        kind == REFUSAL_KIND || kind == request_kind | ANSWER_BIT
    }

    pub fn decode(kind: u8, payload: &[u8]) -> Result<Answer, Broken> {
        let mut reader = Reader::new(payload);
        if kind == REFUSAL_KIND {
            let code = RefusalCode::from_number(reader.u16()?);
            let refusal = Refusal { code, message: reader.text()? };
            reader.end()?;
            return Ok(Answer::Refused(refusal));
        }
        let answer = match kind ^ ANSWER_BIT {
            1 => {
                let (version, sdk) = (reader.u16()?, reader.u16()?);
                Answer::Hello(Welcome { version, sdk, uptime_ms: reader.u64()? })
            }
            2 => Answer::Tree(Box::new(match reader.u8()? {
                0 => TreeAnswer::Same,
                _ => TreeAnswer::New { hash: reader.u64()?, tree: Tree::read(&mut reader)? },
            })),
            5 => Answer::Text(read_way(&mut reader)?),
            7 => Answer::Picture(read_picture(&mut reader)?),
            8 => {
                let (there, text) = (reader.flag()?, reader.text()?);
                Answer::Clipboard(there.then_some(text))
            }
            3 | 4 | 6 | 9..=13 => Answer::Done,
            _ => return Err(Broken("no answer has this kind")),
        };
        reader.end()?;
        Ok(answer)
    }

    /// True for an answer that a request of this kind can have.
    pub fn answers(kind: u8, request: &Request) -> bool {
        kind == REFUSAL_KIND || kind == request.kind() | ANSWER_BIT
    }
}

fn read_way(reader: &mut Reader<'_>) -> Result<TextWay, Broken> {
    match reader.u8()? {
        1 => Ok(TextWay::SetText),
        2 => Ok(TextWay::Committed),
        3 => Ok(TextWay::Pasted),
        4 => Ok(TextWay::Keys),
        _ => Err(Broken("no text is typed in this way")),
    }
}

fn read_picture(reader: &mut Reader<'_>) -> Result<ScreenPicture, Broken> {
    let (width, height) = (reader.u16()?, reader.u16()?);
    let format = match reader.u8()? {
        1 => PictureFormat::Jpeg,
        2 => PictureFormat::Png,
        _ => return Err(Broken("no picture has this format")),
    };
    let count = reader.u32()? as usize;
    Ok(ScreenPicture { width, height, format, bytes: reader.bytes(count)?.to_vec() })
}
