//! `simctl`: finds the device that a command is about, and the commands for devices and apps.

use std::io;
use std::path::{Path, PathBuf};

use plist::{Dictionary, Value};
use tokio::io::{AsyncRead, AsyncWrite};

use super::frame::{EXIT, Request, STDERR, STDOUT, Session};
use super::output::Output;
use super::{list, log, plist_text, system};
use crate::iphone::apps::{AppEntry, read_info};
use crate::iphone::{IPhone, IPhoneKind};

/// The exit code for a device that is not there.
const NO_DEVICE: u8 = 148;

pub async fn answer<S: AsyncRead + AsyncWrite>(phone: &IPhone, session: &mut Session<S>) -> io::Result<()> {
    let request = session.request().await?;
    let words: Vec<&str> = request.arguments.iter().map(String::as_str).collect();
    let output = match words.as_slice() {
        ["simctl", words @ ..] => simctl(phone, &request, words, session).await?,
        ["--find" | "-f", "simctl"] => {
            Output::text("/Applications/Xcode.app/Contents/Developer/usr/bin/simctl\n")
        }
        ["--version"] => Output::text("xcrun version 70.\n"),
        ["--show-sdk-path" | "--show-sdk-version", ..] => Output::text("18.5\n"),
        [utility, ..] => Output::fail(
            72,
            format!("xcrun: error: unable to find utility \"{utility}\", not a developer tool or in PATH\n"),
        ),
        [] => Output::fail(72, "Usage: xcrun [options] <tool name> ... arguments ...\n"),
    };
    if !output.out.is_empty() {
        session.piece(STDOUT, &output.out).await?;
    }
    if !output.err.is_empty() {
        session.piece(STDERR, &output.err).await?;
    }
    session.piece(EXIT, &[output.code]).await
}

async fn simctl<S: AsyncRead + AsyncWrite>(
    phone: &IPhone,
    request: &Request,
    words: &[&str],
    session: &mut Session<S>,
) -> io::Result<Output> {
    // A device set of one's own has none of these devices; clients that name one mean this one all the same.
    let words = match words {
        ["--set", _, rest @ ..] => rest,
        words => words,
    };
    let (verb, device, rest) = match words {
        ["list", rest @ ..] => return Ok(list::list(phone, rest)),
        ["help" | "--help", ..] | [] => {
            return Ok(Output::usage("[--set <path>] [--profiles <path>] <subcommand> ..."));
        }
        ["launch", rest @ ..] => {
            let options = rest.iter().take_while(|word| word.starts_with('-')).count();
            match rest.split_at(options) {
                (options, [device, app @ ..]) => {
                    return Ok(known(phone, device).unwrap_or_else(|| launch(phone, options, app)));
                }
                _ => {
                    return Ok(Output::usage(
                        "launch [-w | --wait-for-debugger] [--console|--console-pty] <device> <app bundle identifier> [<argv 1> <argv 2> ... <argv n>]",
                    ));
                }
            }
        }
        ["spawn", rest @ ..] => {
            let options = rest.iter().take_while(|word| word.starts_with('-')).count();
            match rest.get(options..) {
                Some([device, rest @ ..]) => ("spawn", *device, rest),
                _ => {
                    return Ok(Output::usage(
                        "spawn [-w | --wait-for-debugger] <device> <path to executable>",
                    ));
                }
            }
        }
        ["shutdown", "all"] => ("shutdown", phone.config().udid.as_str(), &[][..]),
        [verb, device, rest @ ..] => (*verb, *device, rest),
        [verb] => return Ok(Output::fail(64, format!("Unrecognized subcommand: {verb}\n"))),
    };
    if let Some(unknown) = no_such_device(phone, device) {
        return Ok(unknown);
    }
    if let Some(output) = lifecycle(phone, verb, rest) {
        return Ok(output);
    }
    if phone.simulator(|simulator| simulator.shut_down) {
        return Ok(Output::state("lookup", "Shutdown"));
    }
    match (verb, rest) {
        ("spawn", ["log", words @ ..]) => log::log(phone, words, session).await,
        ("pbcopy", _) => Ok(system::set_pasteboard(phone, &session.input().await?)),
        ("push", [words @ .., "-"]) => {
            let payload = session.input().await?;
            Ok(system::push(phone, words, &payload))
        }
        ("push", [words @ .., file]) => Ok(match std::fs::read(path(request, file)) {
            Ok(payload) => system::push(phone, words, &payload),
            Err(error) => Output::error("NSCocoaErrorDomain", 260, &error.to_string()),
        }),
        ("install" | "uninstall" | "terminate" | "listapps" | "appinfo" | "get_app_container", rest) => {
            Ok(app_command(phone, verb, rest, request))
        }
        (verb, rest) => Ok(system::run(phone, verb, rest, request)),
    }
}

/// The answer for a device that is not there, or is not in the state for most commands.
fn known(phone: &IPhone, device: &str) -> Option<Output> {
    no_such_device(phone, device).or_else(|| {
        phone.simulator(|simulator| simulator.shut_down).then(|| Output::state("lookup", "Shutdown"))
    })
}

fn no_such_device(phone: &IPhone, device: &str) -> Option<Output> {
    let config = phone.config();
    if config.kind == IPhoneKind::Simulator && (device == config.udid || device == config.name) {
        return None;
    }
    if device == "booted" {
        let none = config.kind != IPhoneKind::Simulator || phone.simulator(|simulator| simulator.shut_down);
        return none.then(|| Output::fail(NO_DEVICE, "No devices are booted.\n"));
    }
    Some(Output::fail(NO_DEVICE, format!("Invalid device: {device}\n")))
}

/// Commands that work in any state of the device.
fn lifecycle(phone: &IPhone, verb: &str, words: &[&str]) -> Option<Output> {
    let shut_down = phone.simulator(|simulator| simulator.shut_down);
    Some(match verb {
        "boot" if shut_down => {
            phone.boot_simulator();
            Output::ok()
        }
        "boot" => Output::state("boot device", "Booted"),
        "shutdown" if shut_down => Output::state("shutdown device", "Shutdown"),
        "shutdown" => {
            phone.shut_simulator_down();
            Output::ok()
        }
        "erase" if !shut_down => Output::state("erase contents and settings", "Booted"),
        "erase" => {
            phone.erase_simulator();
            Output::ok()
        }
        "bootstatus" => boot_status(phone, words.contains(&"-b"), shut_down),
        _ => return None,
    })
}

fn boot_status(phone: &IPhone, boot: bool, shut_down: bool) -> Output {
    let config = phone.config();
    if shut_down && !boot {
        // The real one waits until somebody boots the device; nobody would here.
        return Output::state("lookup", "Shutdown");
    }
    let head = format!("Monitoring boot status for {} ({}).\n", config.name, config.udid);
    if !shut_down {
        return Output::text(format!("{head}Device already booted, nothing to do.\n"));
    }
    phone.boot_simulator();
    Output::text(format!(
        "{head}[0] Status=0, isTerminal=NO, Elapsed=00:00.\n\tBooting.\n\
         [1] Status=4, isTerminal=NO, Elapsed=00:04.\n\tWaiting on System App\n\
         [2] Status=4294967295, isTerminal=YES, Elapsed=00:05.\n\tFinished.\n"
    ))
}

fn app_command(phone: &IPhone, verb: &str, words: &[&str], request: &Request) -> Output {
    match (verb, words) {
        ("install", [app]) => install(phone, &path(request, app)),
        ("uninstall", [bundle]) => {
            // An app that is not there is no error.
            phone.uninstall_app(bundle);
            Output::ok()
        }
        ("terminate", [bundle]) => terminate(phone, bundle),
        ("listapps", _) => {
            let apps = phone.apps();
            let all = apps.iter().map(|app| (app.bundle.clone(), Value::Dictionary(description(phone, app))));
            Output::text(plist_text::print(&Value::Dictionary(all.collect())))
        }
        ("appinfo", [bundle]) => {
            let found = phone.app(bundle).map_or_else(|| unknown(bundle), |app| description(phone, &app));
            Output::text(plist_text::print(&Value::Dictionary(found)))
        }
        ("get_app_container", [bundle, kind @ ..]) => container(phone, bundle, kind),
        (verb, _) => Output::usage(&format!("{verb} <device> ...")),
    }
}

fn launch(phone: &IPhone, options: &[&str], words: &[&str]) -> Output {
    let [bundle, ..] = words else {
        return Output::usage("launch [-w | --wait-for-debugger] <device> <app bundle identifier>");
    };
    let stop_first = options.contains(&"--terminate-running-process");
    match phone.launch_app(bundle, stop_first) {
        Some(pid) => Output::text(format!("{bundle}: {pid}\n")),
        None => {
            let nil =
                format!("Application info provider (FBSApplicationLibrary) returned nil for \"{bundle}\"");
            Output::error(
                "FBSOpenApplicationServiceErrorDomain",
                4,
                &format!(
                    "Simulator device failed to launch {bundle}.\nThe request to open \"{bundle}\" failed.\n\
                     Underlying error (domain=FBSOpenApplicationErrorDomain, code=4):\n\
                     \tThe operation couldn\u{2019}t be completed. {nil}\n\t{nil}"
                ),
            )
        }
    }
}

fn terminate(phone: &IPhone, bundle: &str) -> Output {
    if phone.terminate_app(bundle) {
        return Output::ok();
    }
    Output::error(
        "NSPOSIXErrorDomain",
        3,
        &format!(
            "Simulator device failed to terminate {bundle}.\nfound nothing to terminate\n\
             Underlying error (domain=NSPOSIXErrorDomain, code=3):\n\
             \tThe request to terminate \"{bundle}\" failed. found nothing to terminate\n\tfound nothing to terminate"
        ),
    )
}

fn install(phone: &IPhone, app: &Path) -> Output {
    if !app.exists() {
        let words = "Failed to install the requested application\n\
                     An application bundle was not found at the provided path.\n\
                     Provide a valid path to the desired application bundle.";
        return Output::error("NSPOSIXErrorDomain", 2, words);
    }
    let Ok(info) = read_info(app) else {
        let failed = format!("Failed to load Info.plist from bundle at path {}", app.display());
        let words = format!(
            "This app could not be installed at this time.\n{failed}\n\
             Underlying error (domain=MIInstallerErrorDomain, code=35):\n\t{failed}"
        );
        return Output::error("IXUserPresentableErrorDomain", 1, &words);
    };
    match phone.install_app(&info) {
        Ok(_) => Output::ok(),
        Err(key) => {
            let missing = if key == "CFBundleIdentifier" { "bundle ID" } else { key };
            let words = format!("Simulator device failed to install the application.\nMissing {missing}.");
            Output::error("IXErrorDomain", 13, &words)
        }
    }
}

fn container(phone: &IPhone, bundle: &str, kind: &[&str]) -> Output {
    let Some(app) = phone.app(bundle) else {
        let words = "The operation couldn\u{2019}t be completed. No such file or directory\nNo such file or directory";
        return Output::error("NSPOSIXErrorDomain", 2, words);
    };
    match kind.first() {
        None | Some(&"app") => Output::text(format!("{}\n", bundle_path(phone, &app))),
        Some(&"data") => Output::text(format!("{}\n", data_path(phone, &app))),
        Some(_) => Output::ok(),
    }
}

fn device_folder(phone: &IPhone) -> String {
    format!("/Users/virtual/Library/Developer/CoreSimulator/Devices/{}/data", phone.config().udid)
}

fn bundle_path(phone: &IPhone, app: &AppEntry) -> String {
    if app.system {
        let root = "/Library/Developer/CoreSimulator/Volumes/iOS_22F77/Library/Developer/CoreSimulator/Profiles/Runtimes/iOS 18.5.simruntime/Contents/Resources/RuntimeRoot";
        return format!("{root}/Applications/{}", app.file_name());
    }
    format!("{}/Containers/Bundle/Application/{}/{}", device_folder(phone), app.uuid, app.file_name())
}

fn data_path(phone: &IPhone, app: &AppEntry) -> String {
    format!("{}/Containers/Data/Application/{}", device_folder(phone), app.uuid)
}

/// The keys of a line of `listapps`, in their order.
fn description(phone: &IPhone, app: &AppEntry) -> Dictionary {
    let path = bundle_path(phone, app);
    let mut out = Dictionary::new();
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    put("ApplicationType", if app.system { "System" } else { "User" }.into());
    put("Bundle", format!("file://{}/", path.replace(' ', "%20")).into());
    if !app.system {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        put("BundleContainer", format!("file://{folder}/").into());
    }
    put("CFBundleDisplayName", app.name.as_str().into());
    put("CFBundleExecutable", app.executable.as_str().into());
    put("CFBundleIdentifier", app.bundle.as_str().into());
    put("CFBundleName", app.name.as_str().into());
    put("CFBundleShortVersionString", app.version.as_str().into());
    put("CFBundleVersion", app.build.as_str().into());
    put("DataContainer", format!("file://{}/", data_path(phone, app)).into());
    put("GroupContainers", Value::Dictionary(Dictionary::new()));
    put("Path", path.as_str().into());
    put("SBAppTags", Value::Array(Vec::new()));
    out
}

fn unknown(bundle: &str) -> Dictionary {
    let mut out = Dictionary::new();
    out.insert("CFBundleIdentifier".to_owned(), bundle.into());
    out.insert("GroupContainers".to_owned(), Value::Dictionary(Dictionary::new()));
    out.insert("SBAppTags".to_owned(), Value::Array(Vec::new()));
    out
}

pub fn path(request: &Request, named: &str) -> PathBuf {
    request.folder.join(named)
}
