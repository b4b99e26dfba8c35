//! Bodies on their way through: counted, the first bytes kept, and never waited for without end.

use std::io::Read as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use http_body_util::combinators::BoxBody;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::record::{BODY_KEPT_BYTES_MAX, Message, Record};
use crate::serve::Shared;

pub type BodyError = Box<dyn std::error::Error + Send + Sync>;
pub type Body = BoxBody<Bytes, BodyError>;

/// The longest pause between two pieces of a body.
const IDLE_MAX: Duration = Duration::from_secs(120);

pub fn empty() -> Body {
    full(Bytes::new())
}

pub fn full(bytes: impl Into<Bytes>) -> Body {
    http_body_util::Full::new(bytes.into()).map_err(|never| match never {}).boxed()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Request,
    Response,
}

impl Side {
    fn of(self, record: &mut Record) -> &mut Message {
        match self {
            Side::Request => &mut record.request,
            Side::Response => &mut record.response,
        }
    }
}

/// A body that writes down what passes.
pub struct Recorded<B> {
    inner: B,
    shared: Arc<Shared>,
    id: u64,
    side: Side,
    has_ended: bool,
    idle: Pin<Box<Sleep>>,
}

impl<B> Recorded<B>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Into<BodyError>,
{
    pub fn new(inner: B, shared: Arc<Shared>, id: u64, side: Side) -> Recorded<B> {
        let idle = Box::pin(tokio::time::sleep(IDLE_MAX));
        let mut body = Recorded { inner, shared, id, side, has_ended: false, idle };
        if body.inner.is_end_stream() {
            body.end(None);
        }
        body
    }

    fn end(&mut self, error: Option<String>) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        let (side, now_ms) = (self.side, self.shared.now_ms());
        self.shared.store.change(self.id, |record| {
            record.active_ms = now_ms;
            if side == Side::Response {
                record.ended_ms = Some(now_ms);
            }
            if record.error.is_none() {
                record.error = error;
            }
        });
    }

    fn keep(&self, data: &Bytes) {
        let (side, now_ms) = (self.side, self.shared.now_ms());
        self.shared.store.change(self.id, |record| {
            record.active_ms = now_ms;
            let message = side.of(record);
            message.bytes += data.len() as u64;
            if message.is_cut {
                return;
            }
            let room = BODY_KEPT_BYTES_MAX.saturating_sub(message.body.len());
            message.body.extend_from_slice(&data[..data.len().min(room)]);
            message.is_cut = data.len() > room;
        });
    }
}

impl<B> HttpBody for Recorded<B>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Into<BodyError>,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = match Pin::new(&mut self.inner).poll_frame(context) {
            Poll::Ready(frame) => frame,
            Poll::Pending => {
                ready!(self.idle.as_mut().poll(context));
                let error = format!("nothing came for {} s in the middle of a body", IDLE_MAX.as_secs());
                self.end(Some(error.clone()));
                return Poll::Ready(Some(Err(error.into())));
            }
        };
        self.idle.as_mut().reset(Instant::now() + IDLE_MAX);
        match frame {
            None => {
                self.end(None);
                Poll::Ready(None)
            }
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.keep(data);
                }
                if self.inner.is_end_stream() {
                    self.end(None);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Some(Err(error)) => {
                let error: BodyError = error.into();
                self.end(Some(format!("the body broke off: {error}")));
                Poll::Ready(Some(Err(error)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl<B> Drop for Recorded<B> {
    fn drop(&mut self) {
        if self.has_ended || self.side == Side::Request {
            return;
        }
        let now_ms = self.shared.now_ms();
        self.shared.store.change(self.id, |record| {
            record.ended_ms = Some(now_ms);
            record
                .error
                .get_or_insert_with(|| "the client went away before the end of the answer".to_owned());
        });
    }
}

/// The body as the app sees it, up to `bytes_max` bytes; nothing for an encoding that is not known. A body of which only
/// the beginning is kept gives its beginning.
pub fn decoded(message: &Message, bytes_max: usize) -> Option<Vec<u8>> {
    let header = |name: &str| message.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
    let mut out = Vec::new();
    let limit = bytes_max as u64;
    // A broken end is no reason to show nothing: what came before it is kept in `out`.
    match header("content-encoding").map(|(_, value)| value.trim().to_ascii_lowercase()).as_deref() {
        None | Some("" | "identity") => {
            out.extend_from_slice(&message.body[..message.body.len().min(bytes_max)])
        }
        Some("gzip" | "x-gzip") => {
            drop(flate2::read::GzDecoder::new(&message.body[..]).take(limit).read_to_end(&mut out));
        }
        Some("deflate") => {
            drop(flate2::read::ZlibDecoder::new(&message.body[..]).take(limit).read_to_end(&mut out));
        }
        Some(_) => return None,
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_body_is_unpacked_and_a_bomb_is_not() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&vec![b'a'; 10_000_000]).unwrap();
        let body = packed.finish().unwrap();
        let header = |value: &str| vec![("Content-Encoding".to_owned(), value.to_owned())];
        let message = Message { headers: header("gzip"), body, ..Message::default() };
        assert_eq!(decoded(&message, 1000).unwrap(), vec![b'a'; 1000]);
        let half = Message { body: message.body[..message.body.len() / 2].to_vec(), ..message.clone() };
        assert!(!decoded(&half, 100).unwrap().is_empty(), "its beginning can be read");
        assert_eq!(decoded(&Message { headers: header("br"), ..message.clone() }, 1000), None);
        let plain = Message { headers: vec![], body: b"plain".to_vec(), ..Message::default() };
        assert_eq!(decoded(&plain, 3).unwrap(), b"pla");
    }
}
