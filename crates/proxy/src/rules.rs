//! Rules: which requests are answered, delayed, failed or cut instead of being passed on.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use regex::{Regex, RegexBuilder};

use crate::serve::{Cause, Head};

/// Rules at a time.
const RULES_MAX: usize = 100;
/// Bytes of a pattern; a longer one is refused.
const PATTERN_BYTES_MAX: usize = 1024;
/// Memory of a compiled pattern.
const REGEX_BYTES_MAX: usize = 256 * 1024;
/// The longest delay: two minutes.
const DELAY_MS_MAX: u64 = 120_000;
/// Bytes of the body that a rule answers; a longer one is refused.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// What a text must be like.
#[derive(Debug, Clone)]
pub enum Pattern {
    Contains(String),
    Matches(Regex),
}

impl Pattern {
    /// A text with `*` must match as a whole, each `*` standing for anything; any other text must be contained.
    pub fn glob(text: &str) -> Result<Pattern, RuleError> {
        if !text.contains('*') {
            check_length(text)?;
            return Ok(Pattern::Contains(text.to_owned()));
        }
        let parts: Vec<String> = text.split('*').map(regex::escape).collect();
        Pattern::regex(&format!("^{}$", parts.join(".*")))
    }

    pub fn regex(text: &str) -> Result<Pattern, RuleError> {
        check_length(text)?;
        let built = RegexBuilder::new(text).size_limit(REGEX_BYTES_MAX).build();
        built.map(Pattern::Matches).map_err(|error| RuleError(format!("{text:?} is no pattern: {error}")))
    }

    fn fits(&self, text: &str) -> bool {
        match self {
            Pattern::Contains(part) => text.contains(part.as_str()),
            Pattern::Matches(regex) => regex.is_match(text),
        }
    }
}

fn check_length(text: &str) -> Result<(), RuleError> {
    if text.len() <= PATTERN_BYTES_MAX {
        return Ok(());
    }
    Err(RuleError(format!("a pattern has at most {PATTERN_BYTES_MAX} bytes, this one has {}", text.len())))
}

/// Which requests a rule is about: all that fit every part that is given.
#[derive(Debug, Clone, Default)]
pub struct Match {
    pub method: Option<String>,
    /// `example.com`, or `*.example.com` for everything below it.
    pub host: Option<String>,
    pub url: Option<Pattern>,
}

impl Match {
    fn fits(&self, head: &Head) -> bool {
        let host_fits = |wanted: &String| match wanted.strip_prefix("*.") {
            Some(above) => head.host.strip_suffix(above).is_some_and(|below| below.ends_with('.')),
            None => head.host.eq_ignore_ascii_case(wanted),
        };
        self.method.as_ref().is_none_or(|method| head.method.eq_ignore_ascii_case(method))
            && self.host.as_ref().is_none_or(host_fits)
            && self.url.as_ref().is_none_or(|url| url.fits(&head.url))
    }

    /// A tunnel has a host and nothing else: a rule that asks for more is not about it.
    fn is_only_about_hosts(&self) -> bool {
        self.method.is_none() && self.url.is_none()
    }
}

/// An answer in the server's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// What happens to a request after the delay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// It is passed on.
    Pass,
    Answer(Answer),
    /// The connection is closed without an answer.
    Cut,
    /// As without a network: every connection is closed, tunnels too, and those that are open end.
    Offline,
}

/// For how long a rule holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lifetime {
    Session,
    /// This many requests.
    Next(u32),
    /// Requests of this action.
    Action(String),
    /// Requests of the action that follows this one; of the first one if there was none.
    ActionAfter(Option<String>),
}

#[derive(Debug, Clone)]
pub struct Rule {
    pub matches: Match,
    pub delay_ms: u64,
    pub effect: Effect,
    pub lifetime: Lifetime,
}

/// A rule that cannot be used, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError(pub String);

impl std::fmt::Display for RuleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Rule {
    fn check(&self) -> Result<(), RuleError> {
        if self.delay_ms > DELAY_MS_MAX {
            return Err(RuleError(format!("a delay has at most {DELAY_MS_MAX} ms")));
        }
        let Effect::Answer(answer) = &self.effect else { return Ok(()) };
        if !(200..=599).contains(&answer.status) {
            return Err(RuleError(format!("{} is no final HTTP status (200 to 599)", answer.status)));
        }
        if answer.body.len() > BODY_BYTES_MAX {
            return Err(RuleError(format!("a body has at most {BODY_BYTES_MAX} bytes")));
        }
        let bad = answer.headers.iter().find(|(name, value)| {
            hyper::header::HeaderName::from_bytes(name.as_bytes()).is_err()
                || hyper::header::HeaderValue::from_str(value).is_err()
        });
        bad.map_or(Ok(()), |(name, _)| Err(RuleError(format!("the header {name:?} cannot be sent"))))
    }
}

/// A rule, how often it was used, and whether it is over.
#[derive(Debug, Clone)]
pub struct RuleState {
    pub id: u64,
    pub rule: Rule,
    pub used: u64,
}

#[derive(Default)]
struct Kept {
    rules: VecDeque<RuleState>,
    last: u64,
}

#[derive(Default)]
pub struct Rules {
    kept: Mutex<Kept>,
}

impl Rules {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn add(&self, rule: Rule) -> Result<u64, RuleError> {
        rule.check()?;
        let mut kept = self.kept();
        if kept.rules.len() == RULES_MAX {
            return Err(RuleError(format!("there are {RULES_MAX} rules already; clear them first")));
        }
        kept.last += 1;
        let id = kept.last;
        kept.rules.push_back(RuleState { id, rule, used: 0 });
        Ok(id)
    }

    pub fn clear(&self) -> usize {
        std::mem::take(&mut self.kept().rules).len()
    }

    pub fn list(&self) -> Vec<RuleState> {
        self.kept().rules.iter().cloned().collect()
    }

    pub fn is_offline(&self) -> bool {
        self.kept().rules.iter().any(|state| state.rule.effect == Effect::Offline && !state.is_over())
    }

    /// The newest rule for this request. It counts as used.
    pub fn take(&self, head: &Head, cause: &Cause) -> Option<(u64, Rule)> {
        self.find(cause, |rule| rule.matches.fits(head))
    }

    /// The newest rule for a connection whose requests are not seen.
    pub fn take_for_tunnel(&self, head: &Head, cause: &Cause) -> Option<(u64, Rule)> {
        let is_about = |rule: &Rule| {
            let can_be_done = !matches!(rule.effect, Effect::Answer(_));
            can_be_done && rule.matches.is_only_about_hosts() && rule.matches.fits(head)
        };
        self.find(cause, is_about)
    }

    fn find(&self, cause: &Cause, is_about: impl Fn(&Rule) -> bool) -> Option<(u64, Rule)> {
        let mut kept = self.kept();
        let holds = |state: &&mut RuleState| !state.is_over() && state.holds(cause) && is_about(&state.rule);
        let state = kept.rules.iter_mut().rev().find(holds)?;
        state.used += 1;
        Some((state.id, state.rule.clone()))
    }
}

impl RuleState {
    pub fn is_over(&self) -> bool {
        matches!(self.rule.lifetime, Lifetime::Next(count) if self.used >= u64::from(count))
    }

    fn holds(&self, cause: &Cause) -> bool {
        match &self.rule.lifetime {
            Lifetime::Session | Lifetime::Next(_) => true,
            Lifetime::Action(action) => cause.action.as_ref() == Some(action),
            Lifetime::ActionAfter(before) => cause.action.is_some() && cause.after == *before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(method: &str, url: &str) -> Head {
        let host = url.split('/').nth(2).unwrap_or(url).split(':').next().unwrap_or("").to_owned();
        Head { method: method.to_owned(), url: url.to_owned(), host }
    }

    fn rule(matches: Match, lifetime: Lifetime) -> Rule {
        Rule { matches, delay_ms: 0, effect: Effect::Cut, lifetime }
    }

    #[test]
    fn a_rule_is_about_what_fits_all_that_it_names() {
        let url = |text: &str| Some(Pattern::glob(text).unwrap());
        let post = Match { method: Some("post".into()), url: url("/login"), host: None };
        assert!(post.fits(&head("POST", "http://a.example/v1/login?x")));
        assert!(!post.fits(&head("GET", "http://a.example/v1/login")));
        let glob = Match { url: url("http://*/v1/*.json"), ..Match::default() };
        assert!(
            glob.fits(&head("GET", "http://a/v1/x.json")) && !glob.fits(&head("GET", "http://a/v1/x.json?y"))
        );
        let dots = Match { url: url("*a.b*"), ..Match::default() };
        assert!(!dots.fits(&head("GET", "http://aXb/")), "only the star is special");
        let below = Match { host: Some("*.example.com".into()), ..Match::default() };
        assert!(below.fits(&head("GET", "https://api.example.com/")));
        assert!(
            !below.fits(&head("GET", "https://evilexample.com/"))
                && !below.fits(&head("GET", "https://example.com/"))
        );
        let regex = Match { url: Some(Pattern::regex(r"/items/\d+$").unwrap()), ..Match::default() };
        assert!(
            regex.fits(&head("GET", "http://a/items/12")) && !regex.fits(&head("GET", "http://a/items/x"))
        );
    }

    #[test]
    fn a_rule_lasts_as_long_as_it_was_asked_to() {
        let rules = Rules::default();
        rules.add(rule(Match::default(), Lifetime::Next(2))).unwrap();
        let take = |cause: &Cause| rules.take(&head("GET", "http://a/"), cause).is_some();
        let nobody = Cause::default();
        assert_eq!([take(&nobody), take(&nobody), take(&nobody)], [true, true, false]);
        rules.clear();
        rules.add(rule(Match::default(), Lifetime::ActionAfter(Some("a".into())))).unwrap();
        let of = |action: &str, after: &str| Cause {
            action: Some(action.into()),
            after: Some(after.into()),
            doubt: None,
        };
        assert_eq!(
            [take(&of("a", "z")), take(&of("b", "a")), take(&of("c", "b")), take(&nobody)],
            [false, true, false, false]
        );
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        let rules = Rules::default();
        let answer = |status, name: &str| Rule {
            effect: Effect::Answer(Answer { status, headers: vec![(name.into(), "x".into())], body: vec![] }),
            ..rule(Match::default(), Lifetime::Session)
        };
        assert!(rules.add(answer(99, "a")).is_err() && rules.add(answer(101, "a")).is_err());
        assert!(rules.add(answer(200, "a\r\nb")).is_err() && rules.add(answer(200, "a")).is_ok());
        assert!(
            rules
                .add(Rule { delay_ms: DELAY_MS_MAX + 1, ..rule(Match::default(), Lifetime::Session) })
                .is_err()
        );
        assert!(Pattern::regex("(a{1000}){1000}").is_err() && Pattern::regex("(").is_err());
        for _ in 0..RULES_MAX - 1 {
            rules.add(rule(Match::default(), Lifetime::Session)).unwrap();
        }
        assert!(rules.add(rule(Match::default(), Lifetime::Session)).is_err());
    }

    #[test]
    fn a_tunnel_is_only_touched_by_rules_about_hosts() {
        let rules = Rules::default();
        let about_url = Match { url: Some(Pattern::glob("/login").unwrap()), ..Match::default() };
        rules.add(rule(about_url, Lifetime::Session)).unwrap();
        let tunnel = head("CONNECT", "api.example.com:443");
        assert!(rules.take_for_tunnel(&tunnel, &Cause::default()).is_none());
        rules.add(rule(Match::default(), Lifetime::Session)).unwrap();
        assert!(rules.take_for_tunnel(&tunnel, &Cause::default()).is_some());
    }
}
