//! What hundreds of phones cost one server: all are listed, and one tree is read of each. Half of them are those of an adb
//! server, the others are reached at addresses of their own.

use mdm_virtual_device::{AdbServer, Phone, PhoneConfig};
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::Options;
use crate::client::Client;
use crate::server::Server;

/// Trees that are read at the same time.
const AT_ONCE: usize = 8;

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize)]
struct OfDevice<'a> {
    device_id: &'a str,
}

/// Prints one `name value` a line, for the benchmark.
pub fn run(options: &Options, count: usize) -> Result<bool, String> {
    let phones = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let phones = phones.map_err(|error| error.to_string())?;
    let (port, ids) = phones.block_on(serve(count))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(measure(options, ids, port))
}

fn serial(number: usize) -> String {
    format!("VIRTUAL{number:04}")
}

/// The port of the adb server, and the ids of all phones.
async fn serve(count: usize) -> Result<(u16, Vec<String>), String> {
    let (server, mut ids) = (AdbServer::new(), Vec::new());
    for number in 1..=count {
        let phone = Phone::new(PhoneConfig { seed: number as u64, ..PhoneConfig::default() });
        if number % 2 == 0 {
            server.add(&serial(number), "device", phone);
            ids.push(serial(number));
        } else {
            let listener = listen().await?;
            ids.push(listener.local_addr().map_err(|error| error.to_string())?.to_string());
            tokio::spawn(async move { drop(phone.serve(listener).await) });
        }
    }
    let listener = listen().await?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    tokio::spawn(async move { drop(server.serve(listener).await) });
    Ok((port, ids))
}

async fn listen() -> Result<TcpListener, String> {
    TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| error.to_string())
}

async fn measure(options: &Options, ids: Vec<String>, port: u16) -> Result<bool, String> {
    let count = ids.len();
    let lost = |lost: crate::client::Lost| lost.to_string();
    let server = Server::start_on_adb_server(&options.server, port, &ids).await?;
    let mut client = Client::start(server.address, "many").await.map_err(lost)?;
    let memory = |server: &Server| server.memory_kb().unwrap_or(0) as f64 / 1024.0;
    let before_mb = memory(&server);
    let start = Instant::now();
    let list = client.call("list_devices", Nothing {}).await.map_err(lost)?;
    let list_ms = start.elapsed().as_secs_f64() * 1000.0;
    let listed = list.text.matches(r#""state":"device""#).count();
    let listed_mb = memory(&server);
    let start = Instant::now();
    let mut readers = tokio::task::JoinSet::new();
    for part in 0..AT_ONCE {
        let mut reader = Client::start(server.address, &format!("reader{part}")).await.map_err(lost)?;
        let own: Vec<String> = ids.iter().skip(part).step_by(AT_ONCE).cloned().collect();
        readers.spawn(async move {
            let mut read = 0;
            for id in own {
                let answer = reader.call("get_ui_tree", OfDevice { device_id: &id }).await?;
                let is_its = answer.facts.device.as_deref() == Some(id.as_str());
                read += usize::from(!answer.is_error && is_its && answer.text.lines().count() > 1);
            }
            Ok::<usize, crate::client::Lost>(read)
        });
    }
    let mut read = 0;
    while let Some(done) = readers.join_next().await {
        read += done.map_err(|error| error.to_string())?.map_err(lost)?;
    }
    let read_ms = start.elapsed().as_secs_f64() * 1000.0;
    println!("phones {count}\nserver_listed {listed}\nserver_list_ms {list_ms:.1}");
    println!("server_read {read}\nserver_read_ms {read_ms:.1}");
    println!(
        "server_start_mb {before_mb:.1}\nserver_listed_mb {listed_mb:.1}\nserver_read_mb {:.1}",
        memory(&server)
    );
    println!("server_rss_mb {:.1}", server.resident_kb().unwrap_or(0) as f64 / 1024.0);
    let complaints = server.end().await?;
    complaints.iter().for_each(|line| println!("the server said: {line}"));
    Ok(listed == count && read == count && complaints.is_empty())
}
