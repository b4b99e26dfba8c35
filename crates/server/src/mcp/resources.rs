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
use crate::resource::{
    DEVICES_READER, DEVICES_URI, DOCUMENTS, ELEMENT_READER, ELEMENT_TEMPLATE, Named, OF_DEVICE, Resource,
};
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
    for device in list.devices.iter().take(DEVICES_MAX) {
        all.extend(parts(app).map(|(part, title, about, kind)| {
            Listed::new(Resource::uri(&device.id, part), format!("{title} of {}", device.id))
                .with_description(about)
                .with_mime_type(kind)
        }));
    }
    if !app.shows_freely(DEVICES_READER, &JsonObject::new()) {
        all.retain(|listed| listed.uri != DEVICES_URI);
    }
    all
}

/// What there is of each device and can be read here.
fn parts(app: &App) -> impl Iterator<Item = (&'static str, &'static str, &'static str, &'static str)> {
    OF_DEVICE.into_iter().filter_map(move |(part, title, about, kind, reader)| {
        app.shows_freely(reader, &JsonObject::new()).then_some((part, title, about, kind))
    })
}

pub fn templates(app: &App) -> Vec<ResourceTemplate> {
    let of_device = parts(app).map(|(part, title, about, kind)| {
        let uri = format!("screen://{{device}}/{part}");
        ResourceTemplate::new(uri, title).with_description(about).with_mime_type(kind)
    });
    let element = ResourceTemplate::new(ELEMENT_TEMPLATE, "Element")
        .with_description("Elements that match. Updated when the first appears or none is left.")
        .with_mime_type("text/plain");
    let element = Some(element).filter(|_| app.shows_freely(ELEMENT_READER, &JsonObject::new()));
    of_device.chain(element).collect()
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

/// The error about a resource whose tool is not offered, or needs a person's consent each time.
pub fn not_shown(tool: &str, uri: &str) -> ErrorData {
    let message =
        format!("this server does not show it: {tool} is not offered, or a person is asked before it");
    ErrorData::invalid_params(message, named(uri))
}

pub async fn read(app: &App, uri: String, by: By) -> Result<ReadResourceResult, ErrorData> {
    let (tool, arguments) = match Named::parse(&uri).map_err(|refusal| no_resource(&uri, &refusal))? {
        Named::Document(document) => {
            let text = ResourceContents::text(document.text, uri).with_mime_type("text/markdown");
            let read = ReadResourceResult::new(vec![text]);
            return Ok(read.with_ttl_ms(TOOLS_TTL_MS).with_cache_scope(CacheScope::Public));
        }
        Named::Devices => (DEVICES_READER, JsonObject::new()),
        Named::Of(resource) => resource.reader(),
    };
    let Some(entry) = app.offer.find(tool).filter(|_| app.shows_freely(tool, &arguments)) else {
        return Err(not_shown(tool, &uri));
    };
    let answer = entry.read_by(app, arguments, by).await;
    // That no element matches is what such a resource says, not a failure to read it.
    if let Facts::Refused(facts) = &answer.facts {
        let data = named(&uri);
        return Err(match facts.error.code {
            "INVALID_ARGUMENT" | "DEVICE_NOT_FOUND" => ErrorData::resource_not_found(answer.text(), data),
            _ => ErrorData::internal_error(answer.text(), data),
        });
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
