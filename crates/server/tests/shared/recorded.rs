//! Data that was recorded from apps of others. It is kept outside of the repository, so not every checkout can have it.

use std::io::Write as _;

/// Reports that a test has nothing to read. With CI=true that is a failure, unless MDM_TEST_DATA=absent says that this
/// checkout never has such data: `cargo xtask test` knows that message and allows it.
pub fn report_missing(what: &str) {
    let is = |name: &str, wanted: &str| std::env::var(name).is_ok_and(|value| value == wanted);
    let message = if is("MDM_TEST_DATA", "absent") {
        format!("skipped: recorded data is not in this checkout: {what}")
    } else {
        format!("skipped: no {what}; MDM_TEST_DATA=absent says that this checkout has no recorded data")
    };
    assert!(is("MDM_TEST_DATA", "absent") || !is("CI", "true"), "{message}");
    // Printed to stderr directly, because the harness hides the output of a passing test.
    std::io::stderr().write_all(format!("{message}\n").as_bytes()).unwrap();
}
