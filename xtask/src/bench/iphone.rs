//! What a tree of an iPhone costs beyond the program that tells it. An example of the server measures both, in turns.

use std::path::Path;

use super::pipeline::run_example;
use super::table::Line;

/// Milliseconds beyond idb's companion and beyond WebDriverAgent, for a screen of about 300 elements.
const GOALS: [(&str, &str, f64); 2] = [("idb", "idb", 2.0), ("wda", "WebDriverAgent", 3.0)];

pub fn lines(root: &Path) -> Result<Vec<Line>, String> {
    let found = run_example(root, "mobile-debug-mcp", "ios_trees", &[])?;
    let mut lines = Vec::new();
    for (short, name, goal_ms) in GOALS {
        let value = |what: &str| found.value(&format!("{short}_{what}"));
        let elements = value("elements")?;
        for (screen, words) in [("changed", "a screen that changes"), ("same", "a screen that stays")] {
            let (alone, product) =
                (value(&format!("{screen}_alone_p50_ms"))?, value(&format!("{screen}_product_p50_ms"))?);
            let label = format!("iPhone: get_ui_tree beyond {name}, {words}");
            let note = format!("{product:.2} ms, {alone:.2} of them {name}'s; {elements:.0} elements");
            lines.push(Line::single(&label, product - alone, goal_ms, "ms").noted(note));
        }
    }
    Ok(lines)
}
