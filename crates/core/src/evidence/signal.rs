//! What a line of the log is and how much it can explain (DF-01).

use crate::port::{LogEntry, LogLevel};

/// Who wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The app itself.
    App,
    /// The platform's code inside the app's process.
    Framework,
    /// Another process.
    System,
}

/// What a line tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Crash,
    NotResponding,
    Error,
    Network,
    Lifecycle,
    Other,
    /// Said by the platform all the time, whatever happens.
    Noise,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Crash => "crash",
            Kind::NotResponding => "anr",
            Kind::Error => "error",
            Kind::Network => "network",
            Kind::Lifecycle => "lifecycle",
            Kind::Other => "other",
            Kind::Noise => "noise",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal {
    pub origin: Origin,
    pub kind: Kind,
    /// From 0, which explains nothing, to 100.
    pub score: u8,
}

/// What is known of the app that is asked about.
#[derive(Debug, Clone, Copy)]
pub struct AppLog<'a> {
    pub app: Option<&'a str>,
    pub pids: &'a [u32],
}

/// Tags of the platform's code that runs in every app.
const FRAMEWORK_TAGS: [&str; 40] = [
    "ActivityThread",
    "AdrenoGLES",
    "AssistStructure",
    "BLASTBufferQueue",
    "BufferQueueProducer",
    "chatty",
    "Choreographer",
    "CompatibilityChangeReporter",
    "DecorView",
    "EGL_emulation",
    "FrameEvents",
    "FrameTracker",
    "gralloc4",
    "GraphicsEnvironment",
    "HWUI",
    "HWComposer",
    "ImeFocusController",
    "ImeTracker",
    "InputEventReceiver",
    "InputMethodManager",
    "InputTransport",
    "InsetsController",
    "InsetsSourceConsumer",
    "LoadedApk",
    "libEGL",
    "mali_winsys",
    "nativeloader",
    "NetworkSecurityConfig",
    "OpenGLRenderer",
    "Parcel",
    "ProfileInstaller",
    "RenderThread",
    "StudioTransport",
    "SurfaceFactory",
    "SurfaceView",
    "ViewRootImpl",
    "VRI[",
    "WindowOnBackDispatcher",
    "ziparchive",
    "zygote",
];
/// Tags under which the platform tells what becomes of processes and screens.
const LIFECYCLE_TAGS: [&str; 6] =
    ["ActivityManager", "ActivityTaskManager", "WindowManager", "am_proc_start", "Zygote", "PackageManager"];
const LIFECYCLE_WORDS: [&str; 10] = [
    "Displayed ",
    "START u0",
    "Start proc ",
    "has died",
    "Killing ",
    "Force stopping",
    "Fully drawn",
    "onCreate",
    "onResume",
    "onDestroy",
];
const NETWORK_TAGS: [&str; 7] = ["okhttp", "retrofit", "volley", "cronet", "ktor", "urlsession", "dio"];

/// Says what a line is.
pub fn signal(entry: &LogEntry, app: &AppLog<'_>) -> Signal {
    let origin = origin(entry, app);
    let names_app = || app.app.is_some_and(|app| entry.message.contains(app));
    let kind = kind(entry, origin);
    let own = origin != Origin::System || names_app();
    let by_level = match entry.level {
        LogLevel::Fatal => 40,
        LogLevel::Error => 30,
        LogLevel::Warn => 15,
        LogLevel::Info => 8,
        LogLevel::Debug => 4,
        LogLevel::Verbose => 0,
    };
    let base = match kind {
        Kind::Noise => return Signal { origin, kind, score: 0 },
        Kind::Crash => 60,
        Kind::NotResponding => 55,
        Kind::Error => 20,
        Kind::Network => 30,
        Kind::Lifecycle => 15,
        Kind::Other => 5,
    };
    let of_app = match origin {
        Origin::App => 25,
        Origin::Framework => 5,
        Origin::System if own => 10,
        Origin::System => 0,
    };
    let score: u8 = (base + by_level + of_app).min(100);
    Signal { origin, kind, score: if own { score } else { score / 3 } }
}

fn origin(entry: &LogEntry, app: &AppLog<'_>) -> Origin {
    if !entry.pid.is_some_and(|pid| app.pids.contains(&pid)) {
        return Origin::System;
    }
    if is_framework(&entry.tag) { Origin::Framework } else { Origin::App }
}

fn is_framework(tag: &str) -> bool {
    FRAMEWORK_TAGS.iter().any(|known| tag == *known || known.ends_with('[') && tag.starts_with(known))
}

fn kind(entry: &LogEntry, origin: Origin) -> Kind {
    let (tag, message) = (entry.tag.as_str(), entry.message.as_str());
    if message.starts_with("ANR in ") || message.starts_with("Application is not responding") {
        return Kind::NotResponding;
    }
    let is_crash = entry.level >= LogLevel::Error
        && (message.contains("FATAL EXCEPTION")
            || message.starts_with("Fatal signal ")
            || (tag == "DEBUG" && entry.level == LogLevel::Fatal)
            || message.contains("Unhandled Exception: "));
    if is_crash {
        return Kind::Crash;
    }
    if is_network(tag, message) {
        return Kind::Network;
    }
    if entry.level >= LogLevel::Error {
        return if origin == Origin::Framework { Kind::Other } else { Kind::Error };
    }
    if LIFECYCLE_TAGS.contains(&tag) && LIFECYCLE_WORDS.iter().any(|word| message.contains(word)) {
        return Kind::Lifecycle;
    }
    match origin {
        Origin::App => Kind::Other,
        Origin::Framework | Origin::System if entry.level >= LogLevel::Warn => Kind::Other,
        Origin::Framework | Origin::System => Kind::Noise,
    }
}

fn is_network(tag: &str, message: &str) -> bool {
    let by_tag = || {
        let tag = tag.to_ascii_lowercase();
        NETWORK_TAGS.iter().any(|known| tag.contains(known))
    };
    let has_address = || message.contains("http://") || message.contains("https://");
    message.starts_with("--> ") || message.starts_with("<-- ") || by_tag() || has_address()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(level: LogLevel, pid: u32, tag: &str, message: &str) -> Signal {
        let entry = LogEntry {
            time_ms: None,
            pid: Some(pid),
            tid: None,
            level,
            tag: tag.to_owned(),
            message: message.to_owned(),
        };
        signal(&entry, &AppLog { app: Some("com.example"), pids: &[7] })
    }

    #[test]
    fn lines_are_told_apart() {
        // DF-01
        use LogLevel::{Debug, Error, Fatal, Info, Warn};
        for (line, origin, kind) in [
            (of(Error, 7, "AndroidRuntime", "FATAL EXCEPTION: main"), Origin::App, Kind::Crash),
            (of(Fatal, 9, "libc", "Fatal signal 11 (SIGSEGV)"), Origin::System, Kind::Crash),
            (of(Error, 3, "ActivityManager", "ANR in com.example"), Origin::System, Kind::NotResponding),
            (of(Error, 7, "Auth", "401 invalid"), Origin::App, Kind::Error),
            (of(Info, 7, "okhttp.OkHttpClient", "<-- 200 https://x"), Origin::App, Kind::Network),
            (
                of(Info, 3, "ActivityTaskManager", "Displayed com.example/.Main"),
                Origin::System,
                Kind::Lifecycle,
            ),
            (of(Info, 7, "Choreographer", "Skipped 31 frames!"), Origin::Framework, Kind::Noise),
            (of(Debug, 3, "Wifi", "scan"), Origin::System, Kind::Noise),
            (of(Warn, 3, "Wifi", "weak"), Origin::System, Kind::Other),
            (of(Info, 7, "Cart", "2 items"), Origin::App, Kind::Other),
        ] {
            assert_eq!((line.origin, line.kind), (origin, kind), "{line:?}");
        }
    }

    #[test]
    fn what_explains_more_has_the_higher_score() {
        // DF-01
        use LogLevel::{Debug, Error, Info, Warn};
        let order = [
            of(Error, 7, "AndroidRuntime", "FATAL EXCEPTION: main"),
            of(Error, 7, "Auth", "401 invalid"),
            of(Info, 7, "okhttp.OkHttpClient", "<-- 200 https://x"),
            of(Info, 7, "Cart", "2 items"),
            of(Debug, 7, "Cart", "drawn"),
            of(Warn, 3, "Wifi", "weak"),
            of(Debug, 3, "Wifi", "scan"),
        ];
        let scores: Vec<u8> = order.iter().map(|line| line.score).collect();
        assert!(scores.is_sorted_by(|a, b| a > b), "{scores:?}");
    }
}
