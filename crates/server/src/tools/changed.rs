//! The lines of an action's answer that say what changed on the screen.

use mdm_core::action::outcome::{After, Drawing, Verdict};
use mdm_core::change::tracker::Observation;
use mdm_core::intent::resolve::{describe, shows_nothing, system_dialog};
use mdm_core::intent::watch::MovingElement;
use mdm_core::outline::{OutlineOptions, changes};
use mdm_core::port::{Said, SaidKind};
use mdm_core::screen::element::Element;
use mdm_core::text::quote::push_quoted;

use super::waits::facts::describe_moving;
use crate::tree;

/// Tokens of the lines that say what changed: an action's answer stays short, get_ui_tree says the rest.
const CHANGE_TOKENS_MAX: usize = 120;
/// Toasts and announcements that are repeated in an answer, and the characters of each.
const SAID_MAX: usize = 4;
/// Characters of one toast or announcement.
const SAID_CHARS_MAX: usize = 200;

/// Writes what the device said for a moment: no tree has it.
fn push_said_lines(lines: &mut String, said: &[Said]) {
    for said in said.iter().take(SAID_MAX) {
        let kind = match said.kind {
            SaidKind::Toast => "toast",
            SaidKind::Announcement => "announced",
        };
        lines.push_str(kind);
        lines.push(' ');
        push_quoted(lines, &said.text, SAID_CHARS_MAX);
        lines.push('\n');
    }
    if let Some(more) = said.len().checked_sub(SAID_MAX).filter(|more| *more > 0) {
        lines.push_str(&format!("… {more} more toasts or announcements\n"));
    }
}

/// Writes what came of an expectation, and what is different on the screen.
pub fn push_lines(lines: &mut String, before: Option<&Observation>, after: &After) {
    match &after.verdict {
        Verdict::Contradicted { observed } => {
            lines.push_str(&format!("expected was not seen in {} captures: {observed}\n", after.captures));
        }
        Verdict::Undetermined { why } => lines.push_str(&format!("not known whether it came true: {why}\n")),
        Verdict::NotAsked | Verdict::Confirmed => {}
    }
    let Some(before) = before else {
        lines.push_str("the screen could not be read before, so what changed is not known\n");
        return;
    };
    if after.toast {
        lines.push_str("a toast was shown; no tree has its text\n");
    }
    push_said_lines(lines, &after.said);
    push_view_lines(lines, before, &after.seen);
    let unchanged = after.since.is_none() || !after.observed.is_relevant();
    if let Some(line) = not_in_the_tree(before, after).filter(|_| unchanged) {
        lines.push_str(line);
        return;
    }
    if unchanged {
        let looks = if after.captures == 1 { "look" } else { "looks" };
        lines.push_str(&format!(
            "nothing that counts changed on the screen in {} ms ({} {looks})\n",
            after.watched_ms, after.captures
        ));
        if let Some(ms) = after.unseen_ms {
            lines
                .push_str(&format!("what came in the {ms} ms after that is not known: a look did not end\n"));
        }
        return;
    }
    let options = OutlineOptions::default();
    let [was, is] = [before, &after.seen].map(|seen| tree::outline(seen, &options));
    let found = changes(&was, &is, CHANGE_TOKENS_MAX);
    let screens = [before, &after.seen].map(|seen| seen.reading.snapshot.screen.as_ref());
    if let [Some(was), Some(is)] = screens
        && was != is
    {
        lines.push_str(&format!("screen {} -> {}\n", was.short_name(), is.short_name()));
    }
    lines.push_str(&found.text);
    if found.left_out > 0 {
        lines.push_str(&format!(
            "… {} more; get_ui_tree since_revision {}\n",
            found.left_out, before.revision
        ));
    }
    // What changed once has changed; only what changes again and again is moving.
    let moving: Vec<MovingElement> = after.moving.iter().filter(|moving| moving.times > 1).copied().collect();
    if !moving.is_empty() {
        lines.push_str(&format!("still moving: {}\n", describe_moving(&moving, &after.seen)));
    }
}

/// What to say where the tree showed no change and could not have shown every one.
fn not_in_the_tree(before: &Observation, after: &After) -> Option<&'static str> {
    if after.damaged || !after.seen.reading.snapshot.proves_absence() {
        return Some("the screen could be read only in part, so what changed is not known\n");
    }
    match after.drawing {
        Drawing::Changed => {
            Some("what is drawn there changed; capture_screenshot shows it, the tree does not\n")
        }
        Drawing::Unknown => {
            Some("the tree tells nothing of what is drawn there, so what changed is not known\n")
        }
        Drawing::Told if shows_nothing(before) && shows_nothing(&after.seen) => Some(
            "the tree shows nothing of this screen, so what changed is not known: capture_screenshot shows it\n",
        ),
        Drawing::Told | Drawing::Same => None,
    }
}

/// What else an agent has to know of the screen: where the focus went, and how the device is held (F13).
fn push_view_lines(lines: &mut String, before: &Observation, now: &Observation) {
    if let Some(dialog) = system_dialog(now).filter(|_| system_dialog(before).is_none()) {
        lines.push_str(&format!("a system dialog is in front: {dialog}\n"));
    }
    let focused = |seen: &Observation| {
        let has_focus = |element: &Element| element.state.focused == Some(true);
        let index = seen.reading.snapshot.elements.iter().position(has_focus)?;
        Some((seen.ids[index], index))
    };
    let (was, is) = (focused(before), focused(now));
    if let Some((_, index)) = is.filter(|(id, _)| was.is_none_or(|(old, _)| old != *id)) {
        lines.push_str(&format!("focus: {}\n", describe(now, index as u32)));
    }
    let sizes = [before, now].map(|seen| seen.reading.snapshot.size);
    if sizes[0] != sizes[1] && sizes.iter().all(|size| size.width > 0) {
        let held = if sizes[1].width > sizes[1].height { "landscape" } else { "portrait" };
        lines.push_str(&format!("the screen is {held} now, {}x{}\n", sizes[1].width, sizes[1].height));
    }
}
