//! Crash reports as iOS keeps them: one `.ips` file for each crash.

use serde_json::json;

use super::IPhone;
use super::names::bundle_of;
use crate::clock::Civil;
use crate::logcat::{Buffer, Entry};

/// Where the app's code lies in memory.
const APP_BASE: u64 = 0x1_0000_0000;
const LIBRARY_BASE: u64 = 0x1_8000_0000;
const FRAME_BYTES: u64 = 64;

/// One report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrashFile {
    /// `Shop-2026-03-02-090012.ips`.
    pub name: String,
    pub bundle: String,
    pub process: String,
    pub pid: u32,
    pub wall_ms: u64,
    pub contents: String,
}

impl IPhone {
    /// Returns the reports of all crashes since the phone was started, oldest first.
    pub(crate) fn crash_files(&self) -> Vec<CrashFile> {
        let entries: Vec<Entry> = self.phone.with(|state| {
            let crashes = state.log.since(0).filter(|entry| entry.buffer == Buffer::Crash);
            crashes.cloned().collect()
        });
        let deleted = self.simulator(|simulator| simulator.deleted_crashes.clone());
        let files = entries.iter().filter_map(|entry| self.report(entry));
        files.filter(|file| !deleted.contains(&file.name)).collect()
    }

    pub(crate) fn delete_crash_file(&self, name: &str) {
        self.simulator(|simulator| simulator.deleted_crashes.insert(name.to_owned()));
    }

    /// `FATAL EXCEPTION: main`, `Process: package, PID: n`, the exception, then frames.
    fn report(&self, entry: &Entry) -> Option<CrashFile> {
        let mut lines = entry.message.lines().skip(1);
        let package = lines.next()?.strip_prefix("Process: ")?.split_once(',')?.0;
        let exception = lines.next()?;
        let bundle = bundle_of(package).to_owned();
        let app = self.app(&bundle)?;
        let process = app.executable.clone();
        let frames = lines.filter_map(|line| line.trim().strip_prefix("at "));
        let own: Vec<&str> = frames.take_while(|frame| !frame.starts_with("android.")).collect();
        let Civil { year, month, day, hour, minute, second, milli } = Civil::from_ms(entry.wall_ms);
        let date = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
        let incident = format!("{:08X}-0000-4000-8000-{:012X}", entry.sequence, entry.pid);
        let os = format!("iPhone OS {} (22F76)", self.config.ios_version);
        let head = json!({
            "app_name": process, "timestamp": format!("{date}.00 +0000"), "app_version": app.version,
            "slice_uuid": app.uuid.to_lowercase(), "build_version": app.build, "platform": 2, "bundleID": bundle,
            "share_with_app_devs": 0, "is_first_party": 0, "bug_type": "309", "os_version": os,
            "roots_installed": 0, "name": process, "incident_id": incident,
        });
        let body = self.body(entry, exception, &own, &app, &format!("{date}.{milli:03}0 +0000"), &incident);
        let name = format!("{process}-{year:04}-{month:02}-{day:02}-{hour:02}{minute:02}{second:02}.ips");
        let contents = format!("{head}\n{body:#}\n");
        Some(CrashFile { name, bundle, process, pid: entry.pid, wall_ms: entry.wall_ms, contents })
    }

    fn body(
        &self,
        entry: &Entry,
        exception: &str,
        frames: &[&str],
        app: &super::apps::AppEntry,
        date: &str,
        incident: &str,
    ) -> serde_json::Value {
        let path = format!("/private/var/containers/Bundle/Application/{}/{}", app.uuid, app.file_name());
        let frame = |symbol: &str, index: usize, image: usize| {
            let offset = FRAME_BYTES * (index as u64 + 1);
            json!({ "imageOffset": offset, "symbol": symbol, "symbolLocation": 8, "imageIndex": image })
        };
        let mut thrown = vec![frame("__exceptionPreprocess", 0, 1), frame("objc_exception_throw", 1, 1)];
        thrown.extend(frames.iter().enumerate().map(|(index, symbol)| frame(symbol, index, 0)));
        let aborting = [frame("__pthread_kill", 0, 1), frame("pthread_kill", 1, 1), frame("abort", 2, 1)];
        json!({
            "uptime": entry.uptime_ms / 1000, "procRole": "Foreground", "version": 2, "userID": 501,
            "deployVersion": 210, "modelCode": self.config.product_type, "coalitionID": 625,
            "osVersion": {
                "isEmbedded": true, "train": format!("iPhone OS {}", self.config.ios_version),
                "releaseType": "User", "build": "22F76",
            },
            "captureTime": date, "incident": incident, "pid": entry.pid, "cpuType": "ARM-64",
            "roots_installed": 0, "bug_type": "309", "procLaunch": date, "procName": app.executable,
            "procPath": format!("{path}/{}", app.executable),
            "bundleInfo": {
                "CFBundleShortVersionString": app.version, "CFBundleVersion": app.build,
                "CFBundleIdentifier": app.bundle,
            },
            "parentProc": "launchd", "parentPid": 1, "coalitionName": app.bundle,
            "exception": { "codes": "0x0000000000000000, 0x0000000000000000", "rawCodes": [0, 0], "type": "EXC_CRASH", "signal": "SIGABRT" },
            "termination": { "flags": 0, "code": 6, "namespace": "SIGNAL", "indicator": "Abort trap: 6", "byProc": app.executable, "byPid": entry.pid },
            "asi": { "libsystem_c.dylib": ["abort() called"], "CoreFoundation": [exception] },
            "lastExceptionBacktrace": thrown,
            "faultingThread": 0,
            "threads": [{ "triggered": true, "id": entry.tid, "queue": "com.apple.main-thread", "frames": aborting }],
            "usedImages": [
                { "source": "P", "arch": "arm64", "base": APP_BASE, "size": 65536, "uuid": app.uuid.to_lowercase(), "path": format!("{path}/{}", app.executable), "name": app.executable },
                { "source": "P", "arch": "arm64e", "base": LIBRARY_BASE, "size": 65536, "uuid": "a49d560c-1323-3bfb-a7e8-762be0c1b2ef", "path": "/usr/lib/system/libsystem_kernel.dylib", "name": "libsystem_kernel.dylib" },
            ],
            "legacyInfo": { "threadTriggered": { "queue": "com.apple.main-thread" } },
        })
    }
}
