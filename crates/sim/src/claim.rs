//! Claims about a screen, checked against the frames that the phone showed. Nothing here comes from the product.

use mdm_virtual_device::{Frame, ShownNode};
use serde_json::{Value, json};

/// Levels of the tree between a control and its label.
const LEVELS_MAX: usize = 2;

/// How an element is described.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    Text(String),
    Id(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum State {
    Exists,
    Gone,
    Visible,
    Enabled(bool),
    Checked(bool),
    Value(f64),
    /// The text that it holds.
    Text(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    Element {
        by: By,
        state: State,
    },
    /// The activity in front, without its package.
    Screen(String),
}

impl By {
    pub fn selector(&self) -> Value {
        match self {
            By::Text(text) => json!({"text": text}),
            By::Id(id) => json!({"resource_id": id}),
        }
    }

    fn fits(&self, node: &ShownNode) -> bool {
        match self {
            By::Text(text) => [&node.text, &node.description, &node.hint]
                .into_iter()
                .any(|shown| shown.eq_ignore_ascii_case(text) || has_line(shown, text)),
            By::Id(id) => node.resource_id.rsplit("/").next() == Some(id) || node.resource_id == *id,
        }
    }

    pub fn nodes<'a>(&'a self, frame: &'a Frame) -> impl Iterator<Item = &'a ShownNode> {
        frame.nodes.iter().filter(|node| self.fits(node))
    }
}

impl Claim {
    /// Returns the claim as the `expect` argument of an action.
    pub fn expectation(&self) -> Value {
        let Claim::Element { by, state } = self else {
            let Claim::Screen(name) = self else { return Value::Null };
            return json!({"screen": name});
        };
        let mut expect = by.selector();
        match state {
            State::Exists => expect["exists"] = true.into(),
            State::Gone => expect["exists"] = false.into(),
            State::Visible => {}
            State::Enabled(flag) => expect["enabled"] = (*flag).into(),
            State::Checked(flag) => expect["checked"] = (*flag).into(),
            State::Value(number) => expect["value"] = (*number).into(),
            State::Text(text) => expect["text_value"] = text.clone().into(),
        }
        expect
    }

    /// Returns true if a reader of this frame could make the claim. It is generous where the product may read more
    /// than is compared here.
    pub fn could_hold(&self, frame: &Frame) -> bool {
        match self {
            Claim::Screen(name) => frame.activity.ends_with(&format!("/.{name}")),
            Claim::Element { by, state: State::Gone } => by.nodes(frame).next().is_none(),
            Claim::Element { by, state } => {
                let nodes = frame.nodes.iter().enumerate().filter(|(_, node)| by.fits(node));
                let mut near = nodes.flat_map(|(at, _)| around(frame, at));
                near.any(|node| fulfils(node, state))
            }
        }
    }

    /// Returns true if every reader of this frame must agree with the claim.
    pub fn must_hold(&self, frame: &Frame) -> bool {
        match self {
            Claim::Screen(_) => self.could_hold(frame),
            Claim::Element { by, state: State::Gone } => by.nodes(frame).next().is_none(),
            Claim::Element { by, state: State::Exists } => by.nodes(frame).next().is_some(),
            Claim::Element { by, state: State::Visible } => by.nodes(frame).any(is_in_sight),
            Claim::Element { by, state } => {
                by.nodes(frame).count() == 1 && by.nodes(frame).all(|node| fulfils(node, state))
            }
        }
    }
}

/// Returns false for what lies outside the screen; trees of iOS have that too.
fn is_in_sight(node: &ShownNode) -> bool {
    let (left, top, right, bottom) = node.visible;
    left < right && top < bottom
}

/// Returns true if a framework has joined several texts, and one of them is this one.
fn has_line(shown: &str, text: &str) -> bool {
    shown.contains('\n') && shown.lines().any(|line| line.eq_ignore_ascii_case(text))
}

/// Returns the node and its nearest ancestors: some frameworks put the label inside the control.
fn around(frame: &Frame, at: usize) -> Vec<&ShownNode> {
    let mut chain: Vec<&ShownNode> = frame.nodes.get(at).into_iter().collect();
    for node in frame.nodes[..at].iter().rev() {
        if chain.len() > LEVELS_MAX {
            break;
        }
        if chain.last().is_some_and(|inner| node.depth < inner.depth) {
            chain.push(node);
        }
    }
    chain
}

/// Returns where a control stands: what its text says, and what accessibility tells besides.
pub fn levels(node: &ShownNode) -> impl Iterator<Item = f64> {
    let told = node.level.map(|thousandths| thousandths as f64 / 1000.0);
    node.text.parse::<f64>().ok().into_iter().chain(told)
}

fn fulfils(node: &ShownNode, state: &State) -> bool {
    match state {
        State::Exists | State::Visible => true,
        State::Gone => false,
        State::Enabled(flag) => node.enabled == *flag,
        // A label beside a check box has no checked state.
        State::Checked(flag) => node.checkable && node.checked == *flag,
        State::Value(number) => levels(node).any(|value| (value - number).abs() < 0.06),
        State::Text(text) => {
            let empty = node.text.is_empty() || node.text == node.hint;
            node.text.eq_ignore_ascii_case(text) || (text.is_empty() && empty)
        }
    }
}

/// Returns what counts as the content of a frame: everything but positions, focus, and texts that show passing time.
pub fn content(frame: &Frame) -> Vec<String> {
    let mut lines = vec![frame.activity.clone()];
    for node in frame.nodes.iter() {
        let [text, description] = [&node.text, &node.description].map(|text| without_time(text));
        let text = if is_scroll_bar(node) { String::new() } else { text };
        lines.push(format!(
            "{} {} {} {text:?} {description:?} {:?} {} {} {} {}",
            node.depth,
            node.class,
            node.resource_id,
            node.hint,
            node.enabled,
            node.checked,
            node.selected,
            node.clickable
        ));
    }
    lines
}

/// Returns true for the bar of iOS whose text says how far one has scrolled: a position.
fn is_scroll_bar(node: &ShownNode) -> bool {
    node.text.ends_with('%') && node.description.contains(" scroll bar, ")
}

/// Leaves out passing time, also where a framework has joined texts.
fn without_time(text: &str) -> String {
    let Some((before, after)) = text.split_once("Elapsed ") else { return text.to_owned() };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(" s");
    format!("{before}…{rest}")
}
