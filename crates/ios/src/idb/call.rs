//! One call: its path, its limits, and what its failure means.

use std::error::Error as _;

use futures_util::Stream;
use hyper::Uri;
use hyper::http::uri::PathAndQuery;
use mdm_core::port::{DeviceError, DeviceErrorKind, Dispatch};
use mdm_wire::idb::SERVICE;
use tonic::client::Grpc;
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;
use tonic_prost::prost::Message;

use super::Idb;
use super::link::Channel;

/// Largest answer: a picture of a large screen, or a tree of thousands of elements.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Characters of the companion's own words in an error.
const WORDS_CHARS_MAX: usize = 500;

/// A method, and what is asked of it in words.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    pub name: &'static str,
    /// Follows "the companion could not".
    pub task: &'static str,
    /// What an error leaves behind.
    pub effect: Effect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    None,
    /// It happens as a whole or not at all.
    Whole,
    /// A part of it may have happened before the error.
    Parts,
}

impl Method {
    pub const fn read(name: &'static str, task: &'static str) -> Method {
        Method { name, task, effect: Effect::None }
    }

    pub const fn act(name: &'static str, task: &'static str) -> Method {
        Method { name, task, effect: Effect::Whole }
    }

    pub const fn act_in_parts(name: &'static str, task: &'static str) -> Method {
        Method { name, task, effect: Effect::Parts }
    }

    fn path(self) -> PathAndQuery {
        // Names of methods are letters and lines below.
        PathAndQuery::try_from(format!("/{SERVICE}/{}", self.name))
            .unwrap_or_else(|_| PathAndQuery::from_static("/"))
    }

    fn missing(self) -> DeviceError {
        let detail =
            format!("this companion cannot {}: it has no {}; a newer idb may have it", self.task, self.name);
        let dispatch = if self.effect == Effect::None { Dispatch::NotSent } else { Dispatch::Refused };
        DeviceError::new(DeviceErrorKind::NotSupported, detail).with_dispatch(dispatch)
    }
}

impl Idb {
    /// One message there, one back.
    pub(super) async fn ask<Req, Res>(&self, method: Method, request: Req) -> Result<Res, DeviceError>
    where
        Req: Message + 'static,
        Res: Message + Default + 'static,
    {
        let mut grpc = self.grpc(method).await?;
        let answer = grpc.unary(Request::new(request), method.path(), codec::<Req, Res>()).await;
        answer.map(tonic::Response::into_inner).map_err(|status| self.error(method, &status))
    }

    /// Many messages there, one back.
    pub(super) async fn send<Req, Res>(
        &self,
        method: Method,
        requests: impl Stream<Item = Req> + Send + 'static,
    ) -> Result<Res, DeviceError>
    where
        Req: Message + 'static,
        Res: Message + Default + 'static,
    {
        let mut grpc = self.grpc(method).await?;
        let answer = grpc.client_streaming(Request::new(requests), method.path(), codec::<Req, Res>()).await;
        answer.map(tonic::Response::into_inner).map_err(|status| self.error(method, &status))
    }

    /// One message there, many back.
    pub(super) async fn follow<Req, Res>(
        &self,
        method: Method,
        request: Req,
    ) -> Result<Answers<Res>, DeviceError>
    where
        Req: Message + 'static,
        Res: Message + Default + 'static,
    {
        let mut grpc = self.grpc(method).await?;
        let answer = grpc.server_streaming(Request::new(request), method.path(), codec::<Req, Res>()).await;
        self.answers(method, answer)
    }

    /// Many messages there, many back.
    pub(super) async fn converse<Req, Res>(
        &self,
        method: Method,
        requests: impl Stream<Item = Req> + Send + 'static,
    ) -> Result<Answers<Res>, DeviceError>
    where
        Req: Message + 'static,
        Res: Message + Default + 'static,
    {
        let mut grpc = self.grpc(method).await?;
        let answer = grpc.streaming(Request::new(requests), method.path(), codec::<Req, Res>()).await;
        self.answers(method, answer)
    }

    fn answers<Res>(
        &self,
        method: Method,
        answer: Result<tonic::Response<Streaming<Res>>, Status>,
    ) -> Result<Answers<Res>, DeviceError> {
        match answer {
            Ok(answer) => Ok(Answers { idb: self.clone(), method, stream: answer.into_inner() }),
            Err(status) => Err(self.error(method, &status)),
        }
    }

    async fn grpc(&self, method: Method) -> Result<Grpc<Channel>, DeviceError> {
        let channel = self.link.channel().await?;
        if self.link.is_missing(method.name) {
            return Err(method.missing());
        }
        let mut grpc = Grpc::with_origin(channel, Uri::from_static("http://companion"))
            .max_decoding_message_size(ANSWER_BYTES_MAX);
        grpc.ready().await.map_err(|error| {
            let detail = format!("the connection to idb's companion broke before the call: {error}");
            DeviceError::new(DeviceErrorKind::ConnectionLost, detail)
        })?;
        Ok(grpc)
    }

    fn error(&self, method: Method, status: &Status) -> DeviceError {
        if status.code() == Code::Unimplemented {
            self.link.set_missing(method.name);
            return method.missing();
        }
        let words = words(status.message());
        let task = method.task;
        // What broke on this side has a cause; what the companion says has none.
        let unanswered = status.source().is_some()
            || matches!(status.code(), Code::Unavailable | Code::Cancelled | Code::DeadlineExceeded);
        let (kind, detail) = if unanswered {
            (
                DeviceErrorKind::ConnectionLost,
                format!("the connection to idb's companion broke while it was to {task} ({words})"),
            )
        } else if status.code() == Code::OutOfRange {
            (DeviceErrorKind::Protocol, format!("the companion's answer is too large: {words}"))
        } else {
            (DeviceErrorKind::Rejected, format!("the companion could not {task}: {words}"))
        };
        let refused = kind == DeviceErrorKind::Rejected;
        let dispatch = match method.effect {
            Effect::None => Dispatch::NotSent,
            Effect::Whole if refused => Dispatch::Refused,
            Effect::Whole | Effect::Parts => Dispatch::Unknown,
        };
        DeviceError::new(kind, detail).with_dispatch(dispatch)
    }
}

/// The answers of a call that lasts. Dropping it ends the call.
pub struct Answers<Res> {
    idb: Idb,
    method: Method,
    stream: Streaming<Res>,
}

impl<Res> Answers<Res> {
    /// Returns nothing when the companion has ended the call.
    pub async fn next(&mut self) -> Result<Option<Res>, DeviceError> {
        self.stream.message().await.map_err(|status| self.idb.error(self.method, &status))
    }
}

fn codec<Req, Res>() -> ProstCodec<Req, Res>
where
    Req: Message + 'static,
    Res: Message + Default + 'static,
{
    ProstCodec::default()
}

/// The companion's words, in one line and not too many.
fn words(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return "no reason was given".to_owned();
    }
    match line.char_indices().nth(WORDS_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
