//! Class chains: paths of element types with predicates and positions.

use super::answer::WdaError;
use super::predicate::{self, Predicate};
use super::snapshot::Snapshot;

const PREFIX: &str = "XCUIElementType";
const STEPS_MAX: usize = 50;

struct Step<'a> {
    /// Nothing for any type.
    kind: Option<&'a str>,
    descendants: bool,
    filters: Vec<Filter>,
}

enum Filter {
    Own(Predicate),
    /// Holds for something inside the element.
    Inside(Predicate),
    Position(i64),
}

/// Reads the name of a type; nothing for the one that stands for all.
pub fn kind(name: &str) -> Result<Option<&str>, WdaError> {
    match name.strip_prefix(PREFIX) {
        Some("Any") => Ok(None),
        Some(kind) if !kind.is_empty() && kind.chars().all(char::is_alphanumeric) => Ok(Some(kind)),
        _ => Err(WdaError::unknown(format!(
            "'{name}' is not a valid type name. The type name should be like {PREFIX}Button"
        ))),
    }
}

pub fn search(snapshot: &Snapshot, root: usize, text: &str) -> Result<Vec<usize>, WdaError> {
    let steps = parse(text)?;
    let mut found = vec![root];
    for step in &steps {
        let mut next = Vec::new();
        for at in found {
            let candidates = if step.descendants {
                snapshot.below(at).split_off(1)
            } else {
                snapshot.nodes[at].children.clone()
            };
            next.extend(filtered(snapshot, candidates, step)?);
        }
        next.sort_unstable();
        next.dedup();
        found = next;
    }
    Ok(found)
}

fn filtered(snapshot: &Snapshot, mut all: Vec<usize>, step: &Step) -> Result<Vec<usize>, WdaError> {
    all.retain(|at| step.kind.is_none_or(|kind| snapshot.nodes[*at].element.kind == kind));
    for filter in &step.filters {
        let mut kept = Vec::new();
        match filter {
            Filter::Position(position) => {
                let at = match *position {
                    position if position > 0 => usize::try_from(position - 1).ok(),
                    position => usize::try_from(-position).ok().and_then(|back| all.len().checked_sub(back)),
                };
                kept.extend(at.and_then(|at| all.get(at)).copied());
            }
            Filter::Own(predicate) => {
                for at in all {
                    if predicate.holds(snapshot, at)? {
                        kept.push(at);
                    }
                }
            }
            Filter::Inside(predicate) => {
                for at in all {
                    for inside in snapshot.below(at).split_off(1) {
                        if predicate.holds(snapshot, inside)? {
                            kept.push(at);
                            break;
                        }
                    }
                }
            }
        }
        all = kept;
    }
    Ok(all)
}

fn parse(text: &str) -> Result<Vec<Step<'_>>, WdaError> {
    let error = |what: &str| WdaError::selector(format!("Invalid class chain query '{text}': {what}"));
    let mut steps = Vec::new();
    let mut rest = text.strip_prefix('/').filter(|rest| !rest.starts_with('/')).unwrap_or(text);
    loop {
        let (descendants, after) = match rest.strip_prefix("**/") {
            Some(after) => (true, after),
            None => (false, rest),
        };
        let end = after.find(['[', '/']).unwrap_or(after.len());
        let name = &after[..end];
        let kind = match name {
            "*" => None,
            name => kind(name).map_err(|_| error(&format!("'{name}' is not an element type")))?,
        };
        let (filters, after) =
            filters(&after[end..]).ok_or_else(|| error("a position or a predicate expected"))??;
        steps.push(Step { kind, descendants, filters });
        if after.is_empty() {
            return Ok(steps);
        }
        rest = after.strip_prefix('/').ok_or_else(|| error("'/' expected"))?;
        if steps.len() > STEPS_MAX {
            return Err(error("too long"));
        }
    }
}

/// Reads what stands in brackets after a type; returns it with what follows. Nothing for broken brackets.
fn filters(mut text: &str) -> Option<Result<(Vec<Filter>, &str), WdaError>> {
    let mut filters = Vec::new();
    while let Some(inside) = text.strip_prefix('[') {
        let quote = inside.chars().next()?;
        if quote == '`' || quote == '$' {
            let (expression, after) = delimited(&inside[1..], quote)?;
            let predicate = match predicate::parse(&expression) {
                Ok(predicate) => predicate,
                Err(error) => return Some(Err(error)),
            };
            filters.push(if quote == '`' { Filter::Own(predicate) } else { Filter::Inside(predicate) });
            text = after.strip_prefix(']')?;
        } else {
            let (number, after) = inside.split_once(']')?;
            filters.push(Filter::Position(number.trim().parse().ok().filter(|number| *number != 0)?));
            text = after;
        }
    }
    Some(Ok((filters, text)))
}

/// Reads up to the closing mark; a doubled mark is one of the text.
fn delimited(text: &str, mark: char) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c != mark {
            out.push(c);
        } else if chars.peek().is_some_and(|(_, next)| *next == mark) {
            chars.next();
            out.push(mark);
        } else {
            return Some((out, &text[at + c.len_utf8()..]));
        }
    }
    None
}
