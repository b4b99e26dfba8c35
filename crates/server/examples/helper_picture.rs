//! Measures what capture_screenshot adds to the time in which the helper on the device makes a small picture.
//! Run `cargo run --release -p mobile-debug-mcp --example helper_picture`. Each round makes the picture on the phone alone and
//! asks the product, one after the other.
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use mdm_android::HelperMode;
use mdm_virtual_device::{Phone, PhoneConfig, Timing};
use mobile_debug_mcp::app::{App, Devices};
use mobile_debug_mcp::tools;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const WARM_UP: usize = 10;
const ROUNDS: usize = 100;
/// What capture_screenshot asks for by itself.
const SIDE_MAX: u16 = 1024;
const QUALITY: u8 = 75;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(measure())
}

async fn measure() -> Result<(), Failure> {
    let phone = Phone::new(PhoneConfig { timing: Timing::Instant, ..PhoneConfig::default() });
    let helped = Devices { phone: Some(phone.clone()), helper: HelperMode::Always, ..Devices::default() };
    let app = App::new(helped);
    call(&app, "start_app", r#"{"app_id":"com.workbench"}"#).await?;
    let (mut alone, mut product, mut bytes) = (Vec::new(), Vec::new(), 0);
    for round in 0..WARM_UP + ROUNDS {
        let began = Instant::now();
        bytes = phone.small_picture(SIDE_MAX, QUALITY).ok_or("no picture")?.len();
        let device = began.elapsed();
        let began = Instant::now();
        call(&app, "capture_screenshot", "{}").await?;
        if round >= WARM_UP {
            alone.push(device);
            product.push(began.elapsed());
        }
    }
    println!("picture_bytes {bytes}");
    for (who, mut all) in [("alone", alone), ("product", product)] {
        all.sort_unstable();
        let at = |part: usize| all.get(all.len() * part / 100).map_or(0.0, |t| t.as_secs_f64() * 1000.0);
        println!("picture_{who}_p50_ms {:.3}\npicture_{who}_p95_ms {:.3}", at(50), at(95));
    }
    Ok(())
}

async fn call(app: &App, tool: &str, json: &str) -> Result<String, Failure> {
    let entry = tools::find(tool).ok_or("no such tool")?;
    let answer = entry.call(app, serde_json::from_str(json)?, CancellationToken::new()).await;
    let served_by_shell = answer.text().contains("\"via\":\"shell\"");
    if answer.is_error || served_by_shell { Err(answer.text().into()) } else { Ok(answer.text()) }
}
