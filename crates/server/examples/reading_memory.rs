//! Measures the memory that reading a screen takes. Run
//! `cargo run --release -p mobile-debug-mcp --example reading_memory -- CASE`, where CASE is a file or one of the
//! hostile inputs below. Each input needs its own process, because freed memory is not returned to the system. Prints
//! the input's bytes, the elements and the largest increase of memory in bytes; `cargo xtask bench` makes a table.
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::fmt::Write as _;

use mobile_debug_mcp::tree::read;

/// More than the readers' limits allow.
const ELEMENTS: usize = 200_000;

fn main() -> std::io::Result<()> {
    let case = std::env::args().nth(1).unwrap_or_else(|| "xml-tiny".to_owned());
    let bytes = match hostile(&case) {
        Some(text) => text.into_bytes(),
        None => std::fs::read(&case)?,
    };
    // Resets the recorded peak, so that building the input does not count.
    std::fs::write("/proc/self/clear_refs", "5")?;
    let before = status_bytes("VmRSS:");
    let screen = read(&bytes);
    let added = status_bytes("VmHWM:").saturating_sub(before);
    let elements = screen.map_or(0, |(_, snapshot)| snapshot.elements.len());
    println!("bytes {}\nelements {elements}\nadded {added}", bytes.len());
    Ok(())
}

fn hostile(case: &str) -> Option<String> {
    let numbered = (0..ELEMENTS).fold(String::new(), |mut text, number| {
        let _ = write!(text, "<a{number}/>");
        text
    });
    Some(match case {
        "xml-tiny" => format!("<hierarchy>{}</hierarchy>", "<a/>".repeat(ELEMENTS)),
        "xml-names" => format!("<hierarchy>{numbered}</hierarchy>"),
        "xml-texts" => {
            let node = r#"<a text="b" hint="c" content-desc="d" resource-id="e"/>"#;
            format!("<hierarchy>{}</hierarchy>", node.repeat(ELEMENTS))
        }
        "ios-xml-tiny" => format!("<AppiumAUT>{}</AppiumAUT>", "<XCUIElementTypeA/>".repeat(ELEMENTS)),
        "idb-tiny" => format!("[{{\"AXLabel\":\"a\"}}{}]", ",{}".repeat(ELEMENTS)),
        "own-tiny" => {
            let all = vec![r#"{"bounds":[0,0,0,0],"depth":0}"#; ELEMENTS].join(",");
            let head = r#"{"platform":"android","resolution":{"width":1,"height":1},"elements":["#;
            format!("{head}{all}]}}")
        }
        _ => return None,
    })
}

fn status_bytes(key: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok()).unwrap_or(0) << 10
}
