//! Key codes by number and by name.

pub const HOME: u32 = 3;
pub const BACK: u32 = 4;
pub const TAB: u32 = 61;
pub const SPACE: u32 = 62;
pub const ENTER: u32 = 66;
pub const DEL: u32 = 67;
pub const ESCAPE: u32 = 111;
pub const FORWARD_DEL: u32 = 112;
pub const MOVE_HOME: u32 = 122;
pub const MOVE_END: u32 = 123;
pub const NUMPAD_ENTER: u32 = 160;
pub const PASTE: u32 = 279;
pub const CTRL_LEFT: u32 = 113;
pub const CTRL_RIGHT: u32 = 114;
pub const A: u32 = 29;
pub const DPAD_CENTER: u32 = 23;
/// Highest code that a recent system knows.
const CODE_MAX: u32 = 336;

const NAMES: [(&str, u32); 37] = [
    ("UNKNOWN", 0),
    ("HOME", HOME),
    ("BACK", BACK),
    ("CALL", 5),
    ("ENDCALL", 6),
    ("DPAD_UP", 19),
    ("DPAD_DOWN", 20),
    ("DPAD_LEFT", 21),
    ("DPAD_RIGHT", 22),
    ("DPAD_CENTER", DPAD_CENTER),
    ("VOLUME_UP", 24),
    ("VOLUME_DOWN", 25),
    ("POWER", 26),
    ("CAMERA", 27),
    ("COMMA", 55),
    ("PERIOD", 56),
    ("ALT_LEFT", 57),
    ("SHIFT_LEFT", 59),
    ("TAB", TAB),
    ("SPACE", SPACE),
    ("ENTER", ENTER),
    ("DEL", DEL),
    ("MINUS", 69),
    ("AT", 77),
    ("MENU", 82),
    ("SEARCH", 84),
    ("PAGE_UP", 92),
    ("PAGE_DOWN", 93),
    ("ESCAPE", ESCAPE),
    ("FORWARD_DEL", FORWARD_DEL),
    ("CTRL_LEFT", CTRL_LEFT),
    ("MOVE_HOME", MOVE_HOME),
    ("MOVE_END", MOVE_END),
    ("APP_SWITCH", 187),
    ("WAKEUP", 224),
    ("PASTE", PASTE),
    ("COPY", 278),
];

/// Parses `4`, `BACK` or `KEYCODE_BACK`.
pub fn parse(word: &str) -> Option<u32> {
    if let Ok(code) = word.parse::<u32>() {
        return (code <= CODE_MAX).then_some(code);
    }
    let name = word.strip_prefix("KEYCODE_").unwrap_or(word);
    if let Some((_, code)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some(*code);
    }
    match name.as_bytes() {
        [letter @ b'A'..=b'Z'] => Some(A + u32::from(letter - b'A')),
        [digit @ b'0'..=b'9'] => Some(7 + u32::from(digit - b'0')),
        _ => None,
    }
}

/// Returns the character that a key types on a plain keyboard.
pub fn character(code: u32) -> Option<char> {
    let offset = |base: char, from: u32| char::from_u32(base as u32 + code - from);
    match code {
        7..=16 => offset('0', 7),
        29..=54 => offset('a', 29),
        55 => Some(','),
        56 => Some('.'),
        SPACE => Some(' '),
        69 => Some('-'),
        77 => Some('@'),
        _ => None,
    }
}
