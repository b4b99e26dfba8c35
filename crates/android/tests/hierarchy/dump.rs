//! Writes small dumps in the style of `uiautomator dump`, and checks the structure of trees.

use std::fmt::Write;

use mdm_android::hierarchy::{Limits, parse};
use mdm_core::screen::snapshot::Snapshot;

pub fn read(xml: &str) -> Snapshot {
    parse(xml.as_bytes(), &Limits::default())
}

/// Writes a dump from lines `Class bounds attribute=value …`, with two spaces of indentation per level. Other
/// attributes get the value of a plain node. A value with spaces is in single quotes.
pub fn dump(lines: &str) -> String {
    let mut xml =
        String::from("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\">");
    let mut open = Vec::new();
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let level = (line.len() - line.trim_start().len()) / 2;
        while open.last().is_some_and(|&last| last >= level) {
            open.pop();
            xml.push_str("</node>");
        }
        push_node(&mut xml, line.trim());
        open.push(level);
    }
    for _ in open {
        xml.push_str("</node>");
    }
    xml + "</hierarchy>"
}

fn push_node(xml: &mut String, line: &str) {
    let words = words(line);
    let given = |name: &str| {
        let prefix = format!("{name}=");
        words.iter().find_map(|word| word.strip_prefix(&prefix)).map(String::from)
    };
    let class =
        if words[0].contains('.') { words[0].clone() } else { format!("android.widget.{}", words[0]) };
    let _ = write!(xml, "<node index=\"0\" text=\"{}\"", given("text").unwrap_or_default());
    let id = given("id").map(|id| if id.contains('/') { id } else { format!("com.example:id/{id}") });
    let _ = write!(xml, " resource-id=\"{}\" class=\"{class}\"", id.unwrap_or_default());
    let _ = write!(xml, " package=\"com.example\" content-desc=\"{}\"", given("desc").unwrap_or_default());
    for name in ["checkable", "checked", "clickable"] {
        let _ = write!(xml, " {name}=\"{}\"", words.iter().any(|word| word == name));
    }
    let _ = write!(xml, " enabled=\"{}\"", !words.iter().any(|word| word == "disabled"));
    for name in ["focusable", "focused", "scrollable", "long-clickable", "password", "selected"] {
        let _ = write!(xml, " {name}=\"{}\"", words.iter().any(|word| word == name));
    }
    let _ = write!(xml, " bounds=\"{}\"", words[1]);
    if let Some(hint) = given("hint") {
        let _ = write!(xml, " hint=\"{hint}\"");
    }
    xml.push('>');
}

fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.iter_mut().last().unwrap().push(character),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Asserts that parents come before their children, and that the descendants of an element are `index + 1 .. end`.
pub fn assert_well_formed(snapshot: &Snapshot) {
    let elements = &snapshot.elements;
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        while open.last().is_some_and(|&(_, end)| end <= index) {
            open.pop();
        }
        let end = element.end as usize;
        let (parent, parent_end) = open.last().copied().unzip();
        assert!(end > index && end <= parent_end.unwrap_or(elements.len()), "end of {index}");
        assert_eq!(element.depth as usize, open.len(), "depth of {index}");
        assert_eq!(element.parent.map(|parent| parent as usize), parent, "parent of {index}");
        open.push((index, end));
    }
}
