//! Recorded forms of what build tools print. Each file says where its form is documented, then the output, then the
//! errors that have to be found.

use mdm_build::diagnose::{self, DIAGNOSTICS_MAX};

fn check(name: &str, text: &str) {
    let body = text.lines().skip_while(|line| line.starts_with("# ")).collect::<Vec<_>>();
    let at =
        body.iter().position(|line| *line == "--- errors").unwrap_or_else(|| panic!("{name} has no errors"));
    let (output, expected) = (&body[..at], &body[at + 1..]);
    let found: Vec<String> =
        diagnose::read(output.iter().copied()).iter().map(diagnose::Diagnostic::shown).collect();
    assert_eq!(found, expected, "{name}");
}

#[test]
fn errors_of_every_tool_have_their_file_and_line() {
    // MG-01
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/build/outputs");
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    assert!(names.len() >= 10, "{}", names.len());
    for path in names {
        check(&path.file_name().unwrap().to_string_lossy(), &std::fs::read_to_string(&path).unwrap());
    }
}

#[test]
fn hostile_output_is_bounded() {
    let many: Vec<String> = (0..5000).map(|n| format!("A.java:{n}: error: {}", "x".repeat(3000))).collect();
    let found = diagnose::read(many.iter().map(String::as_str));
    assert_eq!(found.len(), DIAGNOSTICS_MAX);
    assert!(found.iter().all(|one| one.message.chars().count() <= 401));
    for odd in [
        ":1: error: ",
        "e: ",
        "e: .kt:",
        ": (,): ",
        "a: (1: error: ",
        "* What went wrong:",
        "Build file '",
        "e: x: (9",
        "é:1:2-3: error: é",
        ": error: ",
    ] {
        diagnose::read([odd].into_iter());
    }
}

#[test]
fn steps_are_what_gradle_and_others_announce() {
    for (line, step) in [
        ("> Task :app:compileDebugKotlin", Some(":app:compileDebugKotlin")),
        ("> Task :app:preBuild UP-TO-DATE", None),
        ("> Task :app:compileDebugKotlin FAILED", Some(":app:compileDebugKotlin FAILED")),
        ("Running Gradle task 'assembleDebug'...   ", Some("Running Gradle task 'assembleDebug'...")),
        ("warning: unused variable", None),
    ] {
        assert_eq!(diagnose::step(line), step, "{line}");
    }
}
