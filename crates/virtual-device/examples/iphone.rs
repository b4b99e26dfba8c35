//! Runs a virtual iPhone and prints where its faces listen: `iphone [WDA port] [companion port]`.
#![expect(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use mdm_virtual_device::{IPhone, IPhoneConfig};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let phone = IPhone::new(IPhoneConfig::default());
    let port = |nth| std::env::args().nth(nth).unwrap_or_else(|| "0".to_owned());
    let wda = TcpListener::bind(format!("127.0.0.1:{}", port(1))).await?;
    println!("wda: {}", wda.local_addr()?);
    let companion = TcpListener::bind(format!("127.0.0.1:{}", port(2))).await?;
    println!("companion: {}", companion.local_addr()?);
    tokio::try_join!(phone.serve_wda(wda), phone.serve_companion(companion)).map(|_| ())
}
