//! The logical things behind widgets, for tests and never for clients.
//!
//! A list reuses the views of its rows, so nothing in a dump tells whether a row is still the one that was seen there
//! before. The phone knows.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::widget::{Layout, Widget};

/// What a widget stands for: a part of a thing. No dump shows it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Datum {
    /// Such as "row 17 of orders", "dialog Delete Eggs?" or "screen org.example.shop/.HomeActivity".
    pub thing: Arc<str>,
    /// The name of the control or text within the thing; empty for the thing itself.
    pub part: Cow<'static, str>,
}

impl Datum {
    pub fn of(thing: &str) -> Datum {
        Datum { thing: thing.into(), part: Cow::Borrowed("") }
    }
}

impl std::fmt::Debug for Datum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{self}>")
    }
}

impl std::fmt::Display for Datum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.part.is_empty() {
            f.write_str(&self.thing)
        } else {
            write!(f, "{} of {}", self.part, self.thing)
        }
    }
}

impl Widget {
    /// Says what the widget stands for; what is inside it are parts of that.
    pub fn stands_for(mut self, thing: &str) -> Widget {
        self.datum = Some(Datum::of(thing));
        self
    }

    /// Gives every widget its datum. Rows of lists and what an app named itself are things of their own; everything
    /// else is a part of the thing around it.
    pub(super) fn name_data(&mut self, thing: &str) {
        let datum = self.datum.get_or_insert_with(|| Datum::of(thing)).clone();
        self.name_parts(&datum.thing);
    }

    fn name_parts(&mut self, thing: &Arc<str>) {
        let list = self.recycles().then(|| self.own_name(0));
        for (at, child) in self.children.iter_mut().enumerate() {
            if child.datum.is_none() {
                child.datum = Some(match &list {
                    Some(list) => Datum::of(&format!("{} of {list} in {thing}", child.row_name())),
                    None => Datum { thing: Arc::clone(thing), part: child.own_name(at) },
                });
            }
            let inside =
                child.datum.as_ref().map_or_else(|| Arc::clone(thing), |datum| Arc::clone(&datum.thing));
            child.name_parts(&inside);
        }
    }

    /// Returns a name that no other widget of the same thing has.
    fn own_name(&self, at: usize) -> Cow<'static, str> {
        match (&self.key, self.resource_id.rsplit_once('/')) {
            (Some(key), _) if key.index == 0 => Cow::Borrowed(key.name),
            (Some(key), _) => Cow::Owned(format!("{} {}", key.name, key.index)),
            (None, Some((_, id))) => Cow::Owned(id.to_owned()),
            (None, None) => Cow::Owned(format!("{} {at}", self.class.rsplit('.').next().unwrap_or_default())),
        }
    }

    /// Names a row by the number in its key, or in the first key inside it; without one by its texts.
    fn row_name(&self) -> String {
        if let Some(key) = self.find(&|w| w.key.is_some()).and_then(|w| w.key) {
            return format!("{} {}", key.name, key.index);
        }
        self.spoken()
    }

    /// Returns the texts that take no taps, together.
    pub(super) fn spoken(&self) -> String {
        let mut texts = Vec::new();
        self.walk(&mut |w| {
            if !w.flags.clickable && !w.text.is_empty() {
                texts.push(w.text.as_str());
            }
        });
        texts.join(" ")
    }

    /// Returns the children in the order in which they are drawn, the lowest first: raised ones lie over later ones.
    pub fn drawn(&self) -> Vec<&Widget> {
        let mut children: Vec<&Widget> = self.children.iter().collect();
        if self.layout == Layout::Stack {
            children.sort_by_key(|child| child.raised);
        }
        children
    }

    /// Numbers the widget and everything in it in the order in which they are drawn.
    pub fn drawing_order(&self) -> DrawingOrder {
        let mut order = DrawingOrder::default();
        order.add(self);
        order
    }
}

/// The place of each widget of a window in the order of drawing.
#[derive(Debug, Default)]
pub struct DrawingOrder(BTreeMap<*const Widget, u32>);

impl DrawingOrder {
    fn add(&mut self, widget: &Widget) {
        self.0.insert(std::ptr::from_ref(widget), self.0.len() as u32);
        for child in widget.drawn() {
            self.add(child);
        }
    }

    /// A widget lies over all with smaller numbers.
    pub fn of(&self, widget: &Widget) -> u32 {
        self.0.get(&std::ptr::from_ref(widget)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use crate::app::user::AppFile;
    use crate::truth::{Applied, Hit};
    use crate::{Frame, Phone, PhoneConfig};

    const APP: &str = r#"{"package": "org.example.data", "label": "Data", "start": "Home", "style": "STYLE",
        "lists": {"orders": {"columns": ["title"], "rows": [{"title": "Kowalski"}, {"title": "Kowalski"}]}},
        "dialogs": {"ask": {"title": "Delete {title}?", "answers": [{"text": "No"}, {"text": "Yes", "do": ["remove_row"]}]}},
        "screens": {"Home": {"content": [
            {"type": "stack", "children": [
                {"type": "button", "id": "front", "text": "Front", "raised": 1},
                {"type": "button", "id": "behind", "text": "Behind"}]},
            {"type": "list", "rows": "orders", "on_tap": [{"toast": "{title}"}], "children": [
                {"type": "text", "text": "{title}"},
                {"type": "button", "id": "delete", "text": "Delete", "on_tap": [{"dialog": "ask"}]}]}]}}}"#;

    fn phone(style: &str) -> Phone {
        let apps = vec![AppFile::parse(&APP.replace("STYLE", style)).expect("an app")];
        let phone = Phone::new(PhoneConfig { film: true, apps, ..PhoneConfig::default() });
        phone.with(|state| state.launch("org.example.data", None));
        phone
    }

    fn last_frame(phone: &Phone) -> Frame {
        phone.film().frames.last().cloned().expect("a frame")
    }

    /// Taps the middle of the nth node with a text or description, and returns what it hit.
    fn tap(phone: &Phone, text: &str, nth: usize) -> Hit {
        let frame = last_frame(phone);
        let shown = |node: &&crate::ShownNode| [&node.text, &node.description].into_iter().any(|t| t == text);
        let mut places: Vec<_> = frame.nodes.iter().filter(shown).map(|node| node.visible).collect();
        // Some frameworks say a label twice, on the control and on the text in it.
        places.dedup();
        let (left, top, right, bottom) = places[nth];
        phone.with(|state| state.tap((left + right) / 2, (top + bottom) / 2));
        match phone.truth().inputs.last() {
            Some(Applied::Tap { hit: Some(hit), .. }) => hit.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn datum(hit: &Hit) -> String {
        hit.datum.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    #[tokio::test(start_paused = true)]
    async fn rows_and_dialogs_that_look_alike_are_different_things() {
        let phone = phone("view");
        assert_eq!(datum(&tap(&phone, "Delete", 0)), "delete 1 of row 1 of orders");
        let first = datum(&tap(&phone, "No", 0));
        assert_eq!(datum(&tap(&phone, "Delete", 1)), "delete 2 of row 2 of orders");
        let second = datum(&tap(&phone, "Yes", 0));
        assert!(first.ends_with("of dialog Delete Kowalski?  for row 1 of orders"), "{first}");
        assert!(second.ends_with("of dialog Delete Kowalski?  for row 2 of orders"), "{second}");
        assert_eq!(datum(&tap(&phone, "Kowalski", 0)), "row 1 of orders", "a text is a part of its row");
        let tree = phone.with(|state| state.hierarchy());
        let tree = String::from_utf8_lossy(&tree);
        assert!(!tree.contains("row 1") && tree.contains("Kowalski"), "no client sees it");
    }

    #[tokio::test(start_paused = true)]
    async fn every_framework_keeps_what_its_nodes_stand_for() {
        for style in ["view", "compose", "react_native", "flutter"] {
            let phone = phone(style);
            assert_eq!(datum(&tap(&phone, "Delete", 1)), "delete 2 of row 2 of orders", "{style}");
            let nodes = last_frame(&phone).nodes;
            assert!(nodes.iter().all(|node| node.datum.is_some()), "{style}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_views_and_compose_number_what_they_draw() {
        let orders = |style: &str, of: [&str; 2]| {
            let tree = phone(style).with(|state| state.hierarchy());
            let tree = String::from_utf8_lossy(&tree).into_owned();
            of.map(|part| {
                let node = tree.split("<node").find(|node| node.contains(part)).unwrap_or_default();
                let rest = node.split("drawing-order=\"").nth(1).unwrap_or_default();
                rest.split('"').next().unwrap_or_default().to_owned()
            })
        };
        assert_eq!(orders("view", ["id/behind\"", "id/front\""]), ["1", "2"]);
        assert_eq!(orders("compose", ["\"behind\"", "\"front\""]), ["0", "1"]);
        for style in ["flutter", "web_view"] {
            assert_eq!(orders(style, ["\"Behind\"", "\"Front\""]), ["0", "0"], "{style}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_raised_lies_over_what_comes_later() {
        let phone = phone("view");
        assert_eq!(datum(&tap(&phone, "Behind", 0)), "front of screen org.example.data/.HomeActivity");
        let tree = phone.with(|state| state.hierarchy());
        let tree = String::from_utf8_lossy(&tree);
        let order = |id: &str| {
            let node = tree.split("<node").find(|node| node.contains(id)).unwrap_or_default();
            node.split("drawing-order=\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned)
        };
        assert_eq!((order("id/front"), order("id/behind")), (Some("2".into()), Some("1".into())));
    }
}
