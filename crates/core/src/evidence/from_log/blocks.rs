//! Libraries that tell of one request in several lines: Ktor and dio.

use std::collections::BTreeMap;

use super::Sign;
use super::words::{METHODS, error, status, url};
use crate::port::LogEntry;

/// Writers whose blocks are followed at the same time.
const WRITERS_MAX: usize = 64;

/// The blocks that are being read, by process and tag.
#[derive(Default)]
pub struct Blocks {
    open: BTreeMap<(Option<u32>, String), Block>,
}

#[derive(Clone)]
enum Block {
    /// Ktor's `REQUEST: url`, which waits for its `METHOD:`.
    KtorRequest(String),
    /// Ktor's `RESPONSE: 200 OK`, which waits for its `FROM: url`.
    KtorAnswer { status: u16, method: Option<String> },
    /// dio's `*** Request ***` and so on, with what came of it so far.
    Dio { what: Dio, url: Option<String> },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dio {
    Request,
    Answer,
    Error,
}

impl Blocks {
    /// Reads one line; returns a sign when it completes what its block has to tell.
    pub fn read(&mut self, entry: &LogEntry, text: &str) -> Option<Sign> {
        // Flutter's own tool and some loggers put something before the text.
        let text = text.trim_start_matches(['│', '┃', '║', '|', ' ']).trim();
        let text = text.strip_prefix("flutter: ").unwrap_or(text);
        let text = after_label(text);
        let key = (entry.pid, entry.tag.clone());
        if let Some(sign) = self.ktor(&key, text) {
            return sign;
        }
        self.dio(&key, text)
    }

    fn put(&mut self, key: &(Option<u32>, String), block: Block) {
        if self.open.len() >= WRITERS_MAX && !self.open.contains_key(key) {
            self.open.pop_first();
        }
        self.open.insert(key.clone(), block);
    }

    /// The outer nothing means that the line is not Ktor's.
    fn ktor(&mut self, key: &(Option<u32>, String), text: &str) -> Option<Option<Sign>> {
        let exception = " failed with exception: ";
        if let Some((before, why)) = text.split_once(exception)
            && (before.starts_with("REQUEST ") || before.starts_with("RESPONSE "))
        {
            let address = url(before).map(|(address, _)| address.to_owned());
            return Some(Some(Sign { ends: true, url: address, error: Some(error(why)), ..Sign::default() }));
        }
        if let Some(address) = text.strip_prefix("REQUEST: ") {
            let (address, _) = url(address)?;
            self.put(key, Block::KtorRequest(address.to_owned()));
            return Some(None);
        }
        if let Some(answer) = text.strip_prefix("RESPONSE: ") {
            let status = status(answer)?;
            self.put(key, Block::KtorAnswer { status, method: None });
            return Some(None);
        }
        if let Some(method) = text.strip_prefix("METHOD: ") {
            let method = method.trim_start_matches("HttpMethod(value=").trim_end_matches(')').to_owned();
            return match self.open.get_mut(key)? {
                Block::KtorRequest(address) => {
                    let sign = Sign {
                        begins: true,
                        method: Some(method),
                        url: Some(address.clone()),
                        ..Sign::default()
                    };
                    self.open.remove(key);
                    Some(Some(sign))
                }
                Block::KtorAnswer { method: known, .. } => {
                    *known = Some(method);
                    Some(None)
                }
                Block::Dio { .. } => None,
            };
        }
        let address = text.strip_prefix("FROM: ").and_then(url)?.0.to_owned();
        let Some(Block::KtorAnswer { status, method }) = self.open.remove(key) else { return None };
        Some(Some(Sign { ends: true, method, url: Some(address), status: Some(status), ..Sign::default() }))
    }

    fn dio(&mut self, key: &(Option<u32>, String), text: &str) -> Option<Sign> {
        let begins = |words: &str| text.starts_with(words);
        let what = if begins("*** Request ***") {
            Some(Dio::Request)
        } else if begins("*** Response ***") {
            Some(Dio::Answer)
        } else if begins("*** DioException ***") || begins("*** DioError ***") {
            Some(Dio::Error)
        } else {
            None
        };
        if let Some(what) = what {
            self.put(key, Block::Dio { what, url: None });
            return None;
        }
        let Some(Block::Dio { what, url: known }) = self.open.get_mut(key) else { return None };
        if let Some(address) = text.strip_prefix("uri: ") {
            *known = url(address).map(|(address, _)| address.to_owned());
            return None;
        }
        let sign = Sign { url: Some(known.clone()?), ..Sign::default() };
        let sign = match what {
            Dio::Request => {
                let method = text.strip_prefix("method: ").filter(|method| METHODS.contains(method))?;
                Sign { begins: true, method: Some(method.to_owned()), ..sign }
            }
            Dio::Answer => {
                let status = status(text.strip_prefix("statusCode: ")?)?;
                Sign { ends: true, status: Some(status), ..sign }
            }
            Dio::Error => {
                let why = text.strip_prefix("DioException ").or_else(|| text.strip_prefix("DioError "))?;
                // An answer with a status that the app does not accept follows as a block of its own, if at all.
                let code = super::words::status_after(why, &["status code of"]);
                Sign { ends: true, status: code, error: code.is_none().then(|| error(why)), ..sign }
            }
        };
        self.open.remove(key);
        Some(sign)
    }
}

/// A line without a label in brackets before it, such as `[API] `.
fn after_label(text: &str) -> &str {
    match text.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((label, rest)) if label.len() <= 20 && !label.contains(' ') => rest,
        _ => text,
    }
}
