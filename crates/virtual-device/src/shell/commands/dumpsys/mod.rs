//! `dumpsys`: the output of each service, as on Android 12 and 16.

mod activity;
mod display;
mod health;
mod package;
mod window;

use super::{Call, ProgramOutput};
use crate::state::State;

pub use activity::tasks;
pub use display::info as display_info;
pub use package::paragraph as package_paragraph;

/// First release that prints the newer forms. All modelled differences between 12 and 16 came with it.
const NEWER_FORMS_SDK: u32 = 33;

/// Names of services, in the service manager's order.
pub const SERVICES: [&str; 34] = [
    "SurfaceFlinger",
    "accessibility",
    "activity",
    "activity_task",
    "alarm",
    "appops",
    "audio",
    "battery",
    "batterystats",
    "bluetooth_manager",
    "clipboard",
    "connectivity",
    "cpuinfo",
    "deviceidle",
    "display",
    "gfxinfo",
    "input",
    "input_method",
    "jobscheduler",
    "location",
    "meminfo",
    "notification",
    "overlay",
    "package",
    "permissionmgr",
    "phone",
    "power",
    "procstats",
    "settings",
    "statusbar",
    "uimode",
    "usb",
    "wifi",
    "window",
];

/// Returns true if the phone prints the forms of Android 13 and later.
pub fn newer(state: &State) -> bool {
    state.config.sdk >= NEWER_FORMS_SDK
}

pub fn dumpsys(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let all = call.words();
    let mut words = all.as_slice();
    // Options of dumpsys itself stand before the service.
    loop {
        match words {
            ["-l", ..] => return ProgramOutput::out(list(state)),
            ["-t" | "-T" | "--priority", _, rest @ ..] => words = rest,
            ["--pid" | "--stability" | "--thread" | "--clients" | "--proto", rest @ ..] => words = rest,
            _ => break,
        }
    }
    match words {
        [] => ProgramOutput::out(everything(state)),
        [service, arguments @ ..] => match dump(state, service, arguments) {
            Some(text) => ProgramOutput::out(text),
            // Printed as an error, and still a success.
            None => ProgramOutput::fail(0, format!("Can't find service: {service}\n")),
        },
    }
}

fn list(state: &State) -> String {
    let mut out = "Currently running services:\n".to_owned();
    for service in services(state) {
        out.push_str(&format!("  {service}\n"));
    }
    out
}

/// Returns the services of this release.
pub fn services(state: &State) -> impl Iterator<Item = &'static str> {
    let newer = newer(state);
    SERVICES.into_iter().chain(newer.then_some("locale"))
}

fn everything(state: &mut State) -> String {
    let mut out = list(state);
    let names: Vec<&str> = services(state).collect();
    for service in names {
        let rule = "-".repeat(79);
        out.push_str(&format!("{rule}\nDUMP OF SERVICE {service}:\n"));
        out.push_str(&dump(state, service, &[]).unwrap_or_default());
        let when = super::files::stamp(state.now_s());
        out.push_str(&format!("--------- 0.001s was the duration of dumpsys {service}, ending at: {when}\n"));
    }
    out
}

/// Returns the output of a service, or nothing when there is no such service.
fn dump(state: &mut State, service: &str, words: &[&str]) -> Option<String> {
    Some(match service {
        "activity" => activity::dump(state, words),
        "window" => window::dump(state, words),
        "display" => display::dump(state),
        "SurfaceFlinger" => display::surface_flinger(state, words),
        "package" => package::dump(state, words),
        "input_method" => window::input_method(state),
        "battery" => health::battery(),
        "power" => health::power(state),
        "deviceidle" => health::device_idle(state, words),
        "meminfo" => health::memory(state, words),
        "gfxinfo" => health::graphics(state, words),
        "cpuinfo" => health::cpu(state),
        "location" => super::location::dump(state),
        "notification" => health::notifications(),
        other => return services(state).any(|known| known == other).then(String::new),
    })
}
