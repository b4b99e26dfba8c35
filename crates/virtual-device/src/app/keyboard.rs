//! The on-screen keyboard: one layout for drawing and for typing.

use super::geometry::{Rect, Screen};
use crate::config::Platform;

const ANDROID_ROWS: [&str; 4] = ["1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm"];
const LETTERS: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
const CAPITALS: [&str; 3] = ["QWERTYUIOP", "ASDFGHJKL", "ZXCVBNM"];
const NUMBERS: [&str; 3] = ["1234567890", "-/:;()$&@\"", ".,?!'"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyCap {
    Char(char),
    Space,
    Delete,
    Enter,
    /// The next letter is a capital.
    Shift,
    /// Shows digits and signs.
    Numbers,
    Letters,
}

impl KeyCap {
    pub fn label(self) -> String {
        let name = match self {
            KeyCap::Char(c) => return c.to_string(),
            KeyCap::Space => "space",
            KeyCap::Delete => "del",
            KeyCap::Enter => "enter",
            KeyCap::Shift => "shift",
            KeyCap::Numbers => "123",
            KeyCap::Letters => "ABC",
        };
        name.to_owned()
    }
}

/// The keys that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Board {
    Android,
    IosLetters,
    IosCapitals,
    IosNumbers,
}

impl Board {
    /// Returns the keys with which the keyboard opens.
    pub fn first(platform: Platform) -> Board {
        match platform {
            Platform::Android => Board::Android,
            Platform::Ios => Board::IosLetters,
        }
    }

    /// Returns the keys that are shown after this one was pressed.
    pub fn after(self, cap: KeyCap) -> Board {
        match (self, cap) {
            (Board::Android, _) => Board::Android,
            (Board::IosCapitals, KeyCap::Shift | KeyCap::Char(_)) | (_, KeyCap::Letters) => Board::IosLetters,
            (_, KeyCap::Shift) => Board::IosCapitals,
            (_, KeyCap::Numbers) => Board::IosNumbers,
            (board, _) => board,
        }
    }

    /// Returns every key with its place: rows of characters and a bottom row.
    pub fn caps(self, screen: &Screen) -> Vec<(KeyCap, Rect)> {
        match self {
            Board::Android => android_caps(screen),
            Board::IosLetters => ios_caps(LETTERS, KeyCap::Shift, KeyCap::Numbers, screen),
            Board::IosCapitals => ios_caps(CAPITALS, KeyCap::Shift, KeyCap::Numbers, screen),
            Board::IosNumbers => ios_caps(NUMBERS, KeyCap::Letters, KeyCap::Letters, screen),
        }
    }

    pub fn cap_at(self, screen: &Screen, x: i32, y: i32) -> Option<KeyCap> {
        self.caps(screen).into_iter().find(|(_, rect)| rect.contains(x, y)).map(|(cap, _)| cap)
    }
}

fn rows(rows: &[&str], row_height: i32, area: &Rect) -> Vec<(KeyCap, Rect)> {
    let unit = (area.width() / 10).max(1);
    let mut caps = Vec::new();
    for (row, letters) in (0i32..).zip(rows) {
        let top = area.top + row * row_height;
        let left = (area.width() - letters.chars().count() as i32 * unit) / 2;
        for (column, letter) in (0i32..).zip(letters.chars()) {
            let x = left + column * unit;
            caps.push((KeyCap::Char(letter), Rect::new(x, top, x + unit, top + row_height)));
        }
    }
    caps
}

fn android_caps(screen: &Screen) -> Vec<(KeyCap, Rect)> {
    let area = screen.keyboard();
    let row_height = (area.height() / 5).max(1);
    let unit = (area.width() / 10).max(1);
    let mut caps = rows(&ANDROID_ROWS, row_height, &area);
    let top = area.top + 4 * row_height;
    let bottom = [
        (KeyCap::Char('@'), 0, 1),
        (KeyCap::Space, 2, 7),
        (KeyCap::Char('.'), 1, 2),
        (KeyCap::Delete, 7, 8),
        (KeyCap::Enter, 8, 10),
    ];
    for (cap, from, to) in bottom {
        caps.push((cap, Rect::new(from * unit, top, to * unit, area.bottom)));
    }
    caps
}

/// Three rows with a turning key and delete beside the last one, and a bottom row.
fn ios_caps(letters: [&str; 3], side: KeyCap, turn: KeyCap, screen: &Screen) -> Vec<(KeyCap, Rect)> {
    let area = screen.keyboard();
    let row_height = (area.height() / 4).max(1);
    let unit = (area.width() / 10).max(1);
    let mut caps = rows(&letters, row_height, &area);
    let (third, last) = (area.top + 2 * row_height, area.top + 3 * row_height);
    let place = |from: i32, to: i32, top: i32| Rect::new(from * unit, top, to * unit, top + row_height);
    caps.push((side, place(0, 1, third)));
    caps.push((KeyCap::Delete, place(9, 10, third)));
    caps.push((turn, place(0, 2, last)));
    caps.push((KeyCap::Space, place(2, 8, last)));
    caps.push((KeyCap::Enter, place(8, 10, last)));
    caps
}
