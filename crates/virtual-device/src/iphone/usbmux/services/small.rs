//! Services of which clients use only a little.

use std::io;

use plist::Value;

use crate::helpers::picture;
use crate::iphone::IPhone;
use crate::iphone::usbmux::Wire;
use crate::iphone::usbmux::plists::{dictionary, read_dictionary, text, write};

/// `springboardservices`: the icons of the home screen and how the screen is turned.
pub async fn home_screen(phone: &IPhone, stream: &mut (impl Wire + ?Sized)) -> io::Result<()> {
    loop {
        let request = read_dictionary(stream).await?;
        let answer = match text(&request, "command") {
            Some("getIconState") => {
                let icon = |app: &crate::iphone::apps::AppEntry| {
                    dictionary([
                        ("bundleIdentifier", app.bundle.as_str().into()),
                        ("displayIdentifier", app.bundle.as_str().into()),
                        ("displayName", app.name.as_str().into()),
                    ])
                };
                let apps = phone.apps();
                let shown = apps.iter().filter(|app| app.bundle != "com.apple.springboard");
                let page = Value::Array(shown.map(icon).collect());
                Value::Array(vec![Value::Array(Vec::new()), page])
            }
            Some("getInterfaceOrientation") => {
                let turns = phone.phone().with(|state| state.display.rotation());
                let orientation: u64 = match turns {
                    1 => 3,
                    2 => 2,
                    3 => 4,
                    _ => 1,
                };
                dictionary([("interfaceOrientation", orientation.into())])
            }
            Some("getHomeScreenWallpaperPNGData") => {
                dictionary([("pngData", Value::Data(picture::png(phone.phone()).to_vec()))])
            }
            _ => dictionary([("Error", "UnknownCommand".into())]),
        };
        write(stream, &answer).await?;
    }
}

/// `diagnostics_relay`: the battery, and a polite goodbye.
pub async fn diagnostics(phone: &IPhone, stream: &mut (impl Wire + ?Sized)) -> io::Result<()> {
    loop {
        let request = read_dictionary(stream).await?;
        let success = || dictionary([("Status", "Success".into())]);
        match text(&request, "Request") {
            Some("Goodbye") => return write(stream, &success()).await,
            Some("Restart") => {
                write(stream, &success()).await?;
                phone.phone().reboot();
                return Ok(());
            }
            Some("All" | "GasGauge" | "IORegistry") => {
                let gauge = dictionary([("CycleCount", 12_u64.into()), ("DesignCapacity", 100_u64.into())]);
                let diagnostics = dictionary([("GasGauge", gauge)]);
                write(stream, &dictionary([("Diagnostics", diagnostics), ("Status", "Success".into())]))
                    .await?;
            }
            _ => write(stream, &dictionary([("Status", "UnknownRequest".into())])).await?,
        }
    }
}

/// `notification_proxy`: nothing of what it could tell happens here, but it ends as it should.
pub async fn notifications(stream: &mut (impl Wire + ?Sized)) -> io::Result<()> {
    loop {
        let request = read_dictionary(stream).await?;
        if text(&request, "Command") == Some("Shutdown") {
            return write(stream, &dictionary([("Command", "ProxyDeath".into())])).await;
        }
    }
}
