//! A small part of XPath 1.0: steps with tests of attributes and positions.

use super::answer::WdaError;
use super::settings::Settings;
use super::snapshot::Snapshot;
use super::source::attributes;

const STEPS_MAX: usize = 50;
const DEPTH_MAX: usize = 30;

#[derive(Debug)]
struct Step {
    descendants: bool,
    axis: Axis,
    /// Nothing for `*`.
    tag: Option<String>,
    tests: Vec<Test>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Child,
    Itself,
    Parent,
    Ancestor,
    FollowingSibling,
    PrecedingSibling,
}

#[derive(Debug)]
enum Test {
    Position(usize),
    Last,
    Equal(String, String),
    Different(String, String),
    Has(String),
    Contains(String, String),
    StartsWith(String, String),
    Not(Box<Test>),
    All(Vec<Test>),
    Any(Vec<Test>),
}

pub fn search(snapshot: &Snapshot, root: usize, text: &str) -> Result<Vec<usize>, WdaError> {
    let query = text.replace("XCUIElementTypeAny", "*");
    let error = || WdaError::selector(format!("Cannot evaluate results for XPath expression \"{text}\""));
    let (steps, absolute, position) = parse(&query).ok_or_else(error)?;
    let mut found = vec![Some(root).filter(|_| !absolute)];
    for step in &steps {
        let mut next: Vec<usize> = Vec::new();
        for at in found {
            for found in apply(snapshot, root, at, step) {
                if !next.contains(&found) {
                    next.push(found);
                }
            }
        }
        found = next.into_iter().map(Some).collect();
    }
    let mut found: Vec<usize> = found.into_iter().flatten().collect();
    found.sort_unstable();
    Ok(match position {
        Some(position) => found.get(position.wrapping_sub(1)).copied().into_iter().collect(),
        None => found,
    })
}

/// Returns what a step leads to; nothing before the first step stands for the document.
fn apply(snapshot: &Snapshot, root: usize, at: Option<usize>, step: &Step) -> Vec<usize> {
    let starts: Vec<Option<usize>> = match (step.descendants, at) {
        (false, at) => vec![at],
        (true, None) => std::iter::once(None).chain(snapshot.below(root).into_iter().map(Some)).collect(),
        (true, Some(at)) => snapshot.below(at).into_iter().map(Some).collect(),
    };
    let mut found = Vec::new();
    for start in starts {
        let mut candidates = along(snapshot, root, start, step.axis);
        candidates.retain(|at| step.tag.as_ref().is_none_or(|tag| snapshot.nodes[*at].wd_type() == *tag));
        for test in &step.tests {
            let count = candidates.len();
            let mut place = 0;
            candidates.retain(|at| {
                place += 1;
                holds(snapshot, *at, test, place, count)
            });
        }
        found.extend(candidates);
    }
    found
}

fn along(snapshot: &Snapshot, root: usize, start: Option<usize>, axis: Axis) -> Vec<usize> {
    let Some(at) = start else {
        return if axis == Axis::Child { vec![root] } else { Vec::new() };
    };
    let node = &snapshot.nodes[at];
    let siblings = || node.parent.map_or(&[][..], |parent| &snapshot.nodes[parent].children[..]);
    match axis {
        Axis::Child => node.children.clone(),
        Axis::Itself => vec![at],
        Axis::Parent => node.parent.into_iter().collect(),
        Axis::Ancestor => snapshot.parents(at).collect(),
        Axis::FollowingSibling => siblings().iter().copied().filter(|other| *other > at).collect(),
        Axis::PrecedingSibling => siblings().iter().rev().copied().filter(|other| *other < at).collect(),
    }
}

fn holds(snapshot: &Snapshot, at: usize, test: &Test, place: usize, count: usize) -> bool {
    let value = |name: &str| {
        let all = attributes(snapshot, at, &Settings::default());
        all.into_iter().find(|(known, _)| *known == name).and_then(|(_, value)| value)
    };
    match test {
        Test::Position(wanted) => place == *wanted,
        Test::Last => place == count,
        Test::Equal(name, wanted) => value(name).as_ref() == Some(wanted),
        Test::Different(name, wanted) => value(name).is_some_and(|value| value != *wanted),
        Test::Has(name) => value(name).is_some(),
        Test::Contains(name, wanted) => value(name).unwrap_or_default().contains(wanted.as_str()),
        Test::StartsWith(name, wanted) => value(name).unwrap_or_default().starts_with(wanted.as_str()),
        Test::Not(inner) => !holds(snapshot, at, inner, place, count),
        Test::All(parts) => parts.iter().all(|part| holds(snapshot, at, part, place, count)),
        Test::Any(parts) => parts.iter().any(|part| holds(snapshot, at, part, place, count)),
    }
}

/// Returns the steps, whether they start at the document, and the position of a query in parentheses.
fn parse(text: &str) -> Option<(Vec<Step>, bool, Option<usize>)> {
    let text = text.trim();
    if let Some(inside) = text.strip_prefix('(') {
        let (path, position) = inside.rsplit_once(")[")?;
        let position = position.strip_suffix(']')?.trim().parse().ok()?;
        if path.trim_start().starts_with('(') {
            return None;
        }
        let (steps, absolute, _) = parse(path)?;
        return Some((steps, absolute, Some(position)));
    }
    let mut reader = Reader { rest: text };
    let absolute = text.starts_with('/');
    let mut steps = Vec::new();
    let mut descendants = reader.takes("//");
    if !descendants {
        reader.takes("/");
    }
    loop {
        steps.push(reader.step(descendants)?);
        if reader.rest.is_empty() {
            return Some((steps, absolute, None));
        }
        descendants = reader.takes("//");
        if !descendants && !reader.takes("/") || steps.len() > STEPS_MAX {
            return None;
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn takes(&mut self, word: &str) -> bool {
        match self.rest.strip_prefix(word) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn name(&mut self) -> Option<&'a str> {
        let end = self.rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(self.rest.len());
        let (name, after) = self.rest.split_at(end);
        self.rest = after;
        (!name.is_empty()).then_some(name)
    }

    fn step(&mut self, descendants: bool) -> Option<Step> {
        if self.takes("..") {
            return Some(Step { descendants, axis: Axis::Parent, tag: None, tests: Vec::new() });
        }
        if self.takes(".") {
            return Some(Step { descendants, axis: Axis::Itself, tag: None, tests: Vec::new() });
        }
        let axes = [
            ("child::", Axis::Child),
            ("self::", Axis::Itself),
            ("parent::", Axis::Parent),
            ("ancestor::", Axis::Ancestor),
            ("following-sibling::", Axis::FollowingSibling),
            ("preceding-sibling::", Axis::PrecedingSibling),
        ];
        let axis = axes.into_iter().find(|(word, _)| self.takes(word)).map_or(Axis::Child, |(_, axis)| axis);
        let tag = if self.takes("*") { None } else { Some(self.name()?.to_owned()) };
        let mut tests = Vec::new();
        while self.takes("[") {
            tests.push(self.any(0)?);
            self.skip();
            if !self.takes("]") {
                return None;
            }
        }
        Some(Step { descendants, axis, tag, tests })
    }

    fn any(&mut self, depth: usize) -> Option<Test> {
        let mut parts = vec![self.all(depth)?];
        while self.takes_word("or") {
            parts.push(self.all(depth)?);
        }
        if parts.len() == 1 { parts.pop() } else { Some(Test::Any(parts)) }
    }

    fn all(&mut self, depth: usize) -> Option<Test> {
        let mut parts = vec![self.one(depth)?];
        while self.takes_word("and") {
            parts.push(self.one(depth)?);
        }
        if parts.len() == 1 { parts.pop() } else { Some(Test::All(parts)) }
    }

    fn takes_word(&mut self, word: &str) -> bool {
        self.skip();
        let after = self.rest.strip_prefix(word).filter(|after| after.starts_with([' ', '(', '@']));
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn one(&mut self, depth: usize) -> Option<Test> {
        if depth > DEPTH_MAX {
            return None;
        }
        self.skip();
        if self.takes("last()") {
            return Some(Test::Last);
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.name()?.parse().ok().map(Test::Position);
        }
        for (word, contains) in [("contains(", true), ("starts-with(", false)] {
            if self.takes(word) {
                let name = self.attribute()?;
                self.skip();
                let wanted = if self.takes(",") { self.literal()? } else { return None };
                self.skip();
                let test =
                    if contains { Test::Contains(name, wanted) } else { Test::StartsWith(name, wanted) };
                return self.takes(")").then_some(test);
            }
        }
        if self.takes("not(") {
            let inner = self.any(depth + 1)?;
            self.skip();
            return self.takes(")").then(|| Test::Not(Box::new(inner)));
        }
        if self.takes("(") {
            let inner = self.any(depth + 1)?;
            self.skip();
            return self.takes(")").then_some(inner);
        }
        let name = self.attribute()?;
        self.skip();
        if self.takes("!=") {
            return Some(Test::Different(name, self.literal()?));
        }
        if self.takes("=") { Some(Test::Equal(name, self.literal()?)) } else { Some(Test::Has(name)) }
    }

    fn attribute(&mut self) -> Option<String> {
        self.skip();
        if self.takes("@") { self.name().map(str::to_owned) } else { None }
    }

    fn literal(&mut self) -> Option<String> {
        self.skip();
        let quote = self.rest.chars().next()?;
        if quote.is_ascii_digit() {
            return self.name().map(str::to_owned);
        }
        let inside = self.rest.strip_prefix(['"', '\''])?;
        let (text, after) = inside.split_once(quote)?;
        self.rest = after;
        Some(text.to_owned())
    }
}
