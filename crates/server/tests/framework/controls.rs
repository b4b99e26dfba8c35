//! Controls of a screen, found in the views: what can be done with each, and the words by which an agent names it.

use mdm_virtual_device::{Random, ViewTruth};

use crate::lines::Line;
use crate::reading::Judge;
use crate::views::{Screen, contains, fact, has, shown_text, tells_checked};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Tap,
    Toggle,
    Type,
    Adjust,
    ScrollTo,
    LongPress,
    Back,
}

impl Kind {
    /// Each kind, and how many of 100 actions are of it.
    pub const SHARES: [(Kind, usize); 7] = [
        (Kind::Tap, 36),
        (Kind::Toggle, 18),
        (Kind::Type, 12),
        (Kind::Adjust, 8),
        (Kind::ScrollTo, 10),
        (Kind::LongPress, 8),
        (Kind::Back, 8),
    ];
}

/// Something to do on a screen.
#[derive(Debug, Clone)]
pub struct Control {
    pub kind: Kind,
    /// The view; 0 for Back and for a row that is not made yet.
    pub view: i64,
    /// The words to scroll to.
    pub words: String,
}

/// Returns everything that can be done on the screen, in the order of its views.
pub fn controls(screen: &Screen) -> Vec<Control> {
    let of = |kind, view: &ViewTruth| Control { kind, view: view.number, words: String::new() };
    let mut found = Vec::new();
    for view in screen.seen() {
        let in_picker = || screen.around(view).skip(1).any(|around| has(around, "adjustable"));
        if has(view, "adjustable") {
            found.push(of(Kind::Adjust, view));
        } else if in_picker() {
            continue;
        } else if has(view, "inputType") && view.enabled {
            found.push(of(Kind::Type, view));
        } else if tells_checked(view) && view.clickable {
            found.push(of(Kind::Toggle, view));
        } else if view.clickable && view.has_click_listener
            || (has(view, "reacts") && has_words(screen, view))
        {
            found.push(of(Kind::Tap, view));
        }
        // What a closed drop-down shows is no row of it.
        let is_list = |list: &ViewTruth| list.long_clickable && !list.class.ends_with("Spinner");
        let long_row = || {
            has(view, "position") && has_words(screen, view) && screen.view(view.parent).is_some_and(is_list)
        };
        if view.enabled && (view.long_clickable && !has(view, "count") || long_row()) {
            found.push(of(Kind::LongPress, view));
        }
        let last = fact(view, "lastPosition").and_then(|last| last.parse::<usize>().ok());
        let count = fact(view, "count").and_then(|count| count.parse::<usize>().ok());
        if let (Some(words), Some(last), Some(count)) = (fact(view, "lastItem"), last, count)
            && last + 1 < count
        {
            found.push(Control { kind: Kind::ScrollTo, view: 0, words: words.to_owned() });
        }
    }
    found.extend(screen.all().iter().filter_map(|view| scrolled_away(screen, view)));
    found.push(Control { kind: Kind::Back, view: 0, words: String::new() });
    found
}

/// A row without words, such as a picture, is no control that a dump tells of.
fn has_words(screen: &Screen, row: &ViewTruth) -> bool {
    screen.seen().any(|view| screen.is_inside(view, row) && !screen.words(view).is_empty())
}

/// A text below the visible part of what scrolls, that is there once.
fn scrolled_away(screen: &Screen, view: &ViewTruth) -> Option<Control> {
    let is_away = |view: &ViewTruth| view.visible.0 >= view.visible.2 || view.visible.1 >= view.visible.3;
    let words = shown_text(view).filter(|words| is_away(view) && words.len() < 80)?;
    let scrolls = screen.around(view).skip(1).find(|around| around.class.ends_with(".ScrollView"))?;
    let once = screen.all().iter().filter(|other| shown_text(other).as_ref() == Some(&words)).count() == 1;
    (once && !is_away(scrolls)).then_some(Control { kind: Kind::ScrollTo, view: view.number, words })
}

/// Returns the line by which an agent knows the view: one that says its words and points at it, or one without words
/// that points at it.
pub fn line_of<'a>(
    screen: &Screen,
    view: &ViewTruth,
    judge: &Judge<'_>,
    lines: &'a [Line],
) -> Option<&'a Line> {
    let inside = screen.seen().filter(|other| screen.is_inside(other, view));
    let words: Vec<String> = inside.flat_map(|other| screen.words(other)).collect();
    let says_words = |words: &String| {
        let words = words.clone();
        move |line: &&Line| {
            line.words.iter().filter_map(|said| judge.parts(said)).flatten().any(|part| part == words)
        }
    };
    let says = |line: &&Line| {
        line.words.iter().filter_map(|said| judge.parts(said)).flatten().any(|part| words.contains(&part))
    };
    let is_at = |line: &&Line| line.point.is_some_and(|point| contains(view, point));
    let has_id =
        |line: &&Line| line.resource.as_deref().is_some_and(|id| view.id.ends_with(&format!("/{id}")));
    let at = || lines.iter().filter(is_at);
    // A line without a point is known by its words alone, and of several by its number: the lines stand in the order of
    // the views. Two lists side by side can hold the same rows.
    let read_only = || {
        let first = words.first()?;
        let told: Vec<&Line> = lines.iter().filter(says_words(first)).collect();
        let shown: Vec<&ViewTruth> =
            screen.seen().filter(|other| screen.words(other).contains(first)).collect();
        let own = shown.iter().position(|other| screen.is_inside(other, view))?;
        let line = if told.len() == shown.len() { told.get(own) } else { told.first() };
        line.copied().filter(|line| line.point.is_none())
    };
    let nameless = || at().find(|line| line.words.is_empty());
    // A field without words may be named by a text beside it.
    let is_leaf = !screen.all().iter().any(|other| other.parent == view.number);
    let beside = || at().next().filter(|_| is_leaf && words.is_empty());
    at().find(says).or_else(|| at().find(has_id)).or_else(nameless).or_else(beside).or_else(read_only)
}

/// Writes the target as an agent would: by words if they are enough, else by id.
pub fn target(line: &Line, lines: &[Line], random: &mut Random) -> String {
    let element = format!(r#""element_id":"{}""#, line.element);
    if random.percent(25) {
        return element;
    }
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let Some(label) = line.label() else {
        let same = |other: &&Line| other.resource == line.resource;
        return match &line.resource {
            Some(id) if lines.iter().filter(same).count() == 1 => {
                format!(r#""selector":{{"resource_id":{}}}"#, quoted(id))
            }
            _ => element,
        };
    };
    let part = if label.cut.is_some() { r#","contains":true"# } else { "" };
    let alike: Vec<&Line> = lines.iter().filter(|other| other.label() == Some(label)).collect();
    let text = quoted(&label.head);
    if alike.len() == 1 {
        format!(r#""selector":{{"text":{text}{part}}}"#)
    } else if alike.iter().filter(|other| other.role == line.role).count() == 1 {
        format!(r#""selector":{{"text":{text}{part},"role":"{}"}}"#, line.role)
    } else {
        element
    }
}
