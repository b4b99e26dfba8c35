//! The crates that the program is made of, as cargo resolved them: for the list of parts and for their licences.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::NAME;
use crate::command::{cargo, output};

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    /// `None` for a crate of this workspace.
    source: Option<String>,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    /// `None` is a normal dependency; else `dev` or `build`, of which nothing comes into the program.
    kind: Option<String>,
}

/// A crate in the program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    pub name: String,
    pub version: String,
    /// An expression of SPDX.
    pub license: Option<String>,
    pub is_own: bool,
    pub folder: PathBuf,
    /// Names and versions, as `reference` gives them.
    pub needs: Vec<String>,
}

impl Part {
    pub fn reference(&self) -> String {
        reference(&self.name, &self.version)
    }
}

fn reference(name: &str, version: &str) -> String {
    format!("{name}@{version}")
}

/// Everything that the program is built from for this target, sorted. Features are those of the whole workspace, so this
/// may list a crate that only a test needs, and leaves none out.
pub fn of_target(root: &Path, target: &str) -> Result<Vec<Part>, String> {
    let mut command = cargo(root);
    command.args(["metadata", "--locked", "--format-version", "1", "--filter-platform", target]);
    parts(&output(&mut command)?)
}

fn parts(json: &str) -> Result<Vec<Part>, String> {
    let metadata: Metadata = serde_json::from_str(json).map_err(|e| format!("cargo metadata: {e}"))?;
    let packages: BTreeMap<&str, &Package> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let needs: BTreeMap<&str, Vec<&str>> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), normal(node))).collect();
    let start = metadata.packages.iter().find(|package| package.source.is_none() && package.name == NAME);
    let start = start.ok_or_else(|| format!("cargo metadata knows no {NAME}"))?;
    let (mut met, mut waiting) = (BTreeSet::new(), vec![start.id.as_str()]);
    while let Some(id) = waiting.pop() {
        if met.insert(id) {
            waiting.extend(needs.get(id).into_iter().flatten());
        }
    }
    let mut found = Vec::new();
    for id in met {
        let package = packages.get(id).ok_or_else(|| format!("cargo metadata does not describe {id}"))?;
        let needed = needs.get(id).into_iter().flatten().filter_map(|id| packages.get(id));
        let mut needs: Vec<String> = needed.map(|other| reference(&other.name, &other.version)).collect();
        needs.sort();
        found.push(Part {
            name: package.name.clone(),
            version: package.version.clone(),
            license: package.license.as_ref().map(|license| license.replace('/', " OR ").replace("  ", " ")),
            is_own: package.source.is_none(),
            folder: package.manifest_path.parent().map(Path::to_path_buf).unwrap_or_default(),
            needs,
        });
    }
    found.sort();
    Ok(found)
}

fn normal(node: &Node) -> Vec<&str> {
    let is_normal = |dependency: &&Dependency| dependency.dep_kinds.iter().any(|kind| kind.kind.is_none());
    node.deps.iter().filter(is_normal).map(|dependency| dependency.pkg.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"packages":[
        {"id":"own","name":"mobile-debug-mcp","version":"1.2.3","license":"MIT","source":null,"manifest_path":"/a/Cargo.toml"},
        {"id":"x1","name":"x","version":"1.0.0","license":"MIT/Apache-2.0","source":"registry","manifest_path":"/x/Cargo.toml"},
        {"id":"y","name":"y","version":"2.0.0","license":null,"source":"registry","manifest_path":"/y/Cargo.toml"},
        {"id":"t","name":"t","version":"3.0.0","license":"MIT","source":"registry","manifest_path":"/t/Cargo.toml"}],
        "resolve":{"nodes":[
        {"id":"own","deps":[{"pkg":"x1","dep_kinds":[{"kind":"dev"},{"kind":null}]},{"pkg":"t","dep_kinds":[{"kind":"dev"}]}]},
        {"id":"x1","deps":[{"pkg":"y","dep_kinds":[{"kind":null}]},{"pkg":"t","dep_kinds":[{"kind":"build"}]}]},
        {"id":"y","deps":[]},{"id":"t","deps":[]}]}}"#;

    #[test]
    fn what_the_program_needs_is_listed_and_what_only_tests_and_builds_need_is_not() {
        let found = parts(JSON).unwrap();
        let names: Vec<String> = found.iter().map(Part::reference).collect();
        assert_eq!(names, ["mobile-debug-mcp@1.2.3", "x@1.0.0", "y@2.0.0"]);
        assert_eq!(found[1].license.as_deref(), Some("MIT OR Apache-2.0"));
        assert_eq!((found[0].is_own, found[1].is_own), (true, false));
        assert_eq!(found[1].needs, ["y@2.0.0"]);
    }

    #[test]
    fn the_workspace_itself_can_be_read() {
        let root = crate::command::root();
        let found = of_target(&root, "x86_64-unknown-linux-gnu").unwrap();
        let has = |name: &str| found.iter().any(|part| part.name == name);
        assert!(has("rmcp") && has("mdm-core") && has("tokio"));
        assert!(!has("proptest"), "only tests need it");
    }
}
