//! Microseconds for each step from bytes to what changed, on FILE.xml and FILE_flip.xml: `cargo run --release -p mdm-android --example parse_bench -- FILE …`
#![expect(clippy::print_stdout, reason = "a program for the terminal")]
#![expect(clippy::disallowed_methods, reason = "measures real time")]

use std::hint::black_box;
use std::time::Instant;

use mdm_android::hierarchy::{Limits, parse};
use mdm_core::change::diff;
use mdm_core::fingerprint;
use mdm_core::identity::pair;
use mdm_core::outline::{OutlineOptions, text};
use mdm_core::reading::Reading;
use mdm_core::tracker::Tracker;

const WARM_UP_ROUNDS: usize = 50;
const ROUNDS: usize = 300;

fn main() -> std::io::Result<()> {
    println!("   parse    enrich      pair      diff   fprint     whole   outline  elements");
    for path in std::env::args().skip(1) {
        let xml = std::fs::read(&path)?;
        let flip = std::fs::read(path.replace(".xml", "_flip.xml"))?;
        let read = |xml: &[u8]| parse(xml, &Limits::default());
        let (before, after) = (Reading::new(read(&xml)), Reading::new(read(&flip)));
        let pairing = pair(&before, &after);
        let snapshot = read(&flip);
        let clone_us = median_us(|| black_box(&snapshot).clone());
        let mut trackers = (Tracker::default(), false);
        let columns = [
            median_us(|| read(black_box(&xml))),
            median_us(|| Reading::new(black_box(&snapshot).clone())) - clone_us,
            median_us(|| pair(black_box(&before), black_box(&after))),
            median_us(|| diff(black_box(&before), &after, &pairing, |_, _| false)),
            median_us(|| fingerprint::of(black_box(&after), |_| false)),
            median_us(|| {
                trackers.1 = !trackers.1;
                trackers.0.observe(read(if trackers.1 { &xml } else { &flip }), 0)
            }),
            median_us(|| text(black_box(&after), &OutlineOptions::default())),
        ];
        for us in columns {
            print!("{us:8.1}  ");
        }
        println!("{:8}  {path}", snapshot.elements.len());
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
