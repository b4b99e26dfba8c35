//! Lines that tell of a request by themselves.

use super::Sign;
use super::words::{
    error, is_file, method, number_after, number_before, path, status, status_after, trailing, url,
};

/// What this line says of a request, if anything.
pub fn read(tag: &str, text: &str) -> Option<Sign> {
    // Most lines of a log are about something else, and this is cheap.
    let is_worth_it =
        text.contains("http") || text.contains("HTTP") || text.contains("Task <") || text.contains(" /");
    if !is_worth_it && !text.contains("net::ERR_") {
        return None;
    }
    if let Some(at) = text.find("--> ") {
        return okhttp_request(&text[at + 4..]);
    }
    if let Some(at) = text.find("<-- ") {
        return okhttp_answer(&text[at + 4..]);
    }
    if text.contains("Task <") {
        return url_session(text);
    }
    if tag == "Volley"
        || text.contains("HTTP response for request=<")
        || text.contains("Unexpected response code")
    {
        return volley(text);
    }
    if text.contains("CronetUrlRequest: net::") || text.contains("CronetUrlRequest: Exception") {
        return cronet(text);
    }
    named_request(text).or_else(|| plain(text))
}

/// OkHttp's logging interceptor: `POST https://h/login http/1.1 (23-byte body)`.
fn okhttp_request(text: &str) -> Option<Sign> {
    let (name, before, after) = method(text)?;
    if !before.trim().is_empty() {
        return None;
    }
    let (address, rest) = url(after).or_else(|| path(after))?;
    Some(Sign {
        begins: true,
        method: Some(name.to_owned()),
        url: Some(address.to_owned()),
        request_bytes: number_before(rest, "-byte body"),
        ..Sign::default()
    })
}

/// `401 Unauthorized https://h/login (123ms, 17-byte body)`, in version 5 with the message at the end; `HTTP FAILED: why`,
/// in version 5 with the address and the time at the end.
fn okhttp_answer(text: &str) -> Option<Sign> {
    if let Some(why) = text.strip_prefix("HTTP FAILED") {
        let why = why.trim_start_matches([':', ' ']);
        let own = why.rsplit_once(" (").filter(|(_, time)| time.ends_with("ms)"));
        // Version 5 writes `why. URL (12ms)`; before that there is only the reason, which may hold an address of its own.
        let address = own.and_then(|(before, _)| Some((before, before.rsplit_once(' ')?.1)));
        let address = address.filter(|(_, last)| last.starts_with("http://") || last.starts_with("https://"));
        let why = address
            .map_or(why, |(before, last)| before[..before.len() - last.len()].trim_end_matches(['.', ' ']));
        return Some(Sign {
            ends: true,
            url: address.map(|(_, last)| last.to_owned()),
            error: Some(error(why)),
            ms: own.and_then(|(_, time)| number_before(time, "ms)")),
            ..Sign::default()
        });
    }
    let code = text.strip_prefix("HTTP ").unwrap_or(text);
    let code = code.strip_prefix("HTTP/1.1 ").or_else(|| code.strip_prefix("HTTP/2 ")).unwrap_or(code);
    let status = status(code)?;
    let found = url(text);
    let rest = found.map_or(text, |(_, rest)| rest);
    Some(Sign {
        ends: true,
        url: found.map(|(address, _)| address.to_owned()),
        status: Some(status),
        ms: number_before(rest, "ms"),
        response_bytes: number_before(rest, "-byte body"),
        ..Sign::default()
    })
}

/// CFNetwork: `Task <UUID>.<3> received response, status 200 content K`, and its summary with the measured times.
fn url_session(text: &str) -> Option<Sign> {
    let (_, rest) = text.split_once("Task <")?;
    let (id, rest) = rest.split_once('>')?;
    let (number, what) = rest.strip_prefix(".<")?.split_once('>')?;
    let sign = Sign { task: Some(format!("{id}.{number}")), ..Sign::default() };
    let what = what.trim_start();
    let address = || url(what).map(|(address, _)| address.to_owned());
    if what.starts_with("resuming") || what.starts_with("sent request") || what.starts_with("HTTP load") {
        return Some(Sign { begins: true, url: address(), ..sign });
    }
    if what.starts_with("received response") {
        return Some(Sign { status: status_after(what, &["status"]), ..sign });
    }
    if what.starts_with("summary for task") {
        let count = |name: &str| number_after(what, name);
        return Some(Sign {
            ends: true,
            status: status_after(what, &["response_status="]).filter(|status| *status > 0),
            ms: count("transaction_duration_ms="),
            request_bytes: count("request_bytes="),
            response_bytes: count("response_bytes="),
            ..sign
        });
    }
    if let Some(why) = what.strip_prefix("finished with error") {
        let failing =
            what.split("NSErrorFailingURLStringKey=").nth(1).and_then(url).map(|(url, _)| url.to_owned());
        let shown = why.split(" UserInfo=").next().unwrap_or(why);
        return Some(Sign { ends: true, url: failing, error: Some(error(shown)), ..sign });
    }
    None
}

/// Volley: slow requests with all there is to know, and answers that it did not expect.
fn volley(text: &str) -> Option<Sign> {
    let (address, _) = url(text)?;
    let sign = Sign { begins: false, ends: true, url: Some(address.to_owned()), ..Sign::default() };
    if text.contains("HTTP response for request=<") {
        return Some(Sign {
            status: status_after(text, &["[rc="]),
            ms: number_after(text, "[lifetime="),
            response_bytes: number_after(text, "[size="),
            ..sign
        });
    }
    let status = status_after(text, &["unexpected response code"])?;
    Some(Sign { status: Some(status), ..sign })
}

/// Cronet writes only of what went wrong.
fn cronet(text: &str) -> Option<Sign> {
    let at = text.find("net::")?;
    let why = text[at..].split([',', ' ']).next()?;
    let address = url(text).map(|(address, _)| address.to_owned());
    Some(Sign { ends: true, url: address, error: Some(error(why)), ..Sign::default() })
}

/// Lines that name a request or an answer in words, with the address.
fn named_request(text: &str) -> Option<Sign> {
    let (address, rest) = url(text)?;
    let before = text[..text.len() - rest.len() - address.len()].to_ascii_lowercase();
    let sign = Sign { url: Some(address.to_owned()), ..Sign::default() };
    let ends_with = |words: &[&str]| {
        words.iter().any(|word| before.trim_end_matches([':', ' ', '=', '"']).ends_with(word))
    };
    if ends_with(&[
        "executing request",
        "sending request",
        "starting request",
        "send request",
        "making request",
    ]) {
        return Some(Sign { begins: true, ..sign });
    }
    if before.contains("response") && ends_with(&["for", "from"]) {
        let status =
            status_after(&before, &["response code", "response status", "status code", "status", "response"]);
        let ms = number_before(rest, "ms");
        if status.is_some() || ms.is_some() {
            return Some(Sign { ends: true, status, ms, ..sign });
        }
    }
    None
}

/// `GET /items 200`, `POST https://h/login -> 401 (12 ms)`, `200 GET /items`: a method, what it is asked of, a status.
fn plain(text: &str) -> Option<Sign> {
    let (name, before, after) = method(text)?;
    let (address, rest) = match url(after).filter(|(address, _)| is_near(after, address)) {
        Some(found) => found,
        None => path(after)?,
    };
    let found = status_in(before, rest);
    if found.is_none() && is_file(address) || address.starts_with('/') && is_file(address) {
        return None;
    }
    // Words of failure count only where no status says how it went: a timeout may be a setting (W14).
    let why = if found.is_none() { failure(rest) } else { None };
    let ends = found.is_some() || why.is_some();
    if !ends && address.starts_with('/') && !is_all(before) {
        return None;
    }
    Some(Sign {
        begins: !ends,
        ends,
        method: Some(name.to_owned()),
        url: Some(address.to_owned()),
        status: found,
        error: why,
        ms: if ends { number_before(rest, "ms") } else { None },
        ..Sign::default()
    })
}

fn is_near(after: &str, address: &str) -> bool {
    after.find(address).is_some_and(|at| after[..at].chars().all(|c| !c.is_alphanumeric()))
}

/// True if the line has nothing before the method but signs: a sentence that mentions one is no request.
fn is_all(before: &str) -> bool {
    before.chars().all(|c| !c.is_alphanumeric())
}

fn status_in(before: &str, after: &str) -> Option<u16> {
    let named = [
        "http/1.1",
        "http/1.0",
        "http/2",
        "http/3",
        "status code",
        "statuscode",
        "status",
        "response code",
        "code",
        "response",
        "->",
        "→",
    ];
    let directly = status(after.trim_start_matches([' ', ':', '-', '>', '(', '[', '|', '"', ',']));
    let last = before.trim_end_matches([' ', ':', '-', ']', ')', '|', '"']);
    let before_it = trailing(last, |c| c.is_ascii_digit());
    directly.or_else(|| status_after(after, &named)).or_else(|| status(before_it))
}

/// Why a request failed, by the usual words of clients.
fn failure(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let known = [
        "exception",
        "timed out",
        "failed",
        "refused",
        "reset by peer",
        "unable to resolve",
        "unreachable",
        "net::err_",
        "handshake",
    ];
    known
        .iter()
        .any(|word| lower.contains(word))
        .then(|| error(text.trim_start_matches([' ', ':', '-', '>'])))
}
