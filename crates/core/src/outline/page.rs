//! Splits an outline into pages that fit a token limit.

use super::{Line, Lines};
use crate::text::tokens;

/// A part of an outline that fits a token limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    pub text: String,
    pub shown: usize,
    /// Lines that are on later pages.
    pub left_out: usize,
    pub targets_left_out: usize,
}

/// Returns the page with this number, from 1. Targets come on earlier pages than other lines; within a page, lines are
/// in document order. Together the pages hold every line once.
pub fn page(lines: &Lines, max_tokens: usize, number: usize) -> Page {
    let mut order: Vec<usize> = (0..lines.lines.len()).collect();
    order.sort_by_key(|at| !lines.lines[*at].is_target);
    let mut rest = &order[..];
    for _ in 1..number {
        rest = &rest[fitting_count(lines, rest, max_tokens)..];
    }
    let (taken, later) = rest.split_at(fitting_count(lines, rest, max_tokens));
    let mut taken = taken.to_vec();
    taken.sort_unstable();
    let mut text = String::new();
    for at in &taken {
        lines.lines[*at].push_to(&mut text);
    }
    let targets_left_out = later.iter().filter(|at| lines.lines[**at].is_target).count();
    Page { text, shown: taken.len(), left_out: later.len(), targets_left_out }
}

/// Counts the lines that fit: at least one, so that every page makes progress.
fn fitting_count(lines: &Lines, order: &[usize], max_tokens: usize) -> usize {
    let mut used = 0;
    let fits = |at: &&usize| {
        used += cost(&lines.lines[**at]);
        used <= max_tokens
    };
    order.iter().take_while(fits).count().max(1).min(order.len())
}

/// Estimates the tokens of a line with id, indentation and newline.
fn cost(line: &Line) -> usize {
    tokens::estimate(&line.text) + 3 + usize::from(line.indent > 0)
}
