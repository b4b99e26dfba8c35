//! The commands of builds.

use std::ffi::OsStr;

use mdm_build::Environment;
use mdm_build::plan::{Plan, PlanError, plan};
use mdm_build::project::{Platform, Project, detect};

use crate::folder::Folder;

/// A machine with one JDK, flutter and xcodebuild.
fn machine() -> Folder {
    let machine = Folder::with(&[("usr/lib/jvm/java-17/release", "JAVA_VERSION=\"17.0.9\"\n")]);
    machine.program("usr/lib/jvm/java-17/bin/java", "");
    machine.program("bin/flutter", "");
    machine.program("bin/xcodebuild", "");
    machine
}

fn environment(machine: &Folder, more: &[(&str, &str)]) -> Environment {
    let path = machine.path().join("bin");
    let mut all = vec![("PATH", path.as_os_str())];
    all.extend(more.iter().map(|(name, value)| (*name, OsStr::new(*value))));
    Environment::new(all, machine.path())
}

fn words(plan: &Plan) -> Vec<String> {
    plan.command.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

#[test]
fn gradle_runs_the_wrapper_with_the_jdk_that_was_found() {
    let (machine, project) = (
        machine(),
        Folder::with(&[("settings.gradle", ""), ("build.gradle", "apply plugin: 'com.android.application'")]),
    );
    let wrapper = project.program("gradlew", "#!/bin/sh\n");
    let gradle = detect(project.path(), None).unwrap();
    let more = [("MCP_GRADLE_WORKERS", "2"), ("MCP_GRADLE_CACHE", "0")];
    let made = plan(&gradle, Some("Debug"), &environment(&machine, &more)).unwrap();
    let jdk = machine.path().join("usr/lib/jvm/java-17");
    let home = format!("-Dorg.gradle.java.home={}", jdk.display());
    assert_eq!(
        words(&made),
        [
            ":assembleDebug",
            "--console=plain",
            "--no-daemon",
            "--max-workers=2",
            "-Dorg.gradle.caching=false",
            &home
        ]
    );
    assert_eq!((&made.command.program, made.task.as_str()), (&wrapper, ":assembleDebug"));
    assert_eq!(made.command.variables.get(OsStr::new("JAVA_HOME")), Some(&jdk.into_os_string()));
    // A wrapper that came without its executable bit still works, and stays as it is.
    std::fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let made = plan(&gradle, None, &environment(&machine, &[])).unwrap();
    assert_eq!(
        (made.command.program.to_str(), words(&made)[0].as_str()),
        (Some("/bin/sh"), wrapper.to_str().unwrap())
    );
}

#[test]
fn what_is_missing_is_named_with_what_mends_it() {
    // EN-01
    let project =
        Folder::with(&[("settings.gradle", ""), ("build.gradle", "apply plugin: 'com.android.application'")]);
    let gradle = detect(project.path(), None).unwrap();
    let empty = Folder::new();
    let without = |what: Result<Plan, PlanError>| match what {
        Err(PlanError::Missing(missing)) => missing.what,
        other => panic!("{other:?}"),
    };
    assert_eq!(without(plan(&gradle, None, &environment(&empty, &[]))), "no Java was found");
    let no_gradle = without(plan(&gradle, None, &environment(&machine(), &[])));
    assert!(no_gradle.ends_with("has no gradlew, and no gradle is on PATH"), "{no_gradle}");
    let flutter = Project::Flutter { root: project.path().to_owned(), platform: Platform::Android };
    assert_eq!(without(plan(&flutter, None, &environment(&empty, &[]))), "no flutter was found");
}

#[test]
fn flutter_and_xcode_get_their_words() {
    // Recorded forms only: neither tool runs here.
    let (machine, root) = (machine(), Folder::new());
    let flutter = Project::Flutter { root: root.path().to_owned(), platform: Platform::Android };
    let made = plan(&flutter, Some("freeRelease"), &environment(&machine, &[])).unwrap();
    assert_eq!(words(&made), ["build", "apk", "--release", "--flavor=free"]);
    assert_eq!(made.target.variant.as_deref(), Some("freeRelease"));
    root.put("Shop.xcodeproj/", "");
    let xcode = detect(root.path(), None).unwrap();
    let made = plan(&xcode, Some("release"), &environment(&machine, &[("MCP_XCODE_JOBS", "3")])).unwrap();
    let project = root.path().join("Shop.xcodeproj").display().to_string();
    let derived = root.path().join("build/DerivedData").display().to_string();
    assert_eq!(
        words(&made),
        [
            "-project",
            &project,
            "-scheme",
            "Shop",
            "-configuration",
            "Release",
            "-sdk",
            "iphonesimulator",
            "-destination",
            "generic/platform=iOS Simulator",
            "-derivedDataPath",
            &derived,
            "-jobs",
            "3",
            "build",
        ]
    );
}
