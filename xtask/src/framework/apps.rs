//! The apps of ours that the framework phone shows: resources to an APK, classes to a jar beside it, and the libraries of
//! an app as jars in a folder with its name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{CLASSES, SOURCES, copy_sources, files_of, jars, javac};
use crate::android_parts;
use crate::command::output;
use crate::maven;
use crate::third_party::{copy, fresh_folder};

/// An app, its folder with sources, and the folders of its libraries.
struct Source {
    name: &'static str,
    folder: &'static str,
    libraries: &'static [&'static str],
}

const APPS: [Source; 5] = [
    Source { name: "widgets", folder: "app", libraries: &[] },
    Source { name: "workbench", folder: "workbench", libraries: &[] },
    Source { name: "material", folder: "apps/material", libraries: &["androidx", "appcompat", "material"] },
    Source { name: "compose", folder: "apps/compose", libraries: &["androidx", "compose"] },
    Source {
        name: "reactnative",
        folder: "apps/reactnative",
        libraries: &["androidx", "appcompat", "reactnative"],
    },
];
/// The compiler's own libraries stand among those of the apps.
const KOTLIN: [&str; 2] = ["kotlin", "androidx"];
const KOTLIN_MAIN: &str = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler";
const COMPOSE_PLUGIN: &str = "kotlin-compose-compiler-plugin-embeddable";

pub fn build(root: &Path, dir: &Path, apps: &Path) -> Result<(), String> {
    let (aapt2, all) = (android_parts::install(root)?.join("aapt2"), dir.join("app-build"));
    for source in &APPS {
        let work = all.join(source.name);
        fresh_folder(&work)?;
        App { source, folder: root.join(SOURCES).join(source.folder), aapt2: &aapt2, work, dir, apps }
            .build()?;
    }
    build_needy(root, dir, apps, &all.join("needy"))?;
    fs::remove_dir_all(&all).map_err(|e| format!("{}: {e}", all.display()))
}

/// An app that is being built.
struct App<'a> {
    source: &'a Source,
    folder: PathBuf,
    aapt2: &'a Path,
    work: PathBuf,
    dir: &'a Path,
    apps: &'a Path,
}

/// What a library has besides classes.
struct Library {
    resources: Option<PathBuf>,
    package: Option<String>,
}

impl App<'_> {
    fn build(&self) -> Result<(), String> {
        let libraries = self.place_libraries()?;
        self.link(&libraries)?;
        let sources = self.work.join("java");
        copy_sources(&self.folder.join("src"), &sources)?;
        let mut class_path = jars(self.dir, &["android", "lib"])?;
        if !self.source.libraries.is_empty() {
            class_path = format!("{class_path}:{}", jars(self.apps, &[self.source.name])?);
        }
        let kotlin = self.work.join("kotlin");
        if !files_of(&sources, "kt")?.is_empty() {
            self.compile_kotlin(&sources, &kotlin, &class_path)?;
            class_path = format!("{class_path}:{}", kotlin.display());
        }
        let classes = self.work.join("classes");
        javac(&sources, &classes, &class_path)?;
        let mut jar = Command::new("jar");
        jar.arg("cf").arg(self.apps.join(format!("{}.jar", self.source.name)));
        jar.arg("-C").arg(&classes).arg(".");
        if kotlin.is_dir() {
            jar.arg("-C").arg(&kotlin).arg(".");
        }
        output(&mut jar).map(drop)
    }

    /// Puts the classes of the libraries beside the app, and returns what else they bring.
    fn place_libraries(&self) -> Result<Vec<Library>, String> {
        let mut libraries = Vec::new();
        for folder in self.source.libraries {
            let (folder, target) = (self.dir.join(folder), self.apps.join(self.source.name));
            fs::create_dir_all(&target).map_err(|e| format!("{}: {e}", target.display()))?;
            let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
            paths.sort();
            for path in paths {
                if path.is_dir() {
                    libraries.push(self.place_library(&path, &target)?);
                } else {
                    copy(&path, &target.join(path.file_name().unwrap_or_default()))?;
                }
            }
        }
        Ok(libraries)
    }

    fn place_library(&self, folder: &Path, target: &Path) -> Result<Library, String> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        copy(&folder.join(CLASSES), &target.join(format!("{name}.jar")))?;
        if folder.join("libs").is_dir() {
            for jar in files_of(&folder.join("libs"), "jar")? {
                let file = jar.file_name().unwrap_or_default().to_string_lossy().into_owned();
                copy(&jar, &target.join(format!("{name}-{file}")))?;
            }
        }
        let resources = folder.join("res");
        if !resources.is_dir() || files_of(&resources, "xml")?.is_empty() {
            return Ok(Library { resources: None, package: None });
        }
        let compiled = self.compile_resources(&resources, &name)?;
        let has_names = folder.join("R.txt").metadata().is_ok_and(|names| names.len() > 0);
        let package = has_names.then(|| package_of(&folder.join("AndroidManifest.xml"))).transpose()?;
        Ok(Library { resources: Some(compiled), package })
    }

    fn compile_resources(&self, folder: &Path, name: &str) -> Result<PathBuf, String> {
        let compiled = self.work.join(format!("{name}.zip"));
        let mut compile = Command::new(self.aapt2);
        output(compile.args(["compile", "--dir"]).arg(folder).arg("-o").arg(&compiled))?;
        Ok(compiled)
    }

    /// Links all resources to an APK, and writes a class of their numbers for the app and for each library.
    fn link(&self, libraries: &[Library]) -> Result<(), String> {
        let mut link = Command::new(self.aapt2);
        link.args(["link", "--auto-add-overlay", "--manifest"]).arg(self.folder.join("AndroidManifest.xml"));
        link.arg("-I").arg(jars(self.dir, &["android"])?).arg("--java").arg(self.work.join("java"));
        let packages: Vec<&str> = libraries.iter().filter_map(|one| one.package.as_deref()).collect();
        if !packages.is_empty() {
            link.args(["--extra-packages", &packages.join(":")]);
        }
        link.arg("-o").arg(self.apps.join(format!("{}.apk", self.source.name)));
        for resources in libraries.iter().filter_map(|one| one.resources.as_ref()) {
            link.arg("-R").arg(resources);
        }
        // What comes last wins: the app's own.
        let own = self.folder.join("res");
        if own.is_dir() {
            link.arg("-R").arg(self.compile_resources(&own, "app")?);
        }
        output(&mut link).map(drop)
    }

    /// Kotlin's compiler reads the sources in Java too.
    fn compile_kotlin(&self, sources: &Path, classes: &Path, class_path: &str) -> Result<(), String> {
        let plugin = maven::file(&self.dir.join("kotlin"), COMPOSE_PLUGIN)?;
        let mut kotlin = Command::new("java");
        kotlin.args(["-cp", &jars(self.dir, &KOTLIN)?, KOTLIN_MAIN]);
        kotlin.args(["-no-stdlib", "-no-reflect", "-nowarn", "-jvm-target", "17"]);
        kotlin.arg(format!("-Xplugin={}", plugin.display())).args(["-cp", class_path]).arg("-d").arg(classes);
        kotlin.args(files_of(sources, "kt")?).args(files_of(sources, "java")?);
        output(&mut kotlin).map(drop)
    }
}

/// Builds APKs for tests as a stranger's are: with code for Android. One has native code and wants what this phone has not;
/// the other is for a later Android.
fn build_needy(root: &Path, dir: &Path, apps: &Path, work: &Path) -> Result<(), String> {
    let (folder, parts) = (root.join(SOURCES).join("apps/needy"), android_parts::install(root)?);
    let (resources, stubs) = (jars(dir, &["android"])?, parts.join("android.jar"));
    fresh_folder(work)?;
    javac(&folder.join("src"), &work.join("classes"), &stubs.display().to_string())?;
    let mut d8 = Command::new("java");
    d8.arg("-cp").arg(parts.join("r8.jar")).args(["com.android.tools.r8.D8", "--release", "--min-api", "26"]);
    d8.arg("--lib").arg(&stubs).arg("--output").arg(work).args(files_of(&work.join("classes"), "class")?);
    output(&mut d8)?;
    let library = work.join("lib/arm64-v8a");
    fresh_folder(&library)?;
    fs::write(library.join("libneedy.so"), "no code").map_err(|e| format!("libneedy.so: {e}"))?;
    for (name, level) in [("needy", "26"), ("later", "99")] {
        let apk = apps.join(format!("{name}.apk"));
        let mut link = Command::new(parts.join("aapt2"));
        link.arg("link").arg("--manifest").arg(folder.join("AndroidManifest.xml")).args(["-I", &resources]);
        output(link.args(["--min-sdk-version", level, "--target-sdk-version", "34", "-o"]).arg(&apk))?;
        let mut jar = Command::new("jar");
        output(
            jar.arg("uf").arg(&apk).arg("-C").arg(work).arg("classes.dex").arg("-C").arg(work).arg("lib"),
        )?;
    }
    Ok(())
}

/// The package that a manifest names.
fn package_of(manifest: &Path) -> Result<String, String> {
    let text = fs::read_to_string(manifest).map_err(|e| format!("{}: {e}", manifest.display()))?;
    let named = text.split_once("package=\"").and_then(|(_, after)| after.split_once('"'));
    named.map(|(name, _)| name.to_owned()).ok_or_else(|| format!("no package in {}", manifest.display()))
}
