//! Which file a build made.

use std::path::Path;
use std::time::{Duration, SystemTime};

use mdm_build::artifact::{ArtifactError, find};
use mdm_build::plan::Target;
use mdm_build::project::Platform;

use crate::folder::Folder;

fn metadata(variant: &str, elements: &str) -> String {
    format!(
        r#"{{"version":3,"artifactType":{{"type":"APK","kind":"Directory"}},"applicationId":"com.example","variantName":"{variant}","elements":[{elements}],"elementType":"File"}}"#
    )
}

fn target(folder: &Folder, variant: Option<&str>) -> Target {
    Target {
        folders: vec![folder.path().to_owned()],
        variant: variant.map(str::to_owned),
        platform: Platform::Android,
    }
}

/// A build that began before the files, or after them.
fn before() -> SystemTime {
    SystemTime::now() - Duration::from_secs(60)
}

fn after() -> SystemTime {
    SystemTime::now() + Duration::from_secs(60)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn the_metadata_of_the_variant_names_the_file() {
    // W33
    let single = r#"{"type":"SINGLE","filters":[],"versionCode":1,"outputFile":"app-free-debug.apk"}"#;
    let test = r#"{"type":"SINGLE","outputFile":"app-debug-androidTest.apk"}"#;
    let folder = Folder::with(&[
        ("androidTest/debug/output-metadata.json", &metadata("debugAndroidTest", test)),
        ("androidTest/debug/app-debug-androidTest.apk", ""),
        ("free/debug/output-metadata.json", &metadata("freeDebug", single)),
        ("free/debug/app-free-debug.apk", ""),
        ("free/debug/old.apk", ""),
    ]);
    let made = find(&target(&folder, Some("freeDebug")), before()).unwrap();
    assert_eq!((name(&made.file), made.is_new), ("app-free-debug.apk".to_owned(), true));
    let kept = find(&target(&folder, Some("freeDebug")), after()).unwrap();
    assert!(!kept.is_new, "the build tool found it up to date");
    assert!(matches!(find(&target(&folder, Some("release")), before()), Err(ArtifactError::None(_))));
}

#[test]
fn splits_without_a_universal_file_are_left_to_the_caller() {
    let split = |kind: &str, file: &str| format!(r#"{{"type":"{kind}","outputFile":"{file}"}}"#);
    let elements = [split("ONE_OF_MANY", "app-arm.apk"), split("ONE_OF_MANY", "app-x86.apk")].join(",");
    let folder = Folder::with(&[
        ("debug/output-metadata.json", &metadata("debug", &elements)),
        ("debug/app-arm.apk", ""),
        ("debug/app-x86.apk", ""),
    ]);
    assert!(
        matches!(find(&target(&folder, Some("debug")), before()), Err(ArtifactError::Several(all)) if all.len() == 2)
    );
    let elements = format!("{elements},{}", split("UNIVERSAL", "app-all.apk"));
    folder.put("debug/output-metadata.json", &metadata("debug", &elements));
    folder.put("debug/app-all.apk", "");
    assert_eq!(name(&find(&target(&folder, Some("debug")), before()).unwrap().file), "app-all.apk");
    // A name that leads elsewhere names nothing.
    folder.put("secret.apk", "");
    folder.put("debug/output-metadata.json", &metadata("debug", &split("SINGLE", "../secret.apk")));
    assert!(matches!(find(&target(&folder, Some("debug")), before()), Err(ArtifactError::None(_))));
}

#[test]
fn without_metadata_the_variant_and_the_time_decide() {
    let folder = Folder::with(&[
        ("apk/debug/app-debug.apk", ""),
        ("flutter-apk/app-debug.apk", ""),
        ("flutter-apk/app-release.apk", ""),
        ("apk/androidTest/debug/app-debug-androidTest.apk", ""),
    ]);
    let made = find(&target(&folder, Some("debug")), before()).unwrap();
    assert!(made.file.ends_with("apk/debug/app-debug.apk"), "{made:?}");
    assert!(
        matches!(find(&target(&folder, None), after()), Err(ArtifactError::None(_))),
        "nothing tells which"
    );
    let two = Folder::with(&[("debug/one-debug.apk", ""), ("debug/two-debug.apk", "")]);
    assert!(matches!(find(&target(&two, Some("debug")), before()), Err(ArtifactError::Several(_))));
    let unsigned = Folder::with(&[("release/app-release-unsigned.apk", "")]);
    assert!(matches!(find(&target(&unsigned, Some("release")), before()), Err(ArtifactError::Unsigned(_))));
}

#[test]
fn an_xcode_build_makes_a_folder() {
    let folder = Folder::with(&[("Shop.app/", ""), ("ShopUITests-Runner.app/", "")]);
    let target = Target { platform: Platform::Ios, ..target(&folder, Some("Debug")) };
    assert_eq!(name(&find(&target, before()).unwrap().file), "Shop.app");
}
