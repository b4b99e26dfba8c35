//! Reports of crashes.

use mdm_wire::idb::{CrashLogInfo, CrashLogQuery, CrashLogResponse, CrashShowRequest, CrashShowResponse};
use tonic::Status;

use super::calls::Answer;
use crate::iphone::IPhone;
use crate::iphone::crash_files::CrashFile;

pub async fn list(iphone: &IPhone, query: CrashLogQuery) -> Answer<CrashLogResponse> {
    let files = iphone.crash_files();
    Ok(CrashLogResponse { list: files.iter().filter(|file| matches(&query, file)).map(info).collect() })
}

pub async fn show(iphone: &IPhone, request: CrashShowRequest) -> Answer<CrashShowResponse> {
    if request.name.is_empty() {
        return Err(Status::invalid_argument("Missing crash name"));
    }
    let file = iphone.crash_files().into_iter().find(|file| file.name == request.name);
    let file = file.ok_or_else(|| {
        Status::internal(format!("No crashes matching BLOCKPREDICATE for name {}", request.name))
    })?;
    Ok(CrashShowResponse { info: Some(info(&file)), contents: file.contents })
}

pub async fn delete(iphone: &IPhone, query: CrashLogQuery) -> Answer<CrashLogResponse> {
    let gone: Vec<CrashFile> =
        iphone.crash_files().into_iter().filter(|file| matches(&query, file)).collect();
    for file in &gone {
        iphone.delete_crash_file(&file.name);
    }
    Ok(CrashLogResponse { list: gone.iter().map(info).collect() })
}

fn matches(query: &CrashLogQuery, file: &CrashFile) -> bool {
    let at = file.wall_ms / 1000;
    (query.since == 0 || at > query.since)
        && (query.before == 0 || at < query.before)
        && (query.bundle_id.is_empty() || query.bundle_id == file.bundle)
        && (query.name.is_empty() || query.name == file.name)
}

/// As idb fills it: without the bundle id.
fn info(file: &CrashFile) -> CrashLogInfo {
    CrashLogInfo {
        name: file.name.clone(),
        bundle_id: String::new(),
        process_name: file.process.clone(),
        parent_process_name: "launchd_sim".to_owned(),
        process_identifier: u64::from(file.pid),
        parent_process_identifier: 1,
        timestamp: file.wall_ms / 1000,
    }
}
