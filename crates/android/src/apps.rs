//! Apps of an Android device: starting, installing, removing and asking about them.

use std::path::{Path, PathBuf};

use mdm_core::port::{
    AppCommand, AppDetails, AppReport, AppVersion, DeviceError, DeviceErrorKind, Dispatch, Extra,
    FileCommand, InstalledApp, OpenRequest,
};

use crate::AndroidDevice;
use crate::adb::shell::Output;
use crate::adb::{AdbError, Script};
use crate::device::{DUMPSYS_BYTES_MAX, SHORT_BYTES_MAX, rejected};

/// Apps that are listed.
const APPS_MAX: usize = 5000;
/// Files of one app.
const FILES_MAX: usize = 100;
/// Largest file that is read from a device.
const PULL_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// Values that are handed to a screen.
const EXTRAS_MAX: usize = 50;
/// Stands between the package manager's words and the processes.
const PIDS_MARK: &str = "mdm-pids";

impl AndroidDevice {
    pub(crate) async fn command_app(&self, command: &AppCommand) -> Result<AppReport, DeviceError> {
        if let Some(app) = command.app() {
            check_app_id(app)?;
        }
        match command {
            AppCommand::Start { app } => self.start_app(app).await,
            AppCommand::Terminate { app } => {
                let script = installed_or_exit(app).then("; am force-stop").arg(app);
                self.act_on_app(app, &script).await.map(|_| AppReport::default())
            }
            AppCommand::ClearData { app } => self.clear_data(app).await,
            AppCommand::Install { files, app } => self.install(files, app.as_deref()).await,
            AppCommand::Uninstall { app } => self.uninstall(app).await,
            AppCommand::Permit { app, permission, granted } => self.permit(app, permission, *granted).await,
            AppCommand::Open(open) => self.open(open).await,
        }
    }

    async fn start_app(&self, app: &str) -> Result<AppReport, DeviceError> {
        let component = self.launcher_component(app).await?;
        let output = self.act(&Script::new("am start -W -n").arg(&component)).await?;
        launched(&output)
    }

    async fn launcher_component(&self, app: &str) -> Result<String, DeviceError> {
        let resolve =
            Script::new("cmd package resolve-activity --brief -c android.intent.category.LAUNCHER").arg(app);
        let resolved = self.run(&resolve, SHORT_BYTES_MAX).await?.stdout_text();
        if let Some(component) = component_of(app, &resolved) {
            return Ok(component.to_owned());
        }
        self.require_installed(app).await?;
        let detail = format!("{app} has no activity that a launcher could start");
        Err(DeviceError::new(DeviceErrorKind::AppNotLaunchable, detail))
    }

    async fn clear_data(&self, app: &str) -> Result<AppReport, DeviceError> {
        let output = self.act_on_app(app, &installed_or_exit(app).then("; pm clear").arg(app)).await?;
        if output.stdout_text() == "Success" { Ok(AppReport::default()) } else { Err(rejected(&output)) }
    }

    pub(crate) async fn require_installed(&self, app: &str) -> Result<(), DeviceError> {
        self.act_on_app(app, &installed_or_exit(app)).await.map(drop)
    }

    async fn open(&self, open: &OpenRequest) -> Result<AppReport, DeviceError> {
        let script = match (&open.app, &open.activity, &open.link) {
            (Some(app), Some(activity), link) => {
                let start = Script::new("am start -W -n").arg(&component(app, activity)?);
                link.iter().fold(start, |start, link| start.then(" -d").arg(link))
            }
            (app, None, Some(link)) => {
                let view = Script::new("am start -W -a android.intent.action.VIEW -d").arg(link);
                app.iter().fold(view, |view, app| view.then(" -p").arg(app))
            }
            (Some(app), None, None) => {
                Script::new("am start -W -n").arg(&self.launcher_component(app).await?)
            }
            (None, _, _) => {
                let detail = "neither an app nor a link was named";
                return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
            }
        };
        if open.extras.len() > EXTRAS_MAX {
            let detail = format!("more than {EXTRAS_MAX} extras");
            return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
        }
        let script = open.extras.iter().fold(script, |script, (name, extra)| match extra {
            Extra::Text(text) => script.then(" --es").arg(name).arg(text),
            Extra::Number(number) => match i32::try_from(*number) {
                Ok(_) => script.then(" --ei").arg(name).number(*number),
                Err(_) => script.then(" --el").arg(name).number(*number),
            },
            Extra::Flag(flag) => script.then(" --ez").arg(name).then(if *flag { " true" } else { " false" }),
        });
        self.act(&script).await.and_then(|output| launched(&output))
    }

    async fn install(&self, files: &[PathBuf], app: Option<&str>) -> Result<AppReport, DeviceError> {
        if files.is_empty() || files.len() > FILES_MAX {
            let detail = format!("an app has 1 to {FILES_MAX} files, not {}", files.len());
            return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
        }
        let mut opened = Vec::new();
        for file in files {
            let apk = tokio::fs::File::open(file).await.map_err(|error| local(file, &error))?;
            let size_bytes = apk.metadata().await.map_err(|error| local(file, &error))?.len();
            opened.push((apk, size_bytes));
        }
        let sent = match &mut opened[..] {
            [(apk, size_bytes)] => self.adb.install(apk, *size_bytes, |_| {}).await,
            splits => self.adb.install_splits(splits).await,
        };
        sent.map_err(|error| self.install_error(error))?;
        let installed = match app {
            Some(app) => Some(self.read_details(app).await?.version),
            None => None,
        };
        Ok(AppReport { installed, ..AppReport::default() })
    }

    fn install_error(&self, error: AdbError) -> DeviceError {
        match error {
            AdbError::Refused(answer) => {
                let detail = format!("the package manager refused: {:.300}", answer.trim());
                DeviceError::new(DeviceErrorKind::Rejected, detail).with_dispatch(Dispatch::Refused)
            }
            other => self.effect_error(other),
        }
    }

    /// Removes an app. What the package manager says is believed only when the app is gone.
    async fn uninstall(&self, app: &str) -> Result<AppReport, DeviceError> {
        let output = self.act_on_app(app, &installed_or_exit(app).then("; pm uninstall").arg(app)).await?;
        if !output.stdout_text().lines().any(|line| line.trim() == "Success") {
            return Err(rejected(&output));
        }
        match self.require_installed(app).await {
            Err(error) if error.kind == DeviceErrorKind::AppNotInstalled => {
                Ok(AppReport { removed: true, ..AppReport::default() })
            }
            Err(error) => Err(error.with_dispatch(Dispatch::Taken)),
            Ok(()) => {
                let detail = format!("the device said that {app} was removed, and it is still there");
                Err(DeviceError::new(DeviceErrorKind::Rejected, detail).with_dispatch(Dispatch::Taken))
            }
        }
    }

    async fn permit(&self, app: &str, permission: &str, granted: bool) -> Result<AppReport, DeviceError> {
        check_permission(permission)?;
        let verb = if granted { "; pm grant" } else { "; pm revoke" };
        self.act_on_app(app, &installed_or_exit(app).then(verb).arg(app).arg(permission)).await?;
        let details = self.read_details(app).await.map_err(|error| error.with_dispatch(Dispatch::Taken))?;
        match details.permissions.iter().find(|(name, _)| name == permission) {
            Some((_, found)) if *found == granted => {
                Ok(AppReport { granted: Some(*found), ..AppReport::default() })
            }
            found => {
                let now =
                    found.map_or("not listed", |(_, found)| if *found { "granted" } else { "not granted" });
                let detail = format!("the device took the command, and {permission} is {now} for {app}");
                Err(DeviceError::new(DeviceErrorKind::Rejected, detail).with_dispatch(Dispatch::Taken))
            }
        }
    }

    pub(crate) async fn list_apps(&self, with_system: bool) -> Result<Vec<InstalledApp>, DeviceError> {
        let list = || Script::new("pm list packages").then(if with_system { "" } else { " -3" });
        let mut output = self.run(&list().then(" --show-versioncode"), DUMPSYS_BYTES_MAX).await?;
        if output.exit_code != 0 {
            // Before Android 8 the option is not known.
            output = self.run(&list(), DUMPSYS_BYTES_MAX).await?;
        }
        if output.exit_code != 0 {
            return Err(rejected(&output).with_dispatch(Dispatch::NotSent));
        }
        let mut apps: Vec<InstalledApp> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(installed_app)
            .take(APPS_MAX)
            .collect();
        apps.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(apps)
    }

    pub(crate) async fn read_details(&self, app: &str) -> Result<AppDetails, DeviceError> {
        check_app_id(app)?;
        let script = Script::new("dumpsys package").arg(app).then("; echo; echo mdm-pids; pidof").arg(app);
        let output = self.run(&script, DUMPSYS_BYTES_MAX).await?;
        details(app, &String::from_utf8_lossy(&output.stdout)).ok_or_else(|| not_installed(app, &self.id))
    }

    pub(crate) async fn copy(&self, command: &FileCommand) -> Result<(), DeviceError> {
        match command {
            FileCommand::Pull { remote, local } => self.pull(remote, local).await,
            FileCommand::Push { local: path, remote } => {
                let mut file = tokio::fs::File::open(path).await.map_err(|error| local(path, &error))?;
                let pushed = self.adb.push(&mut file, remote, 0o644, 0, |_| {}).await;
                pushed.map(drop).map_err(|error| self.copy_error(error))
            }
        }
    }

    /// Reads a file of the device. What was at `path` is replaced only by a whole file.
    async fn pull(&self, remote: &str, path: &Path) -> Result<(), DeviceError> {
        let part = Part::beside(path);
        let created = tokio::fs::OpenOptions::new().write(true).create_new(true).open(&part.0).await;
        let mut file = created.map_err(|error| local(&part.0, &error))?;
        let pulled = self.adb.pull(remote, PULL_BYTES_MAX, &mut file, |_| {}).await;
        pulled.map_err(|error| self.copy_error(error))?;
        tokio::fs::rename(&part.0, path).await.map_err(|error| local(path, &error))
    }

    fn copy_error(&self, error: AdbError) -> DeviceError {
        match error {
            AdbError::Refused(why) => {
                let detail = format!("the device refused: {why:.300}");
                DeviceError::new(DeviceErrorKind::Rejected, detail).with_dispatch(Dispatch::Refused)
            }
            other => self.effect_error(other),
        }
    }
}

/// A file that is not whole yet. It is removed unless it was renamed.
struct Part(PathBuf);

impl Part {
    fn beside(path: &Path) -> Part {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Part(path.with_file_name(format!(".{name:.100}.{}.part", std::process::id())))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

fn local(path: &Path, error: &std::io::Error) -> DeviceError {
    DeviceError::new(DeviceErrorKind::Local, format!("{}: {error}", path.display()))
}

/// One line of `pm list packages`: `package:com.example versionCode:12`.
fn installed_app(line: &str) -> Option<InstalledApp> {
    let mut words = line.trim().strip_prefix("package:")?.split_whitespace();
    let id = words.next()?.to_owned();
    let version_code = words.find_map(|word| word.strip_prefix("versionCode:")?.parse().ok());
    Some(InstalledApp { id, version_code })
}

/// What `dumpsys package` says of an app, and `pidof` after it. `None` if the app is not installed.
fn details(app: &str, text: &str) -> Option<AppDetails> {
    let (about, pids) = text.rsplit_once(PIDS_MARK)?;
    // Other packages stand in the same output: those that share something with this one.
    let start = about.find(&format!("Package [{app}] ("))?;
    let about = &about[start..];
    let end = about[1..].find("\n  Package [").map_or(about.len(), |at| at + 1);
    let about = &about[..end];
    let value = |key: &str| {
        let at = about.find(&format!(" {key}="))? + key.len() + 2;
        about[at..].split_whitespace().next()
    };
    let line = |key: &str| {
        let found = about.lines().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))?;
        Some(found.trim().to_owned()).filter(|found| !found.is_empty())
    };
    let flags = about.lines().find_map(|line| line.trim().strip_prefix("flags=[")).unwrap_or_default();
    let number = |key: &str| value(key)?.parse().ok();
    Some(AppDetails {
        version: AppVersion {
            code: value("versionCode").and_then(|code| code.parse().ok()),
            name: line("versionName").filter(|name| name != "null"),
        },
        pids: pids.split_whitespace().map_while(|pid| pid.parse().ok()).collect(),
        min_sdk: number("minSdk"),
        target_sdk: number("targetSdk"),
        is_debuggable: flags.split_whitespace().any(|flag| flag == "DEBUGGABLE"),
        is_system: flags.split_whitespace().any(|flag| flag == "SYSTEM"),
        first_installed: line("firstInstallTime"),
        last_updated: line("lastUpdateTime"),
        permissions: permissions(about),
    })
}

/// Lines below `runtime permissions:`, for the first user: `NAME: granted=true, flags=[…]`.
fn permissions(about: &str) -> Vec<(String, bool)> {
    let lines = about.lines().skip_while(|line| line.trim() != "runtime permissions:").skip(1);
    let permission = |line: &str| {
        let (name, rest) = line.trim().split_once(": granted=")?;
        Some((name.to_owned(), rest.starts_with("true")))
    };
    lines.map_while(permission).collect()
}

/// The name of an activity as the shell takes it.
fn component(app: &str, activity: &str) -> Result<String, DeviceError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$');
    if activity.is_empty() || activity.len() > 255 || !activity.chars().all(allowed) {
        let detail = format!("{activity:.100?} is no activity, which looks like .MainActivity");
        return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
    }
    let dot = if activity.contains('.') { "" } else { "." };
    Ok(format!("{app}/{dot}{activity}"))
}

fn check_permission(permission: &str) -> Result<(), DeviceError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    if permission.contains('.') && permission.len() <= 255 && permission.chars().all(allowed) {
        return Ok(());
    }
    let detail = format!("{permission:.100?} is no permission, which looks like android.permission.CAMERA");
    Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail))
}

/// Believes what is printed, not the exit code: some shells end well without a path (F48).
fn installed_or_exit(app: &str) -> Script {
    Script::new("[ -n \"$(pm path").arg(app).then(" 2>/dev/null)\" ] || exit 21")
}

/// The activity of this app that a launcher starts. Some devices name their own chooser for an app that they do not
/// have (F48).
fn component_of<'a>(app: &str, resolved: &'a str) -> Option<&'a str> {
    let component = resolved.lines().last().unwrap_or("").trim();
    component.split_once('/').is_some_and(|(package, _)| package == app).then_some(component)
}

pub(crate) fn not_installed(app: &str, device: &str) -> DeviceError {
    let detail = format!("{app} is not installed on {device}");
    DeviceError::new(DeviceErrorKind::AppNotInstalled, detail).with_dispatch(Dispatch::Refused)
}

/// What `am start -W` says of a launch.
fn launched(output: &Output) -> Result<AppReport, DeviceError> {
    let text = output.stdout_text();
    let value = |key: &str| text.lines().find_map(|line| line.trim().strip_prefix(key)).map(str::trim);
    match value("Status:") {
        Some("ok") => Ok(AppReport {
            launch_time_ms: value("TotalTime:").and_then(|t| t.parse().ok()),
            ..AppReport::default()
        }),
        _ => Err(rejected(output)),
    }
}

/// Refuses names outside the alphabet of packages: saying so beats whatever the device would answer.
pub(crate) fn check_app_id(app: &str) -> Result<(), DeviceError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if !app.is_empty() && app.len() <= 255 && app.chars().all(allowed) && !app.starts_with('-') {
        return Ok(());
    }
    let detail = format!("{app:?} is not an Android package name, which looks like com.example.app");
    Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_activity_of_the_app_itself_is_started() {
        // F48
        let chooser = "priority=0 preferredOrder=0\nandroid/com.android.internal.app.ResolverActivity";
        for (resolved, component) in [
            ("priority=0 isDefault=true\ncom.example/.Main\n", Some("com.example/.Main")),
            (chooser, None),
            ("com.example.other/.Main", None),
            ("No activity found", None),
            ("", None),
        ] {
            assert_eq!(component_of("com.example", resolved), component, "{resolved:?}");
        }
    }
}
