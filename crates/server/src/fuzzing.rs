//! Doors for the fuzzer to readers that nothing outside of the crate calls. Compiled with `--cfg fuzzing` only.

use std::io::Cursor;

use mdm_core::port::Picture;
use mdm_core::screen::geometry::{Rect, Size};
use rmcp::ErrorData;
use rmcp::model::JsonRpcMessage;
use rmcp::transport::Transport as _;

use crate::picture::{self, Wish};
use crate::resource::{Named, Resource};
use crate::secrets::Secrets;
use crate::transport::LineTransport;

/// A PNG as it is shown: its size and the bytes of a JPEG.
pub async fn picture(png: Vec<u8>, side: u32, mask: Option<Rect>) -> Option<(Size, Vec<u8>)> {
    let wish = Wish { side, region: mask, masks: mask.into_iter().collect(), ..Wish::default() };
    let scaled = picture::jpeg(Picture::Png(png), wish).await.ok()?;
    Some((scaled.size, scaled.image.bytes))
}

/// The messages that a client's lines are, each of which is answered at once.
pub async fn messages(bytes: Vec<u8>) -> usize {
    let mut transport = LineTransport::new(Cursor::new(bytes), tokio::io::sink(), Secrets::default());
    let mut count = 0;
    while let Some(message) = transport.receive().await {
        count += 1;
        if let JsonRpcMessage::Request(request) = message {
            let answer = JsonRpcMessage::error(ErrorData::internal_error("no", None), Some(request.id));
            drop(transport.send(answer).await);
        }
    }
    count
}

/// An address of a resource is read, and written again the same.
pub fn resource(uri: &str) {
    if let Ok(Named::Of(Resource { device, .. })) = Named::parse(uri) {
        let again = Named::parse(&Resource::uri(&device, "screen"));
        assert!(matches!(again, Ok(Named::Of(again)) if again.device == device));
    }
}
