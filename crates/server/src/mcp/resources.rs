//! What clients can read, listed and read.

use std::time::Duration;

use base64::Engine as _;
use mdm_engine::Progress;
use rmcp::ErrorData;
use rmcp::model::{CacheScope, ReadResourceResult, Resource as Listed, ResourceContents, ResourceTemplate};
use tokio_util::sync::CancellationToken;

use super::{TOOLS_TTL_MS, no_resource};
use crate::answer::Facts;
use crate::app::App;
use crate::args::JsonObject;
use crate::resource::{DEVICES_URI, DOCUMENTS, ELEMENT_TEMPLATE, Named, OF_DEVICE, Resource};
use crate::tools::By;

const LIST_TIMEOUT: Duration = Duration::from_secs(10);
/// Characters of an address that are repeated in an error.
const URI_SHOWN_MAX: usize = 500;
/// Devices whose parts are listed; the list of the devices names them all.
const DEVICES_MAX: usize = 100;

pub async fn list(app: &App, cancelled: CancellationToken) -> Vec<Listed> {
    let progress = Progress::new(LIST_TIMEOUT, cancelled);
    let mut all = vec![
        Listed::new(DEVICES_URI, "Devices")
            .with_description("As list_devices tells.")
            .with_mime_type("text/plain"),
    ];
    all.extend(DOCUMENTS.iter().map(|document| {
        Listed::new(document.uri, document.title)
            .with_mime_type("text/markdown")
            .with_size(document.text.len() as u64)
    }));
    // Without a device there is nothing to read; get_system_status tells why.
    let list = app.fleet.list(None, &progress).await;
    let allowed = list.devices.iter().filter(|device| app.policy.allows_device(&device.id));
    for device in allowed.take(DEVICES_MAX) {
        all.extend(OF_DEVICE.map(|(part, title, about, kind)| {
            Listed::new(Resource::uri(&device.id, part), format!("{title} of {}", device.id))
                .with_description(about)
                .with_mime_type(kind)
        }));
    }
    all
}

pub fn templates() -> Vec<ResourceTemplate> {
    let of_device = OF_DEVICE.map(|(part, title, about, kind)| {
        let uri = format!("screen://{{device}}/{part}");
        ResourceTemplate::new(uri, title).with_description(about).with_mime_type(kind)
    });
    let element = ResourceTemplate::new(ELEMENT_TEMPLATE, "Element")
        .with_description("Elements that match. Updated when the first appears or none is left.")
        .with_mime_type("text/plain");
    of_device.into_iter().chain([element]).collect()
}

/// The resource that an error is about.
pub fn named(uri: &str) -> Option<serde_json::Value> {
    #[derive(serde::Serialize)]
    struct About<'a> {
        uri: &'a str,
    }
    let uri = uri.char_indices().nth(URI_SHOWN_MAX).map_or(uri, |(end, _)| &uri[..end]);
    serde_json::to_value(About { uri }).ok()
}

pub async fn read(app: &App, uri: String, by: By) -> Result<ReadResourceResult, ErrorData> {
    let (tool, arguments) = match Named::parse(&uri).map_err(|refusal| no_resource(&uri, &refusal))? {
        Named::Document(document) => {
            let text = ResourceContents::text(document.text, uri).with_mime_type("text/markdown");
            let read = ReadResourceResult::new(vec![text]);
            return Ok(read.with_ttl_ms(TOOLS_TTL_MS).with_cache_scope(CacheScope::Public));
        }
        Named::Devices => ("list_devices", JsonObject::new()),
        Named::Of(resource) => resource.reader(),
    };
    let Some(entry) = app.offer.find(tool) else {
        return Err(ErrorData::resource_not_found(format!("{tool} is not offered by this server"), None));
    };
    let answer = entry.call_by(app, arguments, by).await;
    // That no element matches is what such a resource says, not a failure to read it.
    if matches!(answer.facts, Facts::Refused(_)) {
        return Err(ErrorData::resource_not_found(answer.text(), named(&uri)));
    }
    let contents = match &answer.image {
        Some(image) => {
            let data = base64::engine::general_purpose::STANDARD.encode(&image.bytes);
            ResourceContents::blob(data, uri).with_mime_type(image.mime_type)
        }
        None => ResourceContents::text(answer.text(), uri).with_mime_type("text/plain"),
    };
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}
