//! How soon the server answers a ping while slow calls are in flight. On a thread of its own, so that it measures the
//! server and not the other clients.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use crate::client::{Client, Lost};
use crate::figures::Spread;
use crate::run::Shared;

/// Between two windows in which nobody acts and only the slow calls are in flight.
const BUSY: Duration = Duration::from_secs(8);
/// The length of a window.
const WINDOW: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);
const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// In milliseconds.
#[derive(Debug, Clone)]
pub struct Pings {
    /// With nothing but the slow calls in flight.
    pub waiting: Spread,
    /// With everything else going on as well.
    pub busy: Spread,
    /// A byte to a thread of ours and back, at the same times as `waiting`: what the machine itself takes.
    pub echo: Spread,
}

pub struct Pinger(JoinHandle<Result<Pings, String>>);

impl Pinger {
    pub fn start(address: SocketAddr, shared: Arc<Shared>, waits: u64) -> Pinger {
        Pinger(std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| error.to_string())?;
            runtime.block_on(measure(address, &shared, waits)).map_err(|lost| lost.to_string())
        }))
    }

    pub fn join(self) -> Result<Pings, String> {
        self.0.join().map_err(|_| "the pinger broke".to_owned())?
    }
}

async fn measure(address: SocketAddr, shared: &Shared, waits: u64) -> Result<Pings, Lost> {
    let mut client = Client::start(address, "pinger").await?;
    let mut echo = Echo::start().await.map_err(|error| Lost(error.to_string()))?;
    let (mut waiting, mut busy, mut echoes) = (Vec::new(), Vec::new(), Vec::new());
    while !shared.is_over() {
        let until = Instant::now() + BUSY;
        while Instant::now() < until && !shared.is_over() {
            busy.push(ping(&mut client).await?);
            sleep(BUSY_PAUSE).await;
        }
        let _alone = shared.acting.write().await;
        let until = Instant::now() + WINDOW;
        while Instant::now() < until && !shared.is_over() {
            let in_flight = || shared.waiting.load(Ordering::SeqCst);
            let before = in_flight();
            let ms = ping(&mut client).await?;
            if before >= waits && in_flight() >= waits {
                waiting.push(ms);
                echoes.push(echo.ask().await.map_err(|error| Lost(error.to_string()))?);
            }
            sleep(PAUSE).await;
        }
    }
    Ok(Pings { waiting: Spread::of(waiting), busy: Spread::of(busy), echo: Spread::of(echoes) })
}

/// A peer that does nothing but answer, on a thread of its own.
struct Echo(TcpStream);

impl Echo {
    async fn start() -> std::io::Result<Echo> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        std::thread::spawn(move || -> std::io::Result<()> {
            let (mut stream, _) = listener.accept()?;
            stream.set_nodelay(true)?;
            let mut byte = [0];
            while stream.read(&mut byte)? > 0 {
                stream.write_all(&byte)?;
            }
            Ok(())
        });
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Echo(stream))
    }

    async fn ask(&mut self) -> std::io::Result<f64> {
        let start = Instant::now();
        self.0.write_all(&[1]).await?;
        self.0.read_exact(&mut [0]).await?;
        Ok(start.elapsed().as_secs_f64() * 1000.0)
    }
}

async fn ping(client: &mut Client) -> Result<f64, Lost> {
    let start = Instant::now();
    client.ping().await?;
    Ok(start.elapsed().as_secs_f64() * 1000.0)
}
