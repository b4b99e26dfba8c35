//! The window manager: tasks, focus, the keyboard, and where touches and keys go.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::geometry::{Rect, Screen};
use super::keyboard::{Cap, cap_at};
use super::launcher::{self, Launcher};
use super::widget::{Key, Look, Size, Widget};
use super::workbench::{FIELD_CHARS_MAX, Workbench};
use super::{App, Context, Effect, Values, keys};
use crate::truth::Hit;

/// A finger that moved less than this has not swiped.
const TOUCH_SLOP_DP: i32 = 8;
/// A finger that rested this long has pressed long.
pub const LONG_PRESS_MS: u64 = 400;
/// Activities that one task may hold.
const STACK_MAX: usize = 32;

pub struct Task {
    pub id: u32,
    pub package: &'static str,
    pub stack: Vec<&'static str>,
}

/// What the rest of the system must hear about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    Log {
        at: Instant,
        package: &'static str,
        priority: char,
        tag: &'static str,
        message: String,
    },
    /// `within` when the app itself opened it.
    Started {
        at: Instant,
        package: &'static str,
        activity: &'static str,
        within: bool,
    },
}

pub struct Ui {
    apps: BTreeMap<&'static str, Box<dyn App>>,
    /// The front task is last.
    tasks: Vec<Task>,
    next_task: u32,
    focus: Option<Key>,
    /// In characters, within the focused field.
    cursor: usize,
    all_selected: bool,
    keyboard: bool,
    scroll: BTreeMap<(&'static str, &'static str, Key), i32>,
    /// When the last accessibility event was sent.
    changed_at: Instant,
    /// Whether something changed since the scroll offsets were last checked.
    unclamped: bool,
    pub notes: Vec<Note>,
}

impl Ui {
    pub fn new(now: Instant) -> Ui {
        let mut apps: BTreeMap<&'static str, Box<dyn App>> = BTreeMap::new();
        for app in [Box::new(Launcher) as Box<dyn App>, Box::new(Workbench::new())] {
            apps.insert(app.package(), app);
        }
        let home = Task { id: 1, package: launcher::PACKAGE, stack: vec![launcher::ACTIVITY] };
        Ui {
            apps,
            tasks: vec![home],
            next_task: 2,
            focus: None,
            cursor: 0,
            all_selected: false,
            keyboard: false,
            scroll: BTreeMap::new(),
            changed_at: now,
            unclamped: false,
            notes: Vec::new(),
        }
    }

    pub fn changed_at(&self) -> Instant {
        self.changed_at
    }

    /// Something on the screen changed, and accessibility heard of it.
    pub fn changed(&mut self, now: Instant) {
        self.changed_at = now;
        self.unclamped = true;
    }

    pub fn app(&self, package: &str) -> Option<&dyn App> {
        self.apps.get(package).map(Box::as_ref)
    }

    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Package and activity in front. The launcher's task is never removed.
    pub fn front(&self) -> (&'static str, &'static str) {
        let front = self.tasks.last();
        front.map_or((launcher::PACKAGE, launcher::ACTIVITY), |task| {
            (task.package, task.stack.last().copied().unwrap_or(launcher::ACTIVITY))
        })
    }

    pub fn keyboard_shown(&self) -> bool {
        self.keyboard
    }

    /// The values of every app together.
    pub fn values(&self) -> Values {
        let mut all = Values::default();
        for values in self.apps.values().map(|app| app.values()) {
            all.fields.extend(values.fields);
            all.switches.extend(values.switches);
            all.sliders.extend(values.sliders);
        }
        all
    }

    pub fn dark(&self) -> bool {
        self.app(self.front().0).is_some_and(App::dark)
    }

    /// Lets everything happen that is due by `now`, each at its own time.
    pub fn advance(&mut self, now: Instant) {
        while let Some((due, package)) = self
            .apps
            .values()
            .filter_map(|a| Some((a.next_due()?, a.package())))
            .min()
            .filter(|(due, _)| *due <= now)
        {
            self.with_app(package, due, |app, context| app.due(context));
        }
    }

    pub fn next_due(&self) -> Option<Instant> {
        self.apps.values().filter_map(|a| a.next_due()).min()
    }

    fn with_app(
        &mut self,
        package: &'static str,
        now: Instant,
        act: impl FnOnce(&mut dyn App, &mut Context),
    ) {
        let mut context = Context::new(now);
        if let Some(app) = self.apps.get_mut(package) {
            act(app.as_mut(), &mut context);
        }
        self.changed(now);
        for effect in context.effects {
            self.effect(package, now, effect);
        }
    }

    fn effect(&mut self, package: &'static str, now: Instant, effect: Effect) {
        match effect {
            Effect::Log { priority, tag, message } => {
                self.notes.push(Note::Log { at: now, package, priority, tag, message });
            }
            Effect::HideKeyboard => self.keyboard = false,
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
        self.notes.push(Note::Started { at: now, package, activity, within: true });
    }

    fn unfocus(&mut self) {
        self.focus = None;
        self.all_selected = false;
        self.keyboard = false;
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
        self.changed(now);
        match self.tasks.iter().position(|t| t.package == package) {
            Some(at) => {
                let task = self.tasks.remove(at);
                self.tasks.push(task);
                if activity.is_some() && self.front().1 != wanted {
                    self.open(package, wanted, false, now);
                } else {
                    self.notes.push(Note::Started {
                        at: now,
                        package,
                        activity: self.front().1,
                        within: false,
                    });
                }
            }
            None => {
                self.tasks.push(Task { id: self.next_task, package, stack: vec![wanted] });
                self.next_task += 1;
                self.notes.push(Note::Started { at: now, package, activity: wanted, within: false });
            }
        }
        true
    }

    /// The process ends; its task goes and what lies below comes to the front.
    pub fn kill(&mut self, package: &str, clear_data: bool, now: Instant) {
        let Some(app) = self.apps.get_mut(package) else { return };
        app.restart();
        if clear_data {
            app.clear_data();
        }
        if self.front().0 == package {
            self.unfocus();
        }
        self.scroll.retain(|(p, _, _), _| *p != package);
        if package != launcher::PACKAGE {
            self.tasks.retain(|t| t.package != package);
        }
        self.changed(now);
    }

    /// The activity's window with its decoration, placed.
    pub fn activity_window(&self, screen: &Screen) -> Widget {
        let (package, activity) = self.front();
        let Some(app) = self.app(package) else { return Widget::new("android.widget.FrameLayout") };
        let content = app.view(activity, screen);
        let full = |class| Widget::new(class).size(Size::Fill, Size::Fill);
        let mut holder = full("android.widget.FrameLayout").child(content);
        holder.resource_id = "android:id/content".to_owned();
        let mut root =
            full("android.widget.FrameLayout").child(full("android.widget.LinearLayout").child(holder));
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
        root
    }

    /// The dialog's window, placed in the middle of the screen.
    pub fn dialog_window(&self, screen: &Screen) -> Option<Widget> {
        let (package, activity) = self.front();
        let mut dialog = self.app(package)?.dialog(activity)?;
        let width = if let Size::Dp(dp) = dialog.width { screen.px(dp) } else { screen.width };
        let height = dialog.content_px(screen);
        let (left, top) = ((screen.width - width) / 2, (screen.height - height) / 2);
        dialog.place(Rect::new(left, top, left + width, top + height), screen.rect(), screen);
        Some(dialog)
    }

    /// What accessibility calls the active window: the dialog, if one is open.
    pub fn active_window(&self, screen: &Screen) -> Widget {
        self.dialog_window(screen).unwrap_or_else(|| self.activity_window(screen))
    }

    pub fn tap(&mut self, x: i32, y: i32, screen: &Screen, now: Instant) -> Option<Hit> {
        if self.keyboard && screen.keyboard().contains(x, y) {
            return Some(self.tap_keyboard(x, y, screen, now));
        }
        let package = self.front().0;
        let window = match self.dialog_window(screen) {
            Some(dialog) if !dialog.visible.contains(x, y) => {
                self.with_app(package, now, |app, _| app.cancel_dialog());
                return Some(Hit::named("outside the dialog"));
            }
            Some(dialog) => dialog,
            None => self.activity_window(screen),
        };
        let wanted = |w: &Widget| w.flags.clickable || matches!(w.look, Look::Slider(_));
        let widget = window.hit(x, y, &wanted)?;
        let hit = Hit::of(widget);
        if let (true, Some(key)) = (hit.acted, widget.key) {
            self.act_on(package, key, widget, x, now);
        }
        Some(hit)
    }

    fn act_on(&mut self, package: &'static str, key: Key, widget: &Widget, x: i32, now: Instant) {
        match widget.look {
            Look::Field => {
                self.focus_on(key, now);
                self.keyboard = true;
            }
            Look::Slider(_) => {
                let fraction = fraction_of(widget, x);
                self.with_app(package, now, |app, context| app.slide(key, fraction, context));
            }
            _ => self.with_app(package, now, |app, context| app.tap(key, context)),
        }
    }

    fn focus_on(&mut self, key: Key, now: Instant) {
        let length = self.field_mut(key).map_or(0, |text| text.chars().count());
        self.focus = Some(key);
        self.cursor = length;
        self.all_selected = false;
        self.changed(now);
    }

    fn field_mut(&mut self, key: Key) -> Option<&mut String> {
        let package = self.front().0;
        self.apps.get_mut(package)?.field(key)
    }

    fn tap_keyboard(&mut self, x: i32, y: i32, screen: &Screen, now: Instant) -> Hit {
        let Some(cap) = cap_at(screen, x, y) else { return Hit::named("keyboard") };
        match cap {
            Cap::Char(c) => {
                self.type_text(&c.to_string(), now);
            }
            Cap::Space => {
                self.type_text(" ", now);
            }
            Cap::Delete => self.erase(true, now),
            Cap::Enter => self.key(keys::ENTER, screen, now),
        }
        Hit::named(&format!("keyboard {}", cap.label()))
    }

    /// Types into the focused field; the answer is the field's name, or nothing when no field has the focus.
    pub fn type_text(&mut self, text: &str, now: Instant) -> Option<&'static str> {
        let key = self.focus?;
        let (cursor, replace) = (self.cursor, self.all_selected);
        let field = self.field_mut(key)?;
        if replace {
            field.clear();
        }
        let at = if replace { 0 } else { byte_at(field, cursor) };
        let room = FIELD_CHARS_MAX.saturating_sub(field.chars().count());
        let typed: String = text.chars().take(room).collect();
        field.insert_str(at, &typed);
        self.cursor = if replace { 0 } else { cursor } + typed.chars().count();
        self.all_selected = false;
        self.changed(now);
        Some(key.name)
    }

    /// Replaces the text of the field at a point, without focus or keyboard: what accessibility may do.
    pub fn fill(
        &mut self,
        at: (i32, i32),
        text: &str,
        screen: &Screen,
        now: Instant,
    ) -> Option<&'static str> {
        let window = self.active_window(screen);
        let key = window.hit(at.0, at.1, &|w| w.look == Look::Field && !w.flags.disabled)?.key?;
        *self.field_mut(key)? = text.chars().take(FIELD_CHARS_MAX).collect();
        self.move_cursor(usize::MAX);
        self.changed(now);
        Some(key.name)
    }

    fn erase(&mut self, before: bool, now: Instant) {
        let Some(key) = self.focus else { return };
        let (cursor, all) = (self.cursor, self.all_selected);
        let Some(field) = self.field_mut(key) else { return };
        let mut moved = cursor;
        if all {
            field.clear();
            moved = 0;
        } else {
            let victim = if before { cursor.checked_sub(1) } else { Some(cursor) };
            if let Some(index) = victim.filter(|i| *i < field.chars().count()) {
                field.remove(byte_at(field, index));
                moved = index;
            }
        }
        self.cursor = moved;
        self.all_selected = false;
        self.changed(now);
    }

    pub fn select_all(&mut self) {
        self.all_selected = self.focus.is_some();
    }

    pub fn key(&mut self, code: u32, screen: &Screen, now: Instant) {
        match code {
            keys::BACK | keys::ESCAPE => self.back(screen, now),
            keys::HOME => {
                self.launch(launcher::PACKAGE, None, now);
            }
            keys::TAB => self.focus_next(screen, now),
            keys::ENTER | keys::NUMPAD_ENTER | 23 => self.enter(screen, now),
            keys::DEL => self.erase(true, now),
            keys::FORWARD_DEL => self.erase(false, now),
            keys::MOVE_HOME => self.move_cursor(0),
            keys::MOVE_END => self.move_cursor(usize::MAX),
            21 => self.move_cursor(self.cursor.saturating_sub(1)),
            22 => self.move_cursor(self.cursor.saturating_add(1)),
            code => {
                if let Some(c) = keys::character(code) {
                    self.type_text(&c.to_string(), now);
                }
            }
        }
    }

    fn move_cursor(&mut self, to: usize) {
        let Some(key) = self.focus else { return };
        let length = self.field_mut(key).map_or(0, |text| text.chars().count());
        self.cursor = to.min(length);
        self.all_selected = false;
    }

    /// Back closes one thing: the keyboard, then a dialog, then the activity. The last activity is not destroyed,
    /// its task goes behind the launcher.
    fn back(&mut self, screen: &Screen, now: Instant) {
        let package = self.front().0;
        self.changed(now);
        if self.keyboard {
            self.keyboard = false;
        } else if self.dialog_window(screen).is_some() {
            self.with_app(package, now, |app, _| app.cancel_dialog());
        } else if package != launcher::PACKAGE {
            self.unfocus();
            match self.tasks.last_mut() {
                Some(task) if task.stack.len() > 1 => {
                    task.stack.pop();
                }
                _ => {
                    self.launch(launcher::PACKAGE, None, now);
                }
            }
        }
    }

    fn focus_next(&mut self, screen: &Screen, now: Instant) {
        let window = self.active_window(screen);
        let mut order = Vec::new();
        window.walk(&mut |w| {
            if w.flags.focusable && !w.flags.disabled && !w.flags.scrollable {
                order.extend(w.key);
            }
        });
        let at = self.focus.and_then(|focus| order.iter().position(|key| *key == focus));
        let next = at.map_or(0, |at| (at + 1) % order.len().max(1));
        if let Some(key) = order.get(next) {
            self.focus_on(*key, now);
        }
    }

    /// On a field: the keyboard's action, which goes to the next field or closes the keyboard after the last one.
    fn enter(&mut self, screen: &Screen, now: Instant) {
        let Some(focus) = self.focus else { return };
        let window = self.active_window(screen);
        let Some(widget) = window.find(&|w| w.key == Some(focus)) else { return };
        if widget.flags.disabled {
            return;
        }
        if widget.look != Look::Field {
            let package = self.front().0;
            return self.act_on(package, focus, widget, widget.bounds.left, now);
        }
        let mut fields = Vec::new();
        window.walk(&mut |w| {
            if w.look == Look::Field {
                fields.extend(w.key);
            }
        });
        match fields.iter().skip_while(|key| **key != focus).nth(1) {
            Some(next) => self.focus_on(*next, now),
            None => self.keyboard = false,
        }
        self.changed(now);
    }

    /// A finger went down at `from` and up at `to`; returns what it began on.
    pub fn swipe(
        &mut self,
        from: (i32, i32),
        to: (i32, i32),
        ms: u64,
        screen: &Screen,
        now: Instant,
    ) -> Option<Hit> {
        let (dx, dy) = (to.0.saturating_sub(from.0), to.1.saturating_sub(from.1));
        let slop = screen.px(TOUCH_SLOP_DP);
        let (wide, high) = (dx.saturating_abs(), dy.saturating_abs());
        if wide <= slop && high <= slop {
            return if ms >= LONG_PRESS_MS {
                self.long_press(from, screen)
            } else {
                self.tap(from.0, from.1, screen, now)
            };
        }
        if self.keyboard && screen.keyboard().contains(from.0, from.1) {
            return Some(Hit::named("keyboard"));
        }
        let window = self.active_window(screen);
        let slider = window.hit(from.0, from.1, &|w| matches!(w.look, Look::Slider(_)));
        if let Some((widget, key)) = slider.and_then(|w| Some((w, w.key?))) {
            let (fraction, package) = (fraction_of(widget, to.0), self.front().0);
            self.with_app(package, now, |app, context| app.slide(key, fraction, context));
            return Some(Hit::of(widget));
        }
        let list = window.hit(from.0, from.1, &|w| w.flags.scrollable)?;
        let (hit, key) = (Hit::of(list), list.key?);
        if high >= wide {
            self.scroll_by(key, dy.saturating_neg(), screen, now);
        }
        Some(hit)
    }

    fn long_press(&mut self, at: (i32, i32), screen: &Screen) -> Option<Hit> {
        let window = self.active_window(screen);
        let widget = window.hit(at.0, at.1, &|w| w.flags.clickable || w.flags.long_clickable)?;
        Some(Hit { acted: false, ..Hit::of(widget) })
    }

    fn scroll_by(&mut self, key: Key, by: i32, screen: &Screen, now: Instant) {
        let (package, activity) = self.front();
        let most = self.scroll_most(key, screen);
        let offset = self.scroll.entry((package, activity, key)).or_insert(0);
        let moved = offset.saturating_add(by).clamp(0, most);
        if moved != *offset {
            *offset = moved;
            self.changed(now);
        }
    }

    /// How far the container can scroll: measured on the view before rows out of sight are dropped.
    fn scroll_most(&self, key: Key, screen: &Screen) -> i32 {
        let (package, activity) = self.front();
        let window = self.activity_window(screen);
        let viewport = window.find(&|w| w.key == Some(key)).map_or(0, |w| w.bounds.height());
        let Some(app) = self.app(package) else { return 0 };
        let view = app.view(activity, screen);
        let content = view.find(&|w| w.key == Some(key)).map_or(0, |w| w.content_px(screen));
        content.saturating_sub(viewport).max(0)
    }

    /// A list that became shorter must not stay scrolled past its end.
    pub fn clamp_scroll(&mut self, screen: &Screen) {
        if !std::mem::take(&mut self.unclamped) {
            return;
        }
        let (package, activity) = self.front();
        let keys: Vec<Key> = self
            .scroll
            .keys()
            .filter(|(p, a, _)| (*p, *a) == (package, activity))
            .map(|(_, _, key)| *key)
            .collect();
        for key in keys {
            let most = self.scroll_most(key, screen);
            if let Some(offset) = self.scroll.get_mut(&(package, activity, key)) {
                *offset = (*offset).min(most);
            }
        }
    }
}

/// The thumb travels between the paddings at both ends of the bar.
fn fraction_of(widget: &Widget, x: i32) -> f32 {
    let inset = widget.bounds.height() / 3;
    let length = (widget.bounds.width() - 2 * inset).max(1);
    (x.saturating_sub(widget.bounds.left).saturating_sub(inset)) as f32 / length as f32
}

fn byte_at(text: &str, chars: usize) -> usize {
    text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at)
}
