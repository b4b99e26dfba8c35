//! The server of openatx's uiautomator2: JSON-RPC over HTTP, with UiSelectors that are resolved on the phone.

mod methods;
mod wire;

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::automation::Automation;
use super::http::{Request, Response};
use super::selector::Selector;
use super::serve;
use crate::phone::Phone;
use crate::shell::commands::Call;
use crate::shell::io::BrokenPipe;
use wire::ObjectRef;

pub const CLASS: &str = "com.wetest.uia2.Main";
const PORT: u16 = 9008;
const KILLED_EXIT: u8 = 137;

/// Objects with a name; the oldest is forgotten.
const NAMES_MAX: usize = 1000;

pub struct Server {
    toasts: Mutex<ToastLog>,
    named: Mutex<VecDeque<(u64, Selector)>>,
}

/// Toasts since the start, or since the client said to forget them.
struct ToastLog {
    /// The number of toasts before.
    skip: usize,
    /// The last toast of the helper itself.
    own: Option<(Instant, String)>,
}

impl ToastLog {
    fn from_now(phone: &Phone) -> ToastLog {
        let now = Instant::now();
        ToastLog {
            skip: phone.with(|s| s.surface.toasts().iter().filter(|t| t.from <= now).count()),
            own: None,
        }
    }
}

/// Starts the helper; its option is `-p PORT`.
pub async fn launch(call: &Call<'_>, words: &[&str]) -> Result<u8, BrokenPipe> {
    let asked = words.iter().position(|w| *w == "-p").and_then(|at| words.get(at + 1)?.parse().ok());
    call.io.stdout.write("[server] INFO: [UiAutomator2Server] Starting Server\n").await?;
    let Some(_automation) = Automation::take(call.phone) else {
        call.io.stdout.write(Automation::REFUSED).await?;
        return Ok(KILLED_EXIT);
    };
    let server = Server { toasts: Mutex::new(ToastLog::from_now(call.phone)), named: Mutex::default() };
    let address = format!("tcp:{}", asked.unwrap_or(PORT));
    serve(call, &address, super::Server::Uiautomator2(std::sync::Arc::new(server))).await
}

#[derive(Deserialize)]
struct RpcRequest<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: String,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct RpcAnswer<'a> {
    jsonrpc: &'static str,
    id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RpcError>,
}

/// The error of a failed call.
#[derive(Debug, Serialize)]
pub struct RpcError {
    code: i32,
    message: String,
    data: String,
}

impl RpcError {
    fn new(code: i32, message: impl Into<String>) -> RpcError {
        let message = message.into();
        RpcError { code, data: format!("{message}\n\tat com.wetest.uia2.AutomatorServiceImpl"), message }
    }

    fn parameters() -> RpcError {
        RpcError::new(-32602, "method parameters invalid")
    }

    fn not_found(what: &str) -> RpcError {
        RpcError::new(-32002, format!("androidx.test.uiautomator.UiObjectNotFoundException: {what}"))
    }
}

impl Server {
    pub async fn answer(&self, phone: &Phone, request: Request) -> Response {
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/ping") => Response::text(200, "pong"),
            ("POST", "/jsonrpc/0") => self.call(phone, &request.body).await,
            _ => Response::text(404, "Not Found"),
        }
    }

    async fn call(&self, phone: &Phone, body: &[u8]) -> Response {
        let Ok(request) = serde_json::from_slice::<RpcRequest<'_>>(body) else {
            return encode(None, Err(RpcError::new(-32700, "JSON parse error")));
        };
        let none = RawValue::NULL;
        let result = methods::call(self, phone, &request.method, request.params.unwrap_or(none)).await;
        encode(request.id, result)
    }

    fn toasts(&self) -> MutexGuard<'_, ToastLog> {
        self.toasts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a name by which the client can refer to this object.
    fn name(&self, selector: Selector) -> String {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let number = named.back().map_or(1, |(last, _)| last + 1);
        named.push_back((number, selector));
        if named.len() > NAMES_MAX {
            named.pop_front();
        }
        format!("object-{number}")
    }

    fn selector(&self, which: &ObjectRef) -> Result<Selector, RpcError> {
        match which {
            ObjectRef::Fields(fields) => fields.selector().ok_or_else(RpcError::parameters),
            ObjectRef::Name(name) => {
                let named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
                let number = name.strip_prefix("object-").and_then(|number| number.parse().ok());
                let known = number.and_then(|number: u64| named.iter().find(|(known, _)| *known == number));
                known.map(|(_, selector)| selector.clone()).ok_or_else(|| RpcError::not_found(name))
            }
        }
    }
}

fn encode(id: Option<&RawValue>, result: Result<Box<RawValue>, RpcError>) -> Response {
    let answer = RpcAnswer {
        jsonrpc: "2.0",
        id,
        result: result.as_ref().ok().map(|value| &**value),
        error: result.as_ref().err(),
    };
    match serde_json::to_vec(&answer) {
        Ok(body) => Response::json(200, body),
        Err(_) => Response::text(500, "Internal Server Error"),
    }
}
