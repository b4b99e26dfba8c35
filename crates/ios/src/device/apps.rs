//! Apps: starting, ending, installing, permitting, listing.

use std::path::Path;
use std::sync::Arc;

use mdm_core::port::{
    AppCommand, AppDetails, AppReport, AppVersion, DeviceError, DeviceErrorKind, Dispatch, InstalledApp,
    OpenRequest,
};

use super::{IosDevice, Server, wrong_way};
use crate::idb::{Launch, Permission};
use crate::real::{DeviceApp, runs_in};
use crate::route::Verb;
use crate::simctl::{Privacy, SimulatorApp};
use crate::wda::AppState;

/// Bytes of a bundle id; a longer one is refused.
const APP_ID_CHARS_MAX: usize = 155;

impl IosDevice {
    pub(super) async fn command_app(&self, command: &AppCommand) -> Result<AppReport, DeviceError> {
        if let Some(app) = command.app() {
            check_app_id(app)?;
        }
        self.state().keyboard = None;
        self.keep_log().await;
        match command {
            AppCommand::Start { app } => self.launch(app).await,
            AppCommand::Terminate { app } => self.terminate(app).await,
            AppCommand::Open(open) => self.open(open).await,
            AppCommand::Install { files, app } => self.install(files, app.as_deref()).await,
            AppCommand::Uninstall { app } => self.uninstall(app).await,
            AppCommand::Permit { app, permission, granted } => self.permit(app, permission, *granted).await,
            AppCommand::ClearData { .. } => {
                let detail = "iOS cannot delete the data of an app that stays installed: remove it and install it again";
                Err(DeviceError::new(DeviceErrorKind::NotSupported, detail))
            }
        }
    }

    async fn launch(&self, app: &str) -> Result<AppReport, DeviceError> {
        match self.server(Verb::Launch)? {
            Server::Idb(idb) => {
                let launch = Launch { bundle: app.to_owned(), ..Launch::default() };
                idb.launch(launch).await.map_err(|error| self.named(error, app))?;
            }
            Server::Simctl(one) => {
                one.simctl.launch(&one.udid, app, &[]).await.map(drop)?;
            }
            Server::Wda(wda) => {
                wda.launch(app).await?;
                if wda.app_state(app).await? == AppState::NotInstalledOrUnknown {
                    return Err(not_installed(app, &self.id));
                }
            }
            Server::Usb(usb) => return Err(usb.cannot_launch()),
            Server::Core(core) => match core.launch(app).await {
                Err(error) if error.kind == DeviceErrorKind::Rejected && !self.is_installed(app).await? => {
                    return Err(not_installed(app, &self.id));
                }
                launched => launched.map(drop)?,
            },
        }
        Ok(AppReport::default())
    }

    /// An app that does not run is ended already.
    async fn terminate(&self, app: &str) -> Result<AppReport, DeviceError> {
        match self.server(Verb::Terminate)? {
            Server::Idb(idb) => {
                let runs = idb.apps().await?.iter().any(|known| known.bundle == app && known.pid.is_some());
                if runs {
                    idb.terminate(app).await?;
                } else {
                    self.require_installed(app).await?;
                }
            }
            Server::Simctl(one) => {
                one.simctl.terminate(&one.udid, app).await.map(drop)?;
            }
            Server::Wda(wda) => wda.terminate(app).await?,
            Server::Core(core) => {
                self.require_installed(app).await?;
                for pid in self.read_pids(app).await? {
                    core.kill(pid).await?;
                }
            }
            Server::Usb(usb) => return Err(usb.cannot_launch()),
        }
        Ok(AppReport::default())
    }

    async fn open(&self, open: &OpenRequest) -> Result<AppReport, DeviceError> {
        let OpenRequest { app, activity: None, link: Some(link), extras } = open else {
            return Err(only_links());
        };
        if !extras.is_empty() {
            return Err(only_links());
        }
        match self.server(Verb::OpenLink)? {
            Server::Idb(idb) => idb.open_url(link).await?,
            Server::Simctl(one) => one.simctl.open_url(&one.udid, link).await?,
            Server::Wda(wda) => wda.open_url(link, app.as_deref()).await?,
            Server::Usb(_) | Server::Core(_) => return Err(wrong_way(Verb::OpenLink)),
        }
        Ok(AppReport::default())
    }

    async fn install(
        &self,
        files: &[std::path::PathBuf],
        app: Option<&str>,
    ) -> Result<AppReport, DeviceError> {
        let [file] = files else {
            let detail = "an app of iOS is one .app folder or one .ipa file";
            return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
        };
        let bundle = match self.server(Verb::Install)? {
            Server::Idb(idb) => Some(idb.install(file, |_| {}).await?),
            Server::Simctl(one) => {
                refuse_ipa(file)?;
                one.simctl.install(&one.udid, file).await?;
                app.map(str::to_owned)
            }
            Server::Usb(usb) => {
                usb.install(file, Arc::new(|_| {})).await?;
                app.map(str::to_owned)
            }
            Server::Wda(_) | Server::Core(_) => return Err(wrong_way(Verb::Install)),
        };
        let Some(bundle) = bundle else { return Ok(AppReport::default()) };
        // The program has said that it is done; what is there now is read back.
        if !self.is_installed(&bundle).await? {
            let detail = format!("{bundle} was installed without an error and is not there");
            return Err(DeviceError::new(DeviceErrorKind::Rejected, detail).with_dispatch(Dispatch::Taken));
        }
        let version = self.read_details(&bundle).await.map(|details| details.version).unwrap_or_default();
        Ok(AppReport { installed: Some(version), ..AppReport::default() })
    }

    async fn uninstall(&self, app: &str) -> Result<AppReport, DeviceError> {
        self.require_installed(app).await?;
        match self.server(Verb::Install)? {
            Server::Idb(idb) => idb.uninstall(app).await?,
            Server::Simctl(one) => one.simctl.uninstall(&one.udid, app).await?,
            Server::Usb(usb) => usb.uninstall(app).await?,
            Server::Wda(_) | Server::Core(_) => return Err(wrong_way(Verb::Install)),
        }
        Ok(AppReport { removed: !self.is_installed(app).await?, ..AppReport::default() })
    }

    /// Neither program tells afterwards which permissions an app has.
    async fn permit(&self, app: &str, permission: &str, granted: bool) -> Result<AppReport, DeviceError> {
        self.require_installed(app).await?;
        match self.server(Verb::Permit)? {
            Server::Simctl(one) => {
                let change = if granted { Privacy::Grant } else { Privacy::Revoke };
                one.simctl.privacy(&one.udid, change, permission, app).await?;
            }
            Server::Idb(idb) => {
                let permissions = [permission_of(permission)?];
                match granted {
                    true => idb.approve(app, &permissions).await?,
                    false => idb.revoke(app, &permissions).await?,
                }
            }
            Server::Wda(_) | Server::Usb(_) | Server::Core(_) => return Err(wrong_way(Verb::Permit)),
        }
        Ok(AppReport::default())
    }

    pub(super) async fn is_installed(&self, app: &str) -> Result<bool, DeviceError> {
        check_app_id(app)?;
        if self.way(Verb::ListApps).is_ok() {
            return Ok(self.all_apps().await?.iter().any(|known| known.bundle == app));
        }
        match self.server(Verb::Launch)? {
            Server::Wda(wda) => Ok(wda.app_state(app).await? != AppState::NotInstalledOrUnknown),
            _ => Err(wrong_way(Verb::ListApps)),
        }
    }

    async fn require_installed(&self, app: &str) -> Result<(), DeviceError> {
        match self.is_installed(app).await? {
            true => Ok(()),
            false => Err(not_installed(app, &self.id)),
        }
    }

    async fn all_apps(&self) -> Result<Vec<SimulatorApp>, DeviceError> {
        match self.server(Verb::ListApps)? {
            Server::Idb(idb) => {
                let apps = idb.apps().await?.into_iter();
                let app = |app: crate::idb::IdbApp| SimulatorApp {
                    bundle: app.bundle,
                    name: app.name,
                    system: app.is_system,
                    ..SimulatorApp::default()
                };
                Ok(apps.map(app).collect())
            }
            Server::Simctl(one) => one.simctl.apps(&one.udid).await,
            Server::Usb(usb) => {
                let app = |app: DeviceApp| SimulatorApp {
                    bundle: app.bundle,
                    name: app.name,
                    version: app.version,
                    build: app.build,
                    system: app.system,
                    path: app.path,
                };
                Ok(usb.apps(true).await?.into_iter().map(app).collect())
            }
            Server::Wda(_) | Server::Core(_) => Err(wrong_way(Verb::ListApps)),
        }
    }

    pub(super) async fn list_apps(&self, with_system: bool) -> Result<Vec<InstalledApp>, DeviceError> {
        let apps = self.all_apps().await?.into_iter().filter(|app| with_system || !app.system);
        Ok(apps.map(|app| InstalledApp { id: app.bundle, version_code: None }).collect())
    }

    pub(super) async fn read_details(&self, app: &str) -> Result<AppDetails, DeviceError> {
        check_app_id(app)?;
        let known = match &self.backends.simctl {
            Some(one) => one.simctl.app(&one.udid, app).await?,
            None => self.all_apps().await?.into_iter().find(|known| known.bundle == app),
        };
        let known = known.ok_or_else(|| not_installed(app, &self.id))?;
        let code = known.build.and_then(|build| build.parse().ok());
        Ok(AppDetails {
            version: AppVersion { code, name: known.version },
            pids: self.read_pids(app).await?,
            is_system: known.system,
            ..AppDetails::default()
        })
    }

    pub(super) async fn read_pids(&self, app: &str) -> Result<Vec<u32>, DeviceError> {
        check_app_id(app)?;
        match self.server(Verb::ListApps)? {
            Server::Idb(idb) => {
                let apps = idb.apps().await?.into_iter().filter(|known| known.bundle == app);
                Ok(apps.filter_map(|app| app.pid).collect())
            }
            Server::Simctl(one) => {
                let running = one.simctl.running(&one.udid).await?.into_iter();
                Ok(running.filter(|(bundle, _)| bundle == app).map(|(_, pid)| pid).collect())
            }
            // A phone lists its processes only to its developer services.
            Server::Usb(usb) => match &self.backends.core {
                Some(core) => {
                    let folder = usb.app(app).await?.and_then(|app| app.path);
                    let Some(folder) = folder else { return Ok(Vec::new()) };
                    let running = core.processes().await?.into_iter();
                    Ok(running.filter(|found| runs_in(found, &folder)).map(|found| found.pid).collect())
                }
                None => Ok(Vec::new()),
            },
            Server::Wda(_) | Server::Core(_) => Err(wrong_way(Verb::ListApps)),
        }
    }

    fn named(&self, error: DeviceError, app: &str) -> DeviceError {
        match error.kind {
            DeviceErrorKind::AppNotInstalled => not_installed(app, &self.id),
            _ => error,
        }
    }
}

/// Refuses what cannot be a bundle id.
pub(super) fn check_app_id(app: &str) -> Result<(), DeviceError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if !app.is_empty() && app.len() <= APP_ID_CHARS_MAX && app.chars().all(allowed) && !app.starts_with('-') {
        return Ok(());
    }
    let detail = format!("{app:.60?} is not a bundle id such as com.example.app");
    Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail))
}

fn not_installed(app: &str, id: &str) -> DeviceError {
    let detail = format!("{app} is not installed on {id}");
    DeviceError::new(DeviceErrorKind::AppNotInstalled, detail).with_dispatch(Dispatch::Refused)
}

fn only_links() -> DeviceError {
    let detail = "iPhones open links (a `scheme://…` of the app); they have no screens by name";
    DeviceError::new(DeviceErrorKind::InvalidRequest, detail)
}

fn refuse_ipa(file: &Path) -> Result<(), DeviceError> {
    if file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ipa")) {
        let detail = "simulators take .app folders; an .ipa is built for real phones";
        return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
    }
    Ok(())
}

/// The permissions that idb knows, by the names that simctl has for them.
fn permission_of(name: &str) -> Result<Permission, DeviceError> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "photos" => Permission::Photos,
        "camera" => Permission::Camera,
        "contacts" => Permission::Contacts,
        "location" | "location-always" => Permission::Location,
        "notifications" | "notification" => Permission::Notification,
        "microphone" => Permission::Microphone,
        _ => {
            let detail = format!(
                "{name:.60?} is none of photos, camera, contacts, location, notifications and microphone"
            );
            return Err(DeviceError::new(DeviceErrorKind::InvalidRequest, detail));
        }
    })
}
