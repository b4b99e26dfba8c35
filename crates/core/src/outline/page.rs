//! An outline within a budget of tokens.

use super::{Line, Lines};
use crate::text::tokens;

/// A part of an outline that fits a budget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    pub text: String,
    pub shown: usize,
    /// Lines that are on later pages.
    pub left_out: usize,
    pub targets_left_out: usize,
}

/// The page with this number, from 1. What is acted on comes first, then what is read, each in document order; within
/// a page lines stand in document order. Together the pages hold every line once.
pub fn page(lines: &Lines, max_tokens: usize, number: usize) -> Page {
    let mut order: Vec<usize> = (0..lines.lines.len()).collect();
    order.sort_by_key(|at| !lines.lines[*at].is_target);
    let mut rest = &order[..];
    for _ in 1..number {
        rest = &rest[fitting(lines, rest, max_tokens)..];
    }
    let (taken, later) = rest.split_at(fitting(lines, rest, max_tokens));
    let mut taken = taken.to_vec();
    taken.sort_unstable();
    let mut text = String::new();
    for at in &taken {
        lines.lines[*at].push_to(&mut text);
    }
    let targets_left_out = later.iter().filter(|at| lines.lines[**at].is_target).count();
    Page { text, shown: taken.len(), left_out: later.len(), targets_left_out }
}

/// How many lines fit: at least one, so that every page gets on.
fn fitting(lines: &Lines, order: &[usize], max_tokens: usize) -> usize {
    let mut used = 0;
    let fits = |at: &&usize| {
        used += cost(&lines.lines[**at]);
        used <= max_tokens
    };
    order.iter().take_while(fits).count().max(1).min(order.len())
}

/// With the id, the indentation and the end of the line.
fn cost(line: &Line) -> usize {
    tokens::estimate(&line.text) + 3 + usize::from(line.indent > 0)
}
