//! Runs a virtual iPhone and prints where its faces listen: `iphone [WDA port]`.
#![expect(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use mdm_virtual_device::{IPhone, IPhoneConfig};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let phone = IPhone::new(IPhoneConfig::default());
    let port = std::env::args().nth(1).unwrap_or_else(|| "0".to_owned());
    let wda = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    println!("wda: {}", wda.local_addr()?);
    phone.serve_wda(wda).await
}
