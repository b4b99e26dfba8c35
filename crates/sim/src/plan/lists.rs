//! Recycled lists: rows that look alike, buttons that look alike, and rows that come and go.

use mdm_virtual_device::Random;

/// Titles of rows. There are few, so that many rows share one.
const TITLES: [&str; 6] = ["Kowalski", "Nowak", "Eggs", "Milk", "Yoghurt", "Bread"];
/// Changes that a list makes by itself.
const CHANGES_MAX: usize = 4;

/// A recycled list.
#[derive(Debug, Clone)]
pub struct List {
    pub rows: Vec<Row>,
    /// The list takes the room that is left on the screen; else it is a small one on a page that scrolls.
    pub is_tall: bool,
    pub delete: Delete,
    /// Every row has a button without a text that opens a dialog about the row.
    pub has_menu: bool,
    /// What happens by itself, and when, in milliseconds after the screen was opened.
    pub changes: Vec<(u64, RowChange)>,
    /// Rows that are added at the end when somebody scrolls there.
    pub more: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub title: String,
    pub subtitle: String,
}

/// What the Delete button of each row does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delete {
    /// There is none.
    Never,
    AtOnce,
    /// The row goes after this many milliseconds.
    Later(u64),
    /// A dialog asks first.
    Asks,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowChange {
    Insert { at: usize, row: Row },
    Remove { at: usize },
}

/// How the subtitles of a list differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subtitles {
    Numbered,
    /// Two values for all rows.
    Few,
    /// All rows have the same one, so that equal titles are equal rows.
    Same,
}

impl Row {
    fn random(number: usize, subtitles: Subtitles, random: &mut Random) -> Row {
        let title = TITLES[random.below(TITLES.len())].to_owned();
        let subtitle = match subtitles {
            Subtitles::Numbered => format!("Order {}", 100 + number),
            Subtitles::Few => ["Due today", "Due tomorrow"][random.below(2)].to_owned(),
            Subtitles::Same => "1 piece".to_owned(),
        };
        Row { title, subtitle }
    }
}

impl List {
    pub fn random(random: &mut Random) -> List {
        let subtitles = match random.below(10) {
            0..=5 => Subtitles::Numbered,
            6 | 7 => Subtitles::Few,
            _ => Subtitles::Same,
        };
        let count = 6 + random.below(30);
        let rows = (0..count).map(|number| Row::random(number, subtitles, random)).collect();
        let delete = match random.below(10) {
            0..=3 => Delete::AtOnce,
            4 => Delete::Later(random.between(50, 1200)),
            5..=7 => Delete::Asks,
            _ => Delete::Never,
        };
        let times = if random.percent(40) { 1 + random.below(CHANGES_MAX) } else { 0 };
        let changes = (0..times).map(|n| {
            let at = random.below(4);
            let change = match random.percent(50) {
                true => RowChange::Insert { at, row: Row::random(500 + n, subtitles, random) },
                false => RowChange::Remove { at },
            };
            (random.between(100, 8000), change)
        });
        let changes = changes.collect();
        let more = if random.percent(20) { 5 } else { 0 };
        List { rows, is_tall: random.percent(70), delete, has_menu: random.percent(40), changes, more }
    }
}
