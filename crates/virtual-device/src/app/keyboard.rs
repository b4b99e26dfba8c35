//! The on-screen keyboard: one layout for drawing and for typing.

use super::geometry::{Rect, Screen};

const ROWS: [&str; 4] = ["1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyCap {
    Char(char),
    Space,
    Delete,
    Enter,
}

impl KeyCap {
    pub fn label(self) -> String {
        match self {
            KeyCap::Char(c) => c.to_string(),
            KeyCap::Space => "space".to_owned(),
            KeyCap::Delete => "del".to_owned(),
            KeyCap::Enter => "enter".to_owned(),
        }
    }
}

/// Returns every key with its place: four rows of characters and a bottom row.
pub fn caps(screen: &Screen) -> Vec<(KeyCap, Rect)> {
    let area = screen.keyboard();
    let row_height = (area.height() / 5).max(1);
    let unit = (area.width() / 10).max(1);
    let mut caps = Vec::new();
    for (row, letters) in (0i32..).zip(ROWS) {
        let top = area.top + row * row_height;
        let left = (area.width() - letters.len() as i32 * unit) / 2;
        for (column, letter) in (0i32..).zip(letters.chars()) {
            let x = left + column * unit;
            caps.push((KeyCap::Char(letter), Rect::new(x, top, x + unit, top + row_height)));
        }
    }
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

pub fn cap_at(screen: &Screen, x: i32, y: i32) -> Option<KeyCap> {
    caps(screen).into_iter().find(|(_, rect)| rect.contains(x, y)).map(|(cap, _)| cap)
}
