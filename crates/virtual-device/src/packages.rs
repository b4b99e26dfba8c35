//! The installed packages.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use crate::apk::{self, Manifest};
use crate::app::{launcher, settings, shop, workbench};
use crate::fs::Fs;

const PACKAGES_MAX: usize = 500;
/// Permissions of one app.
const PERMISSIONS_MAX: usize = 200;
/// The run-time permissions that this phone's own app requests.
const REQUESTED: [&str; 4] = [
    "android.permission.ACCESS_FINE_LOCATION",
    "android.permission.CAMERA",
    "android.permission.POST_NOTIFICATIONS",
    "android.permission.RECORD_AUDIO",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub uid: u32,
    pub directory: String,
    pub system: bool,
    /// The manifest of the app file; empty for apps that were there from the start.
    pub manifest: Manifest,
    /// True if `run-as` and debuggers may use it.
    pub debuggable: bool,
    pub version_code: u32,
    pub version_name: String,
    pub first_install_s: u32,
    pub last_update_s: u32,
    pub enabled: Enabled,
    /// Run-time permissions that its manifest names.
    pub requested: BTreeSet<String>,
    pub granted: BTreeSet<String>,
}

/// The state that `pm enable` and its relatives set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enabled {
    Default,
    Yes,
    No,
    ByUser,
}

impl Enabled {
    /// Returns the package manager's number for the state.
    pub fn number(self) -> u32 {
        match self {
            Enabled::Default => 0,
            Enabled::Yes => 1,
            Enabled::No => 2,
            Enabled::ByUser => 3,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Enabled::Default => "default",
            Enabled::Yes => "enabled",
            Enabled::No => "disabled",
            Enabled::ByUser => "disabled-user",
        }
    }

    pub fn is_on(self) -> bool {
        matches!(self, Enabled::Default | Enabled::Yes)
    }
}

impl Package {
    pub fn apk(&self) -> String {
        format!("{}/base.apk", self.directory)
    }

    /// Grants or revokes a permission; returns false when the manifest does not request it. An app whose manifest was
    /// not read may have any permission.
    pub fn grant(&mut self, permission: &str, granted: bool) -> bool {
        if !self.requested.contains(permission) {
            if self.system || self.debuggable || self.requested.len() >= PERMISSIONS_MAX {
                return false;
            }
            self.requested.insert(permission.to_owned());
        }
        if granted {
            self.granted.insert(permission.to_owned());
        } else {
            self.granted.remove(permission);
        }
        true
    }
}

#[derive(Debug)]
pub struct Packages {
    all: BTreeMap<String, Package>,
    /// The activity that the launcher starts, by package. It stays known when the package is removed, because an app
    /// of this phone can be installed again.
    entries: BTreeMap<String, String>,
    next_uid: u32,
}

impl Packages {
    pub fn new(fs: &mut Fs, now_s: u32) -> Packages {
        let mut packages = Packages { all: BTreeMap::new(), entries: BTreeMap::new(), next_uid: 10_120 };
        let apk = Bytes::from_static(b"PK\x03\x04");
        for (name, system) in [
            ("android", true),
            ("com.android.settings", true),
            ("com.android.shell", true),
            ("com.android.systemui", true),
            (launcher::PACKAGE, true),
            (workbench::PACKAGE, false),
            (shop::PACKAGE, false),
        ] {
            packages.add(name, system, apk.clone(), fs, now_s);
        }
        for (name, entry) in [
            (launcher::PACKAGE, launcher::ACTIVITY),
            (settings::PACKAGE, settings::MAIN),
            (workbench::PACKAGE, workbench::LOGIN),
            (shop::PACKAGE, shop::SEARCH),
        ] {
            packages.entries.insert(name.to_owned(), entry.to_owned());
        }
        packages
    }

    pub fn add(&mut self, name: &str, system: bool, apk: Bytes, fs: &mut Fs, now_s: u32) {
        let directory = if system {
            format!("/system/priv-app/{name}")
        } else {
            format!("/data/app/~~q1w2e3==/{name}-r4t5y6==")
        };
        let ours = name == workbench::PACKAGE;
        let requested: BTreeSet<String> =
            if ours { REQUESTED.iter().map(|p| (*p).to_owned()).collect() } else { BTreeSet::new() };
        let manifest = apk::read(&apk).unwrap_or_default();
        let package = Package {
            uid: self.next_uid,
            directory,
            system,
            debuggable: ours,
            version_code: manifest.version_code.unwrap_or(1),
            manifest,
            version_name: "1.0".to_owned(),
            first_install_s: now_s,
            last_update_s: now_s,
            enabled: Enabled::Default,
            requested,
            granted: BTreeSet::new(),
        };
        self.next_uid += 1;
        fs.install(&package.apk(), apk, now_s);
        self.all.insert(name.to_owned(), package);
    }

    /// Adds an app that its developer brought along.
    pub fn add_debuggable(&mut self, name: &str, entry: Option<&str>, fs: &mut Fs, now_s: u32) {
        if let Some(entry) = entry {
            self.entries.insert(name.to_owned(), entry.to_owned());
        }
        self.add(name, false, Bytes::from_static(b"PK\x03\x04"), fs, now_s);
        if let Some(package) = self.all.get_mut(name) {
            package.debuggable = true;
            package.requested = REQUESTED.iter().map(|p| (*p).to_owned()).collect();
        }
    }

    pub fn get(&self, name: &str) -> Option<&Package> {
        self.all.get(name)
    }

    /// Returns the activity that the launcher starts.
    pub fn entry(&self, name: &str) -> Option<&str> {
        self.entries.get(name).map(String::as_str)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut Package> {
        self.all.get_mut(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&String, &Package)> {
        self.all.iter()
    }

    /// Registers an app file under the name in its manifest. A file without one gets the name that follows `package=`
    /// in its first bytes, else a name made from its length.
    pub fn install(&mut self, apk: Bytes, fs: &mut Fs, now_s: u32) -> Result<String, String> {
        if !apk.starts_with(b"PK") {
            return Err(
                "Failure [INSTALL_PARSE_FAILED_NOT_APK: Failed to parse /data/app/vmdl1001.tmp/base.apk]"
                    .to_owned(),
            );
        }
        if self.all.len() >= PACKAGES_MAX {
            return Err("Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]".to_owned());
        }
        let manifest = apk::read(&apk).map(|manifest| manifest.package);
        let name =
            manifest.or_else(|| named_in(&apk)).unwrap_or_else(|| format!("com.installed.app{}", apk.len()));
        match self.all.get_mut(&name) {
            Some(package) => package.last_update_s = now_s,
            None => self.add(&name, false, apk, fs, now_s),
        }
        Ok(name)
    }

    pub fn uninstall(&mut self, name: &str, fs: &mut Fs) -> bool {
        match self.all.get(name) {
            Some(package) if !package.system => {
                fs.uninstall(&package.directory);
                fs.forget_private(name);
                self.all.remove(name);
                true
            }
            _ => false,
        }
    }
}

fn named_in(apk: &[u8]) -> Option<String> {
    const SEARCHED_BYTES: usize = 4096;
    const MARK: &[u8] = b"package=";
    let head = &apk[..apk.len().min(SEARCHED_BYTES)];
    let at = head.windows(MARK.len()).position(|w| w == MARK)? + MARK.len();
    let fits = |b: &u8| b.is_ascii_alphanumeric() || *b == b'.' || *b == b'_';
    let name: Vec<u8> = head[at..].iter().copied().take_while(|b| fits(b)).collect();
    let name = String::from_utf8(name).ok()?;
    name.contains('.').then_some(name)
}
