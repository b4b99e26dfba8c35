//! `cargo xtask judge`: all of ApiDemos on the framework phone, read and used by the product.

use std::path::Path;

use crate::command::{cargo, run};
use crate::framework;

/// Makes the test take every activity and write a page of docs/figures.
const WHOLE: &str = "MDM_JUDGE_WHOLE";

const API: &str = "MDM_JUDGE_API";

pub fn judge(root: &Path, options: &[&str]) -> Result<(), String> {
    let api = match options {
        [] => "34",
        ["--api", level] => level,
        _ => return Err("usage: cargo xtask judge [--api LEVEL]".to_owned()),
    };
    let home = framework::install(root)?;
    let mut command = cargo(root);
    command.args(["test", "-p", "mobile-debug-mcp", "--test", "framework", "--", "--nocapture"]);
    run(command.arg("apidemos").env(framework::VARIABLE, home).env(WHOLE, "1").env(API, api))
}
