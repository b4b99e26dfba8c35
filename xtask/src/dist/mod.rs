//! `cargo xtask dist`: everything that a release consists of, for one platform. The same program gives the same bytes.
//!
//! `dist --join` finishes a release from the files of several machines: what names them all can only be written then.

mod bundle;
mod entry;
mod linkage;
mod notices;
mod npm;
mod parts;
pub mod platform;
mod program;
mod registry;
mod runtime;
mod sbom;
mod tarball;
mod zip;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::command::{metadata, output};
use crate::third_party::{MCPB, NODE, fresh_folder, installed_node};
use entry::Entry;
use platform::Platform;

pub const NAME: &str = "mobile-debug-mcp";
const OUT: &str = "dist";
const SUMS: &str = "SHA256SUMS";
const SERVER_JSON: &str = "server.json";
/// What goes into the archive besides the program.
const PAPERS: [&str; 3] = ["LICENSE", "README.md", "CHANGELOG.md"];
const NPM_SOURCES: &str = "packaging/npm";
/// More files than this are no release of ours.
const FILES_MAX: usize = 200;

const USAGE: &str =
    "usage: cargo xtask dist [--target TRIPLE] [--binary FILE] [--out FOLDER] [--repository OWNER/NAME]
       cargo xtask dist --join [--out FOLDER] [--repository OWNER/NAME]

  --target      what the program is for; this machine by default. It has to start here
  --binary      packs this program as it is, instead of building a release
  --out         where the files go; dist in the target folder by default
  --repository  where the release will be on GitHub; without it there is no server.json
  --join        writes server.json and SHA256SUMS for all files of this version in the folder";

pub fn dist(root: &Path, words: &[&str]) -> Result<(), String> {
    let options = Options::read(words)?;
    let about = About::read(root, options.repository.clone())?;
    let out = match options.out {
        Some(ref out) => out.clone(),
        None => metadata(root)?.target_directory.join(OUT),
    };
    fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    if !options.join {
        pack(root, &about, &options, &out)?;
    }
    finish(&about, &out)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    target: Option<String>,
    binary: Option<PathBuf>,
    out: Option<PathBuf>,
    repository: Option<String>,
    join: bool,
}

impl Options {
    fn read(words: &[&str]) -> Result<Options, String> {
        let mut options = Options::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().map(|word| (*word).to_owned()).ok_or_else(|| USAGE.to_owned());
            match *word {
                "--join" => options.join = true,
                "--target" => options.target = Some(value()?),
                "--binary" => options.binary = Some(value()?.into()),
                "--out" => options.out = Some(value()?.into()),
                "--repository" => options.repository = Some(repository(value()?)?),
                _ => return Err(USAGE.to_owned()),
            }
        }
        if options.join && (options.target.is_some() || options.binary.is_some()) {
            return Err(USAGE.to_owned());
        }
        Ok(options)
    }
}

fn repository(given: String) -> Result<String, String> {
    let is_name = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    match given.split_once('/') {
        Some((owner, name)) if is_name(owner) && is_name(name) => Ok(given),
        _ => Err(format!("{given:?} is not OWNER/NAME\n{USAGE}")),
    }
}

/// What every package says of itself.
pub struct About {
    version: String,
    description: String,
    license: String,
    license_text: Vec<u8>,
    /// OWNER/NAME on GitHub.
    repository: Option<String>,
}

impl About {
    fn read(root: &Path, repository: Option<String>) -> Result<About, String> {
        let packages = metadata(root)?.packages;
        let package = packages.into_iter().find(|package| package.name == NAME);
        let package = package.ok_or_else(|| format!("cargo metadata knows no {NAME}"))?;
        let missing = |what: &str| format!("{NAME} has no {what} in its Cargo.toml");
        Ok(About {
            version: package.version,
            description: package.description.ok_or_else(|| missing("description"))?,
            license: package.license.ok_or_else(|| missing("license"))?,
            license_text: read(root, "LICENSE")?,
            repository,
        })
    }

    fn repository_url(&self) -> Option<String> {
        self.repository.as_ref().map(|repository| format!("https://github.com/{repository}"))
    }

    /// By which the MCP registry knows the server: it lets owners of GitHub repositories use their own name.
    fn registry_name(&self) -> Option<String> {
        let owner = self.repository.as_ref()?.split('/').next()?;
        Some(format!("io.github.{owner}/{NAME}"))
    }

    #[cfg(test)]
    fn for_test(repository: Option<&str>) -> About {
        About {
            version: "1.2.3".to_owned(),
            description: "Phones for agents.".to_owned(),
            license: "MIT".to_owned(),
            license_text: b"Do as you like.".to_vec(),
            repository: repository.map(str::to_owned),
        }
    }
}

/// Writes the files of one platform.
fn pack(root: &Path, about: &About, options: &Options, out: &Path) -> Result<(), String> {
    let target = options.target.clone().map_or_else(program::host, Ok)?;
    let platform = Platform::of(&target)?;
    let file = match &options.binary {
        Some(file) => file.clone(),
        None => program::build(root, &target, platform)?,
    };
    let bytes = fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let linkage = linkage::of(&bytes)?;
    match &linkage {
        Some(linkage) => println!("{}: {} bytes, {linkage}", file.display(), bytes.len()),
        None => println!("{}: {} bytes, not an ELF file", file.display(), bytes.len()),
    }
    program::check_start(&file, &about.version)?;
    let parts = parts::of_target(root, &target)?;
    let compiler = if options.binary.is_none() { Some(program::compiler()?) } else { None };
    let runtimes = runtime::of_program(&target, linkage.as_ref(), compiler);
    if runtime::has_glibc(&runtimes) {
        println!("{}", runtime::GLIBC_WARNING);
    }

    let folder = format!("{NAME}-{}-{target}", about.version);
    let mut entries = program::papers(&file)?;
    entries.push(Entry::program(platform.program(), bytes.clone()));
    for paper in PAPERS {
        entries.push(Entry::file(paper, read(root, paper)?));
    }
    let notices = notices::text(root, &parts, &runtimes)?;
    entries.push(Entry::file("THIRD-PARTY-NOTICES.txt", notices.into_bytes()));
    let entries: Vec<Entry> = entries.into_iter().map(|entry| entry.below(&folder)).collect();
    write(out, &format!("{folder}.tar.gz"), &tarball::gzipped(&entries)?)?;
    write(out, &format!("{folder}.cdx.json"), &sbom::cyclonedx(about, &parts, &runtimes)?)?;

    let source = |name: &str| read(root, &format!("{NPM_SOURCES}/{name}"));
    let launcher = npm::launcher(about, source("launcher.js")?, source("README.md")?)?;
    write(out, &launcher.file, &launcher.bytes)?;
    let program = npm::program(about, platform, bytes.clone())?;
    write(out, &program.file, &program.bytes)?;
    let bundle = bundle::file(&about.version, platform);
    write(out, &bundle, &bundle::packed(about, platform, bytes)?)?;
    println!("{bundle}: {}", judged(root, &out.join(&bundle))?);
    Ok(())
}

/// What the bundles' own tool says of a bundle, where it is installed.
fn judged(root: &Path, bundle: &Path) -> Result<&'static str, String> {
    let parts = installed_node(root);
    let (Some(node), Some(mcpb)) = (parts.path(NODE), parts.path(MCPB)) else {
        return Ok("not judged by mcpb, which cargo xtask third-party installs");
    };
    let folder = std::env::temp_dir().join(format!("mdm-dist-bundle-{}", std::process::id()));
    fresh_folder(&folder)?;
    let tool = |words: &[&Path]| output(Command::new(node).arg(mcpb).args(words));
    let outcome = tool(&[Path::new("unpack"), bundle, &folder])
        .and_then(|_| tool(&[Path::new("validate"), &folder.join("manifest.json")]));
    // One of the system's temporary folders; nothing depends on its end.
    let _ = fs::remove_dir_all(&folder);
    outcome.map(|_| "valid, says mcpb")
}

/// Writes what names all files of a release.
fn finish(about: &About, out: &Path) -> Result<(), String> {
    let mut files = release_files(about, out)?;
    match registry::server_json(about)? {
        Some(text) => {
            write(out, SERVER_JSON, &text)?;
            files.push(SERVER_JSON.to_owned());
        }
        None => println!("{SERVER_JSON}: not written, because no --repository was given"),
    }
    let mut sums = String::new();
    for file in &files {
        sums.push_str(&format!("{}  {file}\n", sha256(&read(out, file)?)));
    }
    write(out, SUMS, sums.as_bytes())
}

/// Names of the files of this version, sorted.
fn release_files(about: &About, out: &Path) -> Result<Vec<String>, String> {
    let fail = |e: std::io::Error| format!("{}: {e}", out.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(out).map_err(fail)? {
        let name = entry.map_err(fail)?.file_name().to_string_lossy().into_owned();
        if is_of_version(&name, &about.version) {
            files.push(name);
        }
    }
    files.sort();
    match files.len() {
        0 => Err(format!("{} holds no file of version {}", out.display(), about.version)),
        1..=FILES_MAX => Ok(files),
        n => Err(format!("{} holds {n} files, more than {FILES_MAX}", out.display())),
    }
}

/// True for names that `pack` gives: 1.2.30 and 1.2.3-rc.1 are not 1.2.3.
fn is_of_version(name: &str, version: &str) -> bool {
    let is_platform = |word: &str| platform::ALL.iter().any(|platform| platform.name() == word);
    let Some(rest) = name.strip_prefix(NAME).and_then(|rest| rest.strip_prefix('-')) else { return false };
    if let Some(platform) = rest.strip_suffix(&format!("-{version}.tgz")) {
        return is_platform(platform);
    }
    match rest.strip_prefix(version) {
        Some(".tgz") => true,
        Some(rest) => rest.strip_prefix('-').is_some_and(|rest| {
            let target = rest.strip_suffix(".tar.gz").or_else(|| rest.strip_suffix(".cdx.json"));
            target.is_some_and(|target| Platform::of(target).is_ok())
                || rest.strip_suffix(".mcpb").is_some_and(is_platform)
        }),
        None => false,
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, String> {
    let file = folder.join(name);
    fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    let file = folder.join(name);
    fs::write(&file, bytes).map_err(|e| format!("{}: {e}", file.display()))?;
    println!("{name}: {} bytes", bytes.len());
    Ok(())
}

fn pretty(value: &impl Serialize) -> Result<Vec<u8>, String> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|e| e.to_string())?;
    text.push(b'\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::Tree;

    #[test]
    fn options_are_read_and_nonsense_is_refused() {
        let read = |line: &str| Options::read(&line.split_whitespace().collect::<Vec<_>>());
        let options = read("--target x86_64-unknown-linux-musl --out a --repository me/phones").unwrap();
        assert_eq!(options.target.as_deref(), Some("x86_64-unknown-linux-musl"));
        assert_eq!((options.out, options.repository), (Some("a".into()), Some("me/phones".to_owned())));
        for bad in ["--out", "--profile x", "--repository me", "--repository a/b/c", "--join --binary a"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_joined_release_sums_every_file_of_its_version_and_no_other() {
        let tree = Tree::new("dist-join");
        let own = [
            "mobile-debug-mcp-1.2.3-linux-x64.mcpb",
            "mobile-debug-mcp-1.2.3-aarch64-apple-darwin.tar.gz",
            "mobile-debug-mcp-1.2.3-aarch64-apple-darwin.cdx.json",
            "mobile-debug-mcp-darwin-arm64-1.2.3.tgz",
            "mobile-debug-mcp-1.2.3.tgz",
        ];
        let others = [
            "mobile-debug-mcp-1.2.2-linux-x64.mcpb",
            "mobile-debug-mcp-1.2.30-linux-x64.mcpb",
            "mobile-debug-mcp-1.2.3-rc.1-linux-x64.mcpb",
            "mobile-debug-mcp-linux-x64-11.2.3.tgz",
            "mobile-debug-mcp-1.2.30.tgz",
            "mobile-debug-mcp-1.2.3-linux-x64",
            "notes.txt",
        ];
        for name in own.iter().chain(&others) {
            tree.write(name, name);
        }
        finish(&About::for_test(Some("me/phones")), tree.root()).unwrap();
        let checked =
            Command::new("sha256sum").args(["--check", SUMS]).current_dir(tree.root()).output().unwrap();
        let told = String::from_utf8_lossy(&checked.stdout).into_owned();
        assert!(checked.status.success() && told.lines().all(|line| line.ends_with(": OK")), "{told}");
        assert_eq!(told.lines().count(), own.len() + 1, "and server.json: {told}");
        for name in own {
            assert!(told.lines().any(|line| line == format!("{name}: OK")), "{name}: {told}");
        }
        // It can be done again, with one more.
        finish(&About::for_test(None), tree.root()).unwrap();
    }

    /// Stands for the program: it answers what packing asks for.
    #[cfg(unix)]
    const SCRIPT: &str = "#!/bin/sh\ncase $1 in\n\
        --version) echo \"mobile-debug-mcp VERSION\" ;;\n\
        man) mkdir -p \"$3\" && echo page > \"$3/mobile-debug-mcp.1\" && echo mobile-debug-mcp.1 ;;\n\
        completions) echo \"complete $2\" ;;\nesac\n";

    #[cfg(unix)]
    #[test]
    fn the_same_program_gives_the_same_files() {
        let (tree, root) = (Tree::new("dist-same"), crate::command::root());
        let version = About::read(&root, None).unwrap().version;
        tree.write("script", &SCRIPT.replace("VERSION", &version));
        let program = tree.root().join("program");
        // Copied by another process: one that still had it open for writing would keep it from being run.
        let install = Command::new("install")
            .args(["-m", "755"])
            .arg(tree.root().join("script"))
            .arg(&program)
            .status();
        assert!(install.unwrap().success());
        let pack = |out: &str| {
            let out = tree.root().join(out);
            let words = ["--repository", "me/phones", "--binary", program.to_str().unwrap(), "--out"];
            dist(&root, &[&words[..], &[out.to_str().unwrap()]].concat()).unwrap();
            let mut files: Vec<(String, Vec<u8>)> = Vec::new();
            for entry in fs::read_dir(&out).unwrap() {
                let entry = entry.unwrap();
                files.push((entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()));
            }
            files.sort();
            files
        };
        let (one, other) = (pack("one"), pack("other"));
        let names =
            |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&one), names(&other));
        assert_eq!(
            one.len(),
            7,
            "archive, parts, two packages, bundle, server.json, sums: {:?}",
            names(&one)
        );
        for ((name, one), (_, other)) in one.iter().zip(&other) {
            assert!(one == other, "{name} differs");
        }
    }

    #[test]
    fn a_program_of_another_version_is_not_packed() {
        assert!(program::check_start(Path::new("echo"), "1.2.3").is_err());
    }

    #[test]
    fn an_empty_folder_is_no_release() {
        let tree = Tree::new("dist-empty");
        assert!(finish(&About::for_test(None), tree.root()).is_err());
    }
}
