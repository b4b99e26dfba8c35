//! Requests of apps: what the proxy saw, else what the log tells.

use std::time::Duration;

use mdm_core::evidence::exchange::{Doubt, Exchange, ExchangeKind, Part, Source};
use mdm_core::evidence::{from_log, redact};
use mdm_core::port::LogRead;
use mdm_core::text::calendar::clock;
use mdm_core::text::quote::push_quoted;
use mdm_engine::{Session, WantedDevice};
use mdm_proxy::{Kind, Message, Record};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Effect, Hints, Tool};
use crate::answer::{Answer, Facts};
use crate::args::DeviceArg;
use crate::basis::MadeFrom;
use crate::har::{self, Har};
use crate::refusal::Refusal;

/// Requests of an answer unless the caller says otherwise.
const LIMIT_DEFAULT: u32 = 30;
/// Requests that a caller may ask for; more are refused.
const LIMIT_MAX: u32 = 500;
/// The window where no action was sent so far.
const WINDOW_MS: u64 = 30_000;
/// Characters of an address or of a header that are shown.
const URL_CHARS_MAX: usize = 400;
/// Characters of an error that are shown.
const ERROR_CHARS_MAX: usize = 200;
/// Bytes of a body that are unpacked, and characters that an answer shows.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// Characters of a body that are shown.
const BODY_CHARS_MAX: usize = 2000;
/// Headers of one message that are shown.
const HEADERS_SHOWN_MAX: usize = 30;

pub struct GetNetworkActivity;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NetworkParams {
    #[schemars(extend("hidden" = true))]
    app_id: Option<String>,
    /// default: the last
    action_id: Option<String>,
    #[schemars(extend("hidden" = true))]
    since_seconds: Option<f64>,
    contains: Option<String>,
    failed_only: bool,
    bodies: bool,
    #[schemars(extend("hidden" = true))]
    limit: Option<u32>,
    export_har: Option<String>,
    #[serde(flatten)]
    device: DeviceArg,
}

#[derive(Debug, Serialize)]
pub struct NetworkFacts {
    device: String,
    /// Who saw these requests: `proxy` or `log`.
    source: &'static str,
    /// Requests below.
    count: usize,
    /// Requests that fit the filters.
    matched: usize,
    failed: usize,
    /// Of those that fit: successful telemetry and assets that are not listed.
    #[serde(skip_serializing_if = "Hidden::is_nothing")]
    hidden: Hidden,
    /// Older exchanges that the proxy does not keep any more.
    #[serde(skip_serializing_if = "is_zero")]
    dropped: u64,
    /// The action since which requests were looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    since_action: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    har: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

#[derive(Debug, Default, Serialize)]
struct Hidden {
    background: usize,
    assets: usize,
}

impl Hidden {
    fn is_nothing(&self) -> bool {
        self.background + self.assets == 0
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Tool for GetNetworkActivity {
    type Params = NetworkParams;
    const NAME: &'static str = "get_network_activity";
    const DESCRIPTION: &'static str =
        "Requests of apps: status, time, action. All of them when mock_network has the proxy on.";
    const EFFECT: Effect = Effect::ReadOnly;
    const HINTS: Hints = Hints::WRITES_NEW_FILES;
    const TIMEOUT: Duration = Duration::from_secs(20);

    async fn run(call: &Call<'_>, params: NetworkParams) -> Result<Answer, Refusal> {
        let limit = limit(&params)?;
        let file = params.export_har.as_ref().map(|file| call.writable(file.as_ref())).transpose()?;
        let wanted = WantedDevice { app: params.app_id.clone(), ..params.device.wanted() };
        let session = call.device(&wanted, call.progress).await?;
        let window = Window::of(&session, &params)?;
        let seen = look(call, &session, &params, &window).await?;
        let fitting: Vec<Exchange> =
            seen.exchanges.into_iter().filter(|exchange| fits(exchange, &params)).collect();
        if let Some(file) = &file {
            let text = self::har(&fitting)?;
            let text = call.app.secrets.redact_answer(&text);
            har::write(file, &text).map_err(|error| {
                let message = format!("{} could not be written: {error}", file.display());
                Refusal::argument(message, "name a file that is not there yet")
            })?;
        }
        let (listed, hidden) = fold(&fitting, &params);
        let shown = &listed[listed.len().saturating_sub(limit)..];
        let facts = NetworkFacts {
            device: session.id().to_owned(),
            source: seen.source,
            count: shown.len(),
            matched: fitting.len(),
            failed: fitting.iter().filter(|exchange| exchange.has_failed()).count(),
            hidden,
            dropped: seen.dropped,
            since_action: window.action,
            har: file.map(|file| file.display().to_string()),
            note: seen.note,
        };
        let mut lines = String::new();
        shown.iter().for_each(|exchange| push_exchange(&mut lines, exchange, params.bodies));
        let requests = shown.iter().map(|exchange| (*exchange).clone()).collect();
        // Whoever wants more requests than are usual wants the tokens too.
        let asked_for = if limit > LIMIT_DEFAULT as usize { usize::MAX } else { 0 };
        let answer = Answer::new(Facts::Network(Box::new(facts))).with_lines(&lines).within_tokens(asked_for);
        Ok(answer.made_from(MadeFrom::Requests(requests)))
    }
}

fn limit(params: &NetworkParams) -> Result<usize, Refusal> {
    let limit = params.limit.unwrap_or(LIMIT_DEFAULT);
    if (1..=LIMIT_MAX).contains(&limit) {
        return Ok(limit as usize);
    }
    let hint = "narrow the requests with contains, failed_only or since_seconds";
    Err(Refusal::argument(format!("limit = {limit} is not 1 to {LIMIT_MAX}"), hint))
}

/// The time that is asked about, by this machine's clock.
struct Window {
    from_ms: u64,
    /// Only requests of this action.
    only: Option<String>,
    /// The last action, where nothing else was asked.
    action: Option<String>,
}

impl Window {
    fn of(session: &Session, params: &NetworkParams) -> Result<Window, Refusal> {
        let now_ms = session.now_ms();
        let memory = session.memory();
        if let Some(id) = &params.action_id {
            let (window, _) = memory.windows.of(id).ok_or_else(|| {
                let message = format!("no action {id:.80?} is remembered on {}", session.id());
                Refusal::argument(message, "use the action_id of an action's answer, or since_seconds")
            })?;
            return Ok(Window { from_ms: window.sent_ms, only: Some(id.clone()), action: None });
        }
        if let Some(seconds) = params.since_seconds {
            let ms = (seconds.max(0.0) * 1000.0) as u64;
            return Ok(Window { from_ms: now_ms.saturating_sub(ms), only: None, action: None });
        }
        Ok(match memory.windows.last() {
            Some(last) => {
                let action = Some(last.action_id.clone());
                Window { from_ms: last.sent_ms, only: None, action }
            }
            None => Window { from_ms: now_ms.saturating_sub(WINDOW_MS), only: None, action: None },
        })
    }

    /// True if the exchange falls into the window. A tunnel does when bytes passed in it then.
    fn has(&self, exchange: &Exchange, active_ms: Option<u64>) -> bool {
        let at_ms = active_ms.or(exchange.began_ms);
        let is_of_action = self.only.is_none() || exchange.action == self.only;
        is_of_action && at_ms.is_none_or(|at_ms| at_ms >= self.from_ms)
    }
}

struct Seen {
    source: &'static str,
    exchanges: Vec<Exchange>,
    dropped: u64,
    note: Option<&'static str>,
}

const NOTE_TUNNELS: &str = "https is tunnelled: only hosts, sizes and times are seen; mock_network's proxy tls opens it where the CA is trusted";
const NOTE_BYPASSED: &str =
    "the proxy saw nothing, the log did: the app may not use the system's proxy (Flutter does not)";
const NOTE_MENDED: &str =
    "the device had lost the way to the proxy, which is mended; requests in between failed";
const NOTE_APPS: &str = "the proxy cannot tell apps apart: app_id was not used";

/// All requests that are known: those that the proxy keeps, else those of a log that was read.
pub fn known(call: &Call<'_>, session: &Session, log: Option<&LogRead>) -> Vec<Exchange> {
    if let Some(running) = call.app.proxies.of(session) {
        return running.proxy.since(0).records.iter().map(of_proxy).collect();
    }
    let window = Window { from_ms: 0, only: None, action: None };
    log.map_or_else(Vec::new, |read| of_log(session, read, true, &window))
}

/// The same as a HAR file.
pub fn har(exchanges: &[Exchange]) -> Result<String, Refusal> {
    Har::of(exchanges).text().map_err(|error| Refusal::defect(error.to_string()))
}

async fn look(
    call: &Call<'_>,
    session: &Session,
    params: &NetworkParams,
    window: &Window,
) -> Result<Seen, Refusal> {
    let running = call.app.proxies.of(session);
    let mut is_mended = false;
    if let Some(running) = &running {
        is_mended = call.app.proxies.keep(running, session, call.progress).await;
        let page = running.proxy.since(0);
        let seen = page.records.iter().filter_map(|record| {
            let exchange = of_proxy(record);
            let active_ms = exchange.is_tunnel.then_some(record.active_ms);
            window.has(&exchange, active_ms).then_some(exchange)
        });
        let exchanges: Vec<Exchange> = seen.collect();
        if !exchanges.is_empty() {
            let has_tunnels =
                !running.proxy.opens_tls() && exchanges.iter().any(|exchange| exchange.is_tunnel);
            let note = match (&params.app_id, has_tunnels) {
                _ if is_mended => Some(NOTE_MENDED),
                (_, true) => Some(NOTE_TUNNELS),
                (Some(_), false) => Some(NOTE_APPS),
                (None, false) => None,
            };
            return Ok(Seen { source: "proxy", exchanges, dropped: page.dropped, note });
        }
    }
    let read = session.logs(params.app_id.as_deref(), call.progress).await?;
    let exchanges = of_log(session, &read, params.app_id.is_some(), window);
    let is_bypassed = running.is_some() && !exchanges.is_empty();
    let note = if is_mended { Some(NOTE_MENDED) } else { is_bypassed.then_some(NOTE_BYPASSED) };
    let source = if running.is_some() && exchanges.is_empty() { "proxy" } else { "log" };
    Ok(Seen { source, exchanges, dropped: 0, note })
}

fn of_proxy(record: &Record) -> Exchange {
    let is_tunnel = record.kind == Kind::Tunnel;
    Exchange {
        id: record.id,
        is_tunnel,
        status: record.status,
        error: record.error.clone(),
        began_ms: Some(record.began_ms),
        duration_ms: record.ended_ms.map(|ended_ms| ended_ms.saturating_sub(record.began_ms)),
        has_ended: record.ended_ms.is_some(),
        request: part(&record.request, is_tunnel),
        response: part(&record.response, is_tunnel),
        action: record.cause.action.clone(),
        doubt: record.cause.doubt.and_then(Doubt::named),
        is_mocked: record.rule.is_some(),
        ..Exchange::new(Source::Proxy, Some(&record.method), &record.url)
    }
}

fn part(message: &Message, is_tunnel: bool) -> Part {
    let body = mdm_proxy::decoded(message, BODY_BYTES_MAX).filter(|_| !is_tunnel);
    let is_text = |body: &Vec<u8>| !body.contains(&0);
    Part {
        bytes: Some(message.bytes),
        headers: message.headers.clone(),
        body: body.filter(is_text).map(|body| String::from_utf8_lossy(&body).into_owned()),
        is_cut: message.is_cut,
    }
}

/// The requests of the log, with this machine's times and the actions that were sent before them.
fn of_log(session: &Session, read: &LogRead, of_app: bool, window: &Window) -> Vec<Exchange> {
    let mut exchanges = from_log::exchanges(&read.entries);
    let now_ms = session.now_ms();
    let memory = session.memory();
    for exchange in &mut exchanges {
        // Both clocks were read at about the same time; what lies between is the offset (W18).
        exchange.began_ms = exchange
            .began_ms
            .zip(read.now_ms)
            .map(|(began_ms, device_now_ms)| (now_ms + began_ms).saturating_sub(device_now_ms));
        let action = exchange.began_ms.and_then(|began_ms| memory.windows.at(began_ms));
        exchange.action = action.map(|window| window.action_id.clone());
        exchange.doubt = action.map(|_| Doubt::LogTime);
    }
    let is_apps = |exchange: &Exchange| {
        let pids = read.app_pids.iter().chain(&read.past_pids);
        !of_app || exchange.pid.is_some_and(|pid| pids.into_iter().any(|known| *known == pid))
    };
    exchanges.retain(|exchange| is_apps(exchange) && window.has(exchange, None));
    exchanges
}

fn fits(exchange: &Exchange, params: &NetworkParams) -> bool {
    params.contains.as_ref().is_none_or(|part| exchange.url.contains(part.as_str()))
        && (!params.failed_only || exchange.has_failed())
}

/// Leaves out successful telemetry and assets, and counts them, where there is something else to see.
fn fold<'a>(fitting: &'a [Exchange], params: &NetworkParams) -> (Vec<&'a Exchange>, Hidden) {
    let is_shown = |exchange: &&Exchange| exchange.has_failed() || exchange.kind() == ExchangeKind::Call;
    let shown: Vec<&Exchange> = fitting.iter().filter(is_shown).collect();
    if shown.is_empty() || params.contains.is_some() {
        return (fitting.iter().collect(), Hidden::default());
    }
    let count = |kind| fitting.iter().filter(|e| !e.has_failed() && e.kind() == kind).count();
    let hidden = Hidden { background: count(ExchangeKind::Background), assets: count(ExchangeKind::Asset) };
    (shown, hidden)
}

/// Writes a line such as `#3 12:00:01.123 POST "https://h/login" 401 failure 123 ms 23>17 bytes tap_1_7`.
pub fn push_exchange(out: &mut String, exchange: &Exchange, bodies: bool) {
    out.push_str(&format!("#{} ", exchange.id));
    if let Some(began_ms) = exchange.began_ms {
        out.push_str(&format!("{} ", clock(began_ms)));
    }
    out.push_str(exchange.method.as_deref().unwrap_or("?"));
    out.push(' ');
    match exchange.url.is_empty() {
        // iOS keeps addresses out of its log.
        true => out.push_str("(address not told)"),
        false => push_quoted(out, &redact::url(&exchange.url), URL_CHARS_MAX),
    }
    if let Some(status) = exchange.status {
        out.push_str(&format!(" {status}"));
    }
    out.push_str(&format!(" {}", exchange.outcome().as_str()));
    if let Some(ms) = exchange.duration_ms {
        out.push_str(&format!(" {ms} ms"));
    }
    if let (Some(sent), Some(received)) = (exchange.request.bytes, exchange.response.bytes) {
        out.push_str(&format!(" {sent}>{received} bytes"));
    }
    if let Some(action) = &exchange.action {
        out.push_str(&format!(" {action}"));
    }
    if let Some(doubt) = exchange.doubt {
        out.push_str(&format!(" action_certain:false({})", doubt.as_str()));
    }
    for (is_so, word) in [
        (exchange.is_mocked, " mocked"),
        (exchange.is_tunnel, " tunnel"),
        (exchange.is_pairing_guessed, " paired_by_order"),
    ] {
        if is_so {
            out.push_str(word);
        }
    }
    if let Some(error) = &exchange.error {
        out.push_str(" error ");
        push_quoted(out, &redact::body(error), ERROR_CHARS_MAX);
    }
    out.push('\n');
    if bodies {
        push_part(out, '>', &exchange.request);
        push_part(out, '<', &exchange.response);
    }
}

fn push_part(out: &mut String, mark: char, part: &Part) {
    for (name, value) in part.headers.iter().take(HEADERS_SHOWN_MAX) {
        out.push_str(&format!("  {mark} {name}: "));
        push_quoted(out, &redact::header(name, value), URL_CHARS_MAX);
        out.push('\n');
    }
    if let Some(body) = part.body.as_ref().filter(|body| !body.is_empty()) {
        out.push_str(&format!("  {mark} body "));
        push_quoted(out, &redact::body(body), BODY_CHARS_MAX);
        if part.is_cut {
            out.push_str(" (cut)");
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(url: &str, status: u16) -> Exchange {
        let mut exchange = Exchange::new(Source::Proxy, Some("GET"), url);
        exchange.status = Some(status);
        exchange
    }

    #[test]
    fn background_is_counted_and_a_failure_of_it_is_shown() {
        // W14
        let all = [
            exchange("https://h/login", 401),
            exchange("https://h/analytics", 204),
            exchange("https://h/analytics", 500),
            exchange("https://h/a.png", 200),
        ];
        let (shown, hidden) = fold(&all, &NetworkParams::default());
        let urls: Vec<&str> = shown.iter().map(|exchange| exchange.url.as_str()).collect();
        assert_eq!(urls, ["https://h/login", "https://h/analytics"]);
        assert_eq!((hidden.background, hidden.assets), (1, 1));
        let (shown, hidden) = fold(&all[1..2], &NetworkParams::default());
        assert_eq!((shown.len(), hidden.is_nothing()), (1, true), "alone it is shown");
    }

    #[test]
    fn a_line_shows_no_secret_and_cannot_be_forged() {
        // SE-05, SE-06
        let mut one = exchange("https://h/a?token=geheim\n{\"x\":1}", 200);
        one.id = 3;
        one.request.headers = vec![("Authorization".into(), "Bearer geheim".into())];
        one.response.body = Some("{\"access_token\":\"geheim\"}\nline".into());
        let mut out = String::new();
        push_exchange(&mut out, &one, true);
        assert!(!out.contains("geheim") && out.starts_with("#3 GET \"https://h/a?token=***"), "{out}");
        assert!(out.lines().all(|line| line.starts_with('#') || line.starts_with("  ")), "{out}");
    }
}
