//! Two outlines of one screen, as the lines that differ.

use std::collections::BTreeMap;

use super::{Line, Lines};
use crate::identity::ElementId;
use crate::text::tokens;

/// What an agent has to read to know the later screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// `+` came, `~` changed, `-` went; each ended by a newline.
    pub text: String,
    pub added: usize,
    pub changed: usize,
    pub removed: usize,
    /// Of these, lines that did not fit.
    pub left_out: usize,
}

/// Of the name of an element with many texts, one of which changed.
const NAME_TOKENS_MAX: usize = 4;

/// Lines of elements that went away tell little: a few are enough.
const REMOVED_SHOWN_MAX: usize = 8;

pub fn changes(before: &Lines, after: &Lines, max_tokens: usize) -> Changes {
    let was: BTreeMap<ElementId, &Line> = before.lines.iter().map(|line| (line.id, line)).collect();
    let is: BTreeMap<ElementId, &Line> = after.lines.iter().map(|line| (line.id, line)).collect();
    let mut out = Writer { changes: Changes::default(), tokens_left: max_tokens };
    for line in &after.lines {
        match was.get(&line.id) {
            None => {
                out.changes.added += 1;
                out.push(&format!("+ {} {}", line.id, line.text));
            }
            Some(old) if old.text != line.text => {
                out.changes.changed += 1;
                out.push(&format!("~ {} {}", line.id, from_to(&old.text, &line.text)));
            }
            Some(_) => {}
        }
    }
    let gone: Vec<&Line> = before.lines.iter().filter(|line| !is.contains_key(&line.id)).collect();
    out.changes.removed = gone.len();
    for line in gone.iter().take(REMOVED_SHOWN_MAX) {
        out.push(&format!("- {} {}", line.id, line.text));
    }
    if gone.len() > REMOVED_SHOWN_MAX {
        out.push(&format!("- {} more", gone.len() - REMOVED_SHOWN_MAX));
    }
    out.changes
}

struct Writer {
    changes: Changes,
    tokens_left: usize,
}

impl Writer {
    fn push(&mut self, line: &str) {
        let cost = tokens::estimate(line) + 1;
        // Once a line did not fit, no later one is shown: a gap in the middle would mislead.
        if self.changes.left_out > 0 || cost > self.tokens_left {
            self.changes.left_out += 1;
            return;
        }
        self.tokens_left -= cost;
        self.changes.text.push_str(line);
        self.changes.text.push('\n');
    }
}

/// What stayed at the beginning of a line, then the part that changed: `switch "Wi-Fi" off -> on`.
fn from_to(old: &str, new: &str) -> String {
    let (was, is) = (pieces(old), pieces(new));
    let (start, was, is) = middle(&was, &is);
    let mut text = start.join(" ");
    match (was, is) {
        ([], is) => push_word(&mut text, &format!("now {}", is.join(" "))),
        (was, []) => push_word(&mut text, &format!("no longer {}", was.join(" "))),
        ([was], [is]) => match inner_change(was, is) {
            Some(change) => push_word(&mut text, &change),
            None => push_word(&mut text, &format!("{was} -> {is}")),
        },
        (was, is) => push_word(&mut text, &format!("{} -> {}", was.join(" "), is.join(" "))),
    }
    text
}

fn push_word(text: &mut String, word: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(word);
}

/// The words of a line; a quoted text is one.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut quoted, mut escaped) = (0, false, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'"' if !escaped => quoted = !quoted,
            b' ' if !quoted => {
                pieces.push(&line[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
    }
    pieces.push(&line[start..]);
    pieces
}

/// The common beginning, and what differs before the common end.
fn middle<'a, 'b>(was: &'b [&'a str], is: &'b [&'a str]) -> (&'b [&'a str], &'b [&'a str], &'b [&'a str]) {
    let start = was.iter().zip(is).take_while(|(a, b)| a == b).count();
    let (was_rest, is_rest) = (&was[start..], &is[start..]);
    let end = was_rest.iter().rev().zip(is_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    (&was[..start], &was_rest[..was_rest.len() - end], &is_rest[..is_rest.len() - end])
}

/// In a label that joins many texts, only those that changed.
fn inner_change(was: &str, is: &str) -> Option<String> {
    let inside =
        |text: &'_ str| text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).map(str::to_owned);
    let (was, is) = (inside(was)?, inside(is)?);
    let (was, is): (Vec<&str>, Vec<&str>) = (was.split(", ").collect(), is.split(", ").collect());
    let (start, was_mid, is_mid) = middle(&was, &is);
    let stayed = was.len() > was_mid.len() && is.len() > is_mid.len();
    let short = |part: &[&str]| {
        if part.is_empty() { "nothing".to_owned() } else { format!("\"{}\"", part.join(", ")) }
    };
    let name = match start {
        [] => "…".to_owned(),
        [first, rest @ ..] => recognisable(first, rest.is_empty()),
    };
    stayed.then(|| format!("{name} {} -> {}", short(was_mid), short(is_mid)))
}

/// Enough of a name for a reader who has seen the whole of it.
fn recognisable(name: &str, is_all: bool) -> String {
    let fits = |end: &usize| tokens::estimate(&name[..*end]) <= NAME_TOKENS_MAX;
    let ends = name.char_indices().map(|(at, character)| at + character.len_utf8());
    let end = ends.take_while(fits).last().unwrap_or(0);
    let more = if end < name.len() || !is_all { "…" } else { "" };
    // Half of an escape would look like one of the quotes.
    format!("\"{}{more}\"", name[..end].trim_end_matches(['\\', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(lines: &[(u32, &str)]) -> Lines {
        let line = |(id, text): &(u32, &str)| Line {
            index: *id,
            id: ElementId(*id),
            indent: 0,
            text: (*text).to_owned(),
            is_target: true,
        };
        Lines { lines: lines.iter().map(line).collect(), ..Lines::default() }
    }

    #[test]
    fn what_came_changed_and_went() {
        let before =
            outline(&[(1, "text \"00:40\""), (2, "switch \"Remember me\" off"), (3, "button \"Log in\"")]);
        let after =
            outline(&[(1, "text \"00:41\""), (2, "switch \"Remember me\" on"), (4, "heading \"Welcome\"")]);
        let found = changes(&before, &after, 1000);
        assert_eq!(
            found.text,
            "~ e1 text \"00:40\" -> \"00:41\"\n~ e2 switch \"Remember me\" off -> on\n+ e4 heading \"Welcome\"\n\
             - e3 button \"Log in\"\n"
        );
        assert_eq!((found.added, found.changed, found.removed, found.left_out), (1, 2, 1, 0));
        assert_eq!(changes(&after, &after, 1000), Changes::default());
    }

    #[test]
    fn only_the_part_that_changed_is_said() {
        assert_eq!(from_to("text \"a b c\"", "text \"a b d\""), "text \"a b c\" -> \"a b d\"");
        assert_eq!(from_to("text \"x \\\" y\"", "text \"x \\\" z\""), "text \"x \\\" y\" -> \"x \\\" z\"");
        assert_eq!(from_to("button \"x\" disabled", "button \"x\""), "button \"x\" no longer disabled");
        assert_eq!(from_to("button \"x\"", "button \"x\" disabled"), "button \"x\" now disabled");
        assert_eq!(from_to("field = \"a\"", "field = \"b\" focused"), "field = \"a\" -> \"b\" focused");
        let row = |price: &str| format!("button \"Milk, 1 l, {price}, in stock\" #row");
        assert_eq!(from_to(&row("1.20"), &row("1.30")), "button \"Milk…\" \"1.20\" -> \"1.30\"");
        assert_eq!(from_to("button \"Milk\"", "button \"Milk, 2\""), "button \"Milk\" nothing -> \"2\"");
        let fund = |price: &str| format!("row \"短期期货恐慌指数ETF-Proshares, {price}, 33.4%\"");
        assert_eq!(from_to(&fund("33.005"), &fund("33.1")), "row \"短期期货…\" \"33.005\" -> \"33.1\"");
        let quoted = |end: &str| format!("text \"He said it!\\\" to me, {end}\"");
        assert_eq!(from_to(&quoted("a"), &quoted("b")), "text \"He said it!…\" \"a\" -> \"b\"");
        assert_eq!(from_to("text \"é\"", "text \"è\""), "text \"é\" -> \"è\"");
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let many: Vec<(u32, &str)> = (0..40).map(|n| (n, "text \"some words\"")).collect();
        let found = changes(&outline(&[]), &outline(&many), 50);
        assert!(found.left_out > 30 && found.text.lines().count() + found.left_out == 40, "{found:?}");
        let gone = changes(&outline(&many), &outline(&[]), 10_000);
        assert_eq!(gone.text.lines().last(), Some("- 32 more"));
    }
}
