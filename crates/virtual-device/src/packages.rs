//! What is installed.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::apk::{self, Manifest};
use crate::app::{launcher, shop, workbench};
use crate::fs::Fs;

const PACKAGES_MAX: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    pub uid: u32,
    pub directory: String,
    pub system: bool,
    /// What the app file says; little for apps that were there from the start.
    pub manifest: Manifest,
}

impl Package {
    pub fn apk(&self) -> String {
        format!("{}/base.apk", self.directory)
    }
}

#[derive(Debug)]
pub struct Packages {
    all: BTreeMap<String, Package>,
    next_uid: u32,
}

impl Packages {
    pub fn new(fs: &mut Fs, now_s: u32) -> Packages {
        let mut packages = Packages { all: BTreeMap::new(), next_uid: 10_120 };
        let apk = Bytes::from_static(b"PK\x03\x04");
        for (name, system) in [
            ("android", true),
            ("com.android.settings", true),
            ("com.android.shell", true),
            ("com.android.systemui", true),
            (launcher::PACKAGE, true),
            (workbench::PACKAGE, false),
            (shop::PACKAGE, false),
            ("com.google.android.permissioncontroller", true),
        ] {
            packages.add(name, system, apk.clone(), fs, now_s);
        }
        packages
    }

    pub fn add(&mut self, name: &str, system: bool, apk: Bytes, fs: &mut Fs, now_s: u32) {
        let directory = if system {
            format!("/system/priv-app/{name}")
        } else {
            format!("/data/app/~~q1w2e3==/{name}-r4t5y6==")
        };
        let package =
            Package { uid: self.next_uid, directory, system, manifest: apk::read(&apk).unwrap_or_default() };
        self.next_uid += 1;
        fs.install(&package.apk(), apk, now_s);
        self.all.insert(name.to_owned(), package);
    }

    pub fn get(&self, name: &str) -> Option<&Package> {
        self.all.get(name)
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
        if !self.all.contains_key(&name) {
            self.add(&name, false, apk, fs, now_s);
        }
        Ok(name)
    }

    pub fn uninstall(&mut self, name: &str, fs: &mut Fs) -> bool {
        match self.all.get(name) {
            Some(package) if !package.system => {
                fs.uninstall(&package.directory);
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
