//! Compares the lines of an answer with the view objects.

use std::collections::BTreeMap;

use mdm_virtual_device::ViewTruth;

use crate::table::{Setting, State};

/// Faults of the product that are known and open: a state, what is wrong, and why it is not mended here.
pub const OPEN: [(&str, &str, &str); 9] = [
    ("edit_hint", EMPTY, HINT),
    ("auto_empty", EMPTY, HINT),
    ("search_open", EMPTY, HINT),
    ("text_dots", UNSAID, "a secret that is no field has no line; it should say that something is hidden"),
    ("edit_password", SECRET, "not known yet: another field on that page shows the same letters openly"),
    ("popup_menu", UNCHECKED, "not known yet: the judge finds no line for a box without words"),
    ("popup_menu", DISABLED, "rows of a list take no taps themselves, and only controls are called disabled"),
    (
        "suggestions",
        UNSAID,
        "a dump shows the window with the focus only: the list of suggestions is not in it",
    ),
    ("text_transparent", UNSAID, "its alpha is 0: nobody sees it, and the truth does not know that"),
];
const HINT: &str = "this dump does not say which of the two a text is, and the line does not say so either";
const EMPTY: &str = "the field is empty, its hint is told as its value";
const SECRET: &str = "a secret is told";
const UNCHECKED: &str = "whether it is checked is not told";
const UNSAID: &str = "its text is on no line";
const DISABLED: &str = "it is disabled, and no line says so";

#[derive(Debug, Default)]
pub struct Judgement {
    pub states: usize,
    /// Facts of views that were compared with a line.
    pub facts: usize,
    /// What a line says and is not so, or does not say: the state, and what is wrong.
    pub wrong: Vec<(String, String)>,
    /// By the kind of value: how often the view has one and no line claims to know it.
    pub unknown: BTreeMap<String, usize>,
}

impl Judgement {
    pub fn add(&mut self, other: Judgement) {
        self.states += other.states;
        self.facts += other.facts;
        self.wrong.extend(other.wrong);
        for (name, count) in other.unknown {
            *self.unknown.entry(name).or_default() += count;
        }
    }

    /// Splits what is wrong into new faults and those that are known.
    pub fn new_faults(&self) -> Vec<String> {
        let known = |state: &str, problem: &str| {
            OPEN.iter().any(|(name, what, _)| *name == state && problem.starts_with(what))
        };
        let new = self.wrong.iter().filter(|(state, problem)| !known(state, problem));
        new.map(|(state, problem)| format!("{state}: {problem}")).collect()
    }
}

/// What is being judged: a state, the views that belong to it, and the answer.
struct Case<'a> {
    state: &'a State,
    setting: Setting,
    tree: &'a str,
    all: Judgement,
}

pub fn judge(shown: &[&State], views: &[ViewTruth], tree: &str, setting: Setting) -> Judgement {
    let mut all = Judgement::default();
    let page = views.iter().find(|view| view.id.ends_with(":id/page")).map(|view| view.window);
    for state in shown.iter().copied().filter(|state| state.unjudged.is_none()) {
        let mut case = Case { state, setting, tree, all: Judgement { states: 1, ..Judgement::default() } };
        let id = format!("org.mdm.widgets:id/{}", state.id);
        let own = views.iter().find(|view| view.id == id);
        let opened: Vec<&ViewTruth> = views.iter().filter(|view| Some(view.window) != page).collect();
        match own {
            _ if state.window.is_some() => opened.into_iter().for_each(|view| case.view(view, None)),
            Some(own) => {
                let line = line_of(tree, &state.id);
                case.root(own, line);
                below(own, views).into_iter().for_each(|view| case.view(view, line));
            }
            None if line_of(tree, &state.id).is_some() => case.wrong("it is not on the screen"),
            None => {}
        }
        all.add(case.all);
    }
    all
}

/// Returns a view and everything inside it that can be seen.
fn below<'a>(own: &'a ViewTruth, views: &'a [ViewTruth]) -> Vec<&'a ViewTruth> {
    let mut inside = vec![own.number];
    let mut found = Vec::new();
    // Each view comes after its parent.
    for view in views {
        if view.number == own.number || inside.contains(&view.parent) {
            inside.push(view.number);
            found.push(view);
        }
    }
    found
}

impl Case<'_> {
    fn wrong(&mut self, problem: &str) {
        let problem = format!("{problem} ({})", self.setting.name());
        self.all.wrong.push((self.state.id.clone(), problem));
    }

    /// Judges the line of the widget itself.
    fn root(&mut self, view: &ViewTruth, line: Option<&str>) {
        if !is_seen(view) {
            if line.is_some() {
                self.wrong("it is not on the screen");
            }
            return;
        }
        let told = |word: &str| line.is_some_and(|line| says(line, word));
        self.all.facts += 2;
        if view.selected != told("selected") {
            self.wrong("whether it is selected is not told");
        }
        if told("disabled") && view.enabled {
            self.wrong("it is not disabled");
        }
        if let Some(line) = line {
            self.label(view, line);
        }
        for (name, value) in &view.facts {
            let is_value = ["progress", "rating", "error"].contains(&name.as_str());
            if is_value && !line.is_some_and(|line| says(line, value) || line.contains(value.as_str())) {
                *self.all.unknown.entry(name.clone()).or_default() += 1;
            }
        }
    }

    /// A name of a control is its own, or none.
    fn label(&mut self, view: &ViewTruth, line: &str) {
        let role = line.split(' ').nth(1).unwrap_or_default();
        if !["slider", "progress", "field", "stepper"].contains(&role) {
            return;
        }
        let Some(name) = line.split_once(role).and_then(|(_, rest)| rest.strip_prefix(" \"")) else { return };
        let name = name.split('"').next().unwrap_or_default();
        let hint = view.facts.iter().find(|(fact, _)| fact == "hint").map_or("", |(_, hint)| hint);
        self.all.facts += 1;
        if ![view.text.as_str(), view.description.as_str(), hint].contains(&name) {
            self.wrong(&format!("its name is not {name:?}"));
        }
    }

    /// Judges what is told of a view, on the widget's own line or on any other.
    fn view(&mut self, view: &ViewTruth, own: Option<&str>) {
        if !is_seen(view) {
            return;
        }
        let words = view.text.trim();
        let is_field = view.facts.iter().any(|(name, _)| name == "inputType");
        let secret = is_secret(view);
        if is_field && words.is_empty() {
            self.all.facts += 1;
            let hint = view.facts.iter().find(|(name, _)| name == "hint").map(|(_, hint)| hint.clone());
            if hint.is_some_and(|hint| self.tree.contains(&format!("field = \"{hint}\""))) {
                self.wrong(EMPTY);
            }
        }
        let lines: Vec<&str> = match words {
            "" => own.into_iter().collect(),
            words => self.tree.lines().filter(|line| holds(line, words)).collect(),
        };
        if !words.is_empty() {
            self.all.facts += 1;
            match (secret, lines.is_empty()) {
                (false, true) => self.wrong(UNSAID),
                (true, false) => self.wrong("a secret is told"),
                _ => {}
            }
        }
        if secret || (lines.is_empty() && !words.is_empty()) {
            return;
        }
        if let Some(checked) = view.checked {
            self.all.facts += 1;
            let told = |line: &&str| {
                let (on, off) =
                    (says(line, "on") || says(line, "checked"), says(line, "off") || says(line, "unchecked"));
                (on, off) == (checked, !checked)
            };
            if !lines.iter().any(told) {
                self.wrong("whether it is checked is not told");
            }
        }
        let is_control = view.clickable || view.checked.is_some() || view.class.ends_with("Bar");
        if !view.enabled && is_control {
            self.all.facts += 1;
            if !lines.iter().any(|line| says(line, "disabled")) {
                self.wrong(DISABLED);
            }
        }
        if !view.enabled && view.class.ends_with("ListMenuItemView") {
            self.all.facts += 1;
            self.wrong(DISABLED);
        }
    }
}

fn is_seen(view: &ViewTruth) -> bool {
    view.visible.2 > view.visible.0 && view.visible.3 > view.visible.1
}

fn is_secret(view: &ViewTruth) -> bool {
    const PASSWORDS: [&str; 2] = ["129", "18"];
    view.facts.iter().any(|(name, value)| name == "inputType" && PASSWORDS.contains(&value.as_str()))
}

fn line_of<'a>(tree: &'a str, id: &str) -> Option<&'a str> {
    let mark = format!("#{id}");
    let has = |line: &&str| line.split([' ', ',']).any(|word| word == mark);
    tree.lines().skip(1).map(str::trim).find(has)
}

/// True if the line says a word of its own, not of the app's.
fn says(line: &str, word: &str) -> bool {
    let plain: Vec<&str> = line.split('"').step_by(2).collect();
    plain.join(" ").split([' ', ',']).any(|part| part == word)
}

/// True if the line quotes these words; capitals are the theme's.
fn holds(line: &str, words: &str) -> bool {
    let start: String = words.lines().next().unwrap_or_default().chars().take(40).collect();
    line.to_lowercase().contains(&start.replace('"', "\\\"").to_lowercase())
}
