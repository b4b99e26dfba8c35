//! Prints what an agent would read of page sources: `cargo run -p mdm-ios --example outline -- FILE …`
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use mdm_core::outline::{OutlineOptions, outline};
use mdm_core::relevance::relevant_hash;
use mdm_ios::tree::{Limits, parse};

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        let snapshot = parse(&std::fs::read(&path)?, &Limits::default());
        let outline = outline(&snapshot, &OutlineOptions::default());
        println!("== {path} {:016x}", relevant_hash(&snapshot));
        print!("{}", outline.text);
        println!("-- shown {} of {}, off screen {}", outline.shown, outline.total, outline.off_screen);
        for defect in &snapshot.defects {
            println!("! {:?} at {}: {}", defect.kind, defect.offset, defect.detail);
        }
    }
    Ok(())
}
