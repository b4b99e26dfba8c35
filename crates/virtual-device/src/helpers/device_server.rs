//! mobilecli's DeviceServer: JSON-RPC over HTTP on a local socket.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::automation::{Automation, settled};
use super::http::{Request, Response};
use super::tree::Tree;
use super::{KILLED_EXIT, picture, serve};
use crate::phone::Phone;
use crate::shell::commands::Call;
use crate::shell::io::BrokenPipe;
use crate::state::CLIPBOARD_BYTES_MAX;

pub const CLASS: &str = "com.mobilenext.mobilecli.DeviceServer";
const ADDRESS: &str = "localabstract:mobilecli-server";
const VERSION: &str = "1.0.9";

pub async fn launch(call: &Call<'_>) -> Result<u8, BrokenPipe> {
    let Some(_automation) = Automation::take(call.phone) else {
        call.io.stderr.write(Automation::REFUSED).await?;
        return Ok(KILLED_EXIT);
    };
    serve(call, ADDRESS, super::Server::Device).await
}

#[derive(Deserialize)]
struct RpcRequest<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: String,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct RpcAnswer<'a> {
    jsonrpc: &'static str,
    id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RpcError>,
}

#[derive(Debug, Serialize)]
struct RpcError {
    code: i32,
    message: String,
}

#[derive(Serialize)]
struct Hierarchy {
    hierarchy: Vec<Element>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Element {
    class: String,
    text: String,
    hint: String,
    content_desc: String,
    resource_id: String,
    focused: bool,
    enabled: bool,
    checked: bool,
    selected: bool,
    visible: bool,
    rect: Rect,
    children: Vec<Element>,
}

#[derive(Serialize)]
struct Rect {
    x: i32,
    y: i32,
    width: i32,
    height: i32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AppInfo {
    package_name: String,
    app_name: String,
}

#[derive(Deserialize, Serialize)]
struct Clip {
    text: String,
}

#[derive(Deserialize)]
struct ScreenshotOptions {
    format: Option<String>,
    quality: Option<u8>,
}

pub async fn answer(phone: &Phone, request: Request) -> Response {
    if (request.method.as_str(), request.path.as_str()) != ("POST", "/") {
        return Response::text(404, "Not Found");
    }
    let Ok(asked) = serde_json::from_slice::<RpcRequest<'_>>(&request.body) else {
        return Response::text(400, "Bad Request");
    };
    let outcome = call(phone, &asked).await;
    let (result, error) = match outcome {
        Ok(value) => (Some(value), None),
        Err(fault) => (None, Some(fault)),
    };
    match serde_json::to_vec(&RpcAnswer { jsonrpc: "2.0", id: asked.id, result, error }) {
        Ok(body) => Response::json(200, body),
        Err(_) => Response::text(500, "Internal Server Error"),
    }
}

async fn call(phone: &Phone, asked: &RpcRequest<'_>) -> Result<Box<RawValue>, RpcError> {
    let give = |value: Result<Box<RawValue>, serde_json::Error>| {
        value.map_err(|e| RpcError { code: -32603, message: e.to_string() })
    };
    match asked.method.as_str() {
        "device.version" => give(to_raw_value(&BTreeMap::from([("version", VERSION)]))),
        "device.dump.ui" => {
            settled(phone).await;
            let tree = Tree::of(phone);
            let hierarchy = if tree.nodes.is_empty() { Vec::new() } else { vec![element(&tree, 0)] };
            give(to_raw_value(&Hierarchy { hierarchy }))
        }
        "device.screenshot" => {
            let options = asked.params.and_then(|p| serde_json::from_str::<ScreenshotOptions>(p.get()).ok());
            let is_jpeg = options.as_ref().and_then(|o| o.format.as_deref()) == Some("jpeg");
            let quality = options.and_then(|o| o.quality).unwrap_or(90);
            let data = match picture::jpeg(phone, quality).filter(|_| is_jpeg) {
                Some(jpeg) => STANDARD.encode(jpeg),
                None => STANDARD.encode(picture::png(phone)),
            };
            give(to_raw_value(&BTreeMap::from([("data", data)])))
        }
        "device.apps.list" => {
            let names = phone.with(|s| s.packages.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
            let apps: Vec<AppInfo> = names
                .into_iter()
                .map(|name| AppInfo { app_name: name.clone(), package_name: name })
                .collect();
            give(to_raw_value(&apps))
        }
        "device.clipboard.set" => {
            let asked = asked.params.and_then(|p| serde_json::from_str::<Clip>(p.get()).ok());
            let text = asked.map(|clip| clip.text).filter(|text| text.len() <= CLIPBOARD_BYTES_MAX);
            let Some(text) = text else {
                return Err(RpcError { code: -32602, message: "Invalid params".to_owned() });
            };
            phone.with(|state| state.clipboard = text);
            give(to_raw_value(&BTreeMap::from([("success", true)])))
        }
        "device.clipboard.get" => give(to_raw_value(&Clip { text: phone.with(|s| s.clipboard.clone()) })),
        "device.clipboard.clear" => {
            phone.with(|state| state.clipboard.clear());
            give(to_raw_value(&BTreeMap::from([("success", true)])))
        }
        method => Err(RpcError { code: -32601, message: format!("Method not found: {method}") }),
    }
}

/// Converts a node and its children. Recursion is safe: the depth of a tree is limited where it is read.
fn element(tree: &Tree, at: usize) -> Element {
    let node = tree.nodes.get(at).cloned().unwrap_or_default();
    let text = |name: &str| node.get(name).to_owned();
    Element {
        class: text("class"),
        text: text("text"),
        hint: text("hint"),
        content_desc: text("content-desc"),
        resource_id: text("resource-id"),
        focused: node.is("focused"),
        enabled: node.is("enabled"),
        checked: node.is("checked"),
        selected: node.is("selected"),
        visible: true,
        rect: Rect {
            x: node.bounds.left,
            y: node.bounds.top,
            width: node.bounds.width(),
            height: node.bounds.height(),
        },
        children: node.children.iter().map(|child| element(tree, *child)).collect(),
    }
}
