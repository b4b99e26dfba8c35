//! `dumpsys package` and `pm dump`.

use std::fmt::Write as _;

use super::super::files::stamp;
use super::newer;
use crate::packages::Package;
use crate::state::State;

pub fn dump(state: &State, words: &[&str]) -> String {
    match words.iter().find(|w| !w.starts_with('-')) {
        Some(name) => paragraph(state, name),
        None => {
            let mut out = "Database versions:\n  Internal:\n".to_owned();
            let _ = write!(out, "    sdkVersion={} databaseVersion=3\n\nPackages:\n", state.config.sdk);
            for (name, package) in state.packages.iter() {
                block(state, name, package, &mut out);
            }
            out
        }
    }
}

/// Returns everything about one package.
pub fn paragraph(state: &State, name: &str) -> String {
    let Some(package) = state.packages.get(name) else {
        return format!("Unable to find package: {name}\n");
    };
    let mut out = String::new();
    if let Some(entry) = state.packages.entry(name) {
        let _ = write!(
            out,
            "Activity Resolver Table:\n  Non-Data Actions:\n      android.intent.action.MAIN:\n        \
             {:07x} {name}/{} filter {:07x}\n          Action: \"android.intent.action.MAIN\"\n          \
             Category: \"android.intent.category.LAUNCHER\"\n\n",
            package.uid * 7919,
            entry,
            (package.uid * 104_729) & 0x0fff_ffff,
        );
    }
    let _ = write!(out, "Key Set Manager:\n  [{name}]\n      Signing KeySets: 1\n\nPackages:\n");
    block(state, name, package, &mut out);
    let _ = write!(
        out,
        "\nQueries:\n  system apps queryable: false\n\nPackage Changes:\n\nDexopt state:\n  [{name}]\n"
    );
    out
}

fn block(state: &State, name: &str, package: &Package, out: &mut String) {
    let newer = newer(state);
    let id = if newer { "appId" } else { "userId" };
    let installed = stamp(package.first_install_s);
    let mut flags = String::from("HAS_CODE ALLOW_CLEAR_USER_DATA");
    if package.debuggable {
        flags.insert_str(0, "DEBUGGABLE ");
    }
    if package.system {
        flags.insert_str(0, "SYSTEM ");
    }
    let _ = write!(
        out,
        "  Package [{name}] ({:07x}):\n    {id}={}\n    pkg=Package{{{:07x} {name}}}\n    codePath={dir}\n",
        package.uid * 3571,
        package.uid,
        package.uid * 7907,
        dir = package.directory,
    );
    if !newer {
        let _ = writeln!(out, "    resourcePath={}", package.directory);
    }
    let _ = write!(
        out,
        "    legacyNativeLibraryDir={dir}/lib\n    primaryCpuAbi=arm64-v8a\n    secondaryCpuAbi=null\n    \
         versionCode={} minSdk={} targetSdk={}\n    versionName={}\n    splits=[{}]\n    apkSigningVersion=2\n    \
         flags=[ {flags} ]\n    privateFlags=[ PRIVATE_FLAG_ACTIVITIES_RESIZE_MODE_RESIZEABLE_VIA_SDK_VERSION ]\n    \
         dataDir=/data/user/0/{name}\n    supportsScreens=[small, medium, large, xlarge, resizeable, anyDensity]\n    \
         timeStamp={updated}\n",
        package.version_code,
        package.manifest.min_sdk.unwrap_or(24),
        package.manifest.target_sdk.unwrap_or(state.config.sdk),
        package.version_name,
        std::iter::once("base")
            .chain(package.splits.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(", "),
        dir = package.directory,
        updated = stamp(package.last_update_s),
    );
    if !newer {
        let _ = writeln!(out, "    firstInstallTime={installed}");
    }
    let _ = write!(
        out,
        "    lastUpdateTime={}\n    installerPackageName=null\n    signatures=PackageSignatures{{a1b2c3d version:2, signatures:[5f3c1a2b], past signatures:[]}}\n    \
         installPermissionsFixed=true\n    pkgFlags=[ {flags} ]\n    requested permissions:\n      android.permission.INTERNET\n",
        stamp(package.last_update_s),
    );
    for permission in &package.requested {
        let _ = writeln!(out, "      {permission}");
    }
    out.push_str("    install permissions:\n      android.permission.INTERNET: granted=true\n");
    let _ = writeln!(
        out,
        "    User 0: ceDataInode={} installed=true hidden=false suspended=false distractionFlags=0 stopped=false \
         notLaunched=false enabled={} instant=false virtual=false",
        100_000 + package.uid,
        package.enabled.number(),
    );
    if newer {
        let _ = writeln!(out, "      firstInstallTime={installed}");
    }
    out.push_str("      gids=[3003]\n      runtime permissions:\n");
    for permission in &package.requested {
        let granted = package.granted.contains(permission);
        let _ = writeln!(
            out,
            "        {permission}: granted={granted}, flags=[ USER_SENSITIVE_WHEN_GRANTED|USER_SENSITIVE_WHEN_DENIED]"
        );
    }
}
