//! What passed through the proxy, in a ring with a cursor.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::serve::Cause;

/// Exchanges that are kept; older ones are dropped and counted.
const RECORDS_MAX: usize = 1000;
/// Bytes of one body that are kept.
pub const BODY_KEPT_BYTES_MAX: usize = 64 * 1024;
/// Bytes of all bodies that are kept; those of the oldest exchanges go first.
const BODIES_KEPT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Headers of one message that are kept, and the bytes of one of them.
const HEADERS_KEPT_MAX: usize = 100;
/// Bytes of one header that are kept.
const HEADER_KEPT_BYTES_MAX: usize = 4096;
/// Bytes of a URL that are kept.
const URL_KEPT_BYTES_MAX: usize = 8192;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Request,
    /// Bytes of a connection that was not opened: the requests inside are not known.
    Tunnel,
}

/// How TLS was treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tls {
    /// Plain HTTP.
    None,
    Opened,
    Tunnelled,
    /// The client did not accept the proxy's certificate; its host is tunnelled from then on.
    Refused,
}

/// One direction of an exchange.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    pub headers: Vec<(String, String)>,
    /// Bytes of the body, as sent.
    pub bytes: u64,
    /// The first bytes of the body, as sent.
    pub body: Vec<u8>,
    /// True if the body is longer than what is kept of it.
    pub is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Counts up from 1.
    pub id: u64,
    pub kind: Kind,
    pub method: String,
    /// The absolute URL; `host:port` of a tunnel.
    pub url: String,
    /// The version that the client spoke.
    pub version: &'static str,
    pub began_ms: u64,
    /// When the head of the answer came.
    pub answered_ms: Option<u64>,
    /// When the last byte passed; nothing while it runs.
    pub ended_ms: Option<u64>,
    /// When bytes passed last.
    pub active_ms: u64,
    pub status: Option<u16>,
    /// Why there is no whole answer.
    pub error: Option<String>,
    pub request: Message,
    pub response: Message,
    pub cause: Cause,
    /// The rule that changed it.
    pub rule: Option<u64>,
    pub tls: Tls,
}

impl Record {
    pub fn new(kind: Kind, method: &str, url: &str, cause: Cause, now_ms: u64) -> Record {
        Record {
            id: 0,
            kind,
            method: method.to_owned(),
            url: cut(url, URL_KEPT_BYTES_MAX),
            version: "HTTP/1.1",
            began_ms: now_ms,
            answered_ms: None,
            ended_ms: None,
            active_ms: now_ms,
            status: None,
            error: None,
            request: Message::default(),
            response: Message::default(),
            cause,
            rule: None,
            tls: Tls::None,
        }
    }
}

fn cut(text: &str, bytes_max: usize) -> String {
    let end = (0..=bytes_max.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text[..end].to_owned()
}

/// Headers as text, as far as they are kept.
pub fn headers(map: &hyper::HeaderMap) -> Vec<(String, String)> {
    let text = |value: &hyper::header::HeaderValue| {
        cut(&String::from_utf8_lossy(value.as_bytes()), HEADER_KEPT_BYTES_MAX)
    };
    map.iter().take(HEADERS_KEPT_MAX).map(|(name, value)| (name.to_string(), text(value))).collect()
}

/// A part of the ring, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    pub records: Vec<Record>,
    /// Give it to the next read to go on from here.
    pub next: u64,
    /// Exchanges after the cursor that are not kept any more.
    pub dropped: u64,
}

#[derive(Default)]
struct Ring {
    kept: VecDeque<Record>,
    /// The id of the newest.
    last: u64,
    body_bytes: usize,
}

#[derive(Default)]
pub struct Store {
    ring: Mutex<Ring>,
}

impl Store {
    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn begin(&self, record: Record) -> u64 {
        let mut ring = self.ring();
        if ring.kept.len() == RECORDS_MAX
            && let Some(oldest) = ring.kept.pop_front()
        {
            ring.body_bytes -= oldest.request.body.len() + oldest.response.body.len();
        }
        ring.last += 1;
        let id = ring.last;
        ring.kept.push_back(Record { id, ..record });
        id
    }

    /// Changes an exchange that is still kept.
    pub fn change(&self, id: u64, change: impl FnOnce(&mut Record)) {
        let mut ring = self.ring();
        let first = ring.kept.front().map_or(0, |record| record.id);
        let Some(at) = id.checked_sub(first) else { return };
        let Some(record) = ring.kept.get_mut(at as usize) else { return };
        let before = record.request.body.len() + record.response.body.len();
        change(record);
        let after = record.request.body.len() + record.response.body.len();
        ring.body_bytes = ring.body_bytes + after - before;
        if ring.body_bytes > BODIES_KEPT_BYTES_MAX {
            ring.drop_oldest_bodies();
        }
    }

    /// The exchanges that began after the one with this id.
    pub fn since(&self, cursor: u64) -> Page {
        let ring = self.ring();
        let records: Vec<Record> = ring.kept.iter().filter(|record| record.id > cursor).cloned().collect();
        let dropped = ring.last.saturating_sub(cursor) - records.len() as u64;
        Page { records, next: ring.last, dropped }
    }
}

impl Ring {
    fn drop_oldest_bodies(&mut self) {
        for record in &mut self.kept {
            if self.body_bytes <= BODIES_KEPT_BYTES_MAX {
                return;
            }
            for message in [&mut record.request, &mut record.response] {
                self.body_bytes -= message.body.len();
                message.is_cut |= !message.body.is_empty();
                message.body = Vec::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(url: &str) -> Record {
        Record::new(Kind::Request, "GET", url, Cause::default(), 1)
    }

    #[test]
    fn the_ring_is_bounded_and_says_what_it_dropped() {
        let store = Store::default();
        for number in 0..RECORDS_MAX + 5 {
            store.begin(record(&number.to_string()));
        }
        let page = store.since(0);
        assert_eq!((page.records.len(), page.dropped, page.next), (RECORDS_MAX, 5, RECORDS_MAX as u64 + 5));
        let page = store.since(page.next - 2);
        assert_eq!((page.records.len(), page.dropped), (2, 0));
        store.change(1, |_| panic!("it is not kept any more"));
    }

    #[test]
    fn bodies_of_the_oldest_go_first() {
        let store = Store::default();
        let count = BODIES_KEPT_BYTES_MAX / BODY_KEPT_BYTES_MAX + 3;
        for _ in 0..count {
            let id = store.begin(record("x"));
            store.change(id, |record| record.response.body = vec![0; BODY_KEPT_BYTES_MAX]);
        }
        let records = store.since(0).records;
        let kept = records.iter().filter(|record| !record.response.body.is_empty()).count();
        assert_eq!(kept, count - 3);
        assert!(records[0].response.is_cut && !records[count - 1].response.is_cut);
    }
}
