//! One client of the adb server.

use std::io;

use mdm_wire::adb::host::{FAIL, OKAY, decode_length, encode_text};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{AdbServer, Device, features, forward, usable};

/// The version that recent servers answer to `host:version`: 41.
const VERSION: &str = "0029";

/// Answers a client until it leaves or its stream is connected.
pub async fn serve(server: &AdbServer, socket: TcpStream) {
    let mut client = Client { server: server.clone(), socket, chosen: None };
    // A client that breaks the protocol or goes away is simply dropped.
    while let Ok(true) = client.request().await {}
}

struct Client {
    server: AdbServer,
    socket: TcpStream,
    /// The device for all later requests, set by `host:transport…`.
    chosen: Option<(String, Device)>,
}

impl Client {
    /// Handles one request; returns true when another may follow.
    async fn request(&mut self) -> io::Result<bool> {
        let mut prefix = [0; 4];
        self.socket.read_exact(&mut prefix).await?;
        let Ok(length) = decode_length(&prefix) else {
            self.fail("unknown host service").await?;
            return Ok(false);
        };
        let mut body = vec![0; length];
        self.socket.read_exact(&mut body).await?;
        let text = String::from_utf8_lossy(&body).into_owned();
        let chosen = self.chosen.take();
        if let Some((_, device)) = chosen.as_ref().filter(|_| !text.starts_with("host")) {
            self.stream(device, &text).await?;
            return Ok(false);
        }
        let serial = chosen.as_ref().map(|(serial, _)| serial.as_str());
        match text.split_once(':') {
            Some(("host", request)) => self.host(request, serial).await,
            Some(("host-serial", rest)) => match split_serial(rest) {
                Some((serial, request)) => self.host(request, Some(serial)).await,
                None => self.fail("malformed serial").await.map(|()| false),
            },
            Some(("host-usb" | "host-local", request)) => self.host(request, None).await,
            _ => self.fail("device offline (no transport)").await.map(|()| false),
        }
    }

    async fn okay(&mut self) -> io::Result<()> {
        self.socket.write_all(OKAY).await
    }

    async fn fail(&mut self, why: &str) -> io::Result<()> {
        let mut out = FAIL.to_vec();
        out.extend(encode_text(why).unwrap_or_default());
        self.socket.write_all(&out).await
    }

    async fn text(&mut self, text: &str) -> io::Result<()> {
        let mut out = OKAY.to_vec();
        out.extend(encode_text(text).unwrap_or_default());
        self.socket.write_all(&out).await
    }

    async fn answer(&mut self, answer: Result<String, String>) -> io::Result<bool> {
        match answer {
            Ok(text) => self.text(&text).await?,
            Err(why) => self.fail(&why).await?,
        }
        Ok(false)
    }

    async fn host(&mut self, request: &str, serial: Option<&str>) -> io::Result<bool> {
        let server = self.server.clone();
        match request {
            "version" => self.answer(Ok(VERSION.to_owned())).await,
            "devices" => self.answer(Ok(server.list(false))).await,
            "devices-l" => self.answer(Ok(server.list(true))).await,
            "track-devices" => self.track(false).await,
            "track-devices-l" => self.track(true).await,
            "host-features" => self.answer(Ok(features())).await,
            "kill" => self.okay().await.map(|()| false),
            "features" => {
                let picked = server.pick(serial);
                let phone_features = |d: &Device| crate::adbd::features(&d.phone).join(",");
                self.answer(picked.and_then(|(_, d)| usable(&d).map(|()| phone_features(&d)))).await
            }
            "get-state" => self.answer(server.pick(serial).map(|(_, d)| d.state)).await,
            "get-serialno" => self.answer(server.pick(serial).map(|(serial, _)| serial)).await,
            "get-devpath" => self.answer(server.pick(serial).map(|_| "unknown".to_owned())).await,
            "list-forward" => self.answer(Ok(server.inner.forwards.list())).await,
            "killforward-all" => {
                server.inner.forwards.remove_all();
                self.double_okay("").await
            }
            "transport-any" | "transport-usb" | "transport-local" => self.choose(None, false).await,
            "tport:any" | "tport:usb" | "tport:local" => self.choose(None, true).await,
            other => self.host_with_argument(other, serial).await,
        }
    }

    async fn host_with_argument(&mut self, request: &str, serial: Option<&str>) -> io::Result<bool> {
        if let Some(serial) = request.strip_prefix("transport:") {
            return self.choose(Some(serial), false).await;
        }
        if let Some(serial) = request.strip_prefix("tport:serial:") {
            return self.choose(Some(serial), true).await;
        }
        if let Some(local) = request.strip_prefix("killforward:") {
            return match self.server.inner.forwards.remove(local) {
                Ok(()) => self.double_okay("").await,
                Err(why) => self.fail(&why).await.map(|()| false),
            };
        }
        if let Some(addresses) = request.strip_prefix("forward:") {
            return self.forward(addresses, serial).await;
        }
        // This server can only reach the phones that it was given.
        if let Some(address) = request.strip_prefix("connect:") {
            let known = self.server.pick(Some(address)).is_ok();
            let said = if known {
                format!("already connected to {address}")
            } else {
                format!("failed to connect to '{address}': Connection refused")
            };
            return self.answer(Ok(said)).await;
        }
        if let Some(address) = request.strip_prefix("disconnect:") {
            if address.is_empty() {
                return self.answer(Ok("disconnected everything".to_owned())).await;
            }
            let answer = match self.server.pick(Some(address)) {
                Ok((serial, _)) => {
                    self.server.remove(&serial);
                    Ok(format!("disconnected {serial}"))
                }
                Err(_) => Err(format!("no such device '{address}'")),
            };
            return self.answer(answer).await;
        }
        self.fail("unknown host service").await.map(|()| false)
    }

    /// Sends two OKAYs: the first for the request, the second for its result.
    async fn double_okay(&mut self, rest: &str) -> io::Result<bool> {
        let mut out = [OKAY.as_slice(), OKAY.as_slice()].concat();
        if !rest.is_empty() {
            out.extend(encode_text(rest).unwrap_or_default());
        }
        self.socket.write_all(&out).await?;
        Ok(false)
    }

    async fn forward(&mut self, addresses: &str, serial: Option<&str>) -> io::Result<bool> {
        let (addresses, rebind) = match addresses.strip_prefix("norebind:") {
            Some(addresses) => (addresses, false),
            None => (addresses, true),
        };
        let Some((local, remote)) = addresses.split_once(';') else {
            return self.fail("malformed forward spec").await.map(|()| false);
        };
        let picked = match self.server.pick(serial) {
            Ok((serial, device)) => usable(&device).map(|()| serial),
            Err(why) => Err(why),
        };
        let added = match picked {
            Ok(serial) => forward::add(&self.server, &serial, local, remote, rebind).await,
            Err(why) => Err(why),
        };
        match added {
            Ok(port) => self.double_okay(&port.map_or(String::new(), |p| p.to_string())).await,
            Err(why) => self.fail(&why).await.map(|()| false),
        }
    }

    async fn choose(&mut self, serial: Option<&str>, with_id: bool) -> io::Result<bool> {
        let picked = self.server.pick(serial);
        match picked.and_then(|(serial, device)| usable(&device).map(|()| (serial, device))) {
            Err(why) => self.fail(&why).await.map(|()| false),
            Ok((serial, device)) => {
                let mut out = OKAY.to_vec();
                if with_id {
                    out.extend(device.id.to_le_bytes());
                }
                self.chosen = Some((serial, device));
                self.socket.write_all(&out).await?;
                Ok(true)
            }
        }
    }

    async fn stream(&mut self, device: &Device, service: &str) -> io::Result<()> {
        match self.server.open(device, service).await {
            Err(why) => self.fail(&why).await,
            Ok(mut stream) => {
                self.okay().await?;
                tokio::io::copy_bidirectional(&mut self.socket, &mut stream).await?;
                Ok(())
            }
        }
    }

    async fn track(&mut self, long: bool) -> io::Result<bool> {
        self.okay().await?;
        let mut changed = self.server.inner.changed.subscribe();
        let mut told = None;
        loop {
            changed.mark_unchanged();
            let list = self.server.list(long);
            if told.as_ref() != Some(&list) {
                self.socket.write_all(&encode_text(&list).unwrap_or_default()).await?;
                told = Some(list);
            }
            let mut ignored = [0; 64];
            tokio::select! {
                biased;
                change = changed.changed() => if change.is_err() { return Ok(false) },
                read = self.socket.read(&mut ignored) => if matches!(read, Ok(0) | Err(_)) { return Ok(false) },
            }
        }
    }
}

/// Splits `SERIAL:request`. The serial of a network device has a port: `host:5555:request`.
fn split_serial(rest: &str) -> Option<(&str, &str)> {
    const REQUESTS: [&str; 9] = [
        ":features",
        ":get-state",
        ":get-serialno",
        ":get-devpath",
        ":forward:",
        ":list-forward",
        ":killforward",
        ":tport:",
        ":transport",
    ];
    let at = REQUESTS.iter().filter_map(|request| rest.find(request)).min()?;
    Some((&rest[..at], &rest[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::split_serial;

    #[test]
    fn serials_may_hold_colons() {
        assert_eq!(split_serial("R58M:features"), Some(("R58M", "features")));
        assert_eq!(split_serial("127.0.0.1:5555:get-state"), Some(("127.0.0.1:5555", "get-state")));
        assert_eq!(split_serial("x:forward:tcp:1;tcp:2"), Some(("x", "forward:tcp:1;tcp:2")));
        assert_eq!(split_serial("nothing"), None);
    }
}
