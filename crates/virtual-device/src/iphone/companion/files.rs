//! Files: of the phone's containers, only that of crash reports is kept.

use bytes::Bytes;
use mdm_wire::idb::{
    ContainerKind, FileContainer, FileInfo, FileListing, LsRequest, LsResponse, Payload, PayloadSource,
    PullRequest, PullResponse,
};
use tonic::Status;

use super::calls::{Answer, Answers, answers};
use crate::iphone::IPhone;

pub async fn list(iphone: &IPhone, request: LsRequest) -> Answer<LsResponse> {
    needs_crashes(request.container.as_ref())?;
    let names = || iphone.crash_files().into_iter().map(|file| FileInfo { path: file.name });
    if request.paths.is_empty() {
        return Ok(LsResponse { files: names().collect(), listings: Vec::new() });
    }
    let listing = |path: &String| FileListing {
        parent: Some(FileInfo { path: path.clone() }),
        files: names().collect(),
    };
    Ok(LsResponse { files: Vec::new(), listings: request.paths.iter().map(listing).collect() })
}

pub async fn pull(iphone: &IPhone, request: PullRequest) -> Answer<Answers<PullResponse>> {
    needs_crashes(request.container.as_ref())?;
    if !request.dst_path.is_empty() {
        return Err(Status::failed_precondition("this companion writes no files of its machine"));
    }
    let name = request.src_path.trim_start_matches("./");
    let file = iphone.crash_files().into_iter().find(|file| file.name == name);
    let file = file.ok_or_else(|| Status::internal(format!("{name} does not exist")))?;
    let (sender, receiver) = answers();
    let source = Some(PayloadSource::Data(Bytes::from(file.contents)));
    // The pipe has room for one answer.
    let _ = sender.try_send(Ok(PullResponse { payload: Some(Payload { source }) }));
    Ok(receiver)
}

fn needs_crashes(container: Option<&FileContainer>) -> Answer<()> {
    let kind = container.map_or(0, |container| container.kind);
    if kind == i32::from(ContainerKind::Crashes) {
        Ok(())
    } else {
        Err(Status::unimplemented("this companion keeps no files in that container"))
    }
}
