//! Exchanges as a HAR 1.2 file, which browsers' tools and other proxies open. Secrets are left out (SE-06).

use std::io::{self, Write as _};
use std::path::Path;

use mdm_core::evidence::exchange::{Exchange, Part};
use mdm_core::evidence::redact;
use mdm_core::text::calendar::iso_8601;
use serde::Serialize;

#[derive(Serialize)]
pub struct Har {
    log: Log,
}

#[derive(Serialize)]
struct Log {
    version: &'static str,
    creator: Creator,
    entries: Vec<Entry>,
}

#[derive(Serialize)]
struct Creator {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    started_date_time: String,
    time: u64,
    request: Request,
    response: Response,
    cache: Empty,
    timings: Timings,
    #[serde(rename = "_action", skip_serializing_if = "Option::is_none")]
    action: Option<String>,
    #[serde(rename = "_actionDoubt", skip_serializing_if = "Option::is_none")]
    action_doubt: Option<&'static str>,
    #[serde(rename = "_error", skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(rename = "_mocked", skip_serializing_if = "is_false")]
    mocked: bool,
    #[serde(rename = "_tunnel", skip_serializing_if = "is_false")]
    tunnel: bool,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    url: String,
    http_version: &'static str,
    cookies: Vec<Empty>,
    headers: Vec<Named>,
    query_string: Vec<Named>,
    #[serde(skip_serializing_if = "Option::is_none")]
    post_data: Option<PostData>,
    headers_size: i64,
    body_size: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    /// 0 where no answer came.
    status: u16,
    status_text: &'static str,
    http_version: &'static str,
    cookies: Vec<Empty>,
    headers: Vec<Named>,
    content: Content,
    #[serde(rename = "redirectURL")]
    redirect_url: String,
    headers_size: i64,
    body_size: i64,
}

#[derive(Serialize)]
struct Named {
    name: String,
    value: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PostData {
    mime_type: String,
    text: String,
    params: Vec<Named>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    size: i64,
    mime_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<&'static str>,
}

#[derive(Serialize)]
struct Timings {
    send: i64,
    wait: i64,
    receive: i64,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Har {
    pub fn of(exchanges: &[Exchange]) -> Har {
        let creator = Creator { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") };
        Har { log: Log { version: "1.2", creator, entries: exchanges.iter().map(entry).collect() } }
    }

    pub fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

/// Writes a file that is not there yet: a call that only reads replaces nothing, and follows no link.
pub fn write(file: &Path, text: &str) -> io::Result<()> {
    let mut out = std::fs::OpenOptions::new().write(true).create_new(true).open(file)?;
    let written = out.write_all(text.as_bytes());
    if written.is_err() {
        drop(std::fs::remove_file(file));
    }
    written
}

fn entry(exchange: &Exchange) -> Entry {
    let url = match exchange.is_tunnel {
        true => format!("https://{}/", exchange.url),
        false => redact::url(&exchange.url),
    };
    let time = exchange.duration_ms.unwrap_or(0);
    Entry {
        started_date_time: iso_8601(exchange.began_ms.unwrap_or(0)),
        time,
        request: Request {
            method: exchange.method.clone().unwrap_or_else(|| "GET".to_owned()),
            query_string: query(&url),
            url,
            http_version: "HTTP/1.1",
            cookies: Vec::new(),
            headers: headers(&exchange.request),
            post_data: exchange.request.body.as_ref().filter(|body| !body.is_empty()).map(|body| PostData {
                mime_type: mime_type(&exchange.request),
                text: redact::body(body),
                params: Vec::new(),
            }),
            headers_size: -1,
            body_size: size(&exchange.request),
        },
        response: Response {
            status: exchange.status.unwrap_or(0),
            status_text: "",
            http_version: "HTTP/1.1",
            cookies: Vec::new(),
            headers: headers(&exchange.response),
            content: Content {
                size: size(&exchange.response),
                mime_type: mime_type(&exchange.response),
                text: exchange.response.body.as_deref().map(redact::body),
                comment: exchange.response.is_cut.then_some("cut"),
            },
            redirect_url: header(&exchange.response, "location").map(redact::url).unwrap_or_default(),
            headers_size: -1,
            body_size: size(&exchange.response),
        },
        cache: Empty {},
        timings: Timings { send: 0, wait: time as i64, receive: 0 },
        action: exchange.action.clone(),
        action_doubt: exchange.doubt.map(|doubt| doubt.as_str()),
        error: exchange.error.as_deref().map(redact::body),
        mocked: exchange.is_mocked,
        tunnel: exchange.is_tunnel,
    }
}

fn size(part: &Part) -> i64 {
    part.bytes.map_or(-1, |bytes| bytes as i64)
}

fn header<'a>(part: &'a Part, name: &str) -> Option<&'a str> {
    part.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn mime_type(part: &Part) -> String {
    header(part, "content-type").unwrap_or_default().to_owned()
}

fn headers(part: &Part) -> Vec<Named> {
    let named = |(name, value): &(String, String)| {
        let value = redact::header(name, value).into_owned();
        Named { name: name.clone(), value }
    };
    part.headers.iter().map(named).collect()
}

fn query(url: &str) -> Vec<Named> {
    let Some((_, query)) = url.split('#').next().unwrap_or(url).split_once('?') else { return Vec::new() };
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Named { name: name.to_owned(), value: value.to_owned() }
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use mdm_core::evidence::exchange::Source;
    use serde_json::Value;

    use super::*;

    fn exchange() -> Exchange {
        let mut exchange =
            Exchange::new(Source::Proxy, Some("POST"), "https://h.example/login?token=abc&x=1");
        exchange.began_ms = Some(1_794_640_278_123);
        exchange.duration_ms = Some(120);
        exchange.status = Some(302);
        exchange.request.headers =
            vec![("Content-Type".into(), "application/json".into()), ("Cookie".into(), "sid=1".into())];
        exchange.request.body = Some("{\"password\":\"geheim\"}".into());
        exchange.request.bytes = Some(21);
        exchange.response.headers = vec![("Location".into(), "https://h.example/home?session=zzz".into())];
        exchange.response.body = Some(String::new());
        exchange.action = Some("tap_1".into());
        exchange
    }

    /// The members that HAR 1.2 requires of each object.
    const REQUIRED: [(&str, &[&str]); 9] = [
        ("/log", &["version", "creator", "entries"]),
        ("/log/creator", &["name", "version"]),
        ("/log/entries/0", &["startedDateTime", "time", "request", "response", "cache", "timings"]),
        (
            "/log/entries/0/request",
            &["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"],
        ),
        ("/log/entries/0/request/postData", &["mimeType", "params", "text"]),
        (
            "/log/entries/0/response",
            &[
                "status",
                "statusText",
                "httpVersion",
                "cookies",
                "headers",
                "content",
                "redirectURL",
                "headersSize",
                "bodySize",
            ],
        ),
        ("/log/entries/0/response/content", &["size", "mimeType"]),
        ("/log/entries/0/timings", &["send", "wait", "receive"]),
        ("/log/entries/0/request/queryString/0", &["name", "value"]),
    ];

    #[test]
    fn the_file_has_what_the_format_requires_and_no_secret() {
        // SE-06
        let json: Value = serde_json::to_value(Har::of(&[exchange()])).unwrap();
        for (place, members) in REQUIRED {
            let object = json.pointer(place).unwrap_or_else(|| panic!("{place}"));
            for member in members {
                assert!(object.get(member).is_some(), "{place} has no {member}");
            }
        }
        let at = |place: &str| json.pointer(place).unwrap().clone();
        assert_eq!(at("/log/version"), "1.2");
        assert_eq!(at("/log/entries/0/startedDateTime"), "2026-11-14T07:11:18.123Z");
        let timings = at("/log/entries/0/timings");
        let sum: i64 = ["send", "wait", "receive"].iter().map(|part| timings[part].as_i64().unwrap()).sum();
        assert_eq!(at("/log/entries/0/time"), sum, "the time is the sum of its parts");
        assert_eq!(at("/log/entries/0/_action"), "tap_1");
        let text = json.to_string();
        for secret in ["abc", "geheim", "sid=1", "zzz"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }

    #[test]
    fn no_file_is_replaced_and_no_link_is_followed() {
        // SE-02
        let folder = std::env::temp_dir().join(format!("har-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [new, link, other] = ["new.har", "link.har", "other.txt"].map(|name| folder.join(name));
        std::fs::write(&other, "mine").unwrap();
        let text = Har::of(&[exchange()]).text().unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&other, &link).unwrap();
            assert!(write(&link, &text).is_err());
        }
        assert!(write(&other, &text).is_err());
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "mine");
        write(&new, &text).unwrap();
        assert!(std::fs::read_to_string(&new).unwrap().starts_with("{\"log\""));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
