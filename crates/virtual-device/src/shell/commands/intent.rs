//! Intents on a command line.

use crate::state::State;

#[derive(Debug, Default)]
pub struct Intent<'a> {
    pub action: Option<&'a str>,
    pub data: Option<&'a str>,
    pub kind: Option<&'a str>,
    pub categories: Vec<&'a str>,
    pub package: Option<&'a str>,
    pub component: Option<&'a str>,
    pub flags: u32,
    pub has_extras: bool,
    /// A word without an option: a URI, a package or a component.
    plain: Option<&'a str>,
    pub wait: bool,
    pub stop_first: bool,
}

const MAIN: &str = "android.intent.action.MAIN";
const LAUNCHER: &str = "android.intent.category.LAUNCHER";

/// Parses the options of an intent. Unknown ones are skipped: newer systems know more of them.
pub fn parse<'a>(words: &[&'a str]) -> Intent<'a> {
    let mut intent = Intent::default();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "-W" => intent.wait = true,
            "-S" => intent.stop_first = true,
            "-n" => intent.component = words.next(),
            "-p" => intent.package = words.next(),
            "-a" => intent.action = words.next(),
            "-d" => intent.data = words.next(),
            "-t" => intent.kind = words.next(),
            "-c" => intent.categories.extend(words.next()),
            "-f" => intent.flags |= words.next().map_or(0, number),
            "--user"
            | "--display"
            | "--windowingMode"
            | "--activityType"
            | "-i"
            | "-R"
            | "-P"
            | "--start-profiler"
            | "--query-flags"
            | "--receiver-permission" => {
                words.next();
            }
            "--esn" => {
                words.next();
                intent.has_extras = true;
            }
            "-e" | "--es" | "--ei" | "--ez" | "--el" | "--ef" | "--eu" | "--ed" | "--ecn" | "--eia"
            | "--eial" | "--ela" | "--efa" | "--esa" | "--esal" => {
                words.nth(1);
                intent.has_extras = true;
            }
            "--activity-clear-top" => intent.flags |= 0x0400_0000,
            "--activity-clear-task" => intent.flags |= 0x0000_8000,
            "--activity-single-top" => intent.flags |= 0x2000_0000,
            "--activity-no-history" => intent.flags |= 0x4000_0000,
            "--include-stopped-packages" => intent.flags |= 0x20,
            word if !word.starts_with('-') => intent.plain = Some(word),
            _ => {}
        }
    }
    intent.place_plain();
    intent
}

fn number(word: &str) -> u32 {
    match word.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).unwrap_or(0),
        None => word.parse().unwrap_or(0),
    }
}

impl<'a> Intent<'a> {
    /// Interprets the word without an option: `am start P/.A`, `am start P` and `am start https://…` all work.
    fn place_plain(&mut self) {
        match self.plain {
            Some(word) if word.contains(':') => {
                self.data = self.data.or(Some(word));
                self.action = self.action.or(Some("android.intent.action.VIEW"));
            }
            Some(word) if word.contains('/') => self.component = self.component.or(Some(word)),
            Some(word) => {
                self.package = self.package.or(Some(word));
                self.action = self.action.or(Some(MAIN));
                if self.categories.is_empty() {
                    self.categories.push(LAUNCHER);
                }
            }
            None => {}
        }
    }

    pub fn is_main(&self) -> bool {
        self.action.is_none_or(|action| action == MAIN) && self.data.is_none()
    }

    pub fn wants_launcher(&self) -> bool {
        self.categories.contains(&LAUNCHER)
    }

    /// Returns the package, and the activity when one is named; nothing when no app takes the intent.
    pub fn target(&self, state: &State) -> Option<(String, Option<String>)> {
        if let Some(component) = self.component {
            let (package, activity) = component.split_once('/')?;
            return Some((package.to_owned(), Some(short(package, activity))));
        }
        if self.categories.contains(&"android.intent.category.HOME") {
            return Some((crate::app::launcher::PACKAGE.to_owned(), None));
        }
        if self.action.is_some_and(|action| action.starts_with("android.settings.")) {
            let settings = "com.android.settings";
            return state.packages.get(settings).map(|_| (settings.to_owned(), None));
        }
        let package = self.package.filter(|_| self.is_main())?;
        Some((package.to_owned(), None))
    }

    /// Formats the intent as `Intent.toString` does, without the braces.
    pub fn text(&self, extra_flags: u32) -> String {
        let mut parts = Vec::new();
        parts.extend(self.action.map(|action| format!("act={action}")));
        if !self.categories.is_empty() {
            parts.push(format!("cat=[{}]", self.categories.join(",")));
        }
        parts.extend(self.data.map(|data| format!("dat={}", public_part(data))));
        parts.extend(self.kind.map(|kind| format!("typ={kind}")));
        if self.flags | extra_flags != 0 {
            parts.push(format!("flg=0x{:x}", self.flags | extra_flags));
        }
        parts.extend(self.package.map(|package| format!("pkg={package}")));
        if let Some((package, activity)) = self.component.and_then(|c| c.split_once('/')) {
            parts.push(format!("cmp={package}/{}", short(package, activity)));
        }
        if self.has_extras {
            parts.push("(has extras)".to_owned());
        }
        parts.join(" ")
    }
}

/// Returns scheme and host of a URI; Android does not print the rest, which could be private.
fn public_part(uri: &str) -> String {
    match uri.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            let more = if path.is_empty() { "" } else { "/..." };
            format!("{scheme}://{host}{more}")
        }
        None => uri.split_once(':').map_or_else(|| uri.to_owned(), |(scheme, _)| format!("{scheme}:...")),
    }
}

/// Shortens an activity's name: `.A` and `com.x.A` are the same activity of package `com.x`.
pub fn short(package: &str, activity: &str) -> String {
    match activity.strip_prefix(package) {
        Some(rest) if rest.starts_with('.') => rest.to_owned(),
        _ => activity.to_owned(),
    }
}
