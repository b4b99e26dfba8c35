//! All windows as accessibility tells them, and what accessibility does to their nodes.

use std::sync::Arc;

use mdm_wire::helper::{Flags, Node, Tree, Window, WindowFlags};
use tokio::time::{Duration, Instant};

use super::Ui;
use crate::app::geometry::{Rect, Screen};
use crate::app::nodes;
use crate::app::widget::{Appearance, Key, Widget};
use crate::app::workbench::FIELD_CHARS_MAX;
use crate::surface::Performed;
use crate::truth::Hit;

/// Kinds of windows, as `AccessibilityWindowInfo` numbers them.
const APPLICATION: u32 = 1;
const INPUT_METHOD: u32 = 2;
const SYSTEM: u32 = 3;
const KEYBOARD_PACKAGE: &str = "com.android.inputmethod.latin";
const SYSTEMUI: &str = "com.android.systemui";
const STATUS_BAR_DP: i32 = 24;
const KEYBOARD_ID: i32 = 2;
const STATUS_BAR_ID: i32 = 3;
/// Views report a movement at most this often.
const TOLD_EVERY: Duration = Duration::from_millis(50);
/// The part of a container's height by which accessibility scrolls it is all of it.
const PAGE: i32 = 1;

impl Ui {
    /// Returns the windows that can be touched. A dialog, a menu or a window of the system takes all touches, so the
    /// activity below it is not told. Toasts are no windows.
    pub(super) fn accessible_tree(&self, screen: &Screen, sdk: u32) -> Tree {
        let (package, activity) = self.front();
        let window = self.active_window(screen);
        let of_system = self.system_window_open();
        let focused = if self.asks_permission() { crate::app::system::GRANT } else { (package, activity) };
        let mut windows = vec![Window {
            id: window_id(focused, &window),
            kind: if of_system { SYSTEM } else { APPLICATION },
            layer: 0,
            flags: WindowFlags(WindowFlags::ACTIVE | WindowFlags::FOCUSED),
            title: self.app(package).map_or("", |app| app.label()).into(),
            bounds: sides(&window.visible),
            parent: None,
            nodes: self.nodes(&window, screen, sdk).into_iter().map(|(node, _)| node).collect(),
        }];
        if self.keyboard {
            windows.push(self.keyboard_window(screen, windows.len()));
        }
        windows.push(status_bar(screen, windows.len()));
        let name = focused.1;
        let component = match name.starts_with('.') {
            true => format!("{0}/{0}{name}", focused.0),
            false => format!("{}/{name}", focused.0),
        };
        Tree {
            width: screen.width.clamp(0, u16::MAX.into()) as u16,
            height: screen.height.clamp(0, u16::MAX.into()) as u16,
            rotation: screen.rotation,
            component,
            complete: true,
            windows,
            ..Tree::default()
        }
    }

    fn nodes<'a>(&self, window: &'a Widget, screen: &Screen, sdk: u32) -> Vec<(Node, &'a Widget)> {
        let most = |widget: &Widget| match widget.key.filter(|_| widget.flags.scrollable) {
            Some(key) => self.scroll_most(key, screen),
            None => 0,
        };
        nodes::of_window(window, self.front().0, sdk, &most)
    }

    /// The keyboard's window is told with its keys; which language it has does not matter here.
    fn keyboard_window(&self, screen: &Screen, layer: usize) -> Window {
        let caps = self.board.caps(screen);
        let key = |label: &str, class: &str, area: &Rect, children| Node {
            flags: Flags(Flags::ENABLED | if label.is_empty() { 0 } else { Flags::CLICKABLE }),
            children,
            class: class.into(),
            package: KEYBOARD_PACKAGE.into(),
            description: label.into(),
            bounds: sides(area),
            ..Node::default()
        };
        let root = key("", "android.widget.FrameLayout", &screen.keyboard(), caps.len());
        let keys = caps
            .iter()
            .map(|(cap, area)| key(&cap.label(), "android.inputmethodservice.Keyboard$Key", area, 0));
        Window {
            id: KEYBOARD_ID,
            kind: INPUT_METHOD,
            layer: layer as i32,
            title: "InputMethod".into(),
            bounds: sides(&screen.keyboard()),
            nodes: [root].into_iter().chain(keys).collect(),
            ..Window::default()
        }
    }

    /// Returns when accessibility may next hear of something: what is due, a list that glides, a picture that moves.
    pub(super) fn next_told(&self, now: Instant) -> Option<Instant> {
        let (package, activity) = self.front();
        let every = self.app(package).and_then(|app| app.frame_every(activity));
        let frame = every.filter(|_| !self.is_silent()).map(|every| {
            let every = every.max(Duration::from_millis(1));
            let frames = now.saturating_duration_since(self.front_since).as_millis() / every.as_millis();
            self.front_since + every * u32::try_from(frames + 1).unwrap_or(u32::MAX)
        });
        let moving = (self.fling.is_some() || self.drag.is_some()).then(|| now + TOLD_EVERY);
        let toast = self.toasts.iter().map(|toast| toast.from).find(|from| *from > now);
        [self.next_due(), frame, moving, toast].into_iter().flatten().min().map(|at| at.max(now))
    }

    /// Acts on a node of [`Ui::accessible_tree`]; nothing when the node does not take the action.
    pub(super) fn perform_on(
        &mut self,
        node: usize,
        action: &Performed,
        screen: &Screen,
        now: Instant,
    ) -> Option<Hit> {
        let window = self.active_window(screen);
        let all = self.nodes(&window, screen, u32::MAX);
        let widget = all.get(node).map(|(_, widget)| (*widget).clone())?;
        let key = widget.key.filter(|_| !widget.flags.disabled)?;
        let package = self.front().0;
        let done = match action {
            Performed::Click if widget.flags.clickable => {
                self.click(package, key, &widget, now);
                true
            }
            Performed::LongClick if widget.flags.long_clickable && !self.system_window_open() => {
                self.with_app(package, now, |app, context| app.long_press(key, context));
                true
            }
            Performed::Focus if widget.flags.focusable => {
                self.focus_on(key, now);
                true
            }
            Performed::SetText(text) if widget.appearance == Appearance::Field => {
                self.replace_text(key, text, now)
            }
            Performed::SetProgress(value) => self.set_progress(key, &widget, *value, now),
            Performed::ScrollForward => self.scroll_page(key, widget.visible, PAGE, screen, now),
            Performed::ScrollBackward => self.scroll_page(key, widget.visible, -PAGE, screen, now),
            _ => false,
        };
        done.then(|| Hit::of(&widget))
    }

    /// A click of accessibility does what a tap does, without a finger.
    fn click(&mut self, package: &'static str, key: Key, widget: &Widget, now: Instant) {
        if self.system_window_open() {
            return self.answer_system_window(key, now);
        }
        if widget.flags.double_tap {
            return self.with_app(package, now, |app, context| app.tap(key, context));
        }
        self.act_on(package, key, widget, (widget.bounds.left, widget.bounds.top), now);
    }

    fn set_progress(&mut self, key: Key, widget: &Widget, value: f32, now: Instant) -> bool {
        let (min, max) = widget.range.unwrap_or((0.0, 100.0));
        let is_within = widget.appearance.slider().is_some() && (min..=max).contains(&value);
        if is_within {
            let fraction = (value.round() - min) / (max - min).max(f32::MIN_POSITIVE);
            let package = self.front().0;
            self.with_app(package, now, |app, context| app.slide(key, fraction, context));
        }
        is_within
    }

    fn scroll_page(&mut self, key: Key, area: Rect, pages: i32, screen: &Screen, now: Instant) -> bool {
        self.scroll_by(key, area.height().saturating_mul(pages), screen, now) != 0
    }

    fn replace_text(&mut self, key: Key, text: &str, now: Instant) -> bool {
        let package = self.front().0;
        let Some(field) = self.apps.get_mut(package).and_then(|app| app.field(key)) else { return false };
        *field = text.chars().take(FIELD_CHARS_MAX).collect();
        let length = field.chars().count();
        if self.focus == Some(key) {
            self.cursor = length;
            self.all_selected = false;
        }
        self.changed(now);
        true
    }
}

/// Numbers a window: another activity or dialog has another number.
fn window_id((package, activity): (&str, &str), root: &Widget) -> i32 {
    let what = root.datum.as_ref().map(|datum| format!("{datum:?}")).unwrap_or_default();
    let bytes = package.bytes().chain(activity.bytes()).chain(what.bytes());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash & 0xffff) as i32 + 10
}

fn status_bar(screen: &Screen, layer: usize) -> Window {
    let area = Rect::new(0, 0, screen.width, screen.px(STATUS_BAR_DP));
    let node = |class: &str, id: &str, children| Node {
        flags: Flags(Flags::ENABLED),
        children,
        class: class.into(),
        package: SYSTEMUI.into(),
        id: id.into(),
        bounds: sides(&area),
        ..Node::default()
    };
    let root = node("android.widget.FrameLayout", "", 1);
    let content = node("android.widget.FrameLayout", "com.android.systemui:id/status_bar_contents", 0);
    Window {
        id: STATUS_BAR_ID,
        kind: SYSTEM,
        layer: layer as i32,
        title: Arc::from("Status bar"),
        bounds: sides(&area),
        nodes: vec![root, content],
        ..Window::default()
    }
}

fn sides(area: &Rect) -> [i32; 4] {
    [area.left, area.top, area.right, area.bottom]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Platform;
    use crate::helpers::DumpTree;
    use crate::surface::Surface;

    const SCREEN: Screen = Screen { width: 1080, height: 2400, density: 420, rotation: 0 };

    fn check(ui: &Ui, what: &str) {
        let dump = DumpTree::read(&String::from_utf8_lossy(&ui.hierarchy(&SCREEN, 36)));
        let tree = ui.accessible_tree(&SCREEN, 36);
        let nodes = &tree.windows[0].nodes;
        assert_eq!(nodes.len(), dump.nodes.len(), "{what}");
        for (node, dumped) in nodes.iter().zip(&dump.nodes) {
            let names = ["class", "package", "resource-id", "text", "content-desc"];
            let told = [&node.class, &node.package, &node.id, &node.text, &node.description];
            for (name, told) in names.into_iter().zip(told) {
                assert_eq!(&**told, dumped.get(name), "{what}: {name}");
            }
            let flags = [
                ("checkable", Flags::CHECKABLE),
                ("checked", Flags::CHECKED),
                ("clickable", Flags::CLICKABLE),
                ("enabled", Flags::ENABLED),
                ("focusable", Flags::FOCUSABLE),
                ("focused", Flags::FOCUSED),
                ("scrollable", Flags::SCROLLABLE),
                ("long-clickable", Flags::LONG_CLICKABLE),
                ("password", Flags::PASSWORD),
                ("selected", Flags::SELECTED),
            ];
            for (name, flag) in flags {
                assert_eq!(node.flags.has(flag), dumped.is(name), "{what}: {name} of {node:?}");
            }
            assert_eq!(node.bounds, sides(&dumped.bounds), "{what}: {node:?}");
            assert_eq!(node.children, dumped.children.len(), "{what}: {node:?}");
            assert_eq!(node.drawing_order.to_string(), dumped.get("drawing-order"), "{what}: {node:?}");
            assert_eq!(node.hint.as_deref().unwrap_or_default(), dumped.get("hint"), "{what}: {node:?}");
        }
        let mut sources: Vec<_> = nodes.iter().map(|node| node.source).collect();
        sources.sort_unstable();
        sources.dedup();
        assert_eq!(sources.len(), nodes.len(), "{what}: two views have one number");
    }

    #[tokio::test(start_paused = true)]
    async fn the_tree_and_the_dump_agree_on_every_screen_of_the_phone() {
        let now = Instant::now();
        let mut ui = Ui::new(now, &[], None, Platform::Android);
        let packages: Vec<&'static str> = ui.apps.keys().copied().collect();
        let mut count = 0;
        for package in packages {
            let activities = ui.app(package).map(|app| app.activities().to_vec()).unwrap_or_default();
            for activity in activities {
                assert!(Ui::launch(&mut ui, package, Some(activity), now), "{package}/{activity}");
                check(&ui, &format!("{package}/{activity}"));
                count += 1;
            }
        }
        assert!(count > 20, "{count} screens");
    }

    #[tokio::test(start_paused = true)]
    async fn a_slider_tells_its_range_and_takes_a_value() {
        let now = Instant::now();
        let mut ui = Ui::new(now, &[], None, Platform::Android);
        Ui::launch(&mut ui, "com.workbench", Some(".SettingsActivity"), now);
        let find = |ui: &Ui| {
            let tree = ui.accessible_tree(&SCREEN, 36);
            let at = tree.windows[0].nodes.iter().position(|node| node.range.is_some());
            at.map(|at| (at, tree.windows[0].nodes[at].clone())).expect("a slider")
        };
        let (at, bar) = find(&ui);
        assert!(bar.actions.iter().any(|action| action.id == nodes::action::SET_PROGRESS), "{bar:?}");
        assert!(ui.perform_on(at, &Performed::SetProgress(83.0), &SCREEN, now).is_some());
        let (_, bar) = find(&ui);
        assert_eq!(
            (bar.range.map(|range| range.current), bar.state_description.as_deref()),
            (Some(83.0), Some("83%"))
        );
        assert_eq!(
            ui.perform_on(at, &Performed::SetProgress(900.0), &SCREEN, now),
            None,
            "outside its range"
        );
    }
}
