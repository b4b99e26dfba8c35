//! The few answers that are not MCP.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Full};
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};

use super::{Body, plain_text};

pub fn text(status: StatusCode, words: &str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(format!("{words}\n"))).boxed());
    *response.status_mut() = status;
    response.headers_mut().extend([plain_text()]);
    response
}

pub fn json(status: StatusCode, body: String) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(body)).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Empty::new().boxed());
    *response.status_mut() = status;
    response
}

/// What is left of the request is not read.
pub fn closing(status: StatusCode, words: &str) -> Response<Body> {
    let mut response = text(status, words);
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

pub fn busy(words: &str) -> Response<Body> {
    let mut response = text(StatusCode::SERVICE_UNAVAILABLE, words);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}
