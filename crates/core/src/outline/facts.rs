//! Records which line of an outline says what of each element.

use crate::meaning::label;
use crate::screen::element::{Element, Role};

/// Something that an element tells a person, and that an outline may not lose (F31, F34).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    Text,
    Description,
    Value,
    Hint,
    Checked,
    Selected,
    Expanded,
    Disabled,
}

impl Fact {
    pub const ALL: [Fact; 8] = [
        Fact::Text,
        Fact::Description,
        Fact::Value,
        Fact::Hint,
        Fact::Checked,
        Fact::Selected,
        Fact::Expanded,
        Fact::Disabled,
    ];
}

/// Marks a fact that no line says.
const UNSAID: u32 = u32::MAX;

/// For each element and fact, the line that says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactRecord {
    lines: Vec<[u32; Fact::ALL.len()]>,
}

impl FactRecord {
    pub(super) fn new(elements: usize) -> FactRecord {
        FactRecord { lines: vec![[UNSAID; Fact::ALL.len()]; elements] }
    }

    /// Notes the first line that says the fact.
    pub(super) fn note(&mut self, element: usize, fact: Fact, line: usize) {
        if let Some(entry) = self.lines.get_mut(element).filter(|facts| facts[fact as usize] == UNSAID) {
            entry[fact as usize] = u32::try_from(line).unwrap_or(UNSAID);
        }
    }

    /// Returns the number of the line that says the fact.
    pub fn line(&self, element: usize, fact: Fact) -> Option<usize> {
        let line = self.lines.get(element)?[fact as usize];
        (line != UNSAID).then_some(line as usize)
    }
}

/// Returns everything that the element tells. Decoration (a dot between two texts, a glyph of an icon font) tells
/// nothing; a secret tells only that it is there (ST-07).
pub fn facts_of(element: &Element) -> impl Iterator<Item = Fact> + '_ {
    Fact::ALL.into_iter().filter(|fact| tells(element, *fact))
}

fn tells(element: &Element, fact: Fact) -> bool {
    match fact {
        Fact::Text | Fact::Description | Fact::Value | Fact::Hint => words_of(element, fact).is_some(),
        Fact::Checked => element.state.checked.is_some(),
        Fact::Selected => element.state.selected == Some(true),
        Fact::Expanded => element.state.expanded.is_some(),
        Fact::Disabled => {
            element.state.enabled == Some(false) && (element.is_tappable() || element.role.is_control())
        }
    }
}

/// Returns the words of a fact; `None` if it has none, or another fact of the element already has the same.
pub(super) fn words_of(element: &Element, fact: Fact) -> Option<&str> {
    if element.password && fact != Fact::Hint {
        return label::own_words(element).filter(|_| fact == Fact::Description);
    }
    let text = || readable(element.text.as_deref());
    let description = || readable(element.description.as_deref());
    match fact {
        Fact::Text => text(),
        Fact::Description => description().filter(|words| text() != Some(words)),
        Fact::Value => {
            readable(element.value.as_deref()).filter(|words| ![text(), description()].contains(&Some(words)))
        }
        // A field shows its hint while it is empty.
        Fact::Hint => {
            let shown = element.role == Role::TextField && label::value(element).is_none();
            let hint = readable(element.hint.as_deref()).filter(|_| shown);
            hint.filter(|words| ![text(), description()].contains(&Some(words)))
        }
        _ => None,
    }
}

fn readable(text: Option<&str>) -> Option<&str> {
    label::readable(text).filter(|words| !is_separator(words))
}

/// True for a mark that separates two texts.
fn is_separator(words: &str) -> bool {
    matches!(words, "•" | "·" | "∙" | "‧" | "|" | "/" | ",")
}

/// Longer texts are not searched: a hostile screen could put thousands of texts inside one.
const SEARCHED_BYTES_MAX: usize = 2000;

/// Fewer letters or digits are no evidence that words inside a longer text are the same words: "1" is in "$1.00" (F34).
const LETTERS_MIN: usize = 3;

/// True if someone who reads `text` has read `words`: they are one whole part of it, or whole words with enough letters
/// to be no coincidence.
pub(super) fn says(text: &str, words: &str) -> bool {
    if text == words {
        return true;
    }
    if text.len() > SEARCHED_BYTES_MAX || words.is_empty() || !text.contains(words) {
        return false;
    }
    let letters = words.chars().filter(|c| c.is_alphabetic()).count();
    let signs = words.chars().filter(|c| c.is_alphanumeric()).count();
    let is_word = |neighbour: Option<char>| neighbour.is_some_and(char::is_alphanumeric);
    text.match_indices(words).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + words.len()..]);
        if letters >= LETTERS_MIN {
            return !is_word(before.chars().next_back()) && !is_word(after.chars().next());
        }
        if signs >= LETTERS_MIN {
            // A price or a time between spaces.
            let is_gap = |c: char| c.is_whitespace() || ",;()".contains(c);
            let starts = before.is_empty() || before.ends_with(is_gap);
            return starts && (after.is_empty() || after.starts_with(is_gap));
        }
        (before.is_empty() || ends_part(before)) && (after.is_empty() || begins_part(after))
    })
}

/// Like [`says`], for a text of which a line writes at most `chars_max` characters: it loses its middle.
pub(super) fn says_printed(text: &str, words: &str, chars_max: usize) -> bool {
    if text == words || text.len() <= chars_max {
        return says(text, words);
    }
    let head: String = text.chars().take(chars_max - chars_max / 4).collect();
    text.chars().count() <= chars_max && says(text, words) || says(&head, words)
}

fn ends_part(before: &str) -> bool {
    before.trim_end_matches(' ').ends_with([',', ';', '\n', ':', '·', '•', '|'])
}

fn begins_part(after: &str) -> bool {
    let after = after.trim_start_matches(' ');
    after.starts_with([';', '\n', '·', '•', '|', ':']) || after.starts_with(", ") || after.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_inside_another_number_is_not_said() {
        // F34
        assert!(!says("$1.00", "1"));
        assert!(!says("Milk 1 l", "1"));
        assert!(!says("10, 20", "1"));
        assert!(says("Milk, 1", "1") && says("1, Milk", "1") && says("Bought: 0", "0"));
        assert!(
            says("Milk $1.00 each", "$1.00") && !says("Milk -$1.00", "$1.00") && !says("$1.005", "$1.00")
        );
        assert!(says("Delete Milk", "Milk") && !says("Milkshake", "Milk"));
    }
}
