//! The drawn apps as the phone's surface.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use bytes::Bytes;
use mdm_wire::helper::Tree;
use tokio::time::Instant;

use super::{Gesture, Ui};
use crate::app::datum::{Datum, DrawingOrder};
use crate::app::geometry::{Point, Screen};
use crate::app::system::{self, SystemWindow};
use crate::app::widget::{Style, Widget};
use crate::app::xml::{self, shown_text};
use crate::app::{HttpAnswer, Values, nodes};
use crate::draw;
use crate::film::ShownNode;
use crate::surface::{
    Changes, InstalledApp, OutgoingRequest, Performed, Picture, Scene, Surface, SurfaceEvent, SurfaceTruth,
    SystemEvent, Task, Toast, Touch, Windows,
};
use crate::truth::Hit;

impl Surface for Ui {
    fn advance(&mut self, now: Instant) {
        Ui::advance(self, now);
    }

    fn settle(&mut self, screen: &Screen) -> Vec<SurfaceEvent> {
        self.clamp_scroll(screen);
        std::mem::take(&mut self.events)
    }

    fn changes(&self, now: Instant) -> Changes {
        Changes { count: self.changes, reported_at: self.changed_at, visible_at: self.visible_at(now) }
    }

    fn front(&self) -> (&str, &str) {
        Ui::front(self)
    }

    fn hierarchy(&self, screen: &Screen, sdk: u32) -> Bytes {
        Bytes::from(xml::write(&self.active_window(screen), Ui::front(self).0, sdk))
    }

    fn accessible(&self, screen: &Screen, sdk: u32) -> Option<Tree> {
        Some(self.accessible_tree(screen, sdk))
    }

    fn perform(&mut self, node: usize, action: &Performed, screen: &Screen, now: Instant) -> Option<Hit> {
        self.perform_on(node, action, screen, now)
    }

    fn next_change(&self, now: Instant) -> Option<Instant> {
        self.next_told(now)
    }

    fn scene(&self, screen: &Screen, now: Instant) -> Option<Scene> {
        let package = Ui::front(self).0;
        Some(Scene {
            package,
            label: self.app(package).map_or("", |app| app.label()),
            window: self.activity_window(screen),
            dialog: self.dialog_window(screen),
            dialog_of_system: self.system_window_open(),
            scroll_most: self.scroll_ranges(screen),
            keyboard: self.keyboard.then_some(self.board),
            toast: self.toast(now).map(|toast| toast.text.clone()),
        })
    }

    fn picture(&self, screen: &Screen, now: Instant, wall_ms: u64) -> Picture {
        let secure = self.is_secure();
        let scene = draw::Scene {
            screen: *screen,
            dark: self.dark(),
            activity: self.activity_window(screen),
            secure,
            // A secure activity also hides the dialogs of its app, but not those of the system.
            dialog: self.dialog_window(screen).filter(|_| !secure || self.system_window_open()),
            keyboard: self.keyboard.then_some(self.board),
            toast: self.toast(now).map(|toast| toast.text.clone()),
            wall_ms,
        };
        Box::new(move || draw::draw(&scene))
    }

    fn caused_by(&mut self, input: Option<u64>) {
        self.cause = input;
    }

    fn tap(&mut self, at: Point, screen: &Screen, now: Instant) -> Option<Hit> {
        Ui::tap(self, at, screen, now)
    }

    fn swipe(&mut self, from: Point, to: Point, ms: u64, screen: &Screen, now: Instant) -> Option<Hit> {
        Ui::swipe(self, from, to, ms, screen, now)
    }

    fn key(&mut self, code: u32, screen: &Screen, now: Instant) {
        Ui::key(self, code, screen, now);
    }

    fn type_text(&mut self, text: &str, now: Instant) -> Option<String> {
        Ui::type_text(self, text, now).map(str::to_owned)
    }

    fn launch(&mut self, package: &str, activity: Option<&str>, now: Instant) -> bool {
        Ui::launch(self, package, activity, now)
    }

    fn kill(&mut self, package: &str, clear_data: bool, now: Instant) {
        Ui::kill(self, package, clear_data, now);
    }

    fn tasks(&self) -> Vec<Task<'_>> {
        let task =
            |task: &super::Task| Task { id: task.id, package: task.package, stack: task.stack.clone() };
        self.tasks.iter().map(task).collect()
    }

    fn windows(&self, screen: &Screen) -> Windows<'_> {
        Windows {
            focused: if self.asks_permission() { system::GRANT } else { Ui::front(self) },
            dialog: self.dialog_window(screen).map(|dialog| dialog.visible),
            keyboard: self.keyboard,
            opening: self.opening_until.is_some(),
            responding: self.responds(),
            locked: self.is_locked(),
        }
    }

    fn next_due(&self) -> Option<Instant> {
        Ui::next_due(self)
    }

    fn is_moving(&self) -> bool {
        self.fling.is_some() || self.drag.is_some()
    }

    fn toasts(&self) -> &[Toast] {
        &self.toasts
    }

    fn shown_nodes(&self, screen: &Screen) -> Vec<ShownNode> {
        nodes_of(&self.active_window(screen))
    }

    fn pictured_nodes(&self, screen: &Screen) -> Vec<ShownNode> {
        let (package, activity) = Ui::front(self);
        let is_drawn = self.app(package).is_some_and(|app| app.style(activity) == Style::Game);
        if is_drawn && self.system.is_empty() { nodes_of(&self.top_window(screen)) } else { Vec::new() }
    }

    fn drawing(&self, screen: &Screen) -> u64 {
        if !self.is_silent() {
            return 0;
        }
        let mut hasher = DefaultHasher::new();
        self.top_window(screen).walk(&mut |w| {
            let flags = &w.flags;
            let state = (flags.checked, flags.disabled, flags.selected, flags.focused);
            let place = (w.visible.left, w.visible.top, w.visible.right, w.visible.bottom);
            (&w.text, &w.description, state, place).hash(&mut hasher);
        });
        hasher.finish()
    }

    fn scroll_directions(&self, screen: &Screen) -> Vec<(bool, bool)> {
        let mut all = Vec::new();
        self.add_scroll_directions(&self.active_window(screen), screen, &mut all);
        all
    }

    fn truth(&self) -> SurfaceTruth {
        SurfaceTruth { values: self.values(), ..SurfaceTruth::default() }
    }

    fn saved(&self, package: &str) -> Values {
        self.app(package).map(|app| app.saved()).unwrap_or_default()
    }

    fn touch(&mut self, touch: Touch, screen: &Screen, now: Instant) {
        match touch {
            Touch::Begins { from, to, time } => self.begin_drag(from, to, time, screen, now),
            Touch::Down(_) | Touch::Two { .. } => {}
            Touch::At(at) => self.moved(at, now),
            Touch::Cancelled => self.drag = None,
            Touch::Zooms { fingers, factor } => self.zoom(fingers, factor, screen, now),
        }
    }

    fn control_at(&self, (x, y): Point, screen: &Screen) -> Option<Datum> {
        let takes_taps = |w: &Widget| w.flags.clickable || w.appearance.slider().is_some();
        self.top_window(screen).hit(x, y, &takes_taps).and_then(|widget| widget.datum.clone())
    }

    fn pinch_target(&self, fingers: [Point; 2], screen: &Screen) -> Option<Hit> {
        self.zoomed(fingers, screen)
    }

    fn drag_and_drop(
        &mut self,
        from: Point,
        to: Point,
        ms: u64,
        screen: &Screen,
        now: Instant,
    ) -> Option<Hit> {
        self.gesture(&Gesture::drag(from, to, ms), screen, now)
    }

    fn select_all(&mut self) {
        self.all_selected = self.focus.is_some();
    }

    fn long_press_focused(&mut self, screen: &Screen, now: Instant) -> bool {
        Ui::long_press_focused(self, screen, now)
    }

    fn set_text(&mut self, at: Point, text: &str, screen: &Screen, now: Instant) -> Option<String> {
        Ui::set_text(self, at, text, screen, now).map(str::to_owned)
    }

    fn installed(&mut self, app: &InstalledApp, now: Instant) {
        self.show_installed(app, now);
    }

    fn uninstalled(&mut self, package: &str, now: Instant) {
        self.forget_installed(package, now);
    }

    fn system(&mut self, event: SystemEvent, now: Instant) -> bool {
        match event {
            SystemEvent::ConfigurationChanged => self.changed(now),
            SystemEvent::NightMode(night) => self.set_night(night, now),
            SystemEvent::OpenShade => self.open_shade(now),
            SystemEvent::CloseShade => self.close_shade(now),
            SystemEvent::Alert { title, message } => {
                self.show_system(SystemWindow::Alert { title, message }, now);
            }
            SystemEvent::WindowDelayed { until } => self.opening_until = Some(until),
            SystemEvent::Locked(locked) => self.lock(locked, now),
            // The drawn apps have one size of text, and do not care who reads them.
            SystemEvent::FontScale { .. } | SystemEvent::AccessibilityReader(_) => return false,
        }
        true
    }

    fn answer(&mut self, request: OutgoingRequest, answer: HttpAnswer, at: Instant) {
        self.queue_answer(request, answer, at);
    }
}

fn nodes_of(window: &Widget) -> Vec<ShownNode> {
    let mut nodes = Vec::new();
    add_shown(&mut nodes, window, &window.drawing_order(), 0);
    nodes
}

fn add_shown(nodes: &mut Vec<ShownNode>, widget: &Widget, order: &DrawingOrder, depth: u16) {
    let (flags, visible) = (&widget.flags, &widget.visible);
    nodes.push(ShownNode {
        depth,
        class: widget.class,
        resource_id: widget.resource_id.clone(),
        text: shown_text(widget),
        description: widget.description.clone(),
        hint: widget.hint.clone(),
        enabled: !flags.disabled,
        checkable: flags.checkable,
        checked: flags.checked,
        selected: flags.selected,
        focused: flags.focused,
        clickable: flags.clickable,
        visible: visible.sides(),
        told: visible.sides(),
        drawn_at: order.of(widget),
        level: nodes::level(widget).map(|level| (f64::from(level) * 1000.0).round() as i64),
        datum: widget.datum.clone(),
    });
    for child in widget.children.iter().filter(|child| !child.visible.is_empty()) {
        add_shown(nodes, child, order, depth.saturating_add(1));
    }
}

impl Ui {
    fn add_scroll_directions(&self, widget: &Widget, screen: &Screen, all: &mut Vec<(bool, bool)>) {
        let key = widget.key.filter(|_| widget.flags.scrollable);
        let most = key.map_or(0, |key| self.scroll_most(key, screen));
        all.push((widget.scroll_px < most, most > 0 && widget.scroll_px > 0));
        for child in widget.children.iter().filter(|child| !child.visible.is_empty()) {
            self.add_scroll_directions(child, screen, all);
        }
    }
}
