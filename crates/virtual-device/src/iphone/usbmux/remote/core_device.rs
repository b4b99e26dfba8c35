//! Requests to CoreDevice: a feature by its name, its input, and an output or an error.

use std::io;

use super::connection::Connection;
use super::xpc::Xpc;
use crate::iphone::usbmux::Wire;

/// The phone's refusal.
pub struct Refusal {
    pub code: i64,
    pub domain: &'static str,
    pub why: String,
}

/// What comes of a request.
pub enum Outcome {
    Output(Xpc),
    Refused(Refusal),
    /// The phone closes the connection instead of an answer.
    HangUp,
}

impl Outcome {
    pub fn refused(code: i64, why: impl Into<String>) -> Outcome {
        Outcome::Refused(Refusal { code, domain: "com.apple.dt.CoreDeviceError", why: why.into() })
    }
}

pub async fn serve(
    stream: impl Wire,
    mut answer: impl FnMut(&str, &Xpc) -> Outcome + Send,
) -> io::Result<()> {
    let mut connection = Connection::accept(stream).await?;
    loop {
        let (request, body) = connection.next().await?;
        let feature = body.get("CoreDevice.featureIdentifier").and_then(Xpc::as_text).unwrap_or_default();
        let nothing = Xpc::Dictionary(Vec::new());
        let input = body.get("CoreDevice.input").unwrap_or(&nothing);
        let reply = match answer(feature, input) {
            Outcome::Output(output) => Xpc::dictionary([("CoreDevice.output", output)]),
            Outcome::Refused(refusal) => {
                let info = Xpc::dictionary([("NSLocalizedDescription", Xpc::Text(refusal.why))]);
                let error = Xpc::dictionary([
                    ("code", Xpc::Int(refusal.code)),
                    ("domain", Xpc::text(refusal.domain)),
                    ("userInfo", info),
                ]);
                Xpc::dictionary([("CoreDevice.error", error)])
            }
            Outcome::HangUp => return Ok(()),
        };
        connection.answer(&request, reply).await?;
    }
}
