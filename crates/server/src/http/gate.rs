//! Who may come in: by the name the server was called by, the page that calls, and the token that is shown (SE-03).
//!
//! A web page in the user's browser can reach the loopback interface. It is told by its Origin, and by the Host when its
//! name was made to point here (DNS rebinding).

#![allow(clippy::result_large_err, reason = "a refusal is the answer itself, made once and sent at once")]

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN,
    RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use hyper::http::uri::Authority;
use hyper::{Response, StatusCode, Uri};

use super::guesses::Guesses;
use super::token::Tokens;
use super::{Body, Config, MCP_PATH, METADATA_PATH, replies};

/// A token this long cannot be guessed: those that the server makes have twice as many letters.
const UNGUESSABLE_BYTES: usize = 32;

/// A client that was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    /// The name of its token; none where nobody is asked.
    pub client: Option<String>,
    /// Its session, once it is known to be its own.
    pub session: Option<String>,
}

/// The origin of a page: scheme, host, and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Origin, String> {
        let wrong =
            || format!("{text:?} is no origin such as https://app.example.com or http://localhost:3000");
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let has_scheme = matches!(uri.scheme_str(), Some("http" | "https"));
        let only_origin = uri.authority().is_some() && uri.path() == "/" && !text.ends_with('/');
        if has_scheme && only_origin { Ok(Origin(text.to_ascii_lowercase())) } else { Err(wrong()) }
    }
}

pub struct Gate {
    address: SocketAddr,
    hosts: Vec<String>,
    origins: Vec<Origin>,
    tokens: Tokens,
    guesses: Guesses,
    /// How a client that was refused is asked for a token.
    challenge: HeaderValue,
}

impl Gate {
    pub fn new(address: SocketAddr, config: Config) -> Gate {
        let url = config.public_url.clone().unwrap_or_else(|| format!("http://{address}{MCP_PATH}"));
        let place = url.strip_suffix(MCP_PATH).unwrap_or(&url);
        let words = match config.issuers.is_empty() {
            true => "Bearer".to_owned(),
            false => format!("Bearer resource_metadata=\"{place}{METADATA_PATH}{MCP_PATH}\""),
        };
        let challenge = HeaderValue::from_str(&words).unwrap_or(HeaderValue::from_static("Bearer"));
        let hosts = config.hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        Gate {
            address,
            hosts,
            origins: config.origins,
            tokens: config.tokens,
            guesses: Guesses::default(),
            challenge,
        }
    }

    /// Refuses a request that was sent to another name, or by a page that may not. Gives the page that may.
    pub fn names(&self, uri: &Uri, headers: &HeaderMap) -> Result<Option<HeaderValue>, Response<Body>> {
        let host = match headers.get_all(HOST).iter().collect::<Vec<_>>()[..] {
            [only] => only.to_str().ok().and_then(|text| text.parse::<Authority>().ok()),
            [] => uri.authority().cloned(),
            _ => None,
        };
        // Where the first line has a whole address, others on the way go by that and not by the header.
        let fits = uri.authority().is_none_or(|named| self.is_ours(named));
        let Some(host) = host.filter(|host| fits && self.is_ours(host)) else {
            return Err(replies::closing(
                StatusCode::FORBIDDEN,
                "the Host header does not name this server; --allow-host NAME allows another",
            ));
        };
        let origins: Vec<&HeaderValue> = headers.get_all(ORIGIN).iter().collect();
        match origins[..] {
            [] => Ok(None),
            [origin] if self.may_call(origin, &host) => Ok(Some(origin.clone())),
            _ => Err(replies::closing(
                StatusCode::FORBIDDEN,
                "pages of this Origin may not call; --allow-origin ORIGIN allows them",
            )),
        }
    }

    fn is_ours(&self, host: &Authority) -> bool {
        if host.as_str().contains('@') {
            return false;
        }
        let name = host.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let address: Option<IpAddr> = name.parse().ok();
        let loopback = name == "localhost" || address.is_some_and(|ip| ip.is_loopback());
        // Through another interface a server that listens on all of them is called by that one's address.
        let listened =
            address.is_some_and(|ip| ip == self.address.ip() || self.address.ip().is_unspecified());
        loopback || listened || self.hosts.contains(&name)
    }

    /// The server's own origin may: it serves no pages, and one that has this origin by DNS rebinding also sends a Host
    /// that is not ours.
    fn may_call(&self, origin: &HeaderValue, host: &Authority) -> bool {
        let Ok(text) = origin.to_str() else { return false };
        let text = text.to_ascii_lowercase();
        let own = format!("http://{host}").to_ascii_lowercase();
        text == own || self.origins.iter().any(|allowed| allowed.0 == text)
    }

    /// Lets a client in by its token.
    pub fn admit(&self, headers: &HeaderMap, peer: IpAddr) -> Result<Admitted, Response<Body>> {
        if self.tokens.is_empty() {
            return Ok(Admitted { client: None, session: None });
        }
        let shown = shown_token(headers);
        let client = shown.and_then(|token| self.tokens.client_of(token));
        // Behind a proxy all clients have one address: whoever shows what nobody can guess does not wait for others.
        let is_unguessable = client.is_some() && shown.is_some_and(|token| token.len() >= UNGUESSABLE_BYTES);
        if let Some(wait) = self.guesses.wait_of(peer).filter(|_| !is_unguessable) {
            if client.is_none() && shown.is_some() {
                self.guesses.note_wrong(peer);
            }
            let mut refused = replies::closing(
                StatusCode::TOO_MANY_REQUESTS,
                "too many wrong tokens came from this address",
            );
            refused.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
            return Err(refused);
        }
        if let Some(client) = client {
            return Ok(Admitted { client: Some(client.to_owned()), session: None });
        }
        // Who shows none has not guessed: clients ask first how to authenticate.
        if shown.is_some() {
            self.guesses.note_wrong(peer);
        }
        let mut refused = replies::closing(
            StatusCode::UNAUTHORIZED,
            "send the server's token: Authorization: Bearer TOKEN",
        );
        refused.headers_mut().insert(WWW_AUTHENTICATE, self.challenge.clone());
        Err(refused)
    }
}

fn shown_token(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (only, None) = (all.next()?, all.next()) else { return Some("") };
    let text = only.to_str().unwrap_or("");
    let (scheme, token) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Lets a page of an allowed origin read the answer.
pub fn share_with(origin: &HeaderValue, headers: &mut HeaderMap) {
    let fixed: [(HeaderName, &'static str); 4] = [
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (
            ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, mdm-client",
        ),
        (ACCESS_CONTROL_EXPOSE_HEADERS, "mcp-session-id"),
        (VARY, "origin"),
    ];
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(address: &str, config: Config) -> Gate {
        Gate::new(address.parse().unwrap(), config)
    }

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap()))
            .collect()
    }

    fn status<T: std::fmt::Debug>(outcome: Result<T, Response<Body>>) -> u16 {
        outcome.map_or_else(|refused| refused.status().as_u16(), |_| 200)
    }

    #[test]
    fn a_request_to_another_name_is_refused() {
        // SE-03: DNS rebinding
        let gate =
            gate("127.0.0.1:8123", Config { hosts: vec!["Phones.Example".into()], ..Config::default() });
        let ask = |host: &str| status(gate.names(&Uri::from_static("/mcp"), &headers(&[("host", host)])));
        for good in
            ["localhost", "LOCALHOST:1", "127.0.0.1:8123", "[::1]:8123", "127.9.9.9", "phones.example:443"]
        {
            assert_eq!(ask(good), 200, "{good}");
        }
        for bad in [
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "127.0.0.1@evil.example",
            "",
            "a b",
            "0.0.0.0",
        ] {
            assert_eq!(ask(bad), 403, "{bad:?}");
        }
        assert_eq!(status(gate.names(&Uri::from_static("/mcp"), &HeaderMap::new())), 403);
        let two = headers(&[("host", "localhost"), ("host", "evil.example")]);
        assert_eq!(status(gate.names(&Uri::from_static("/mcp"), &two)), 403);
        let named = |address: &'static str, host: &str| {
            status(gate.names(&Uri::from_static(address), &headers(&[("host", host)])))
        };
        assert_eq!(named("http://localhost/mcp", "localhost"), 200);
        assert_eq!(named("http://evil.example/mcp", "localhost"), 403, "a whole address counts as well");
        assert_eq!(named("http://localhost/mcp", "evil.example"), 403);
    }

    #[test]
    fn only_pages_that_may_are_answered() {
        // SE-03: forged Origin
        let origins = vec!["http://localhost:3000".parse().unwrap()];
        let gate = gate("127.0.0.1:8123", Config { origins, ..Config::default() });
        let ask = |origin: &str| {
            status(gate.names(
                &Uri::from_static("/mcp"),
                &headers(&[("host", "localhost:8123"), ("origin", origin)]),
            ))
        };
        assert_eq!(ask("http://localhost:3000"), 200);
        assert_eq!(ask("http://localhost:8123"), 200, "its own, which has no pages");
        for bad in [
            "http://localhost",
            "http://localhost:3001",
            "https://localhost:3000",
            "null",
            "",
            "http://127.0.0.1:8123",
        ] {
            assert_eq!(ask(bad), 403, "{bad:?}");
        }
        assert!("localhost".parse::<Origin>().is_err() && "http://a/".parse::<Origin>().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_shows_its_token_or_stays_outside() {
        // SE-03
        let tokens = Tokens::one("0123456789abcdef").unwrap();
        let gate = gate(
            "0.0.0.0:1",
            Config { tokens, issuers: vec!["https://id.example".into()], ..Config::default() },
        );
        let peer = IpAddr::from([10, 0, 0, 1]);
        let ask = |value: &str| gate.admit(&headers(&[("authorization", value)]), peer);
        assert_eq!(ask("bearer 0123456789abcdef").unwrap().client.as_deref(), Some("client"));
        for wrong in ["Bearer 0123456789abcdeX", "Bearer ", "Basic 0123456789abcdef", "0123456789abcdef"] {
            assert_eq!(status(ask(wrong)), 401, "{wrong:?}");
        }
        let refused = gate.admit(&HeaderMap::new(), peer).unwrap_err();
        let challenge = refused.headers()[WWW_AUTHENTICATE].to_str().unwrap();
        assert!(challenge.contains("/.well-known/oauth-protected-resource/mcp"), "{challenge}");
        (0..10).for_each(|_| drop(ask("Bearer 0123456789abcdeX")));
        assert_eq!(
            status(ask("Bearer 0123456789abcdef")),
            429,
            "also the right one, seen after so many wrong ones"
        );
        let other = gate
            .admit(&headers(&[("authorization", "Bearer 0123456789abcdef")]), IpAddr::from([10, 0, 0, 2]));
        assert!(other.is_ok());
    }
}
