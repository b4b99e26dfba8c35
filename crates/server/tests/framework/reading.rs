//! Compares the lines that an agent reads with what the views show: facts that reach no line, and things said that are
//! not so.

use std::collections::{BTreeMap, BTreeSet};

use mdm_virtual_device::ViewTruth;

use crate::lines::{Line, Said};
use crate::views::{Fact, Screen, checked, contains, fact, has, readable, shown_text, tells_checked};

#[derive(Debug, Default)]
pub struct Reading {
    /// Facts of the views that stayed the same while the tree was read.
    pub facts: usize,
    /// Of these checked, selected or disabled.
    pub states: usize,
    /// Views that changed meanwhile: only the shape of their words is compared.
    pub ticking: usize,
    pub lines: usize,
    pub lost: Vec<String>,
    pub untrue: Vec<String>,
}

/// The views before and after the tree was read, and its lines.
pub struct Judge<'a> {
    before: &'a Screen,
    after: &'a Screen,
    lines: &'a [Line],
    /// The words that can be seen. Those of views that tick have 0 for each digit.
    known: BTreeSet<String>,
    ticking: BTreeSet<i64>,
    /// How often each of `known` is said.
    said: BTreeMap<String, usize>,
}

pub fn judge(before: &Screen, after: &Screen, lines: &[Line]) -> Reading {
    let mut judge = Judge::new(before, after, lines);
    let mut reading = Reading { lines: lines.len(), ticking: judge.ticking.len(), ..Reading::default() };
    judge.read_words(&mut reading);
    judge.find_lost_words(&mut reading);
    judge.find_lost_states(&mut reading);
    for line in lines {
        reading.untrue.extend(judge.untrue_state(line).map(|why| format!("{why}: {}", line.text)));
    }
    reading
}

impl<'a> Judge<'a> {
    pub fn new(before: &'a Screen, after: &'a Screen, lines: &'a [Line]) -> Judge<'a> {
        let facts = |screen: &Screen| -> BTreeMap<i64, Vec<Fact>> {
            screen.seen().map(|view| (view.number, screen.facts(view))).collect()
        };
        let (was, is) = (facts(before), facts(after));
        let numbers: BTreeSet<i64> = was.keys().chain(is.keys()).copied().collect();
        let ticking: BTreeSet<i64> =
            numbers.into_iter().filter(|number| was.get(number) != is.get(number)).collect();
        let mut known = BTreeSet::new();
        for screen in [before, after] {
            for view in screen.seen() {
                let words = screen.words(view);
                known.extend(
                    words.iter().filter(|_| ticking.contains(&view.number)).map(|words| shape(words)),
                );
                known.extend(words);
            }
        }
        Judge { before, after, lines, known, ticking, said: BTreeMap::new() }
    }

    /// Counts what is said, and finds words that nothing on the screen shows.
    fn read_words(&mut self, reading: &mut Reading) {
        for line in self.lines {
            for said in &line.words {
                match self.parts(said) {
                    Some(parts) => {
                        for part in parts {
                            *self.said.entry(part).or_default() += 1;
                        }
                    }
                    None => reading.untrue.push(format!("no view shows {:?}: {}", said.head, line.text)),
                }
            }
        }
    }

    /// Splits words into those of single views, which a line joins by commas.
    pub fn parts(&self, said: &Said) -> Option<Vec<String>> {
        if let Some(words) = self.known.iter().find(|words| said.is(words)) {
            return Some(vec![words.clone()]);
        }
        let Some((_, tail)) = &said.cut else { return self.split(&said.head) };
        let mut parts = self.split_head(&said.head)?;
        parts.extend(self.split_tail(tail)?);
        Some(parts)
    }

    fn is_known(&self, text: &str) -> bool {
        self.known.contains(text) || self.known.contains(&shape(text))
    }

    fn split(&self, text: &str) -> Option<Vec<String>> {
        if self.is_known(text) {
            return Some(vec![text.to_owned()]);
        }
        joints(text).find_map(|(first, rest)| {
            let mut parts = self.split(rest).filter(|_| self.is_known(first))?;
            parts.insert(0, first.to_owned());
            Some(parts)
        })
    }

    fn split_head(&self, text: &str) -> Option<Vec<String>> {
        if let Some(words) = self.known.iter().find(|words| words.starts_with(text)) {
            return Some(vec![words.clone()]);
        }
        joints(text).find_map(|(first, rest)| {
            let mut parts = self.split_head(rest).filter(|_| self.is_known(first))?;
            parts.insert(0, first.to_owned());
            Some(parts)
        })
    }

    fn split_tail(&self, text: &str) -> Option<Vec<String>> {
        if self.known.iter().any(|words| words.ends_with(text)) {
            return Some(Vec::new());
        }
        joints(text).find_map(|(first, rest)| {
            self.known.iter().any(|words| words.ends_with(first)).then(|| self.split(rest)).flatten()
        })
    }

    /// The facts that can be compared: of views that are the same before and after.
    fn facts(&self) -> impl Iterator<Item = (&'a ViewTruth, Fact)> + '_ {
        let still = self.after.seen().filter(|view| !self.ticking.contains(&view.number));
        still.flat_map(|view| self.after.facts(view).into_iter().map(move |fact| (view, fact)))
    }

    fn find_lost_words(&self, reading: &mut Reading) {
        let mut left = self.said.clone();
        for (view, fact) in self.facts() {
            reading.facts += 1;
            let Fact::Words(words) = fact else { continue };
            match left.get_mut(&words).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => reading.lost.push(format!("{words:?} of {}", name(view))),
            }
        }
    }

    fn find_lost_states(&self, reading: &mut Reading) {
        for (view, fact) in self.facts() {
            let is_said = match fact {
                Fact::Words(_) => continue,
                Fact::Checked(checked) => self
                    .lines_of(view, |line| line.checked().is_some())
                    .any(|line| line.checked() == Some(checked)),
                Fact::Selected => self.lines_of(view, |line| line.says("selected")).next().is_some(),
                Fact::Disabled => self.lines_of(view, |line| line.says("disabled")).next().is_some(),
            };
            reading.states += 1;
            if !is_said {
                let lines: Vec<&str> = self.lines_of(view, |_| true).map(|line| line.text.as_str()).collect();
                reading.lost.push(format!("{fact:?} of {}; its lines: {}", name(view), lines.join(" | ")));
            }
        }
    }

    /// Returns the lines with this state that speak of the view: by its words, by a point on it, or by those of what it
    /// is a part of (a row, or something that is clicked as a whole). A line with neither words nor a point speaks of
    /// any view without words.
    fn lines_of<'s>(
        &'s self,
        view: &'s ViewTruth,
        is: impl Fn(&Line) -> bool + 's,
    ) -> impl Iterator<Item = &'a Line> + 's {
        let whole = self.whole(view);
        let (own, around) = (self.words_inside(view), self.words_inside(whole));
        self.lines.iter().filter(move |line| {
            let says = |words: &[String]| {
                line.words
                    .iter()
                    .filter_map(|said| self.parts(said))
                    .flatten()
                    .any(|part| words.contains(&part))
            };
            let is_on = |view: &ViewTruth| line.point.is_none_or(|point| contains(view, point));
            let is_named = line.words.is_empty() && names(line, view) && is_on(view);
            let speaks = if own.is_empty() {
                let is_at = line.point.is_some_and(|point| contains(view, point));
                let is_silent = line.words.is_empty() && line.point.is_none();
                is_at || is_silent || (says(&around) && is_on(whole))
            } else {
                says(&own) && is_on(whole)
            };
            (speaks || is_named) && is(line)
        })
    }

    fn words_inside(&self, view: &ViewTruth) -> Vec<String> {
        let inside = self.after.seen().filter(|other| self.after.is_inside(other, view));
        let facts = inside.flat_map(|other| self.after.facts(other));
        facts.filter_map(|fact| if let Fact::Words(words) = fact { Some(words) } else { None }).collect()
    }

    /// Returns what the view is a part of: the row of a list, or the nearest view that is clicked.
    fn whole<'v>(&'v self, view: &'v ViewTruth) -> &'v ViewTruth {
        let is_whole = |view: &&ViewTruth| view.clickable || has(view, "position");
        self.after.around(view).find(is_whole).unwrap_or(view)
    }

    /// Says what a line claims beside words that no view bears out.
    fn untrue_state(&self, line: &Line) -> Option<String> {
        if line.checked().is_some() && !self.any_about(line, |view| checked(view) == line.checked()) {
            return Some("not so".to_owned());
        }
        let is_chosen = |view: &ViewTruth| {
            fact(view, "chosen").is_some_and(|word| line.words.iter().any(|said| said.head == word))
        };
        if line.says("selected") && !self.any_about(line, |view| view.selected || is_chosen(view)) {
            return Some("not selected".to_owned());
        }
        // A row is disabled with all that it shows.
        if line.says("disabled") && !self.any_about(line, |view| !view.enabled || !self.whole(view).enabled) {
            return Some("not disabled".to_owned());
        }
        if line.says("focused") && !self.any_about(line, |view| view.focused) {
            return Some("not focused".to_owned());
        }
        if line.says("expanded") || line.says("collapsed") {
            return Some("no view tells whether it is expanded".to_owned());
        }
        let number = line.number()?;
        let bears = |view: &ViewTruth| {
            let values = ["progress", "rating", "value"].map(|name| fact(view, name).unwrap_or_default());
            values.contains(&number) || self.after.words(view).iter().any(|words| words.contains(number))
        };
        (!self.any_about(line, bears)).then(|| format!("no view has the value {number}"))
    }

    /// True if a view that the line speaks of is so: one that shows its words, or one at its point.
    fn any_about(&self, line: &Line, is: impl Fn(&ViewTruth) -> bool) -> bool {
        [self.after, self.before].into_iter().any(|screen| {
            let is_whole = |view: &ViewTruth| has(view, "position") || view.clickable;
            let about = |view: &ViewTruth| match line.point {
                Some(point) => {
                    let around = |around: &ViewTruth| is_whole(around) && contains(around, point);
                    contains(view, point) || screen.around(view).any(around)
                }
                None => {
                    let words = screen.words(view);
                    let mut parts = line.words.iter().filter_map(|said| self.parts(said)).flatten();
                    parts.any(|part| words.contains(&part))
                        || (line.words.is_empty() && own_words(view).is_none())
                        || names(line, view)
                }
            };
            screen.seen().any(|view| is(view) && about(view))
        })
    }
}

/// True if the line has the view's identifier.
fn names(line: &Line, view: &ViewTruth) -> bool {
    line.resource.as_deref().is_some_and(|id| view.id.ends_with(&format!("/{id}")))
}

/// Returns what the view itself is called; what it draws are the names of its parts.
fn own_words(view: &ViewTruth) -> Option<String> {
    shown_text(view).or_else(|| readable(&view.description))
}

/// Returns each way to part the text at a comma.
fn joints(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices(", ").map(|(at, joint)| (&text[..at], &text[at + joint.len()..]))
}

/// Returns words that tick with 0 for each digit.
fn shape(words: &str) -> String {
    words.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect()
}

pub fn name(view: &ViewTruth) -> String {
    let class = view.class.rsplit('.').next().unwrap_or(&view.class);
    let checked = if tells_checked(view) { " (checkable)" } else { "" };
    format!("{class}{checked} #{} at {:?}", view.id.rsplit('/').next().unwrap_or(""), view.visible)
}

#[cfg(test)]
mod tests {
    use mdm_virtual_device::{FrameworkTruth, Truth};

    use super::*;
    use crate::lines::read;

    fn view(number: i64, class: &str, text: &str) -> ViewTruth {
        let top = number as i32 * 100;
        ViewTruth {
            number,
            parent: i64::from(number != 1),
            window: 1,
            class: class.to_owned(),
            id: String::new(),
            text: text.to_owned(),
            description: String::new(),
            checked: None,
            selected: false,
            enabled: true,
            focused: false,
            clickable: false,
            has_click_listener: false,
            long_clickable: false,
            visible: (0, top, 1000, top + 100),
            scroll: (0, 0),
            facts: Vec::new(),
        }
    }

    fn screen() -> Screen {
        let root = ViewTruth { visible: (0, 0, 1000, 2000), ..view(1, "android.widget.LinearLayout", "") };
        let facts = vec![("tellsChecked".to_owned(), "true".to_owned())];
        let switch = ViewTruth {
            checked: Some(true),
            clickable: true,
            facts,
            ..view(3, "android.widget.Switch", "Wi-Fi")
        };
        let tab = ViewTruth { selected: true, ..view(4, "android.widget.TextView", "Songs") };
        let button =
            ViewTruth { enabled: false, clickable: true, ..view(5, "android.widget.Button", "Save") };
        let opaque = vec![("opaque".to_owned(), "true".to_owned())];
        let under = view(6, "android.widget.TextView", "Under");
        let cover = ViewTruth { visible: under.visible, facts: opaque, ..view(7, "android.view.View", "") };
        let views =
            vec![root, view(2, "android.widget.TextView", "Music"), switch, tab, button, under, cover];
        let framework =
            FrameworkTruth { is_known: true, focused_window: 1, views, ..FrameworkTruth::default() };
        Screen::of(Truth { framework: Some(framework), ..Truth::default() })
    }

    const TREE: &str = "head\ne1 text \"Music\"\ne2 switch \"Wi-Fi\" on @500,350\ne3 text \"Songs\" selected\n\
                        e4 button \"Save\" disabled @500,550\n";

    fn found(tree: &str) -> (usize, usize) {
        let screen = screen();
        let reading = judge(&screen, &screen, &read(tree));
        assert_eq!((reading.facts, reading.states), (7, 3));
        (reading.lost.len(), reading.untrue.len())
    }

    #[test]
    fn a_true_tree_is_found_true() {
        assert_eq!(found(TREE), (0, 0));
        // A row joins the words of several views.
        assert_eq!(
            found(&TREE.replace("e1 text \"Music\"\n", "").replace("\"Songs\"", "\"Music, Songs\"")),
            (0, 0)
        );
    }

    #[test]
    fn what_is_left_out_is_lost() {
        assert_eq!(found(&TREE.replace("e1 text \"Music\"\n", "")), (1, 0));
        assert_eq!(found(&TREE.replace(" on ", " ")), (1, 0));
        assert_eq!(found(&TREE.replace(" selected", "")), (1, 0));
        assert_eq!(found(&TREE.replace(" disabled", "")), (1, 0));
    }

    #[test]
    fn what_is_not_so_is_found() {
        assert_eq!(found(&TREE.replace(" on ", " off ")), (1, 1));
        assert_eq!(found(&TREE.replace("\"Music\"", "\"Musik\"")), (1, 1));
        assert_eq!(found(&TREE.replace("\"Music\"", "\"Music\" selected")), (0, 1));
        assert_eq!(found(&TREE.replace(" on ", " on disabled ")), (0, 1));
        assert_eq!(found(&TREE.replace(" on ", " on 38 ")), (0, 1));
        // What something opaque covers cannot be seen.
        assert_eq!(found(&format!("{TREE}e5 text \"Under\"\n")), (0, 1));
    }
}
