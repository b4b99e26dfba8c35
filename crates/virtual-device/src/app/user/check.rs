//! Checks beyond the file format: names that must exist, kinds that must fit, limits.

use std::collections::{BTreeMap, BTreeSet};

use super::names;
use super::spec::{Action, AppSpec, Condition, Kind, Scalar, Script, WidgetSpec};
use super::template;
use crate::app::parts::UP;

const SCREENS_MAX: usize = 100;
const STORM_LINES_MAX: u32 = 2000;
const STORM_TIMES_MAX: u32 = 100_000;
const DIALOGS_MAX: usize = 100;
const ANSWERS_MAX: usize = 3;
const VALUES_MAX: usize = 1000;
const LISTS_MAX: usize = 100;
pub const ROWS_MAX: usize = 1000;
const COLUMNS_MAX: usize = 50;
const WIDGETS_MAX: usize = 5000;
/// The nesting of widgets.
const DEPTH_MAX: usize = 24;
const GLIDE_MAX: i32 = 10;
const OPTIONS_MAX: usize = 50;
const ACTIONS_MAX: usize = 10_000;
/// The length of one text in the file.
const TEXT_CHARS_MAX: usize = 4096;
/// The largest length in dp.
const LENGTH_DP_MAX: i32 = 10_000;
/// The longest delay: ten minutes.
const DELAY_MS_MAX: u64 = 600_000;
const NUMBER_MAX: f64 = 1e12;

#[derive(Debug)]
pub struct Problem {
    pub place: String,
    pub problem: String,
}

impl Problem {
    pub fn new(place: &str, problem: &str) -> Problem {
        Problem { place: place.to_owned(), problem: problem.to_owned() }
    }
}

type Checked = Result<(), Problem>;

/// The names that the rest of the file may refer to.
struct KnownNames {
    values: BTreeMap<String, &'static str>,
    lists: BTreeMap<String, BTreeSet<String>>,
    screens: BTreeSet<String>,
    dialogs: BTreeSet<String>,
    /// Names of fields with the values that they fill.
    fields: BTreeSet<String>,
}

struct Checker {
    facts: KnownNames,
    path: Vec<String>,
    keys: BTreeSet<&'static str>,
    widgets: usize,
    actions: usize,
    /// The list whose row is being checked.
    list: Option<String>,
}

/// Checks a file, and gives every widget and answer its number.
pub fn check(spec: &mut AppSpec) -> Checked {
    let mut facts = KnownNames {
        values: spec.values.iter().map(|(name, value)| (name.clone(), value.kind())).collect(),
        lists: BTreeMap::new(),
        screens: spec.screens.keys().cloned().collect(),
        dialogs: spec.dialogs.keys().cloned().collect(),
        fields: BTreeSet::new(),
    };
    for (name, list) in &spec.lists {
        facts.lists.insert(name.clone(), list.columns.iter().cloned().collect());
    }
    for screen in spec.screens.values() {
        fields_of(&screen.content, &mut facts.fields);
    }
    let keys = BTreeSet::from([UP, "page", "menu_option"]);
    let mut checker = Checker { facts, path: Vec::new(), keys, widgets: 0, actions: 0, list: None };
    checker.counts(spec)?;
    checker.data(spec)?;
    checker.screens(spec)?;
    checker.dialogs(spec)
}

fn fields_of(widgets: &[WidgetSpec], fields: &mut BTreeSet<String>) {
    for widget in widgets {
        if widget.kind == Kind::Field {
            fields.extend(widget.value.clone());
        }
        fields_of(&widget.children, fields);
    }
}

impl Checker {
    fn wrong<T>(&self, problem: impl Into<String>) -> Result<T, Problem> {
        let mut place = String::new();
        for step in &self.path {
            if !place.is_empty() && !step.starts_with('[') {
                place.push('.');
            }
            place.push_str(step);
        }
        Err(Problem { place, problem: problem.into() })
    }

    fn at(&mut self, step: impl Into<String>, look: impl FnOnce(&mut Checker) -> Checked) -> Checked {
        self.path.push(step.into());
        look(self)?;
        self.path.pop();
        Ok(())
    }

    fn counts(&mut self, spec: &AppSpec) -> Checked {
        for (name, count, most) in [
            ("screens", spec.screens.len(), SCREENS_MAX),
            ("dialogs", spec.dialogs.len(), DIALOGS_MAX),
            ("values", spec.values.len(), VALUES_MAX),
            ("lists", spec.lists.len(), LISTS_MAX),
        ] {
            self.at(name, |c| c.at_most(count, most))?;
        }
        Ok(())
    }

    fn at_most(&self, count: usize, most: usize) -> Checked {
        if count > most { self.wrong(format!("{count} are more than {most}")) } else { Ok(()) }
    }

    fn data(&mut self, spec: &AppSpec) -> Checked {
        for (name, value) in &spec.values {
            self.at("values", |c| c.at(name, |c| c.scalar(value)))?;
        }
        for (name, list) in &spec.lists {
            self.at("lists", |c| {
                c.at(name, |c| {
                    c.at("columns", |c| c.at_most(list.columns.len(), COLUMNS_MAX))?;
                    c.at("rows", |c| {
                        c.at_most(list.rows.len(), ROWS_MAX)?;
                        for (at, row) in list.rows.iter().enumerate() {
                            c.at(format!("[{at}]"), |c| {
                                c.columns(row, Some(name))?;
                                row.values().try_for_each(|text| c.short(text))
                            })?;
                        }
                        Ok(())
                    })
                })
            })?;
        }
        for name in &spec.saved {
            if !spec.values.contains_key(name) && !spec.lists.contains_key(name) {
                return self.at("saved", |c| c.wrong(format!("there is no value or list \"{name}\"")));
            }
        }
        Ok(())
    }

    /// Checks that every member of a row is a column of this list or, without one, of any list.
    fn columns(&self, row: &BTreeMap<String, String>, list: Option<&str>) -> Checked {
        for name in row.keys() {
            let mut lists = self.facts.lists.iter().filter(|(known, _)| list.is_none_or(|l| l == *known));
            if !lists.any(|(_, columns)| columns.contains(name)) {
                return self.wrong(format!("there is no column \"{name}\""));
            }
        }
        Ok(())
    }

    fn scalar(&self, value: &Scalar) -> Checked {
        match value {
            Scalar::Number(number) if number.abs() > NUMBER_MAX => self.wrong("the number is too large"),
            Scalar::Text(text) => self.short(text),
            Scalar::Number(_) | Scalar::Flag(_) => Ok(()),
        }
    }

    fn short(&self, text: &str) -> Checked {
        if text.chars().nth(TEXT_CHARS_MAX).is_some() {
            return self.wrong(format!("a text has at most {TEXT_CHARS_MAX} characters"));
        }
        Ok(())
    }

    fn screens(&mut self, spec: &mut AppSpec) -> Checked {
        for (name, screen) in &mut spec.screens {
            self.at("screens", |c| {
                c.at(name, |c| {
                    if let Some(title) = &screen.title {
                        c.at("title", |c| c.template(title))?;
                    }
                    c.at("content", |c| c.widgets(&mut screen.content, 1))?;
                    c.at("on_open", |c| c.script(&screen.on_open))
                })
            })?;
        }
        Ok(())
    }

    fn dialogs(&mut self, spec: &mut AppSpec) -> Checked {
        for (name, dialog) in &mut spec.dialogs {
            self.at("dialogs", |c| {
                c.at(name, |c| {
                    c.at("title", |c| c.template(&dialog.title))?;
                    c.at("message", |c| c.template(&dialog.message))?;
                    c.at("list", |c| c.widgets(&mut dialog.list, 1))?;
                    c.at("content", |c| c.widgets(&mut dialog.content, 1))?;
                    c.at("answers", |c| {
                        if dialog.answers.len() > ANSWERS_MAX {
                            return c.wrong(format!("a dialog has at most {ANSWERS_MAX} answers"));
                        }
                        for (at, answer) in dialog.answers.iter_mut().enumerate() {
                            c.at(format!("[{at}]"), |c| {
                                c.at("text", |c| c.template(&answer.text))?;
                                answer.key = c.key("answer")?;
                                c.at("do", |c| c.script(&answer.script))
                            })?;
                        }
                        Ok(())
                    })
                })
            })?;
        }
        Ok(())
    }

    fn widgets(&mut self, widgets: &mut [WidgetSpec], depth: usize) -> Checked {
        if depth > DEPTH_MAX && !widgets.is_empty() {
            return self.wrong(format!("widgets are nested deeper than {DEPTH_MAX}"));
        }
        for (at, widget) in widgets.iter_mut().enumerate() {
            self.at(format!("[{at}]"), |c| c.widget(widget, depth))?;
        }
        Ok(())
    }

    fn widget(&mut self, widget: &mut WidgetSpec, depth: usize) -> Checked {
        self.widgets += 1;
        if self.widgets > WIDGETS_MAX {
            return self.wrong(format!("the file has more than {WIDGETS_MAX} widgets"));
        }
        self.words(widget)?;
        self.lengths(widget)?;
        self.binding(widget)?;
        let base = widget.value.as_deref().unwrap_or(&widget.id).to_owned();
        widget.key = self.key(if base.is_empty() { "widget" } else { &base })?;
        self.at("when", |c| c.conditions(&widget.when))?;
        self.at("enabled_when", |c| c.conditions(&widget.enabled_when))?;
        if !widget.children.is_empty() && !widget.kind.holds_others() {
            return self.at("children", |c| c.wrong("this type holds no other widgets"));
        }
        let outer = self.list.clone();
        if widget.kind.has_rows() {
            self.rows(widget)?;
        }
        self.at("on_tap", |c| c.script(&widget.on_tap))?;
        self.at("on_long_press", |c| c.script(&widget.on_long_press))?;
        self.scrolling(widget)?;
        self.at("children", |c| c.widgets(&mut widget.children, depth + 1))?;
        self.list = outer;
        Ok(())
    }

    fn scrolling(&mut self, widget: &WidgetSpec) -> Checked {
        let scrolls = widget.kind.has_rows() || widget.kind == Kind::Scroll;
        if !scrolls && (widget.sideways || widget.locked || !widget.on_end.0.is_empty()) {
            return self.wrong("only a list or a scroll has \"sideways\", \"locked\" and \"on_end\"");
        }
        if widget.glide.is_some_and(|times| !scrolls || !(1..=GLIDE_MAX).contains(&times)) {
            return self
                .at("glide", |c| c.wrong(format!("a list or a scroll glides 1 to {GLIDE_MAX} times")));
        }
        self.at("on_end", |c| c.script(&widget.on_end))
    }

    fn words(&mut self, widget: &mut WidgetSpec) -> Checked {
        for (name, text) in
            [("text", &widget.text), ("description", &widget.description), ("hint", &widget.hint)]
        {
            self.at(name, |c| c.template(text))?;
        }
        self.at("id", |c| c.short(&widget.id))?;
        if let Some(class) = &widget.class {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$');
            if class.is_empty() || !class.chars().all(plain) {
                return self.at("class", |c| c.wrong("a class is a name such as android.widget.Button"));
            }
            widget.class_name = Some(self.keep(class)?);
        }
        if widget.options.len() > OPTIONS_MAX {
            return self.at("options", |c| c.at_most(widget.options.len(), OPTIONS_MAX));
        }
        widget.options.iter().chain(&widget.option).try_for_each(|text| self.short(text))
    }

    fn lengths(&mut self, widget: &WidgetSpec) -> Checked {
        for (name, length) in [
            ("width", widget.width),
            ("height", widget.height),
            ("padding", widget.padding),
            ("gap", widget.gap),
            ("x", widget.x),
            ("y", widget.y),
        ] {
            if length.is_some_and(|dp| !(0..=LENGTH_DP_MAX).contains(&dp)) {
                return self.at(name, |c| c.wrong(format!("must be from 0 to {LENGTH_DP_MAX} dp")));
            }
        }
        Ok(())
    }

    /// Checks that the value of a widget exists and has the right kind.
    fn binding(&mut self, widget: &WidgetSpec) -> Checked {
        let wanted = match widget.kind {
            Kind::Field | Kind::Radio | Kind::Tab | Kind::DropDown | Kind::TabHost => "a text",
            Kind::DatePicker | Kind::TimePicker | Kind::Calendar => "a text",
            Kind::Switch | Kind::CheckBox | Kind::Toggle | Kind::CheckedText => "true or false",
            Kind::Slider | Kind::Rating | Kind::NumberPicker | Kind::Chronometer => "a number",
            Kind::Progress if widget.value.is_some() => "a number",
            Kind::Search if widget.value.is_some() => "a text",
            _ if widget.value.is_some() => return self.at("value", |c| c.wrong("this type has no value")),
            _ => return Ok(()),
        };
        let Some(value) = &widget.value else {
            return self.wrong("this type needs a \"value\"");
        };
        let column = self.list.as_ref().and_then(|list| self.facts.lists.get(list));
        if wanted == "true or false" && column.is_some_and(|columns| columns.contains(value)) {
            return Ok(());
        }
        self.at("value", |c| c.value(value, Some(wanted)))?;
        match widget.kind {
            Kind::Radio | Kind::Tab if widget.option.is_none() => self.wrong("this type needs an \"option\""),
            Kind::DropDown if widget.options.is_empty() => self.wrong("this type needs \"options\""),
            Kind::Field if self.list.is_some() => self.wrong("a row of a list cannot hold a field"),
            Kind::Slider => self.range(widget),
            _ => Ok(()),
        }
    }

    fn range(&self, widget: &WidgetSpec) -> Checked {
        let (low, high) = (widget.min.unwrap_or(0.0), widget.max.unwrap_or(100.0));
        if low >= high || low.abs() > NUMBER_MAX || high.abs() > NUMBER_MAX {
            return self.wrong("\"min\" must be less than \"max\"");
        }
        if widget.step.is_some_and(|step| step <= 0.0 || step > high - low) {
            return self.wrong("\"step\" must be more than 0 and fit between \"min\" and \"max\"");
        }
        Ok(())
    }

    fn value(&self, name: &str, wanted: Option<&'static str>) -> Checked {
        match (self.facts.values.get(name), wanted) {
            (None, _) => self.wrong(format!("there is no value \"{name}\"")),
            (Some(kind), Some(wanted)) if *kind != wanted => {
                self.wrong(format!("the value \"{name}\" is {kind}, not {wanted}"))
            }
            _ => Ok(()),
        }
    }

    fn rows(&mut self, widget: &WidgetSpec) -> Checked {
        if self.list.is_some() {
            return self.wrong("a list cannot be in a row of a list");
        }
        match &widget.rows {
            Some(list) if self.facts.lists.contains_key(list) => {
                self.list = Some(list.clone());
                Ok(())
            }
            Some(list) => self.at("rows", |c| c.wrong(format!("there is no list \"{list}\""))),
            None => self.wrong("a list needs \"rows\""),
        }
    }

    /// Checks that names in braces are values or columns of a list.
    fn template(&self, text: &str) -> Checked {
        self.short(text)?;
        for name in template::names(text) {
            let column = self.facts.lists.values().any(|columns| columns.contains(name));
            if !column && !self.facts.values.contains_key(name) {
                return self.wrong(format!("there is no value or column \"{name}\""));
            }
        }
        Ok(())
    }

    fn key(&mut self, base: &str) -> Result<&'static str, Problem> {
        let mut kept = self.keep(base)?;
        if self.keys.contains(kept) {
            kept = self.keep(&format!("{base}#{}", self.keys.len()))?;
        }
        self.keys.insert(kept);
        Ok(kept)
    }

    fn keep(&self, name: &str) -> Result<&'static str, Problem> {
        match names::keep(name) {
            Some(kept) => Ok(kept),
            None => self.wrong("this process has loaded too many different names"),
        }
    }

    fn conditions(&mut self, conditions: &[Condition]) -> Checked {
        for (at, condition) in conditions.iter().enumerate() {
            self.at(format!("[{at}]"), |c| c.condition(condition))?;
        }
        Ok(())
    }

    fn condition(&self, condition: &Condition) -> Checked {
        let compared = [&condition.is, &condition.not];
        match (&condition.value, &condition.rows) {
            (Some(value), None) => {
                for other in compared.into_iter().flatten() {
                    self.value(value, Some(other.kind()))?;
                }
                let ordered = condition.at_least.is_some() || condition.at_most.is_some();
                self.value(value, ordered.then_some("a number"))
            }
            (None, Some(list)) if self.facts.lists.contains_key(list) && condition.empty.is_some() => Ok(()),
            (None, Some(list)) => self.wrong(format!("a list \"{list}\" with \"empty\" is wanted here")),
            _ => self.wrong("a condition is about one \"value\" or about the \"rows\" of one list"),
        }
    }

    fn script(&mut self, script: &Script) -> Checked {
        for (at, action) in script.0.iter().enumerate() {
            self.actions += 1;
            if self.actions > ACTIONS_MAX {
                return self.wrong(format!("the file has more than {ACTIONS_MAX} actions"));
            }
            self.at(format!("[{at}]"), |c| c.action(action))?;
        }
        Ok(())
    }

    fn action(&mut self, action: &Action) -> Checked {
        match action {
            Action::Go(screen) | Action::Replace(screen) => {
                self.known(self.facts.screens.contains(screen), "screen", screen)
            }
            Action::Dialog(dialog) => self.known(self.facts.dialogs.contains(dialog), "dialog", dialog),
            Action::Toast(text) => self.template(text),
            Action::Notify { title, text } => self.template(title).and_then(|()| self.template(text)),
            Action::Set(values) => values.iter().try_for_each(|(name, value)| {
                let text = matches!(value, Scalar::Text(_));
                self.value(name, Some(value.kind()))?;
                if text { self.template(&value.shown()) } else { self.scalar(value) }
            }),
            Action::Toggle(name) => self.value(name, Some("true or false")),
            Action::Add(values) => values.iter().try_for_each(|(name, by)| {
                self.scalar(&Scalar::Number(*by))?;
                self.value(name, Some("a number"))
            }),
            Action::RemoveRowAt { from, .. } => self.known(self.facts.lists.contains_key(from), "list", from),
            Action::AddRow { to, row, .. } => {
                self.known(self.facts.lists.contains_key(to), "list", to)?;
                self.columns(row, Some(to))?;
                row.values().try_for_each(|text| self.template(text))
            }
            Action::SetRow(row) => {
                self.columns(row, None)?;
                row.values().try_for_each(|text| self.template(text))
            }
            Action::Log { priority, tag, message } => {
                if !"VDIWEF".contains(*priority) {
                    return self.wrong("a priority is one of V, D, I, W, E and F");
                }
                self.keep(tag)?;
                self.template(message)
            }
            Action::LogStorm(storm) => {
                self.keep(&storm.tag)?;
                if !(1..=STORM_LINES_MAX).contains(&storm.lines)
                    || !(1..=STORM_TIMES_MAX).contains(&storm.times)
                {
                    return self.wrong(format!(
                        "a storm has 1 to {STORM_LINES_MAX} lines at a time, 1 to {STORM_TIMES_MAX} times"
                    ));
                }
                self.delay(storm.every_ms)
            }
            Action::Crash(exception) => self.template(exception),
            Action::Freeze(ms) => self.delay(*ms),
            Action::Back | Action::CloseDialog | Action::HideKeyboard | Action::RemoveRow => Ok(()),
            other => self.branch(other),
        }
    }

    /// Checks actions that contain others.
    fn branch(&mut self, action: &Action) -> Checked {
        match action {
            Action::After { ms, script } => {
                self.delay(*ms)?;
                self.at("after.do", |c| c.script(script))
            }
            Action::If { all, then, otherwise } => {
                self.at("if.all", |c| c.conditions(all))?;
                self.at("if.then", |c| c.script(then))?;
                self.at("if.else", |c| c.script(otherwise))
            }
            Action::Check { fields, otherwise } => {
                for field in fields {
                    self.known(self.facts.fields.contains(field), "field with the value", field)?;
                }
                self.at("check.else", |c| c.script(otherwise))
            }
            Action::Permission { name, question, granted, denied } => {
                self.keep(name)?;
                self.keep(question)?;
                self.at("permission.granted", |c| c.script(granted))?;
                self.at("permission.denied", |c| c.script(denied))
            }
            Action::Http(http) => {
                self.template(&http.url)?;
                self.template(&http.body)?;
                if http.method.is_empty() || !http.method.chars().all(|c| c.is_ascii_uppercase()) {
                    return self.wrong("a method is a word such as GET");
                }
                http.status_to.iter().try_for_each(|name| self.value(name, Some("a number")))?;
                http.body_to.iter().try_for_each(|name| self.value(name, Some("a text")))?;
                self.at("http.ok", |c| c.script(&http.ok))?;
                self.at("http.failed", |c| c.script(&http.failed))
            }
            _ => Ok(()),
        }
    }

    fn known(&self, known: bool, what: &str, name: &str) -> Checked {
        if known { Ok(()) } else { self.wrong(format!("there is no {what} \"{name}\"")) }
    }

    fn delay(&self, ms: u64) -> Checked {
        if (1..=DELAY_MS_MAX).contains(&ms) {
            return Ok(());
        }
        self.wrong(format!("a time is from 1 to {DELAY_MS_MAX} milliseconds"))
    }
}
