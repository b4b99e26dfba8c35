//! Commands about the simulated system: pictures, links, privacy, pushes, appearance, places and the pasteboard.

use std::path::Path;

use super::frame::Request;
use super::output::Output;
use super::simctl::path;
use crate::helpers::picture;
use crate::iphone::IPhone;
use crate::iphone::names::package_of;
use crate::iphone::simulator::Push;
use crate::shell::services::{Night, TestLocation};
use crate::state::CLIPBOARD_BYTES_MAX;
use crate::surface::SystemEvent;

const SERVICES: [&str; 13] = [
    "all",
    "calendar",
    "contacts-limited",
    "contacts",
    "location",
    "location-always",
    "photos-add",
    "photos",
    "media-library",
    "microphone",
    "motion",
    "reminders",
    "siri",
];
const SIZES: [&str; 12] = [
    "extra-small",
    "small",
    "medium",
    "large",
    "extra-large",
    "extra-extra-large",
    "extra-extra-extra-large",
    "accessibility-medium",
    "accessibility-large",
    "accessibility-extra-large",
    "accessibility-extra-extra-large",
    "accessibility-extra-extra-extra-large",
];
/// Largest payload of a push.
const PAYLOAD_BYTES_MAX: usize = 4096;

pub fn run(phone: &IPhone, verb: &str, words: &[&str], request: &Request) -> Output {
    match (verb, words) {
        ("io", ["screenshot", words @ ..]) => screenshot(phone, words, request),
        ("openurl", [url]) => open(phone, url),
        ("privacy", words) => privacy(phone, words),
        ("ui", words) => ui(phone, words),
        ("location", words) => location(phone, words),
        ("status_bar", words) => status_bar(phone, words),
        ("pbpaste", _) => Output::text(phone.phone().with(|state| state.clipboard.clone())),
        ("addmedia", [_, ..]) => add_media(phone, words, request),
        ("keychain", words) => keychain(phone, words, request),
        ("getenv", [name]) => Output::text(match *name {
            "SIMULATOR_UDID" => format!("{}\n", phone.config().udid),
            "SIMULATOR_RUNTIME_VERSION" => format!("{}\n", phone.config().ios_version),
            _ => "\n".to_owned(),
        }),
        ("spawn", ["launchctl", "list"]) => processes(phone),
        ("spawn", [program, ..]) => Output::error(
            "NSPOSIXErrorDomain",
            2,
            &format!(
                "The operation couldn\u{2019}t be completed. No such file or directory\n{program}: No such file or directory"
            ),
        ),
        ("io" | "openurl" | "addmedia" | "getenv" | "spawn", _) => {
            Output::usage(&format!("{verb} <device> ..."))
        }
        (verb, _) => Output::fail(64, format!("Unrecognized subcommand: {verb}\n")),
    }
}

fn screenshot(phone: &IPhone, words: &[&str], request: &Request) -> Output {
    let kind = words.iter().find_map(|word| word.strip_prefix("--type=")).unwrap_or("png");
    let file = words.iter().rfind(|word| !word.starts_with("--"));
    let Some(file) = file else { return Output::usage("io <device> screenshot [--type=<type>] <file>") };
    let bytes = match kind {
        "png" => picture::png(phone.phone()).to_vec(),
        "jpeg" => picture::jpeg(phone.phone(), 90).unwrap_or_default(),
        _ => return Output::fail(64, format!("Unsupported image type: {kind}\n")),
    };
    // simctl tells what it noticed on stderr, also when all went well.
    let note = |file: &str| {
        format!("Detected file type '{}' from extension\nWrote screenshot to: {file}\n", kind.to_uppercase())
    };
    if *file == "-" {
        return Output { out: bytes, ..Output::default() };
    }
    match std::fs::write(path(request, file), bytes) {
        Ok(()) => Output { err: note(file).into_bytes(), ..Output::default() },
        Err(error) => Output::error("NSCocoaErrorDomain", 4, &error.to_string()),
    }
}

/// Pages of the web go to a browser, which this phone does not have; other links go to the app whose bundle id ends
/// with their scheme.
fn open(phone: &IPhone, url: &str) -> Output {
    let Some((scheme, _)) = url.split_once(':').filter(|(scheme, _)| !scheme.is_empty()) else {
        return not_opened(url);
    };
    let ends = |bundle: &str| bundle.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case(scheme));
    let app = phone.apps().into_iter().find(|app| ends(&app.bundle));
    if let Some(app) = &app {
        phone.launch_app(&app.bundle, false);
    } else if !matches!(scheme, "http" | "https") {
        return not_opened(url);
    }
    phone.simulator(|simulator| simulator.open(url));
    Output::ok()
}

fn not_opened(url: &str) -> Output {
    let words = format!(
        "Simulator device failed to open {url}.\nThe operation couldn\u{2019}t be completed. (OSStatus error -10814.)"
    );
    Output::error("NSOSStatusErrorDomain", -10814, &words)
}

fn privacy(phone: &IPhone, words: &[&str]) -> Output {
    let usage = || Output::usage("privacy <device> <action> <service> [<bundle identifier>]");
    let (action, service, bundle) = match words {
        [action, service, bundle] => (*action, *service, *bundle),
        ["reset", service] => ("reset", *service, ""),
        _ => return usage(),
    };
    if !SERVICES.contains(&service) {
        return usage();
    }
    let granted = match action {
        "grant" => Some(true),
        "revoke" => Some(false),
        "reset" => None,
        _ => return usage(),
    };
    phone.simulator(|simulator| simulator.permit(bundle, service, granted));
    let permission = match service {
        "location" | "location-always" => Some("android.permission.ACCESS_FINE_LOCATION"),
        "microphone" => Some("android.permission.RECORD_AUDIO"),
        _ => None,
    };
    if let Some(permission) = permission {
        phone.phone().with(|state| {
            let package = state.packages.get_mut(package_of(bundle));
            package.map(|package| package.grant(permission, granted == Some(true)))
        });
    }
    // Taking a permission away ends the app.
    if granted != Some(true) {
        phone.terminate_app(bundle);
    }
    Output::ok()
}

fn ui(phone: &IPhone, words: &[&str]) -> Output {
    match words {
        ["appearance"] => {
            let dark = phone.phone().with(|state| state.services.night == Night::Yes);
            Output::text(if dark { "dark\n" } else { "light\n" })
        }
        ["appearance", mode @ ("light" | "dark")] => {
            phone.phone().with(|state| {
                let dark = *mode == "dark";
                state.services.night = if dark { Night::Yes } else { Night::No };
                state.surface.system(SystemEvent::NightMode(dark), state.now);
            });
            Output::ok()
        }
        ["content_size"] => {
            let size = phone.simulator(|simulator| simulator.content_size.clone());
            Output::text(format!("{}\n", size.as_deref().unwrap_or("large")))
        }
        ["content_size", size] if SIZES.contains(size) => {
            phone.simulator(|simulator| simulator.content_size = Some((*size).to_owned()));
            Output::ok()
        }
        ["increase_contrast"] => {
            let on = phone.simulator(|simulator| simulator.increase_contrast);
            Output::text(if on { "enabled\n" } else { "disabled\n" })
        }
        ["increase_contrast", mode @ ("enabled" | "disabled")] => {
            phone.simulator(|simulator| simulator.increase_contrast = *mode == "enabled");
            Output::ok()
        }
        _ => Output::usage("ui <device> <option> [<arguments>]"),
    }
}

fn location(phone: &IPhone, words: &[&str]) -> Output {
    let place = match words {
        ["clear"] => None,
        ["set", place] => {
            let parse = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
            let Some(place) = place.split_once(',').and_then(|(lat, lon)| parse(lat).zip(parse(lon))) else {
                return Output::usage("location <device> set <lat,lon>");
            };
            Some(place)
        }
        _ => return Output::usage("location <device> <action> [<arguments>]"),
    };
    phone.simulator(|simulator| simulator.location = place);
    phone.phone().with(|state| {
        state.services.test_location = place.map(|place| TestLocation { enabled: true, place: Some(place) });
    });
    Output::ok()
}

fn status_bar(phone: &IPhone, words: &[&str]) -> Output {
    match words {
        ["list"] => {
            let set = phone.simulator(|simulator| simulator.status_bar.clone());
            let lines = set.iter().map(|(key, value)| format!("{key}: {value}\n"));
            Output::text(format!(
                "Current Status Bar Overrides:\n=============================\n{}",
                lines.collect::<String>()
            ))
        }
        ["clear"] => {
            phone.simulator(|simulator| simulator.status_bar.clear());
            Output::ok()
        }
        ["override", pairs @ ..] if !pairs.is_empty() && pairs.len() % 2 == 0 => {
            phone.simulator(|simulator| {
                for pair in pairs.chunks_exact(2) {
                    if let [key, value] = pair
                        && simulator.status_bar.len() < SIZES.len()
                    {
                        simulator
                            .status_bar
                            .insert(key.trim_start_matches('-').to_owned(), (*value).to_owned());
                    }
                }
            });
            Output::ok()
        }
        _ => Output::usage("status_bar <device> [list | clear | override <override arguments>]"),
    }
}

pub fn set_pasteboard(phone: &IPhone, bytes: &[u8]) -> Output {
    if bytes.len() > CLIPBOARD_BYTES_MAX {
        return Output::fail(1, "the pasteboard takes no more than a megabyte\n");
    }
    let text = String::from_utf8_lossy(bytes).into_owned();
    phone.phone().with(|state| state.clipboard = text);
    Output::ok()
}

/// The app is named by the caller or by the payload.
pub fn push(phone: &IPhone, words: &[&str], payload: &[u8]) -> Output {
    let invalid = |why: &str| Output::fail(1, format!("Invalid push payload: {why}\n"));
    if payload.len() > PAYLOAD_BYTES_MAX {
        return invalid("it is larger than 4096 bytes");
    }
    let Ok(content) = serde_json::from_slice::<serde_json::Value>(payload) else {
        return invalid("it is no JSON");
    };
    let named = content.get("Simulator Target Bundle").and_then(serde_json::Value::as_str);
    let Some(bundle) = words.first().copied().or(named) else {
        return invalid("no \"Simulator Target Bundle\"");
    };
    if !content.get("aps").is_some_and(serde_json::Value::is_object) {
        return invalid("no \"aps\"");
    }
    let push = Push { bundle: bundle.to_owned(), payload: String::from_utf8_lossy(payload).into_owned() };
    phone.simulator(|simulator| simulator.push(push));
    Output::text(format!("Notification sent to '{bundle}'\n"))
}

fn add_media(phone: &IPhone, files: &[&str], request: &Request) -> Output {
    for file in files {
        if !path(request, file).exists() {
            return Output::error(
                "NSPOSIXErrorDomain",
                2,
                &format!("One or more files could not be found: {file}"),
            );
        }
    }
    phone.simulator(|simulator| {
        for file in files.iter().filter_map(|file| Path::new(file).file_name()?.to_str()) {
            if simulator.media.len() < PAYLOAD_BYTES_MAX {
                simulator.media.insert(file.to_owned());
            }
        }
    });
    Output::ok()
}

fn keychain(phone: &IPhone, words: &[&str], request: &Request) -> Output {
    match words {
        ["add-root-cert" | "add-cert", file] => match std::fs::read_to_string(path(request, file)) {
            Ok(pem) if phone.phone().install_certificate(&pem) => Output::ok(),
            Ok(_) => Output::fail(1, "the certificate cannot be read\n"),
            Err(error) => Output::error("NSCocoaErrorDomain", 260, &error.to_string()),
        },
        ["reset"] => Output::ok(),
        _ => Output::usage("keychain <device> <action> [<arguments>]"),
    }
}

fn processes(phone: &IPhone) -> Output {
    let mut out = "PID\tStatus\tLabel\n".to_owned();
    for app in phone.apps() {
        if let Some(pid) = app.pid {
            out.push_str(&format!(
                "{pid}\t0\tUIKitApplication:{}[{:04x}][rb-legacy]\n",
                app.bundle,
                pid & 0xffff
            ));
        }
    }
    Output::text(out)
}
