//! Search by free words, for callers that do not know the tree.

use super::group::{MATCHES_MAX, group};
use super::{Candidate, Reason, grade};
use crate::change::tracker::Observation;
use crate::intent::selector::{folded, own_texts, role_named, same_id};
use crate::meaning::{label, role, semantics};
use crate::screen::element::Role;

/// Longer queries find nothing.
const QUERY_CHARS_MAX: usize = 1000;

/// Returns every candidate for the words, best first: an id, an identifier, a text on the screen, a role, or a role
/// with a text ("Delete button"). `exact`: whole texts only. The candidates' numbers are in document order.
pub fn find(seen: &Observation, text: &str, exact: bool) -> Vec<Candidate> {
    let words = folded(text);
    if words.is_empty() || words.chars().count() > QUERY_CHARS_MAX {
        return Vec::new();
    }
    if let Some(index) = text.trim().parse().ok().and_then(|id| seen.index_of(id)) {
        return group(seen, [(index as u32, Reason::ElementId)].into_iter());
    }
    let search = Search { seen, typed: text.trim(), role: RoleWords::of(&words), words, exact };
    let all = 0..seen.ids.len() as u32;
    let mut found: Vec<(u32, Reason)> =
        all.filter_map(|index| Some((index, search.matched(index)?))).collect();
    // Of too many, the best are kept.
    if found.len() > MATCHES_MAX {
        found.sort_by_key(|(_, reason)| std::cmp::Reverse(super::step(*reason).0));
        found.truncate(MATCHES_MAX);
        found.sort_unstable_by_key(|(index, _)| *index);
    }
    let mut candidates = group(seen, found.into_iter());
    candidates.sort_by_key(|candidate| std::cmp::Reverse((grade(candidate), candidate.executable)));
    candidates
}

struct Search<'a> {
    seen: &'a Observation,
    typed: &'a str,
    words: String,
    role: Option<RoleWords>,
    exact: bool,
}

/// A role and the words beside it: "delete button" means a button named "delete".
struct RoleWords {
    role: Role,
    rest: String,
}

impl RoleWords {
    fn of(words: &str) -> Option<RoleWords> {
        let last = words.rsplit_once(' ').map_or(("", words), |(rest, last)| (rest, last));
        let first = words.split_once(' ').map_or(("", words), |(first, rest)| (rest, first));
        let named = |(rest, word): (&str, &str)| {
            // "text" and "label" may stand for anything that shows words, so they are not taken as roles.
            let role = role_named(word).filter(|role| !matches!(role, Role::Text | Role::Unknown))?;
            Some(RoleWords { role, rest: rest.trim().to_owned() })
        };
        named(last).or_else(|| named(first))
    }
}

impl Search<'_> {
    fn matched(&self, index: u32) -> Option<Reason> {
        let snapshot = &self.seen.reading.snapshot;
        let element = self.seen.reading.element(index);
        let id = element.stable_id.as_deref();
        if id.is_some_and(|id| same_id(id, self.typed) || same_id(&folded(id), &self.words)) {
            return Some(Reason::StableId);
        }
        let label = label::label(snapshot, index as usize);
        let texts = || own_texts(element).chain(label.as_ref().map(|label| &*label.text));
        let is_role = |role: Role| role::in_context(snapshot, index as usize) == role;
        let role = self.role.as_ref().filter(|wanted| is_role(wanted.role));
        if role.is_some_and(|wanted| texts().any(|shown| folded(shown) == wanted.rest)) {
            return Some(Reason::RoleAndLabel);
        }
        if texts().any(|shown| folded(shown) == self.words) {
            return Some(Reason::ExactText);
        }
        if !self.exact {
            if texts().any(|shown| folded(shown).contains(&self.words)) {
                return Some(Reason::PartialText);
            }
            if id.is_some_and(|id| self.is_in_id(id)) {
                return Some(Reason::PartialId);
            }
        }
        if role.is_some_and(|wanted| wanted.rest.is_empty()) || self.is_control(index) {
            return Some(Reason::RoleWord);
        }
        let class = element.class.rsplit('.').next().unwrap_or_default();
        (folded(class) == self.words).then_some(Reason::ClassName)
    }

    /// True if the identifier contains the words: `btn_log_in` contains "log in".
    fn is_in_id(&self, id: &str) -> bool {
        let id = id.split_once(":id/").map_or(id, |(_, name)| name);
        let plain = |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).collect() };
        let words = plain(&self.words);
        !words.is_empty() && plain(&folded(id)).contains(&words)
    }

    fn is_control(&self, index: u32) -> bool {
        let role = self.role.as_ref().filter(|wanted| wanted.rest.is_empty()).map(|wanted| wanted.role);
        let Some(role @ (Role::Slider | Role::Stepper | Role::Dropdown)) = role else { return false };
        let control = semantics::control(&self.seen.reading.snapshot, index as usize);
        let name = match role {
            Role::Slider => "slider",
            Role::Stepper => "stepper",
            _ => "dropdown",
        };
        control.is_some_and(|control| control.kind.semantic_role() == name)
    }
}
