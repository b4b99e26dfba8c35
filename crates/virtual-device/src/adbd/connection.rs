//! One transport to the phone: its handshake and the services that the host opens.

use bytes::Bytes;
use mdm_wire::adb::banner::Banner;
use mdm_wire::adb::frame::{Command, Frame};
use mdm_wire::adb::{
    PAYLOAD_BYTES_LEGACY, PAYLOAD_BYTES_MAX, VERSION_CHECKSUM, VERSION_SKIP_CHECKSUM, auth as wire_auth,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::mux::Mux;
use super::{FEATURES, auth, service};
use crate::phone::Phone;

/// Failed signatures before the transport is dropped.
const AUTH_TRIES_MAX: u32 = 64;

/// Serves one host until either side ends or `cut` is cancelled. A trusted host is not asked for a key.
pub async fn serve<S>(phone: &Phone, socket: S, trusted: bool, cut: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let mux = Mux::new(socket, &cut);
    let token = [0; wire_auth::TOKEN_BYTES];
    let needs_key = !trusted && auth::needed(phone);
    let mut connection = Connection { phone: phone.clone(), mux, token, tries: 0, needs_key };
    while let Some(frame) = connection.mux.next().await {
        if connection.handle(frame).await.is_err() {
            break;
        }
    }
    phone.reverse().forget(&connection.mux.requests);
    connection.mux.end().await;
}

struct Connection<S> {
    phone: Phone,
    mux: Mux<S>,
    token: [u8; wire_auth::TOKEN_BYTES],
    tries: u32,
    needs_key: bool,
}

/// Error that ends the transport.
struct TransportEnded;

impl<S: AsyncRead + AsyncWrite + Send + 'static> Connection<S> {
    async fn handle(&mut self, frame: Frame) -> Result<(), TransportEnded> {
        match frame.command {
            Command::Connect => {
                self.mux.reset();
                self.mux.payload_bytes_max = frame.arg1.clamp(1, limits(&self.phone).1);
                if self.needs_key { self.ask().await } else { self.go_online().await }
            }
            Command::Auth if self.needs_key && !self.mux.online => self.auth(frame).await?,
            Command::Open if self.mux.online => self.open(frame).await,
            _ => {}
        }
        Ok(())
    }

    async fn ask(&mut self) {
        self.token = auth::new_token(&self.phone);
        let token = Bytes::copy_from_slice(&self.token);
        self.mux.send(Command::Auth, wire_auth::TOKEN, 0, token).await;
    }

    async fn go_online(&mut self) {
        self.mux.online = true;
        let text = banner(&self.phone).encode();
        let (version, payload_bytes_max) = limits(&self.phone);
        self.mux.send(Command::Connect, version, payload_bytes_max, text).await;
    }

    async fn auth(&mut self, frame: Frame) -> Result<(), TransportEnded> {
        match frame.arg0 {
            wire_auth::SIGNATURE => {
                self.tries += 1;
                if self.tries > AUTH_TRIES_MAX {
                    return Err(TransportEnded);
                }
                if auth::signature_fits(&self.phone, &self.token, &frame.payload) {
                    self.go_online().await;
                } else {
                    self.ask().await;
                }
            }
            wire_auth::PUBLIC_KEY if auth::offer(&self.phone, &frame.payload) => self.go_online().await,
            _ => {}
        }
        Ok(())
    }

    async fn open(&mut self, frame: Frame) {
        let remote = frame.arg0;
        let name = String::from_utf8_lossy(&frame.payload);
        let name = name.strip_suffix('\0').unwrap_or(&name).to_owned();
        let allowed = remote != 0 && self.mux.has_room();
        let service = if allowed { service::find(&self.phone, &name, &self.mux.requests) } else { None };
        let Some(service) = service else {
            return self.mux.send(Command::Close, 0, remote, Bytes::new()).await;
        };
        let io = self.mux.accept(remote).await;
        let phone = self.phone.clone();
        // Detached on purpose: a program on the phone outlives the cable.
        tokio::spawn(async move { service.run(&phone, io).await });
    }
}

/// Builds the banner. adb replaces spaces in values by underscores, because they would end the words of `devices -l`.
fn banner(phone: &Phone) -> Banner {
    let property = |key: &str| phone.with(|state| state.properties.get(key).cloned().unwrap_or_default());
    let pair = |key: &str| (key.to_owned(), property(key));
    Banner {
        kind: "device".to_owned(),
        properties: vec![pair("ro.product.name"), pair("ro.product.model"), pair("ro.product.device")],
        features: features(phone).iter().map(|f| (*f).to_owned()).collect(),
    }
}

/// Returns the features that this phone's daemon announces.
pub fn features(phone: &Phone) -> &'static [&'static str] {
    if phone.with(|state| state.config.old_adbd) { &[] } else { &FEATURES }
}

/// Returns the protocol version of this phone and its largest frame in bytes.
fn limits(phone: &Phone) -> (u32, u32) {
    if phone.with(|state| state.config.old_adbd) {
        (VERSION_CHECKSUM, PAYLOAD_BYTES_LEGACY)
    } else {
        (VERSION_SKIP_CHECKSUM, PAYLOAD_BYTES_MAX)
    }
}
