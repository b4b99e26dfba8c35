//! `installation_proxy`: lists, installs and removes apps.

use std::io;

use plist::{Dictionary, Value};

use crate::iphone::IPhone;
use crate::iphone::apps::AppEntry;
use crate::iphone::usbmux::Wire;
use crate::iphone::usbmux::plists::{dictionary, read_dictionary, text, write};

/// Apps in one message.
const PAGE_APPS: usize = 20;
const INSTALL_STEPS: [(&str, u64); 6] = [
    ("CreatingStagingDirectory", 5),
    ("ExtractingPackage", 15),
    ("InspectingPackage", 20),
    ("VerifyingApplication", 40),
    ("InstallingApplication", 60),
    ("GeneratingApplicationMap", 90),
];

pub async fn serve(phone: &IPhone, stream: &mut (impl Wire + ?Sized)) -> io::Result<()> {
    loop {
        let request = read_dictionary(stream).await?;
        let empty = Dictionary::new();
        let options = request.get("ClientOptions").and_then(Value::as_dictionary).unwrap_or(&empty);
        match text(&request, "Command") {
            Some("Browse") => browse(phone, stream, options).await?,
            Some("Lookup") => {
                let found = wanted(phone, options);
                let result = found.iter().map(|app| (app.bundle.clone(), described(app, options)));
                let result = Value::Dictionary(result.collect());
                write(stream, &dictionary([("LookupResult", result), ("Status", "Complete".into())])).await?;
            }
            Some("Install" | "Upgrade") => {
                let path = text(&request, "PackagePath").unwrap_or_default();
                install(phone, stream, path).await?;
            }
            Some("Uninstall") => {
                let bundle = text(&request, "ApplicationIdentifier").unwrap_or_default();
                uninstall(phone, stream, bundle).await?;
            }
            _ => fail(stream, "UnknownCommand", "the command is not known").await?,
        }
    }
}

async fn browse(phone: &IPhone, stream: &mut (impl Wire + ?Sized), options: &Dictionary) -> io::Result<()> {
    let apps = wanted(phone, options);
    for (page, apps) in apps.chunks(PAGE_APPS).enumerate() {
        let list: Vec<Value> = apps.iter().map(|app| described(app, options)).collect();
        let message = dictionary([
            ("CurrentAmount", (list.len() as u64).into()),
            ("CurrentIndex", ((page * PAGE_APPS) as u64).into()),
            ("CurrentList", Value::Array(list)),
            ("Status", "BrowsingApplications".into()),
        ]);
        write(stream, &message).await?;
    }
    write(stream, &dictionary([("Status", "Complete".into())])).await
}

fn wanted(phone: &IPhone, options: &Dictionary) -> Vec<AppEntry> {
    let kind = text(options, "ApplicationType").unwrap_or("Any");
    let ids: Option<Vec<&str>> = options
        .get("BundleIDs")
        .and_then(Value::as_array)
        .map(|ids| ids.iter().filter_map(Value::as_string).collect());
    let mut apps = phone.apps();
    apps.retain(|app| {
        let of_kind = match kind {
            "User" => !app.system,
            "System" => app.system,
            _ => true,
        };
        of_kind && ids.as_ref().is_none_or(|ids| ids.contains(&app.bundle.as_str()))
    });
    apps
}

fn described(app: &AppEntry, options: &Dictionary) -> Value {
    let all = dictionary([
        ("ApplicationType", if app.system { "System" } else { "User" }.into()),
        ("CFBundleDisplayName", app.name.as_str().into()),
        ("CFBundleExecutable", app.executable.as_str().into()),
        ("CFBundleIdentifier", app.bundle.as_str().into()),
        ("CFBundleName", app.name.as_str().into()),
        ("CFBundlePackageType", "APPL".into()),
        ("CFBundleShortVersionString", app.version.as_str().into()),
        ("CFBundleVersion", app.build.as_str().into()),
        ("Container", format!("/private/var/mobile/Containers/Data/Application/{}", app.uuid).into()),
        ("Path", app.folder().into()),
        ("UIFileSharingEnabled", false.into()),
    ]);
    let names = options.get("ReturnAttributes").and_then(Value::as_array);
    match (all, names) {
        (Value::Dictionary(mut all), Some(names)) => {
            all.retain(|key, _| names.iter().any(|name| name.as_string() == Some(key)));
            Value::Dictionary(all)
        }
        (all, _) => all,
    }
}

async fn install(phone: &IPhone, stream: &mut (impl Wire + ?Sized), path: &str) -> io::Result<()> {
    let info = match phone.device(|device| device.staged_info(path)) {
        Ok(info) => info,
        Err(why) => return fail(stream, "PackageInspectionFailed", why).await,
    };
    for (status, percent) in INSTALL_STEPS {
        let step = dictionary([("PercentComplete", percent.into()), ("Status", status.into())]);
        write(stream, &step).await?;
    }
    match phone.install_app(&info) {
        Ok(_) => write(stream, &dictionary([("Status", "Complete".into())])).await,
        Err(key) => {
            let why = format!("the Info.plist has no {key}");
            fail(stream, "ApplicationVerificationFailed", &why).await
        }
    }
}

async fn uninstall(phone: &IPhone, stream: &mut (impl Wire + ?Sized), bundle: &str) -> io::Result<()> {
    let step = dictionary([("PercentComplete", 50_u64.into()), ("Status", "RemovingApplication".into())]);
    write(stream, &step).await?;
    if phone.app(bundle).is_some_and(|app| app.system) {
        return fail(stream, "UninstallProhibited", "the app belongs to the system").await;
    }
    // An app that is not there is no error.
    phone.uninstall_app(bundle);
    write(stream, &dictionary([("Status", "Complete".into())])).await
}

async fn fail(stream: &mut (impl Wire + ?Sized), error: &str, why: &str) -> io::Result<()> {
    write(stream, &dictionary([("Error", error.into()), ("ErrorDescription", why.into())])).await
}
