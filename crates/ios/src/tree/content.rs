//! The part of a screen that may scroll, where the tree has no containers.
//!
//! Trees of idb tell what VoiceOver stops at and few things around it. What lies between the bars is put into an element of its
//! own, so that it can be swiped like a container that was told. A swipe that moves nothing is found out by looking.

use mdm_core::screen::element::{Affordances, Element, Role};
use mdm_core::screen::geometry::Rect;
use mdm_core::screen::snapshot::Snapshot;

use super::role::short_type;

/// The class of the element that is not the platform's.
pub const CLASS: &str = "Content";
/// A bar lies across most of the screen and along less than this part of it. A keyboard is one too.
const BAR_WIDTH_PERCENT_MIN: i64 = 60;
/// Share of the screen's height that a bar takes at most, in percent.
const BAR_HEIGHT_PERCENT_MAX: i64 = 45;

/// Gathers what lies between the bars, unless something is known to scroll.
pub fn gather(snapshot: &mut Snapshot) {
    let scrolls = |element: &Element| element.affordances.scrollable && element.role != Role::TextField;
    let top = snapshot.elements.first().filter(|top| short_type(&top.class) == "Application");
    let Some(screen) = top.map(|top| top.bounds) else { return };
    if snapshot.elements.iter().any(scrolls) {
        return;
    }
    let children: Vec<usize> = snapshot.children(0).collect();
    let area = between_bars(snapshot, screen, &children);
    let area = beside_scroll_bar(snapshot, screen, &children)
        .and_then(|part| part.intersection(area))
        .unwrap_or(area);
    if let Some((first, end)) = longest_run(snapshot, (screen, area), &children).filter(|_| !area.is_empty())
    {
        insert(snapshot, first, end, area);
    }
}

fn is_bar(element: &Element, screen: Rect) -> bool {
    let percent = |part: i32, whole: i32| i64::from(part) * 100 / i64::from(whole.max(1));
    short_type(&element.class) == "Group"
        && percent(element.bounds.width(), screen.width()) >= BAR_WIDTH_PERCENT_MIN
        && percent(element.bounds.height(), screen.height()) < BAR_HEIGHT_PERCENT_MAX
}

/// The indexes from the first to the end of the most elements in the area that follow each other without a bar.
fn longest_run(
    snapshot: &Snapshot,
    (screen, area): (Rect, Rect),
    children: &[usize],
) -> Option<(usize, usize)> {
    let is_apart = |index: &usize| {
        let element = &snapshot.elements[*index];
        is_bar(element, screen) || element.bounds.intersection(area).is_none_or(Rect::is_empty)
    };
    let runs = children.split(is_apart).filter(|run| !run.is_empty());
    let run = runs.max_by_key(|run| run.len())?;
    Some((*run.first()?, snapshot.elements[*run.last()?].end as usize))
}

fn between_bars(snapshot: &Snapshot, screen: Rect, children: &[usize]) -> Rect {
    let bars =
        children.iter().map(|index| &snapshot.elements[*index]).filter(|element| is_bar(element, screen));
    let mut area = screen;
    for bar in bars.map(|bar| bar.bounds) {
        if bar.center().y < screen.center().y {
            area.top = area.top.max(bar.bottom);
        } else {
            area.bottom = area.bottom.min(bar.top);
        }
    }
    area
}

/// The part of the screen that the tallest scroll bar is for, if there is one.
fn beside_scroll_bar(snapshot: &Snapshot, screen: Rect, children: &[usize]) -> Option<Rect> {
    let bars = children.iter().map(|index| &snapshot.elements[*index]).filter(|element| {
        let is_upright = element.bounds.height() > 2 * element.bounds.width();
        is_upright && element.is_scroll_bar()
    });
    let bar = bars.map(|bar| bar.bounds).max_by_key(|bar| bar.height())?;
    Some(Rect { top: bar.top, bottom: bar.bottom, ..screen })
}

/// Puts an element around those from `first` to `end`, which are children of the application.
fn insert(snapshot: &mut Snapshot, first: usize, end: usize, area: Rect) {
    let (at, app) = (first as u32, snapshot.elements[0].app.clone());
    for (index, element) in snapshot.elements.iter_mut().enumerate() {
        if (first..end).contains(&index) {
            element.depth += 1;
        }
        element.parent = match element.parent {
            Some(0) if (first..end).contains(&index) => Some(at),
            Some(parent) if parent >= at => Some(parent + 1),
            parent => parent,
        };
        if element.end > at {
            element.end += 1;
        }
    }
    let content = Element {
        parent: Some(0),
        end: end as u32 + 1,
        depth: snapshot.elements[0].depth + 1,
        role: Role::Container,
        class: CLASS.into(),
        app,
        bounds: area,
        affordances: Affordances { scrollable: true, ..Affordances::default() },
        ..Element::default()
    };
    snapshot.elements.insert(first, content);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Limits, parse};

    /// A navigation bar with a button, two rows, a tab bar.
    const FLAT: &str = r#"[{"type":"Application","AXLabel":"Shop","frame":{"x":0,"y":0,"width":400,"height":800},"children":[
        {"type":"Group","frame":{"x":0,"y":50,"width":400,"height":50},"children":[
            {"type":"Button","AXLabel":"Back","frame":{"x":0,"y":50,"width":80,"height":50},"children":[]}]},
        {"type":"StaticText","AXLabel":"Milk","frame":{"x":0,"y":100,"width":400,"height":300},"children":[
            {"type":"Button","AXLabel":"Buy","frame":{"x":300,"y":100,"width":80,"height":50},"children":[]}]},
        {"type":"StaticText","AXLabel":"Bread","frame":{"x":0,"y":400,"width":400,"height":300},"children":[]},
        {"type":"Group","frame":{"x":0,"y":720,"width":400,"height":80},"children":[]}]}]"#;

    #[test]
    fn what_lies_between_the_bars_scrolls_and_the_tree_stays_one() {
        let mut snapshot = parse(FLAT.as_bytes(), &Limits::default());
        gather(&mut snapshot);
        let told: Vec<(&str, Option<u32>, u32, u16)> = snapshot
            .elements
            .iter()
            .map(|one| (one.description.as_deref().unwrap_or(&one.class), one.parent, one.end, one.depth))
            .collect();
        assert_eq!(
            told,
            [
                ("Shop", None, 8, 0),
                ("Group", Some(0), 3, 1),
                ("Back", Some(1), 3, 2),
                ("Content", Some(0), 7, 1),
                ("Milk", Some(3), 6, 2),
                ("Buy", Some(4), 6, 3),
                ("Bread", Some(3), 7, 2),
                ("Group", Some(0), 8, 1),
            ]
        );
        assert_eq!(snapshot.elements[3].bounds, Rect::new(0, 100, 400, 720));
        let before = snapshot.clone();
        gather(&mut snapshot);
        assert_eq!(snapshot, before, "something scrolls now");
    }

    #[test]
    fn a_scroll_bar_tells_which_part_scrolls() {
        let bar = r#"{"type":"GenericElement","AXLabel":"Vertical scroll bar, 2 pages","AXValue":"0%",
            "frame":{"x":360,"y":400,"width":30,"height":320},"children":[]},{"type":"Group","frame":{"x":0,"y":720"#;
        let tree = FLAT.replace(r#"{"type":"Group","frame":{"x":0,"y":720"#, bar);
        let mut snapshot = parse(tree.as_bytes(), &Limits::default());
        gather(&mut snapshot);
        let content = snapshot.elements.iter().position(|one| &*one.class == CLASS).expect("content");
        assert_eq!(snapshot.elements[content].bounds, Rect::new(0, 400, 400, 720));
        let inside: Vec<usize> = snapshot.children(content).collect();
        assert_eq!(inside.len(), 2, "the row beside the bar and the bar, not the row above");
    }

    #[test]
    fn a_tree_without_content_stays_as_it_is() {
        for tree in
            ["[]", r#"[{"type":"Application","frame":{"x":0,"y":0,"width":4,"height":8},"children":[]}]"#]
        {
            let mut snapshot = parse(tree.as_bytes(), &Limits::default());
            let before = snapshot.clone();
            gather(&mut snapshot);
            assert_eq!(snapshot, before);
        }
    }
}
