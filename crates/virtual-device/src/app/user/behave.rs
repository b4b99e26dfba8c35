//! Runs the scripts of an app from a file.

use tokio::time::Duration;

use super::check::ROWS_MAX;
use super::spec::{Action, Condition, HttpSpec, Kind, LogStorm, Rules, Scalar, Script, WidgetSpec};
use super::{MENU_OPTION, REQUESTS_MAX, Row, RowAt, UserApp, names, toolkit};
use crate::app::widget::Key;
use crate::app::workbench::FIELD_CHARS_MAX;
use crate::app::{Context, Effect, HttpAnswer, HttpRequest};

/// Actions that one event may lead to.
const STEPS_MAX: usize = 1000;

/// Tells whether the rest of a script still runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    Stop,
}

impl UserApp {
    pub(super) fn run(&mut self, script: &Script, context: &mut Context) {
        let mut steps = STEPS_MAX;
        self.steps(script, &mut steps, context);
    }

    fn steps(&mut self, script: &Script, left: &mut usize, context: &mut Context) -> Flow {
        for action in script.0.iter() {
            *left = left.saturating_sub(1);
            if *left == 0 || self.step(action, left, context) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::On
    }

    fn step(&mut self, action: &Action, left: &mut usize, context: &mut Context) -> Flow {
        match action {
            Action::If { all, then, otherwise } => {
                let script = if self.hold(all) { then } else { otherwise };
                return self.steps(script, left, context);
            }
            Action::Check { fields, otherwise } => {
                self.session.checked.extend(fields.iter().cloned());
                if fields.iter().any(|field| self.mistake_of(field).is_some()) {
                    self.steps(otherwise, left, context);
                    return Flow::Stop;
                }
            }
            Action::After { ms, script } => {
                let at = context.now + Duration::from_millis(*ms);
                self.after(at, script.clone(), self.session.row.clone(), context.cause);
            }
            Action::LogStorm(storm) => self.log_storm(storm, context),
            Action::Http(http) => self.ask(http, context),
            Action::Set(_) | Action::Toggle(_) | Action::Add(_) => self.change(action),
            Action::AddRow { .. } | Action::SetRow(_) | Action::RemoveRow | Action::RemoveRowAt { .. } => {
                self.change_rows(action);
            }
            Action::Permission { name, question, granted, denied } => {
                self.session.asked = Some((granted.clone(), denied.clone()));
                if let (Some(name), Some(question)) = (names::keep(name), names::keep(question)) {
                    context.push(Effect::AskPermission { name, question });
                }
            }
            other => self.effect(other, context),
        }
        Flow::On
    }

    fn log_storm(&mut self, storm: &LogStorm, context: &mut Context) {
        let tag = names::keep(&storm.tag).unwrap_or("App");
        let next = storm.next + u64::from(storm.lines);
        (storm.next..next).for_each(|number| context.log('I', tag, format!("line {number} of a storm")));
        if storm.times > 1 {
            let rest = LogStorm { times: storm.times - 1, next, ..storm.clone() };
            let at = context.now + Duration::from_millis(storm.every_ms);
            let row = self.session.row.clone();
            self.after(at, Script::from(vec![Action::LogStorm(rest)]), row, context.cause);
        }
    }

    /// Runs an action that only the system can do.
    fn effect(&mut self, action: &Action, context: &mut Context) {
        let fill = |text: &str| self.fill(text, &self.session.row);
        match action {
            Action::Go(screen) => context.effects.extend(self.file.activity_of(screen).map(Effect::Start)),
            Action::Replace(screen) => {
                context.effects.extend(self.file.activity_of(screen).map(Effect::Replace));
            }
            Action::Back => context.push(Effect::Finish),
            Action::HideKeyboard => context.push(Effect::HideKeyboard),
            Action::Toast(text) => context.push(Effect::Toast(fill(text))),
            Action::Notify { title, text } => {
                context.push(Effect::Notify { title: fill(title), text: fill(text) });
            }
            Action::Log { priority, tag, message } => {
                context.log(*priority, names::keep(tag).unwrap_or("App"), fill(message));
            }
            Action::Freeze(ms) => context.push(Effect::Block(Duration::from_millis(*ms))),
            Action::Crash(exception) => {
                let package = self.file.package;
                let frames = vec![format!("{package}.AppKt.onEvent(App.kt:1)")];
                context.push(Effect::Crash { exception: fill(exception), frames });
            }
            Action::Dialog(name) => self.session.dialog = Some(name.clone()),
            Action::CloseDialog => self.session.dialog = None,
            _ => {}
        }
    }

    fn change(&mut self, action: &Action) {
        match action {
            Action::Set(values) => {
                for (name, value) in values {
                    let value = match value {
                        Scalar::Text(text) => Scalar::Text(self.fill(text, &self.session.row)),
                        other => other.clone(),
                    };
                    self.values.insert(name.clone(), value);
                }
            }
            Action::Toggle(name) => self.toggle(name, &None),
            Action::Add(values) => {
                for (name, by) in values {
                    if let Some(Scalar::Number(number)) = self.values.get_mut(name) {
                        *number = (*number + by).clamp(-1e12, 1e12);
                    }
                }
            }
            _ => {}
        }
    }

    fn change_rows(&mut self, action: &Action) {
        let at = self.session.row.clone();
        let filled = |row: &Row| -> Row {
            row.iter().map(|(name, text)| (name.clone(), self.fill(text, &at))).collect()
        };
        match action {
            Action::AddRow { to, row, at } => {
                let row = filled(row);
                if let Some(list) = self.lists.get_mut(to).filter(|list| list.rows.len() < ROWS_MAX) {
                    let at = at.unwrap_or(list.rows.len()).min(list.rows.len());
                    list.rows.insert(at, (list.next, row));
                    list.next = list.next.wrapping_add(1).max(1);
                }
            }
            Action::SetRow(row) => {
                let changes = filled(row);
                if let Some(row) = self.row_mut(&at) {
                    row.extend(changes);
                }
            }
            Action::RemoveRowAt { from, at } => {
                if let Some(list) = self.lists.get_mut(from).filter(|list| *at < list.rows.len()) {
                    list.rows.remove(*at);
                }
            }
            _ => {
                if let Some((list, number)) = self.session.row.take()
                    && let Some(list) = self.lists.get_mut(&list)
                {
                    list.rows.retain(|(known, _)| *known != number);
                }
            }
        }
    }

    /// Sets a column of the row if it has one of that name, else a value.
    fn toggle(&mut self, name: &str, row: &RowAt) {
        if let Some(column) = self.row_mut(row).and_then(|row| row.get_mut(name)) {
            *column = (column != "true").to_string();
        } else if let Some(Scalar::Flag(flag)) = self.values.get_mut(name) {
            *flag = !*flag;
        }
    }

    pub(super) fn is_on(&self, name: &str, row: &RowAt) -> bool {
        match self.row(row).and_then(|row| row.get(name)) {
            Some(column) => column == "true",
            None => self.values.get(name) == Some(&Scalar::Flag(true)),
        }
    }

    pub(super) fn tapped(&mut self, key: Key, context: &mut Context) {
        let Some((widget, list)) = self.widget(key.name) else { return };
        let row = list.map(|list| (list.to_owned(), key.index));
        let (kind, script) = (widget.kind, widget.on_tap.clone());
        let (value, option, index) = (widget.value.clone(), widget.option.clone(), key.index);
        let turned = |by| match widget.value.as_ref().and_then(|name| self.values.get(name)) {
            Some(Scalar::Number(number)) => toolkit::turned(widget, *number, by),
            _ => None,
        };
        let wheel = if index == toolkit::BEFORE { turned(-1) } else { turned(1) };
        let tab = widget.options.get(index as usize).cloned();
        let key = widget.key;
        if row.is_some() {
            self.session.row.clone_from(&row);
        }
        match (kind, value) {
            (Kind::Switch | Kind::CheckBox | Kind::Toggle | Kind::CheckedText, Some(value)) => {
                self.toggle(&value, &row);
            }
            (Kind::NumberPicker, Some(value)) => {
                self.values.extend(wheel.map(|number| (value, Scalar::Number(number as f64))));
            }
            (Kind::TabHost, Some(value)) => {
                self.values.extend(tab.map(|name| (value, Scalar::Text(name))));
            }
            (Kind::Radio | Kind::Tab, Some(value)) => {
                self.values.insert(value, Scalar::Text(option.unwrap_or_default()));
            }
            // Its script runs when something was picked.
            (Kind::DropDown, _) => {
                self.session.menu = Some(key);
                return;
            }
            _ => {}
        }
        self.run(&script, context);
    }

    pub(super) fn picked(&mut self, index: usize, context: &mut Context) {
        let menu = self.session.menu.take();
        let Some((widget, _)) = menu.and_then(|key| self.widget(key)) else { return };
        let (option, value, script) =
            (widget.options.get(index).cloned(), widget.value.clone(), widget.on_tap.clone());
        if let (Some(option), Some(value)) = (option, value) {
            self.values.insert(value, Scalar::Text(option));
            self.run(&script, context);
        }
    }

    pub(super) fn slider_moved(&mut self, key: Key, fraction: f64, context: &mut Context) {
        let Some((widget, _)) = self.widget(key.name) else { return };
        let (low, high) = range(widget);
        let mut value = low + fraction * (high - low);
        if let Some(step) = widget.step {
            value = (low + ((value - low) / step).round() * step).clamp(low, high);
        }
        let (name, script) = (widget.value.clone(), widget.on_tap.clone());
        if let Some(name) = name {
            self.values.insert(name, Scalar::Number(value));
            self.run(&script, context);
        }
    }

    pub(super) fn hold(&self, conditions: &[Condition]) -> bool {
        conditions.iter().all(|condition| self.holds(condition))
    }

    fn holds(&self, condition: &Condition) -> bool {
        if let Some(list) = condition.rows.as_ref().and_then(|name| self.lists.get(name)) {
            return condition.empty == Some(list.rows.is_empty());
        }
        let Some(value) = condition.value.as_ref().and_then(|name| self.values.get(name)) else {
            return false;
        };
        let number = if let Scalar::Number(number) = value { *number } else { 0.0 };
        condition.is.as_ref().is_none_or(|is| is == value)
            && condition.not.as_ref().is_none_or(|not| not != value)
            && condition.empty.is_none_or(|empty| empty == value.is_empty())
            && condition.at_least.is_none_or(|least| number >= least)
            && condition.at_most.is_none_or(|most| number <= most)
    }

    /// Returns the mistake of the field that fills this value, once it was checked.
    pub(super) fn mistake_of(&self, value: &str) -> Option<String> {
        let fields = |widgets| field_of(widgets, value);
        let widget = self.file.spec.screens.values().find_map(|screen| fields(&screen.content))?;
        let Some(Scalar::Text(text)) = self.values.get(value) else { return None };
        if !self.session.checked.contains(value) {
            return None;
        }
        let complaint = mistake(&widget.rules, text)?;
        Some(widget.rules.message.clone().unwrap_or(complaint))
    }

    fn ask(&mut self, http: &HttpSpec, context: &mut Context) {
        if self.session.requests.len() >= REQUESTS_MAX {
            return;
        }
        let row = &self.session.row;
        let number = self.next_request;
        let request = HttpRequest {
            number,
            method: http.method.clone(),
            url: self.fill(&http.url, row),
            body: self.fill(&http.body, row),
        };
        self.next_request = number.wrapping_add(1);
        self.session.requests.push((number, http.into()));
        context.push(Effect::Http(request));
    }

    pub(super) fn request_done(&mut self, number: u32, answer: &HttpAnswer, context: &mut Context) {
        let requests = &mut self.session.requests;
        let Some(at) = requests.iter().position(|(known, _)| *known == number) else { return };
        let (_, then) = requests.remove(at);
        let (status, body) = match answer {
            HttpAnswer::Status { status, body, .. } => (*status, body.as_str()),
            HttpAnswer::Failed(reason) => (0, reason.as_str()),
        };
        if let Some(name) = then.status_to {
            self.values.insert(name, Scalar::Number(f64::from(status)));
        }
        if let Some(name) = then.body_to {
            self.values.insert(name, Scalar::Text(body.chars().take(FIELD_CHARS_MAX).collect()));
        }
        let script = if (200..300).contains(&status) { then.ok } else { then.failed };
        self.run(&script, context);
    }
}

/// What an app does after the answer to a request.
pub(super) struct AfterAnswer {
    status_to: Option<String>,
    body_to: Option<String>,
    ok: Script,
    failed: Script,
}

impl From<&HttpSpec> for AfterAnswer {
    fn from(http: &HttpSpec) -> AfterAnswer {
        AfterAnswer {
            status_to: http.status_to.clone(),
            body_to: http.body_to.clone(),
            ok: http.ok.clone(),
            failed: http.failed.clone(),
        }
    }
}

pub(super) fn option_key(index: u32) -> Key {
    Key { name: MENU_OPTION, index }
}

pub(super) fn range(widget: &WidgetSpec) -> (f64, f64) {
    let most = if widget.kind == Kind::Rating { 5.0 } else { 100.0 };
    (widget.min.unwrap_or(0.0), widget.max.unwrap_or(most))
}

fn field_of<'a>(widgets: &'a [WidgetSpec], value: &str) -> Option<&'a WidgetSpec> {
    widgets.iter().find_map(|widget| {
        let own = widget.kind == Kind::Field && widget.value.as_deref() == Some(value);
        if own { Some(widget) } else { field_of(&widget.children, value) }
    })
}

fn mistake(rules: &Rules, text: &str) -> Option<String> {
    let text = text.trim();
    let count = text.chars().count();
    if text.is_empty() {
        return rules.required.then(|| "Required".to_owned());
    }
    if let Some(least) = rules.min_chars.filter(|least| count < *least) {
        return Some(format!("At least {least} characters"));
    }
    if let Some(most) = rules.max_chars.filter(|most| count > *most) {
        return Some(format!("At most {most} characters"));
    }
    if let Some(digits) = rules.digits {
        let own = text.chars().filter(char::is_ascii_digit).count();
        if own != digits || text.chars().any(|c| !c.is_ascii_digit() && c != ' ') {
            return Some(format!("Enter {digits} digits"));
        }
    }
    let parts = text.split_once('@');
    let email =
        parts.is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !host.contains('@'));
    (rules.email && !email).then(|| "Enter an email address".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_complaint() {
        let rules = |json: &str| serde_json::from_str::<Rules>(json).unwrap_or_default();
        for (json, text, wanted) in [
            (r#"{"required":true}"#, " ", Some("Required")),
            (r#"{"min_chars":3}"#, "ab", Some("At least 3 characters")),
            (r#"{"min_chars":3}"#, "abc", None),
            (r#"{"min_chars":3}"#, "", None),
            (r#"{"max_chars":3}"#, "abcd", Some("At most 3 characters")),
            (r#"{"digits":5}"#, "12 345", None),
            (r#"{"digits":5}"#, "1234x", Some("Enter 5 digits")),
            (r#"{"email":true}"#, "ada@example", Some("Enter an email address")),
            (r#"{"email":true}"#, "ada@example.com", None),
        ] {
            assert_eq!(mistake(&rules(json), text).as_deref(), wanted, "{json} {text}");
        }
    }
}
