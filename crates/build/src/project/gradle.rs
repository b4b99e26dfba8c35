//! Gradle builds: where the build begins, and which module makes the app.

use std::path::{Path, PathBuf};

use super::{ProjectError, entries, read_text};

/// Folders between a build and its modules.
const DEPTH_MAX: usize = 3;
/// Folders above a module in which its build may begin.
const PARENTS_MAX: usize = 4;
/// Modules of one build that are looked at.
const MODULES_MAX: usize = 2000;
const PLUGIN: &str = "com.android.application";
const LAUNCHER: &str = "android.intent.category.LAUNCHER";
/// Folders that hold no module.
const PASSED_OVER: [&str; 7] =
    ["build", "buildSrc", "build-logic", "node_modules", "src", "gradle", "iosApp"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GradleProject {
    /// The folder with the settings file, in which Gradle is started.
    pub folder: PathBuf,
    pub module: Module,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// `:app`, or the empty text for a build with one module at its root.
    pub path: String,
    pub folder: PathBuf,
}

pub fn is_gradle(folder: &Path) -> bool {
    script(folder, "settings.gradle").is_some() || script(folder, "build.gradle").is_some()
}

/// Reads the build that a folder belongs to. `Ok(None)` if the folder has no Gradle file.
pub fn read(folder: &Path) -> Result<Option<GradleProject>, ProjectError> {
    if !is_gradle(folder) {
        return Ok(None);
    }
    // A folder below the settings file is one module of the build.
    let root = if script(folder, "settings.gradle").is_some() { None } else { parent_build(folder) };
    if let Some(root) = root {
        let relative = folder.strip_prefix(&root).unwrap_or(Path::new(""));
        let module = Module { path: module_path(relative), folder: folder.to_owned() };
        return Ok(Some(GradleProject { folder: root, module }));
    }
    let module = app_module(folder)?;
    Ok(Some(GradleProject { folder: folder.to_owned(), module }))
}

fn parent_build(folder: &Path) -> Option<PathBuf> {
    let parents = folder.ancestors().skip(1).take(PARENTS_MAX);
    parents.into_iter().find(|parent| script(parent, "settings.gradle").is_some()).map(Path::to_owned)
}

fn module_path(relative: &Path) -> String {
    relative.iter().map(|part| format!(":{}", part.to_string_lossy())).collect()
}

/// The text of `NAME` or `NAME.kts`.
fn script(folder: &Path, name: &str) -> Option<String> {
    read_text(&folder.join(name)).or_else(|| read_text(&folder.join(format!("{name}.kts"))))
}

fn app_module(root: &Path) -> Result<Module, ProjectError> {
    let mut folders = vec![root.to_owned()];
    collect(root, 1, &mut folders);
    let settings = script(root, "settings.gradle").unwrap_or_default();
    let modules: Vec<(Module, String)> = folders
        .into_iter()
        .filter_map(|folder| {
            let text = script(&folder, "build.gradle")?;
            let path = module_path(folder.strip_prefix(root).unwrap_or(Path::new("")));
            is_included(&settings, &path).then_some((Module { path, folder }, text))
        })
        .collect();
    let aliases = aliases(root);
    let applies = |text: &str| applies_plugin(text, &aliases);
    let mut apps: Vec<Module> =
        modules.iter().filter(|(_, text)| applies(text)).map(|(module, _)| module.clone()).collect();
    if apps.is_empty() {
        // A plugin of the project itself may apply it; what a launcher can start is an app.
        let launches = |module: &Module| {
            let manifest = module.folder.join("src/main/AndroidManifest.xml");
            read_text(&manifest).is_some_and(|text| text.contains(LAUNCHER))
        };
        apps = modules.into_iter().map(|(module, _)| module).filter(launches).collect();
    }
    match apps.len() {
        0 => Err(ProjectError::NoApp(root.to_owned())),
        1 => Ok(apps.remove(0)),
        _ => {
            let candidates = apps.iter().map(|module| module.folder.display().to_string()).collect();
            Err(ProjectError::Ambiguous { what: "modules that make an app", candidates })
        }
    }
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let passed_over = name.starts_with('.') || PASSED_OVER.contains(&name.as_str());
        // A link may lead out of the project, or in a circle.
        let is_folder = path.symlink_metadata().is_ok_and(|about| about.is_dir());
        if passed_over || !is_folder || found.len() >= MODULES_MAX {
            continue;
        }
        found.push(path.clone());
        if depth < DEPTH_MAX {
            collect(&path, depth + 1, found);
        }
    }
}

/// True unless the settings name modules and this is none of them.
fn is_included(settings: &str, path: &str) -> bool {
    let names_modules = settings.lines().any(|line| line.trim_start().starts_with("include"));
    let name = path.trim_start_matches(':');
    let quoted = |name: &str| ["'", "\""].iter().any(|q| settings.contains(&format!("{q}{name}{q}")));
    !names_modules || path.is_empty() || quoted(path) || quoted(name)
}

/// The names under which the version catalogue knows the plugin, as a build script spells them.
fn aliases(root: &Path) -> Vec<String> {
    let catalogue = read_text(&root.join("gradle/libs.versions.toml")).unwrap_or_default();
    let plugin = |line: &str| {
        let (name, value) = line.split_once('=')?;
        let is_it = value.contains(&format!("\"{PLUGIN}\"")) || value.contains(&format!("\"{PLUGIN}:"));
        is_it.then(|| format!("libs.plugins.{}", name.trim().replace(['-', '_'], ".")))
    };
    catalogue.lines().filter_map(plugin).collect()
}

fn applies_plugin(text: &str, aliases: &[String]) -> bool {
    text.lines().map(str::trim).any(|line| {
        let is_comment = line.starts_with("//") || line.starts_with('*');
        let is_put_off = line.contains("apply false") || line.contains("apply(false)");
        let alias = |alias: &String| line.contains(&format!("{alias})"));
        let named = line.contains(PLUGIN) && !line.contains("classpath");
        !is_comment && !is_put_off && (named || aliases.iter().any(alias))
    })
}
