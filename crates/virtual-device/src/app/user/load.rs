//! Loads an app from a file, or says what is wrong and where.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::check::{self, Problem};
use super::names;
use super::spec::{AppSpec, ScreenSpec};
use crate::app::{launcher, settings, shop, workbench};

const FILE_BYTES_MAX: u64 = 1024 * 1024;
const NAME_CHARS_MAX: usize = 200;
/// Packages that are on the phone already.
const TAKEN: [&str; 7] = [
    "android",
    "com.android.shell",
    "com.android.systemui",
    launcher::PACKAGE,
    settings::PACKAGE,
    shop::PACKAGE,
    workbench::PACKAGE,
];

/// An app that was read from a file. It is cheap to share between phones.
#[derive(Debug)]
pub struct AppFile {
    pub(crate) package: &'static str,
    pub(crate) label: &'static str,
    pub(super) entry: &'static str,
    /// Activities in the order of the names of their screens.
    pub(super) activities: Vec<&'static str>,
    pub(super) spec: AppSpec,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppFileError {
    /// The file; nothing when the text did not come from one.
    pub file: Option<PathBuf>,
    /// The place: a line and column, or a path such as `screens.Home.content[2].value`.
    pub place: String,
    pub problem: String,
}

impl std::fmt::Display for AppFileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for AppFileError {}

impl AppFile {
    pub fn load(file: &Path) -> Result<Arc<AppFile>, AppFileError> {
        let wrong =
            |problem: String| AppFileError { file: Some(file.to_owned()), place: String::new(), problem };
        let mut text = String::new();
        let opened = std::fs::File::open(file).map_err(|e| wrong(e.to_string()))?;
        opened.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(|e| wrong(e.to_string()))?;
        AppFile::parse(&text).map_err(|error| AppFileError { file: Some(file.to_owned()), ..error })
    }

    pub fn parse(text: &str) -> Result<Arc<AppFile>, AppFileError> {
        let wrong = |place: String, problem: String| AppFileError { file: None, place, problem };
        if text.len() as u64 > FILE_BYTES_MAX {
            return Err(wrong(String::new(), format!("longer than {FILE_BYTES_MAX} bytes")));
        }
        let mut spec: AppSpec = serde_json::from_str(text).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            // The message contains the place once, at its beginning.
            let sentence = error.to_string();
            let sentence = sentence.rsplit_once(" at line ").map_or(sentence.as_str(), |(head, _)| head);
            wrong(place, sentence.to_owned())
        })?;
        let problem = |p: Problem| wrong(p.place, p.problem);
        check::check(&mut spec).map_err(problem)?;
        name(spec).map_err(problem).map(Arc::new)
    }

    pub fn package(&self) -> &str {
        self.package
    }

    /// Returns the activity that the launcher starts.
    pub(crate) fn entry(&self) -> &str {
        self.entry
    }

    pub(super) fn screen(&self, activity: &str) -> Option<(&str, &ScreenSpec)> {
        let at = self.activities.iter().position(|known| *known == activity)?;
        self.spec.screens.iter().nth(at).map(|(name, screen)| (name.as_str(), screen))
    }

    pub(super) fn activity_of(&self, screen: &str) -> Option<&'static str> {
        let at = self.spec.screens.keys().position(|name| name == screen)?;
        self.activities.get(at).copied()
    }
}

/// Checks and keeps the names by which the system knows the app.
fn name(spec: AppSpec) -> Result<AppFile, Problem> {
    let at = |place: &str, problem: &str| Problem::new(place, problem);
    let words = |text: &str| text.split('.').all(is_word);
    let package = &spec.package;
    if !package.contains('.') || !words(package) || package.chars().count() > NAME_CHARS_MAX {
        return Err(at(
            "package",
            "a package is two or more words with dots between them, such as org.example.notes",
        ));
    }
    if TAKEN.contains(&package.as_str()) {
        return Err(at("package", "the phone has an app of that name"));
    }
    if spec.label.trim().is_empty() || spec.label.chars().count() > NAME_CHARS_MAX {
        return Err(at("label", "must have 1 to 200 characters"));
    }
    let mut activities = Vec::new();
    for (screen, about) in &spec.screens {
        let place = format!("screens.{screen}.activity");
        let activity = about.activity.clone().unwrap_or_else(|| format!(".{screen}Activity"));
        let Some(words) = activity.strip_prefix('.').map(|rest| rest.split(['.', '$']).all(is_word)) else {
            return Err(at(&place, "must begin with a dot, such as .HomeActivity"));
        };
        if !words || activity.chars().count() > NAME_CHARS_MAX {
            return Err(at(&place, &format!("{activity} is no name for an activity")));
        }
        let kept = keep(&activity)?;
        if activities.contains(&kept) {
            return Err(at(&place, &format!("another screen is {activity} already")));
        }
        activities.push(kept);
    }
    let start = spec.screens.keys().position(|name| *name == spec.start);
    let Some(entry) = start.and_then(|at| activities.get(at).copied()) else {
        return Err(at("start", &format!("there is no screen \"{}\"", spec.start)));
    };
    let (package, label) = (keep(package)?, keep(&spec.label)?);
    Ok(AppFile { package, label, entry, activities, spec })
}

fn keep(name: &str) -> Result<&'static str, Problem> {
    names::keep(name).ok_or_else(|| Problem::new("", "this process has loaded too many different names"))
}

fn is_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
