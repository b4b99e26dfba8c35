//! Keys of a keyboard by their USB HID usages.

use crate::app::keys;
use crate::state::State;

pub const ENTER: u64 = 40;
pub const SHIFTS: [u64; 2] = [225, 229];
pub const COMMANDS: [u64; 2] = [227, 231];

/// Without and with shift, from usage 30 on: the digits, then from 44 on the rest of a US keyboard.
const DIGITS: [(char, char); 10] = [
    ('1', '!'),
    ('2', '@'),
    ('3', '#'),
    ('4', '$'),
    ('5', '%'),
    ('6', '^'),
    ('7', '&'),
    ('8', '*'),
    ('9', '('),
    ('0', ')'),
];
const SIGNS: [(char, char); 13] = [
    (' ', ' '),
    ('-', '_'),
    ('=', '+'),
    ('[', '{'),
    (']', '}'),
    ('\\', '|'),
    ('#', '~'),
    (';', ':'),
    ('\'', '"'),
    ('`', '~'),
    (',', '<'),
    ('.', '>'),
    ('/', '?'),
];

/// Types what a key of a US keyboard means.
pub fn press(state: &mut State, usage: u64, shift: bool, command: bool) {
    match (character(usage, shift), code(usage)) {
        (Some('a'), _) if command => state.select_all(),
        (Some('v'), _) if command => state.key(keys::PASTE),
        (Some(typed), _) if !command => state.type_text(&typed.to_string()),
        (None, Some(code)) => state.key(code),
        _ => {}
    }
}

pub fn character(usage: u64, shift: bool) -> Option<char> {
    let pick = |(plain, shifted): &(char, char)| if shift { *shifted } else { *plain };
    let index = |from: u64| usize::try_from(usage - from).ok();
    match usage {
        4..=29 => {
            let letter = char::from(b'a' + u8::try_from(usage - 4).ok()?);
            Some(if shift { letter.to_ascii_uppercase() } else { letter })
        }
        30..=39 => DIGITS.get(index(30)?).map(pick),
        44..=56 => SIGNS.get(index(44)?).map(pick),
        _ => None,
    }
}

/// The phone's own code of a key that types nothing. Escape has no effect in an app of iOS.
pub fn code(usage: u64) -> Option<u32> {
    match usage {
        ENTER | 88 => Some(keys::ENTER),
        42 => Some(keys::DEL),
        43 => Some(keys::TAB),
        74 => Some(keys::MOVE_HOME),
        76 => Some(keys::FORWARD_DEL),
        77 => Some(keys::MOVE_END),
        79 => Some(22),
        80 => Some(21),
        81 => Some(20),
        82 => Some(19),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usages_are_those_of_a_us_keyboard() {
        let typed: String = [
            (11, true),
            (8, false),
            (15, false),
            (15, false),
            (18, false),
            (30, true),
            (44, false),
            (56, true),
        ]
        .into_iter()
        .filter_map(|(usage, shift)| character(usage, shift))
        .collect();
        assert_eq!(typed, "Hello! ?");
        assert_eq!(
            (character(0, false), character(57, false), character(u64::MAX, true)),
            (None, None, None)
        );
    }
}
