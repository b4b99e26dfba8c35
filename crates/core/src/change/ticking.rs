//! Detects texts that change by themselves: clocks at once, counters after several changes (SY-04).

use xxhash_rust::xxh3::Xxh3;

use crate::screen::element::Element;

/// Changes of one text, without an action between them, after which it counts as ticking.
const CHANGES_TO_TICK: u8 = 3;

/// A clock that jumps further than this, in its smallest unit, was set and did not tick.
const CLOCK_STEPS_MAX: u32 = 90;

/// The past changes of one text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ticks {
    /// Hash of the text without its numbers.
    shape: u64,
    changes: u8,
    /// Changes that may be late effects of actions in quick succession.
    owed: u8,
}

impl Ticks {
    pub fn is_ticking(self) -> bool {
        self.changes >= CHANGES_TO_TICK.saturating_add(self.owed)
    }

    /// Returns the state after an action on the device: only a text that already ticks keeps its count. `before` actions
    /// came shortly before it, and the effect of each may still come.
    #[must_use]
    pub fn after_action(self, before: u8) -> Ticks {
        if self.is_ticking() { self } else { Ticks { owed: before, ..Ticks::default() } }
    }

    /// Returns the state after one more change of the text. `unprompted`: no action since the last capture.
    #[must_use]
    pub fn after_change(self, before: &str, now: &str, unprompted: bool) -> Ticks {
        let shape = shape(now);
        if shape_differs(before, now) {
            return Ticks { shape, changes: 0, owed: self.owed };
        }
        let known = if self.shape == shape { self.changes } else { 0 };
        Ticks { shape, changes: known.saturating_add(u8::from(unprompted)), owed: self.owed }
    }
}

/// True if a text of `element` that changed from `before` to `now` only shows that time passed.
pub fn is_clock_step(element: &Element, before: &str, now: &str) -> bool {
    if element.clock {
        return parse_clock(now).is_some() || is_relative_time(now);
    }
    match (parse_clock(before), parse_clock(now)) {
        (Some(before), Some(now)) => before.parts == now.parts && before.steps_to(now) <= CLOCK_STEPS_MAX,
        _ => is_relative_time(before) && is_relative_time(now),
    }
}

/// True if a text of `element` shows a time that changes by itself.
pub fn shows_time(element: &Element) -> bool {
    let texts = [&element.text, &element.description, &element.value];
    texts.into_iter().flatten().any(|text| {
        text.bytes().any(|byte| byte.is_ascii_digit())
            && (parse_clock(text).is_some() || is_relative_time(text))
            || is_relative_time(text)
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Clock {
    /// 2 for `12:41`, 3 for `12:41:05`.
    parts: u8,
    /// The time shown, in the smallest unit.
    at: u32,
}

impl Clock {
    /// Counts the steps forward to `later`, over midnight if needed.
    fn steps_to(self, later: Clock) -> u32 {
        let period = if self.parts == 2 { 24 * 60 } else { 24 * 3600 };
        if later.at >= self.at { later.at - self.at } else { later.at + period - self.at.min(period) }
    }
}

/// Parses `12:41`, `1:05:33`, `9:41 AM`, `12:41 Uhr`: digits and colons, and at most one short word.
fn parse_clock(text: &str) -> Option<Clock> {
    let text = text.trim();
    if text.len() > 16 || !text.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(text.len());
    let (digits, word) = text.split_at(end);
    if word.split_whitespace().count() > 1 || word.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut at = 0;
    let mut parts = 0;
    for part in digits.split(':') {
        let fits = (parts == 0 && (1..=3).contains(&part.len())) || part.len() == 2;
        let number = part.parse::<u32>().ok().filter(|number| fits && (parts == 0 || *number < 60))?;
        at = at * 60 + number;
        parts += 1;
    }
    matches!(parts, 2 | 3).then_some(Clock { parts, at })
}

/// True for `5 min ago`, `2h ago`, `just now`. Other languages are detected by how the text changes.
fn is_relative_time(text: &str) -> bool {
    let text = text.trim();
    if text.len() > 24 {
        return false;
    }
    let Some(start) = text.len().checked_sub(4).filter(|start| text.is_char_boundary(*start)) else {
        return false;
    };
    text[start..].eq_ignore_ascii_case(" ago") && text.as_bytes()[0].is_ascii_alphanumeric()
        || text.eq_ignore_ascii_case("just now")
}

fn shape_differs(before: &str, now: &str) -> bool {
    !before.bytes().any(|byte| byte.is_ascii_digit()) || shape(before) != shape(now)
}

/// Hashes the text with every number, including its separators, replaced by `#`.
fn shape(text: &str) -> u64 {
    let mut hasher = Xxh3::new();
    let mut in_number = false;
    for part in text.split_inclusive(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ':')) {
        let number = part.chars().next_back().is_some_and(|c| c.is_ascii_digit());
        let words = part.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ':'));
        if !words.is_empty() {
            hasher.update(words.as_bytes());
            in_number = false;
        }
        if number && !in_number {
            hasher.update(b"#");
            in_number = true;
        }
    }
    hasher.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(before: &str, now: &str) -> bool {
        is_clock_step(&Element::default(), before, now)
    }

    #[test]
    fn a_small_clock_step_is_time_and_a_jump_is_not() {
        // SY-04
        assert!(steps("12:41", "12:42"));
        assert!(steps("9:59 AM", "10:00 AM"));
        assert!(steps("23:59", "0:00"));
        assert!(steps("0:59:59", "1:00:00"));
        assert!(steps("2 min ago", "3 min ago"));
        assert!(steps("just now", "1m ago"));
        assert!(!steps("12:41", "18:00"), "an alarm was set");
        assert!(!steps("12:41", "12:40:59"), "another kind of clock");
        assert!(!steps("Count: 1", "Count: 2"), "a counter may be the answer to a tap");
        assert!(!steps("3 items", "4 items"));
        assert!(!steps("1:75", "1:76"), "no time of day");
        assert!(!steps("", "12:41"));
    }

    #[test]
    fn a_clock_view_may_show_any_time() {
        let clock = Element { clock: true, ..Element::default() };
        assert!(is_clock_step(&clock, "12:41", "18:00"));
        assert!(!is_clock_step(&clock, "12:41", "Alarm"));
    }

    #[test]
    fn a_counter_ticks_after_three_changes() {
        let texts = ["3 of 90 s", "4 of 90 s", "5 of 90 s", "6 of 90 s", "7 of 90 s"];
        let mut ticks = Ticks::default();
        let mut ticking = Vec::new();
        for pair in texts.windows(2) {
            ticks = ticks.after_change(pair[0], pair[1], true);
            ticking.push(ticks.is_ticking());
        }
        assert_eq!(ticking, [false, false, true, true]);
        // A change of words is relevant even then.
        assert!(!ticks.after_change("7 of 90 s", "done", true).is_ticking());
    }

    #[test]
    fn changes_after_actions_are_not_ticks() {
        let mut ticks = Ticks::default();
        for count in 1..20 {
            ticks = ticks.after_change(&format!("Cart {count}"), &format!("Cart {}", count + 1), false);
        }
        assert!(!ticks.is_ticking());
    }

    #[test]
    fn one_late_change_after_each_action_is_not_ticking() {
        let mut ticks = Ticks::default();
        for count in 1..20 {
            ticks = ticks.after_action(0).after_change(
                &format!("Cart {count}"),
                &format!("Cart {}", count + 1),
                true,
            );
        }
        assert!(!ticks.is_ticking());
        for count in 20..23 {
            ticks = ticks.after_change(&format!("Cart {count}"), &format!("Cart {}", count + 1), true);
        }
        assert!(ticks.is_ticking() && ticks.after_action(0).is_ticking(), "what ticked goes on ticking");
    }

    #[test]
    fn late_effects_of_actions_in_quick_succession_are_not_ticking() {
        // Three taps, and then three changes with nothing between them.
        let mut ticks = Ticks::default().after_action(0).after_action(1).after_action(2);
        for count in 0..3 {
            ticks = ticks.after_change(&format!("Total: {count}"), &format!("Total: {}", count + 1), true);
        }
        assert!(!ticks.is_ticking());
        for count in 3..5 {
            ticks = ticks.after_change(&format!("Total: {count}"), &format!("Total: {}", count + 1), true);
        }
        assert!(ticks.is_ticking(), "more changes than actions");
    }

    #[test]
    fn the_number_of_digits_does_not_change_the_shape() {
        assert_eq!(shape("9 s"), shape("10 s"));
        assert_eq!(shape("1,234.5 km"), shape("7 km"));
        assert_ne!(shape("9 s"), shape("9 m"));
        assert_ne!(shape("9"), shape(""));
    }
}
