//! Packages of npm: one that starts the program, and one with the program for each platform, of which npm installs the one
//! that fits. No script runs when they are installed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::entry::Entry;
use super::platform::{self, Platform};
use super::{About, NAME, tarball};

/// Where npm puts everything in a package.
const FOLDER: &str = "package";
const LAUNCHER: &str = "launcher.js";
/// What the launcher needs of Node.
const NODE: &str = ">=18";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Package<'a> {
    name: String,
    version: &'a str,
    description: &'a str,
    license: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<Repository>,
    /// By which the MCP registry knows whose package this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bin: Option<BTreeMap<&'static str, &'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    engines: Option<BTreeMap<&'static str, &'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    os: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    optional_dependencies: BTreeMap<String, &'a str>,
    /// What a new installation says of itself.
    files: Vec<&'static str>,
}

#[derive(Serialize)]
struct Repository {
    #[serde(rename = "type")]
    kind: &'static str,
    url: String,
}

/// A packed package and the name of its file.
pub struct Packed {
    pub file: String,
    pub bytes: Vec<u8>,
}

/// The package that people install.
pub fn launcher(about: &About, script: Vec<u8>, readme: Vec<u8>) -> Result<Packed, String> {
    let package = Package {
        mcp_name: about.registry_name(),
        bin: Some(BTreeMap::from([(NAME, LAUNCHER)])),
        engines: Some(BTreeMap::from([("node", NODE)])),
        optional_dependencies: platform::ALL.map(|each| (name(each), about.version.as_str())).into(),
        files: vec![LAUNCHER],
        ..base(about, NAME.to_owned())
    };
    let entries = vec![Entry::program(LAUNCHER, script), Entry::file("README.md", readme)];
    packed(about, NAME, &package, entries)
}

/// The package with the program of one platform.
pub fn program(about: &About, platform: Platform, program: Vec<u8>) -> Result<Packed, String> {
    let package = Package {
        os: Some([platform.os]),
        cpu: Some([platform.cpu]),
        files: vec!["bin"],
        ..base(about, name(platform))
    };
    let readme = format!(
        "# {}\n\nThe program of `{NAME}` for {}. Install `{NAME}`, which brings this.\n",
        package.name,
        platform.name()
    );
    let file = format!("{NAME}-{}", platform.name());
    let entries = vec![
        Entry::program(&format!("bin/{}", platform.program()), program),
        Entry::file("README.md", readme.into_bytes()),
    ];
    packed(about, &file, &package, entries)
}

fn name(platform: Platform) -> String {
    format!("@{NAME}/{}", platform.name())
}

fn base(about: &About, name: String) -> Package<'_> {
    let url = about.repository.as_ref().map(|repository| format!("git+https://github.com/{repository}.git"));
    Package {
        name,
        version: &about.version,
        description: &about.description,
        license: &about.license,
        repository: url.map(|url| Repository { kind: "git", url }),
        mcp_name: None,
        bin: None,
        engines: None,
        os: None,
        cpu: None,
        optional_dependencies: BTreeMap::new(),
        files: Vec::new(),
    }
}

fn packed(about: &About, name: &str, package: &Package, mut entries: Vec<Entry>) -> Result<Packed, String> {
    let manifest = super::pretty(package)?;
    entries.push(Entry::file("package.json", manifest));
    entries.push(Entry::file("LICENSE", about.license_text.clone()));
    let entries: Vec<Entry> = entries.into_iter().map(|entry| entry.below(FOLDER)).collect();
    Ok(Packed { file: format!("{name}-{}.tgz", about.version), bytes: tarball::gzipped(&entries)? })
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use serde_json::Value;

    use super::*;

    /// The text of a file in a package. The fields of tar stand at fixed places.
    fn text_of(packed: &Packed, wanted: &str) -> String {
        let mut tar = Vec::new();
        flate2::read::GzDecoder::new(packed.bytes.as_slice()).read_to_end(&mut tar).unwrap();
        let mut at = 0;
        loop {
            let name = String::from_utf8_lossy(&tar[at..at + 100]).trim_end_matches('\0').to_owned();
            let size = String::from_utf8_lossy(&tar[at + 124..at + 135]).into_owned();
            let size = usize::from_str_radix(&size, 8).unwrap();
            if name == wanted {
                return String::from_utf8_lossy(&tar[at + 512..at + 512 + size]).into_owned();
            }
            at += 512 + size.next_multiple_of(512);
        }
    }

    #[test]
    fn the_launcher_brings_every_platform_by_version_and_runs_no_script() {
        let about = About::for_test(Some("someone/phones"));
        let packed = launcher(&about, b"script".to_vec(), b"readme".to_vec()).unwrap();
        assert_eq!(packed.file, "mobile-debug-mcp-1.2.3.tgz");
        let package: Value = serde_json::from_str(&text_of(&packed, "package/package.json")).unwrap();
        let brought = package["optionalDependencies"].as_object().unwrap();
        assert_eq!(brought.len(), platform::ALL.len());
        assert!(brought.values().all(|version| version == "1.2.3"), "{brought:?}");
        assert_eq!(package["mcpName"], "io.github.someone/mobile-debug-mcp");
        assert_eq!(package["bin"]["mobile-debug-mcp"], "launcher.js");
        assert!(package.get("scripts").is_none() && package.get("dependencies").is_none());
        assert_eq!(text_of(&packed, "package/launcher.js"), "script");
    }

    #[test]
    fn the_package_of_a_platform_fits_that_platform_only() {
        let windows = Platform { os: "win32", cpu: "arm64" };
        let packed = program(&About::for_test(None), windows, b"MZ".to_vec()).unwrap();
        assert_eq!(packed.file, "mobile-debug-mcp-win32-arm64-1.2.3.tgz");
        let package: Value = serde_json::from_str(&text_of(&packed, "package/package.json")).unwrap();
        assert_eq!(package["name"], "@mobile-debug-mcp/win32-arm64");
        assert_eq!((&package["os"][0], &package["cpu"][0]), (&"win32".into(), &"arm64".into()));
        assert!(package.get("scripts").is_none() && package.get("mcpName").is_none(), "{package}");
        assert_eq!(text_of(&packed, "package/bin/mobile-debug-mcp.exe"), "MZ");
    }
}

/// packaging/npm/publish.sh, with a script in the place of npm.
#[cfg(test)]
#[cfg(unix)]
mod publishing {
    use std::process::Command;

    use super::*;
    use crate::tidy::tree::Tree;

    /// Stands for npm: a file in `registry` is what it knows, and publishing is written down.
    const NPM: &str = "#!/bin/sh\ncase $1 in\n\
        view) cat \"$REGISTRY/$(echo \"$2 $3\" | tr / _)\" ;;\n\
        publish) echo \"$(basename \"$2\") $*\" >> \"$REGISTRY/published\" ;;\nesac\n";

    /// A folder with all packages of a release, a registry that knows an older version of each, and what stands for npm.
    struct Release(Tree);

    impl Release {
        fn new(label: &str) -> Release {
            let release = Release(Tree::new(label));
            let about = About::for_test(Some("someone/phones"));
            let mut all = vec![launcher(&about, b"script".to_vec(), b"readme".to_vec()).unwrap()];
            all.extend(platform::ALL.map(|each| program(&about, each, b"MZ".to_vec()).unwrap()));
            std::fs::create_dir_all(release.0.root().join("dist")).unwrap();
            for packed in &all {
                std::fs::write(release.0.root().join("dist").join(&packed.file), &packed.bytes).unwrap();
            }
            let names = platform::ALL.map(name).into_iter().chain([NAME.to_owned()]);
            for name in names {
                release.know(&format!("{name} repository.url"), "git+https://github.com/someone/phones.git");
                release.know(&format!("{name} dist-tags.latest"), "1.2.2");
            }
            release.0.write("npm.txt", NPM);
            let (from, to) = (release.0.root().join("npm.txt"), release.0.root().join("npm"));
            let made = Command::new("install").args(["-m", "755"]).args([from, to]).status().unwrap();
            assert!(made.success());
            release
        }

        fn know(&self, question: &str, answer: &str) {
            self.0.write(&format!("registry/{}", question.replace('/', "_")), answer);
        }

        /// Whether the script succeeds, and what it says.
        fn publish(&self, words: &[&str]) -> (bool, String) {
            let root = self.0.root();
            let old = std::env::var("PATH").unwrap();
            let mut script = Command::new(crate::command::root().join("packaging/npm/publish.sh"));
            script.env("PATH", format!("{}:{old}", root.display())).env("REGISTRY", root.join("registry"));
            let done = script.args(words).arg(root.join("dist")).arg("someone/phones").output().unwrap();
            let said = [done.stdout, done.stderr].concat();
            (done.status.success(), String::from_utf8_lossy(&said).into_owned())
        }

        /// Files in the order in which they were published.
        fn published(&self) -> Vec<String> {
            let told = std::fs::read_to_string(self.0.root().join("registry/published")).unwrap_or_default();
            told.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
        }
    }

    #[test]
    fn what_is_on_npm_already_is_left_out_and_the_launcher_comes_last() {
        let release = Release::new("npm-publish");
        assert_eq!(release.publish(&["--check"]), (true, String::new()));
        assert_eq!(release.published(), Vec::<String>::new());
        release.know("@mobile-debug-mcp/linux-x64@1.2.3 version", "1.2.3");
        release.know("@mobile-debug-mcp/linux-x64 dist-tags.latest", "1.2.3");
        let (is_done, said) = release.publish(&[]);
        assert!(is_done && said.contains("@mobile-debug-mcp/linux-x64@1.2.3 is there already"), "{said}");
        let published = release.published();
        assert_eq!(published.len(), 6);
        assert!(!published.contains(&"mobile-debug-mcp-linux-x64-1.2.3.tgz".to_owned()), "{published:?}");
        assert_eq!(published.last().unwrap(), "mobile-debug-mcp-1.2.3.tgz");
    }

    #[test]
    fn nothing_is_published_below_a_name_of_somebody_else_or_below_a_higher_version() {
        for (name, question, answer, wanted) in [
            (
                "owner",
                "repository.url",
                "git+https://github.com/other/phones.git",
                "belongs to git+https://github.com/other",
            ),
            ("unknown", "dist-tags.latest", "", "npm knows no mobile-debug-mcp"),
            ("higher", "dist-tags.latest", "1.10.0", "is at 1.10.0, which is higher than 1.2.3"),
        ] {
            let release = Release::new(&format!("npm-publish-{name}"));
            release.know(&format!("mobile-debug-mcp {question}"), answer);
            let (is_done, said) = release.publish(&[]);
            assert!(!is_done && said.contains(wanted), "{name}: {said}");
            assert_eq!(
                release.published(),
                Vec::<String>::new(),
                "{name}: the check comes before all packages"
            );
        }
    }
}
