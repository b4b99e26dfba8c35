//! The embedded virtual phone: inside the server, or as a process of its own for any adb client.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use mdm_virtual_device::{
    AppFile, Auth, FrameworkApp, FrameworkConfig, IPhoneFaults, Network, Phone, PhoneConfig, Recording,
    Timing,
};
use tokio::net::TcpListener;

use crate::cli::{AuthArg, DeviceArgs, TimingArg, VirtualAndroid};
use crate::{fail, print};

/// The phone inside this process.
pub fn embedded(args: &DeviceArgs) -> Result<Phone, String> {
    let given = args.faults.unwrap_or_default();
    if given.iphone != IPhoneFaults::default() {
        return Err(format!("only iPhones have the faults {}", IPhoneFaults::NAMES.join(", ")));
    }
    Ok(Phone::new(PhoneConfig {
        timing: args.timing.map_or(Timing::Brisk, Timing::from),
        apps: load_apps(&args.apps)?,
        faults: given.faults,
        ..PhoneConfig::default()
    }))
}

impl From<TimingArg> for Timing {
    fn from(timing: TimingArg) -> Timing {
        match timing {
            TimingArg::Instant => Timing::Instant,
            TimingArg::Brisk => Timing::Brisk,
            TimingArg::Phone => Timing::Phone,
        }
    }
}

pub async fn run(options: VirtualAndroid) -> ExitCode {
    let hierarchy = match options.hierarchy.as_ref().map(std::fs::read).transpose() {
        Ok(hierarchy) => hierarchy.map(bytes::Bytes::from),
        Err(error) => return fail(&format!("the hierarchy cannot be read: {error}")),
    };
    let replay = match options.replay.as_deref().map(Recording::load).transpose() {
        Ok(replay) => replay,
        Err(error) => return fail(&format!("the recording cannot be played: {error}")),
    };
    let apps = match load_apps(if options.framework { &[] } else { &options.apps }) {
        Ok(apps) => apps,
        Err(problem) => return fail(&problem),
    };
    let timing = Timing::from(options.timing);
    let auth = match options.auth {
        AuthArg::Open => Auth::Open,
        AuthArg::Accept => Auth::AcceptNew,
        AuthArg::Refuse => Auth::Refuse,
    };
    let network = options.network.as_ref().map_or(Network::Off, |api| Network::On {
        api: Some(api.trim_end_matches('/').to_owned()).filter(|api| !api.is_empty()),
    });
    let (faults, seed) = (options.faults, options.seed);
    let config = PhoneConfig {
        hierarchy,
        replay,
        apps,
        network,
        timing,
        auth,
        faults,
        seed,
        ..PhoneConfig::default()
    };
    let phone = match start(config, &options) {
        Ok(phone) => phone,
        Err(problem) => return fail(&problem),
    };
    for need in phone.needs() {
        // Without a reader of stderr the log of the phone still says it.
        drop(writeln!(std::io::stderr(), "mobile-debug-mcp: {need}"));
    }
    let listener = match TcpListener::bind(("127.0.0.1", options.adb_port)).await {
        Ok(listener) => listener,
        Err(error) => return fail(&format!("cannot listen on port {}: {error}", options.adb_port)),
    };
    match listener.local_addr() {
        Ok(address) => drop(print(&format!("adb: {address}"))),
        Err(error) => return fail(&error.to_string()),
    }
    if options.trace {
        tokio::spawn(trace(phone.clone()));
    }
    match phone.serve(listener).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.to_string()),
    }
}

/// Where `cargo xtask framework` leaves its work, below the project's folder.
const FRAMEWORK_HOME: &str = ".third-party/framework";
const FRAMEWORK_HOME_VARIABLE: &str = "MDM_FRAMEWORK_HOME";
const FRAMEWORK_APP: &str = "widgets";

fn start(config: PhoneConfig, options: &VirtualAndroid) -> Result<Phone, String> {
    if !options.framework {
        return Ok(Phone::new(config));
    }
    let home =
        options.framework_home.clone().or_else(|| std::env::var_os(FRAMEWORK_HOME_VARIABLE).map(Into::into));
    let app = match (&options.apk, options.apps.as_slice()) {
        (Some(apk), _) => FrameworkApp::Apk(apk.clone()),
        (None, []) => FrameworkApp::Builtin(FRAMEWORK_APP.to_owned()),
        (None, [name]) => FrameworkApp::Builtin(name.to_string_lossy().into_owned()),
        (None, _) => return Err("the framework phone runs one app".to_owned()),
    };
    let framework = FrameworkConfig {
        home: home.unwrap_or_else(|| PathBuf::from(FRAMEWORK_HOME)),
        app,
        sdk: options.api,
        log: options.framework_log.clone(),
    };
    Phone::with_framework(config, &framework)
}

/// Places on the home screen.
const APPS_MAX: usize = 12;

pub fn load_apps(files: &[PathBuf]) -> Result<Vec<Arc<AppFile>>, String> {
    let mut apps: Vec<Arc<AppFile>> = Vec::new();
    if files.len() > APPS_MAX {
        return Err(format!("the phone has room for {APPS_MAX} apps"));
    }
    for file in files {
        let app = AppFile::load(file).map_err(|error| format!("the app cannot be installed: {error}"))?;
        if apps.iter().any(|other| other.package() == app.package()) {
            return Err(format!("{}: another file is {} already", file.display(), app.package()));
        }
        apps.push(app);
    }
    Ok(apps)
}

async fn trace(phone: Phone) {
    let mut scripts = phone.scripts();
    while let Ok(script) = scripts.recv().await {
        // A closed stderr ends the trace, not the phone.
        if writeln!(std::io::stderr(), "cmd {}", script.replace('\\', "\\\\").replace('\n', "\\n")).is_err() {
            return;
        }
    }
}
