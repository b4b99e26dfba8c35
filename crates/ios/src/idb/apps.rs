//! Apps: listing, starting, ending, installing and removing them.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt as _};
use mdm_core::port::{DeviceError, DeviceErrorKind, Dispatch};
use mdm_wire::idb::{
    BundleRequest, ConnectRequest, ConnectResponse, Empty, InstallDestination, InstallPart, InstallRequest,
    InstallResponse, LaunchControl, LaunchRequest, LaunchResponse, LaunchStart, ListAppsRequest,
    ListAppsResponse, Payload, PayloadSource,
};
use tokio::sync::mpsc;

use super::Idb;
use super::call::Method;

/// Bytes of an app in one message; a companion takes 16 MB.
const PIECE_BYTES: usize = 1024 * 1024;
/// Pieces that are read ahead of the connection.
const PIECES_AHEAD: usize = 4;

/// An installed app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdbApp {
    pub bundle: String,
    pub name: String,
    pub is_system: bool,
    /// Nothing while it does not run, and where the companion does not know.
    pub pid: Option<u32>,
}

/// How an app is started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    pub bundle: String,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
}

impl Idb {
    pub async fn apps(&self) -> Result<Vec<IdbApp>, DeviceError> {
        const LIST: Method = Method::read("list_apps", "list the apps");
        let answer: ListAppsResponse =
            self.ask(LIST, ListAppsRequest { suppress_process_state: false }).await?;
        let app = |app: mdm_wire::idb::InstalledAppInfo| IdbApp {
            bundle: app.bundle_id,
            name: app.name,
            is_system: app.install_type == "system",
            pid: u32::try_from(app.process_identifier).ok().filter(|pid| *pid > 0),
        };
        Ok(answer.apps.into_iter().map(app).collect())
    }

    /// Starts an app, or brings the running one to the front, and returns its pid.
    pub async fn launch(&self, launch: Launch) -> Result<Option<u32>, DeviceError> {
        const LAUNCH: Method = Method::act("launch", "launch the app");
        let start = LaunchStart {
            bundle_id: launch.bundle,
            env: launch.environment.into_iter().collect(),
            app_args: launch.arguments,
            foreground_if_running: true,
            wait_for: false,
            wait_for_debugger: false,
        };
        let request = LaunchRequest { control: Some(LaunchControl::Start(start)) };
        let answers = self.converse(LAUNCH, stream::iter([request])).await;
        let mut answers = answers.map_err(not_installed)?;
        let mut pid = None;
        while let Some(LaunchResponse { debugger, .. }) = answers.next().await.map_err(not_installed)? {
            pid = pid.or(debugger.and_then(|debugger| u32::try_from(debugger.pid).ok()));
        }
        Ok(pid.filter(|pid| *pid > 0))
    }

    /// Ends an app. The companion refuses if it does not run.
    pub async fn terminate(&self, bundle: &str) -> Result<(), DeviceError> {
        const TERMINATE: Method = Method::act("terminate", "end the app");
        let _: Empty = self.ask(TERMINATE, BundleRequest { bundle_id: bundle.to_owned() }).await?;
        Ok(())
    }

    pub async fn uninstall(&self, bundle: &str) -> Result<(), DeviceError> {
        const UNINSTALL: Method = Method::act("uninstall", "remove the app");
        let _: Empty = self.ask(UNINSTALL, BundleRequest { bundle_id: bundle.to_owned() }).await?;
        Ok(())
    }

    /// Installs an `.ipa` or a folder `.app` and returns its bundle id. `progress` hears the bytes that were read so
    /// far, and the companion's own progress is not told: most have none.
    pub async fn install(
        &self,
        app: &Path,
        progress: impl FnMut(u64) + Send + 'static,
    ) -> Result<String, DeviceError> {
        const INSTALL: Method = Method::act_in_parts("install", "install the app");
        let destination = InstallPart::Destination(InstallDestination::App.into());
        let head = stream::iter([destination]);
        let parts: InstallParts = if self.sees(app).await? {
            let source = PayloadSource::FilePath(app.to_string_lossy().into_owned());
            Box::pin(head.chain(stream::iter([payload(source)])))
        } else {
            Box::pin(head.chain(pieces(app.to_owned(), progress)?))
        };
        let requests = parts.map(|value| InstallRequest { value: Some(value) });
        let mut answers = self.converse(INSTALL, requests).await?;
        let mut name = String::new();
        while let Some(InstallResponse { name: told, .. }) = answers.next().await? {
            if !told.is_empty() {
                name = told;
            }
        }
        if name.is_empty() {
            let error = DeviceError::new(
                DeviceErrorKind::Protocol,
                "the companion ended the installation without a word; list the apps to see what came of it",
            );
            return Err(error.with_dispatch(Dispatch::Unknown));
        }
        Ok(name)
    }

    /// True if the companion sees the same file: then only its path is sent.
    async fn sees(&self, path: &Path) -> Result<bool, DeviceError> {
        const CONNECT: Method = Method::read("connect", "say whether it sees our files");
        let request = ConnectRequest {
            local_file_path: path.to_string_lossy().into_owned(),
            ..ConnectRequest::default()
        };
        let answer: ConnectResponse = self.ask(CONNECT, request).await?;
        Ok(answer.companion.is_some_and(|companion| companion.is_local))
    }
}

type InstallParts = std::pin::Pin<Box<dyn Stream<Item = InstallPart> + Send>>;

fn payload(source: PayloadSource) -> InstallPart {
    InstallPart::Payload(Payload { source: Some(source) })
}

/// Reads a file piece by piece. A file that fails in the middle ends the stream, and the companion finds no app in it.
fn pieces(
    path: PathBuf,
    mut progress: impl FnMut(u64) + Send + 'static,
) -> Result<impl Stream<Item = InstallPart> + Send, DeviceError> {
    let local = |why: String| DeviceError::new(DeviceErrorKind::Local, why);
    if path.is_dir() {
        return Err(local(
            "the companion runs on another machine, and a folder cannot be sent to it; pack the app as .ipa"
                .to_owned(),
        ));
    }
    let mut file =
        File::open(&path).map_err(|error| local(format!("{} cannot be read: {error}", path.display())))?;
    let (sender, mut receiver) = mpsc::channel(PIECES_AHEAD);
    tokio::task::spawn_blocking(move || {
        let mut sent = 0;
        loop {
            let mut piece = Vec::with_capacity(PIECE_BYTES);
            match file.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut piece) {
                Ok(0) | Err(_) => return,
                Ok(read) => sent += read as u64,
            }
            if sender.blocking_send(payload(PayloadSource::Data(Bytes::from(piece)))).is_err() {
                return;
            }
            progress(sent);
        }
    });
    Ok(stream::poll_fn(move |context| receiver.poll_recv(context)))
}

/// The companion says so only in words.
fn not_installed(error: DeviceError) -> DeviceError {
    let says_so = error.kind == DeviceErrorKind::Rejected
        && ["isn't installed", "is not installed", "not found"]
            .iter()
            .any(|words| error.detail.contains(words));
    if says_so { DeviceError { kind: DeviceErrorKind::AppNotInstalled, ..error } } else { error }
}
