//! Apps: listing, starting, ending, installing and removing them.

use std::path::PathBuf;

use mdm_wire::idb::{
    AppProcessState, BundleRequest, DebuggerInfo, Empty, InstallDestination, InstallPart, InstallRequest,
    InstallResponse, InstalledAppInfo, LaunchControl, LaunchRequest, LaunchResponse, LaunchStart,
    ListAppsRequest, ListAppsResponse, Payload, PayloadSource,
};
use plist::Dictionary;
use tonic::{Status, Streaming};

use super::archive;
use super::calls::{Answer, AnswerSender, Answers, answers};
use crate::iphone::IPhone;
use crate::iphone::apps::AppEntry;

/// Largest app that a client may send.
const APP_BYTES_MAX: usize = 1024 * 1024 * 1024;

pub async fn list(iphone: &IPhone, request: ListAppsRequest) -> Answer<ListAppsResponse> {
    let apps = iphone.apps().into_iter().map(|app| installed(app, request.suppress_process_state)).collect();
    Ok(ListAppsResponse { apps })
}

/// As idb fills it: of an app that does not run the state is not known.
fn installed(app: AppEntry, suppress_process_state: bool) -> InstalledAppInfo {
    let pid = app.pid.filter(|_| !suppress_process_state);
    InstalledAppInfo {
        bundle_id: app.bundle,
        name: app.name,
        architectures: vec!["arm64".to_owned()],
        install_type: if app.system { "system" } else { "user" }.to_owned(),
        process_state: pid.map_or(AppProcessState::Unknown, |_| AppProcessState::Running).into(),
        debuggable: false,
        process_identifier: pid.map_or(0, u64::from),
    }
}

pub async fn launch(
    iphone: &IPhone,
    mut requests: Streaming<LaunchRequest>,
) -> Answer<Answers<LaunchResponse>> {
    let first = requests.message().await?.and_then(|request| request.control);
    let Some(LaunchControl::Start(start)) = first else {
        return Err(Status::failed_precondition("Application not started yet"));
    };
    let pid = start_app(iphone, &start)?;
    let (sender, receiver) = answers();
    let iphone = iphone.clone();
    tokio::spawn(async move {
        let debugger = DebuggerInfo { pid: u64::from(pid), ..DebuggerInfo::default() };
        let started = LaunchResponse { output: None, debugger: Some(debugger) };
        if sender.send(Ok(started)).await.is_err() || !start.wait_for {
            return;
        }
        wait_for_stop(&iphone, &start.bundle_id, requests, &sender).await;
    });
    Ok(receiver)
}

fn start_app(iphone: &IPhone, start: &LaunchStart) -> Answer<u32> {
    let bundle = &start.bundle_id;
    let app = iphone.app(bundle).ok_or_else(|| {
        Status::internal(format!(
            "App {bundle} can't be launched as it isn't installed: Application with bundle ID \"{bundle}\" is not installed"
        ))
    })?;
    if let Some(pid) = app.pid.filter(|_| !start.foreground_if_running) {
        return Err(Status::internal(format!(
            "App '{bundle}' can't be launched as it is already running (PID={pid})"
        )));
    }
    iphone
        .launch_app(bundle, false)
        .ok_or_else(|| Status::internal(format!("Failed to launch '{bundle}': it has nothing to show")))
}

/// The call lasts until the client ends it; then the app ends too.
async fn wait_for_stop(
    iphone: &IPhone,
    bundle: &str,
    mut requests: Streaming<LaunchRequest>,
    sender: &AnswerSender<LaunchResponse>,
) {
    let next = tokio::select! {
        next = requests.message() => next,
        () = sender.closed() => return,
    };
    match next.map(|request| request.and_then(|request| request.control)) {
        Ok(Some(LaunchControl::Stop(_))) => {
            iphone.terminate_app(bundle);
        }
        _ => {
            let refused = Status::failed_precondition("Application has already started");
            // Nobody hears it when the client is gone.
            let _ = sender.send(Err(refused)).await;
        }
    }
}

pub async fn terminate(iphone: &IPhone, request: BundleRequest) -> Answer<Empty> {
    let bundle = &request.bundle_id;
    if iphone.terminate_app(bundle) {
        Ok(Empty {})
    } else {
        Err(Status::internal(format!("No processes found for '{bundle}'")))
    }
}

pub async fn uninstall(iphone: &IPhone, request: BundleRequest) -> Answer<Empty> {
    let bundle = &request.bundle_id;
    if iphone.app(bundle).is_some_and(|app| app.system) {
        return Err(Status::internal(format!("Can't uninstall '{bundle}' as it is a system Application")));
    }
    if iphone.uninstall_app(bundle) {
        Ok(Empty {})
    } else {
        Err(Status::internal(format!("Failed to uninstall '{bundle}'")))
    }
}

pub async fn install(
    iphone: &IPhone,
    mut requests: Streaming<InstallRequest>,
) -> Answer<Answers<InstallResponse>> {
    let info = receive_info(&mut requests).await?;
    let info =
        info.ok_or_else(|| Status::internal("Could not determine Application information for path"))?;
    let app = iphone.install_app(&info).map_err(|missing| {
        Status::internal(format!("Failed to install Application: {missing} is missing in its Info.plist"))
    })?;
    let (sender, receiver) = answers();
    let done = InstallResponse { name: app.bundle, uuid: app.uuid, progress: 0.0 };
    // The pipe has room for one answer.
    let _ = sender.try_send(Ok(done));
    Ok(receiver)
}

/// Reads the parts in the order in which a companion demands them.
async fn receive_info(requests: &mut Streaming<InstallRequest>) -> Answer<Option<Dictionary>> {
    let Some(InstallPart::Destination(destination)) = next_part(requests).await? else {
        return Err(Status::failed_precondition("Expected destination as first request in stream"));
    };
    if destination != i32::from(InstallDestination::App) {
        return Err(Status::unimplemented("only apps can be installed here"));
    }
    let mut part = next_part(requests).await?;
    while let Some(
        InstallPart::NameHint(_)
        | InstallPart::MakeDebuggable(_)
        | InstallPart::OverrideModificationTime(_)
        | InstallPart::SkipSigningBundles(_),
    ) = part
    {
        part = next_part(requests).await?;
    }
    let mut source = payload(part)?;
    if let PayloadSource::Compression(_) = source {
        source = payload(next_part(requests).await?)?;
    }
    match source {
        PayloadSource::FilePath(path) => {
            let path = PathBuf::from(path);
            Ok(tokio::task::spawn_blocking(move || archive::info_at(&path)).await.unwrap_or(None))
        }
        PayloadSource::Data(first) => {
            let mut archive = first.to_vec();
            while let Some(part) = next_part(requests).await? {
                if let Ok(PayloadSource::Data(data)) = payload(Some(part)) {
                    if archive.len() + data.len() > APP_BYTES_MAX {
                        return Err(Status::resource_exhausted("the app is too large"));
                    }
                    archive.extend_from_slice(&data);
                }
            }
            Ok(tokio::task::spawn_blocking(move || archive::info_in(&archive)).await.unwrap_or(None))
        }
        PayloadSource::Url(_) | PayloadSource::Compression(_) => {
            Err(Status::invalid_argument("Incorrect payload source"))
        }
    }
}

async fn next_part(requests: &mut Streaming<InstallRequest>) -> Answer<Option<InstallPart>> {
    Ok(requests.message().await?.and_then(|request| request.value))
}

fn payload(part: Option<InstallPart>) -> Answer<PayloadSource> {
    match part {
        Some(InstallPart::Payload(Payload { source: Some(source) })) => Ok(source),
        _ => Err(Status::invalid_argument("Expected the next item in the stream to be a payload")),
    }
}
