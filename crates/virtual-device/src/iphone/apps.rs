//! The apps of an iPhone: the phone's packages under Apple's names, and bundles that are installed.

use std::io;
use std::path::Path;

use plist::{Dictionary, Value};

use super::IPhone;
use super::names::{bundle_of, package_of};
use super::runner;
use crate::apk::Manifest;
use crate::state::State;

/// Largest `Info.plist`.
const INFO_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The one screen of an app whose code cannot run here.
const ENTRY: &str = ".Main";
/// Packages of Android's own that no iPhone has.
const HIDDEN: [&str; 3] = ["android", "com.android.shell", "com.android.systemui"];

/// What an iPhone knows of one installed app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppEntry {
    pub bundle: String,
    /// The name below its icon.
    pub name: String,
    pub executable: String,
    /// `CFBundleShortVersionString`.
    pub version: String,
    /// `CFBundleVersion`.
    pub build: String,
    pub system: bool,
    pub pid: Option<u32>,
    /// Identifies its folders; the same app has the same for as long as it stays installed.
    pub uuid: String,
}

impl AppEntry {
    pub fn file_name(&self) -> String {
        format!("{}.app", self.executable)
    }

    /// Where its bundle is on a phone.
    pub fn folder(&self) -> String {
        match self.system {
            true => format!("/Applications/{}", self.file_name()),
            false => {
                format!("/private/var/containers/Bundle/Application/{}/{}", self.uuid, self.file_name())
            }
        }
    }
}

impl IPhone {
    /// Returns all apps by bundle id.
    pub(crate) fn apps(&self) -> Vec<AppEntry> {
        self.phone.with(|state| {
            let packages = state.packages.iter().filter(|(name, _)| !HIDDEN.contains(&name.as_str()));
            packages.map(|(name, _)| entry(state, name)).collect()
        })
    }

    pub(crate) fn app(&self, bundle: &str) -> Option<AppEntry> {
        self.apps().into_iter().find(|app| app.bundle == bundle)
    }

    /// Brings an app to the front and returns its pid; nothing when it is not installed.
    pub fn launch_app(&self, bundle: &str, stop_first: bool) -> Option<u32> {
        let package = package_of(bundle);
        self.phone.with(|state| {
            state.packages.get(package)?;
            if stop_first {
                state.kill(package, false);
            }
            if !state.launch(package, None) {
                return None;
            }
            state.settle();
            state.processes.pid(package)
        })
    }

    /// Ends an app; false when it does not run.
    pub fn terminate_app(&self, bundle: &str) -> bool {
        let package = package_of(bundle);
        self.phone.with(|state| {
            let runs = state.processes.pid(package).is_some();
            if runs {
                state.kill(package, false);
            }
            runs
        })
    }

    /// Removes an app with what it saved; false for an app of the system and for one that is not there.
    pub(crate) fn uninstall_app(&self, bundle: &str) -> bool {
        let package = package_of(bundle);
        self.phone.with(|state| {
            if state.packages.get(package).is_none_or(|found| found.system) {
                return false;
            }
            state.kill(package, true);
            let removed = state.packages.uninstall(package, &mut state.fs);
            state.surface.uninstalled(package, state.now);
            removed
        })
    }

    /// Installs an app by its `Info.plist`; the words of the error name the key that is missing.
    pub(crate) fn install_app(&self, info: &Dictionary) -> Result<AppEntry, &'static str> {
        let text = |key: &str| info.get(key).and_then(Value::as_string).map(str::to_owned);
        let bundle = text("CFBundleIdentifier").filter(|id| !id.is_empty()).ok_or("CFBundleIdentifier")?;
        text("CFBundleExecutable").ok_or("CFBundleExecutable")?;
        let package = package_of(&bundle).to_owned();
        let name = text("CFBundleDisplayName").or_else(|| text("CFBundleName"));
        Ok(self.phone.with(|state| {
            let now_s = state.now_s();
            state.kill(&package, false);
            let own = state.packages.entry(&package).map(str::to_owned).filter(|entry| entry != ENTRY);
            let version = text("CFBundleShortVersionString").unwrap_or_else(|| "1.0".to_owned());
            let code = text("CFBundleVersion").and_then(|build| build.parse().ok()).unwrap_or(1);
            state.packages.add_debuggable(&package, own.as_deref().or(Some(ENTRY)), &mut state.fs, now_s);
            if let Some(found) = state.packages.get_mut(&package) {
                found.version_name = version;
                found.version_code = code;
                found.manifest = manifest(&package, name, own);
            }
            state.show_installed(&package);
            entry(state, &package)
        }))
    }
}

/// An app of the phone's own keeps its screens; any other shows that its code cannot run.
fn manifest(package: &str, name: Option<String>, own: Option<String>) -> Manifest {
    let entry = if own.is_some() { None } else { Some(ENTRY.to_owned()) };
    Manifest {
        package: package.to_owned(),
        label: name,
        activities: entry.iter().cloned().collect(),
        entry,
        debuggable: true,
        ..Manifest::default()
    }
}

/// Reads the `Info.plist` of a bundle of this machine.
pub fn read_info(app: &Path) -> io::Result<Dictionary> {
    let path = app.join("Info.plist");
    if std::fs::metadata(&path)?.len() > INFO_BYTES_MAX {
        return Err(io::Error::other("the Info.plist is too large"));
    }
    parse_info(&std::fs::read(&path)?).ok_or_else(|| io::Error::other("the Info.plist cannot be read"))
}

pub fn parse_info(bytes: &[u8]) -> Option<Dictionary> {
    plist::from_bytes::<Value>(bytes).ok()?.into_dictionary()
}

fn entry(state: &State, package: &str) -> AppEntry {
    let found = state.packages.get(package);
    let bundle = bundle_of(package).to_owned();
    let last = bundle.rsplit('.').next().unwrap_or(&bundle);
    let mut letters = last.chars();
    let executable = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    let executable: String = runner::executable_of(&bundle).unwrap_or(executable);
    let label = found.and_then(|found| found.manifest.label.clone());
    let name = label.unwrap_or_else(|| match executable.as_str() {
        "Preferences" => "Settings".to_owned(),
        "Springboard" => "SpringBoard".to_owned(),
        _ => executable.clone(),
    });
    let (uid, installed_s) = found.map_or((0, 0), |found| (found.uid, found.first_install_s));
    AppEntry {
        name,
        version: found.map_or_else(|| "1.0".to_owned(), |found| found.version_name.clone()),
        build: found.map_or_else(|| "1".to_owned(), |found| found.version_code.to_string()),
        system: found.is_some_and(|found| found.system),
        pid: state.processes.pid(package),
        uuid: format!("{installed_s:08X}-0000-4000-8000-{uid:012X}"),
        executable,
        bundle,
    }
}
