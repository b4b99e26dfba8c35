//! `appservice`: starting, listing and ending apps.

use super::core_device::{Outcome, Refusal};
use super::xpc::Xpc;
use crate::iphone::IPhone;
use crate::iphone::apps::AppEntry;

const SIGNALS_THAT_END: [u64; 4] = [2, 6, 9, 15];
/// The code of an open request for something that is not there.
const NOT_FOUND: i64 = 4;
const NO_PROCESS: i64 = 3;
const UNKNOWN: i64 = -1;

pub fn answer(phone: &IPhone, feature: &str, input: &Xpc) -> Outcome {
    match feature.strip_prefix("com.apple.coredevice.feature.").unwrap_or_default() {
        "launchapplication" => launch(phone, input),
        "listprocesses" => {
            let running = phone.apps().into_iter().filter_map(|app| Some(token(&app, app.pid?)));
            Outcome::Output(Xpc::dictionary([("processTokens", Xpc::Array(running.collect()))]))
        }
        "sendsignaltoprocess" => signal(phone, input),
        "listapps" => Outcome::Output(Xpc::Array(phone.apps().iter().map(described).collect())),
        "uninstallapp" => {
            let bundle = input.get("bundleIdentifier").and_then(Xpc::as_text).unwrap_or_default();
            match phone.uninstall_app(bundle) {
                true => Outcome::Output(Xpc::Dictionary(Vec::new())),
                false => Outcome::refused(UNKNOWN, "The app could not be removed."),
            }
        }
        _ => Outcome::refused(UNKNOWN, format!("The feature {feature} is not supported.")),
    }
}

fn launch(phone: &IPhone, input: &Xpc) -> Outcome {
    let bundle = input.at(&["applicationSpecifier", "bundleIdentifier", "_0"]).and_then(Xpc::as_text);
    let bundle = bundle.unwrap_or_default();
    let stop_first = input.at(&["options", "terminateExisting"]).is_some_and(Xpc::is_true);
    let launched = phone.launch_app(bundle, stop_first).zip(phone.app(bundle));
    match launched {
        Some((pid, app)) => Outcome::Output(Xpc::dictionary([("processToken", token(&app, pid))])),
        None => Outcome::Refused(Refusal {
            code: NOT_FOUND,
            domain: "FBSOpenApplicationServiceErrorDomain",
            why: format!("The request to open \"{bundle}\" failed."),
        }),
    }
}

fn signal(phone: &IPhone, input: &Xpc) -> Outcome {
    let number = |path: &[&str]| input.at(path).and_then(Xpc::as_number);
    let (pid, signal) = (number(&["process", "processIdentifier"]), number(&["signal"]));
    let app = phone.apps().into_iter().find(|app| app.pid.is_some() && app.pid.map(u64::from) == pid);
    let Some((app, signal)) = app.zip(signal) else {
        return Outcome::refused(NO_PROCESS, "No such process.");
    };
    if SIGNALS_THAT_END.contains(&signal) {
        phone.terminate_app(&app.bundle);
    }
    let nanos = phone.phone().with(|state| state.clock.wall_ms(state.now)) * 1_000_000;
    Outcome::Output(Xpc::dictionary([
        ("deviceTimestamp", Xpc::Date(nanos)),
        ("process", token(&app, app.pid.unwrap_or(0))),
        ("signal", Xpc::Int(signal as i64)),
    ]))
}

fn token(app: &AppEntry, pid: u32) -> Xpc {
    let audit = [0, 501, 501, 501, 501, u64::from(pid), 100_000, 1];
    let program = format!("file://{}/{}", app.folder(), app.executable);
    Xpc::dictionary([
        ("auditToken", Xpc::Array(audit.map(Xpc::Uint).to_vec())),
        ("executableURL", Xpc::dictionary([("relative", Xpc::Text(program))])),
        ("processIdentifier", Xpc::Int(i64::from(pid))),
        ("processIdentifierVersion", Xpc::Int(1)),
    ])
}

fn described(app: &AppEntry) -> Xpc {
    Xpc::dictionary([
        ("bundleIdentifier", Xpc::text(&app.bundle)),
        ("bundleVersion", Xpc::text(&app.build)),
        ("isAppClip", Xpc::Bool(false)),
        ("isDeveloperApp", Xpc::Bool(!app.system)),
        ("isFirstParty", Xpc::Bool(app.system)),
        ("isHidden", Xpc::Bool(false)),
        ("isInternal", Xpc::Bool(false)),
        ("isRemovable", Xpc::Bool(!app.system)),
        ("name", Xpc::text(&app.name)),
        ("path", Xpc::Text(app.folder())),
        ("version", Xpc::text(&app.version)),
    ])
}
