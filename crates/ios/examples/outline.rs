//! Prints what an agent would read of page sources: `cargo run -p mdm-ios --example outline -- FILE …`
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use mdm_core::outline::{OutlineOptions, text};
use mdm_core::reading::Reading;
use mdm_ios::tree::{Limits, parse};

fn main() -> std::io::Result<()> {
    let points = std::env::args().any(|argument| argument == "--points");
    let options = OutlineOptions { points, stable_ids: points, ..OutlineOptions::default() };
    for path in std::env::args().skip(1).filter(|argument| argument != "--points") {
        let reading = Reading::new(parse(&std::fs::read(&path)?, &Limits::default()));
        println!("== {path} {:016x}", reading.relevant);
        print!("{}", text(&reading, &options));
        for defect in &reading.snapshot.defects {
            println!("! {:?} at {}: {}", defect.kind, defect.offset, defect.detail);
        }
    }
    Ok(())
}
