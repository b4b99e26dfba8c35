//! Calls per second over one pipe, and whether slow calls delay quick ones.

use std::path::Path;
use std::time::{Duration, Instant};

use super::process::{Phone, Server, check, tool_call};
use super::table::{Line, Spread};
use super::{TAP, TREE};

const CALLS: u32 = 2000;
const WARM_UP_CALLS: u32 = 100;
const IN_FLIGHT: u32 = 8;
const PINGS: usize = 500;
const PING: &str = r#""method":"ping""#;
/// Reads the screen repeatedly until the time is up.
const SLOW: (&str, &str) =
    ("wait_for_ui", r#"{"platform":"android","timeout_ms":3000,"selector":{"text":"No Such"}}"#);
const DEVICES: (&str, &str) = ("list_devices", "{}");

pub fn lines(binary: &Path, data: &Path) -> Result<Vec<Line>, String> {
    let phone = Phone::start(binary, &data.join("medium.xml"), false)?;
    let (mut server, _) = Server::start(binary, &phone)?;
    let mut lines = Vec::new();
    for (call, goal) in [(DEVICES, 2000.0), (TAP, 3000.0), (TREE, 1000.0)] {
        rate(&mut server, call, WARM_UP_CALLS, 1)?;
        let alone = rate(&mut server, call, CALLS, 1)?;
        let together = rate(&mut server, call, CALLS, IN_FLIGHT)?;
        let what = format!("{} x{IN_FLIGHT} in flight", call.0);
        lines.push(Line::rate(&what, together, goal).noted(format!("one at a time: {alone:.0}")));
    }
    lines.push(pings(&mut server)?);
    Ok(lines)
}

fn rate(server: &mut Server, call: (&str, &str), count: u32, in_flight: u32) -> Result<f64, String> {
    let request = tool_call(call.0, call.1);
    let start = Instant::now();
    for _ in 0..in_flight.min(count) {
        server.send(&request)?;
    }
    for answered in 0..count {
        let (_, answer, _) = server.next()?;
        check(&answer)?;
        if answered + in_flight < count {
            server.send(&request)?;
        }
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

fn pings(server: &mut Server) -> Result<Line, String> {
    let slow: Result<Vec<u64>, String> =
        (0..IN_FLIGHT).map(|_| server.send(&tool_call(SLOW.0, SLOW.1))).collect();
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..PINGS {
        times.push(server.request(PING)?.took);
    }
    for _ in slow? {
        let (_, answer, _) = server.next()?;
        check(&answer)?;
    }
    Ok(Line::slow(&format!("ping beside {IN_FLIGHT} waits"), Spread::of(&times), 2.0))
}
