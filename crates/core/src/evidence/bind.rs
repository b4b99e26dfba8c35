//! Which action a request belongs to, and whether that is certain (TR-02).
//!
//! What is provable: a request was not caused by an action that was sent after it arrived. Of those that were sent before,
//! the newest is the likeliest. It is certain only under two assumptions, which are the windows' own and stand in the
//! documentation: what an action causes begins at most ten seconds after its call ended, and what an app does by itself it
//! has done before, while it was watched. Everything else is told with the reason for the doubt.

use std::collections::{BTreeMap, VecDeque};

use xxhash_rust::xxh3::xxh3_64;

use super::exchange::{Address, Doubt, Exchange, ExchangeKind, Source};
use super::window::Windows;

/// Requests that are remembered as seen.
const SEEN_MAX: usize = 4096;
/// How long an app must have been watched before its first requests are believed to have a cause.
const WATCHED_MS_MIN: u64 = 10_000;

/// The action that a request belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Binding {
    pub action: Option<String>,
    /// The action before that one.
    pub after: Option<String>,
    pub doubt: Option<Doubt>,
}

/// Binds the requests of one device, in the order in which they arrive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Binder {
    watched_since_ms: u64,
    /// By method, host and path: the action that it last belonged to, and whether it ever belonged to another or none.
    seen: BTreeMap<u64, Seen>,
    order: VecDeque<u64>,
    /// Something was forgotten, so that nothing can be said to be new.
    has_forgotten: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    action: Option<String>,
    elsewhere: bool,
}

impl Binder {
    pub fn new(watched_since_ms: u64) -> Binder {
        Binder { watched_since_ms, ..Binder::default() }
    }

    /// Binds a request whose head arrived at this time.
    pub fn bind(&mut self, windows: &Windows, method: &str, url: &str, at_ms: u64) -> Binding {
        let action = windows.at(at_ms);
        let id = action.map(|window| window.action_id.clone());
        let was_elsewhere = self.note(method, url, id.as_deref());
        let Some(window) = action else { return Binding::default() };
        let is_call = Exchange::new(Source::Proxy, Some(method), url).kind() == ExchangeKind::Call;
        let watched_ms = window.sent_ms.saturating_sub(self.watched_since_ms);
        let doubt = if windows.in_reach(at_ms) > 1 {
            Some(Doubt::AnotherAction)
        } else if !is_call {
            Some(Doubt::Background)
        } else if was_elsewhere || self.has_forgotten {
            Some(Doubt::SeenBefore)
        } else if watched_ms < WATCHED_MS_MIN {
            Some(Doubt::WatchedTooShort)
        } else {
            None
        };
        let after = windows.before(&window.action_id).map(|before| before.action_id.clone());
        Binding { action: id, after, doubt }
    }

    /// Notes the request, and tells whether it was seen outside this action before.
    fn note(&mut self, method: &str, url: &str, action: Option<&str>) -> bool {
        let Address { host, path } = Address::of(url);
        let key = xxh3_64(format!("{method} {host} {path}").as_bytes());
        if let Some(seen) = self.seen.get_mut(&key) {
            seen.elsewhere |= seen.action.as_deref() != action;
            seen.action = action.map(str::to_owned);
            return seen.elsewhere;
        }
        if self.order.len() == SEEN_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
            self.has_forgotten = true;
        }
        self.order.push_back(key);
        self.seen.insert(key, Seen { action: action.map(str::to_owned), elsewhere: false });
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Actions as (id, sent, ended).
    fn windows(actions: &[(&'static str, u64, u64)]) -> Windows {
        let mut windows = Windows::default();
        for (id, sent_ms, ended_ms) in actions {
            windows.sent(id, "tap", *sent_ms);
            windows.ended(id, *ended_ms);
        }
        windows
    }

    fn told(binding: &Binding) -> (Option<&str>, Option<Doubt>) {
        (binding.action.as_deref(), binding.doubt)
    }

    #[test]
    fn a_new_request_after_one_action_alone_is_certain() {
        // TR-02
        let windows = windows(&[("a", 20_000, 20_100), ("b", 40_000, 40_100)]);
        let mut binder = Binder::new(0);
        let first = binder.bind(&windows, "POST", "https://h/login", 20_050);
        assert_eq!(told(&first), (Some("a"), None));
        let second = binder.bind(&windows, "GET", "https://h/items?page=1", 40_500);
        assert_eq!((told(&second), second.after.as_deref()), ((Some("b"), None), Some("a")));
        assert_eq!(told(&binder.bind(&windows, "GET", "https://h/new", 19_999)), (None, None));
        assert_eq!(told(&binder.bind(&windows, "GET", "https://h/late", 50_101)), (None, None));
    }

    #[test]
    fn another_action_in_reach_is_a_doubt() {
        let windows = windows(&[("a", 20_000, 20_100), ("b", 25_000, 25_100)]);
        let mut binder = Binder::new(0);
        let both = binder.bind(&windows, "GET", "https://h/x", 25_050);
        assert_eq!(told(&both), (Some("b"), Some(Doubt::AnotherAction)), "a request of a may come late");
        let before = binder.bind(&windows, "GET", "https://h/y", 24_999);
        assert_eq!(told(&before), (Some("a"), None), "b was not sent yet");
        assert_eq!(
            told(&binder.bind(&windows, "GET", "https://h/z", 30_101)),
            (Some("b"), None),
            "a is over"
        );
    }

    #[test]
    fn what_an_app_does_by_itself_is_a_doubt() {
        let windows = windows(&[("a", 20_000, 20_100), ("b", 40_000, 40_100)]);
        let mut binder = Binder::new(0);
        binder.bind(&windows, "GET", "https://h/poll?n=1", 5000);
        let poll = binder.bind(&windows, "GET", "https://h/poll?n=2", 20_050);
        assert_eq!(told(&poll), (Some("a"), Some(Doubt::SeenBefore)));
        assert_eq!(
            told(&binder.bind(&windows, "POST", "https://h/events", 20_060)),
            (Some("a"), Some(Doubt::Background))
        );
        binder.bind(&windows, "GET", "https://h/items", 20_070);
        let again = binder.bind(&windows, "GET", "https://h/items", 20_080);
        assert_eq!(told(&again), (Some("a"), None), "twice for one action");
        let other = binder.bind(&windows, "GET", "https://h/items", 40_080);
        assert_eq!(told(&other), (Some("b"), Some(Doubt::SeenBefore)));
        let mut late = Binder::new(15_000);
        assert_eq!(
            told(&late.bind(&windows, "GET", "https://h/x", 20_050)),
            (Some("a"), Some(Doubt::WatchedTooShort))
        );
    }

    #[test]
    fn what_was_forgotten_is_not_taken_for_new() {
        let windows = windows(&[("a", 20_000, 20_100)]);
        let mut binder = Binder::new(0);
        for number in 0..=SEEN_MAX {
            binder.bind(&windows, "GET", &format!("https://h/{number}"), 1);
        }
        assert_eq!(told(&binder.bind(&windows, "GET", "https://h/0", 20_050)).1, Some(Doubt::SeenBefore));
        assert_eq!((binder.seen.len(), binder.order.len()), (SEEN_MAX, SEEN_MAX));
    }
}
