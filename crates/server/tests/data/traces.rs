//! Recorded taps of people, and the changes after them.

use std::path::{Path, PathBuf};

use mdm_core::change::tracker::{Observation, Tracker};
use mdm_core::intent::actionable::tap_point;
use mdm_core::outline::{Lines, OutlineOptions, lines};
use mdm_core::screen::geometry::Rect;
use mdm_core::screen::snapshot::Snapshot;
use mobile_debug_mcp::tree;
use serde::Deserialize;

use crate::files::{below, load};

#[derive(Deserialize)]
struct Trace {
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    /// The last step of some traces only records what the tester looked for.
    tree: Option<String>,
    #[serde(default)]
    target_nodes: Vec<Node>,
    action: Option<Action>,
}

#[derive(Deserialize)]
struct Action {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Node {
    class: Option<String>,
    #[serde(rename = "type")]
    ios_type: Option<String>,
    bounds: Option<String>,
    x: Option<String>,
    y: Option<String>,
    width: Option<String>,
    height: Option<String>,
}

impl Step {
    fn load(&self, folder: &Path) -> Option<Snapshot> {
        load(&folder.join(self.tree.as_ref()?))
    }
}

impl Node {
    fn rect(&self) -> Option<Rect> {
        if let Some(bounds) = &self.bounds {
            let numbers: Vec<i32> =
                bounds.split(['[', ']', ',']).filter_map(|part| part.parse().ok()).collect();
            let [left, top, right, bottom] = numbers[..] else { return None };
            return Some(Rect { left, top, right, bottom });
        }
        let number = |text: &Option<String>| text.as_ref()?.parse::<i32>().ok();
        let (x, y) = (number(&self.x)?, number(&self.y)?);
        Some(Rect::new(x, y, x + number(&self.width)?, y + number(&self.height)?))
    }

    fn index_in(&self, snapshot: &Snapshot) -> Option<usize> {
        let class = self.class.as_ref().or(self.ios_type.as_ref())?;
        let rect = self.rect()?;
        snapshot.elements.iter().position(|e| *e.class == **class && e.bounds == rect)
    }
}

fn folders(platform: &str) -> Vec<PathBuf> {
    below(&format!("{platform}-traces")).into_iter().filter(|path| path.is_dir()).collect()
}

fn steps(folder: &Path) -> Vec<Step> {
    let text = std::fs::read_to_string(folder.join("trace.json")).unwrap();
    serde_json::from_str::<Trace>(&text).unwrap_or_else(|e| panic!("{}: {e}", folder.display())).steps
}

fn lies_on(a: Rect, b: Rect) -> bool {
    let area = |rect: Rect| i64::from(rect.width()) * i64::from(rect.height());
    a.intersection(b).is_some_and(|common| area(common) * 2 > area(a) && area(a) <= area(b) * 2)
}

/// How well the outline leads to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OutlineReach {
    No,
    /// A tap on a line reaches it, but the app gives it no words: the line has only its position.
    ByPlace,
    ByName,
}

/// Decides whether a tap on one of the lines reaches the element, and whether the line names it.
fn outline_reach(seen: &Observation, outline: &Lines, target: usize) -> OutlineReach {
    let reading = &seen.reading;
    let Some(rect) = reading.nodes[target].visible else { return OutlineReach::No };
    let reaches = outline.lines.iter().filter_map(|line| {
        let owner = line.index as usize;
        let around = reading.range(line.index).contains(&(target as u32));
        let inside = reading.range(target as u32).contains(&line.index);
        let named = line.text.contains('"') || line.text.contains('#');
        let hits = || tap_point(reading, owner).is_some_and(|point| rect.contains(point));
        let tappable = reading.snapshot.elements[owner].is_tappable();
        // Some apps put a box, its content and its tap area beside each other in the tree, with the same bounds.
        let same_place = || reading.nodes[owner].visible.is_some_and(|other| lies_on(other, rect));
        let reached = owner == target || (around && tappable) || ((inside || same_place()) && hits());
        reached.then_some(if named { OutlineReach::ByName } else { OutlineReach::ByPlace })
    });
    reaches.max().unwrap_or(OutlineReach::No)
}

#[test]
fn elements_that_people_acted_on_are_in_the_outline() {
    for platform in ["android", "ios"] {
        let (mut acted, mut reached, mut named) = (0, 0, 0);
        for folder in folders(platform) {
            for step in steps(&folder) {
                let acts = step.action.as_ref().is_some_and(|action| action.kind != "oracle");
                let Some(snapshot) = step.load(&folder).filter(|_| acts) else { continue };
                let seen = tree::seen(snapshot);
                let outline = lines(&seen.reading, &seen.ids, &OutlineOptions::default());
                let indexes =
                    step.target_nodes.iter().filter_map(|node| node.index_in(&seen.reading.snapshot));
                let Some(reach) = indexes.map(|target| outline_reach(&seen, &outline, target)).max() else {
                    continue;
                };
                acted += 1;
                reached += usize::from(reach > OutlineReach::No);
                named += usize::from(reach == OutlineReach::ByName);
                if reach != OutlineReach::ByName {
                    println!(
                        "{reach:?}: {platform} {} {:?}",
                        folder.file_name().unwrap().display(),
                        step.tree
                    );
                }
            }
        }
        println!(
            "{platform}: of {acted} elements that people acted on {reached} are reached, {named} by name"
        );
        assert!(reached * 100 >= acted * 99, "{platform}: {reached} of {acted}");
        // Elements for which the app gives no words cannot be named.
        assert!(named * 100 >= acted * 97, "{platform}: {named} of {acted}");
    }
}

/// Everything on a screen except positions and focus.
fn content(snapshot: &Snapshot) -> Vec<String> {
    let describe = |e: &mdm_core::screen::element::Element| {
        format!(
            "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            e.class,
            e.text,
            e.description,
            e.stable_id,
            e.value,
            e.state.checked,
            e.state.selected,
            e.state.enabled
        )
    };
    snapshot.elements.iter().map(describe).collect()
}

#[test]
fn a_click_is_a_relevant_change_and_a_second_capture_is_not() {
    for platform in ["android", "ios"] {
        let (mut changed, mut relevant, mut same, mut silent, mut again, mut quiet) = (0, 0, 0, 0, 0, 0);
        for folder in folders(platform) {
            for pair in steps(&folder).windows(2) {
                let (Some(before), Some(after)) = (pair[0].load(&folder), pair[1].load(&folder)) else {
                    continue;
                };
                let differs = content(&before) != content(&after) || before.screen != after.screen;
                let mut tracker = Tracker::default();
                tracker.observe(before, 0);
                let looked_only = pair[0].action.as_ref().is_none_or(|action| action.kind == "oracle");
                if !looked_only {
                    tracker.note_action();
                }
                let diff = tracker.observe(after, 1).diff.clone();
                if looked_only {
                    again += 1;
                    quiet += usize::from(!diff.is_relevant());
                    if diff.is_relevant() {
                        println!(
                            "second look: {platform} {} {:?} +{} -{} ~{}",
                            folder.file_name().unwrap().display(),
                            diff.kind,
                            diff.added.len(),
                            diff.removed.len(),
                            diff.changed.len()
                        );
                    }
                } else if differs {
                    changed += 1;
                    relevant += usize::from(diff.is_relevant());
                } else {
                    same += 1;
                    silent += usize::from(!diff.is_relevant());
                }
            }
        }
        println!(
            "{platform}: relevant are {relevant} of {changed} changes after an action; not relevant are {silent} of {same} \
             captures after an action that changed nothing and {quiet} of {again} second looks"
        );
        assert_eq!((silent, quiet), (same, again), "{platform}");
        assert_eq!(relevant, changed, "{platform}");
    }
}
