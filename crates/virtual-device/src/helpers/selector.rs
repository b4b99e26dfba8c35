//! Finds the nodes that a UiSelector selects.

use regex::{Regex, RegexBuilder};

use super::tree::{Node, Tree};

/// The nesting of selectors.
pub const CHAIN_MAX: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equals,
    Contains,
    StartsWith,
}

#[derive(Debug, Clone)]
pub enum Test {
    /// A pattern that cannot be read matches nothing.
    Matches {
        attribute: &'static str,
        pattern: Option<Regex>,
    },
    Text {
        attribute: &'static str,
        how: Comparison,
        value: String,
    },
    Flag {
        attribute: &'static str,
        value: bool,
    },
    Index(i32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// A descendant of the previous selector's node.
    Child,
    /// A descendant of the parent of the previous selector's node.
    Sibling,
}

#[derive(Debug, Clone, Default)]
pub struct SelectorStep {
    pub tests: Vec<Test>,
    pub instance: Option<usize>,
}

/// A first step, and further steps that start from the node that the previous one found.
#[derive(Debug, Clone, Default)]
pub struct Selector {
    pub first: SelectorStep,
    pub then: Vec<(Relation, SelectorStep)>,
}

impl Test {
    /// Returns the test for a UiSelector method, or nothing for an unknown one.
    pub fn text(name: &str, value: &str) -> Option<Test> {
        use Comparison::{Contains, Equals, StartsWith};
        let matches = |attribute| Some(Test::Matches { attribute, pattern: whole_text(value) });
        let (attribute, how) = match name {
            "text" => ("text", Equals),
            "textContains" => ("text", Contains),
            "textStartsWith" => ("text", StartsWith),
            "textMatches" => return matches("text"),
            "className" => ("class", Equals),
            "classNameMatches" => return matches("class"),
            "description" => ("content-desc", Equals),
            "descriptionContains" => ("content-desc", Contains),
            "descriptionStartsWith" => ("content-desc", StartsWith),
            "descriptionMatches" => return matches("content-desc"),
            "packageName" => ("package", Equals),
            "packageNameMatches" => return matches("package"),
            "resourceId" => ("resource-id", Equals),
            "resourceIdMatches" => return matches("resource-id"),
            _ => return None,
        };
        Some(Test::Text { attribute, how, value: value.to_owned() })
    }

    pub fn flag(name: &str, value: bool) -> Option<Test> {
        let attribute = match name {
            "checkable" => "checkable",
            "checked" => "checked",
            "clickable" => "clickable",
            "longClickable" => "long-clickable",
            "scrollable" => "scrollable",
            "enabled" => "enabled",
            "focusable" => "focusable",
            "focused" => "focused",
            "selected" => "selected",
            _ => return None,
        };
        Some(Test::Flag { attribute, value })
    }

    fn holds(&self, node: &Node) -> bool {
        match self {
            Test::Flag { attribute, value } => node.is(attribute) == *value,
            Test::Matches { attribute, pattern } => {
                pattern.as_ref().is_some_and(|pattern| pattern.is_match(node.get(attribute)))
            }
            Test::Index(index) => node.get("index").parse() == Ok(*index),
            Test::Text { attribute, how, value } => {
                let own = node.get(attribute);
                match how {
                    Comparison::Equals => own == value,
                    // Text is compared without regard to case when only a part of it is given.
                    Comparison::Contains => own.to_lowercase().contains(&value.to_lowercase()),
                    Comparison::StartsWith => own.to_lowercase().starts_with(&value.to_lowercase()),
                }
            }
        }
    }
}

/// Compiles a pattern as Java's `String.matches` reads it, as far as the crate has its syntax.
fn whole_text(pattern: &str) -> Option<Regex> {
    const COMPILED_BYTES_MAX: usize = 1024 * 1024;
    let mut builder = RegexBuilder::new(&format!(r"\A(?:{pattern})\z"));
    builder.dot_matches_new_line(true).size_limit(COMPILED_BYTES_MAX).build().ok()
}

impl SelectorStep {
    fn holds(&self, node: &Node) -> bool {
        self.tests.iter().all(|test| test.holds(node))
    }
}

impl Selector {
    fn steps(&self) -> usize {
        1 + self.then.len()
    }

    fn step(&self, level: usize) -> &SelectorStep {
        match level.checked_sub(1) {
            None => &self.first,
            Some(at) => self.then.get(at).map_or(&self.first, |(_, step)| step),
        }
    }

    /// Returns every node that is selected, in the order of the document.
    pub fn all(&self, tree: &Tree) -> Vec<usize> {
        self.all_below(tree, 0)
    }

    /// Returns the selected nodes within one node and its descendants.
    pub fn all_below(&self, tree: &Tree, root: usize) -> Vec<usize> {
        if tree.nodes.is_empty() || self.steps() > CHAIN_MAX {
            return Vec::new();
        }
        let mut search = Search { selector: self, tree, seen: vec![0; self.steps()], found: Vec::new() };
        search.visit(root, 0);
        let found = search.found;
        match self.step(self.steps() - 1).instance {
            Some(instance) => found.get(instance).copied().into_iter().collect(),
            None => found,
        }
    }

    pub fn first(&self, tree: &Tree) -> Option<usize> {
        self.all(tree).first().copied()
    }
}

struct Search<'a> {
    selector: &'a Selector,
    tree: &'a Tree,
    /// For each step, the number of matches before the instance that it asks for.
    seen: Vec<usize>,
    found: Vec<usize>,
}

impl Search<'_> {
    /// Searches a node. When it matches a step, the next step is searched below it, and this step no more in that
    /// branch.
    fn visit(&mut self, node: usize, level: usize) {
        let Some(here) = self.tree.nodes.get(node) else { return };
        let is_last = level + 1 == self.selector.steps();
        if !self.selector.step(level).holds(here) {
            return self.below(node, level);
        }
        if is_last {
            if !self.found.contains(&node) {
                self.found.push(node);
            }
            return self.below(node, level);
        }
        let wanted = self.selector.step(level).instance.unwrap_or(0);
        if let Some(seen) = self.seen.get_mut(level)
            && *seen < wanted
        {
            *seen += 1;
            return self.below(node, level);
        }
        match self.selector.then.get(level).map(|(relation, _)| relation) {
            Some(Relation::Sibling) => self.below(here.parent.unwrap_or(node), level + 1),
            _ => self.below(node, level + 1),
        }
    }

    fn below(&mut self, node: usize, level: usize) {
        for child in self.tree.children(node) {
            self.visit(*child, level);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const XML: &str = "<hierarchy rotation='0'><node class='P' text=''><node class='R' text='one'>\
        <node class='S' text='Wi-Fi' checked='true'/></node><node class='R' text='two'>\
        <node class='S' text='Blue' checked='false'/></node></node></hierarchy>";

    fn step(tests: Vec<Option<Test>>, instance: Option<usize>) -> SelectorStep {
        SelectorStep { tests: tests.into_iter().map(Option::unwrap).collect(), instance }
    }

    fn all(first: SelectorStep, then: Vec<(Relation, SelectorStep)>) -> Vec<usize> {
        Selector { first, then }.all(&Tree::read(XML))
    }

    #[test]
    fn a_step_means_every_node_that_passes_all_its_tests() {
        assert_eq!(all(step(vec![Test::text("className", "S")], None), vec![]), [2, 4]);
        assert_eq!(all(step(vec![Test::text("className", "S")], Some(1)), vec![]), [4]);
        assert_eq!(
            all(step(vec![Test::text("className", "S"), Test::flag("checked", true)], None), vec![]),
            [2]
        );
        assert_eq!(all(step(vec![Test::text("textMatches", "W.*i")], None), vec![]), [2]);
        assert_eq!(all(step(vec![Test::text("textMatches", "W")], None), vec![]), [] as [usize; 0]);
    }

    #[test]
    fn relations_start_from_what_was_found_before() {
        let row = |instance| step(vec![Test::text("className", "R")], instance);
        let inner = || step(vec![Test::text("className", "S")], None);
        assert_eq!(all(row(None), vec![(Relation::Child, inner())]), [2, 4]);
        assert_eq!(all(row(Some(1)), vec![(Relation::Child, inner())]), [4]);
        let one = step(vec![Test::text("text", "one")], None);
        assert_eq!(all(one, vec![(Relation::Sibling, inner())]), [2, 4]);
    }

    #[test]
    fn a_hostile_tree_is_searched_without_harm() {
        let deep = "<node class='S'>".repeat(30_000);
        let tree = Tree::read(&deep);
        let selector = Selector { first: step(vec![Test::text("className", "S")], Some(3)), then: vec![] };
        assert_eq!(selector.all(&tree), [3]);
    }
}
