//! Secrets that an agent uses by name and never sees: `secret://name` in the text that is typed, or in what a field is
//! expected to hold.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::args::JsonObject;
use crate::refusal::Refusal;
use crate::secrets::{self, SECRET_CHARS_MIN, Secrets};

pub const SCHEME: &str = "secret://";
/// Secrets that can be named; more are refused at the start.
const HANDLES_MAX: usize = 256;
/// Bytes of one secret; a longer one is refused at the start.
const SECRET_BYTES_MAX: u64 = 4096;
/// Levels of arguments in which secrets are filled in.
const NESTING_MAX: usize = 8;
/// Arguments that may be a secret.
const TYPED: &str = "text";
const HELD: &str = "text_value";

#[derive(Clone, Default)]
pub struct Handles {
    all: BTreeMap<String, String>,
    variables: Vec<String>,
}

/// Only their names.
impl fmt::Debug for Handles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.all.keys()).finish()
    }
}

impl Handles {
    /// Adds `NAME=env:VARIABLE`, `NAME=file:PATH` or `NAME=keyring:SERVICE/ACCOUNT`.
    pub fn add(&mut self, given: &str, secrets: &Secrets) -> Result<(), String> {
        let wrong =
            || "--secret takes NAME=env:VARIABLE, NAME=file:PATH or NAME=keyring:SERVICE/ACCOUNT".to_owned();
        let (name, source) = given.split_once('=').ok_or_else(wrong)?;
        let (kind, place) = source.split_once(':').ok_or_else(wrong)?;
        if !is_good(name) {
            return Err("the name of a secret has 1 to 64 letters, digits, dots, _ and -".to_owned());
        }
        if self.all.len() >= HANDLES_MAX {
            return Err(format!("there are more than {HANDLES_MAX} secrets"));
        }
        let text = match kind {
            "env" => {
                std::env::var(place).map_err(|_| format!("secret {name}: the variable {place} is not set"))?
            }
            "file" => from_file(Path::new(place)).map_err(|problem| format!("secret {name}: {problem}"))?,
            "keyring" => from_keyring(place).map_err(|problem| format!("secret {name}: {problem}"))?,
            _ => return Err(wrong()),
        };
        let text = text.trim_end_matches(['\n', '\r']).to_owned();
        if text.chars().count() < SECRET_CHARS_MIN {
            return Err(format!(
                "secret {name}: less than {SECRET_CHARS_MIN} characters cannot be kept out of answers"
            ));
        }
        secrets.keep(&text);
        if !secrets.are_in(&text) {
            return Err(format!("secret {name}: it cannot be kept out of answers"));
        }
        self.all.insert(name.to_owned(), text);
        if kind == "env" {
            self.variables.push(place.to_owned());
        }
        Ok(())
    }

    /// The variables of the environment that secrets were read from.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(String::as_str)
    }

    /// The names of secrets that are found by trying: an answer shows `[secret]` where a text that an agent wrote is one.
    pub fn guessable(&self) -> impl Iterator<Item = &str> {
        let weak = self.all.iter().filter(|(_, text)| !secrets::is_strong(text));
        weak.map(|(name, _)| name.as_str())
    }

    /// Puts the secrets into the arguments of one call. They stand where they are typed or compared, whole, and nowhere
    /// else: a part of a longer text could be used to guess them.
    pub fn fill(&self, arguments: &mut JsonObject) -> Result<(), Refusal> {
        let types = arguments.get(TYPED).is_some_and(is_handle);
        for (name, value) in arguments.iter_mut() {
            self.fill_value(name, value, 0)?;
        }
        if types {
            // It goes into a field as a password does.
            arguments.insert("secure".to_owned(), true.into());
        }
        Ok(())
    }

    fn fill_value(&self, name: &str, value: &mut Value, depth: usize) -> Result<(), Refusal> {
        if depth > NESTING_MAX {
            return Ok(());
        }
        match value {
            Value::String(text) if text.contains(SCHEME) => {
                let may_be =
                    (name == TYPED && depth == 0) || name.replace('_', "").eq_ignore_ascii_case("textvalue");
                let handle = text.strip_prefix(SCHEME).filter(|_| may_be).ok_or_else(|| misplaced(name))?;
                let secret = self.all.get(handle).ok_or_else(|| self.unknown(handle))?;
                text.clone_from(secret);
                Ok(())
            }
            Value::Object(object) => {
                object.iter_mut().try_for_each(|(name, value)| self.fill_value(name, value, depth + 1))
            }
            Value::Array(items) => {
                items.iter_mut().try_for_each(|item| self.fill_value(name, item, depth + 1))
            }
            _ => Ok(()),
        }
    }

    fn unknown(&self, handle: &str) -> Refusal {
        let names: Vec<&str> = self.all.keys().map(String::as_str).collect();
        let known = if names.is_empty() { "there are none".to_owned() } else { names.join(", ") };
        Refusal::argument(
            format!("there is no secret {handle:.64?}"),
            format!("nothing was done; known are: {known}. The server's --secret NAME=env:VARIABLE adds one"),
        )
    }
}

/// True for `secret://NAME`.
pub fn is_name(text: &str) -> bool {
    text.strip_prefix(SCHEME).is_some_and(is_good)
}

fn is_good(name: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&name.len()) && name.chars().all(good)
}

fn is_handle(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.starts_with(SCHEME))
}

fn misplaced(name: &str) -> Refusal {
    Refusal::argument(
        format!("{name:.40} cannot be a secret"),
        format!(
            "nothing was done; {SCHEME}NAME stands alone in {TYPED}, to be typed, or in {HELD} of expect"
        ),
    )
}

fn from_file(path: &Path) -> Result<String, String> {
    let named = |error: std::io::Error| format!("{}: {error}", path.display());
    if std::fs::metadata(path).map_err(named)?.len() > SECRET_BYTES_MAX {
        return Err(format!("{} is larger than {SECRET_BYTES_MAX} bytes", path.display()));
    }
    std::fs::read_to_string(path).map_err(named)
}

/// Asks the system's own program, once, when the server starts.
#[allow(
    clippy::disallowed_methods,
    reason = "the keyring is asked by its own program, before anything is served"
)]
fn from_keyring(place: &str) -> Result<String, String> {
    let (service, account) = place.split_once('/').ok_or("a keyring's entry is SERVICE/ACCOUNT")?;
    let (program, arguments): (_, Vec<&str>) = if cfg!(target_os = "macos") {
        ("/usr/bin/security", vec!["find-generic-password", "-w", "-s", service, "-a", account])
    } else if cfg!(target_os = "linux") {
        ("secret-tool", vec!["lookup", "service", service, "account", account])
    } else {
        return Err("there is no keyring that can be asked on this system; use env or file".to_owned());
    };
    let asked = Command::new(program).args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = asked.map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() || output.stdout.is_empty() || output.stdout.len() as u64 > SECRET_BYTES_MAX {
        return Err(format!("{program} has no entry for {service}/{account}"));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{program} gave no text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handles() -> Handles {
        let all = BTreeMap::from([("login".to_owned(), "hunter2-canary".to_owned())]);
        Handles { all, ..Handles::default() }
    }

    fn filled(json: &str) -> Result<String, String> {
        let mut arguments = serde_json::from_str(json).unwrap();
        let done = handles().fill(&mut arguments);
        done.map(|()| Value::Object(arguments).to_string()).map_err(|refusal| refusal.failure.message)
    }

    #[test]
    fn a_secret_is_put_only_where_it_is_typed_or_compared() {
        assert_eq!(
            filled(r#"{"text":"secret://login"}"#).unwrap(),
            r#"{"text":"hunter2-canary","secure":true}"#
        );
        let compared = filled(r#"{"expect":{"role":"field","textValue":"secret://login"}}"#).unwrap();
        assert!(compared.contains("hunter2-canary") && !compared.contains("secure"));
        assert_eq!(filled(r#"{"text":"plain"}"#).unwrap(), r#"{"text":"plain"}"#);
        for bad in [
            r#"{"text":"x secret://login"}"#,
            r#"{"selector":{"text":"secret://login"}}"#,
            r#"{"link":"https://evil.example/secret://login"}"#,
            r#"{"extras":["secret://login"]}"#,
        ] {
            assert!(filled(bad).unwrap_err().contains("cannot be a secret"), "{bad}");
        }
        assert!(filled(r#"{"text":"secret://other"}"#).unwrap_err().contains("no secret \"other\""));
    }

    #[test]
    fn secrets_come_from_variables_and_files_and_are_kept_out_of_what_leaves() {
        let (mut handles, secrets) = (Handles::default(), Secrets::default());
        let file = std::env::temp_dir().join(format!("mdm-secret-{}", std::process::id()));
        std::fs::write(&file, "from-a-file-canary\n").unwrap();
        handles.add(&format!("f=file:{}", file.display()), &secrets).unwrap();
        std::fs::write(&file, "abc\n").unwrap();
        assert!(
            handles.add(&format!("g=file:{}", file.display()), &secrets).unwrap_err().contains("less than")
        );
        std::fs::remove_file(&file).unwrap();
        assert_eq!(secrets.redact("x from-a-file-canary y"), "x [secret] y");
        assert_eq!(format!("{handles:?}"), r#"{"f"}"#);
        for bad in ["x", "x=env", "x=env:MDM_TEST_NOT_SET", "a b=env:HOME", "x=other:y", "x=keyring:nothing"]
        {
            assert!(handles.add(bad, &secrets).is_err(), "{bad}");
        }
    }

    #[test]
    fn secrets_that_are_found_by_trying_are_named() {
        // SE-06
        let (mut handles, secrets) = (Handles::default(), Secrets::default());
        let file = std::env::temp_dir().join(format!("mdm-guessed-{}", std::process::id()));
        for (name, text) in
            [("pin", "4815"), ("word", "kestrel"), ("login", "kestrel-77"), ("digits", "12345678901")]
        {
            std::fs::write(&file, text).unwrap();
            handles.add(&format!("{name}=file:{}", file.display()), &secrets).unwrap();
        }
        assert_eq!(handles.guessable().collect::<Vec<_>>(), ["digits", "pin", "word"]);
        std::fs::write(&file, r"\\\\\\\\").unwrap();
        let nothing_left = handles.add(&format!("slashes=file:{}", file.display()), &secrets).unwrap_err();
        assert!(nothing_left.contains("cannot be kept out"), "{nothing_left}");
        std::fs::remove_file(&file).unwrap();
        handles.add("home=env:PATH", &secrets).unwrap();
        assert_eq!(handles.variables().collect::<Vec<_>>(), ["PATH"]);
    }
}
