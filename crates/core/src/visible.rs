//! What of each element can be seen.

use crate::element::Element;
use crate::geometry::Rect;
use crate::snapshot::Snapshot;

/// For each element, its bounds clipped by its ancestors and the screen; `None` when nothing is left of them.
/// A screen of unknown size (zero by zero) does not clip.
pub fn visible_rects(snapshot: &Snapshot) -> Vec<Option<Rect>> {
    let screen = snapshot.size.rect();
    let window = (!screen.is_empty()).then_some(screen);
    let mut rects: Vec<Option<Rect>> = Vec::with_capacity(snapshot.elements.len());
    for element in &snapshot.elements {
        // An element whose parent does not come before it is treated as a root.
        let parent = element.parent.and_then(|parent| rects.get(parent as usize)).copied();
        rects.push(visible_part(element, parent, window));
    }
    rects
}

fn visible_part(element: &Element, parent: Option<Option<Rect>>, window: Option<Rect>) -> Option<Rect> {
    if element.displayed == Some(false) || element.bounds.is_empty() {
        return None;
    }
    match (parent, window) {
        (Some(parent), _) => element.bounds.intersection(parent?),
        (None, Some(window)) => element.bounds.intersection(window),
        (None, None) => Some(element.bounds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Size;

    fn element(parent: Option<u32>, bounds: Rect) -> Element {
        Element { parent, bounds, ..Element::default() }
    }

    #[test]
    fn ancestors_and_the_screen_clip() {
        let snapshot = Snapshot {
            elements: vec![
                element(None, Rect::new(-10, 0, 100, 100)),
                element(Some(0), Rect::new(50, 50, 150, 150)),
                element(Some(1), Rect::new(120, 60, 140, 80)),
                Element { displayed: Some(false), ..element(Some(0), Rect::new(0, 0, 10, 10)) },
            ],
            size: Size { width: 80, height: 200 },
            ..Snapshot::default()
        };
        let expect = [Some(Rect::new(0, 0, 80, 100)), Some(Rect::new(50, 50, 80, 100)), None, None];
        assert_eq!(visible_rects(&snapshot), expect);
    }

    #[test]
    fn a_screen_of_unknown_size_does_not_clip() {
        let bounds = Rect::new(-10, 0, 100, 100);
        let snapshot = Snapshot { elements: vec![element(None, bounds)], ..Snapshot::default() };
        assert_eq!(visible_rects(&snapshot), [Some(bounds)]);
    }
}
