//! Requests out of log lines: what HTTP libraries write about them, and requests paired with their answers (W14).
//!
//! A line is first read by itself (`line.rs`, `blocks.rs`), into the beginning, the end or the whole of a request; then the
//! ends are put to their beginnings here.

mod blocks;
mod line;
mod words;

use super::exchange::{Exchange, Source};
use crate::port::LogEntry;
use blocks::Blocks;

/// Exchanges that are kept, the newest.
const EXCHANGES_MAX: usize = 2000;
/// Requests that wait for an answer.
const OPEN_MAX: usize = 256;
/// How far the time in a line may be off from the times of the lines, to tell two requests apart.
const CLOCK_SLACK_MS: u64 = 15;

/// How soon after its end an app logs the address of a request.
const NAMED_WITHIN_MS: u64 = 100;

/// What one line says of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Sign {
    /// The request begins here.
    begins: bool,
    /// The request ends here, well or not.
    ends: bool,
    method: Option<String>,
    url: Option<String>,
    status: Option<u16>,
    error: Option<String>,
    ms: Option<u64>,
    request_bytes: Option<u64>,
    response_bytes: Option<u64>,
    /// The library's own name for the request.
    task: Option<String>,
}

/// The requests that these lines tell of, in the order in which they began. Times are those of the lines.
pub fn exchanges(entries: &[LogEntry]) -> Vec<Exchange> {
    let mut pairing = Pairing::default();
    let mut blocks = Blocks::default();
    for entry in entries {
        for text in entry.message.lines() {
            let sign = blocks.read(entry, text).or_else(|| line::read(&entry.tag, text));
            if let Some(sign) = sign {
                pairing.take(entry, sign);
            }
        }
    }
    let mut all = pairing.all;
    let surplus = all.len().saturating_sub(EXCHANGES_MAX);
    all.drain(..surplus);
    for (number, exchange) in all.iter_mut().enumerate() {
        exchange.id = number as u64 + 1;
    }
    all
}

#[derive(Default)]
struct Pairing {
    all: Vec<Exchange>,
    open: Vec<Open>,
    /// Of `all`, those that were dropped to keep it bounded.
    dropped: usize,
}

/// A request without an answer so far.
struct Open {
    /// Counts from the first exchange, dropped ones included.
    at: usize,
    pid: Option<u32>,
    tag: String,
    method: Option<String>,
    url: Option<String>,
    task: Option<String>,
}

impl Pairing {
    fn take(&mut self, entry: &LogEntry, sign: Sign) {
        if let Some(task) = sign.task.clone() {
            return self.take_task(entry, sign, &task);
        }
        if !sign.ends {
            self.begin(entry, &sign, true);
            return;
        }
        let (found, is_guessed) = self.find(entry, &sign);
        match found {
            Some(at) => {
                let open = self.open.remove(at);
                self.finish(open.at, entry, &sign, is_guessed);
            }
            None if self.name_task(entry, &sign) => {}
            None => {
                let at = self.begin(entry, &sign, false);
                self.finish(at, entry, &sign, false);
            }
        }
    }

    /// iOS logs requests without their addresses, and many apps then log the address themselves. True if such a line
    /// names the only request of the process that just ended in this way.
    fn name_task(&mut self, entry: &LogEntry, sign: &Sign) -> bool {
        let (Some(url), Some(now_ms)) = (&sign.url, entry.time_ms) else { return false };
        let has_just_ended = |exchange: &Exchange| {
            let ended_ms = exchange.began_ms.zip(exchange.duration_ms).map(|(began, ms)| began + ms);
            ended_ms.is_some_and(|ended| now_ms.abs_diff(ended) <= NAMED_WITHIN_MS)
        };
        let mut nameless = self.all.iter_mut().rev().take(OPEN_MAX).filter(|exchange| {
            exchange.url.is_empty()
                && exchange.pid == entry.pid
                && exchange.status == sign.status
                && exchange.has_ended
                && has_just_ended(exchange)
        });
        let (Some(only), None) = (nameless.next(), nameless.next()) else { return false };
        only.url.clone_from(url);
        only.method = only.method.take().or(sign.method.clone());
        only.is_pairing_guessed = true;
        true
    }

    /// Lines that name their request need no guessing.
    fn take_task(&mut self, entry: &LogEntry, sign: Sign, task: &str) {
        let known =
            self.open.iter().position(|open| open.pid == entry.pid && open.task.as_deref() == Some(task));
        let at = match known {
            Some(index) => self.open[index].at,
            None => self.begin(entry, &sign, true),
        };
        if let (Some(exchange), Some(url)) = (self.get(at), &sign.url)
            && exchange.url.is_empty()
        {
            exchange.url = url.clone();
        }
        if sign.ends || sign.status.is_some() {
            self.finish(at, entry, &sign, false);
        }
    }

    fn get(&mut self, at: usize) -> Option<&mut Exchange> {
        self.all.get_mut(at.checked_sub(self.dropped)?)
    }

    fn begin(&mut self, entry: &LogEntry, sign: &Sign, stays_open: bool) -> usize {
        let mut exchange =
            Exchange::new(Source::Log, sign.method.as_deref(), sign.url.as_deref().unwrap_or_default());
        exchange.pid = entry.pid;
        exchange.request.bytes = sign.request_bytes;
        let before_ms = if sign.begins { 0 } else { sign.ms.unwrap_or(0) };
        exchange.began_ms = entry.time_ms.map(|time_ms| time_ms.saturating_sub(before_ms));
        if self.all.len() >= 2 * EXCHANGES_MAX {
            self.all.drain(..EXCHANGES_MAX);
            self.dropped += EXCHANGES_MAX;
        }
        self.all.push(exchange);
        let at = self.dropped + self.all.len() - 1;
        if stays_open {
            if self.open.len() == OPEN_MAX {
                self.open.remove(0);
            }
            let Sign { method, url, task, .. } = sign.clone();
            self.open.push(Open { at, pid: entry.pid, tag: entry.tag.clone(), method, url, task });
        }
        at
    }

    fn finish(&mut self, at: usize, entry: &LogEntry, sign: &Sign, is_guessed: bool) {
        let Some(exchange) = self.get(at) else { return };
        let lasted_ms =
            exchange.began_ms.zip(entry.time_ms).map(|(began, ended)| ended.saturating_sub(began));
        exchange.has_ended = true;
        exchange.status = sign.status.or(exchange.status);
        exchange.error = sign.error.clone().or(exchange.error.take());
        let measured_ms =
            if exchange.duration_ms.is_some() && !sign.ends { exchange.duration_ms } else { None };
        exchange.duration_ms = sign.ms.or(measured_ms).or(lasted_ms);
        exchange.method = exchange.method.take().or(sign.method.clone());
        exchange.request.bytes = sign.request_bytes.or(exchange.request.bytes);
        exchange.response.bytes = sign.response_bytes.or(exchange.response.bytes);
        exchange.is_pairing_guessed = is_guessed;
    }

    /// The open request that this end belongs to, and whether only the order tells.
    fn find(&self, entry: &LogEntry, sign: &Sign) -> (Option<usize>, bool) {
        let of_writer = |open: &Open| open.pid == entry.pid && open.tag == entry.tag && open.task.is_none();
        let fits = |open: &Open| match (&sign.url, &open.url) {
            (Some(wanted), Some(url)) => {
                wanted == url && sign.method.iter().zip(&open.method).all(|(wanted, method)| wanted == method)
            }
            _ => sign.url.is_none(),
        };
        let found: Vec<usize> =
            (0..self.open.len()).filter(|at| of_writer(&self.open[*at]) && fits(&self.open[*at])).collect();
        match found[..] {
            [] => (None, false),
            [only] => (Some(only), false),
            // An end without an address fits all of them: better none than the wrong one.
            _ if sign.url.is_none() => (None, false),
            [first, ..] => match self.began_then(&found, entry, sign) {
                Some(at) => (Some(at), false),
                None => (Some(first), true),
            },
        }
    }

    /// The one of several whose beginning fits the time that the end says it took.
    fn began_then(&self, found: &[usize], entry: &LogEntry, sign: &Sign) -> Option<usize> {
        let began_ms = entry.time_ms?.checked_sub(sign.ms?)?;
        let is_near = |at: &&usize| {
            let exchange = self.open[**at].at.checked_sub(self.dropped).and_then(|at| self.all.get(at));
            exchange.and_then(|e| e.began_ms).is_some_and(|time| time.abs_diff(began_ms) <= CLOCK_SLACK_MS)
        };
        let mut near = found.iter().filter(is_near);
        match (near.next(), near.next()) {
            (Some(at), None) => Some(*at),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
