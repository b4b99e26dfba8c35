//! The workflows of `.github`: they parse, and what they run of others is pinned to a commit. They cannot be run here.

use std::path::Path;

use super::{files, read};

const FOLDER: &str = ".github/workflows";
const COMMIT_DIGITS: usize = 40;

/// Actions that are named by something that can move.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut breaches = Vec::new();
    let paths = files(root, FOLDER, ".yml")?;
    if paths.is_empty() {
        breaches.push(format!("{FOLDER}: holds no workflow"));
    }
    for path in paths {
        for (at, line) in read(root, &path)?.lines().enumerate() {
            let Some((_, action)) = line.split_once("uses: ") else { continue };
            let commit = action.split_whitespace().next().and_then(|action| action.split_once('@'));
            let is_pinned = commit.is_some_and(|(_, commit)| {
                commit.len() == COMMIT_DIGITS && commit.bytes().all(|byte| byte.is_ascii_hexdigit())
            });
            if !is_pinned {
                breaches.push(format!("{}:{}: {action} is not pinned to a commit", path.display(), at + 1));
            }
        }
    }
    Ok(breaches)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use yaml_rust2::{Yaml, YamlLoader};

    use super::super::tree::Tree;
    use super::*;
    use crate::dist::platform::{ALL, Platform};

    fn jobs(text: &str) -> Vec<(String, Yaml)> {
        let pages = YamlLoader::load_from_str(text).unwrap();
        let jobs = pages[0]["jobs"].as_hash().unwrap();
        jobs.iter().map(|(name, job)| (name.as_str().unwrap().to_owned(), job.clone())).collect()
    }

    #[test]
    fn every_workflow_parses_and_every_job_has_a_machine_and_an_end() {
        let root = crate::command::root();
        let paths = files(&root, FOLDER, ".yml").unwrap();
        assert_eq!(paths.len(), 2);
        for path in paths {
            for (name, job) in jobs(&read(&root, &path).unwrap()) {
                assert!(job["runs-on"].as_str().is_some(), "{name}");
                assert!(job["timeout-minutes"].as_i64().is_some(), "{name}");
                for step in job["steps"].as_vec().unwrap() {
                    assert!(
                        step["run"].as_str().is_some() != step["uses"].as_str().is_some(),
                        "{name}: {step:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_release_builds_every_platform_that_the_launcher_can_install() {
        let root = crate::command::root();
        let text = read(&root, Path::new(".github/workflows/release.yml")).unwrap();
        let (_, build) = jobs(&text).into_iter().find(|(name, _)| name == "build").unwrap();
        let rows = build["strategy"]["matrix"]["include"].as_vec().unwrap().clone();
        let targets: Vec<&str> = rows.iter().map(|row| row["target"].as_str().unwrap()).collect();
        let built: BTreeSet<String> =
            targets.iter().map(|target| Platform::of(target).unwrap().name()).collect();
        let installed: BTreeSet<String> = ALL.iter().map(|platform| platform.name()).collect();
        assert_eq!(built, installed);
    }

    #[test]
    fn an_action_that_can_move_is_a_breach() {
        let tree = Tree::new("workflows");
        let pinned = "a4".repeat(20);
        tree.write(
            ".github/workflows/a.yml",
            &format!("steps:\n  - uses: a/b@v4\n  - uses: a/b@{pinned} # v4\n  - uses: a/b\n"),
        );
        let found = check(tree.root()).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with(".github/workflows/a.yml:2: a/b@v4"), "{found:?}");
        assert_eq!(check(Tree::new("workflows-none").root()).unwrap().len(), 1);
    }
}
