//! Serves one phone on a TCP port: `serve 5555 [instant|brisk|phone]`, then `adb connect localhost:5555`.
#![expect(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use mdm_virtual_device::{Auth, Phone, PhoneConfig, Timing};

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().unwrap_or_else(|| "5555".to_owned());
    let mut config = PhoneConfig { timing: Timing::Brisk, ..PhoneConfig::default() };
    for word in arguments {
        match word.as_str() {
            "instant" => config.timing = Timing::Instant,
            "phone" => config.timing = Timing::Phone,
            "auth" => config.auth = Auth::AcceptNew,
            "refuse" => config.auth = Auth::Refuse,
            _ => {}
        }
    }
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    println!("listening on {}", listener.local_addr()?);
    Phone::new(config).serve(listener).await
}
