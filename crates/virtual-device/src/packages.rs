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

/// Permissions that a person is asked for while an app runs.
const RUNTIME: [&str; 22] = [
    "android.permission.ACCESS_BACKGROUND_LOCATION",
    "android.permission.ACCESS_COARSE_LOCATION",
    "android.permission.ACCESS_FINE_LOCATION",
    "android.permission.ACTIVITY_RECOGNITION",
    "android.permission.BLUETOOTH_CONNECT",
    "android.permission.BLUETOOTH_SCAN",
    "android.permission.BODY_SENSORS",
    "android.permission.CALL_PHONE",
    "android.permission.CAMERA",
    "android.permission.GET_ACCOUNTS",
    "android.permission.POST_NOTIFICATIONS",
    "android.permission.READ_CALENDAR",
    "android.permission.READ_CONTACTS",
    "android.permission.READ_EXTERNAL_STORAGE",
    "android.permission.READ_MEDIA_IMAGES",
    "android.permission.READ_PHONE_STATE",
    "android.permission.READ_SMS",
    "android.permission.RECORD_AUDIO",
    "android.permission.SEND_SMS",
    "android.permission.WRITE_CALENDAR",
    "android.permission.WRITE_CONTACTS",
    "android.permission.WRITE_EXTERNAL_STORAGE",
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
    /// Names of the splits that were installed with the base.
    pub splits: Vec<String>,
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
            let is_known = self.system || self.debuggable || !self.manifest.package.is_empty();
            if is_known || self.requested.len() >= PERMISSIONS_MAX {
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
        let asked = manifest.permissions.iter().filter(|name| RUNTIME.contains(&name.as_str()));
        let requested: BTreeSet<String> = requested.into_iter().chain(asked.cloned()).collect();
        if let Some(entry) = &manifest.entry {
            self.entries.insert(name.to_owned(), entry.clone());
        }
        let package = Package {
            uid: self.next_uid,
            directory,
            system,
            debuggable: ours || manifest.debuggable,
            version_code: manifest.version_code.unwrap_or(1),
            version_name: manifest.version_name.clone().unwrap_or_else(|| "1.0".to_owned()),
            manifest,
            first_install_s: now_s,
            last_update_s: now_s,
            enabled: Enabled::Default,
            requested,
            granted: BTreeSet::new(),
            splits: Vec::new(),
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
    pub fn install(&mut self, files: &[Bytes], sdk: u32, fs: &mut Fs, now_s: u32) -> Result<String, String> {
        let apk = base_of(files)?;
        if !apk.starts_with(b"PK") {
            return Err(
                "Failure [INSTALL_PARSE_FAILED_NOT_APK: Failed to parse /data/app/vmdl1001.tmp/base.apk]"
                    .to_owned(),
            );
        }
        if self.all.len() >= PACKAGES_MAX {
            return Err("Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]".to_owned());
        }
        let manifest = apk::read(&apk);
        if let Some(manifest) = &manifest {
            self.check(manifest, &apk, sdk)?;
        }
        let read = manifest.is_some();
        let name = manifest.map(|manifest| manifest.package).or_else(|| named_in(&apk));
        let name = name.unwrap_or_else(|| format!("com.installed.app{}", apk.len()));
        let old = self.all.get(&name).cloned();
        match old {
            Some(old) if read => {
                self.add(&name, old.system, apk, fs, now_s);
                self.keep_what_updates_keep(&name, &old);
            }
            Some(_) => {
                if let Some(package) = self.all.get_mut(&name) {
                    package.last_update_s = now_s;
                }
            }
            None => self.add(&name, false, apk, fs, now_s),
        }
        if let Some(package) = self.all.get_mut(&name) {
            package.splits = split_names(files);
        }
        Ok(name)
    }

    /// What a package manager looks at before it installs a file whose manifest it can read.
    fn check(&self, manifest: &Manifest, apk: &Bytes, sdk: u32) -> Result<(), String> {
        if !apk::is_signed(apk) {
            return Err("Failure [INSTALL_PARSE_FAILED_NO_CERTIFICATES: Failed to collect certificates from /data/app/vmdl1001.tmp/base.apk using APK Signature Scheme v2: SHA-256 digest of contents did not verify]".to_owned());
        }
        if let Some(min) = manifest.min_sdk.filter(|min| *min > sdk) {
            return Err(format!(
                "Failure [INSTALL_FAILED_OLDER_SDK: Failed parse during installPackageLI: /data/app/vmdl1001.tmp/base.apk (at Binary XML file line #7): Requires newer sdk version #{min} (current version is #{sdk})]"
            ));
        }
        let installed = self.all.get(&manifest.package);
        let new = manifest.version_code.unwrap_or(0);
        if let Some(old) = installed.filter(|old| new < old.version_code && !old.manifest.package.is_empty())
        {
            return Err(format!(
                "Failure [INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: Update version code {new} is older than current {}]",
                old.version_code
            ));
        }
        Ok(())
    }

    /// An update keeps the user id, the date of the first installation and the permissions that were granted.
    fn keep_what_updates_keep(&mut self, name: &str, old: &Package) {
        if let Some(package) = self.all.get_mut(name) {
            package.uid = old.uid;
            package.first_install_s = old.first_install_s;
            package.enabled = old.enabled;
            package.granted = old.granted.intersection(&package.requested).cloned().collect();
        }
    }

    pub fn uninstall(&mut self, name: &str, fs: &mut Fs) -> bool {
        match self.all.get(name) {
            Some(package) if !package.system => {
                fs.uninstall(&package.directory);
                fs.forget_private(name);
                if package.manifest.entry.is_some() {
                    self.entries.remove(name);
                }
                self.all.remove(name);
                true
            }
            _ => false,
        }
    }
}

/// The one file that is no split.
fn base_of(files: &[Bytes]) -> Result<Bytes, String> {
    let is_split = |file: &Bytes| apk::read(file).is_some_and(|manifest| manifest.split.is_some());
    let mut bases = files.iter().filter(|file| !is_split(file));
    match (bases.next(), bases.next()) {
        (Some(base), None) => Ok(base.clone()),
        (None, _) => Err("Failure [INSTALL_FAILED_MISSING_SPLIT: Missing split for base]".to_owned()),
        _ => Err("Failure [INSTALL_FAILED_INVALID_APK: Split null was defined multiple times]".to_owned()),
    }
}

fn split_names(files: &[Bytes]) -> Vec<String> {
    files.iter().filter_map(|file| apk::read(file)?.split).collect()
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
