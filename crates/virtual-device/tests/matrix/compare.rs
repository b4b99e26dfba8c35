//! Two trees of the same state compared field by field.

use crate::tree::{FIELDS, Node};

/// A field in which two phones differ.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The classes on the way from the widget to the node.
    pub path: String,
    pub field: String,
    pub framework: String,
    pub model: String,
    /// Fields that it stands for: a node that is missing lacks all of them.
    pub weight: usize,
}

#[derive(Debug, Clone, Default)]
pub struct Comparison {
    pub compared: usize,
    pub differences: Vec<Difference>,
}

impl Comparison {
    pub fn agreed(&self) -> usize {
        self.compared - self.differences.iter().map(|difference| difference.weight).sum::<usize>()
    }

    fn differ(&mut self, path: &str, field: &str, framework: &str, model: &str, weight: usize) {
        let (path, field) = (path.to_owned(), field.to_owned());
        let (framework, model) = (framework.to_owned(), model.to_owned());
        self.differences.push(Difference { path, field, framework, model, weight });
    }
}

/// Fields of one node: its attributes, and that it is there and can be seen.
const NODE_FIELDS: usize = FIELDS.len() + 1;

/// Compares the node that the framework shows with that of the model phone. Where a node has its bounds is not compared,
/// since the model phone lays out by itself: only whether it can be seen, and the order of the nodes.
pub fn compare(framework: Option<&Node>, model: Option<&Node>) -> Comparison {
    let mut comparison = Comparison::default();
    match (framework, model) {
        (None, None) => comparison.compared = 1,
        (Some(framework), Some(model)) => node(framework, model, "", &mut comparison, true),
        (Some(framework), None) => missing(framework, "", "missing", &mut comparison),
        (None, Some(model)) => missing(model, "", "not there", &mut comparison),
    }
    comparison
}

fn missing(which: &Node, path: &str, field: &str, comparison: &mut Comparison) {
    let weight = which.count() * NODE_FIELDS;
    comparison.compared += weight;
    let name = short(which.value("class"));
    let label = format!("{name} {:?}", which.value("text"));
    let (framework, model) = if field == "missing" { (label.as_str(), "") } else { ("", label.as_str()) };
    comparison.differ(&format!("{path}{name}"), field, framework, model, weight);
}

fn node(framework: &Node, model: &Node, path: &str, comparison: &mut Comparison, is_root: bool) {
    let path = format!("{path}{}", short(framework.value("class")));
    comparison.compared += NODE_FIELDS;
    if framework.is_seen() != model.is_seen() {
        let word = |seen: bool| if seen { "seen" } else { "not seen" };
        comparison.differ(&path, "bounds", word(framework.is_seen()), word(model.is_seen()), 1);
    }
    for ((field, ours), theirs) in FIELDS.iter().zip(&framework.values).zip(&model.values) {
        // The place of the widget itself on its page is none of its own.
        if ours != theirs && !(is_root && *field == "index") {
            comparison.differ(&path, field, ours, theirs, 1);
        }
    }
    let path = format!("{path}>");
    for pair in pairs(&framework.children, &model.children) {
        match pair {
            (Some(ours), Some(theirs)) => node(ours, theirs, &path, comparison, false),
            (Some(ours), None) => missing(ours, &path, "missing", comparison),
            (None, Some(theirs)) => missing(theirs, &path, "not there", comparison),
            (None, None) => {}
        }
    }
}

type Pair<'a> = (Option<&'a Node>, Option<&'a Node>);

/// Pairs children in their order, so that as many as possible have the same class and id.
fn pairs<'a>(ours: &'a [Node], theirs: &'a [Node]) -> Vec<Pair<'a>> {
    let alike = |a: &Node, b: &Node| {
        let same = |field: &str| a.value(field) == b.value(field);
        usize::from(same("class")) * 4 + usize::from(same("resource-id")) + usize::from(same("text"))
    };
    let (rows, columns) = (ours.len(), theirs.len());
    let mut best = vec![vec![0; columns + 1]; rows + 1];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let paired = alike(&ours[row], &theirs[column]) + best[row + 1][column + 1];
            best[row][column] = paired.max(best[row + 1][column]).max(best[row][column + 1]);
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut pairs = Vec::new();
    while row < rows || column < columns {
        let both = row < rows && column < columns;
        if both && best[row][column] == alike(&ours[row], &theirs[column]) + best[row + 1][column + 1] {
            pairs.push((Some(&ours[row]), Some(&theirs[column])));
            (row, column) = (row + 1, column + 1);
        } else if column >= columns || (both && best[row][column] == best[row + 1][column]) {
            pairs.push((Some(&ours[row]), None));
            row += 1;
        } else {
            pairs.push((None, Some(&theirs[column])));
            column += 1;
        }
    }
    pairs
}

fn short(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}
