//! Simulators of this Mac through `xcrun simctl`.
//!
//! Architecture invariant: each method runs one command (reading back may need a second), waits for its end and
//! retries nothing. simctl has neither a tree of the screen nor touch.

mod error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod list;
mod log;
mod process;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use mdm_core::port::{DeviceError, DeviceErrorKind, Dispatch, LogEntry, Place};

use error::{Effect, Said, failed};
pub use list::{Simulator, SimulatorApp, SimulatorState};
pub use log::SimulatorLog;
use process::{Output, Xcrun};

use crate::lines::Lines;

/// Largest picture of a screen.
const PICTURE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The code with which the system says that no app opens a link.
const NO_APP_FOR_LINK: i64 = -10814;

/// The client of simctl.
#[derive(Debug)]
pub struct Simctl {
    xcrun: Xcrun,
    /// Numbers files that are written for a moment.
    files: AtomicU64,
}

/// What becomes of a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privacy {
    Grant,
    Revoke,
    Reset,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appearance {
    Light,
    Dark,
}

impl Simctl {
    /// Uses the given `xcrun`, or the one on `PATH`.
    pub fn find(given: Option<PathBuf>) -> Result<Simctl, DeviceError> {
        let xcrun = match given {
            Some(program) => Some(Xcrun::new(program)),
            None => Xcrun::find(std::env::var_os("PATH").as_deref()),
        };
        let xcrun = xcrun.ok_or_else(error::not_found)?;
        Ok(Simctl { xcrun, files: AtomicU64::new(0) })
    }

    /// How many processes were started so far.
    pub fn processes_started(&self) -> u64 {
        self.xcrun.started()
    }

    pub fn program(&self) -> &Path {
        self.xcrun.program()
    }

    /// Lists all simulators, usable or not.
    pub async fn list(&self) -> Result<Vec<Simulator>, DeviceError> {
        let output = self.read("", &["list", "devices", "-j"]).await?;
        list::devices(&output.stdout).ok_or_else(|| unreadable("list devices"))
    }

    /// Boots a simulator and waits until it can be used; one that is booted already is left alone.
    pub async fn boot(&self, udid: &str) -> Result<(), DeviceError> {
        let output = self.run(Effect::Acts, &["bootstatus", udid, "-b"], None).await?;
        // It may say so although it waits for a simulator that somebody else has just booted.
        if output.code == Some(0) || output.stderr.contains("current state: Booted") {
            return Ok(());
        }
        Err(failed(udid, &output, Effect::Acts))
    }

    /// Shuts a simulator down; false when it was shut down already.
    pub async fn shutdown(&self, udid: &str) -> Result<bool, DeviceError> {
        let output = self.run(Effect::Acts, &["shutdown", udid], None).await?;
        match output.code {
            Some(0) => Ok(true),
            _ if output.stderr.contains("current state: Shutdown") => Ok(false),
            _ => Err(failed(udid, &output, Effect::Acts)),
        }
    }

    /// Removes everything from a simulator that is shut down.
    pub async fn erase(&self, udid: &str) -> Result<(), DeviceError> {
        self.act(udid, &["erase", udid]).await.map(drop)
    }

    /// Installs the bundle (`.app`) in this folder.
    pub async fn install(&self, udid: &str, app: &Path) -> Result<(), DeviceError> {
        let app = app.to_str().ok_or_else(|| {
            DeviceError::new(DeviceErrorKind::InvalidRequest, "the path of the app is not UTF-8")
        })?;
        check_word(app)?;
        let output = self.run(Effect::Acts, &["install", udid, app], None).await?;
        match output.code {
            Some(0) => Ok(()),
            _ if output.stderr.contains("application bundle was not found") => {
                let detail = format!("there is no app bundle (a folder that ends with .app) at {app}");
                Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail)
                    .with_dispatch(Dispatch::Refused))
            }
            _ => Err(failed(udid, &output, Effect::Acts)),
        }
    }

    /// Removes an app. simctl is content when there is no such app, so the caller looks before.
    pub async fn uninstall(&self, udid: &str, bundle: &str) -> Result<(), DeviceError> {
        check_word(bundle)?;
        self.act(udid, &["uninstall", udid, bundle]).await.map(drop)
    }

    /// Brings an app to the front and returns its pid.
    pub async fn launch(&self, udid: &str, bundle: &str, arguments: &[&str]) -> Result<u32, DeviceError> {
        check_word(bundle)?;
        let words: Vec<&str> = ["launch", udid, bundle].iter().chain(arguments).copied().collect();
        let output = self.act(udid, &words).await.map_err(|error| named(error, bundle, udid))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let pid = text.trim().rsplit(": ").next().and_then(|pid| pid.parse().ok());
        pid.ok_or_else(|| unreadable("launch").with_dispatch(Dispatch::Taken))
    }

    /// Ends an app; false when it did not run.
    pub async fn terminate(&self, udid: &str, bundle: &str) -> Result<bool, DeviceError> {
        check_word(bundle)?;
        let output = self.run(Effect::Acts, &["terminate", udid, bundle], None).await?;
        match output.code {
            Some(0) => Ok(true),
            _ if output.stderr.contains("found nothing to terminate") => Ok(false),
            _ => Err(failed(udid, &output, Effect::Acts)),
        }
    }

    pub async fn apps(&self, udid: &str) -> Result<Vec<SimulatorApp>, DeviceError> {
        let output = self.read(udid, &["listapps", udid]).await?;
        list::apps(&output.stdout).ok_or_else(|| unreadable("listapps"))
    }

    pub async fn app(&self, udid: &str, bundle: &str) -> Result<Option<SimulatorApp>, DeviceError> {
        check_word(bundle)?;
        let output = self.read(udid, &["appinfo", udid, bundle]).await?;
        Ok(list::app(&output.stdout, bundle))
    }

    /// The apps that run, with their pids.
    pub async fn running(&self, udid: &str) -> Result<Vec<(String, u32)>, DeviceError> {
        let output = self.read(udid, &["spawn", udid, "launchctl", "list"]).await?;
        Ok(list::running(&String::from_utf8_lossy(&output.stdout)))
    }

    /// The folder in which an app keeps its data, on this Mac.
    pub async fn data_folder(&self, udid: &str, bundle: &str) -> Result<PathBuf, DeviceError> {
        check_word(bundle)?;
        let output = self.run(Effect::Reads, &["get_app_container", udid, bundle, "data"], None).await?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match output.code {
            Some(0) if !text.is_empty() => Ok(PathBuf::from(text)),
            _ if output.stderr.contains("No such file or directory") => {
                let detail = format!("{bundle} is not installed on {udid}");
                Err(DeviceError::new(DeviceErrorKind::AppNotInstalled, detail))
            }
            _ => Err(failed(udid, &output, Effect::Reads)),
        }
    }

    /// Takes a picture of the screen, as PNG.
    pub async fn screenshot(&self, udid: &str) -> Result<Vec<u8>, DeviceError> {
        let file = self.file("png")?;
        self.read(udid, &["io", udid, "screenshot", "--type=png", file.text()?]).await?;
        file.read().map_err(|error| {
            let detail = format!("simctl wrote no picture: {error}");
            DeviceError::new(DeviceErrorKind::ScreenshotUnavailable, detail)
        })
    }

    pub async fn open_url(&self, udid: &str, url: &str) -> Result<(), DeviceError> {
        check_word(url)?;
        let output = self.run(Effect::Acts, &["openurl", udid, url], None).await?;
        match output.code {
            Some(0) => Ok(()),
            _ if Said::of(&output.stderr).code == Some(NO_APP_FOR_LINK) => {
                let detail = format!("no app on {udid} opens links such as {:.200}", url);
                Err(DeviceError::new(DeviceErrorKind::Rejected, detail).with_dispatch(Dispatch::Refused))
            }
            _ => Err(failed(udid, &output, Effect::Acts)),
        }
    }

    /// Changes a permission by simctl's name of it, such as `photos`. The app may be ended by it.
    pub async fn privacy(
        &self,
        udid: &str,
        change: Privacy,
        service: &str,
        bundle: &str,
    ) -> Result<(), DeviceError> {
        check_word(service)?;
        check_word(bundle)?;
        let verb = match change {
            Privacy::Grant => "grant",
            Privacy::Revoke => "revoke",
            Privacy::Reset => "reset",
        };
        self.act(udid, &["privacy", udid, verb, service, bundle]).await.map(drop)
    }

    /// Sends a push with this payload (JSON with an `aps` member) to an app.
    pub async fn push(&self, udid: &str, bundle: &str, payload: &[u8]) -> Result<(), DeviceError> {
        check_word(bundle)?;
        let file = self.file("json")?;
        file.write(payload)?;
        self.act(udid, &["push", udid, bundle, file.text()?]).await.map(drop)
    }

    pub async fn appearance(&self, udid: &str) -> Result<Option<Appearance>, DeviceError> {
        let output = self.read(udid, &["ui", udid, "appearance"]).await?;
        Ok(match String::from_utf8_lossy(&output.stdout).trim() {
            "light" => Some(Appearance::Light),
            "dark" => Some(Appearance::Dark),
            _ => None,
        })
    }

    pub async fn set_appearance(&self, udid: &str, appearance: Appearance) -> Result<(), DeviceError> {
        let word = match appearance {
            Appearance::Light => "light",
            Appearance::Dark => "dark",
        };
        self.act(udid, &["ui", udid, "appearance", word]).await.map(drop)
    }

    /// Tells apps a place instead of the real one; `None` tells the real one again.
    pub async fn set_location(&self, udid: &str, place: Option<Place>) -> Result<(), DeviceError> {
        match place {
            Some(place) => {
                let place = format!("{},{}", place.latitude, place.longitude);
                self.act(udid, &["location", udid, "set", &place]).await.map(drop)
            }
            None => self.act(udid, &["location", udid, "clear"]).await.map(drop),
        }
    }

    pub async fn pasteboard(&self, udid: &str) -> Result<String, DeviceError> {
        let output = self.read(udid, &["pbpaste", udid]).await?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub async fn set_pasteboard(&self, udid: &str, text: &str) -> Result<(), DeviceError> {
        let output = self.run(Effect::Acts, &["pbcopy", udid], Some(text.as_bytes())).await?;
        if output.code == Some(0) { Ok(()) } else { Err(failed(udid, &output, Effect::Acts)) }
    }

    /// Reads the log of the last seconds, oldest first, and how many lines of it were in no known form. A predicate of
    /// `log` chooses among the messages.
    pub async fn log_history(
        &self,
        udid: &str,
        last_s: u64,
        predicate: Option<&str>,
    ) -> Result<(Vec<LogEntry>, usize), DeviceError> {
        let last = last_s.to_string();
        let mut words =
            vec!["spawn", udid, "log", "show", "--style", "ndjson", "--info", "--debug", "--last", &last];
        words.extend(predicate.iter().flat_map(|predicate| ["--predicate", *predicate]));
        let output = self.read(udid, &words).await?;
        let mut lines = Lines::default();
        lines.push(&output.stdout);
        let batch = lines.take_batch();
        Ok((batch.entries, batch.unread_lines))
    }

    /// Follows the log from now on.
    pub fn follow_log(&self, udid: &str, predicate: Option<&str>) -> Result<SimulatorLog, DeviceError> {
        check_word(udid)?;
        let mut words = vec!["spawn", udid, "log", "stream", "--style", "ndjson", "--level", "debug"];
        words.extend(predicate.iter().flat_map(|predicate| ["--predicate", *predicate]));
        let process = self.xcrun.follow(&with_simctl(&words));
        process.map(SimulatorLog::new).map_err(|error| error::process(&error, Effect::Reads))
    }

    async fn read(&self, udid: &str, words: &[&str]) -> Result<Output, DeviceError> {
        let output = self.run(Effect::Reads, words, None).await?;
        if output.code == Some(0) { Ok(output) } else { Err(failed(udid, &output, Effect::Reads)) }
    }

    async fn act(&self, udid: &str, words: &[&str]) -> Result<Output, DeviceError> {
        let output = self.run(Effect::Acts, words, None).await?;
        if output.code == Some(0) { Ok(output) } else { Err(failed(udid, &output, Effect::Acts)) }
    }

    async fn run(&self, effect: Effect, words: &[&str], input: Option<&[u8]>) -> Result<Output, DeviceError> {
        let done = self.xcrun.run(&with_simctl(words), input).await;
        done.map_err(|error| error::process(&error, effect))
    }

    fn file(&self, ending: &str) -> Result<MomentaryFile, DeviceError> {
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        let name = format!("mobile-debug-{}-{number}-{:p}.{ending}", std::process::id(), self);
        let path = std::env::temp_dir().join(name);
        // Nobody else's file is written to: the name must be new.
        std::fs::OpenOptions::new().write(true).create_new(true).open(&path).map_err(|e| local(&e))?;
        Ok(MomentaryFile { path })
    }
}

/// A file in the folder for such, deleted when it is dropped.
struct MomentaryFile {
    path: PathBuf,
}

impl MomentaryFile {
    fn text(&self) -> Result<&str, DeviceError> {
        self.path.to_str().ok_or_else(|| {
            DeviceError::new(
                DeviceErrorKind::Local,
                "the folder for temporary files has a name that is not UTF-8",
            )
        })
    }

    fn write(&self, bytes: &[u8]) -> Result<(), DeviceError> {
        std::fs::write(&self.path, bytes).map_err(|error| local(&error))
    }

    fn read(&self) -> std::io::Result<Vec<u8>> {
        let size = std::fs::metadata(&self.path)?.len();
        match size {
            0 => Err(std::io::Error::other("the file is empty")),
            size if size > PICTURE_BYTES_MAX => Err(std::io::Error::other("the file is too large")),
            _ => std::fs::read(&self.path),
        }
    }
}

impl Drop for MomentaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn with_simctl<'a>(words: &[&'a str]) -> Vec<&'a OsStr> {
    std::iter::once("simctl").chain(words.iter().copied()).map(OsStr::new).collect()
}

/// A word that simctl would take for an option is refused: it comes from a caller.
fn check_word(word: &str) -> Result<(), DeviceError> {
    if word.is_empty() || word.starts_with('-') || word.contains('\0') {
        let detail = format!("{word:?} cannot be handed to simctl");
        return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
    }
    Ok(())
}

fn unreadable(command: &str) -> DeviceError {
    let detail = format!(
        "the answer of simctl to \"{command}\" cannot be read: is this Xcode newer than this program?"
    );
    DeviceError::new(DeviceErrorKind::Protocol, detail)
}

fn named(error: DeviceError, bundle: &str, udid: &str) -> DeviceError {
    match error.kind {
        DeviceErrorKind::AppNotInstalled => {
            DeviceError { detail: format!("{bundle} is not installed on {udid}"), ..error }
        }
        _ => error,
    }
}

fn local(error: &std::io::Error) -> DeviceError {
    DeviceError::new(DeviceErrorKind::Local, format!("a temporary file could not be written: {error}"))
}
