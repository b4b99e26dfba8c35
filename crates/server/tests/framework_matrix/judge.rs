//! Compares the lines of an answer with the view objects: all of a page as in the other judge (words and states that
//! reach no line, and things said that are not so), and of each state its own line.

use std::collections::BTreeMap;

use mdm_virtual_device::ViewTruth;

use crate::lines::{self, Hidden, Line};
use crate::reading;
use crate::table::{Setting, State};
use crate::views::{Screen, contains, fact, has, readable};

/// What a view has and a dump does not tell, so that no line can.
const VALUES: [&str; 3] = ["progress", "rating", "error"];
const HINT_OR_VALUE: &str = "whether the text of a field is its value or its hint";
const LENGTH: &str = "whether a secret field is empty";
const OTHER_WINDOW: &str = "words in a window without the focus";

#[derive(Debug, Default)]
pub struct Judgement {
    pub states: usize,
    /// Facts of views that were compared with a line.
    pub facts: usize,
    /// What a line says and is not so, or does not say: the states of the page, and what is wrong.
    pub wrong: Vec<(String, String)>,
    /// By the kind of fact: how often the view has one and no line claims to know it.
    pub unknown: BTreeMap<&'static str, usize>,
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

    fn unknown(&mut self, what: &'static str) {
        *self.unknown.entry(what).or_default() += 1;
    }
}

/// Some states on one page, what the views hold, and what the product says of it.
pub struct Page<'a> {
    pub setting: Setting,
    pub shown: &'a [&'a State],
    pub before: &'a Screen,
    pub after: &'a Screen,
    /// Views of windows without the focus, without those of the page itself.
    pub unfocused: &'a [ViewTruth],
    pub tree: &'a str,
}

pub fn judge(page: &Page<'_>) -> Judgement {
    let lines = lines::read(page.tree);
    let mut case = Case { screen: page.after, lines: &lines, all: Judgement::default() };
    let reading = reading::judge(page.before, page.after, &lines);
    case.all.facts += reading.facts;
    case.all
        .wrong
        .extend(reading.lost.into_iter().map(|lost| (String::new(), format!("on no line: {lost}"))));
    case.all.wrong.extend(reading.untrue.into_iter().map(|untrue| (String::new(), untrue)));
    for state in page.shown.iter().filter(|state| state.unjudged.is_none()) {
        case.all.states += 1;
        if state.window.is_none() {
            case.state(state);
        }
    }
    page.after
        .seen()
        .filter(|view| has(view, "inputType") || has(view, "password"))
        .for_each(|v| case.field(v));
    for view in page.unfocused.iter().filter(|view| readable(&view.text).is_some()) {
        case.all.unknown(OTHER_WINDOW);
        let words = readable(&view.text).unwrap_or_default();
        if lines.iter().any(|line| line.words.iter().any(|said| said.is(&words))) {
            case.wrong("", "a window without the focus is told");
        }
    }
    let ids: Vec<&str> = page.shown.iter().map(|state| state.id.as_str()).collect();
    for (state, problem) in &mut case.all.wrong {
        let of = if state.is_empty() { ids.join(" ") } else { std::mem::take(state) };
        *state = format!("{} ({})", of, page.setting.name());
        problem.truncate(problem.find('\n').unwrap_or(problem.len()));
    }
    case.all
}

struct Case<'a> {
    screen: &'a Screen,
    lines: &'a [Line],
    all: Judgement,
}

impl<'a> Case<'a> {
    fn wrong(&mut self, state: &str, problem: &str) {
        self.all.wrong.push((state.to_owned(), problem.to_owned()));
    }

    fn line(&self, view: &ViewTruth) -> Option<&'a Line> {
        let id = view.id.rsplit_once('/').map(|(_, id)| id)?;
        let is_on = |line: &&Line| line.point.is_none_or(|point| contains(view, point));
        self.lines.iter().filter(is_on).find(|line| line.resource.as_deref() == Some(id))
    }

    /// Judges the line of the widget itself.
    fn state(&mut self, state: &State) {
        let id = format!("org.mdm.widgets:id/{}", state.id);
        let line = self.lines.iter().find(|line| line.resource.as_deref() == Some(&state.id));
        let Some(view) = self.screen.seen().find(|view| view.id == id) else {
            if line.is_some() {
                self.wrong(&state.id, "it is not on the screen, and has a line");
            }
            return;
        };
        self.all.facts += 2;
        if view.selected != line.is_some_and(|line| line.says("selected")) {
            self.wrong(&state.id, "whether it is selected is not told");
        }
        if line.is_some_and(|line| line.says("disabled")) && view.enabled {
            self.wrong(&state.id, "it is not disabled");
        }
        line.into_iter().for_each(|line| self.name(&state.id, view, line));
        for name in VALUES {
            let Some(value) = fact(view, name) else { continue };
            let told =
                line.is_some_and(|line| line.says(value) || line.words.iter().any(|said| said.is(value)));
            if !told {
                self.all.unknown(name);
            }
        }
    }

    /// A name of a control is its own, or none.
    fn name(&mut self, state: &str, view: &ViewTruth, line: &Line) {
        let is_control = ["slider", "progress", "field", "stepper"].contains(&line.role.as_str());
        let Some(name) = line.label().filter(|_| is_control) else { return };
        self.all.facts += 1;
        let own = [view.text.as_str(), view.description.as_str(), fact(view, "hint").unwrap_or_default()];
        if !own.iter().any(|own| name.is(own)) {
            self.wrong(state, &format!("its name is not {:?}", name.head));
        }
    }

    /// Judges what is told of what a field holds. A value is its text; what it "shows" is its text, or its hint while it
    /// is empty; a secret tells its length at most.
    fn field(&mut self, view: &ViewTruth) {
        let Some(line) = self.line(view) else { return };
        let id = view.id.clone();
        self.all.facts += 1;
        if has(view, "password") && !view.text.is_empty() {
            return self.secret(&id, view, line);
        }
        if line.hidden == Some(Hidden::LengthUnknown) && has(view, "password") {
            return self.all.unknown(LENGTH);
        }
        if line.hidden.is_some() {
            self.wrong(&id, &format!("it hides nothing: {}", line.text));
        }
        if let Some(value) = &line.value
            && !value.is(&view.text)
        {
            let problem = format!("its value is {:?}: {}", view.text, line.text);
            self.wrong(&id, &problem);
        }
        if let Some(shown) = &line.shows {
            self.all.unknown(HINT_OR_VALUE);
            let held = if view.text.is_empty() { fact(view, "hint").unwrap_or_default() } else { &view.text };
            if !shown.is(held) {
                self.wrong(&id, &format!("it shows {held:?}: {}", line.text));
            }
        }
    }

    fn secret(&mut self, id: &str, view: &ViewTruth, line: &Line) {
        let length = view.text.chars().count();
        if line.words.iter().any(|said| said.head.contains(&view.text)) {
            self.wrong(id, &format!("a secret is told: {}", line.text));
        }
        match line.hidden {
            Some(Hidden::Length(told)) if told == length => {}
            Some(Hidden::LengthUnknown) => self.all.unknown(LENGTH),
            _ => self.wrong(
                id,
                &format!("a secret of {length} characters is not told to be there: {}", line.text),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use mdm_virtual_device::{FrameworkTruth, Truth};

    use super::*;

    /// Returns what is found wrong of one field, whose line stands for all of the tree.
    fn wrong(text: &str, facts: &[(&str, &str)], line: &str) -> usize {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut view = ViewTruth {
            number: 1,
            parent: 0,
            window: 1,
            class: "android.widget.EditText".to_owned(),
            id: "org.mdm.widgets:id/it".to_owned(),
            text: text.to_owned(),
            description: String::new(),
            checked: None,
            selected: false,
            enabled: true,
            focused: false,
            clickable: true,
            has_click_listener: false,
            long_clickable: false,
            visible: (0, 0, 500, 100),
            scroll: (0, 0),
            facts: facts.iter().map(owned).collect(),
        };
        view.facts.push(("inputType".to_owned(), "1".to_owned()));
        let framework = FrameworkTruth {
            is_known: true,
            focused_window: 1,
            views: vec![view],
            ..FrameworkTruth::default()
        };
        let screen = Screen::of(Truth { framework: Some(framework), ..Truth::default() });
        let tree = format!("head\ne1 field {line} #it @250,50");
        let page = Page {
            setting: Setting::Plain,
            shown: &[],
            before: &screen,
            after: &screen,
            unfocused: &[],
            tree: &tree,
        };
        judge(&page).wrong.len()
    }

    #[test]
    fn a_hint_is_no_value() {
        let hint = [("hint", "Name")];
        assert_eq!(wrong("", &hint, "shows \"Name\""), 0);
        assert_eq!(wrong("", &hint, "= \"Name\""), 1);
        assert_eq!(wrong("Ada", &hint, "= \"Ada\""), 0);
        assert_eq!(wrong("Ada", &hint, "shows \"Ada\""), 0);
        assert_eq!(wrong("Ada", &hint, "(no label)"), 1, "lost");
        assert_eq!(wrong("Ada", &hint, "= \"Bob\""), 3, "lost, shown by no view, and not its value");
    }

    #[test]
    fn a_secret_tells_its_length_at_most() {
        let secret = [("password", "true"), ("shown", "•••")];
        assert_eq!(wrong("abc", &secret, "= (hidden, 3)"), 0);
        assert_eq!(wrong("abc", &secret, "= (hidden, or empty)"), 0);
        assert_eq!(wrong("abc", &secret, "= (hidden, 4)"), 1);
        assert_eq!(wrong("abc", &secret, "(no label)"), 1);
        assert!(wrong("abc", &secret, "= \"abc\"") > 0);
        assert_eq!(wrong("", &[("password", "true")], "= (hidden, or empty)"), 0);
        assert_eq!(wrong("", &[("password", "true")], "= (hidden, 4)"), 1);
    }
}
