//! Measures time and memory of reading: `cargo run --release -p mdm-ios --example parse_bench -- FILE …`
#![expect(clippy::print_stdout, reason = "a program for the terminal")]
#![expect(clippy::disallowed_methods, reason = "measures real time")]

use std::hint::black_box;
use std::time::Instant;

use mdm_ios::tree::{Limits, detect, parse};

const WARM_UP_ROUNDS: usize = 50;
const ROUNDS: usize = 300;

fn main() -> std::io::Result<()> {
    println!("{:>9} {:>9} {:>8} {:>9} {:>9}  p50", "detect us", "parse us", "elements", "ns each", "bytes");
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        let before = peak_bytes();
        let elements = parse(&bytes, &Limits::default()).elements.len();
        let peak = peak_bytes().saturating_sub(before);
        let detect_us = median_us(|| detect(black_box(&bytes)));
        let parse_us = median_us(|| parse(black_box(&bytes), &Limits::default()));
        let each_ns = parse_us * 1000.0 / elements.max(1) as f64;
        let length = bytes.len();
        println!("{detect_us:9.1} {parse_us:9.1} {elements:8} {each_ns:9.0} {length:9}  {path}");
        // Memory is counted in pages, so the figure is useful for large files only.
        println!("  the process grew by {peak} bytes, {:.2} times the file", peak as f64 / length as f64);
    }
    Ok(())
}

/// Returns the peak memory of this process, or 0 if the system does not report it.
fn peak_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok()).unwrap_or(0) << 10
}

fn median_us<T>(mut work: impl FnMut() -> T) -> f64 {
    for _ in 0..WARM_UP_ROUNDS {
        black_box(work());
    }
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}
