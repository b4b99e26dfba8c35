//! The workflows of `.github`: they parse, and what they run of others is pinned to a commit that somebody looked up. They
//! cannot be run here.

use std::path::{Path, PathBuf};

use super::{files, read};

const FOLDER: &str = ".github/workflows";
/// GitHub takes both.
const ENDINGS: [&str; 2] = [".yml", ".yaml"];
/// Actions, their commits and their tags. Whoever reads a workflow believes the tag, and only the commit counts.
const KNOWN: &str = "xtask/third-party/actions.txt";
/// A workflow of our own.
const OWN: &str = "./";

/// Actions that are not pinned as the list of known ones says, and entries of that list that nothing uses.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut breaches = Vec::new();
    let list = read(root, Path::new(KNOWN))?;
    let known: Vec<String> = list.lines().filter_map(pin).collect();
    let mut unused = known.clone();
    let paths = workflows(root)?;
    if paths.is_empty() {
        breaches.push(format!("{FOLDER}: holds no workflow"));
    }
    for path in paths {
        for (at, line) in read(root, &path)?.lines().enumerate() {
            let Some((_, action)) = line.split_once("uses: ") else { continue };
            let is_there = action.strip_prefix(OWN).is_some_and(|file| root.join(file).is_file());
            if !is_there && !known.iter().any(|pin| pin == action) {
                breaches.push(format!("{}:{}: {action} is not in {KNOWN}", path.display(), at + 1));
            }
            unused.retain(|pin| pin != action);
        }
    }
    breaches.extend(unused.iter().map(|pin| format!("{KNOWN}: nothing uses {pin}")));
    Ok(breaches)
}

fn workflows(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut paths = Vec::new();
    for ending in ENDINGS {
        paths.extend(files(root, FOLDER, ending)?);
    }
    Ok(paths)
}

/// A line of the list as a workflow has to write it.
fn pin(line: &str) -> Option<String> {
    match line.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["#", ..] | [] => None,
        [action, commit, tag] => Some(format!("{action}@{commit} # {tag}")),
        other => Some(other.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use yaml_rust2::{Yaml, YamlLoader};

    use super::super::tree::Tree;
    use super::*;
    use crate::dist::platform::{ALL, Platform};

    const RELEASE: &str = ".github/workflows/release.yml";
    const COMMIT_DIGITS: usize = 40;

    fn jobs(text: &str) -> Vec<(String, Yaml)> {
        let pages = YamlLoader::load_from_str(text).unwrap();
        let jobs = pages[0]["jobs"].as_hash().unwrap();
        jobs.iter().map(|(name, job)| (name.as_str().unwrap().to_owned(), job.clone())).collect()
    }

    fn release_jobs() -> Vec<(String, Yaml)> {
        jobs(&read(&crate::command::root(), Path::new(RELEASE)).unwrap())
    }

    fn job(wanted: &str) -> Yaml {
        release_jobs().into_iter().find(|(name, _)| name == wanted).unwrap().1
    }

    #[test]
    fn every_workflow_parses_and_every_job_has_a_machine_and_an_end() {
        let root = crate::command::root();
        let paths = workflows(&root).unwrap();
        assert_eq!(paths.len(), 2);
        for path in paths {
            for (name, job) in jobs(&read(&root, &path).unwrap()) {
                if job["uses"].as_str().is_some_and(|workflow| workflow.starts_with(OWN)) {
                    continue;
                }
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
        let rows = job("build")["strategy"]["matrix"]["include"].as_vec().unwrap().clone();
        let targets: Vec<&str> = rows.iter().map(|row| row["target"].as_str().unwrap()).collect();
        let built: BTreeSet<String> =
            targets.iter().map(|target| Platform::of(target).unwrap().name()).collect();
        let installed: BTreeSet<String> = ALL.iter().map(|platform| platform.name()).collect();
        assert_eq!(built, installed);
    }

    #[test]
    fn only_the_job_that_compiles_nothing_may_write() {
        for (name, job) in release_jobs() {
            let steps = job["steps"].as_vec().cloned().unwrap_or_default();
            let compiles =
                steps.iter().filter_map(|step| step["run"].as_str()).any(|run| run.contains("cargo"));
            let may_write = job["permissions"].as_hash().is_some();
            assert_eq!(may_write, name == "publish", "{name}");
            assert!(!(may_write && compiles), "{name} runs what others wrote, with rights");
        }
    }

    #[test]
    fn nothing_is_published_without_the_tests_or_by_hand() {
        let publish = job("publish");
        let needs: Vec<&str> =
            publish["needs"].as_vec().unwrap().iter().map(|job| job.as_str().unwrap()).collect();
        assert_eq!(needs, ["test", "join"]);
        assert!(publish["if"].as_str().unwrap().contains("github.event_name == 'push'"));
        assert_eq!(publish["environment"].as_str(), Some("release"));
        assert_eq!(job("test")["uses"].as_str(), Some("./.github/workflows/ci.yml"));
    }

    #[test]
    fn known_actions_have_a_commit_and_a_tag() {
        let list = read(&crate::command::root(), Path::new(KNOWN)).unwrap();
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split(' ').collect();
            let [_, commit, tag] = words.as_slice() else { panic!("{line}") };
            assert!(
                commit.len() == COMMIT_DIGITS && commit.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{line}"
            );
            assert!(tag.starts_with('v'), "{line}");
        }
    }

    #[test]
    fn an_action_that_is_not_in_the_list_is_a_breach() {
        let tree = Tree::new("workflows");
        let (pinned, other) = ("a4".repeat(20), "b5".repeat(20));
        tree.write(KNOWN, &format!("# Actions\na/b {pinned} v4\nc/d {pinned} v1\n"));
        tree.write(
            ".github/workflows/a.yml",
            &format!(
                "steps:\n  - uses: a/b@v4\n  - uses: a/b@{pinned} # v4\n  - uses: a/b@{pinned} # v5\n\
                 - uses: a/b@{other} # v4\n - uses: ./.github/workflows/b.yaml\n - uses: ./c.yml\n"
            ),
        );
        tree.write(".github/workflows/b.yaml", "  - uses: a/b\n");
        let found = check(tree.root()).unwrap();
        let lines: Vec<&str> = found.iter().filter_map(|breach| breach.split(": ").next()).collect();
        let a = |line: usize| format!(".github/workflows/a.yml:{line}");
        let wanted = [a(2), a(4), a(5), a(7), ".github/workflows/b.yaml:1".to_owned(), KNOWN.to_owned()];
        assert_eq!(lines, wanted, "{found:?}");
        let empty = Tree::new("workflows-none");
        empty.write(KNOWN, "");
        assert_eq!(check(empty.root()).unwrap().len(), 1);
    }
}
