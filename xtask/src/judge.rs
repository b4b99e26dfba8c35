//! `cargo xtask judge`: all of ApiDemos on the framework phone, read and used by the product.

use std::path::Path;

use crate::command::{cargo, run};
use crate::framework;

/// Makes the test take every activity and write docs/figures/apidemos.md.
const WHOLE: &str = "MDM_JUDGE_WHOLE";

pub fn judge(root: &Path) -> Result<(), String> {
    let home = framework::install(root)?;
    let mut command = cargo(root);
    command.args(["test", "-p", "mobile-debug-mcp", "--test", "framework", "--", "--nocapture"]);
    run(command.env(framework::VARIABLE, home).env(WHOLE, "1"))
}
