//! System properties, as `getprop` lists them.

use std::collections::BTreeMap;

use crate::config::PhoneConfig;

/// Returns the properties of a new phone.
pub fn properties(config: &PhoneConfig) -> BTreeMap<String, String> {
    let sdk = config.sdk.to_string();
    let density = config.density.to_string();
    let fingerprint =
        format!("generic/virtual/virtual:{}/VD1A.260302/1:user/release-keys", config.android_version);
    let serial = format!("VIRTUAL{:04}", config.seed % 10_000);
    let pairs: [(&str, &str); 28] = [
        ("dalvik.vm.heapsize", "512m"),
        ("gsm.operator.alpha", ""),
        ("init.svc.adbd", "running"),
        ("persist.sys.locale", "en-US"),
        ("persist.sys.timezone", "UTC"),
        // As on every emulator: a client that prefers real phones can tell.
        ("ro.boot.qemu", "1"),
        ("ro.boot.serialno", &serial),
        ("ro.build.characteristics", "default"),
        ("ro.build.fingerprint", &fingerprint),
        ("ro.build.id", "VD1A.260302"),
        ("ro.build.type", "user"),
        ("ro.build.version.codename", "REL"),
        ("ro.build.version.release", &config.android_version),
        ("ro.build.version.sdk", &sdk),
        ("ro.debuggable", "0"),
        ("ro.hardware", "virtual"),
        ("ro.product.brand", "generic"),
        ("ro.product.cpu.abi", "arm64-v8a"),
        ("ro.product.cpu.abilist", "arm64-v8a,armeabi-v7a"),
        ("ro.product.device", "virtual"),
        ("ro.product.locale", "en-US"),
        ("ro.product.manufacturer", "Virtual"),
        ("ro.product.model", &config.model),
        ("ro.product.name", "virtual_phone"),
        ("ro.secure", "1"),
        ("ro.serialno", &serial),
        ("ro.sf.lcd_density", &density),
        ("sys.boot_completed", "1"),
    ];
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}
