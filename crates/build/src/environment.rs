//! The environment variables that decide where tools are found. Tests make their own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The token of this server's own clients.
const TOKEN_VARIABLE: &str = "MOBILE_DEBUG_MCP_TOKEN";

/// Variables of this process, or of a test.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    /// The root of the file system in which system folders such as `/usr/lib/jvm` are looked up.
    system_root: PathBuf,
}

impl Environment {
    pub fn of_process() -> Environment {
        Environment::inherited(std::env::vars_os())
    }

    fn inherited(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Environment {
        let variables = variables.into_iter().map(|(name, value)| (stored_name(name, cfg!(windows)), value));
        let all = Environment { variables: variables.collect(), system_root: PathBuf::from("/") };
        all.without([TOKEN_VARIABLE])
    }

    /// The same without these variables: what a project runs may read all others.
    #[must_use]
    pub fn without<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Environment {
        // Systems differ in whether the case of a name counts.
        for name in names {
            self.variables.retain(|known, _| !known.eq_ignore_ascii_case(name));
        }
        self
    }

    /// An environment with only these variables, whose system folders are below `system_root`.
    pub fn new<'a>(
        variables: impl IntoIterator<Item = (&'a str, &'a OsStr)>,
        system_root: impl Into<PathBuf>,
    ) -> Environment {
        let own = |(name, value): (&str, &OsStr)| (OsString::from(name), value.to_owned());
        Environment { variables: variables.into_iter().map(own).collect(), system_root: system_root.into() }
    }

    pub fn variables(&self) -> &BTreeMap<OsString, OsString> {
        &self.variables
    }

    /// The value of a variable that is set and not empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.variables.get(OsStr::new(name))?.to_str().filter(|value| !value.is_empty())
    }

    pub fn folder(&self, name: &str) -> Option<PathBuf> {
        let value = self.variables.get(OsStr::new(name))?;
        (!value.is_empty()).then(|| PathBuf::from(value))
    }

    pub fn home(&self) -> Option<PathBuf> {
        self.folder("HOME").or_else(|| self.folder("USERPROFILE"))
    }

    /// A folder of the system, such as `usr/lib/jvm`.
    pub fn system(&self, relative: &str) -> PathBuf {
        self.system_root.join(relative)
    }

    /// The program of this name in the folders of PATH.
    pub fn on_path(&self, program: &str) -> Option<PathBuf> {
        let path = self.variables.get(OsStr::new("PATH"))?;
        let names = if cfg!(windows) {
            vec![format!("{program}.exe"), format!("{program}.bat"), format!("{program}.cmd")]
        } else {
            vec![program.to_owned()]
        };
        let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        folders
            .flat_map(|folder| names.iter().map(move |n| folder.join(n)).collect::<Vec<_>>())
            .find(|p| is_program(p))
    }
}

/// The name under which a variable is kept. Windows does not tell upper from lower case in names, and calls PATH `Path`.
fn stored_name(name: OsString, is_windows: bool) -> OsString {
    if is_windows { name.to_ascii_uppercase() } else { name }
}

/// True for a file that may be started.
pub fn is_program(path: &Path) -> bool {
    let Ok(about) = path.metadata() else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        about.is_file() && about.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    {
        about.is_file()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_case_on_windows() {
        assert_eq!(stored_name("Path".into(), true), "PATH");
        assert_eq!(stored_name("Path".into(), false), "Path");
    }

    #[test]
    fn variables_with_secrets_are_not_handed_on() {
        // SE-06
        let value = OsStr::new("kestrel-canary");
        let variables = [("PATH", value), ("APP_PASSWORD", value), ("app_password", value), ("APP", value)];
        let environment = Environment::new(variables, "/").without(["APP_PASSWORD", "OTHER"]);
        assert_eq!(environment.variables().keys().collect::<Vec<_>>(), ["APP", "PATH"]);
        let own =
            [("PATH", value), (TOKEN_VARIABLE, value)].map(|(name, value)| (name.into(), value.to_owned()));
        assert_eq!(Environment::inherited(own).variables().keys().collect::<Vec<_>>(), ["PATH"]);
    }
}
