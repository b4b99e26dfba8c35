//! The widget tree from which the dump, the pixels and hit testing are made.

use super::datum::Datum;
use super::geometry::{Rect, Screen};

/// Identifies a widget of an app. Rows of a list share a name and differ in `index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub name: &'static str,
    pub index: u32,
}

impl Key {
    pub fn of(name: &'static str) -> Key {
        Key { name, index: 0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Appearance {
    /// Draws nothing of itself.
    Plain,
    Page,
    Heading,
    Body,
    Error,
    Field,
    Button,
    TextButton,
    Switch,
    /// A slider at a fraction from 0 to 1, from left to right.
    Slider(f32),
    /// A slider from bottom to top.
    SliderUp(f32),
    /// A slider from right to left.
    SliderLeft(f32),
    Spinner,
    Row,
    Card,
    /// A launcher icon with its label under it.
    Icon,
    /// Small and faint text.
    Caption,
    /// An image, drawn as a plain coloured box.
    Picture,
    CheckBox,
    Radio,
    Tab,
    DropDown,
    /// A popup that dims nothing.
    Menu,
    /// Lies over other widgets and hides them.
    Cover,
}

impl Appearance {
    /// Returns the position of a slider's thumb, from 0 to 1.
    pub fn slider(self) -> Option<f32> {
        match self {
            Appearance::Slider(at) | Appearance::SliderUp(at) | Appearance::SliderLeft(at) => Some(at),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// The space that is left in the parent.
    Fill,
    Dp(i32),
    /// As much as the children need.
    Content,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Column,
    Row,
    /// Children lie over each other, the last on top.
    Stack,
}

/// Facts about a window, at its root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub package: &'static str,
    /// Quarter turns.
    pub rotation: u8,
    pub style: Style,
}

/// The framework that the dump seems to come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    #[default]
    View,
    Compose,
    ReactNative,
    Flutter,
    WebView,
    /// A game: one drawing surface, and nothing that accessibility could see on it.
    Game,
}

/// Where `drawing-order` begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Numbering {
    /// Views are counted from one.
    #[default]
    FromOne,
    /// Compose counts its nodes from zero.
    FromZero,
    /// Flutter and web pages number nothing: each node has zero.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// How accessibility numbers it among its siblings.
    pub numbering: Numbering,
    pub checkable: bool,
    pub checked: bool,
    pub clickable: bool,
    pub disabled: bool,
    pub focusable: bool,
    pub focused: bool,
    pub scrollable: bool,
    pub long_clickable: bool,
    pub password: bool,
    pub selected: bool,
    /// Takes double taps: a single tap counts only when no second one follows.
    pub double_tap: bool,
    /// Can be picked up with a long press.
    pub draggable: bool,
    /// Zooms under two fingers.
    pub zoomable: bool,
    /// Reports that it scrolls but does not, as a list whose layout is suppressed.
    pub locked: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Widget {
    pub class: &'static str,
    pub resource_id: String,
    pub text: String,
    pub description: String,
    pub hint: String,
    pub flags: Flags,
    pub key: Option<Key>,
    /// What it stands for, for tests and never for clients.
    pub datum: Option<Datum>,
    /// Its height over the other children of a stack; among equals the later one is on top.
    pub raised: i32,
    pub appearance: Appearance,
    pub layout: Layout,
    pub width: Size,
    pub height: Size,
    pub padding_dp: i32,
    pub gap_dp: i32,
    pub scroll_px: i32,
    /// How far it can be scrolled; known once it is placed.
    pub scroll_most_px: i32,
    /// The lowest and highest value of a bar, where it names them.
    pub range: Option<(f32, f32)>,
    /// Rows of a list, with those out of sight.
    pub items: Option<u32>,
    /// The place in its list, and true if the list lies sideways.
    pub item: Option<(u32, bool)>,
    /// How many times faster than usual it flings.
    pub glide: i32,
    /// The distance from the corner of a stack.
    pub offset_dp: (i32, i32),
    /// The widget of the activity below which a popup opens.
    pub anchor: Option<Key>,
    pub window: Option<Window>,
    pub children: Vec<Widget>,
    pub bounds: Rect,
    /// The part of `bounds` that no ancestor clips.
    pub visible: Rect,
}

impl Widget {
    pub fn new(class: &'static str) -> Widget {
        Widget {
            class,
            resource_id: String::new(),
            text: String::new(),
            description: String::new(),
            hint: String::new(),
            flags: Flags::default(),
            key: None,
            datum: None,
            raised: 0,
            appearance: Appearance::Plain,
            layout: Layout::Column,
            width: Size::Fill,
            height: Size::Content,
            padding_dp: 0,
            gap_dp: 0,
            scroll_px: 0,
            scroll_most_px: 0,
            range: None,
            items: None,
            item: None,
            glide: 1,
            offset_dp: (0, 0),
            anchor: None,
            window: None,
            children: Vec::new(),
            bounds: Rect::default(),
            visible: Rect::default(),
        }
    }

    pub fn id(mut self, package: &str, name: &str) -> Widget {
        self.resource_id = format!("{package}:id/{name}");
        self
    }

    pub fn text(mut self, text: impl Into<String>) -> Widget {
        self.text = text.into();
        self
    }

    pub fn description(mut self, text: impl Into<String>) -> Widget {
        self.description = text.into();
        self
    }

    pub fn appearance(mut self, appearance: Appearance) -> Widget {
        self.appearance = appearance;
        self
    }

    pub fn layout(mut self, layout: Layout, padding_dp: i32, gap_dp: i32) -> Widget {
        self.layout = layout;
        self.padding_dp = padding_dp;
        self.gap_dp = gap_dp;
        self
    }

    pub fn size(mut self, width: Size, height: Size) -> Widget {
        self.width = width;
        self.height = height;
        self
    }

    /// Makes the widget clickable and focusable, as views with a listener are.
    pub fn on_tap(mut self, key: Key) -> Widget {
        self.key = Some(key);
        self.flags.clickable = true;
        self.flags.focusable = true;
        self
    }

    pub fn enabled(mut self, enabled: bool) -> Widget {
        self.flags.disabled = !enabled;
        self
    }

    pub fn checked(mut self, checked: bool) -> Widget {
        self.flags.checkable = true;
        self.flags.checked = checked;
        self
    }

    pub fn offset(mut self, x_dp: i32, y_dp: i32) -> Widget {
        self.offset_dp = (x_dp, y_dp);
        self
    }

    /// Returns true if it scrolls sideways, as rows do; everything else scrolls up and down.
    pub fn scrolls(mut self, key: Key) -> Widget {
        self.key = Some(key);
        self.flags.scrollable = true;
        self.flags.focusable = true;
        self
    }

    pub fn scrolls_sideways(&self) -> bool {
        self.flags.scrollable && self.layout == Layout::Row
    }

    pub fn child(mut self, child: Widget) -> Widget {
        self.children.push(child);
        self
    }

    pub fn children(mut self, children: impl IntoIterator<Item = Widget>) -> Widget {
        self.children.extend(children);
        self
    }

    fn height_px(&self, screen: &Screen) -> i32 {
        match self.height {
            Size::Dp(dp) => screen.px(dp),
            Size::Fill | Size::Content => self.content_px(screen),
        }
    }

    /// Returns the height of all children together, with padding.
    pub fn content_px(&self, screen: &Screen) -> i32 {
        let heights = self.children.iter().map(|c| c.height_px(screen));
        let inner = match self.layout {
            Layout::Column => {
                let gaps = (self.children.len() as i32 - 1).max(0).saturating_mul(screen.px(self.gap_dp));
                heights.fold(gaps, i32::saturating_add)
            }
            Layout::Row => heights.max().unwrap_or(0),
            Layout::Stack => {
                let bottom = |c: &Widget| screen.px(c.offset_dp.1).saturating_add(c.height_px(screen));
                self.children.iter().map(bottom).max().unwrap_or(0)
            }
        };
        inner.saturating_add(2 * screen.px(self.padding_dp))
    }

    /// Returns the width of all children of a row together, with padding.
    fn content_width_px(&self, screen: &Screen) -> i32 {
        let gaps = (self.children.len() as i32 - 1).max(0).saturating_mul(screen.px(self.gap_dp));
        let widths = self.children.iter().map(|c| if let Size::Dp(dp) = c.width { screen.px(dp) } else { 0 });
        widths.fold(gaps, i32::saturating_add).saturating_add(2 * screen.px(self.padding_dp))
    }

    /// Returns how far this container can scroll when it is placed there.
    pub fn scroll_most(&self, placed: &Rect, screen: &Screen) -> i32 {
        let hidden = if self.scrolls_sideways() {
            self.content_width_px(screen).saturating_sub(placed.width())
        } else {
            self.content_px(screen).saturating_sub(placed.height())
        };
        hidden.max(0)
    }

    /// Gives every widget its bounds. Rows of a recycling list that are wholly out of sight are dropped.
    pub fn place(&mut self, bounds: Rect, clip: Rect, screen: &Screen) {
        self.bounds = bounds;
        self.visible = bounds.intersect(&clip);
        self.scroll_most_px = self.scroll_most(&bounds, screen);
        let inner = bounds.inset(screen.px(self.padding_dp));
        let rects = match self.layout {
            Layout::Column => self.column(inner, screen),
            Layout::Row => self.row(inner, screen),
            Layout::Stack => self.stack(inner, screen),
        };
        let visible = self.visible;
        for (child, rect) in self.children.iter_mut().zip(rects) {
            child.place(rect, visible, screen);
        }
        self.number_rows();
        if self.recycles() {
            self.children.retain(|c| !c.visible.is_empty());
        }
    }

    /// Tells the rows of a list their places, before those out of sight are dropped.
    fn number_rows(&mut self) {
        if !self.class.ends_with("RecyclerView") && !self.class.ends_with("ListView") {
            return;
        }
        let sideways = self.layout == Layout::Row;
        self.items = u32::try_from(self.children.len()).ok();
        for (child, place) in self.children.iter_mut().zip(0u32..) {
            child.item = Some((place, sideways));
        }
    }

    pub(super) fn recycles(&self) -> bool {
        self.flags.scrollable && !self.flags.locked && !self.class.ends_with("ScrollView")
    }

    fn stack(&self, inner: Rect, screen: &Screen) -> Vec<Rect> {
        let place = |child: &Widget| {
            let left = inner.left.saturating_add(screen.px(child.offset_dp.0));
            let top = inner.top.saturating_add(screen.px(child.offset_dp.1));
            let right = if let Size::Dp(dp) = child.width { left + screen.px(dp) } else { inner.right };
            let height =
                if child.height == Size::Fill { inner.bottom - top } else { child.height_px(screen) };
            Rect::new(left, top, right, top.saturating_add(height))
        };
        self.children.iter().map(place).collect()
    }

    fn column(&self, inner: Rect, screen: &Screen) -> Vec<Rect> {
        let gap = screen.px(self.gap_dp);
        let fixed: i32 = self
            .children
            .iter()
            .map(|c| if c.height == Size::Fill { 0 } else { c.height_px(screen) })
            .fold((self.children.len() as i32 - 1).max(0) * gap, i32::saturating_add);
        let fills = self.children.iter().filter(|c| c.height == Size::Fill).count().max(1) as i32;
        let share = (inner.height() - fixed).max(0) / fills;
        let mut top = inner.top - if self.scrolls_sideways() { 0 } else { self.scroll_px };
        let mut rects = Vec::with_capacity(self.children.len());
        for child in &self.children {
            let height = if child.height == Size::Fill { share } else { child.height_px(screen) };
            let right = match child.width {
                Size::Dp(dp) => (inner.left + screen.px(dp)).min(inner.right),
                Size::Fill | Size::Content => inner.right,
            };
            rects.push(Rect::new(inner.left, top, right, top.saturating_add(height)));
            top = top.saturating_add(height).saturating_add(gap);
        }
        rects
    }

    fn row(&self, inner: Rect, screen: &Screen) -> Vec<Rect> {
        let gap = screen.px(self.gap_dp);
        let fixed: i32 = self
            .children
            .iter()
            .map(|c| if let Size::Dp(dp) = c.width { screen.px(dp) } else { 0 })
            .fold((self.children.len() as i32 - 1).max(0) * gap, i32::saturating_add);
        let fills = self.children.iter().filter(|c| !matches!(c.width, Size::Dp(_))).count().max(1) as i32;
        let share = (inner.width() - fixed).max(0) / fills;
        let mut left = inner.left - if self.scrolls_sideways() { self.scroll_px } else { 0 };
        let mut rects = Vec::with_capacity(self.children.len());
        for child in &self.children {
            let width = if let Size::Dp(dp) = child.width { screen.px(dp) } else { share };
            let height = match child.height {
                Size::Fill => inner.height(),
                _ => child.height_px(screen),
            };
            let top = inner.top + (inner.height() - height) / 2;
            rects.push(Rect::new(left, top, left + width, top + height));
            left += width + gap;
        }
        rects
    }

    /// Returns the topmost widget at a point for which `wanted` holds; later children lie over earlier ones.
    pub fn hit(&self, x: i32, y: i32, wanted: &dyn Fn(&Widget) -> bool) -> Option<&Widget> {
        if !self.visible.contains(x, y) {
            return None;
        }
        let below = self.drawn().into_iter().rev().find_map(|child| child.hit(x, y, wanted));
        below.or_else(|| wanted(self).then_some(self))
    }

    /// Returns all widgets at a point for which `wanted` holds, the innermost first.
    pub fn hits<'a>(&'a self, x: i32, y: i32, wanted: &dyn Fn(&Widget) -> bool) -> Vec<&'a Widget> {
        if !self.visible.contains(x, y) {
            return Vec::new();
        }
        let below = self.drawn().into_iter().rev().map(|child| child.hits(x, y, wanted));
        let mut found = below.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
        if wanted(self) {
            found.push(self);
        }
        found
    }

    pub fn find(&self, wanted: &dyn Fn(&Widget) -> bool) -> Option<&Widget> {
        if wanted(self) { Some(self) } else { self.children.iter().find_map(|c| c.find(wanted)) }
    }

    pub fn find_mut(&mut self, wanted: &dyn Fn(&Widget) -> bool) -> Option<&mut Widget> {
        if wanted(self) { Some(self) } else { self.children.iter_mut().find_map(|c| c.find_mut(wanted)) }
    }

    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Widget)) {
        visit(self);
        for child in &self.children {
            child.walk(visit);
        }
    }

    pub fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Widget)) {
        visit(self);
        for child in &mut self.children {
            child.walk_mut(visit);
        }
    }
}
