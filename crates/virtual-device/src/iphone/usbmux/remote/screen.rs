//! `screencaptureservice` and `displayservice`: pictures of the screen, and a stream of them.

use std::io::Read as _;
use std::sync::{Arc, Weak};

use flate2::read::ZlibDecoder;
use plist::Value;
use tokio::time::{Duration, Instant};

use super::core_device::Outcome;
use super::xpc::Xpc;
use crate::helpers::picture;
use crate::iphone::IPhone;
use crate::iphone::usbmux::plists::dictionary;
use crate::iphone::usbmux::tunnel::{self, Datagram, MediaStream, Tunnel};

const UNKNOWN: i64 = -1;
const MEDIA_BLOB: &str = "avcMediaStreamNegotiatorMediaBlob";
const MODE: &str = "avcMediaStreamNegotiatorMode";
const SESSION: &str = "avcMediaStreamOptionClientSessionID";
/// The modes of a stream of the screen, and of sound.
const SCREEN_MODE: u64 = 5;
const SOUND_MODE: u64 = 6;
const OFFER_BYTES_MAX: u64 = 1024 * 1024;
/// Between two packets of a stream of a screen that does not change.
const PACKET_REST: Duration = Duration::from_secs(1);
/// The type of packets of HEVC, with the version of RTP before it.
const RTP_HEAD: [u8; 2] = [0x80, 100];

pub fn capture(phone: &IPhone, feature: &str, input: &Xpc) -> Outcome {
    let format = input.get("requestedFormat").and_then(Xpc::as_text);
    match (feature, format) {
        ("com.apple.coredevice.feature.capturescreenshot", Some("png")) => {
            Outcome::Output(Xpc::dictionary([
                ("displayUniqueID", Xpc::text("1")),
                ("image", Xpc::Data(picture::png(phone.phone()).to_vec())),
                ("imageFormat", Xpc::text("png")),
            ]))
        }
        _ => Outcome::refused(UNKNOWN, "The picture cannot be taken in this form."),
    }
}

pub fn display(tunnel: &Arc<Tunnel>, feature: &str, input: &Xpc) -> Outcome {
    match feature {
        "com.apple.coredevice.feature.startmediastream" => {
            begin(tunnel, input).unwrap_or_else(|| Outcome::refused(UNKNOWN, "The offer cannot be taken."))
        }
        // A real phone closes the connection in the middle of the stop.
        "com.apple.coredevice.feature.stopmediastream" => {
            tunnel.watch(None);
            Outcome::HangUp
        }
        _ => Outcome::refused(UNKNOWN, format!("The feature {feature} is not supported.")),
    }
}

fn begin(tunnel: &Arc<Tunnel>, input: &Xpc) -> Option<Outcome> {
    let kind = input.get("type").and_then(Xpc::as_text)?;
    let offer = input.get("negotiatorOffer").and_then(Xpc::as_data)?;
    let port =
        input.get("receiverPort").and_then(Xpc::as_number).and_then(|port| u16::try_from(port).ok())?;
    let Some(Xpc::Uuid(session)) = input.at(&["options", SESSION, "uuid"]) else { return None };
    let mode = if kind == "video" { SCREEN_MODE } else { SOUND_MODE };
    let blob = read_offer(offer, mode)?;
    if kind == "video" {
        let stream = MediaStream { session: *session, port, began: Instant::now() };
        tunnel.watch(Some(stream.clone()));
        tokio::spawn(send_packets(Arc::downgrade(tunnel), stream));
    }
    let answer = dictionary([(MEDIA_BLOB, Value::Data(blob)), (MODE, mode.into())]);
    let mut bytes = Vec::new();
    answer.to_writer_binary(&mut bytes).ok()?;
    let connection = Xpc::dictionary([
        ("options", input.get("options")?.clone()),
        ("receiverPort", Xpc::Uint(port.into())),
        ("senderIP", Xpc::Text(tunnel::phone_address())),
        ("type", Xpc::text(kind)),
    ]);
    let output = [("connection", connection), ("negotiatorAnswer", Xpc::Data(bytes))];
    Some(Outcome::Output(Xpc::dictionary(output)))
}

/// Reads the packed part of an offer, which is the answer's too.
fn read_offer(offer: &[u8], mode: u64) -> Option<Vec<u8>> {
    let offer = plist::from_bytes::<Value>(offer).ok()?.into_dictionary()?;
    if offer.get(MODE)?.as_unsigned_integer()? != mode {
        return None;
    }
    let packed = offer.get(MEDIA_BLOB)?.as_data()?;
    let mut blob = Vec::new();
    ZlibDecoder::new(packed).take(OFFER_BYTES_MAX).read_to_end(&mut blob).ok()?;
    (!blob.is_empty()).then(|| packed.to_vec())
}

/// Sends the heads of packets for as long as the stream is watched. There is no encoder here, so they have no content.
async fn send_packets(tunnel: Weak<Tunnel>, stream: MediaStream) {
    for number in 0_u16.. {
        let Some(tunnel) = tunnel.upgrade().filter(|tunnel| tunnel.watched().as_ref() == Some(&stream))
        else {
            return;
        };
        let bytes = [RTP_HEAD.as_slice(), &number.to_be_bytes(), &[0; 8]].concat();
        tunnel.send(Datagram { to_port: stream.port, bytes });
        drop(tunnel);
        tokio::time::sleep(PACKET_REST).await;
    }
}
