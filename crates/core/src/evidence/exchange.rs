//! A request and its answer, whoever saw it: the one type for both.

/// Who saw an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Lines that the app wrote.
    Log,
    /// The bytes themselves.
    Proxy,
}

/// One direction of an exchange, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    pub bytes: Option<u64>,
    pub headers: Vec<(String, String)>,
    /// The beginning of the body as text.
    pub body: Option<String>,
    /// True if the body is longer than what is known of it.
    pub is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    pub id: u64,
    pub source: Source,
    /// A connection whose requests nobody could read.
    pub is_tunnel: bool,
    pub method: Option<String>,
    /// The absolute URL, a path, or `host:port` of a tunnel; empty when the log does not tell.
    pub url: String,
    pub status: Option<u16>,
    /// Why there is no whole answer.
    pub error: Option<String>,
    /// In milliseconds since 1970, by this machine's clock.
    pub began_ms: Option<u64>,
    /// Nothing while it runs, and where nobody told.
    pub duration_ms: Option<u64>,
    pub has_ended: bool,
    pub request: Part,
    pub response: Part,
    pub action: Option<String>,
    /// Why it may not belong to that action.
    pub doubt: Option<Doubt>,
    /// The answer was put to this request by order alone: another with the same address was under way.
    pub is_pairing_guessed: bool,
    /// A rule answered, delayed or cut it.
    pub is_mocked: bool,
    /// The process that wrote of it.
    pub pid: Option<u32>,
}

impl Exchange {
    pub fn new(source: Source, method: Option<&str>, url: &str) -> Exchange {
        Exchange {
            id: 0,
            source,
            is_tunnel: false,
            method: method.map(str::to_owned),
            url: url.to_owned(),
            status: None,
            error: None,
            began_ms: None,
            duration_ms: None,
            has_ended: false,
            request: Part::default(),
            response: Part::default(),
            action: None,
            doubt: None,
            is_pairing_guessed: false,
            is_mocked: false,
            pid: None,
        }
    }

    pub fn outcome(&self) -> ExchangeOutcome {
        match (&self.error, self.status) {
            (Some(_), _) => ExchangeOutcome::Retryable,
            // The server asks for patience, or is at fault itself: the same may work later.
            (None, Some(408 | 425 | 429 | 500..)) => ExchangeOutcome::Retryable,
            (None, Some(400..500)) => ExchangeOutcome::Failure,
            // 304 says that what the app has is right (W14).
            (None, Some(_)) => ExchangeOutcome::Success,
            (None, None) if self.has_ended && self.is_tunnel => ExchangeOutcome::Success,
            (None, None) => ExchangeOutcome::Pending,
        }
    }

    pub fn has_failed(&self) -> bool {
        matches!(self.outcome(), ExchangeOutcome::Failure | ExchangeOutcome::Retryable)
    }

    pub fn kind(&self) -> ExchangeKind {
        let address = Address::of(&self.url);
        if address.is_telemetry() {
            ExchangeKind::Background
        } else if address.is_asset() {
            ExchangeKind::Asset
        } else {
            ExchangeKind::Call
        }
    }
}

/// Why it is not certain that an action caused a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// Another action was in reach.
    AnotherAction,
    /// The app made the same request at another time too.
    SeenBefore,
    /// It looks like something that an app does by itself.
    Background,
    /// It was not watched for long enough to know what the app does by itself.
    WatchedTooShort,
    /// Its time is from the log, by a clock that is not this machine's.
    LogTime,
}

impl Doubt {
    const ALL: [Doubt; 5] =
        [Doubt::AnotherAction, Doubt::SeenBefore, Doubt::Background, Doubt::WatchedTooShort, Doubt::LogTime];

    /// The doubt with this name.
    pub fn named(name: &str) -> Option<Doubt> {
        Doubt::ALL.into_iter().find(|doubt| doubt.as_str() == name)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Doubt::AnotherAction => "another_action",
            Doubt::SeenBefore => "seen_before",
            Doubt::Background => "background",
            Doubt::WatchedTooShort => "watched_too_short",
            Doubt::LogTime => "log_time",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeOutcome {
    Pending,
    Success,
    /// The same request would fail again.
    Failure,
    /// The same request may work later.
    Retryable,
}

impl ExchangeOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            ExchangeOutcome::Pending => "pending",
            ExchangeOutcome::Success => "success",
            ExchangeOutcome::Failure => "failure",
            ExchangeOutcome::Retryable => "retryable",
        }
    }
}

/// What a request is for, as far as its address tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeKind {
    Call,
    /// A picture, a style sheet, a font.
    Asset,
    /// Telemetry of the app or its libraries.
    Background,
}

/// The parts of an address that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address<'a> {
    pub host: &'a str,
    /// Without the query.
    pub path: &'a str,
}

/// Whole segments of a path: `/log` is one, `/login` is another word (W14).
const TELEMETRY_SEGMENTS: [&str; 13] = [
    "analytics",
    "metrics",
    "tracking",
    "track",
    "log",
    "logs",
    "events",
    "telemetry",
    "ping",
    "beacon",
    "beacons",
    "heartbeat",
    "generate_204",
];
const TELEMETRY_HOSTS: [&str; 8] = [
    "app-measurement.com",
    "crashlytics.com",
    "firebaselogging.googleapis.com",
    "firebaselogging-pa.googleapis.com",
    "firebase-settings.crashlytics.com",
    "google-analytics.com",
    "connectivitycheck.gstatic.com",
    "sentry.io",
];
const ASSET_ENDINGS: [&str; 16] = [
    "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "css", "js", "woff", "woff2", "ttf", "otf",
    "map", "mp4",
];

impl<'a> Address<'a> {
    pub fn of(url: &'a str) -> Address<'a> {
        let after_scheme = url.split_once("://").map(|(_, rest)| rest);
        let rest = after_scheme.unwrap_or(url);
        let rest = rest.split(['?', '#']).next().unwrap_or(rest);
        let cut = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = match after_scheme.is_none() && url.starts_with('/') {
            true => ("", rest),
            false => rest.split_at(cut),
        };
        let authority = authority.rsplit('@').next().unwrap_or(authority);
        let host =
            match authority.rsplit_once(':').filter(|(_, port)| port.chars().all(|c| c.is_ascii_digit())) {
                Some((host, _)) => host,
                None => authority,
            };
        Address { host, path }
    }

    fn is_telemetry(&self) -> bool {
        let below = |host: &str| self.host == host || self.host.ends_with(&format!(".{host}"));
        let mut segments = self.path.split('/').map(str::to_ascii_lowercase);
        TELEMETRY_HOSTS.iter().any(|host| below(host))
            || segments.any(|segment| TELEMETRY_SEGMENTS.contains(&segment.as_str()))
    }

    fn is_asset(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        ending.is_some_and(|ending| ASSET_ENDINGS.contains(&ending.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> ExchangeKind {
        Exchange::new(Source::Log, Some("GET"), url).kind()
    }

    #[test]
    fn background_is_a_matter_of_whole_segments() {
        // W14
        for call in [
            "https://api.example.com/v1/login",
            "/logout",
            "https://example.com/blog/1",
            "/catalog",
            "/v1/shopping",
            "/pingpong",
            "https://metrics.example.com/items",
            "https://example.com/items?next=/analytics",
            "/trackers/1",
            "api.example.com:443",
        ] {
            assert_eq!(of(call), ExchangeKind::Call, "{call}");
        }
        for background in
            ["/v1/log", "https://a/analytics/x", "/Ping", "https://x.app-measurement.com/a", "/b/telemetry"]
        {
            assert_eq!(of(background), ExchangeKind::Background, "{background}");
        }
        assert_eq!(of("https://cdn.example.com/a/b.PNG?w=2"), ExchangeKind::Asset);
        assert_eq!(of("https://example.com/report.json"), ExchangeKind::Call);
    }

    #[test]
    fn the_status_tells_what_came_of_it() {
        // W14
        let of = |status: Option<u16>, error: Option<&str>| {
            let error = error.map(str::to_owned);
            Exchange { status, error, ..Exchange::new(Source::Log, None, "/x") }.outcome()
        };
        use ExchangeOutcome::{Failure, Pending, Retryable, Success};
        for (status, expected) in [
            (200, Success),
            (201, Success),
            (204, Success),
            (301, Success),
            (304, Success),
            (401, Failure),
            (404, Failure),
            (408, Retryable),
            (429, Retryable),
            (500, Retryable),
            (503, Retryable),
        ] {
            assert_eq!(of(Some(status), None), expected, "{status}");
        }
        assert_eq!((of(None, None), of(None, Some("timeout"))), (Pending, Retryable));
    }

    #[test]
    fn addresses_are_taken_apart() {
        let parts = |url| (Address::of(url).host, Address::of(url).path);
        assert_eq!(parts("https://u:p@h.example:8443/a/b?c#d"), ("h.example", "/a/b"));
        assert_eq!(parts("/a?b"), ("", "/a"));
        assert_eq!(parts("h.example:443"), ("h.example", ""));
        assert_eq!(parts("http://[::1]:80/x"), ("[::1]", "/x"));
        assert_eq!(parts(""), ("", ""));
    }
}
