//! The window manager of the drawn apps: tasks, windows, and effects that apps request.

mod accessible;
mod drag;
mod ios;
mod overlay;
mod pinch;
mod requests;
mod surface;
mod touch;
mod typing;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use tokio::time::Instant;

use super::fling::Fling;
use super::geometry::{Rect, Screen};
use super::installed::InstalledFile;
use super::keyboard::Board;
use super::launcher::{self, Launcher};
use super::settings::Settings;
use super::shop::Shop;
use super::system::SystemWindow;
use super::user::{AppFile, UserApp};
use super::widget::{Appearance, Key, Size, Style, Widget, Window};
use super::workbench::Workbench;
use super::{App, Context, Effect, Values, style, xml};
use crate::config::Platform;
use crate::surface::{InstalledApp, SurfaceEvent, Toast};
use drag::Drag;
use overlay::BlockedApp;
pub use overlay::Notification;
use requests::PendingAnswer;
pub use touch::LONG_PRESS_MS;
use touch::{Gesture, PendingTap};

/// Events that may happen in one step of the clock.
const EVENTS_MAX: usize = 10_000;
/// Activities that one task may hold.
const STACK_MAX: usize = 32;
/// Apps from files: the home screen has no place for more.
pub const USER_APPS_MAX: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    App(&'static str),
    Single,
    HttpAnswer,
    Opened,
    Unblock,
    NotResponding,
}

pub struct Task {
    pub id: u32,
    pub package: &'static str,
    pub stack: Vec<&'static str>,
}

/// Package, activity and key of a scroll container.
type ScrollKey = (&'static str, &'static str, Key);

pub struct Ui {
    platform: Platform,
    apps: BTreeMap<&'static str, Box<dyn App>>,
    /// Those of the apps that were installed from files.
    installed: BTreeSet<&'static str>,
    /// The front task is last.
    tasks: Vec<Task>,
    next_task: u32,
    focus: Option<Key>,
    /// The cursor's position within the focused field, in characters.
    cursor: usize,
    all_selected: bool,
    keyboard: bool,
    board: Board,
    scroll: BTreeMap<ScrollKey, i32>,
    fling: Option<(ScrollKey, Fling)>,
    drag: Option<Drag>,
    /// When the app that was brought to the front draws its window; until then accessibility finds none.
    opening_until: Option<Instant>,
    /// The system's dark theme.
    night: bool,
    /// When the activity in front was shown, and how many frames of it were drawn.
    front_since: Instant,
    frames: u32,
    /// Windows of the system, the top one last.
    system: Vec<SystemWindow>,
    toasts: Vec<Toast>,
    notices: Vec<Notification>,
    blocked: Option<BlockedApp>,
    /// A tap that may become a double tap.
    pending: Option<PendingTap>,
    /// Positions of the finger that is down.
    moves: VecDeque<(Instant, (i32, i32))>,
    crashes: BTreeMap<&'static str, Instant>,
    granted: Vec<(&'static str, &'static str)>,
    answers: Vec<PendingAnswer>,
    /// When the last accessibility event was sent.
    changed_at: Instant,
    /// When the pixels last changed, with or without an event.
    visible_at: Instant,
    /// The number of changes that accessibility heard of.
    changes: u64,
    /// True if something changed since the scroll offsets were last checked.
    unclamped: bool,
    events: Vec<SurfaceEvent>,
    /// The input that is being handled.
    cause: Option<u64>,
}

impl Ui {
    pub fn new(now: Instant, files: &[Arc<AppFile>], api: Option<&str>, platform: Platform) -> Ui {
        let mut apps: BTreeMap<&'static str, Box<dyn App>> = BTreeMap::new();
        let files = &files[..files.len().min(USER_APPS_MAX)];
        let all: [Box<dyn App>; 4] = [
            Box::new(Launcher::new(files.iter().map(|file| (file.label, file.package)))),
            Box::new(Workbench::new(api)),
            Box::new(Shop::default()),
            Box::new(Settings::default()),
        ];
        let users = files.iter().map(|file| Box::new(UserApp::new(Arc::clone(file))) as Box<dyn App>);
        for app in all.into_iter().chain(users) {
            apps.insert(app.package(), app);
        }
        let home = Task { id: 1, package: launcher::PACKAGE, stack: vec![launcher::ACTIVITY] };
        Ui {
            platform,
            apps,
            installed: BTreeSet::new(),
            tasks: vec![home],
            next_task: 2,
            focus: None,
            cursor: 0,
            all_selected: false,
            keyboard: false,
            board: Board::first(platform),
            scroll: BTreeMap::new(),
            fling: None,
            drag: None,
            opening_until: None,
            night: false,
            front_since: now,
            frames: 0,
            system: Vec::new(),
            toasts: Vec::new(),
            notices: Vec::new(),
            blocked: None,
            pending: None,
            moves: VecDeque::new(),
            crashes: BTreeMap::new(),
            granted: Vec::new(),
            answers: Vec::new(),
            changed_at: now,
            visible_at: now,
            changes: 0,
            unclamped: false,
            events: Vec::new(),
            cause: None,
        }
    }

    /// Notes a change on the screen that accessibility hears of.
    pub fn changed(&mut self, now: Instant) {
        self.changed_at = now;
        self.changes += 1;
        self.visible_at = self.visible_at.max(now);
        self.unclamped = true;
    }

    /// Returns when the pixels last changed, also by toasts and by movements that accessibility does not hear of.
    pub fn visible_at(&self, now: Instant) -> Instant {
        let toasts = self.toasts.iter().flat_map(|toast| [toast.from, toast.until]);
        toasts.filter(|at| *at <= now).fold(self.visible_at, Instant::max)
    }

    pub fn set_night(&mut self, night: bool, now: Instant) {
        if self.night != night {
            self.night = night;
            self.changed(now);
        }
    }

    /// Shows an app from a file, unless the phone has an app of that name itself.
    pub fn show_installed(&mut self, app: &InstalledApp, now: Instant) {
        let Some(file) = InstalledFile::new(app) else { return };
        let package = file.package();
        if self.apps.contains_key(package) && !self.installed.contains(package) {
            return;
        }
        self.installed.insert(package);
        self.apps.insert(package, Box::new(file));
        self.changed(now);
    }

    pub fn forget_installed(&mut self, package: &str, now: Instant) {
        if self.installed.remove(package) {
            self.tasks.retain(|task| task.package != package);
            self.apps.remove(package);
            self.changed(now);
        }
    }

    pub fn app(&self, package: &str) -> Option<&dyn App> {
        self.apps.get(package).map(Box::as_ref)
    }

    /// Returns package and activity in front. The launcher's task is never removed.
    pub fn front(&self) -> (&'static str, &'static str) {
        let front = self.tasks.last();
        front.map_or((launcher::PACKAGE, launcher::ACTIVITY), |task| {
            (task.package, task.stack.last().copied().unwrap_or(launcher::ACTIVITY))
        })
    }

    /// Returns the values of all apps together.
    pub fn values(&self) -> Values {
        let mut all = Values::default();
        for values in self.apps.values().map(|app| app.values()) {
            all.fields.extend(values.fields);
            all.switches.extend(values.switches);
            all.sliders.extend(values.sliders);
        }
        all
    }

    pub fn is_secure(&self) -> bool {
        let (package, activity) = self.front();
        self.app(package).is_some_and(|app| app.secure(activity))
    }

    pub fn dark(&self) -> bool {
        self.night || self.app(self.front().0).is_some_and(App::dark)
    }

    /// Lets everything happen that is due by `now`, each at its own time.
    pub fn advance(&mut self, now: Instant) {
        for _ in 0..EVENTS_MAX {
            let Some((due, event)) = self.next_event().filter(|(due, _)| *due <= now) else { break };
            match event {
                Event::App(package) => self.with_app(package, due, |app, context| app.due(context)),
                Event::Single => self.single_tap(due),
                Event::HttpAnswer => self.deliver_answer(due),
                Event::Opened => {
                    self.opening_until = None;
                    self.changed(due);
                }
                Event::Unblock => self.unblock(due),
                Event::NotResponding => self.not_responding(due),
            }
        }
        self.move_fling(now);
        self.move_drag(now);
        self.draw_frames(now);
    }

    fn next_event(&self) -> Option<(Instant, Event)> {
        let app = |a: &dyn App| {
            let due = a.next_due()?;
            let busy = self.blocked.as_ref().filter(|b| b.package == a.package());
            Some((busy.map_or(due, |b| b.until.max(due)), Event::App(a.package())))
        };
        let blocked = self.blocked.iter().flat_map(|b| {
            [Some((b.until, Event::Unblock)), b.not_responding_at().map(|at| (at, Event::NotResponding))]
        });
        let single = self.pending.map(|pending| (pending.until, Event::Single));
        let opened = self.opening_until.map(|at| (at, Event::Opened));
        let answer = self.next_answer().map(|at| (at, Event::HttpAnswer));
        self.apps
            .values()
            .map(|a| app(a.as_ref()))
            .chain([single, answer, opened])
            .chain(blocked)
            .flatten()
            .min()
    }

    pub fn next_due(&self) -> Option<Instant> {
        let fling = self.fling.as_ref().map(|(_, fling)| fling.end());
        self.next_event().map(|(due, _)| due).into_iter().chain(fling).min()
    }

    fn move_fling(&mut self, now: Instant) {
        let Some((key, fling)) = self.fling else { return };
        let (at, rests) = fling.at(now);
        if self.scroll.insert(key, at) != Some(at) {
            self.changed(self.changed_at.max(fling.last_event(now)));
        }
        if rests {
            self.fling = None;
            if (key.0, key.1) == self.front() {
                self.maybe_at_end(key.2, fling.most_px(), now);
            }
        }
    }

    /// Draws the frames of an animation: of those that are due only the last one matters.
    fn draw_frames(&mut self, now: Instant) {
        let (package, activity) = self.front();
        let Some(every) = self.app(package).and_then(|a| a.frame_every(activity)) else { return };
        let shown = now.saturating_duration_since(self.front_since);
        let frames = (shown.as_millis() / every.as_millis().max(1)) as u32;
        if frames == self.frames {
            return;
        }
        self.frames = frames;
        let at = self.front_since + every * frames;
        self.visible_at = self.visible_at.max(at);
        if self.apps.get_mut(package).is_some_and(|app| app.frame(activity, every * frames)) {
            self.changed(self.changed_at.max(at));
        }
    }

    fn with_app(
        &mut self,
        package: &'static str,
        now: Instant,
        act: impl FnOnce(&mut dyn App, &mut Context),
    ) {
        let silent = self.is_silent();
        let mut context = Context::new(now, self.cause);
        if let Some(app) = self.apps.get_mut(package) {
            act(app.as_mut(), &mut context);
        }
        if silent && self.is_silent() {
            self.visible_at = self.visible_at.max(now);
            self.unclamped = true;
        } else {
            self.changed(now);
        }
        let before = std::mem::replace(&mut self.cause, context.cause);
        for effect in context.effects {
            self.effect(package, now, effect);
        }
        self.cause = before;
    }

    /// Returns true if only a game is on the screen: what it draws, accessibility does not hear of.
    fn is_silent(&self) -> bool {
        let (package, activity) = self.front();
        let Some(app) = self.app(package) else { return false };
        app.style(activity) == Style::Game && app.dialog(activity, false).is_none() && self.system.is_empty()
    }

    fn effect(&mut self, package: &'static str, now: Instant, effect: Effect) {
        match effect {
            Effect::Log { priority, tag, message } => {
                self.events.push(SurfaceEvent::Log {
                    at: now,
                    package: package.into(),
                    priority,
                    tag: tag.into(),
                    message,
                });
            }
            Effect::HideKeyboard => self.keyboard = false,
            Effect::Finish => self.finish(now),
            Effect::Toast(text) => self.show_toast(text, now),
            Effect::Notify { title, text } => self.post_notice(package, title, text),
            Effect::AskPermission { name, question } => self.ask_permission(package, name, question, now),
            Effect::Block(time) => self.block(package, now + time),
            Effect::Crash { exception, frames } => self.crash(package, exception, frames, now),
            Effect::Http(request) => self.request(package, request, now),
            Effect::Launch(target) => {
                self.launch(target, None, now);
            }
            Effect::Start(activity) => self.open(package, activity, false, now),
            Effect::Replace(activity) => self.open(package, activity, true, now),
        }
    }

    fn open(&mut self, package: &'static str, activity: &'static str, replace: bool, now: Instant) {
        let Some(task) = self.tasks.iter_mut().find(|t| t.package == package) else { return };
        if replace {
            task.stack.clear();
        }
        if task.stack.len() < STACK_MAX {
            task.stack.push(activity);
        }
        self.scroll.retain(|(p, a, _), _| (*p, *a) != (package, activity));
        self.unfocus();
        self.changed(now);
        self.front_since = now;
        self.frames = 0;
        self.note_start(package, activity, true, now);
        self.with_app(package, now, |app, context| app.opened(activity, context));
    }

    fn note_start(&mut self, package: &'static str, activity: &'static str, within: bool, at: Instant) {
        let (package, activity) = (package.into(), activity.into());
        self.events.push(SurfaceEvent::Started { at, package, activity, within });
    }

    fn unfocus(&mut self) {
        self.focus = None;
        self.all_selected = false;
        self.keyboard = false;
        self.fling = None;
        self.drag = None;
        self.pending = None;
        self.frames = 0;
    }

    /// Brings an app to the front; false when there is no such app or activity.
    pub fn launch(&mut self, package: &str, activity: Option<&str>, now: Instant) -> bool {
        let Some(app) = self.apps.get(package) else { return false };
        let (package, entry) = (app.package(), app.entry());
        let wanted = match activity {
            None => entry,
            Some(name) => match app.activities().iter().find(|known| **known == name) {
                Some(known) => known,
                None => return false,
            },
        };
        self.unfocus();
        self.front_since = now;
        self.changed(now);
        match self.tasks.iter().position(|t| t.package == package) {
            Some(at) => {
                let task = self.tasks.remove(at);
                self.tasks.push(task);
                if activity.is_some() && self.front().1 != wanted {
                    self.open(package, wanted, false, now);
                } else {
                    self.note_start(package, self.front().1, false, now);
                }
            }
            None => {
                self.tasks.push(Task { id: self.next_task, package, stack: vec![wanted] });
                self.next_task += 1;
                self.note_start(package, wanted, false, now);
                self.with_app(package, now, |app, context| app.opened(wanted, context));
            }
        }
        true
    }

    /// Ends the process of an app. Its task is removed and the one below comes to the front.
    pub fn kill(&mut self, package: &str, clear_data: bool, now: Instant) {
        let Some(app) = self.apps.get_mut(package) else { return };
        app.restart();
        if clear_data {
            app.clear_data();
        }
        let was_front = self.front().0 == package;
        if was_front {
            self.unfocus();
        }
        self.scroll.retain(|(p, _, _), _| *p != package);
        if self.blocked.as_ref().is_some_and(|b| b.package == package) {
            self.blocked = None;
        }
        self.system.retain(|window| window.package() != Some(package));
        self.front_since = now;
        if package != launcher::PACKAGE {
            self.tasks.retain(|t| t.package != package);
        }
        // What is left on iOS is the home screen, and not the app that was in front before.
        if self.platform == Platform::Ios {
            self.tasks.sort_by_key(|t| t.package == launcher::PACKAGE && was_front);
        }
        self.changed(now);
    }

    /// Returns the activity's window with its decoration, laid out.
    pub fn activity_window(&self, screen: &Screen) -> Widget {
        let (package, activity) = self.front();
        let Some(app) = self.app(package) else { return Widget::new("android.widget.FrameLayout") };
        let content = app.view(activity, screen);
        let about = self.window_of(package, activity, screen);
        let mut root = match self.platform {
            Platform::Android => decorated(content, &about),
            Platform::Ios => self.with_way_back(content, screen),
        };
        root.window = Some(about);
        let focus = self.focus;
        root.walk_mut(&mut |w| {
            if w.key.is_none() {
                return;
            }
            w.flags.focused = w.key == focus && w.flags.focusable;
            if let (true, Some(key)) = (w.flags.scrollable, w.key) {
                w.scroll_px = self.scroll.get(&(package, activity, key)).copied().unwrap_or(0);
            }
        });
        root.place(screen.rect(), screen.rect(), screen);
        root.name_data(&format!("screen {package}/{activity}"));
        root
    }

    fn window_of(&self, package: &'static str, activity: &str, screen: &Screen) -> Window {
        let style = self.app(package).map_or(Style::View, |app| app.style(activity));
        Window { package, rotation: screen.rotation, style }
    }

    /// Returns the topmost window over the activity (the shade, a dialog of the system or of the app), laid out.
    pub fn dialog_window(&self, screen: &Screen) -> Option<Widget> {
        if let Some(window) = self.system_window(screen) {
            return Some(window);
        }
        let (package, activity) = self.front();
        let mut dialog = self.app(package)?.dialog(activity, screen.width > screen.height)?;
        // The list of a popup has the focus; in a dialog nothing has it while fingers are used.
        if dialog.appearance == Appearance::Menu {
            dialog.walk_mut(&mut |w| w.flags.focused |= xml::is_list(w));
        }
        dialog.window = Some(self.window_of(package, activity, screen));
        let anchor = dialog.anchor.and_then(|key| {
            let window = self.activity_window(screen);
            window.find(&|w| w.key == Some(key)).map(|w| w.visible)
        });
        place_dialog(&mut dialog, anchor, screen);
        let thing = format!("dialog {}", dialog.spoken());
        dialog.name_data(&thing);
        Some(dialog)
    }

    /// Returns the window that has the input focus, laid out.
    pub(super) fn top_window(&self, screen: &Screen) -> Widget {
        self.dialog_window(screen).unwrap_or_else(|| self.activity_window(screen))
    }

    /// Returns the active window as accessibility sees it.
    pub fn active_window(&self, screen: &Screen) -> Widget {
        style::restyled(self.top_window(screen))
    }
}

/// Adds the views that the platform and, for its own toolkit, the support library put around an activity's content.
fn decorated(content: Widget, about: &Window) -> Widget {
    let full = |class| Widget::new(class).size(Size::Fill, Size::Fill);
    let holder = |content| full("android.widget.FrameLayout").id("android", "content").child(content);
    let inside = match about.style {
        Style::View | Style::WebView => {
            let fragment =
                full("android.widget.FrameLayout").id(about.package, "fragment_container").child(content);
            let bars = full("android.widget.LinearLayout")
                .id(about.package, "action_bar_root")
                .child(holder(fragment));
            full("android.widget.FrameLayout").child(bars)
        }
        Style::Compose | Style::ReactNative | Style::Flutter | Style::Game => holder(content),
    };
    full("android.widget.FrameLayout").child(full("android.widget.LinearLayout").child(inside))
}

/// Lays a dialog out in the middle or, as a popup, under its anchor; always within the screen.
fn place_dialog(dialog: &mut Widget, anchor: Option<Rect>, screen: &Screen) {
    let width = if let Size::Dp(dp) = dialog.width { screen.px(dp) } else { screen.width };
    let height = if dialog.height == Size::Fill { screen.height } else { dialog.content_px(screen) };
    let (mut left, mut top) = ((screen.width - width) / 2, (screen.height - height) / 2);
    if let Some(anchor) = anchor {
        left = anchor.left.min(screen.width - width).max(0);
        top = anchor.bottom.min(screen.height - height).max(0);
    }
    dialog.place(Rect::new(left, top, left + width, top + height), screen.rect(), screen);
}
