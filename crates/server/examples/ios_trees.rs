//! Measures what get_ui_tree adds to the time of idb's companion and of WebDriverAgent, on a screen of 300 elements.
//! Run `cargo run --release -p mobile-debug-mcp --example ios_trees`. The virtual iPhone answers over TCP; each round
//! asks the program alone and the product, one after the other. Half of the rounds meet a screen that has changed.
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::fmt::Write as _;
use std::sync::Arc;

use mdm_ios::connect;
use mdm_ios::device::{Backends, TREE_KEYS};
use mdm_ios::idb::Idb;
use mdm_ios::source::{Attached, IosSource, SourceConfig};
use mdm_ios::wda::Wda;
use mdm_virtual_device::{AppFile, IPhone, IPhoneConfig};
use mobile_debug_mcp::app::App;
use mobile_debug_mcp::tools;
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const TEXTS: usize = 287;
const WARM_UP: usize = 30;
const ROUNDS: usize = 250;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(measure())
}

async fn measure() -> Result<(), Failure> {
    let phone = IPhone::new(IPhoneConfig { apps: vec![app()?], ..IPhoneConfig::default() });
    let (wda, companion) = (TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?);
    let addresses = [wda.local_addr()?.to_string(), companion.local_addr()?.to_string()];
    let serving = phone.clone();
    tokio::spawn(async move { serving.serve_wda(wda).await });
    let serving = phone.clone();
    tokio::spawn(async move { serving.serve_companion(companion).await });
    let [wda, companion] = &addresses;
    let agent = || Wda::new(connect::tcp(wda.clone()), wda.clone());
    let idb = || Idb::new(connect::tcp(companion.clone()));
    let alone = agent();
    let through = product(Backends { wda: Some(agent()), ..Backends::default() });
    start(&through).await?;
    run("wda", &through, async || alone.tree().await.map(|tree| tree.bytes.len())).await?;
    let alone = idb();
    let through = product(Backends { idb: Some(idb()), ..Backends::default() });
    run("idb", &through, async || alone.tree(&TREE_KEYS).await.map(|bytes| bytes.len())).await
}

/// An app with a page of texts, one of which counts how often the first button was tapped.
fn app() -> Result<Arc<AppFile>, Failure> {
    let mut content = String::from(
        r#"{"type": "button", "text": "More", "on_tap": [{"add": {"count": 1}}]}, {"type": "text", "text": "Count {count}"}"#,
    );
    for number in 0..TEXTS {
        write!(content, r#", {{"type": "text", "text": "Line {number}"}}"#)?;
    }
    let text = format!(
        r#"{{"package": "org.example.long", "label": "Long", "start": "Home", "values": {{"count": 0}},
            "screens": {{"Home": {{"title": "Long", "content": [{content}]}}}}}}"#
    );
    Ok(AppFile::parse(&text)?)
}

fn product(backends: Backends) -> App {
    let attached = vec![Attached { id: "phone".to_owned(), backends }];
    App::with_source(Arc::new(IosSource::new(SourceConfig { attached, ..SourceConfig::default() })))
}

async fn call(app: &App, tool: &str, arguments: serde_json::Value) -> Result<String, Failure> {
    let entry = tools::find(tool).ok_or("no such tool")?;
    let given = arguments.as_object().cloned().unwrap_or_default();
    let answer = entry.call(app, given, CancellationToken::new()).await;
    if answer.is_error { Err(answer.text().into()) } else { Ok(answer.text()) }
}

async fn start(app: &App) -> Result<(), Failure> {
    call(app, "start_app", serde_json::json!({"appId": "org.example.long"})).await.map(drop)
}

async fn run<F>(name: &str, app: &App, alone: F) -> Result<(), Failure>
where
    F: AsyncFn() -> Result<usize, mdm_core::port::DeviceError>,
{
    let mut times = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    let (mut bytes, mut text) = (0, String::new());
    for round in 0..WARM_UP + ROUNDS {
        let changed = round % 2;
        if changed == 1 {
            call(app, "tap_element", serde_json::json!({"selector": {"text": "More"}, "settle": false}))
                .await?;
        }
        let began = Instant::now();
        bytes = alone().await?;
        let program = began.elapsed();
        let began = Instant::now();
        text = call(app, "get_ui_tree", serde_json::json!({})).await?;
        let whole = began.elapsed();
        if round >= WARM_UP {
            times[changed * 2].push(program);
            times[changed * 2 + 1].push(whole);
        }
    }
    let elements = text.split("\"of\":").nth(1).and_then(|rest| rest.split([',', '}']).next()).unwrap_or("?");
    println!("{name}_elements {elements}\n{name}_bytes {bytes}");
    for (kind, pair) in ["same", "changed"].into_iter().zip(times.chunks_mut(2)) {
        for (who, all) in ["alone", "product"].into_iter().zip(pair) {
            all.sort_unstable();
            let at = |part: usize| all.get(all.len() * part / 100).map_or(0.0, |t| t.as_secs_f64() * 1000.0);
            println!("{name}_{kind}_{who}_p50_ms {:.3}\n{name}_{kind}_{who}_p95_ms {:.3}", at(50), at(95));
        }
    }
    Ok(())
}
