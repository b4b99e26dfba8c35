//! Microseconds for reading, outlining and hashing: `cargo run --release -p mdm-android --example parse_bench -- FILE …`
#![expect(clippy::print_stdout, reason = "a program for the terminal")]
#![expect(clippy::disallowed_methods, reason = "measures real time")]

use std::hint::black_box;
use std::time::Instant;

use mdm_android::hierarchy::{Limits, parse};
use mdm_core::outline::{OutlineOptions, outline};
use mdm_core::relevance::relevant_hash;

const WARM_UP_ROUNDS: usize = 50;
const ROUNDS: usize = 300;

fn main() -> std::io::Result<()> {
    println!(
        "{:>8} {:>8} {:>8} {:>8} {:>9}  p50, microseconds",
        "parse", "outline", "hash", "elements", "bytes"
    );
    for path in std::env::args().skip(1) {
        let xml = std::fs::read(&path)?;
        let snapshot = parse(&xml, &Limits::default());
        let parse_us = median_us(|| parse(black_box(&xml), &Limits::default()));
        let outline_us = median_us(|| outline(black_box(&snapshot), &OutlineOptions::default()));
        let hash_us = median_us(|| relevant_hash(black_box(&snapshot)));
        let elements = snapshot.elements.len();
        println!("{parse_us:8.1} {outline_us:8.1} {hash_us:8.1} {elements:8} {:9}  {path}", xml.len());
    }
    Ok(())
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
