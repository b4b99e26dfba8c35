//! Takes secrets out of everything that leaves over HTTP: whole messages, and messages in a stream of events (S8). Events
//! that a client would stumble over are left out.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::Response;
use hyper::body::{Body as HttpBody, Frame};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE};

use super::Body;
use crate::secrets::Secrets;

/// Bytes of one message. Answers are cut before they come near this, pictures are smaller.
const MESSAGE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Where a message ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// With the body.
    Whole,
    /// With an empty line.
    Events,
}

/// `resumes`: the client takes events without data.
pub fn filtered(response: Response<Body>, secrets: &Secrets, resumes: bool) -> Response<Body> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let framing = if kind.starts_with("text/event-stream") { Framing::Events } else { Framing::Whole };
    let (mut head, body) = response.into_parts();
    // It may become shorter or longer.
    head.headers.remove(CONTENT_LENGTH);
    let secrets = secrets.clone();
    let filter = Filter { body, secrets, framing, resumes, held: BytesMut::new(), ended: false };
    Response::from_parts(head, filter.boxed())
}

struct Filter {
    body: Body,
    secrets: Secrets,
    framing: Framing,
    resumes: bool,
    /// A message of which the end has not come yet.
    held: BytesMut,
    ended: bool,
}

impl Filter {
    /// The messages that are whole by now.
    fn take_whole(&mut self) -> Option<Bytes> {
        let end = match self.framing {
            Framing::Events => self.held.windows(2).rposition(|pair| pair == b"\n\n").map(|at| at + 2),
            Framing::Whole => None,
        };
        let end = if self.ended { Some(self.held.len()).filter(|length| *length > 0) } else { end };
        end.map(|end| {
            let messages = self.held.split_to(end).freeze();
            self.clean(messages)
        })
    }

    fn clean(&self, messages: Bytes) -> Bytes {
        let Ok(text) = std::str::from_utf8(&messages) else { return Bytes::new() };
        match self.framing {
            Framing::Whole => Bytes::from(self.secrets.redact_message(text).into_owned()),
            Framing::Events => {
                let events = text.split_inclusive("\n\n").filter(|event| self.resumes || !is_empty(event));
                Bytes::from(events.map(|event| self.clean_event(event)).collect::<String>())
            }
        }
    }

    fn clean_event(&self, event: &str) -> String {
        let lines = event.split_inclusive('\n').map(|line| match line.strip_prefix("data:") {
            Some(data) => {
                let data = data.trim_end_matches('\n');
                let space = data.len() - data.trim_start().len();
                let (space, data) = data.split_at(space);
                format!("data:{space}{}\n", self.secrets.redact_message(data))
            }
            None => line.to_owned(),
        });
        lines.collect()
    }
}

/// It carries no message: only an id to resume from, or a time to wait.
fn is_empty(event: &str) -> bool {
    let mut data = event.lines().filter_map(|line| line.strip_prefix("data:")).peekable();
    data.peek().is_some() && data.all(|data| data.trim().is_empty())
}

impl HttpBody for Filter {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        loop {
            if let Some(whole) = self.take_whole() {
                if whole.is_empty() {
                    continue;
                }
                return Poll::Ready(Some(Ok(Frame::data(whole))));
            }
            if self.ended {
                return Poll::Ready(None);
            }
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => self.ended = true,
                Poll::Ready(Some(Ok(frame))) => {
                    let Ok(data) = frame.into_data() else { continue };
                    // A message without end would fill the memory. The client sees that its stream ended.
                    if self.held.len() + data.len() > MESSAGE_BYTES_MAX {
                        return Poll::Ready(None);
                    }
                    self.held.extend_from_slice(&data);
                }
                Poll::Ready(Some(Err(never))) => match never {},
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http_body_util::{Full, StreamBody};

    use super::*;

    async fn sent(kind: &str, parts: &[&str], resumes: bool) -> String {
        let secrets = Secrets::default();
        secrets.remember("hunter2-canary");
        let frames: Vec<_> = parts.iter().map(|part| Bytes::from((*part).to_owned())).collect();
        let frames = frames.into_iter().map(|part| Ok::<_, Infallible>(Frame::data(part)));
        let body = StreamBody::new(stream::iter(frames)).boxed();
        let response = Response::builder().header(CONTENT_TYPE, kind).body(body).unwrap();
        let cleaned = filtered(response, &secrets, resumes).into_body().collect().await.unwrap();
        String::from_utf8(cleaned.to_bytes().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn a_secret_leaves_neither_whole_nor_in_pieces() {
        // S8, SE-06
        let whole =
            sent("application/json", &[r#"{"id":1,"result":{"text":"hunter2-"#, r#"canary"}}"#], true).await;
        assert_eq!(whole, r#"{"id":1,"result":{"text":"[secret]"}}"#);
        let events =
            ["id: 0\ndata: \n\ndata: {\"a\":\"hunter2", "-canary\"}\n", "\n: ping\n\ndata: {\"b\":1}\n\n"];
        assert_eq!(
            sent("text/event-stream", &events, true).await,
            "id: 0\ndata: \n\ndata: {\"a\":\"[secret]\"}\n\n: ping\n\ndata: {\"b\":1}\n\n"
        );
        // MC-02: clients before 2025-11-25 take every event for a message.
        assert_eq!(
            sent("text/event-stream", &events, false).await,
            "data: {\"a\":\"[secret]\"}\n\n: ping\n\ndata: {\"b\":1}\n\n"
        );
    }

    #[tokio::test]
    async fn a_message_without_end_is_not_kept() {
        let large = "x".repeat(MESSAGE_BYTES_MAX);
        assert_eq!(sent("text/event-stream", &["data: {}\n\n", &large, "x"], true).await, "data: {}\n\n");
        let body = Full::new(Bytes::from_static(b"ok")).boxed();
        let left = filtered(Response::new(body), &Secrets::default(), true).into_body().collect().await;
        assert_eq!(left.unwrap().to_bytes(), "ok");
    }
}
