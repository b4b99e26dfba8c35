//! The proxy of a device: on and off, and what it answers, delays, fails or cuts.

use std::collections::BTreeMap;
use std::time::Duration;

use mdm_core::text::quote::push_quoted;
use mdm_engine::Session;
use mdm_proxy::{Answer as MadeUp, Effect as RuleEffect, Lifetime, Match, Pattern, Rule, RuleState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, Tool};
use crate::answer::{Answer, Facts};
use crate::args::DeviceArg;
use crate::proxies::Running;
use crate::refusal::Refusal;

const FAIL_STATUS: u16 = 503;
const ANSWER_STATUS: u16 = 200;
/// Requests for which a rule may last; more are refused.
const NEXT_MAX: u32 = 10_000;
/// Characters of a part of a rule that an answer shows.
const TEXT_CHARS_MAX: usize = 200;

pub struct MockNetwork;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MockParams {
    proxy: Option<Switch>,
    #[schemars(extend("hidden" = true))]
    tls: Option<bool>,
    #[schemars(extend("hidden" = true))]
    method: Option<String>,
    #[schemars(extend("hidden" = true))]
    host: Option<String>,
    url: Option<String>,
    #[schemars(with = "Option<u32>")]
    status: Option<u16>,
    body: Option<String>,
    #[schemars(extend("hidden" = true))]
    headers: BTreeMap<String, String>,
    delay_ms: Option<u64>,
    effect: Option<EffectArg>,
    /// session, next_action, a count or an action_id
    #[serde(rename = "for")]
    #[schemars(extend("hidden" = true))]
    lasts: Option<LastsArg>,
    #[schemars(extend("hidden" = true))]
    clear: bool,
    #[serde(flatten)]
    device: DeviceArg,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Switch {
    On,
    Tls,
    Off,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum EffectArg {
    Fail,
    Cut,
    Offline,
    // All rules are dropped.
    Clear,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum LastsArg {
    Count(u32),
    Word(String),
}

impl JsonSchema for LastsArg {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LastsArg".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

#[derive(Debug, Serialize)]
pub struct MockFacts {
    device: String,
    proxy: &'static str,
    /// True if https is read where the CA is trusted.
    tls: bool,
    /// The certificate to install on the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    ca: Option<String>,
    /// The proxy that the device used before; requests still go through it.
    #[serde(skip_serializing_if = "Option::is_none")]
    through: Option<String>,
    /// The rule that this call made.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<u64>,
    rules: usize,
    /// Hosts whose apps refused the proxy's certificate; they are tunnelled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused_by: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

const NOTE_TUNNELS: &str = "https requests are tunnelled, so only rules about hosts that cut, delay or go offline reach them; proxy tls reads them";

impl Tool for MockNetwork {
    type Params = MockParams;
    const NAME: &'static str = "mock_network";
    const DESCRIPTION: &'static str = "Proxy the device; answer, delay, fail or cut its requests.";
    const EFFECT: Effect = Effect::Acts;
    const TIMEOUT: Duration = Duration::from_secs(30);

    async fn run(call: &Call<'_>, params: MockParams) -> Result<Answer, Refusal> {
        // Checked before anything is touched.
        let rule = params.rule()?;
        let session = call.device(&params.device.wanted(), call.progress).await?;
        call.check_app_in_front(&session, call.progress).await?;
        if params.proxy == Some(Switch::Off) {
            call.app.proxies.switch_off(&session, call.progress).await?;
            return Ok(Answer::new(Facts::Mock(Box::new(MockFacts::off(&session)))));
        }
        // Without anything to do it only tells how it is.
        let is_asked = params.proxy.is_some() || params.tls.is_some() || rule.is_some();
        let running = match call.app.proxies.of(&session) {
            Some(running) if !is_asked => running,
            None if !is_asked => return Ok(Answer::new(Facts::Mock(Box::new(MockFacts::off(&session))))),
            _ => call.app.proxies.switch_on(call.app, &session, call.progress).await?,
        };
        if let Some(tls) = params.opens_tls().filter(|tls| *tls != running.proxy.opens_tls()) {
            let authority = tls.then(|| call.app.proxies.authority(session.now_ms())).transpose()?;
            running.proxy.set_authority(authority);
        }
        if params.clears() {
            running.proxy.clear_rules();
        }
        let is_about_urls =
            rule.as_ref().is_some_and(|rule| rule.matches.url.is_some() || rule.matches.method.is_some());
        let number = match rule {
            Some(rule) => {
                let lifetime = params.lifetime(&session)?;
                let added = running.proxy.add_rule(Rule { lifetime, ..rule });
                Some(added.map_err(|error| Refusal::argument(error.0, "mend the rule; the proxy is on"))?)
            }
            None => None,
        };
        let mut facts = MockFacts::on(&session, &running, number);
        if running.proxy.opens_tls() {
            let authority = call.app.proxies.authority(session.now_ms())?;
            facts.ca = Some(authority.certificate_file().display().to_string());
        }
        facts.note = (is_about_urls && !running.proxy.opens_tls()).then_some(NOTE_TUNNELS);
        let mut lines = String::new();
        running.proxy.rules().iter().for_each(|state| push_rule(&mut lines, state));
        Ok(Answer::new(Facts::Mock(Box::new(facts))).with_lines(&lines))
    }
}

impl MockFacts {
    fn off(session: &Session) -> MockFacts {
        MockFacts {
            device: session.id().to_owned(),
            proxy: "off",
            tls: false,
            ca: None,
            through: None,
            rule: None,
            rules: 0,
            refused_by: Vec::new(),
            note: None,
        }
    }

    fn on(session: &Session, running: &Running, rule: Option<u64>) -> MockFacts {
        MockFacts {
            proxy: "on",
            tls: running.proxy.opens_tls(),
            through: running.former(),
            rule,
            rules: running.proxy.rules().len(),
            refused_by: running.proxy.refusing_hosts(),
            ..MockFacts::off(session)
        }
    }
}

impl MockParams {
    fn opens_tls(&self) -> Option<bool> {
        if self.proxy == Some(Switch::Tls) { Some(true) } else { self.tls }
    }

    fn clears(&self) -> bool {
        self.clear || self.effect == Some(EffectArg::Clear)
    }

    /// The rule that is asked for, if any; its lifetime is filled in later.
    fn rule(&self) -> Result<Option<Rule>, Refusal> {
        let refuse = |message: &str| Err(Refusal::argument(message, "nothing was done; mend the arguments"));
        let effect = self.effect.filter(|effect| *effect != EffectArg::Clear);
        let has_answer = self.status.is_some() || self.body.is_some() || !self.headers.is_empty();
        let names_something = self.method.is_some() || self.host.is_some() || self.url.is_some();
        let does_something = has_answer || effect.is_some() || self.delay_ms.is_some();
        if self.proxy == Some(Switch::Off) && (names_something || does_something) {
            return refuse("proxy off takes no rule");
        }
        if !does_something {
            return match names_something || self.lasts.is_some() {
                true => refuse("the rule does nothing: give status, body, delay_ms or effect"),
                false => Ok(None),
            };
        }
        let effect = match effect {
            Some(_) if has_answer => {
                return refuse("status, body and headers make an answer, which effect excludes");
            }
            Some(EffectArg::Offline) if names_something => {
                return refuse("offline is for everything: name no url");
            }
            Some(EffectArg::Fail) => {
                RuleEffect::Answer(MadeUp { status: FAIL_STATUS, headers: vec![], body: vec![] })
            }
            Some(EffectArg::Cut) => RuleEffect::Cut,
            Some(EffectArg::Offline) => RuleEffect::Offline,
            Some(EffectArg::Clear) => RuleEffect::Pass,
            None if has_answer => RuleEffect::Answer(self.made_up()),
            None => RuleEffect::Pass,
        };
        let url = self.url.as_deref().map(pattern).transpose();
        let url = url.map_err(|error| Refusal::argument(error.0, "nothing was done; mend url"))?;
        let matches = Match { method: self.method.clone(), host: self.host.clone(), url };
        Ok(Some(Rule { matches, delay_ms: self.delay_ms.unwrap_or(0), effect, lifetime: Lifetime::Session }))
    }

    fn made_up(&self) -> MadeUp {
        let body = self.body.clone().unwrap_or_default();
        let mut headers: Vec<(String, String)> =
            self.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let is_json = body.trim_start().starts_with(['{', '[']);
        if is_json && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        }
        MadeUp { status: self.status.unwrap_or(ANSWER_STATUS), headers, body: body.into_bytes() }
    }

    fn lifetime(&self, session: &Session) -> Result<Lifetime, Refusal> {
        let memory = session.memory();
        let word = match &self.lasts {
            None => return Ok(Lifetime::Session),
            Some(LastsArg::Count(count)) => return count_of(*count),
            Some(LastsArg::Word(word)) => word,
        };
        if let Ok(count) = word.parse() {
            return count_of(count);
        }
        match word.as_str() {
            "session" => Ok(Lifetime::Session),
            "next_action" => {
                Ok(Lifetime::ActionAfter(memory.windows.last().map(|last| last.action_id.clone())))
            }
            id if memory.windows.of(id).is_some() => Ok(Lifetime::Action(id.to_owned())),
            other => Err(Refusal::argument(
                format!("for = {other:.80?} is no action of this device"),
                "use session, next_action, a count, or the action_id of an action's answer",
            )),
        }
    }
}

fn count_of(count: u32) -> Result<Lifetime, Refusal> {
    match (1..=NEXT_MAX).contains(&count) {
        true => Ok(Lifetime::Next(count)),
        false => {
            Err(Refusal::argument(format!("for = {count} is not 1 to {NEXT_MAX}"), "use session for no end"))
        }
    }
}

fn pattern(url: &str) -> Result<Pattern, mdm_proxy::RuleError> {
    // A path with slashes on both ends is a path unless something in it is no path's.
    let inner = url.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let is_regex = |inner: &&str| inner.contains(['\\', '^', '$', '(', '[', '+', '|', '{']);
    match inner.filter(is_regex) {
        Some(regex) => Pattern::regex(regex),
        None => Pattern::glob(url),
    }
}

fn push_rule(out: &mut String, state: &RuleState) {
    let Rule { matches, delay_ms, effect, lifetime } = &state.rule;
    out.push_str(&format!("rule {}", state.id));
    if let Some(method) = &matches.method {
        out.push_str(&format!(" {method:.20}"));
    }
    if let Some(host) = &matches.host {
        out.push_str(" host ");
        push_quoted(out, host, TEXT_CHARS_MAX);
    }
    match &matches.url {
        Some(Pattern::Contains(part)) => {
            out.push_str(" url ");
            push_quoted(out, part, TEXT_CHARS_MAX);
        }
        Some(Pattern::Matches(regex)) => {
            out.push_str(" url ~ ");
            push_quoted(out, regex.as_str(), TEXT_CHARS_MAX);
        }
        None => {}
    }
    if *delay_ms > 0 {
        out.push_str(&format!(" delay {delay_ms} ms"));
    }
    out.push_str(&match effect {
        RuleEffect::Pass => " passes".to_owned(),
        RuleEffect::Answer(answer) => format!(" answers {} with {} bytes", answer.status, answer.body.len()),
        RuleEffect::Cut => " cuts".to_owned(),
        RuleEffect::Offline => " offline".to_owned(),
    });
    out.push_str(&match lifetime {
        Lifetime::Session => " for the session (for: next_action or a count makes it shorter)".to_owned(),
        Lifetime::Next(count) => format!(" for {count} requests"),
        Lifetime::Action(id) => format!(" for {id}"),
        Lifetime::ActionAfter(_) => " for the next action".to_owned(),
    });
    out.push_str(&format!(", used {}\n", state.used));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(json: &str) -> Result<Option<Rule>, Refusal> {
        serde_json::from_str::<MockParams>(json).unwrap().rule()
    }

    #[test]
    fn what_is_asked_for_becomes_a_rule_or_is_refused() {
        assert!(rule(r#"{"proxy":"on"}"#).unwrap().is_none());
        let effect = |json: &str| rule(json).unwrap().unwrap().effect;
        assert!(
            matches!(effect(r#"{"url":"/login","status":401}"#), RuleEffect::Answer(answer) if answer.status == 401)
        );
        assert!(
            matches!(effect(r#"{"body":"{}"}"#), RuleEffect::Answer(answer) if answer.headers.len() == 1)
        );
        assert!(matches!(effect(r#"{"effect":"fail"}"#), RuleEffect::Answer(answer) if answer.status == 503));
        assert_eq!(effect(r#"{"effect":"offline"}"#), RuleEffect::Offline);
        assert_eq!(effect(r#"{"delay_ms":5}"#), RuleEffect::Pass);
        for bad in [
            r#"{"url":"/login"}"#,
            r#"{"for":"session"}"#,
            r#"{"effect":"cut","status":200}"#,
            r#"{"effect":"offline","url":"x"}"#,
            r#"{"proxy":"off","status":200}"#,
            r#"{"url":"/(/","status":200}"#,
        ] {
            assert!(rule(bad).is_err(), "{bad}");
        }
    }
}
