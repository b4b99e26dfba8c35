//! `cmd`: every service behind one program; and `service`, `ime`, `appops`, `svc`.

use super::super::io::BrokenPipe;
use super::{Call, ProgramOutput, activity, dumpsys, location, package, settings, wm};
use crate::shell::services::Night;
use crate::state::{CLIPBOARD_BYTES_MAX, ENTRIES_MAX, State};
use crate::surface::SystemEvent;

/// First release whose display service lists its displays.
const LISTS_DISPLAYS_SDK: u32 = 33;
/// The output of a service without shell commands; it counts as success.
const NOT_IMPLEMENTED: &str = "No shell command implementation.\n";

pub async fn cmd(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let words = call.words();
    let inner = |name| Call { name, arguments: call.arguments.get(1..).unwrap_or(&[]), ..*call };
    let answer = match (call.name, words.as_slice()) {
        ("pm", words) | (_, ["package", words @ ..]) => package::manage(call, words).await,
        (_, ["input", ..]) => return Box::pin(super::input::input(&inner("input"))).await,
        (_, ["-w", rest @ ..]) if !rest.is_empty() && rest.first() != Some(&"-w") => {
            let inner = Call { arguments: &call.arguments[1..], ..*call };
            return Box::pin(cmd(&inner)).await;
        }
        (_, words) => call.phone.with(|state| quick(state, call, words)),
    };
    answer.send(call.io).await
}

fn quick(state: &mut State, call: &Call<'_>, words: &[&str]) -> ProgramOutput {
    let inner = |name| Call { name, arguments: call.arguments.get(1..).unwrap_or(&[]), ..*call };
    match words {
        ["activity" | "activity_task", ..] => activity::am(state, &inner("am")),
        ["settings", ..] => settings::settings(state, &inner("settings")),
        ["window", ..] => wm::wm(state, &inner("wm")),
        ["input_method", ..] => crate::helpers::ime::ime(state, &inner("ime")),
        ["appops", ..] => appops(state, &inner("appops")),
        ["clipboard", words @ ..] => clipboard(state, words),
        ["display", words @ ..] => display(state, words),
        ["uimode", words @ ..] => ui_mode(state, words),
        ["location", words @ ..] => location::location(state, words),
        ["locale", words @ ..] if dumpsys::newer(state) => locale(state, words),
        ["statusbar", words @ ..] => status_bar(state, words),
        ["deviceidle", ..] => dumpsys::dumpsys(state, call),
        ["connectivity", "airplane-mode", rest @ ..] => airplane(state, rest),
        ["wifi", "status", ..] => ProgramOutput::out(
            "Wifi is enabled\nWifi scanning is always available\n==== Primary ClientModeManager instance ====\nWifi is not connected\n",
        ),
        ["battery", "get", what, ..] => battery(what),
        ["notification", "post", ..] => ProgramOutput::out("posting:\n  Notification(channel=shell_cmd)\n"),
        ["notification", "list", ..] => ProgramOutput::ok(),
        [
            "wifi" | "battery" | "notification" | "power" | "overlay" | "jobscheduler" | "alarm"
            | "bluetooth_manager" | "phone",
            ..,
        ] => ProgramOutput::ok(),
        ["-l"] => {
            let lines = dumpsys::services(state).map(|name| format!("  {name}\n"));
            ProgramOutput::out(format!("Currently running services:\n{}", lines.collect::<String>()))
        }
        [service, ..] if dumpsys::services(state).any(|known| known == *service) => {
            ProgramOutput::fail(0, NOT_IMPLEMENTED)
        }
        [service, ..] => ProgramOutput::fail(20, format!("cmd: Can't find service: {service}\n")),
        [] => ProgramOutput::fail(
            20,
            "cmd: No service specified; use -l to list all running services. Use -w to start and wait for a service.\n",
        ),
    }
}

fn clipboard(state: &mut State, words: &[&str]) -> ProgramOutput {
    if !state.config.clipboard_commands {
        return ProgramOutput::fail(0, NOT_IMPLEMENTED);
    }
    match words {
        ["set", "text", rest @ ..] | ["set-text", rest @ ..] => {
            let text = rest.join(" ");
            if text.len() > CLIPBOARD_BYTES_MAX {
                return ProgramOutput::fail(255, "Error: text too long\n");
            }
            state.clipboard = text;
            ProgramOutput::ok()
        }
        ["get", "text"] | ["get-text"] => ProgramOutput::out(format!("{}\n", state.clipboard)),
        ["clear"] => {
            state.clipboard.clear();
            ProgramOutput::ok()
        }
        _ => ProgramOutput::fail(255, "Clipboard service commands:\n  set text <text>\n  get text\n"),
    }
}

fn display(state: &mut State, words: &[&str]) -> ProgramOutput {
    match words {
        ["get-displays", ..] if state.config.sdk >= LISTS_DISPLAYS_SDK => {
            let screen = state.screen();
            let density = f64::from(screen.density) / 160.0;
            ProgramOutput::out(format!(
                "Displays:\nDisplay id 0: {}, DisplayMetrics{{density={density}, width={}, height={}, scaledDensity={density}, xdpi={}.0, ydpi={}.0}}, isValid=true\n",
                dumpsys::display_info(state),
                screen.width,
                screen.height,
                screen.density,
                screen.density
            ))
        }
        ["set-brightness", value, ..] => match value.parse::<f32>() {
            Ok(part) if (0.0..=1.0).contains(&part) => {
                state.put_setting("system", "screen_brightness", &((part * 255.0) as u32).to_string());
                ProgramOutput::ok()
            }
            _ => ProgramOutput::fail(255, "Error: brightness should be a number between 0 and 1\n"),
        },
        ["reset-brightness-configuration" | "dwb-logging-enable" | "dwb-logging-disable", ..] => {
            ProgramOutput::ok()
        }
        [other, ..] => ProgramOutput::fail(255, format!("Unknown command: {other}\n")),
        [] => ProgramOutput::fail(255, "Display manager commands:\n  help\n    Print this help text.\n"),
    }
}

fn ui_mode(state: &mut State, words: &[&str]) -> ProgramOutput {
    match words {
        ["night"] => {}
        ["night", mode, ..] => {
            state.services.night = match *mode {
                "yes" => Night::Yes,
                "no" => Night::No,
                "auto" => Night::Auto,
                _ => return ProgramOutput::fail(255, "Error: mode must be 'yes', 'no', or 'auto'\n"),
            };
            let night = state.services.night == Night::Yes;
            state.surface.system(SystemEvent::NightMode(night), state.now);
        }
        ["car"] | ["car", _] => return ProgramOutput::out("Car mode: no\n"),
        ["time", ..] => return ProgramOutput::out("start 22:00\n"),
        _ => {
            return ProgramOutput::fail(
                255,
                "UiModeManager service (uimode) commands:\n  help\n    Print this help text.\n",
            );
        }
    }
    ProgramOutput::out(format!("Night mode: {}\n", state.services.night.name()))
}

fn locale(state: &mut State, words: &[&str]) -> ProgramOutput {
    let Some((verb, rest)) = words.split_first() else {
        return ProgramOutput::fail(255, "Locale manager (locale) shell commands:\n  help\n");
    };
    let Some(package) = rest.first().filter(|name| !name.starts_with('-')) else {
        return ProgramOutput::fail(255, "Error: no package specified\n");
    };
    if state.packages.get(package).is_none() {
        return ProgramOutput::fail(255, format!("Unknown package: {package} for userId 0\n"));
    }
    let tags = rest.iter().position(|w| *w == "--locales").and_then(|at| rest.get(at + 1));
    match *verb {
        "get-app-locales" => {
            let locales = state.services.locales.get(*package).map_or("", String::as_str);
            ProgramOutput::out(format!("Locales for {package} for user 0 are [{locales}]\n"))
        }
        "set-app-locales" if state.services.locales.len() < ENTRIES_MAX => {
            state
                .services
                .locales
                .insert((*package).to_owned(), tags.map_or(String::new(), |t| (*t).to_owned()));
            state.surface.system(SystemEvent::ConfigurationChanged, state.now);
            if state.front().0 == *package {
                state.surface.language(tags.map_or("", |tags| tags), state.now);
            }
            state.show_installed(package);
            ProgramOutput::ok()
        }
        other => ProgramOutput::fail(255, format!("Unknown command: {other}\n")),
    }
}

fn status_bar(state: &mut State, words: &[&str]) -> ProgramOutput {
    match words {
        ["expand-notifications" | "expand-settings", ..] => {
            state.surface.system(SystemEvent::OpenShade, state.now);
            ProgramOutput::ok()
        }
        ["collapse", ..] => {
            state.surface.system(SystemEvent::CloseShade, state.now);
            ProgramOutput::ok()
        }
        ["disable-for-setup" | "send-disable-flag", ..] => ProgramOutput::ok(),
        ["get-status-icons"] => ProgramOutput::out("wifi\nbattery\nmobile\n"),
        [other, ..] => ProgramOutput::fail(255, format!("Unknown command: {other}\n")),
        [] => ProgramOutput::fail(255, "Status bar commands:\n  help\n    Print this help text.\n"),
    }
}

fn airplane(state: &mut State, words: &[&str]) -> ProgramOutput {
    match words {
        [] => {
            let on = state.settings.get("global", "airplane_mode_on") == Some("1");
            ProgramOutput::out(if on { "enabled\n" } else { "disabled\n" })
        }
        [mode @ ("enable" | "disable"), ..] => {
            state.put_setting("global", "airplane_mode_on", if *mode == "enable" { "1" } else { "0" });
            ProgramOutput::ok()
        }
        _ => ProgramOutput::fail(255, "Error: expected 'enable' or 'disable'\n"),
    }
}

fn battery(what: &str) -> ProgramOutput {
    match what {
        "level" => ProgramOutput::out("87\n"),
        "status" | "health" => ProgramOutput::out("2\n"),
        "temp" => ProgramOutput::out("251\n"),
        "usb" => ProgramOutput::out("1\n"),
        "ac" | "wireless" => ProgramOutput::out("0\n"),
        other => ProgramOutput::fail(255, format!("Unknown get option: {other}\n")),
    }
}

pub fn service(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let names: Vec<&str> = dumpsys::services(state).collect();
    match call.words().as_slice() {
        ["list"] => {
            let mut out = format!("Found {} services:\n", names.len());
            for (index, name) in names.iter().enumerate() {
                out.push_str(&format!("{index}\t{name}: [android.os.I{name}]\n"));
            }
            ProgramOutput::out(out)
        }
        ["check", name] => {
            let found = if names.contains(name) { "found" } else { "not found" };
            ProgramOutput::out(format!("Service {name}: {found}\n"))
        }
        ["call", name, ..] if names.contains(name) => {
            ProgramOutput::out("Result: Parcel(00000000    '....')\n")
        }
        ["call", name, ..] => ProgramOutput::fail(10, format!("service: Service {name} does not exist\n")),
        _ => ProgramOutput::fail(
            10,
            "service: No action specified for service\nUsage: service [-h|-?]\n       service list\n       service check SERVICE\n",
        ),
    }
}

pub fn appops(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    let words: Vec<&str> = call.words();
    let plain: Vec<&str> = words.iter().filter(|w| !w.starts_with("--") && **w != "0").copied().collect();
    match plain.as_slice() {
        ["set", package, operation, mode, ..] if state.packages.get(package).is_some() => {
            if state.services.operations.len() < ENTRIES_MAX {
                state.services.operations.insert(format!("{package}/{operation}"), (*mode).to_owned());
            }
            ProgramOutput::ok()
        }
        ["get", package, rest @ ..] if state.packages.get(package).is_some() => {
            let prefix = format!("{package}/");
            let set = state
                .services
                .operations
                .iter()
                .filter_map(|(key, mode)| Some((key.strip_prefix(&prefix)?, mode)));
            let wanted = |name: &str| rest.first().is_none_or(|operation| *operation == name);
            let lines: String = set
                .filter(|(name, _)| wanted(name))
                .map(|(name, mode)| format!("{name}: {mode}\n"))
                .collect();
            ProgramOutput::out(if lines.is_empty() { "No operations.\n".to_owned() } else { lines })
        }
        ["reset", ..] => {
            state.services.operations.clear();
            ProgramOutput::out("Reset all modes to default\n")
        }
        ["set" | "get", package, ..] => {
            ProgramOutput::fail(255, format!("Error: No UID for {package} in user 0\n"))
        }
        ["query-op" | "write-settings" | "read-settings" | "start" | "stop", ..] => ProgramOutput::ok(),
        _ => {
            ProgramOutput::fail(255, "AppOps service (appops) commands:\n  help\n    Print this help text.\n")
        }
    }
}

/// Runs `svc wifi|data|power|bluetooth|usb|nfc …`.
pub fn svc(state: &mut State, call: &Call<'_>) -> ProgramOutput {
    match call.words().as_slice() {
        ["wifi", mode @ ("enable" | "disable"), ..] => {
            state.put_setting("global", "wifi_on", if *mode == "enable" { "1" } else { "0" });
            ProgramOutput::ok()
        }
        ["data", mode @ ("enable" | "disable"), ..] => {
            state.put_setting("global", "mobile_data", if *mode == "enable" { "1" } else { "0" });
            ProgramOutput::ok()
        }
        ["bluetooth", mode @ ("enable" | "disable"), ..] => {
            state.put_setting("global", "bluetooth_on", if *mode == "enable" { "1" } else { "0" });
            ProgramOutput::ok()
        }
        ["power", "stayon", mode, ..] => {
            let value = match *mode {
                "true" => "7",
                "usb" => "2",
                "ac" => "1",
                "wireless" => "4",
                _ => "0",
            };
            state.put_setting("global", "stay_on_while_plugged_in", value);
            ProgramOutput::ok()
        }
        ["usb" | "nfc" | "power", _, ..] => ProgramOutput::ok(),
        _ => ProgramOutput::fail(
            1,
            "Available commands:\n    help     Show information about the subcommands\n    power    Control the power manager\n    data     Control mobile data connectivity\n    wifi     Control the Wi-Fi manager\n    usb      Control Usb state\n    nfc      Control NFC functions\n    bluetooth Control Bluetooth service\n",
        ),
    }
}
