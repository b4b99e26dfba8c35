//! What a person sees on the phone, from the view objects alone.
//!
//! Rules about views. They say what counts as a fact, and never look at what the product said:
//! - A view is seen if it is in the focused window (a dump has no other), a part of it is on the screen, neither it nor
//!   anything around it is transparent, and nothing opaque that is drawn later covers what is on the screen.
//! - An activity inside another one (`ActivityGroup`) is in no dump: accessibility takes the inner window for the outer.
//! - A text view tells its text as it is shown (in capitals, if so); an empty one its hint. A password tells no words, and
//!   its hint may stay untold: a dump does not tell it from the secret. White space and characters without a picture tell
//!   nothing.
//! - A description is told unless it repeats the words of the same view, of one inside or of one around it.
//! - A picker tells the words that it draws: days of a month with their dates, hours of a dial, the wheel's values.
//! - Checked is told by `CompoundButton` and `CheckedTextView`; other `Checkable` classes tell it to no dump. The text of
//!   such a button that is only the word for its state ("ON") is told by the state. A view that an app draws itself may
//!   tell a text and a state by methods named like a button's; what it says of them is compared, but it must not say it.
//! - Selected is told by the outermost selected view: Android passes it on to all views inside.
//! - Disabled is told by what has words of its own or can be used: clickable, checkable, adjustable or typed into.
//! - Progress, rating and what is drawn on a canvas are in no dump.

use std::collections::{BTreeMap, BTreeSet};

use mdm_virtual_device::{Truth, ViewTruth};

pub struct Screen {
    /// `package/.Activity` in front.
    pub activity: String,
    views: Vec<ViewTruth>,
    by_number: BTreeMap<i64, usize>,
    seen: BTreeSet<i64>,
}

/// What a view tells.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fact {
    Words(String),
    Checked(bool),
    Selected,
    Disabled,
}

impl Screen {
    pub fn of(truth: Truth) -> Screen {
        let framework = truth.framework.unwrap_or_default();
        assert!(framework.is_known, "the views of {} could not be read", truth.activity);
        let focused = framework.focused_window;
        let views: Vec<ViewTruth> =
            framework.views.into_iter().filter(|view| view.window == focused).collect();
        let by_number = views.iter().enumerate().map(|(at, view)| (view.number, at)).collect();
        let mut screen = Screen { activity: truth.activity, views, by_number, seen: BTreeSet::new() };
        screen.seen =
            screen.views.iter().filter(|view| screen.is_seen(view)).map(|view| view.number).collect();
        screen
    }

    /// Returns the views that are seen, each before those inside it.
    pub fn seen(&self) -> impl Iterator<Item = &ViewTruth> {
        self.views.iter().filter(|view| self.seen.contains(&view.number))
    }

    /// Returns all views of the focused window, also those that are scrolled away.
    pub fn all(&self) -> &[ViewTruth] {
        &self.views
    }

    pub fn view(&self, number: i64) -> Option<&ViewTruth> {
        self.by_number.get(&number).map(|at| &self.views[*at])
    }

    /// Returns the view and those around it, the innermost first.
    pub fn around<'a>(&'a self, view: &'a ViewTruth) -> impl Iterator<Item = &'a ViewTruth> {
        std::iter::successors(Some(view), |view| self.view(view.parent))
    }

    pub fn is_inside(&self, inner: &ViewTruth, outer: &ViewTruth) -> bool {
        self.around(inner).any(|view| view.number == outer.number)
    }

    fn is_seen(&self, view: &ViewTruth) -> bool {
        let (left, top, right, bottom) = view.visible;
        left < right
            && top < bottom
            && !self.around(view).any(|view| has(view, "transparent") || has(view, "innerWindow"))
            && !self.views.iter().any(|other| self.covers(other, view))
    }

    /// True if `other` is opaque, drawn after `view`, and hides all of it that is on the screen.
    fn covers(&self, other: &ViewTruth, view: &ViewTruth) -> bool {
        let (inner, outer) = (view.visible, other.visible);
        let hides = outer.0 <= inner.0 && outer.1 <= inner.1 && outer.2 >= inner.2 && outer.3 >= inner.3;
        hides && has(other, "opaque") && self.is_drawn_after(other, view)
    }

    fn is_drawn_after(&self, later: &ViewTruth, earlier: &ViewTruth) -> bool {
        let path = |view| {
            let mut path: Vec<&ViewTruth> = self.around(view).collect();
            path.reverse();
            path
        };
        let (later, earlier) = (path(later), path(earlier));
        let fork = later.iter().zip(&earlier).position(|(a, b)| a.number != b.number);
        // One around the other hides nothing of it that is drawn.
        let Some(fork) = fork else { return false };
        let (a, b) = (later[fork], earlier[fork]);
        let z = |view: &ViewTruth| fact(view, "z").and_then(|z| z.parse::<f32>().ok()).unwrap_or(0.0);
        if z(a) == z(b) { self.by_number[&a.number] > self.by_number[&b.number] } else { z(a) > z(b) }
    }

    /// Returns the words of the view itself: its text or hint, its description, what it draws or tells a reader.
    pub fn words(&self, view: &ViewTruth) -> Vec<String> {
        let mut words: Vec<String> = shown_text(view).into_iter().collect();
        words.extend(readable(&view.description).filter(|words| !self.repeats(view, words)));
        let drawn = view.facts.iter().filter(|(name, _)| name == "drawn" || name == "spoken");
        words.extend(drawn.filter_map(|(_, word)| readable(word)));
        words.dedup();
        words
    }

    fn repeats(&self, view: &ViewTruth, words: &str) -> bool {
        let says = |other: &ViewTruth| {
            shown_text(other).as_deref() == Some(words)
                || (other.number != view.number && readable(&other.description).as_deref() == Some(words))
        };
        let inside = |other: &&ViewTruth| self.is_inside(other, view);
        self.around(view).any(says) || self.seen().filter(inside).any(says)
    }

    /// Returns what a view that is seen tells.
    pub fn facts(&self, view: &ViewTruth) -> Vec<Fact> {
        let words = self.words(view);
        let is_used = view.clickable || has(view, "adjustable") || has(view, "inputType");
        let disabled = !view.enabled && (is_used || !words.is_empty() || tells_checked(view));
        let may_stay_untold = has(view, "appDrawn") || (has(view, "password") && view.text.is_empty());
        let is_fact = |words: &String| !is_state_word(view, words) && !may_stay_untold;
        let mut facts: Vec<Fact> = words.into_iter().filter(is_fact).map(Fact::Words).collect();
        facts.extend(view.checked.filter(|_| tells_checked(view)).map(Fact::Checked));
        let passed_on = self.view(view.parent).is_some_and(|parent| parent.selected);
        facts.extend((view.selected && !passed_on).then_some(Fact::Selected));
        facts.extend(disabled.then_some(Fact::Disabled));
        facts
    }
}

pub fn fact<'a>(view: &'a ViewTruth, name: &str) -> Option<&'a str> {
    view.facts.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

pub fn has(view: &ViewTruth, name: &str) -> bool {
    fact(view, name).is_some_and(|value| value != "false")
}

pub fn tells_checked(view: &ViewTruth) -> bool {
    view.checked.is_some() && has(view, "tellsChecked")
}

/// Returns whether the view is checked, also of one that an app draws.
pub fn checked(view: &ViewTruth) -> Option<bool> {
    view.checked.or_else(|| fact(view, "drawnChecked").map(|checked| checked == "true"))
}

fn is_state_word(view: &ViewTruth, words: &str) -> bool {
    let on = view.checked == Some(true);
    tells_checked(view) && words.eq_ignore_ascii_case(if on { "on" } else { "off" })
}

/// Returns the text that the view shows, or its hint while it is empty.
pub fn shown_text(view: &ViewTruth) -> Option<String> {
    if has(view, "password") && !view.text.is_empty() {
        return None;
    }
    let text = fact(view, "shown").unwrap_or(&view.text);
    if view.text.is_empty() { fact(view, "hint").and_then(readable) } else { readable(text) }
}

/// Returns the words without space at their ends; `None` if nothing of them can be read.
pub fn readable(words: &str) -> Option<String> {
    let words = words.trim_matches(|c: char| c.is_whitespace() || c.is_control() || c == '\u{200b}');
    (!words.is_empty()).then(|| words.to_owned())
}

pub fn contains(view: &ViewTruth, (x, y): (i32, i32)) -> bool {
    let (left, top, right, bottom) = view.visible;
    left <= x && x < right && top <= y && y < bottom
}
