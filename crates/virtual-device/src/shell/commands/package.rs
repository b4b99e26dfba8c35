//! `pm` and `cmd package`.

use super::install;
use super::intent::{Intent, parse as parse_intent};
use super::{Call, ProgramOutput, dumpsys};
use crate::packages::{Enabled, Package};
use crate::state::State;

/// Features of an ordinary phone without special hardware.
const FEATURES: [&str; 18] = [
    "android.hardware.bluetooth",
    "android.hardware.camera",
    "android.hardware.camera.any",
    "android.hardware.faketouch",
    "android.hardware.location",
    "android.hardware.location.gps",
    "android.hardware.microphone",
    "android.hardware.screen.landscape",
    "android.hardware.screen.portrait",
    "android.hardware.sensor.accelerometer",
    "android.hardware.telephony",
    "android.hardware.touchscreen",
    "android.hardware.touchscreen.multitouch",
    "android.hardware.touchscreen.multitouch.distinct",
    "android.hardware.touchscreen.multitouch.jazzhand",
    "android.hardware.usb.accessory",
    "android.hardware.wifi",
    "android.software.input_methods",
];

pub async fn manage(call: &Call<'_>, words: &[&str]) -> ProgramOutput {
    match words {
        ["install", rest @ ..] => install::install(call, rest).await,
        ["install-write", rest @ ..] => install::write(call, rest).await,
        words => {
            if words.first() == Some(&"uninstall") {
                call.wait(call.phone.with(|state| state.config.timing.removal())).await;
            }
            call.phone.with(|state| query(state, words))
        }
    }
}

fn query(state: &mut State, words: &[&str]) -> ProgramOutput {
    match words {
        ["path", rest @ ..] => match rest.last().and_then(|name| state.packages.get(name)) {
            Some(package) => ProgramOutput::out(format!("package:{}\n", package.apk())),
            None => ProgramOutput::code(1),
        },
        ["list", what, rest @ ..] => list(state, what, rest),
        ["dump", name, ..] => ProgramOutput::out(dumpsys::package_paragraph(state, name)),
        ["has-feature", feature, ..] => {
            let has = FEATURES.contains(feature);
            ProgramOutput {
                out: format!("{has}\n").into_bytes(),
                code: u8::from(!has),
                ..ProgramOutput::default()
            }
        }
        ["resolve-activity", rest @ ..] => resolve(state, rest),
        ["query-activities" | "query-intent-activities", rest @ ..] => query_activities(state, rest),
        ["query-services" | "query-receivers", ..] => ProgramOutput::out("No services found\n"),
        ["install-create", ..] => install::create(state),
        ["install-commit", session, ..] => install::commit(state, session),
        ["install-abandon", session, ..] => install::abandon(state, session),
        ["get-install-location"] => ProgramOutput::out("0[auto]\n"),
        ["get-max-users"] => ProgramOutput::out("Maximum supported users: 4\n"),
        ["get-max-running-users"] => ProgramOutput::out("Maximum supported running users: 3\n"),
        ["compile" | "bg-dexopt-job" | "trim-caches" | "set-install-location", ..] => {
            ProgramOutput::out("Success\n")
        }
        words => change(state, words),
    }
}

fn change(state: &mut State, words: &[&str]) -> ProgramOutput {
    match words {
        ["clear", rest @ ..] => match rest.last().filter(|name| state.packages.get(name).is_some()) {
            Some(name) => {
                state.kill(name, true);
                if let Some(package) = state.packages.get_mut(name) {
                    package.granted.clear();
                }
                ProgramOutput::out("Success\n")
            }
            None => failed("Failed"),
        },
        ["uninstall", rest @ ..] => uninstall(state, rest.iter().rfind(|w| !w.starts_with('-'))),
        [verb @ ("grant" | "revoke"), rest @ ..] => grant(state, verb, &without_options(rest)),
        ["reset-permissions", ..] => ProgramOutput::ok(),
        ["enable", rest @ ..] => enable(state, rest, Enabled::Yes),
        ["disable", rest @ ..] => enable(state, rest, Enabled::No),
        ["disable-user", rest @ ..] => enable(state, rest, Enabled::ByUser),
        ["default-state", rest @ ..] => enable(state, rest, Enabled::Default),
        [
            "set-app-link" | "set-app-links" | "get-app-links" | "suspend" | "unsuspend" | "hide" | "unhide",
            ..,
        ] => ProgramOutput::ok(),
        [other, ..] => ProgramOutput::fail(255, format!("Unknown command: {other}\n")),
        [] => ProgramOutput::fail(
            255,
            "Package manager (package) commands:\n  help\n    Print this help text.\n",
        ),
    }
}

fn failed(text: &str) -> ProgramOutput {
    ProgramOutput { out: format!("{text}\n").into_bytes(), code: 1, ..ProgramOutput::default() }
}

fn without_options<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--user" | "--uid" => {
                words.next();
            }
            word if word.starts_with('-') => {}
            word => kept.push(word),
        }
    }
    kept
}

fn uninstall(state: &mut State, name: Option<&&str>) -> ProgramOutput {
    let Some(name) = name else { return ProgramOutput::fail(255, "Error: package name not specified\n") };
    if state.packages.get(name).is_none() {
        return failed("Failure [not installed for 0]");
    }
    state.kill(name, true);
    if state.packages.uninstall(name, &mut state.fs) {
        state.surface.uninstalled(name, state.now);
        state.services.locales.remove(*name);
        state.system('I', "PackageManager", &format!("Package {name} deleted"));
        ProgramOutput::out("Success\n")
    } else {
        failed("Failure [DELETE_FAILED_INTERNAL_ERROR]")
    }
}

fn exception(verb: &str, what: &str) -> ProgramOutput {
    let at = "\tat com.android.server.pm.PackageManagerShellCommand.onCommand(PackageManagerShellCommand.java:323)\n";
    ProgramOutput::fail(255, format!("\nException occurred while executing '{verb}':\n{what}\n{at}"))
}

fn grant(state: &mut State, verb: &str, words: &[&str]) -> ProgramOutput {
    let [name, permission] = words else {
        return ProgramOutput::fail(255, "Error: no permission specified\n");
    };
    let Some(package) = state.packages.get_mut(name) else {
        return exception(verb, &format!("java.lang.IllegalArgumentException: Unknown package: {name}"));
    };
    if !permission.contains('.') {
        return exception(
            verb,
            &format!("java.lang.IllegalArgumentException: Unknown permission: {permission}"),
        );
    }
    if package.grant(permission, verb == "grant") {
        ProgramOutput::ok()
    } else {
        let what =
            format!("java.lang.SecurityException: Package {name} has not requested permission {permission}");
        exception(verb, &what)
    }
}

fn enable(state: &mut State, words: &[&str], wanted: Enabled) -> ProgramOutput {
    let words = without_options(words);
    let Some(name) = words.first() else {
        return ProgramOutput::fail(255, "Error: no package or component specified\n");
    };
    let Some(package) = state.packages.get_mut(name) else {
        return exception("enable", &format!("java.lang.IllegalArgumentException: Unknown package: {name}"));
    };
    package.enabled = wanted;
    if !wanted.is_on() {
        state.kill(name, false);
    }
    ProgramOutput::out(format!("Package {name} new state: {}\n", wanted.name()))
}

fn list(state: &State, what: &str, words: &[&str]) -> ProgramOutput {
    match what {
        "packages" | "package" => list_packages(state, words),
        "features" => {
            let names = FEATURES.iter().map(|name| format!("feature:{name}\n"));
            ProgramOutput::out(format!("feature:reqGlEsVersion=0x30002\n{}", names.collect::<String>()))
        }
        "users" => {
            let flags = if dumpsys::newer(state) { "4c13" } else { "c13" };
            ProgramOutput::out(format!("Users:\n\tUserInfo{{0:Owner:{flags}}} running\n"))
        }
        "libraries" => ProgramOutput::out(
            "library:android.ext.shared\nlibrary:android.test.base\nlibrary:android.test.mock\nlibrary:android.test.runner\n",
        ),
        "instrumentation" => instrumentations(state),
        "permissions" | "permission-groups" => {
            let all = state.packages.iter().flat_map(|(_, package)| &package.requested);
            ProgramOutput::out(format!(
                "All Permissions:\n\n{}",
                all.map(|p| format!("permission:{p}\n")).collect::<String>()
            ))
        }
        other => ProgramOutput::fail(255, format!("Error: unknown list type '{other}'\n")),
    }
}

fn list_packages(state: &State, words: &[&str]) -> ProgramOutput {
    let has = |flag: &str| words.contains(&flag);
    let uid = words.iter().position(|w| *w == "--uid").and_then(|at| words.get(at + 1)?.parse::<u32>().ok());
    let filter = without_options(words).first().copied().unwrap_or("");
    let wanted = |name: &str, package: &Package| {
        name.contains(filter)
            && !(has("-3") && package.system)
            && (!has("-s") || package.system)
            && !(has("-d") && package.enabled.is_on())
            && (!has("-e") || package.enabled.is_on())
            && uid.is_none_or(|uid| uid == package.uid)
            && !has("--apex-only")
    };
    let mut out = String::new();
    for (name, package) in state.packages.iter().filter(|(name, package)| wanted(name, package)) {
        let path = if has("-f") { format!("{}=", package.apk()) } else { String::new() };
        out.push_str(&format!("package:{path}{name}"));
        if has("--show-versioncode") {
            out.push_str(&format!(" versionCode:{}", package.version_code));
        }
        if has("-i") {
            out.push_str("  installer=null");
        }
        if has("-U") || uid.is_some() {
            out.push_str(&format!(" uid:{}", package.uid));
        }
        out.push('\n');
    }
    ProgramOutput::out(out)
}

/// Returns the package and activity that would take an intent.
fn target(state: &State, intent: &Intent<'_>) -> Option<(String, String)> {
    let (package, activity) = intent.target(state)?;
    let entry = state.packages.entry(&package)?.to_owned();
    state.packages.get(&package).filter(|p| p.enabled.is_on())?;
    Some((package, activity.unwrap_or(entry)))
}

fn resolve(state: &State, words: &[&str]) -> ProgramOutput {
    let brief = words.contains(&"--brief");
    let components = words.contains(&"--components");
    match target(state, &parse_intent(words)) {
        None => ProgramOutput::out("No activity found\n"),
        Some((package, activity)) if components => ProgramOutput::out(format!("{package}/{activity}\n")),
        Some((package, activity)) if brief => ProgramOutput::out(format!(
            "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n{package}/{activity}\n"
        )),
        Some((package, activity)) => ProgramOutput::out(format!(
            "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n{}",
            activity_info(state, &package, &activity)
        )),
    }
}

fn activity_info(state: &State, package: &str, activity: &str) -> String {
    let full = activity.strip_prefix('.').map_or(activity.to_owned(), |rest| format!("{package}.{rest}"));
    let (uid, apk) = state.packages.get(package).map_or((0, String::new()), |found| (found.uid, found.apk()));
    format!(
        "ActivityInfo:\n  name={full}\n  packageName={package}\n  enabled=true exported=true directBootAware=false\n  \
         taskAffinity={package} targetActivity=null persistableMode=PERSIST_ROOT_ONLY\n  \
         launchMode=0 flags=0x0 privateFlags=0x1 theme=0x7f1101e4\n  ApplicationInfo:\n    packageName={package}\n    \
         processName={package} taskAffinity={package}\n    uid={uid} flags=0x30e8be44 privateFlags=0x8c001100 theme=0x7f1101e4\n    \
         sourceDir={apk}\n    dataDir=/data/user/0/{package}\n    enabled=true minSdkVersion=24 targetSdkVersion={}\n",
        state.config.sdk
    )
}

fn query_activities(state: &State, words: &[&str]) -> ProgramOutput {
    let intent = parse_intent(words);
    let brief = words.contains(&"--brief") || words.contains(&"--components");
    let all: Vec<(String, String)> = state
        .packages
        .iter()
        .filter(|(name, package)| {
            package.enabled.is_on() && intent.package.is_none_or(|p| p == name.as_str())
        })
        .filter(|(name, _)| !intent.wants_launcher() || name.as_str() != crate::app::launcher::PACKAGE)
        .filter_map(|(name, _)| Some((name.clone(), state.packages.entry(name)?.to_owned())))
        .filter(|_| intent.is_main())
        .collect();
    if all.is_empty() {
        return ProgramOutput::out("No activities found\n");
    }
    let mut out = if words.contains(&"--components") {
        String::new()
    } else {
        format!("{} activities found:\n", all.len())
    };
    for (index, (package, activity)) in all.iter().enumerate() {
        if words.contains(&"--components") {
            out.push_str(&format!("{package}/{activity}\n"));
            continue;
        }
        out.push_str(&format!(
            "  Activity #{index}:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n"
        ));
        if brief {
            out.push_str(&format!("    {package}/{activity}\n"));
        } else {
            let info = activity_info(state, package, activity);
            out.push_str(&info.lines().map(|line| format!("    {line}\n")).collect::<String>());
        }
    }
    ProgramOutput::out(out)
}

fn instrumentations(state: &State) -> ProgramOutput {
    let mut out = String::new();
    for (name, package) in state.packages.iter() {
        for (runner, target) in &package.manifest.instrumentations {
            out.push_str(&format!("instrumentation:{name}/{runner} (target={target})\n"));
        }
    }
    ProgramOutput::out(out)
}
