//! Computes which part of each element is visible.

use crate::screen::element::{Element, Role};
use crate::screen::geometry::Rect;
use crate::screen::snapshot::Snapshot;

/// Returns each element's bounds, clipped by the screen and by its scrolling ancestors; `None` if nothing is left.
///
/// Other ancestors do not clip: in real dumps, root nodes often end above the navigation bar while buttons of the app
/// lie below that edge. A screen of unknown size (zero by zero) has no right and bottom edge.
pub fn visible_rects(snapshot: &Snapshot) -> Vec<Option<Rect>> {
    let screen = snapshot.size.rect();
    let window = if screen.is_empty() { Rect::new(0, 0, i32::MAX, i32::MAX) } else { screen };
    let mut rects = Vec::with_capacity(snapshot.elements.len());
    // The rectangle to which each element clips its children.
    let mut clips: Vec<Option<Rect>> = Vec::with_capacity(snapshot.elements.len());
    for element in &snapshot.elements {
        // An element whose parent does not come before it is treated as a root.
        let parent = element.parent.and_then(|parent| clips.get(parent as usize)).copied();
        let clip = parent.unwrap_or(Some(window)).filter(|_| element.displayed != Some(false));
        let clipped = clip.and_then(|clip| element.bounds.intersection(clip));
        // The platform's flag wins over our geometry: it cuts bounds at its own screen edge, but leaves bounds that
        // lie wholly outside it.
        let stated = || element.bounds.intersection(window).filter(|_| element.displayed == Some(true));
        let visible = clipped.or_else(|| clip.and(stated()));
        clips.push(if clips_children(element) { visible } else { clip });
        rects.push(visible);
    }
    rects
}

fn clips_children(element: &Element) -> bool {
    element.affordances.scrollable || matches!(element.role, Role::List | Role::WebView)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::element::Affordances;
    use crate::screen::geometry::Size;

    fn element(parent: Option<u32>, bounds: Rect) -> Element {
        Element { parent, bounds, ..Element::default() }
    }

    fn scrolling(element: Element) -> Element {
        let affordances = Affordances { scrollable: true, ..Affordances::default() };
        Element { affordances, ..element }
    }

    #[test]
    fn the_screen_and_scroll_containers_clip() {
        let snapshot = Snapshot {
            elements: vec![
                element(None, Rect::new(-10, 0, 100, 100)),
                scrolling(element(Some(0), Rect::new(0, 20, 100, 60))),
                element(Some(1), Rect::new(0, 50, 100, 90)),
                element(Some(1), Rect::new(0, 60, 100, 90)),
                element(Some(0), Rect::new(0, 150, 50, 250)),
            ],
            size: Size { width: 80, height: 200 },
            ..Snapshot::default()
        };
        let expect = [
            Some(Rect::new(0, 0, 80, 100)),
            Some(Rect::new(0, 20, 80, 60)),
            Some(Rect::new(0, 50, 80, 60)),
            None,
            Some(Rect::new(0, 150, 50, 200)),
        ];
        assert_eq!(visible_rects(&snapshot), expect);
    }

    #[test]
    fn elements_marked_displayed_are_not_clipped_away() {
        let list = scrolling(element(None, Rect::new(0, 0, 10, 10)));
        let below = Rect::new(0, 12, 10, 20);
        let stated = Element { displayed: Some(true), ..element(Some(0), below) };
        let elements = vec![list, element(Some(0), below), stated];
        let rects = visible_rects(&Snapshot { elements, ..Snapshot::default() });
        assert_eq!(rects[1..], [None, Some(below)]);
    }

    #[test]
    fn elements_marked_not_displayed_hide_their_descendants() {
        let bounds = Rect::new(0, 0, 10, 10);
        let hidden = Element { displayed: Some(false), ..element(None, bounds) };
        let elements = vec![hidden, element(Some(0), bounds)];
        assert_eq!(visible_rects(&Snapshot { elements, ..Snapshot::default() }), [None, None]);
    }

    #[test]
    fn a_screen_of_unknown_size_clips_only_left_and_top() {
        let elements =
            vec![element(None, Rect::new(-10, 0, 9000, 100)), element(None, Rect::new(-10, 0, 0, 100))];
        let rects = visible_rects(&Snapshot { elements, ..Snapshot::default() });
        assert_eq!(rects, [Some(Rect::new(0, 0, 9000, 100)), None]);
    }
}
