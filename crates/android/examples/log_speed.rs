//! The speed of the log reader on 100 MB, beside the time that finding the lines alone takes. Prints `name value` pairs
//! for `cargo xtask bench`.
#![allow(clippy::print_stdout, reason = "it is run for what it prints")]
#![allow(clippy::disallowed_methods, reason = "it measures time")]

use std::hint::black_box;
use std::time::Instant;

use mdm_android::log::clock::Clock;
use mdm_android::log::text::Entries;

const BLOCK_LINES: usize = 8000;
const BYTES: usize = 100 * 1024 * 1024;

/// A block of lines as phones write them: short and long ones, a stack trace now and then.
fn block() -> String {
    let mut text = String::new();
    for number in 0..BLOCK_LINES {
        let head = format!("05-29 21:{:02}:{:02}.{:03}", number / 600 % 60, number / 10 % 60, number % 1000);
        let (pid, tid) = (1000 + number % 40, 1000 + number % 900);
        let line = match number % 10 {
            0 => format!(
                "{head} {pid:>5} {tid:>5} E AndroidRuntime: \tat com.example.Main.run(Main.kt:{number})\n"
            ),
            1..=3 => format!("{head} {pid:>5} {tid:>5} D Wifi    : scan {number} done\n"),
            4 => format!(
                "{head} {pid:>5} {tid:>5} V Avrcp_ext: updatePlaybackState, state: PlaybackState {{state=PLAYING(3), \
                 position={number}, buffered position=0, speed=1.0, updated=198641689, actions=7339703, custom actions=[], \
                 active item id=-1, error=null}}\n"
            ),
            _ => format!(
                "{head} {pid:>5} {tid:>5} W BufferQueueProducer: [ImageReader-{number}] slot 31 is not owned\n"
            ),
        };
        text.push_str(&line);
    }
    text
}

/// The resident memory of this process, in kilobytes.
fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or_default()
}

fn megabytes_a_second(bytes: usize, start: Instant) -> f64 {
    bytes as f64 / (1024.0 * 1024.0) / start.elapsed().as_secs_f64()
}

fn main() {
    let block = block();
    let rounds = BYTES / block.len() + 1;
    let mut entries = Entries::new(Clock::parse("1780000000 +0000"));
    let before_kb = resident_kb();
    let start = Instant::now();
    for _ in 0..rounds {
        for line in block.lines() {
            black_box(entries.push(line));
        }
    }
    println!("read_mb_s {:.1}", megabytes_a_second(rounds * block.len(), start));
    println!("defects {}", entries.counts.defects);
    println!("grown_kb {}", resident_kb() - before_kb);
    let start = Instant::now();
    for _ in 0..rounds {
        for line in block.lines() {
            black_box(line.to_owned());
        }
    }
    println!("floor_mb_s {:.1}", megabytes_a_second(rounds * block.len(), start));
}
