//! Counts lines that tell an agent nothing (F36), and lines that stand for nothing (F33).
//!
//! Noise is a line on which nothing can be done and that says nothing of the app: a key or a scroll bar of the platform,
//! a container of the platform by its own name ("Tab Bar"), a line without words, state and identifier, and a text that
//! repeats the line before it. A phantom is a second line for one control: a toggle without words whose place is inside
//! the line before it, which has the same state.

use mdm_core::change::tracker::Observation;
use mdm_core::outline::{Line, OutlineOptions, lines};
use mdm_core::screen::element::Role;

use crate::files::{SCREEN_FOLDERS, load, screens, seen};

#[derive(Debug, Default)]
pub struct Count {
    pub lines: usize,
    pub noise: Vec<String>,
    pub phantoms: Vec<String>,
}

/// iOS types whose label is the platform's name of the container.
const PLATFORM_CONTAINERS: [&str; 4] = ["TabBar", "Toolbar", "StatusBar", "Keyboard"];

fn is_noise(seen: &Observation, line: &Line, before: Option<&Line>) -> bool {
    let element = seen.reading.element(line.index);
    if line.is_target || element.affordances.scrollable || element.role == Role::List {
        return element.role == Role::Key;
    }
    let class = element.class.strip_prefix("XCUIElementType").unwrap_or(&element.class);
    let text = line.text.as_str();
    let bar = class == "Other" && element.value.as_deref().is_some_and(|value| value.ends_with('%'));
    let wordless = !text.contains('"') && !text.contains('#') && !text.contains(" selected");
    let stands_alone =
        text.starts_with("keyboard (") || text.starts_with("webview") || text.starts_with("progress");
    let repeats = before.is_some_and(|before| before.text == text && !before.is_target);
    bar || PLATFORM_CONTAINERS.contains(&class) && !text.starts_with("keyboard (")
        || (wordless && !stands_alone)
        || repeats
}

fn is_phantom(seen: &Observation, line: &Line, before: &Line) -> bool {
    let toggle = |line: &Line| {
        [" on", " off", " checked", " unchecked"].into_iter().find(|word| line.text.contains(word))
    };
    let wordless = line.text.contains("(no label");
    wordless
        && toggle(line).is_some()
        && toggle(line) == toggle(before)
        && seen.reading.range(before.index).contains(&line.index)
}

pub fn count_all() -> Count {
    let mut count = Count::default();
    for path in SCREEN_FOLDERS.into_iter().flat_map(screens) {
        let Some(snapshot) = load(&path) else { continue };
        let seen = seen(snapshot);
        let outline = lines(&seen.reading, &seen.ids, &OutlineOptions::default()).lines;
        for (at, line) in outline.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| &outline[at]);
            count.lines += 1;
            let example = || format!("{} {}: {}", path.display(), line.index, line.text);
            if is_noise(&seen, line, before) {
                count.noise.push(example());
            }
            if before.is_some_and(|before| is_phantom(&seen, line, before)) {
                count.phantoms.push(example());
            }
        }
    }
    count
}

#[test]
fn few_lines_are_noise_and_none_is_a_phantom() {
    // F33, F36
    let Count { lines, noise, phantoms } = count_all();
    println!("{lines} lines, {} are noise, {} are phantoms", noise.len(), phantoms.len());
    for example in phantoms.iter().chain(&noise).take(20) {
        println!("{example}");
    }
    assert_eq!(phantoms.len(), 0);
    assert!(noise.len() * 100 <= lines * 5, "{} of {lines}", noise.len());
}
