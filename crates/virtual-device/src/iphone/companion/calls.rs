//! The four kinds of calls of gRPC, as functions from messages to messages.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::stream::poll_fn;
use hyper::body::Incoming;
use tokio::sync::mpsc;
use tonic::body::Body;
use tonic::server::Grpc;
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use tonic_prost::prost::Message;
use tower_service::Service;

/// Largest message that a client may send: idb's own companion takes 16 MB.
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Answers that wait for a slow client.
const ANSWERS_MAX: usize = 16;

pub type Answer<T> = Result<T, Status>;
pub type Answers<T> = Pin<Box<dyn Stream<Item = Answer<T>> + Send>>;
/// Where a call that answers more than once puts its answers.
pub type AnswerSender<T> = mpsc::Sender<Answer<T>>;
pub type HttpRequest = hyper::Request<Incoming>;
pub type HttpResponse = hyper::Response<Body>;

/// A pipe for the answers of one call.
pub fn answers<T: Send + 'static>() -> (AnswerSender<T>, Answers<T>) {
    let (sender, mut receiver) = mpsc::channel(ANSWERS_MAX);
    (sender, Box::pin(poll_fn(move |context| receiver.poll_recv(context))))
}

/// One message in, one message out.
pub async fn unary<Req, Res, F, Fut>(request: HttpRequest, call: F) -> HttpResponse
where
    Req: Message + Default + 'static,
    Res: Message + 'static,
    F: FnMut(Req) -> Fut + Send,
    Fut: Future<Output = Answer<Res>> + Send + 'static,
{
    grpc::<Res, Req>().unary(Call(call), request).await
}

/// Many messages in, one message out.
pub async fn upload<Req, Res, F, Fut>(request: HttpRequest, call: F) -> HttpResponse
where
    Req: Message + Default + 'static,
    Res: Message + 'static,
    F: FnMut(Streaming<Req>) -> Fut + Send,
    Fut: Future<Output = Answer<Res>> + Send + 'static,
{
    grpc::<Res, Req>().client_streaming(Call(call), request).await
}

/// One message in, many messages out.
pub async fn download<Req, Res, F, Fut>(request: HttpRequest, call: F) -> HttpResponse
where
    Req: Message + Default + 'static,
    Res: Message + 'static,
    F: FnMut(Req) -> Fut + Send,
    Fut: Future<Output = Answer<Answers<Res>>> + Send + 'static,
{
    grpc::<Res, Req>().server_streaming(Call(call), request).await
}

/// Many messages in, many messages out.
pub async fn both_ways<Req, Res, F, Fut>(request: HttpRequest, call: F) -> HttpResponse
where
    Req: Message + Default + 'static,
    Res: Message + 'static,
    F: FnMut(Streaming<Req>) -> Fut + Send,
    Fut: Future<Output = Answer<Answers<Res>>> + Send + 'static,
{
    grpc::<Res, Req>().streaming(Call(call), request).await
}

/// Answers a method that this companion does not have.
pub fn unimplemented() -> HttpResponse {
    Status::unimplemented("").into_http()
}

fn grpc<Res, Req>() -> Grpc<ProstCodec<Res, Req>>
where
    Req: Message + Default + 'static,
    Res: Message + 'static,
{
    Grpc::new(ProstCodec::default())
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(usize::MAX)
}

/// Makes a service, as tonic wants it, from a function.
struct Call<F>(F);

impl<F, Req, Fut, Res> Service<Request<Req>> for Call<F>
where
    F: FnMut(Req) -> Fut,
    Fut: Future<Output = Answer<Res>> + Send + 'static,
{
    type Response = Response<Res>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Res>, Status>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Req>) -> Self::Future {
        let answer = (self.0)(request.into_inner());
        Box::pin(async move { answer.await.map(Response::new) })
    }
}
