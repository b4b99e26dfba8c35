//! The lines that differ between two outlines of one screen.

use std::collections::BTreeMap;

use super::{Line, Lines};
use crate::identity::ElementId;
use crate::text::tokens;

/// The changed lines that turn the earlier outline into the later one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Lines that start with `+` (added), `~` (changed) or `-` (removed), each ended by a newline.
    pub text: String,
    pub added: usize,
    pub changed: usize,
    pub removed: usize,
    /// Elements that look as before and can no longer be told apart, so that they have other ids now.
    pub renamed: usize,
    /// Lines that did not fit into the token limit.
    pub left_out: usize,
}

/// Tokens shown of the name of an element with many texts, if one of them changed.
const NAME_TOKENS_MAX: usize = 4;

/// Removed lines that are shown; they tell an agent little.
const REMOVED_SHOWN_MAX: usize = 8;

pub fn changes(before: &Lines, after: &Lines, max_tokens: usize) -> Changes {
    let was: BTreeMap<ElementId, &Line> = before.lines.iter().map(|line| (line.id, line)).collect();
    let is: BTreeMap<ElementId, &Line> = after.lines.iter().map(|line| (line.id, line)).collect();
    let mut out = Writer { changes: Changes::default(), tokens_left: max_tokens };
    let mut gone: Vec<&Line> = before.lines.iter().filter(|line| !is.contains_key(&line.id)).collect();
    let mut renamed = Vec::new();
    // What looks the same on another screen, of which nothing is left, is something else.
    let is_same_screen = gone.len() < before.lines.len();
    for line in &after.lines {
        match was.get(&line.id) {
            None if is_same_screen && take_alike(&mut gone, line) => renamed.push(line.id),
            None => {
                out.changes.added += 1;
                out.push(&format!("+ {} {}", line.id, line.text));
            }
            Some(old) if old.text != line.text => {
                out.changes.changed += 1;
                out.push(&format!("~ {} {}", line.id, describe_change(&old.text, &line.text)));
            }
            Some(_) => {}
        }
    }
    out.changes.renamed = renamed.len();
    if let [first, .., last] = &renamed[..] {
        let count = renamed.len();
        out.push(&format!("= {count} lines that look as before have new ids, {first} to {last}"));
    } else if let [only] = &renamed[..] {
        out.push(&format!("= one line that looks as before has a new id, {only}"));
    }
    out.changes.removed = gone.len();
    for line in gone.iter().take(REMOVED_SHOWN_MAX) {
        out.push(&format!("- {} {}", line.id, line.text));
    }
    if gone.len() > REMOVED_SHOWN_MAX {
        out.push(&format!("- {} more", gone.len() - REMOVED_SHOWN_MAX));
    }
    out.changes
}

/// Takes a line with the same words out of the lines that are gone.
fn take_alike(gone: &mut Vec<&Line>, line: &Line) -> bool {
    let alike = gone.iter().position(|old| old.text == line.text && old.indent == line.indent);
    alike.map(|at| gone.remove(at)).is_some()
}

struct Writer {
    changes: Changes,
    tokens_left: usize,
}

impl Writer {
    fn push(&mut self, line: &str) {
        let cost = tokens::estimate(line) + 1;
        // After the first line that does not fit, none is shown: a gap in the middle would mislead.
        if self.changes.left_out > 0 || cost > self.tokens_left {
            self.changes.left_out += 1;
            return;
        }
        self.tokens_left -= cost;
        self.changes.text.push_str(line);
        self.changes.text.push('\n');
    }
}

/// Writes the unchanged beginning of a line, then the part that changed: `switch "Wi-Fi" off -> on`.
fn describe_change(old: &str, new: &str) -> String {
    let (was, is) = (pieces(old), pieces(new));
    let (start, was, is) = split_common(&was, &is);
    let mut text = start.join(" ");
    match (was, is) {
        ([], is) => push_word(&mut text, &format!("now {}", is.join(" "))),
        (was, []) => push_word(&mut text, &format!("no longer {}", was.join(" "))),
        ([was], [is]) => match joined_label_change(was, is) {
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

/// Splits a line at spaces; a quoted text is one piece, and so is what stands in brackets, such as `(hidden, 5)`.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut quoted, mut escaped, mut bracketed) = (0, false, false, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'"' if !escaped => quoted = !quoted,
            b'(' | b')' if !quoted => bracketed = byte == b'(',
            b' ' if !quoted && !bracketed => {
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

/// Returns the common beginning, and the parts that differ before the common end.
fn split_common<'a, 'b>(
    was: &'b [&'a str],
    is: &'b [&'a str],
) -> (&'b [&'a str], &'b [&'a str], &'b [&'a str]) {
    let start = was.iter().zip(is).take_while(|(a, b)| a == b).count();
    let (was_rest, is_rest) = (&was[start..], &is[start..]);
    let end = was_rest.iter().rev().zip(is_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    (&was[..start], &was_rest[..was_rest.len() - end], &is_rest[..is_rest.len() - end])
}

/// Describes a change in a label that joins many texts, by the texts that changed.
fn joined_label_change(was: &str, is: &str) -> Option<String> {
    let inside =
        |text: &'_ str| text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).map(str::to_owned);
    let (was, is) = (inside(was)?, inside(is)?);
    let (was, is): (Vec<&str>, Vec<&str>) = (was.split(", ").collect(), is.split(", ").collect());
    let (start, was_mid, is_mid) = split_common(&was, &is);
    let shares_texts = was.len() > was_mid.len() && is.len() > is_mid.len();
    let quoted_list = |part: &[&str]| {
        if part.is_empty() { "nothing".to_owned() } else { format!("\"{}\"", part.join(", ")) }
    };
    let name = match start {
        [] => "…".to_owned(),
        [first, rest @ ..] => abbreviated(first, rest.is_empty()),
    };
    shares_texts.then(|| format!("{name} {} -> {}", quoted_list(was_mid), quoted_list(is_mid)))
}

/// Shortens a name to a few tokens, enough for a reader who has seen all of it.
fn abbreviated(name: &str, is_all: bool) -> String {
    let fits = |end: &usize| tokens::estimate(&name[..*end]) <= NAME_TOKENS_MAX;
    let ends = name.char_indices().map(|(at, character)| at + character.len_utf8());
    let end = ends.take_while(fits).last().unwrap_or(0);
    let more = if end < name.len() || !is_all { "…" } else { "" };
    // A backslash before the closing quote would look like an escaped quote.
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
    fn added_changed_and_removed_lines_are_listed() {
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
    fn lines_that_look_as_before_are_told_as_one() {
        // F1: rows that cannot be told apart lose their ids.
        let before = outline(&[(1, "text \"Cart\""), (2, "button \"Open\""), (3, "button \"Open\"")]);
        let after = outline(&[(1, "text \"Cart\""), (4, "button \"Open\""), (5, "button \"Open\"")]);
        let found = changes(&before, &after, 1000);
        assert_eq!(found.text, "= 2 lines that look as before have new ids, e4 to e5\n");
        assert_eq!((found.added, found.removed, found.renamed), (0, 0, 2));
        let elsewhere = outline(&[(6, "text \"Home\""), (7, "button \"Open\"")]);
        let found = changes(&before, &elsewhere, 1000);
        assert_eq!((found.added, found.removed, found.renamed), (2, 3, 0), "a button of another screen");
    }

    #[test]
    fn only_the_changed_part_of_a_line_is_written() {
        assert_eq!(describe_change("text \"a b c\"", "text \"a b d\""), "text \"a b c\" -> \"a b d\"");
        assert_eq!(
            describe_change("text \"x \\\" y\"", "text \"x \\\" z\""),
            "text \"x \\\" y\" -> \"x \\\" z\""
        );
        assert_eq!(
            describe_change("button \"x\" disabled", "button \"x\""),
            "button \"x\" no longer disabled"
        );
        assert_eq!(describe_change("button \"x\"", "button \"x\" disabled"), "button \"x\" now disabled");
        assert_eq!(
            describe_change("field = \"a\"", "field = \"b\" focused"),
            "field = \"a\" -> \"b\" focused"
        );
        let row = |price: &str| format!("button \"Milk, 1 l, {price}, in stock\" #row");
        assert_eq!(describe_change(&row("1.20"), &row("1.30")), "button \"Milk…\" \"1.20\" -> \"1.30\"");
        assert_eq!(
            describe_change("button \"Milk\"", "button \"Milk, 2\""),
            "button \"Milk\" nothing -> \"2\""
        );
        let fund = |price: &str| format!("row \"短期期货恐慌指数ETF-Proshares, {price}, 33.4%\"");
        assert_eq!(
            describe_change(&fund("33.005"), &fund("33.1")),
            "row \"短期期货…\" \"33.005\" -> \"33.1\""
        );
        let quoted = |end: &str| format!("text \"He said it!\\\" to me, {end}\"");
        assert_eq!(describe_change(&quoted("a"), &quoted("b")), "text \"He said it!…\" \"a\" -> \"b\"");
        assert_eq!(describe_change("text \"é\"", "text \"è\""), "text \"é\" -> \"è\"");
        assert_eq!(
            describe_change("field = (hidden, or empty) #code", "field = (hidden, 5) #code"),
            "field = (hidden, or empty) -> (hidden, 5)"
        );
    }

    #[test]
    fn lines_that_do_not_fit_are_counted() {
        let many: Vec<(u32, &str)> = (0..40).map(|n| (n, "text \"some words\"")).collect();
        let found = changes(&outline(&[]), &outline(&many), 50);
        assert!(found.left_out > 30 && found.text.lines().count() + found.left_out == 40, "{found:?}");
        let gone = changes(&outline(&many), &outline(&[]), 10_000);
        assert_eq!(gone.text.lines().last(), Some("- 32 more"));
    }
}
