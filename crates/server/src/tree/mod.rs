//! Answers about a screen: the outline, the changes, or every element as JSON. The tools and the offline commands use
//! the same code.

mod json;
mod read;

use std::sync::Arc;

use mdm_core::change::diff::Diff;
use mdm_core::change::tracker::{Comparison, Observation};
use mdm_core::meaning::label::label;
use mdm_core::outline::{Lines, OutlineOptions, changes, lines, page};
use mdm_core::screen::geometry::Size;
use mdm_core::screen::snapshot::{Defect, DefectKind, Snapshot};
use mdm_core::text::quote::push_name;
use serde::Serialize;

use crate::answer::{Answer, Facts};

pub use json::{DeltaJson, TreeJson, redacted, role_name};
pub use read::{Source, read};

/// Defects listed in an outline's answer; the answer also has the number of all.
const DEFECTS_SHOWN_MAX: usize = 5;
/// Of an app's and a screen's name together; Android allows an app 255.
const SCREEN_CHARS_MAX: usize = 300;

#[derive(Debug, Default, Serialize)]
pub struct Resolution {
    width: u32,
    height: u32,
}

impl From<Size> for Resolution {
    fn from(size: Size) -> Resolution {
        Resolution { width: size.width, height: size.height }
    }
}

/// The facts at the start of every answer about a tree; all come from one capture (SY-01).
#[derive(Debug, Serialize)]
pub struct TreeHead {
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    screen: Option<String>,
    /// Absent when it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<Resolution>,
    snapshot_revision: u64,
    /// When the device was asked.
    captured_at_ms: u64,
    /// How long it took to answer, if that matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_ms: Option<u64>,
    /// True if it is the latest state of the screen (SY-12) and young enough; absent for a tree from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    fresh: Option<bool>,
    /// Changes since the tree of the previous answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot_delta: Option<DeltaFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loading_state: Option<LoadingFacts>,
    /// The whole tree is sent because the revision that the caller named is no longer kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    since_revision_gone: bool,
    #[serde(flatten)]
    partial: Option<Partial>,
}

/// A read that takes longer is told.
const READ_MS_TOLD: u64 = 500;

impl TreeHead {
    pub fn new(device: Option<&str>, seen: &Observation) -> TreeHead {
        let snapshot = &seen.reading.snapshot;
        TreeHead {
            device: device.map(str::to_owned),
            screen: snapshot.screen.as_ref().map(|screen| screen.component()),
            resolution: Some(snapshot.size)
                .filter(|size| size.width > 0 && size.height > 0)
                .map(Resolution::from),
            snapshot_revision: seen.revision,
            captured_at_ms: seen.captured_at_ms,
            read_ms: None,
            fresh: None,
            snapshot_delta: None,
            loading_state: LoadingFacts::of(seen),
            since_revision_gone: false,
            partial: Partial::of(snapshot),
        }
    }

    pub fn freshness(self, fresh: bool, read_ms: u64) -> TreeHead {
        let read_ms = Some(read_ms).filter(|ms| *ms >= READ_MS_TOLD);
        TreeHead { fresh: Some(fresh), read_ms, ..self }
    }

    pub fn whole_because_base_is_gone(self) -> TreeHead {
        TreeHead { since_revision_gone: true, ..self }
    }

    /// Adds the changes since the tree that the agent saw last.
    pub fn since(self, since: Option<&Comparison>, now: &Observation) -> TreeHead {
        let changed = since.filter(|since| since.diff.is_relevant());
        TreeHead { snapshot_delta: changed.map(|since| DeltaFacts::naming(since, now)), ..self }
    }
}

/// A loading indicator on the screen. The end of loading is never reported as success (SY-13).
#[derive(Debug, Serialize)]
pub struct LoadingFacts {
    active: bool,
    signal: &'static str,
    source: &'static str,
    element: String,
}

impl LoadingFacts {
    pub fn of(seen: &Observation) -> Option<LoadingFacts> {
        let loading = seen.loading()?;
        Some(LoadingFacts {
            active: true,
            signal: loading.signal.name(),
            source: loading.source.name(),
            element: seen.ids.get(loading.index as usize)?.to_string(),
        })
    }
}

/// The difference between two captures (SY-11). Elements without words count too.
#[derive(Debug, Serialize)]
pub struct DeltaFacts {
    since_revision: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<&'static str>,
    #[serde(skip_serializing_if = "is_zero")]
    added: usize,
    #[serde(skip_serializing_if = "is_zero")]
    removed: usize,
    #[serde(skip_serializing_if = "is_zero")]
    changed: usize,
    #[serde(skip_serializing_if = "is_zero")]
    reordered: usize,
    /// Ids of changed and new elements that have a label; an answer of changes has lines for them instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    elements: Vec<String>,
}

/// Limit of [`DeltaFacts::elements`]; with more changes an agent reads the tree anyway.
const CHANGED_NAMED_MAX: usize = 8;

impl DeltaFacts {
    pub fn new(base: &Observation, diff: &Diff) -> DeltaFacts {
        DeltaFacts {
            since_revision: base.revision,
            change: diff.kind.as_str(),
            added: diff.added.len(),
            removed: diff.removed.len(),
            changed: diff.changed.len(),
            reordered: diff.reordered.len(),
            elements: Vec::new(),
        }
    }

    fn naming(since: &Comparison, now: &Observation) -> DeltaFacts {
        let diff = &since.diff;
        let changed = diff.changed.iter().map(|changed| changed.new);
        let came = diff.added.iter().copied();
        let with_words = |index: &u32| label(&now.reading.snapshot, *index as usize).is_some();
        let ids = changed.chain(came).filter(with_words).filter_map(|index| now.ids.get(index as usize));
        let elements = ids.take(CHANGED_NAMED_MAX).map(ToString::to_string).collect();
        DeltaFacts { elements, ..DeltaFacts::new(&since.base, diff) }
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Present when the device's answer was damaged.
#[derive(Debug, Serialize)]
struct Partial {
    /// Elements are missing, so absence cannot be concluded from this tree.
    partial: bool,
    defects: Vec<String>,
    defect_count: usize,
}

impl Partial {
    fn of(snapshot: &Snapshot) -> Option<Partial> {
        if snapshot.defects.is_empty() {
            return None;
        }
        let describe = |d: &Defect| match d.kind {
            DefectKind::Untold => d.detail.clone(),
            kind => format!("{kind:?} at byte {}: {:.80}", d.offset, d.detail),
        };
        Some(Partial {
            partial: snapshot.is_partial(),
            defects: snapshot.defects.iter().take(DEFECTS_SHOWN_MAX).map(describe).collect(),
            defect_count: snapshot.defects.len(),
        })
    }
}

#[derive(Debug, Serialize)]
pub struct OutlineFacts {
    #[serde(flatten)]
    head: TreeHead,
    shown: usize,
    of: usize,
    #[serde(skip_serializing_if = "is_zero")]
    off_screen: usize,
    #[serde(skip_serializing_if = "is_zero")]
    too_deep: usize,
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
    /// The argument `continue` for the next page.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// The part of an outline to show.
#[derive(Clone, Copy)]
pub struct OutlinePart {
    pub options: OutlineOptions,
    pub max_tokens: usize,
    /// From 1.
    pub page: usize,
}

pub fn outline_answer(head: TreeHead, seen: &Observation, wanted: &OutlinePart) -> Answer {
    let lines = outline(seen, &wanted.options);
    let page = page(&lines, wanted.max_tokens, wanted.page);
    let next = (page.left_out > 0).then(|| Handle { revision: seen.revision, page: wanted.page + 1 }.write());
    let facts = OutlineFacts {
        head,
        shown: page.shown,
        of: lines.total,
        off_screen: lines.off_screen,
        too_deep: lines.too_deep,
        left_out: page.left_out,
        next,
    };
    let mut text = page.text;
    if lines.lines.is_empty() && lines.not_displayed > 0 {
        // An empty outline would read like an empty screen (F35).
        let (hidden, all) = (lines.not_displayed, lines.total);
        text.push_str(&format!(
            "nothing is displayed: the device marks {hidden} of {all} elements as not displayed\n"
        ));
    }
    if page.left_out > 0 {
        text.push_str(&format!(
            "… {} more lines, {} of them targets: continue, or ask for a larger max_tokens or a target\n",
            page.left_out, page.targets_left_out
        ));
    }
    Answer::new(Facts::Outline(Box::new(facts))).with_lines(&text)
}

pub fn outline(seen: &Observation, options: &OutlineOptions) -> Lines {
    lines(&seen.reading, &seen.ids, options)
}

#[derive(Debug, Serialize)]
pub struct ChangesFacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<String>,
    snapshot_revision: u64,
    captured_at_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fresh: Option<bool>,
    snapshot_delta: DeltaFacts,
    #[serde(skip_serializing_if = "Option::is_none")]
    loading_state: Option<LoadingFacts>,
    #[serde(flatten)]
    partial: Option<Partial>,
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
}

/// Facts that an answer of changes has besides the changes.
#[derive(Clone, Copy, Default)]
pub struct Around<'a> {
    /// Left out if only one device can be meant, because a revision belongs to one device.
    pub device: Option<&'a str>,
    pub fresh: Option<bool>,
}

/// Builds an answer with only the changed lines of the outline.
pub fn changes_answer(
    around: Around<'_>,
    since: &Comparison,
    now: &Observation,
    wanted: &OutlinePart,
) -> Answer {
    let (before, after) = (outline(&since.base, &wanted.options), outline(now, &wanted.options));
    let found = changes(&before, &after, wanted.max_tokens);
    let facts = ChangesFacts {
        device: around.device.map(str::to_owned),
        snapshot_revision: now.revision,
        captured_at_ms: now.captured_at_ms,
        fresh: around.fresh,
        // The lines below show the kind of change.
        snapshot_delta: DeltaFacts { change: None, ..DeltaFacts::new(&since.base, &since.diff) },
        loading_state: LoadingFacts::of(now),
        partial: Partial::of(&now.reading.snapshot),
        left_out: found.left_out,
    };
    let mut text = String::new();
    let screens = [&since.base, now].map(|seen| seen.reading.snapshot.screen.as_ref());
    if let [Some(was), Some(is)] = screens
        && was != is
    {
        text.push_str("screen ");
        push_name(&mut text, &was.component(), SCREEN_CHARS_MAX);
        text.push_str(" -> ");
        push_name(&mut text, &is.component(), SCREEN_CHARS_MAX);
        text.push('\n');
    }
    text.push_str(&found.text);
    if text.is_empty() {
        text.push_str(if since.diff.is_relevant() {
            "no difference that a line shows\n"
        } else {
            "no difference\n"
        });
    }
    Answer::new(Facts::Changes(Box::new(facts))).with_lines(&text)
}

/// The position at which a cut outline continues: `r12.2` is the second page of revision 12.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle {
    pub revision: u64,
    pub page: usize,
}

impl Handle {
    fn write(self) -> String {
        format!("r{}.{}", self.revision, self.page)
    }

    pub fn parse(text: &str) -> Option<Handle> {
        let (revision, page) = text.strip_prefix('r')?.split_once('.')?;
        let page = page.parse().ok().filter(|page| (1..=PAGES_MAX).contains(page))?;
        Some(Handle { revision: revision.parse().ok()?, page })
    }
}

/// Limit of the page number; no screen has more pages.
const PAGES_MAX: usize = 10_000;

/// Observes a capture from a file with a new tracker.
pub fn seen(snapshot: Snapshot) -> Arc<Observation> {
    mdm_core::change::tracker::Tracker::default().observe(snapshot, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_of_what_is_not_displayed_says_so() {
        // F35
        let xml = br#"<hierarchy><node class="android.widget.TextView" text="Behind" bounds="[0,0][90,90]"
            displayed="false"/></hierarchy>"#;
        let (_, snapshot) = read(xml).expect("a hierarchy");
        let seen = seen(snapshot);
        let wanted = OutlinePart { options: OutlineOptions::default(), max_tokens: 1000, page: 1 };
        let text = outline_answer(TreeHead::new(None, &seen), &seen, &wanted).text();
        assert!(text.contains("nothing is displayed: the device marks 1 of 1"), "{text}");
    }
}
