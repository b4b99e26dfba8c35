//! Requests of apps, and what an action came to.

use mdm_core::evidence::exchange::{Exchange, ExchangeOutcome};
use mdm_core::failure::Cause;
use serde::Serialize;

use super::{Block, Rendering};
use crate::answer::Facts;
use crate::basis::MadeFrom;

#[derive(Serialize)]
struct Requests {
    requests: Vec<RequestJson>,
    count: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestJson {
    endpoint: String,
    method: String,
    status_code: Option<u16>,
    network_error: Option<&'static str>,
    status: &'static str,
    duration_ms: u64,
}

impl RequestJson {
    fn of(exchange: &Exchange) -> RequestJson {
        RequestJson {
            endpoint: endpoint(&exchange.url),
            method: exchange.method.clone().unwrap_or_else(|| "unknown".to_owned()),
            status_code: exchange.status,
            network_error: exchange.error.as_deref().map(network_error),
            status: match exchange.outcome() {
                // What had no answer yet had not failed.
                ExchangeOutcome::Success | ExchangeOutcome::Pending => "success",
                ExchangeOutcome::Failure => "failure",
                ExchangeOutcome::Retryable => "retryable",
            },
            duration_ms: exchange.duration_ms.unwrap_or(0),
        }
    }
}

/// The path in small letters, without what follows it.
fn endpoint(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = if rest.len() == url.len() { url } else { rest.find('/').map_or("/", |at| &rest[at..]) };
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    if path.is_empty() { "/".to_owned() } else { path.to_lowercase() }
}

fn network_error(error: &str) -> &'static str {
    let error = error.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| error.contains(word));
    match () {
        () if has(&["timeout", "timed out"]) => "timeout",
        () if has(&["dns", "resolve", "unknown host", "unknownhost"]) => "dns_error",
        () if has(&["tls", "ssl", "certificate", "handshake"]) => "tls_error",
        () if has(&["refused"]) => "connection_refused",
        () if has(&["reset"]) => "connection_reset",
        () => "unknown_network_error",
    }
}

pub fn requests(r: &Rendering<'_>) -> Option<Block> {
    let MadeFrom::Requests(exchanges) = &r.answer.basis.made_from else {
        // A device that did not answer had no requests; a call that was refused says why.
        let failed =
            r.refused().is_some_and(|failure| matches!(failure.cause, Cause::Device(_) | Cause::Timeout));
        return failed.then(|| Block::json(&Requests { requests: Vec::new(), count: 0 }));
    };
    let requests: Vec<RequestJson> = exchanges.iter().map(RequestJson::of).collect();
    Some(Block::json(&Requests { count: requests.len(), requests }))
}

#[derive(Serialize)]
struct Classified<'a> {
    outcome: &'a str,
    reasoning: &'a str,
}

pub fn classified(r: &Rendering<'_>) -> Option<Block> {
    let Facts::Classified(facts) = &r.answer.facts else { return None };
    Some(Block::json(&Classified { outcome: facts.outcome, reasoning: &facts.reasoning }))
}
