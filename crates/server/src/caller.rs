//! Who calls: each client has a device that its calls go to, and a name for the others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use mdm_core::text::quote::push_quoted;
use mdm_engine::Binding;

/// Characters of a client's name in messages.
const NAME_CHARS_MAX: usize = 60;
/// Clients without a session that are remembered. The one that was quiet longest is forgotten for the next.
const NAMED_MAX: usize = 256;

#[derive(Debug, Default)]
pub struct Caller {
    /// Never that of another caller.
    key: String,
    /// As the client calls itself, in quotes where it is not ours.
    pub name: String,
    pub binding: Binding,
}

impl Caller {
    /// The one client of a process: over stdin, or the command line.
    pub fn own() -> Caller {
        Caller { key: "own".to_owned(), name: "this client".to_owned(), binding: Binding::default() }
    }

    pub fn new(key: impl Into<String>, name: &str) -> Caller {
        let mut quoted = String::new();
        push_quoted(&mut quoted, name, NAME_CHARS_MAX);
        Caller { key: key.into(), name: quoted, binding: Binding::default() }
    }

    /// With the name of the token that let it in, which it cannot choose.
    #[must_use]
    pub fn let_in_as(mut self, token: &str) -> Caller {
        if !token.is_empty() {
            self.name.push_str(" by the token of ");
            push_quoted(&mut self.name, token, NAME_CHARS_MAX);
        }
        self
    }

    /// The same caller for something that must not change which device its calls go to.
    pub fn beside(&self) -> Arc<Caller> {
        let (key, name) = (self.key.clone(), self.name.clone());
        Arc::new(Caller { key, name, binding: self.binding.copied() })
    }

    /// The device that its calls go to.
    pub fn device(&self) -> Option<String> {
        self.binding.device()
    }

    /// How the names of the logs begin that it follows. No other caller's begin like this.
    pub fn streams(&self) -> String {
        format!("{:?} ", self.key)
    }

    pub fn key(&self) -> &str {
        &self.key
    }
}

/// The callers of requests that belong to no session: the same key is the same caller.
#[derive(Debug, Default)]
pub struct Callers {
    named: Mutex<Named>,
}

#[derive(Debug, Default)]
struct Named {
    clock: u64,
    all: BTreeMap<String, (u64, Arc<Caller>)>,
}

impl Callers {
    pub fn of(&self, key: &str, name: &str, token: &str) -> Arc<Caller> {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.clock += 1;
        let now = named.clock;
        if let Some((used, caller)) = named.all.get_mut(key) {
            *used = now;
            return Arc::clone(caller);
        }
        if named.all.len() >= NAMED_MAX {
            let oldest = named.all.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            oldest.map(|key| named.all.remove(&key));
        }
        let caller = Arc::new(Caller::new(key, name).let_in_as(token));
        named.all.insert(key.to_owned(), (now, Arc::clone(&caller)));
        caller
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_key_is_the_same_caller_and_memory_is_bounded() {
        let callers = Callers::default();
        let first = callers.of("a", "Agent\nA", "");
        assert!(Arc::ptr_eq(&first, &callers.of("a", "another name", "")));
        assert_eq!(first.name, "\"Agent\\nA\"", "SE-05");
        assert_eq!(callers.of("b", "alice", "bob").name, "\"alice\" by the token of \"bob\"", "SE-04");
        for number in 0..NAMED_MAX {
            callers.of(&number.to_string(), "x", "");
        }
        assert!(!Arc::ptr_eq(&first, &callers.of("a", "Agent A", "")), "it was quiet longest");
        assert!(callers.named.lock().unwrap().all.len() <= NAMED_MAX);
    }
}
