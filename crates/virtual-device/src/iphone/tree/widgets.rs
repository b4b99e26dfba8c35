//! Draws an app's widgets, each framework in its own way.

use super::{frame, wrap};
use crate::app::datum::DrawingOrder;
use crate::app::geometry::{Rect, Screen};
use crate::app::widget::{Appearance, Style, Widget};
use crate::iphone::element::{ElementValue, UiElement};
use crate::surface::Scene;

const BULLET: &str = "•";

/// Draws the widgets of one window.
pub struct Drawing<'a> {
    style: Style,
    package: &'a str,
    scene: &'a Scene,
    screen: &'a Screen,
    order: DrawingOrder,
}

impl<'a> Drawing<'a> {
    pub fn new(window: &Widget, scene: &'a Scene, screen: &'a Screen) -> Drawing<'a> {
        let style = window.window.map_or(Style::View, |about| about.style);
        Drawing { style, package: scene.package, scene, screen, order: window.drawing_order() }
    }

    pub fn style(&self) -> Style {
        self.style
    }

    /// Returns how many plain views the framework puts around a screen.
    pub fn wrappers(&self) -> usize {
        match self.style {
            Style::View | Style::WebView => 3,
            Style::Compose => 1,
            Style::ReactNative => 8,
            Style::Flutter => 4,
            Style::Game => 1,
        }
    }

    /// Returns the content of a whole window.
    pub fn content(&self, root: &Widget) -> Vec<UiElement> {
        if self.style == Style::WebView {
            return self.web_screen(root);
        }
        root.children.iter().flat_map(|child| self.elements(child)).collect()
    }

    /// Returns what accessibility hears of a widget: nothing, itself, or what is in it.
    pub fn elements(&self, w: &Widget) -> Vec<UiElement> {
        if w.resource_id.ends_with(":id/toolbar") && self.style != Style::Flutter {
            return vec![self.navigation_bar(w)];
        }
        if let Some(kind) = leaf_kind(w) {
            return vec![self.leaf(kind, w)];
        }
        if w.class.ends_with("NumberPicker") {
            return vec![self.picker(w)];
        }
        if let Some(tabs) = tabs(w) {
            return vec![self.segments(w, &tabs)];
        }
        if w.flags.clickable || w.flags.long_clickable {
            return vec![self.touchable(w)];
        }
        if w.flags.scrollable || w.class.ends_with("ScrollView") {
            return vec![self.scroll_view(w)];
        }
        let children: Vec<UiElement> = w.children.iter().flat_map(|child| self.elements(child)).collect();
        self.container(w, children)
    }

    /// A plain container: UIKit and React Native have a view for it, the others have nothing.
    fn container(&self, w: &Widget, children: Vec<UiElement>) -> Vec<UiElement> {
        if children.is_empty() {
            return children;
        }
        let keeps = match self.style {
            Style::View | Style::WebView => children.len() > 1 && !is_furniture(w),
            Style::ReactNative => true,
            Style::Compose | Style::Flutter | Style::Game => false,
        };
        if !keeps || children.iter().any(|child| child.kind == "NavigationBar") {
            return children;
        }
        let mut other = self.base("Other", w);
        other.accessible = false;
        if self.style == Style::ReactNative {
            // A view without a label of its own says what its children say.
            other.label = spoken(w).join(" ");
        }
        other.children = children;
        vec![other]
    }

    fn base(&self, kind: &'static str, w: &Widget) -> UiElement {
        let mut element = UiElement::new(kind, frame(&w.bounds));
        element.identifier = self.identifier(w);
        element.enabled = !w.flags.disabled;
        element.visible = !w.visible.is_empty() && !self.under_keyboard(&w.visible);
        element.focused = w.flags.focused;
        element.datum.clone_from(&w.datum);
        element.takes_taps = w.flags.clickable;
        element.drawn_at = self.order.of(w);
        element.unclipped = Some(w.visible);
        element
    }

    /// Returns the app's own test id. What only Android has a name for has none here, and Flutter gives none.
    fn identifier(&self, w: &Widget) -> String {
        let furniture = matches!(self.style, Style::Flutter | Style::Game) || is_furniture(w);
        let own = w.resource_id.split_once(":id/").filter(|(package, _)| *package == self.package);
        own.filter(|_| !furniture).map(|(_, name)| name.to_owned()).unwrap_or_default()
    }

    fn under_keyboard(&self, visible: &Rect) -> bool {
        self.scene.keyboard.is_some() && visible.top >= self.screen.keyboard().top
    }

    /// Draws a control or a text that has nothing inside for accessibility.
    pub fn leaf(&self, kind: &'static str, w: &Widget) -> UiElement {
        let mut element = self.base(kind, w);
        element.accessible = true;
        let separator = if self.style == Style::Flutter { "\n" } else { ", " };
        element.label = match kind {
            "TextField" | "SecureTextField" | "SearchField" | "TextView" => w.description.clone(),
            "ActivityIndicator" => "In progress".to_owned(),
            _ => spoken(w).join(separator),
        };
        if kind == "Icon" {
            element.identifier.clone_from(&element.label);
        }
        element.placeholder.clone_from(&w.hint);
        element.value = value(kind, w);
        let on = w.flags.selected || w.flags.checkable && w.flags.checked;
        element.selected = on && kind != "Switch";
        element.traits = traits(kind, &element);
        element
    }

    /// Draws something with content that takes taps.
    fn touchable(&self, w: &Widget) -> UiElement {
        match self.style {
            Style::View | Style::WebView if w.appearance == Appearance::Row => self.cell(w),
            Style::View | Style::WebView => {
                let mut button = self.leaf("Button", w);
                button.children = w.children.iter().flat_map(|child| self.elements(child)).collect();
                // The button speaks for its texts.
                for_all(&mut button.children, &mut |e| {
                    e.accessible &= e.kind == "Button" || e.kind == "Switch"
                });
                button
            }
            Style::Compose | Style::Flutter | Style::Game => {
                let mut button = self.leaf("Button", w);
                button.children = controls(w).flat_map(|child| self.elements(child)).collect();
                button
            }
            Style::ReactNative => {
                let mut other = self.leaf("Other", w);
                other.label = spoken(w).join(" ");
                other.traits = traits("Other", &other);
                other.children = controls(w).flat_map(|child| self.elements(child)).collect();
                other
            }
        }
    }

    fn navigation_bar(&self, w: &Widget) -> UiElement {
        let mut bar = self.base("NavigationBar", w);
        let title = w.find(&|inside| inside.appearance == Appearance::Heading);
        let title = title.or_else(|| self.scene.window.find(&|w| w.appearance == Appearance::Heading));
        bar.identifier = title.map(|title| title.text.clone()).unwrap_or_default();
        bar.children = w.children.iter().flat_map(|child| self.elements(child)).collect();
        for text in bar.children.iter_mut().filter(|e| e.kind == "StaticText") {
            text.traits.push("Header");
        }
        bar
    }

    fn picker(&self, w: &Widget) -> UiElement {
        let mut picker = self.base("Picker", w);
        let mut wheel = UiElement::new("PickerWheel", picker.frame);
        let shown = w.children.get(1).map(|value| value.text.clone()).unwrap_or_default();
        wheel.value = Some(ElementValue::Text(shown));
        wheel.visible = picker.visible;
        wheel.accessible = true;
        wheel.traits = vec!["Adjustable"];
        wheel.datum.clone_from(&w.datum);
        picker.children.push(wheel);
        picker
    }

    fn segments(&self, w: &Widget, tabs: &[&Widget]) -> UiElement {
        let low = w.bounds.top > self.screen.height * 3 / 4;
        let mut bar = self.base(if low { "TabBar" } else { "SegmentedControl" }, w);
        if low {
            bar.label = "Tab Bar".to_owned();
            bar.traits = vec!["TabBar"];
        }
        bar.children = tabs.iter().map(|tab| self.leaf("Button", tab)).collect();
        bar
    }

    fn scroll_view(&self, w: &Widget) -> UiElement {
        let list = w.flags.scrollable && !w.class.ends_with("ScrollView");
        let mut view = self.base(self.scroll_kind(w, list), w);
        view.children = match (list, self.style) {
            (true, Style::View | Style::WebView | Style::Compose) => {
                w.children.iter().map(|row| self.cell(row)).collect()
            }
            _ => {
                let inside: Vec<UiElement> = w.children.iter().flat_map(|row| self.elements(row)).collect();
                let around = content_frame(w, self.scroll_most(w));
                wrap("Other", frame(&around), 1, inside)
            }
        };
        if w.flags.scrollable && matches!(self.style, Style::View | Style::Compose | Style::ReactNative) {
            view.children.push(self.scroll_bar(w));
        }
        view
    }

    fn scroll_kind(&self, w: &Widget, list: bool) -> &'static str {
        match self.style {
            Style::View | Style::WebView if list && !w.scrolls_sideways() => "Table",
            Style::View | Style::WebView | Style::Compose if list => "CollectionView",
            _ => "ScrollView",
        }
    }

    fn scroll_most(&self, w: &Widget) -> i32 {
        let known = self.scene.scroll_most.iter().find(|(key, _)| Some(*key) == w.key);
        known.map_or(0, |(_, most)| (*most).max(0))
    }

    /// The bar that tells how much there is and where one is.
    fn scroll_bar(&self, w: &Widget) -> UiElement {
        let (most, place) = (self.scroll_most(w), frame(&w.bounds));
        let sideways = w.scrolls_sideways();
        let length = if sideways { w.bounds.width() } else { w.bounds.height() }.max(1);
        let pages = 1 + most / length + i32::from(most % length > 0);
        let percent = if most == 0 { 0 } else { i64::from(w.scroll_px) * 100 / i64::from(most) };
        let mut bar = self.base("Other", w);
        bar.identifier.clear();
        bar.datum = None;
        let way = if sideways { "Horizontal" } else { "Vertical" };
        bar.label = format!("{way} scroll bar, {pages} page{}", if pages == 1 { "" } else { "s" });
        bar.value = Some(ElementValue::Text(format!("{percent}%")));
        bar.accessible = true;
        bar.traits = vec!["Adjustable"];
        if sideways {
            (bar.frame.y, bar.frame.height) = (place.y + place.height - 33.0, 30.0);
        } else {
            (bar.frame.x, bar.frame.width) = (place.x + place.width - 33.0, 30.0);
        }
        bar
    }

    /// A row of a list. One that takes taps speaks for its texts; in another each text speaks for itself.
    fn cell(&self, row: &Widget) -> UiElement {
        let mut cell = self.base("Cell", row);
        let mut inside: Vec<UiElement> = match leaf_kind(row) {
            Some(kind) => vec![self.leaf(kind, row)],
            None => row.children.iter().flat_map(|child| self.elements(child)).collect(),
        };
        if row.flags.clickable || row.flags.long_clickable {
            cell.label = spoken(row).join(", ");
            cell.accessible = true;
            cell.selected = row.flags.selected;
            self.speak_for_switch(&mut cell, &mut inside);
        }
        cell.children =
            if self.style == Style::Compose { wrap("Other", cell.frame, 1, inside) } else { inside };
        cell
    }

    /// A row around one nameless switch has its value, and the switch has the row's label.
    fn speak_for_switch(&self, cell: &mut UiElement, inside: &mut [UiElement]) {
        let nameless = |e: &&mut UiElement| e.kind == "Switch" && e.label.is_empty();
        if let Some(switch) = inside.iter_mut().find(nameless) {
            switch.label.clone_from(&cell.label);
            cell.value.clone_from(&switch.value);
        }
    }

    /// A screen whose body is a web page: only the bar is the app's own.
    fn web_screen(&self, root: &Widget) -> Vec<UiElement> {
        let (body, above) = match root.children.split_last() {
            Some((body, above)) => (body, above),
            None => return Vec::new(),
        };
        let mut all: Vec<UiElement> = above.iter().flat_map(|child| self.elements(child)).collect();
        let mut page = self.base("Other", body);
        page.identifier.clear();
        page.label = "Help centre".to_owned();
        page.children = body.children.iter().flat_map(|child| self.web_elements(child)).collect();
        let place = page.frame;
        all.extend(wrap("WebView", place, 3, vec![page]));
        all
    }

    /// Pages have no test ids; a text that leads somewhere is a link around its text.
    fn web_elements(&self, w: &Widget) -> Vec<UiElement> {
        let inside = |w: &Widget| w.children.iter().flat_map(|child| self.web_elements(child)).collect();
        let mut element = match leaf_kind(w) {
            Some(kind) => self.leaf(kind, w),
            None if w.flags.clickable => {
                let mut link = self.leaf("Link", w);
                link.children = inside(w);
                link
            }
            None => return inside(w),
        };
        element.identifier.clear();
        vec![element]
    }
}

/// Returns true for what Android's libraries put around an app's content.
fn is_furniture(w: &Widget) -> bool {
    const NAMES: [&str; 14] = [
        "app_bar",
        "fragment_container",
        "action_bar_root",
        "content",
        "toolbar",
        "buttonPanel",
        "parentPanel",
        "topPanel",
        "title_template",
        "titleDividerNoCustom",
        "contentPanel",
        "scrollView",
        "customPanel",
        "custom",
    ];
    let name = w.resource_id.split_once(":id/").map_or("", |(_, name)| name);
    NAMES.contains(&name)
}

/// Returns the kind of a widget that accessibility does not look into; nothing for containers.
fn leaf_kind(w: &Widget) -> Option<&'static str> {
    let kind = match w.appearance {
        Appearance::Field if w.flags.password => "SecureTextField",
        Appearance::Field if w.resource_id.contains("search") => "SearchField",
        Appearance::Field => "TextField",
        Appearance::Button | Appearance::TextButton | Appearance::DropDown => "Button",
        Appearance::Tab | Appearance::Radio => "Button",
        Appearance::Switch | Appearance::CheckBox => "Switch",
        look if look.slider().is_some() => "Slider",
        Appearance::Spinner => "ActivityIndicator",
        Appearance::Icon => "Icon",
        Appearance::Picture if w.flags.clickable => "Button",
        Appearance::Picture => "Image",
        Appearance::Heading | Appearance::Body | Appearance::Error | Appearance::Caption => {
            if w.flags.clickable { "Button" } else { "StaticText" }
        }
        _ if w.children.is_empty() && !spoken(w).is_empty() => {
            if w.flags.clickable {
                "Button"
            } else {
                "StaticText"
            }
        }
        _ if w.children.is_empty() && w.flags.clickable => "Button",
        _ => return None,
    };
    Some(kind)
}

fn value(kind: &str, w: &Widget) -> Option<ElementValue> {
    match kind {
        "SecureTextField" => Some(ElementValue::Text(BULLET.repeat(w.text.chars().count()))),
        "TextField" | "SearchField" | "TextView" => Some(ElementValue::Text(w.text.clone())),
        "Slider" => w.appearance.slider().map(|at| ElementValue::Fraction(f64::from(at))),
        "Switch" => Some(ElementValue::On(w.flags.checked)),
        "ActivityIndicator" => Some(ElementValue::Text("1".to_owned())),
        _ => None,
    }
}

/// Returns the traits by their names in WebDriverAgent.
fn traits(kind: &str, element: &UiElement) -> Vec<&'static str> {
    let mut traits: Vec<&'static str> = match kind {
        "Button" | "Icon" => vec!["Button"],
        "Switch" => vec!["Button", "ToggleButton"],
        "StaticText" => vec!["StaticText"],
        "Image" => vec!["Image"],
        "Slider" => vec!["Adjustable"],
        "SearchField" => vec!["SearchField"],
        "Link" => vec!["Link"],
        "ActivityIndicator" => vec!["UpdatesFrequently"],
        _ => Vec::new(),
    };
    if element.selected {
        traits.push("Selected");
    }
    if !element.enabled {
        traits.push("NotEnabled");
    }
    traits
}

/// Returns the tabs of a bar of tabs.
fn tabs(w: &Widget) -> Option<Vec<&Widget>> {
    let bar = if w.children.len() == 1 { w.children.first()? } else { w };
    let is_tab = |child: &Widget| {
        let looks = |w: &Widget| w.appearance == Appearance::Tab;
        looks(child) || child.flags.clickable && child.children.len() == 1 && child.children.iter().all(looks)
    };
    let all = bar.children.len() > 1 && bar.children.iter().all(is_tab);
    all.then(|| bar.children.iter().collect())
}

/// Returns what is said of a widget: its description or else its text, or else what is in it.
fn spoken(w: &Widget) -> Vec<String> {
    let own = if w.description.is_empty() { &w.text } else { &w.description };
    if !own.is_empty() {
        return vec![own.clone()];
    }
    w.children.iter().filter(|child| child.appearance != Appearance::Field).flat_map(spoken).collect()
}

/// Returns the innermost controls in a touchable, which it cannot speak for.
fn controls(w: &Widget) -> impl Iterator<Item = &Widget> {
    let mut found = Vec::new();
    for child in &w.children {
        child.walk(&mut |inside| {
            if inside.flags.clickable || inside.appearance.slider().is_some() {
                found.push(inside);
            }
        });
    }
    found.into_iter()
}

fn for_all(elements: &mut [UiElement], act: &mut dyn FnMut(&mut UiElement)) {
    for element in elements {
        act(element);
        for_all(&mut element.children, act);
    }
}

/// Returns the place of a scroll view's content as far as it reaches.
fn content_frame(w: &Widget, most: i32) -> Rect {
    if w.scrolls_sideways() {
        let left = w.bounds.left - w.scroll_px;
        return Rect { left, right: left + w.bounds.width() + most, ..w.bounds };
    }
    let top = w.bounds.top - w.scroll_px;
    Rect { top, bottom: top + w.bounds.height() + most, ..w.bounds }
}
