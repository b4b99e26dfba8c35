//! Apps from files: screens and behaviour as data.

mod behave;
mod check;
mod load;
pub mod names;
mod spec;
mod template;
mod toolkit;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::time::{Duration, Instant};

use super::geometry::Screen;
use super::parts::UP;
use super::widget::{Key, Style, Widget};
use super::{App, Context, Effect, HttpAnswer, Values};
pub use load::{AppFile, AppFileError};
use spec::{Action, AnswerSpec, DialogSpec, Kind, Scalar, Script, StyleSpec, WidgetSpec};

/// The delay before a screen's `on_open` runs: its first frame.
const FIRST_FRAME: Duration = Duration::from_millis(16);
const TIMERS_MAX: usize = 64;
const REQUESTS_MAX: usize = 16;
/// An entry of an open drop-down.
const MENU_OPTION: &str = "menu_option";

/// The row and list of an event.
type RowAt = Option<(String, u32)>;
type Row = BTreeMap<String, String>;

/// Rows with their numbers, which never change, so that a key never means another row.
#[derive(Debug, Clone, Default)]
struct Rows {
    rows: Vec<(u32, Row)>,
    next: u32,
}

struct Timer {
    at: Instant,
    script: Script,
    row: RowAt,
    cause: Option<u64>,
}

/// State that ends with the process.
#[derive(Default)]
struct ProcessState {
    dialog: Option<String>,
    /// The drop-down that is open.
    menu: Option<&'static str>,
    row: RowAt,
    timers: Vec<Timer>,
    /// Fields whose mistakes are shown.
    checked: BTreeSet<String>,
    /// What the app does after the answer to a permission dialog.
    asked: Option<(Script, Script)>,
    requests: Vec<(u32, behave::AfterAnswer)>,
}

pub struct UserApp {
    file: Arc<AppFile>,
    values: BTreeMap<String, Scalar>,
    lists: BTreeMap<String, Rows>,
    session: ProcessState,
    /// Never reset: an answer for a process that died must not meet a new request.
    next_request: u32,
}

impl UserApp {
    pub fn new(file: Arc<AppFile>) -> UserApp {
        let mut app = UserApp {
            file,
            values: BTreeMap::new(),
            lists: BTreeMap::new(),
            session: ProcessState::default(),
            next_request: 0,
        };
        app.clear_data();
        app
    }

    /// Returns the widget with this key and, if it is in a row, the list.
    fn widget(&self, name: &str) -> Option<(&WidgetSpec, Option<&str>)> {
        let on_screens = self.file.spec.screens.values().map(|screen| &screen.content);
        let in_dialogs = self.file.spec.dialogs.values().flat_map(|d| [&d.list, &d.content]);
        on_screens.chain(in_dialogs).find_map(|widgets| find(widgets, name, None))
    }

    fn answer(&self, name: &str) -> Option<&AnswerSpec> {
        self.file.spec.dialogs.values().flat_map(|d| &d.answers).find(|answer| answer.key == name)
    }

    /// Returns the value of a name in braces: a column of the row, else a value of the app.
    fn shown(&self, name: &str, row: &RowAt) -> String {
        let column = self.row(row).and_then(|row| row.get(name)).cloned();
        column.or_else(|| self.values.get(name).map(Scalar::shown)).unwrap_or_default()
    }

    fn fill(&self, text: &str, row: &RowAt) -> String {
        template::fill(text, &|name| self.shown(name, row))
    }

    fn row(&self, at: &RowAt) -> Option<&Row> {
        let (list, number) = at.as_ref()?;
        self.lists.get(list)?.rows.iter().find(|(known, _)| known == number).map(|(_, row)| row)
    }

    fn row_mut(&mut self, at: &RowAt) -> Option<&mut Row> {
        let (list, number) = at.as_ref()?;
        let rows = &mut self.lists.get_mut(list)?.rows;
        rows.iter_mut().find(|(known, _)| known == number).map(|(_, row)| row)
    }

    /// Returns true if a dialog shows something of the row that was touched last, or changes that row.
    fn is_about_row(&self, dialog: &DialogSpec) -> bool {
        let Some(row) = self.row(&self.session.row) else { return false };
        let texts =
            [&dialog.title, &dialog.message].into_iter().chain(dialog.answers.iter().map(|a| &a.text));
        let shows =
            texts.into_iter().flat_map(|text| template::names(text)).any(|name| row.contains_key(name));
        let changes = |action: &Action| matches!(action, Action::RemoveRow | Action::SetRow(_));
        shows || dialog.answers.iter().any(|answer| answer.script.0.iter().any(changes))
    }

    fn after(&mut self, at: Instant, script: Script, row: RowAt, cause: Option<u64>) {
        if self.session.timers.len() < TIMERS_MAX {
            self.session.timers.push(Timer { at, script, row, cause });
        }
    }

    fn reset(&mut self, kept: impl Fn(&str) -> bool) {
        for (name, value) in &self.file.spec.values {
            if !kept(name) {
                self.values.insert(name.clone(), value.clone());
            }
        }
        for (name, list) in &self.file.spec.lists {
            if !kept(name) {
                let rows: Vec<_> = (1..).zip(list.rows.iter().cloned()).collect();
                let next = rows.len() as u32 + 1;
                self.lists.insert(name.clone(), Rows { rows, next });
            }
        }
        self.session = ProcessState::default();
    }
}

fn find<'a>(
    widgets: &'a [WidgetSpec],
    key: &str,
    list: Option<&'a str>,
) -> Option<(&'a WidgetSpec, Option<&'a str>)> {
    widgets.iter().find_map(|widget| {
        let inside = if widget.kind.has_rows() { widget.rows.as_deref() } else { list };
        let found = (widget.key == key).then_some((widget, inside));
        found.or_else(|| find(&widget.children, key, inside))
    })
}

impl App for UserApp {
    fn package(&self) -> &'static str {
        self.file.package
    }

    fn label(&self) -> &'static str {
        self.file.label
    }

    fn entry(&self) -> &'static str {
        self.file.entry
    }

    fn activities(&self) -> &[&'static str] {
        &self.file.activities
    }

    fn view(&self, activity: &str, screen: &Screen) -> Widget {
        view::screen(self, activity, screen.width > screen.height)
    }

    fn style(&self, activity: &str) -> Style {
        let own = self.file.screen(activity).and_then(|(_, screen)| screen.style);
        match own.unwrap_or(self.file.spec.style) {
            StyleSpec::View => Style::View,
            StyleSpec::Compose => Style::Compose,
            StyleSpec::ReactNative => Style::ReactNative,
            StyleSpec::Flutter => Style::Flutter,
            StyleSpec::WebView => Style::WebView,
            StyleSpec::Game => Style::Game,
        }
    }

    fn secure(&self, activity: &str) -> bool {
        self.file.screen(activity).is_some_and(|(_, screen)| screen.secure)
    }

    fn dialog(&self, _activity: &str, landscape: bool) -> Option<Widget> {
        if let Some((widget, _)) = self.session.menu.and_then(|key| self.widget(key)) {
            return Some(view::menu(self, widget));
        }
        let dialog = self.file.spec.dialogs.get(self.session.dialog.as_ref()?)?;
        let row = &self.session.row;
        let (title, message) = (self.fill(&dialog.title, row), self.fill(&dialog.message, row));
        let shown = view::dialog(self, dialog, landscape);
        Some(match row.as_ref().filter(|_| self.is_about_row(dialog)) {
            Some((list, number)) => {
                shown.stands_for(&format!("dialog {title} {message} for row {number} of {list}"))
            }
            None => shown,
        })
    }

    fn opened(&mut self, activity: &str, context: &mut Context) {
        let script = self.file.screen(activity).map(|(_, screen)| screen.on_open.clone());
        if let Some(script) = script.filter(|s| !s.0.is_empty()) {
            self.after(context.now + FIRST_FRAME, script, self.session.row.clone(), context.cause);
        }
    }

    fn tap(&mut self, key: Key, context: &mut Context) {
        if key.name == UP {
            return context.push(Effect::Finish);
        }
        if let Some(script) = self.answer(key.name).map(|answer| answer.script.clone()) {
            self.session.dialog = None;
            return self.run(&script, context);
        }
        if key.name == MENU_OPTION {
            return self.picked(key.index as usize, context);
        }
        self.tapped(key, context);
    }

    fn long_press(&mut self, key: Key, context: &mut Context) {
        let Some((widget, list)) = self.widget(key.name) else { return };
        let (script, row) = (widget.on_long_press.clone(), list.map(|l| (l.to_owned(), key.index)));
        if row.is_some() {
            self.session.row = row;
        }
        self.run(&script, context);
    }

    fn permission(&mut self, _name: &'static str, granted: bool, context: &mut Context) {
        if let Some((yes, no)) = self.session.asked.take() {
            self.run(if granted { &yes } else { &no }, context);
        }
    }

    fn trusts_user_certificates(&self) -> bool {
        self.file.spec.trusts_user_certificates
    }

    fn answered(&mut self, request: u32, answer: &HttpAnswer, context: &mut Context) {
        self.request_done(request, answer, context);
    }

    fn slide(&mut self, key: Key, fraction: f32, context: &mut Context) {
        self.slider_moved(key, f64::from(fraction.clamp(0.0, 1.0)), context);
    }

    fn end_reached(&mut self, key: Key, context: &mut Context) {
        let script = self.widget(key.name).map(|(widget, _)| widget.on_end.clone());
        if let Some(script) = script {
            self.run(&script, context);
        }
    }

    fn cancel_dialog(&mut self) {
        self.session.dialog = None;
        self.session.menu = None;
    }

    fn field(&mut self, key: Key) -> Option<&mut String> {
        let name = self
            .widget(key.name)
            .filter(|(w, _)| matches!(w.kind, Kind::Field | Kind::Search))?
            .0
            .value
            .clone()?;
        match self.values.get_mut(&name)? {
            Scalar::Text(text) => Some(text),
            Scalar::Flag(_) | Scalar::Number(_) => None,
        }
    }

    fn next_due(&self) -> Option<Instant> {
        self.session.timers.iter().map(|timer| timer.at).min()
    }

    fn due(&mut self, context: &mut Context) {
        let timers = &self.session.timers;
        let first = timers.iter().enumerate().min_by_key(|(_, timer)| timer.at);
        let Some(at) = first.filter(|(_, t)| t.at <= context.now).map(|(at, _)| at) else { return };
        let timer = self.session.timers.remove(at);
        if timer.row.is_some() {
            self.session.row = timer.row;
        }
        context.cause = timer.cause;
        self.run(&timer.script, context);
    }

    fn restart(&mut self) {
        let file = Arc::clone(&self.file);
        self.reset(|name| file.spec.saved.iter().any(|saved| saved == name));
    }

    fn clear_data(&mut self) {
        self.reset(|_| false);
    }

    fn saved(&self) -> Values {
        let saved = |name: &str| self.file.spec.saved.iter().any(|saved| saved == name);
        self.collect(&str::to_owned, &saved)
    }

    fn values(&self) -> Values {
        let mut values = self.collect(&|name| format!("{}.{name}", self.file.package), &|_| true);
        for (name, rows) in &self.lists {
            let name = format!("{}.{name}.rows", self.file.package);
            values.sliders.insert(name, rows.rows.len() as f32);
        }
        values
    }
}

impl UserApp {
    fn collect(&self, full: &dyn Fn(&str) -> String, wanted: &dyn Fn(&str) -> bool) -> Values {
        let mut values = Values::default();
        for (name, value) in self.values.iter().filter(|(name, _)| wanted(name)) {
            match value {
                Scalar::Flag(flag) => drop(values.switches.insert(full(name), *flag)),
                Scalar::Number(number) => drop(values.sliders.insert(full(name), *number as f32)),
                Scalar::Text(text) => drop(values.fields.insert(full(name), text.clone())),
            }
        }
        values
    }
}
