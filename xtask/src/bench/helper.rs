//! What a picture costs beyond the helper on the device that makes it. An example of the server measures both, in turns.

use std::path::Path;

use super::pipeline::run_example;
use super::table::Line;

const GOAL_MS: f64 = 15.0;

pub fn lines(root: &Path) -> Result<Vec<Line>, String> {
    let found = run_example(root, "mobile-debug-mcp", "helper_picture", &[])?;
    let (alone, product) = (found.value("picture_alone_p50_ms")?, found.value("picture_product_p50_ms")?);
    let bytes = found.value("picture_bytes")?;
    let note = format!("{product:.2} ms, {alone:.2} of them the phone's; {bytes:.0} bytes");
    let label = "capture_screenshot with the helper, beyond the device";
    Ok(vec![Line::single(label, product - alone, GOAL_MS, "ms").noted(note)])
}
