//! Counts what visible elements tell and no line of the outline says (F31, F32, F34).
//!
//! The outline records which line says what. This test does not trust the record: the line that it names must hold the
//! words or the state, letter for letter.

use std::path::Path;

use mdm_core::change::tracker::Observation;
use mdm_core::meaning::value;
use mdm_core::outline::{Fact, Line, Lines, OutlineOptions, facts_of, lines};
use mdm_core::screen::element::{Element, Role};
use mdm_core::text::quote::push_quoted;

use crate::files::{SCREEN_FOLDERS, load, screens, seen};

#[derive(Debug, Default)]
pub struct Count {
    pub screens: usize,
    pub facts: usize,
    pub states: usize,
    /// Facts that no line says, with an example each.
    pub lost: Vec<String>,
    /// Facts whose recorded line does not say them.
    pub untrue: Vec<String>,
    /// Facts of keys, scroll bars and bars of buttons, for which one line stands.
    pub stood_for: usize,
}

/// The words as a line writes them.
fn quoted(words: &str) -> String {
    let mut out = String::new();
    push_quoted(&mut out, words, usize::MAX);
    out.trim_matches('"').to_owned()
}

fn words_of(element: &Element, fact: Fact) -> Option<&str> {
    match fact {
        Fact::Text => element.text.as_deref(),
        Fact::Description => element.description.as_deref(),
        Fact::Value => element.value.as_deref(),
        Fact::Hint => element.hint.as_deref(),
        _ => None,
    }
}

fn is_unreadable(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || !quoted(&character.to_string()).starts_with(character)
}

fn says_words(line: &str, words: &str) -> bool {
    // A comma that joins an icon to the words goes with the icon.
    let words = words.trim_matches(|c| is_unreadable(c) || c == ',');
    let number = value::read_description(words).map(|value| value.number.to_string());
    let has = |text: &str| line.contains(text);
    // A long text loses its middle; its beginning is enough here.
    let start: String = words.chars().take(60).collect();
    has(&quoted(words))
        || (line.contains("…+") && has(&quoted(&start)))
        || number.is_some_and(|number| has(&format!(" {number}")))
}

fn says(line: &Line, element: &Element, fact: Fact) -> bool {
    let has = |word: &str| line.text.split(' ').any(|part| part == word);
    let checked = || [" on", " off", " checked", " unchecked"].iter().any(|word| has(word.trim()));
    match fact {
        Fact::Checked => checked(),
        Fact::Selected => has("selected"),
        Fact::Expanded => has("expanded") || has("collapsed"),
        Fact::Disabled => has("disabled"),
        fact => words_of(element, fact).is_some_and(|words| {
            let on_off = element.role == Role::Switch && checked();
            let chosen = fact == Fact::Value && (has("selected") || checked());
            says_words(&line.text, words) || on_off || chosen
        }),
    }
}

/// True for a scroll bar, whose position is on the line of what it scrolls, and for a bar of buttons by the platform's
/// own name for it.
fn is_bar(element: &Element, line: &Line) -> bool {
    let plain = matches!(element.role, Role::Container | Role::Unknown);
    let scroll_bar = plain && line.text.contains(" scrollable");
    scroll_bar || element.class.ends_with("TabBar") || element.class.ends_with("Toolbar")
}

pub fn count_screen(seen: &Observation, name: &str, count: &mut Count) {
    let outline: Lines = lines(&seen.reading, &seen.ids, &OutlineOptions::default());
    count.screens += 1;
    for (index, element) in seen.reading.snapshot.elements.iter().enumerate() {
        if seen.reading.nodes[index].visible.is_none() {
            continue;
        }
        for fact in facts_of(element) {
            count.facts += 1;
            count.states += usize::from(matches!(fact, Fact::Checked | Fact::Selected));
            let example =
                || format!("{name} {index} {:?} {fact:?} {:?}", element.class, words_of(element, fact));
            let Some(line) = outline.record.line(index, fact).and_then(|line| outline.lines.get(line)) else {
                count.lost.push(example());
                continue;
            };
            if line.text.starts_with("keyboard (") || is_bar(element, line) {
                count.stood_for += 1;
            } else if !says(line, element, fact) {
                count.untrue.push(format!("{} on: {}", example(), line.text));
            }
        }
    }
}

pub fn count_all() -> Count {
    let mut count = Count::default();
    for folder in SCREEN_FOLDERS {
        for path in screens(folder) {
            let name = path.strip_prefix(path.ancestors().nth(2).unwrap_or(Path::new("/"))).unwrap_or(&path);
            let name = name.display().to_string();
            let Some(snapshot) = load(&path) else { continue };
            count_screen(&seen(snapshot), &name, &mut count);
        }
    }
    count
}

#[test]
fn every_fact_of_a_visible_element_is_on_a_line() {
    // F31, F32, F34
    let count = count_all();
    let Count { screens, facts, states, lost, untrue, stood_for } = &count;
    println!("{screens} screens: {facts} facts of visible elements, {states} of them checked or selected");
    println!(
        "{} reach no line, {} are not on the recorded line, {stood_for} are of keys, scroll bars and tab bars",
        lost.len(),
        untrue.len()
    );
    for example in lost.iter().chain(untrue).take(40) {
        println!("{example}");
    }
    assert_eq!((lost.len(), untrue.len()), (0, 0));
}
