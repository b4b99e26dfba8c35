//! A virtual Android phone and a virtual iPhone that speak the real device protocols.
//!
//! Drawn apps or a recording (see `surface`) give the accessibility tree and the pixels; adbd serves them to any adb
//! client.
//!
//! Architecture invariant: nothing here knows `mdm-core`, a driver or the server, so that the phone cannot share a
//! misreading with the parser that it tests. Nothing here blocks or reads a clock other than tokio's.

mod adb_server;
mod adbd;
mod apk;
mod app;
mod clock;
mod config;
mod draw;
mod faults;
mod film;
mod framework;
mod fs;
mod helpers;
mod iphone;
mod logcat;
mod network;
mod packages;
mod panel;
mod phone;
mod random;
#[cfg(test)]
#[path = "../../server/tests/shared/recorded.rs"]
mod recorded;
mod replay;
mod shell;
mod state;
mod surface;
mod truth;
mod unix;
mod zip;

pub use adb_server::AdbServer;
pub use app::datum::Datum;
pub use app::user::{AppFile, AppFileError};
pub use config::{Auth, DevInput, DumpFault, Network, PhoneConfig, Platform, Reader, Timing};
pub use faults::{Fault, Faults};
pub use film::{DumpShown, Film, Frame, ShownNode};
pub use framework::{FrameworkApp, FrameworkConfig, FrameworkPool, FrameworkTruth, ListenerCall, ViewTruth};
pub use iphone::xcrun;
pub use iphone::{
    DeveloperImage, GivenFaults, IPhone, IPhoneConfig, IPhoneFaults, IPhoneKind, PortOpener, Push,
    RUNNER_BUNDLE, SimulatorState, companion,
};
pub use phone::Phone;
pub use random::Random;
pub use replay::{Recording, RecordingError};
pub use truth::{
    Applied, FaultEvent, Happened, Hit, LOG_ENTRIES_MAX, MadeRequest, Moment, ReplayTruth, ShownToast, Truth,
};
pub use unix::UnixListener;
