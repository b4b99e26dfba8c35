//! A small part of XPath: steps with `/` and `//`, a class or `*`, and predicates on attributes or a position.

use crate::helpers::tree::{Node, Tree};

const STEPS_MAX: usize = 32;

#[derive(Debug, PartialEq, Eq)]
enum Predicate {
    Equals(String, String),
    Contains(String, String),
    /// A position, counted from one.
    Position(usize),
}

#[derive(Debug, PartialEq, Eq)]
struct PathStep {
    anywhere: bool,
    class: String,
    predicates: Vec<Predicate>,
}

/// Returns the nodes that an expression selects, or nothing when the expression is not supported.
pub fn find(tree: &Tree, root: usize, expression: &str) -> Option<Vec<usize>> {
    let steps = parse(expression.trim())?;
    // A virtual node above the root, which is where a path begins.
    let mut here: Vec<Option<usize>> = vec![if root == 0 { None } else { Some(root) }];
    for step in &steps {
        let mut next: Vec<usize> = Vec::new();
        for at in here {
            let among = if step.anywhere { below(tree, at) } else { children(tree, at) };
            let mut found: Vec<usize> = among.into_iter().filter(|n| named(tree, *n, &step.class)).collect();
            for predicate in &step.predicates {
                found = filter(tree, &found, predicate);
            }
            next.extend(found);
        }
        next.sort_unstable();
        next.dedup();
        here = next.into_iter().map(Some).collect();
    }
    Some(here.into_iter().flatten().collect())
}

fn children(tree: &Tree, at: Option<usize>) -> Vec<usize> {
    match at {
        None => (0..tree.nodes.len().min(1)).collect(),
        Some(at) => tree.children(at).to_vec(),
    }
}

/// Returns all nodes below, in the order of the document, which is that of their numbers.
fn below(tree: &Tree, at: Option<usize>) -> Vec<usize> {
    let Some(at) = at else { return (0..tree.nodes.len()).collect() };
    let inside = |mut node: usize| {
        while let Some(parent) = tree.nodes.get(node).and_then(|n| n.parent) {
            if parent == at {
                return true;
            }
            node = parent;
        }
        false
    };
    (0..tree.nodes.len()).filter(|node| inside(*node)).collect()
}

fn named(tree: &Tree, node: usize, class: &str) -> bool {
    class == "*" || tree.nodes.get(node).is_some_and(|n| n.get("class") == class)
}

fn filter(tree: &Tree, found: &[usize], predicate: &Predicate) -> Vec<usize> {
    let keep = |test: &dyn Fn(&Node) -> bool| -> Vec<usize> {
        found.iter().copied().filter(|at| tree.nodes.get(*at).is_some_and(test)).collect()
    };
    match predicate {
        Predicate::Position(n) => {
            n.checked_sub(1).and_then(|at| found.get(at)).copied().into_iter().collect()
        }
        Predicate::Equals(name, value) => keep(&|node| node.get(name) == value),
        Predicate::Contains(name, value) => keep(&|node| node.get(name).contains(value.as_str())),
    }
}

fn parse(mut rest: &str) -> Option<Vec<PathStep>> {
    let mut steps = Vec::new();
    while !rest.is_empty() {
        rest = rest.strip_prefix('/')?;
        let anywhere = rest.starts_with('/');
        rest = rest.strip_prefix('/').unwrap_or(rest);
        let end = rest.find(['/', '[']).unwrap_or(rest.len());
        let (class, after) = rest.split_at(end);
        let mut step = PathStep { anywhere, class: class.to_owned(), predicates: Vec::new() };
        rest = after;
        while let Some(inner) = rest.strip_prefix('[') {
            let close = closing(inner)?;
            for part in inner.get(..close)?.split(" and ") {
                step.predicates.push(predicate(part.trim())?);
            }
            rest = inner.get(close + 1..)?;
        }
        if class.is_empty() || steps.len() >= STEPS_MAX {
            return None;
        }
        steps.push(step);
    }
    (!steps.is_empty()).then_some(steps)
}

/// Returns the position of the closing bracket, outside of quotes.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, ']') => return Some(at),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

fn predicate(text: &str) -> Option<Predicate> {
    if let Ok(position) = text.parse() {
        return Some(Predicate::Position(position));
    }
    if let Some(inner) = text.strip_prefix("contains(@") {
        let (name, value) = inner.strip_suffix(')')?.split_once(',')?;
        return Some(Predicate::Contains(name.trim().to_owned(), unquoted(value.trim())?));
    }
    let (name, value) = text.strip_prefix('@')?.split_once('=')?;
    Some(Predicate::Equals(name.trim().to_owned(), unquoted(value.trim())?))
}

fn unquoted(text: &str) -> Option<String> {
    let inner = |q: char| text.strip_prefix(q)?.strip_suffix(q);
    inner('"').or_else(|| inner('\'')).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const XML: &str = "<hierarchy rotation='0'><node class='a.List' text=''><node class='a.Row' text='one'>\
        <node class='a.Text' text=\"it's\"/></node><node class='a.Row' text='two'/></node></hierarchy>";

    #[test]
    fn paths_mean_the_nodes_they_name() {
        let tree = Tree::read(XML);
        let check = |path: &str, wanted: &[usize]| {
            assert_eq!(find(&tree, 0, path).as_deref(), Some(wanted), "{path}")
        };
        check("//a.Row", &[1, 3]);
        check("//a.Row[2]", &[3]);
        check("//*[@text='two']", &[3]);
        check("/a.List/a.Row/a.Text", &[2]);
        check("//a.Row[contains(@text, 'w') and @class='a.Row']", &[3]);
        check("//*[@text=\"it's\"]", &[2]);
        check("//a.Text[1]", &[2]);
        check("/a.Row", &[]);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let tree = Tree::read(XML);
        for path in ["", "a", "//", "//a[", "//a[@x]", "//a[@x='1]", "//a/..//", "//a[last(]", "///"] {
            assert_eq!(find(&tree, 0, path), None, "{path}");
        }
    }
}
