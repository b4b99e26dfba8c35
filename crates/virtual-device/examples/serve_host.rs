//! Serves the adb server's host face with two phones on it: `serve_host 5038`, then `adb -P 5038 devices`.
#![expect(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use mdm_virtual_device::{AdbServer, Phone, PhoneConfig};

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).unwrap_or_else(|| "5038".to_owned());
    let server = AdbServer::new();
    server.add("VIRTUAL0001", "device", Phone::new(PhoneConfig::default()));
    server.add("VIRTUAL0002", "unauthorized", Phone::new(PhoneConfig::default()));
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    println!("listening on {}", listener.local_addr()?);
    server.serve(listener).await
}
