//! `simctl list`.

use serde_json::{Value, json};

use super::output::Output;
use crate::iphone::{IPhone, IPhoneKind, clock_text};

const RUNTIME: &str = "com.apple.CoreSimulator.SimRuntime.";
const DEVICE_TYPE: &str = "com.apple.CoreSimulator.SimDeviceType.";
/// A device whose runtime was deleted, as most Macs have some.
const LOST_UDID: &str = "0A1B2C3D-4E5F-4A6B-8C7D-9E0F1A2B3C4D";
const LOST_RUNTIME: &str = "iOS-15-2";
const LOST_NAME: &str = "iPhone SE (2nd generation)";
/// A runtime that is there without a device.
const EMPTY_RUNTIME: &str = "watchOS-11-5";

/// Runs `list` with the words that follow it.
pub fn list(phone: &IPhone, words: &[&str]) -> Output {
    let json = words.iter().any(|word| matches!(*word, "-j" | "--json"));
    let mut plain = words.iter().filter(|word| !word.starts_with('-')).copied();
    let what = plain.next();
    let search = plain.next();
    let all = what.is_none();
    let mut answer = serde_json::Map::new();
    if all || what == Some("devicetypes") {
        answer.insert("devicetypes".to_owned(), device_types(phone));
    }
    if all || what == Some("runtimes") {
        answer.insert("runtimes".to_owned(), runtimes(phone));
    }
    if all || what == Some("devices") {
        answer.insert("devices".to_owned(), devices(phone, search));
    }
    if all || what == Some("pairs") {
        answer.insert("pairs".to_owned(), json!({}));
    }
    if answer.is_empty() {
        return Output::usage(
            "list [-j | --json] [-v] [devices|devicetypes|runtimes|pairs] [<search term>|available]",
        );
    }
    if json {
        return Output::text(format!("{:#}\n", Value::Object(answer)));
    }
    Output::text(as_text(phone, &answer))
}

/// `iPhone 15 Pro`: the name under which Apple sells the model.
pub fn model_name(product_type: &str) -> &'static str {
    match product_type {
        "iPhone14,7" => "iPhone 14",
        "iPhone15,2" => "iPhone 14 Pro",
        "iPhone15,4" => "iPhone 15",
        "iPhone16,2" => "iPhone 15 Pro Max",
        "iPhone17,1" => "iPhone 16 Pro",
        "iPhone17,3" => "iPhone 16",
        _ => "iPhone 15 Pro",
    }
}

fn runtime_id(phone: &IPhone) -> String {
    format!("{RUNTIME}iOS-{}", phone.config().ios_version.replace('.', "-"))
}

fn type_id(name: &str) -> String {
    let name = name.replace(['(', ')'], "-").replace(' ', "-");
    format!("{DEVICE_TYPE}{name}")
}

fn devices(phone: &IPhone, search: Option<&str>) -> Value {
    let config = phone.config();
    let state = if phone.simulator(|simulator| simulator.shut_down) { "Shutdown" } else { "Booted" };
    // A phone on a cable is no simulator.
    let wanted = config.kind == IPhoneKind::Simulator
        && match search {
            None => true,
            Some("booted") => state == "Booted",
            Some("available") => true,
            Some(word) => config.udid == word || config.name.contains(word),
        };
    let home = "/Users/virtual/Library";
    let booted = clock_text(phone, true);
    let own = json!({
        "lastBootedAt": booted,
        "dataPath": format!("{home}/Developer/CoreSimulator/Devices/{}/data", config.udid),
        "dataPathSize": 1_234_567_168_u64,
        "logPath": format!("{home}/Logs/CoreSimulator/{}", config.udid),
        "logPathSize": 184_320,
        "udid": config.udid,
        "isAvailable": true,
        "deviceTypeIdentifier": type_id(model_name(&config.product_type)),
        "state": state,
        "name": config.name,
    });
    let lost = json!({
        "availabilityError": "runtime profile not found using \"System\" match policy",
        "dataPath": format!("{home}/Developer/CoreSimulator/Devices/{LOST_UDID}/data"),
        "dataPathSize": 13_316_096,
        "logPath": format!("{home}/Logs/CoreSimulator/{LOST_UDID}"),
        "udid": LOST_UDID,
        "isAvailable": false,
        "deviceTypeIdentifier": type_id(LOST_NAME),
        "state": "Shutdown",
        "name": LOST_NAME,
    });
    let mut by_runtime = serde_json::Map::new();
    by_runtime.insert(runtime_id(phone), if wanted { json!([own]) } else { json!([]) });
    by_runtime
        .insert(format!("{RUNTIME}{LOST_RUNTIME}"), if search.is_none() { json!([lost]) } else { json!([]) });
    by_runtime.insert(format!("{RUNTIME}{EMPTY_RUNTIME}"), json!([]));
    Value::Object(by_runtime)
}

fn runtimes(phone: &IPhone) -> Value {
    let version = &phone.config().ios_version;
    let model = model_name(&phone.config().product_type);
    let bundle = "/Library/Developer/CoreSimulator/Volumes/iOS_22F77/Library/Developer/CoreSimulator/Profiles/Runtimes/iOS 18.5.simruntime";
    json!([{
        "isAvailable": true,
        "version": version,
        "isInternal": false,
        "buildversion": "22F77",
        "supportedArchitectures": ["arm64", "x86_64"],
        "supportedDeviceTypes": [
            { "name": model, "identifier": type_id(model), "productFamily": "iPhone" },
        ],
        "identifier": runtime_id(phone),
        "platform": "iOS",
        "bundlePath": bundle,
        "runtimeRoot": format!("{bundle}/Contents/Resources/RuntimeRoot"),
        "name": format!("iOS {version}"),
    }])
}

fn device_types(phone: &IPhone) -> Value {
    let config = phone.config();
    let name = model_name(&config.product_type);
    json!([{
        "productFamily": "iPhone",
        "bundlePath": format!("/Library/Developer/CoreSimulator/Profiles/DeviceTypes/{name}.simdevicetype"),
        "maxRuntimeVersion": 4_294_967_295_u32,
        "maxRuntimeVersionString": "65535.255.255",
        "identifier": type_id(name),
        "modelIdentifier": config.product_type,
        "minRuntimeVersionString": "17.0.0",
        "minRuntimeVersion": 1_114_112,
        "name": name,
    }])
}

fn as_text(phone: &IPhone, answer: &serde_json::Map<String, Value>) -> String {
    let mut out = String::new();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    if let Some(Value::Array(types)) = answer.get("devicetypes") {
        out.push_str("== Device Types ==\n");
        out.extend(types.iter().map(|t| format!("{} ({})\n", text(t, "name"), text(t, "identifier"))));
    }
    if let Some(Value::Array(_)) = answer.get("runtimes") {
        let version = &phone.config().ios_version;
        let id = runtime_id(phone);
        out.push_str(&format!("== Runtimes ==\niOS {version} ({version} - 22F77) - {id}\n"));
    }
    if let Some(Value::Object(runtimes)) = answer.get("devices") {
        out.push_str("== Devices ==\n");
        for (runtime, devices) in runtimes {
            let name = runtime.trim_start_matches(RUNTIME);
            let (platform, version) = name.split_once('-').unwrap_or((name, ""));
            let lost = if name == LOST_RUNTIME { "Unavailable: " } else { "" };
            let shown = if lost.is_empty() {
                format!("{platform} {}", version.replace('-', "."))
            } else {
                runtime.clone()
            };
            out.push_str(&format!("-- {lost}{shown} --\n"));
            for device in devices.as_array().into_iter().flatten() {
                let error = device["availabilityError"].as_str();
                let end = error.map_or_else(String::new, |error| format!(" (unavailable, {error})"));
                let (name, udid, state) = (text(device, "name"), text(device, "udid"), text(device, "state"));
                out.push_str(&format!("    {name} ({udid}) ({state}){end} \n"));
            }
        }
    }
    out
}
