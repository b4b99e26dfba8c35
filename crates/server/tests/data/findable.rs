//! Checks that what the outline prints finds what it stands for (F21).
//!
//! A line is read as an agent reads it: the role word, the first quoted words, the identifier after `#`. A selector made
//! of these must match the element of the line.

use mdm_core::change::tracker::Observation;
use mdm_core::intent::resolve::{Candidate, candidates, owner};
use mdm_core::intent::selector::{Selector, TextMatch, role_named};
use mdm_core::outline::{Line, OutlineOptions, lines};

use crate::files::{SCREEN_FOLDERS, load, screens, seen};

#[derive(Debug, Default)]
pub struct Count {
    pub lines: usize,
    /// Lines without words and without an identifier: only their id names them.
    pub wordless: usize,
    /// Lines whose role word is not accepted as a role.
    pub bad_roles: Vec<String>,
    /// Lines that a selector of their words does not match.
    pub not_found: Vec<String>,
    /// Targets that the selector matches, but that are among no candidates.
    pub no_candidate: Vec<String>,
}

/// The first quoted text of a line, unescaped, and whether it is whole.
fn quoted(line: &str) -> Option<(String, bool)> {
    let start = line.find('"')?;
    // Not the words of the line: an identifier in quotes, and the unit after a number.
    if line[..start].ends_with('#')
        || line[..start].ends_with(|c: char| c.is_ascii_digit() || c == ' ')
            && line[..start].trim_end().ends_with(|c: char| c.is_ascii_digit())
    {
        return None;
    }
    let mut words = String::new();
    let mut characters = line[start + 1..].chars();
    loop {
        match characters.next()? {
            '"' => break,
            '\\' => match characters.next()? {
                'n' => words.push('\n'),
                'r' => words.push('\r'),
                't' => words.push('\t'),
                'u' => {
                    let code: String = characters.by_ref().take(4).collect();
                    words.extend(char::from_u32(u32::from_str_radix(&code, 16).ok()?));
                }
                other => words.push(other),
            },
            other => words.push(other),
        }
    }
    Some((words, !characters.as_str().starts_with('…')))
}

fn identifier(line: &str) -> Option<String> {
    let id = &line[line.find(" #")? + 2..];
    match id.strip_prefix('"') {
        Some(rest) => rest.split('"').next().map(str::to_owned),
        None => id.split(' ').next().map(|id| id.trim_end_matches(',').to_owned()),
    }
}

/// The selector that an agent would write from a line.
fn selector(line: &Line) -> Option<Selector> {
    let role = role_named(line.text.split(' ').next()?);
    let words = quoted(&line.text).map(|(words, whole)| match whole {
        true => TextMatch::Is(words),
        false => TextMatch::Contains(words),
    });
    let resource_id = identifier(&line.text).filter(|_| words.is_none());
    if words.is_none() && resource_id.is_none() {
        return None;
    }
    Some(Selector { role, text: words, resource_id, ..Selector::default() })
}

fn count_screen(seen: &Observation, name: &str, count: &mut Count) {
    for line in lines(&seen.reading, &seen.ids, &OutlineOptions::default()).lines {
        count.lines += 1;
        let example = || format!("{name} {}: {}", line.index, line.text);
        if line.text.split(' ').next().and_then(role_named).is_none() {
            count.bad_roles.push(example());
        }
        let Some(selector) = selector(&line) else {
            count.wordless += 1;
            continue;
        };
        if !selector.matches(seen).contains(&line.index) {
            count.not_found.push(example());
            continue;
        }
        // A candidate is one place: nested elements with the same words are one.
        let is_it = |matched: u32| {
            matched == line.index
                || seen.reading.range(matched).contains(&line.index)
                || seen.reading.range(line.index).contains(&matched)
        };
        // So are texts that one control takes the taps of.
        let owner = owner(&seen.reading, line.index).map(|(owner, _)| owner);
        let found = candidates(seen, &selector);
        let same = |candidate: &Candidate| is_it(candidate.index) || is_it(candidate.matched);
        if !found.iter().any(|candidate| same(candidate) || Some(candidate.index) == owner) {
            count.no_candidate.push(example());
        }
    }
}

pub fn count_all() -> Count {
    let mut count = Count::default();
    for path in SCREEN_FOLDERS.into_iter().flat_map(screens) {
        let name = path.display().to_string();
        let Some(snapshot) = load(&path) else { continue };
        count_screen(&seen(snapshot), &name, &mut count);
    }
    count
}

#[test]
fn every_line_is_found_by_its_printed_words_and_role() {
    // F21
    let count = count_all();
    let Count { lines, wordless, bad_roles, not_found, no_candidate } = &count;
    println!("{lines} lines, {wordless} without words or identifier");
    println!("{} are not found as printed, {} are no candidate", not_found.len(), no_candidate.len());
    for example in bad_roles.iter().chain(not_found).chain(no_candidate).take(40) {
        println!("{example}");
    }
    assert_eq!((bad_roles.len(), not_found.len(), no_candidate.len()), (0, 0, 0));
}
