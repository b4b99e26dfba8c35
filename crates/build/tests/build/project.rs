//! What folders are.

use mdm_build::project::{Platform, Project, ProjectError, detect};

use crate::folder::Folder;

const APP: &str = "plugins {\n    id(\"com.android.application\")\n}\n";

fn module(folder: &Folder, at: &str) -> Result<String, ProjectError> {
    match detect(&folder.path().join(at), None)? {
        Project::Gradle(gradle) | Project::ReactNative { gradle, .. } => {
            assert_eq!(
                gradle.folder.join(gradle.module.path.replace(':', "/").trim_start_matches('/')),
                gradle.module.folder
            );
            Ok(gradle.module.path)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_module_with_the_application_plugin_is_the_app() {
    // MG-01, W33
    let native = Folder::with(&[
        ("settings.gradle", "include ':app', ':core:data'\n"),
        ("build.gradle", "plugins { id 'com.android.application' version '8.7.0' apply false }\n"),
        ("app/build.gradle", "apply plugin: 'com.android.application'\n"),
        ("core/data/build.gradle", "plugins { id 'com.android.library' }\n"),
        ("build/x/build.gradle", APP),
    ]);
    assert_eq!(module(&native, "").as_deref(), Ok(":app"));
    let multiplatform = Folder::with(&[
        ("settings.gradle.kts", "include(\":shared\")\ninclude(\":composeApp\")\n"),
        (
            "gradle/libs.versions.toml",
            "[plugins]\nandroidApplication = { id = \"com.android.application\", version.ref = \"agp\" }\n",
        ),
        ("build.gradle.kts", "plugins { alias(libs.plugins.androidApplication) apply false }\n"),
        ("shared/build.gradle.kts", "plugins { kotlin(\"multiplatform\") }\n"),
        ("composeApp/build.gradle.kts", "plugins {\n  alias(libs.plugins.androidApplication)\n}\n"),
        ("iosApp/iosApp.xcodeproj/", ""),
    ]);
    assert_eq!(module(&multiplatform, "").as_deref(), Ok(":composeApp"));
    let ios = detect(multiplatform.path(), Some(Platform::Ios)).unwrap();
    assert_eq!((ios.kind(), ios.platform()), ("xcode", Platform::Ios));
    let convention = Folder::with(&[
        ("settings.gradle.kts", "include(\":mobile\", \":lib\")\n"),
        ("mobile/build.gradle.kts", "plugins { id(\"our.application\") }\n"),
        (
            "mobile/src/main/AndroidManifest.xml",
            "<category android:name=\"android.intent.category.LAUNCHER\"/>",
        ),
        ("lib/build.gradle.kts", "plugins { id(\"our.library\") }\n"),
    ]);
    assert_eq!(module(&convention, "").as_deref(), Ok(":mobile"));
}

#[test]
fn several_apps_are_an_error_that_names_them_and_a_module_folder_chooses() {
    let two = Folder::with(&[
        ("settings.gradle", "include ':phone', ':wear'\n"),
        ("phone/build.gradle", APP),
        ("wear/build.gradle", APP),
        ("old/build.gradle", APP),
    ]);
    match module(&two, "") {
        Err(ProjectError::Ambiguous { candidates, .. }) => {
            assert_eq!(candidates.len(), 2, "not the one left out: {candidates:?}")
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(module(&two, "wear").as_deref(), Ok(":wear"));
}

#[test]
fn flutter_and_react_native_are_known_by_their_files() {
    let flutter = Folder::with(&[
        ("pubspec.yaml", "name: x\ndependencies:\n  flutter:\n    sdk: flutter\n"),
        ("android/settings.gradle", "include ':app'"),
    ]);
    assert_eq!(detect(flutter.path(), None).unwrap().kind(), "flutter");
    let native = Folder::with(&[
        ("package.json", r#"{"dependencies":{"react-native":"0.76.0"}}"#),
        ("android/settings.gradle", "include ':app'"),
        ("android/app/build.gradle", APP),
        ("ios/Shop.xcodeproj/", ""),
        ("ios/Shop.xcworkspace/", ""),
        ("ios/Shop.xcodeproj/xcshareddata/xcschemes/Shop.xcscheme", ""),
        ("ios/Shop.xcodeproj/xcshareddata/xcschemes/ShopTests.xcscheme", ""),
    ]);
    assert_eq!(module(&native, "").as_deref(), Ok(":app"));
    match detect(native.path(), Some(Platform::Ios)).unwrap() {
        Project::Xcode(xcode) => assert_eq!((xcode.is_workspace(), xcode.scheme.as_str()), (true, "Shop")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn other_folders_are_refused_with_what_is_missing() {
    let empty = Folder::new();
    assert!(matches!(detect(empty.path(), None), Err(ProjectError::Unknown(_))));
    assert!(matches!(detect(&empty.path().join("no"), None), Err(ProjectError::NoFolder(_))));
    let node = Folder::with(&[("package.json", r#"{"dependencies":{"express":"4"}}"#)]);
    assert!(matches!(detect(node.path(), None), Err(ProjectError::Unknown(_))));
    let library = Folder::with(&[("settings.gradle", ""), ("build.gradle", "plugins { id 'java' }")]);
    assert!(matches!(detect(library.path(), None), Err(ProjectError::NoApp(_))));
    assert!(matches!(detect(library.path(), Some(Platform::Ios)), Err(ProjectError::NotForPlatform { .. })));
    let schemes = Folder::with(&[
        ("A.xcodeproj/xcshareddata/xcschemes/One.xcscheme", ""),
        ("A.xcodeproj/xcshareddata/xcschemes/Two.xcscheme", ""),
    ]);
    assert!(matches!(detect(schemes.path(), None), Err(ProjectError::Ambiguous { what: "schemes", .. })));
}
