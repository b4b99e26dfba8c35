//! Where tools are found.

use std::ffi::OsStr;

use mdm_build::Environment;
use mdm_build::toolchain::{find_jdk, find_sdk, survey};

use crate::folder::Folder;

fn jdk(machine: &Folder, at: &str, version: &str) {
    machine.put(&format!("{at}/release"), &format!("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"{version}\"\n"));
    machine.program(&format!("{at}/bin/java"), "");
}

#[test]
fn a_jdk_is_searched_in_order_and_one_that_is_too_old_is_passed_over() {
    // EN-01, W33
    let machine = Folder::new();
    let set = |variables: &[(&str, &str)]| {
        let full: Vec<(String, std::path::PathBuf)> =
            variables.iter().map(|(name, at)| ((*name).to_owned(), machine.path().join(at))).collect();
        Environment::new(full.iter().map(|(name, value)| (name.as_str(), value.as_os_str())), machine.path())
    };
    let from = |environment: &Environment| {
        find_jdk(environment, None).map(|found| (found.from, found.version.unwrap()))
    };
    assert_eq!(find_jdk(&set(&[]), None).unwrap_err().what, "no Java was found");
    jdk(&machine, "usr/lib/jvm/java-11", "11.0.2");
    jdk(&machine, "old", "1.8.0_392");
    let old = find_jdk(&set(&[("JAVA_HOME", "old")]), None).unwrap_err().what;
    assert!(
        old.starts_with("no Java 17 or newer was found; ") && old.ends_with("(JAVA_HOME) is Java 8"),
        "{old}"
    );
    jdk(&machine, "usr/lib/jvm/java-21", "21");
    let usual = machine.path().join("usr/lib/jvm").display().to_string();
    assert_eq!(from(&set(&[("JAVA_HOME", "old")])), Ok((usual, "21".to_owned())));
    jdk(&machine, "studio", "17.0.1");
    assert_eq!(
        from(&set(&[("ANDROID_STUDIO_JBR", "studio")])),
        Ok(("ANDROID_STUDIO_JBR".to_owned(), "17.0.1".to_owned()))
    );
    jdk(&machine, "chosen", "17.0.2");
    let properties = machine.put(
        "project/gradle.properties",
        &format!("org.gradle.java.home={}\n", machine.path().join("chosen").display()),
    );
    let found = find_jdk(&set(&[("ANDROID_STUDIO_JBR", "studio")]), properties.parent()).unwrap();
    assert_eq!(found.from, properties.display().to_string());
    jdk(&machine, "gradle", "17.0.3");
    assert_eq!(
        find_jdk(&set(&[("GRADLE_JAVA_HOME", "gradle")]), properties.parent()).unwrap().from,
        "GRADLE_JAVA_HOME"
    );
}

#[test]
fn the_sdk_of_the_project_comes_first() {
    let machine = Folder::with(&[("a/", ""), ("b/", "")]);
    let (a, b) = (machine.path().join("a"), machine.path().join("b"));
    let local = machine.put("project/local.properties", &format!("# x\nsdk.dir={}\n", b.display()));
    let environment = Environment::new([("ANDROID_HOME", a.as_os_str())], machine.path());
    assert_eq!(find_sdk(&environment, None).unwrap().path, a);
    assert_eq!(find_sdk(&environment, local.parent()).unwrap().path, b);
    let nothing = Environment::new([("HOME", OsStr::new("/no"))], machine.path());
    assert_eq!(find_sdk(&nothing, None), None);
}

#[test]
fn the_survey_says_of_each_tool_where_it_is_or_what_mends_it() {
    let machine = Folder::new();
    let bin = machine.path().join("bin");
    machine.program("bin/node", "");
    let environment = Environment::new([("PATH", bin.as_os_str())], machine.path());
    let all = survey(&environment);
    let names: Vec<&str> = all.iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["JDK", "Android SDK", "gradle", "node", "flutter", "xcodebuild"]);
    for tool in &all {
        assert_eq!(tool.found.is_some(), tool.name == "node", "{tool:?}");
        assert_eq!(tool.problem.is_some(), tool.mend.is_some(), "{tool:?}");
        assert_eq!(tool.found.is_none(), tool.problem.is_some(), "{tool:?}");
    }
}
