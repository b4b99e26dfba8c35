//! Whether others slow the calls on a healthy device: three endpoints that misbehave while calls on them are under way,
//! and sixteen subscriptions on the device itself.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use super::process::{Phone, Server, check, tool_call};
use super::table::{Line, Spread};

const WARM_UP_CALLS: usize = 50;
const CALLS: usize = 400;
/// The two servers are measured in turns of so many calls, so that a busy machine slows both.
const TURN_CALLS: usize = 50;
/// Between two calls on one sick device; far less than a model needs for a thought.
const THINKING: Duration = Duration::from_millis(50);
/// How much slower the healthy phone may be.
const GOAL_PERCENT: f64 = 20.0;
/// Subscriptions on one phone, and how much slower they may make it (F69).
const SUBSCRIPTIONS: usize = 16;
const SUBSCRIBED_GOAL_PERCENT: f64 = 10.0;

/// How an endpoint is sick.
#[derive(Clone, Copy)]
enum Sick {
    /// Takes the connection and says nothing.
    Silent,
    /// Asks for a key for ever.
    EndlessAuth,
    /// Connects, then floods the client with frames for streams that nobody opened.
    Floods,
}

pub fn lines(binary: &Path, data: &Path) -> Result<Vec<Line>, String> {
    let phone = Phone::start(binary, &data.join("medium.xml"), false)?;
    let sick = [Sick::Silent, Sick::EndlessAuth, Sick::Floods].map(endpoint);
    let sick = sick.into_iter().collect::<Result<Vec<String>, String>>()?;
    let mut alone = Server::start(binary, &phone)?.0;
    let mut beside = Server::start_beside(binary, &phone, &sick)?.0;
    let mut lines = Vec::new();
    for tool in ["get_current_screen", "get_ui_tree", "tap"] {
        let point = if tool == "tap" { r#","x":5,"y":5"# } else { "" };
        let healthy = tool_call(tool, &format!(r#"{{"device_id":"{}"{point}}}"#, phone.address));
        let mut load = SickCalls { sick: &sick, open: BTreeMap::new(), asked: BTreeMap::new() };
        times(&mut alone, &healthy, WARM_UP_CALLS, None)?;
        times(&mut beside, &healthy, WARM_UP_CALLS, Some(&mut load))?;
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..CALLS / TURN_CALLS {
            without.extend(times(&mut alone, &healthy, TURN_CALLS, None)?);
            with.extend(times(&mut beside, &healthy, TURN_CALLS, Some(&mut load))?);
        }
        load.drain(&mut beside)?;
        let (without, with) = (Spread::of(&without), Spread::of(&with));
        let slower = (with.p95_ms / without.p95_ms - 1.0) * 100.0;
        let note = format!("p95 {:.2} ms, alone {:.2} ms", with.p95_ms, without.p95_ms);
        let what = format!("{tool} beside 3 sick devices");
        lines.push(Line::single(&what, slower, GOAL_PERCENT, "% slower at p95").noted(note));
    }
    lines.extend(beside_subscriptions(binary, &phone, &mut alone)?);
    Ok(lines)
}

/// Taps with and without subscriptions to the screen and to elements of it.
fn beside_subscriptions(binary: &Path, phone: &Phone, alone: &mut Server) -> Result<Vec<Line>, String> {
    let mut subscribed = Server::start(binary, phone)?.0;
    let device = phone.address.replace(':', "%3A");
    for number in 0..SUBSCRIPTIONS {
        let what = if number == 0 { "screen".to_owned() } else { format!("element?text=Row%20{number}") };
        let uri = format!("screen://{device}/{what}");
        let id = subscribed.send(&format!(r#""method":"resources/subscribe","params":{{"uri":"{uri}"}}"#))?;
        check(&subscribed.answer(id)?.0)?;
    }
    let mut lines = Vec::new();
    for (tool, arguments) in [("tap", r#""x":5,"y":5"#), ("tap", r#""x":5,"y":5,"settle":true"#)] {
        let request = tool_call(tool, &format!(r#"{{"device_id":"{}",{arguments}}}"#, phone.address));
        times(&mut subscribed, &request, WARM_UP_CALLS, None)?;
        let (mut without, mut with) = (Vec::new(), Vec::new());
        let calls = if arguments.contains("settle") { CALLS / 4 } else { CALLS };
        for _ in 0..calls / TURN_CALLS {
            without.extend(times(alone, &request, TURN_CALLS, None)?);
            with.extend(times(&mut subscribed, &request, TURN_CALLS, None)?);
        }
        let (without, with) = (Spread::of(&without), Spread::of(&with));
        let slower = (with.p50_ms / without.p50_ms - 1.0) * 100.0;
        let note = format!(
            "median {:.2} ms, alone {:.2} ms; p95 {:.2}, alone {:.2}",
            with.p50_ms, without.p50_ms, with.p95_ms, without.p95_ms
        );
        let settled = if arguments.contains("settle") { " that settles" } else { "" };
        let what = format!("{tool}{settled} beside {SUBSCRIPTIONS} subscriptions");
        lines
            .push(Line::single(&what, slower, SUBSCRIBED_GOAL_PERCENT, "% slower at the median").noted(note));
    }
    Ok(lines)
}

/// Calls on sick devices, one a device at any time. Their agent thinks a moment before it asks again.
struct SickCalls<'a> {
    sick: &'a [String],
    /// By the number of the device.
    open: BTreeMap<usize, u64>,
    asked: BTreeMap<usize, Instant>,
}

impl SickCalls<'_> {
    fn keep_going(&mut self, server: &mut Server) -> Result<(), String> {
        for (number, device) in self.sick.iter().enumerate() {
            let thinks = self.asked.get(&number).is_some_and(|asked| asked.elapsed() < THINKING);
            if !thinks && !self.open.contains_key(&number) {
                self.asked.insert(number, Instant::now());
                let arguments = format!(r#"{{"device_id":"{device}"}}"#);
                self.open.insert(number, server.send(&tool_call("get_current_screen", &arguments))?);
            }
        }
        Ok(())
    }

    fn drain(&mut self, server: &mut Server) -> Result<(), String> {
        while !self.open.is_empty() {
            let (id, _, _) = server.next()?;
            self.open.retain(|_, open| Some(*open) != id);
        }
        Ok(())
    }
}

fn times(
    server: &mut Server,
    request: &str,
    count: usize,
    mut load: Option<&mut SickCalls<'_>>,
) -> Result<Vec<Duration>, String> {
    let mut times = Vec::new();
    for _ in 0..count {
        if let Some(load) = &mut load {
            load.keep_going(server)?;
        }
        let start = Instant::now();
        let wanted = server.send(request)?;
        loop {
            let (id, answer, end) = server.next()?;
            if id == Some(wanted) {
                check(&answer)?;
                times.push(end - start);
                break;
            }
            if let Some(load) = &mut load {
                load.open.retain(|_, open| Some(*open) != id);
            }
        }
    }
    Ok(times)
}

/// Starts a sick endpoint and returns its address. It lives as long as the benchmark.
fn endpoint(sick: Sick) -> Result<String, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let address = listener.local_addr().map_err(|e| e.to_string())?.to_string();
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            // Ends with the connection.
            std::thread::spawn(move || drop(misbehave(socket, sick)));
        }
    });
    Ok(address)
}

fn misbehave(mut socket: TcpStream, sick: Sick) -> std::io::Result<()> {
    match sick {
        Sick::Silent => {
            let mut rest = Vec::new();
            socket.read_to_end(&mut rest).map(drop)
        }
        Sick::EndlessAuth => loop {
            socket.write_all(&frame(b"AUTH", 1, 0, &[7; 20]))?;
        },
        Sick::Floods => {
            socket.write_all(&frame(b"CNXN", 0x0100_0001, 1 << 20, b"device::features=shell_v2,cmd\0"))?;
            let flood = frame(b"WRTE", 9, 4_000_000, &[b'x'; 1000]).repeat(60);
            loop {
                socket.write_all(&flood)?;
            }
        }
    }
}

fn frame(command: &[u8; 4], arg0: u32, arg1: u32, payload: &[u8]) -> Vec<u8> {
    let word = u32::from_le_bytes(*command);
    // A checksum of zero is not checked.
    let header = [word, arg0, arg1, payload.len() as u32, 0, !word];
    let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend_from_slice(payload);
    bytes
}
