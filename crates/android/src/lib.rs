//! An Android device over adb.
//!
//! `adb` is the client: it knows the protocol and nothing about tools or screens. `device` implements the port of
//! `mdm-core` on top of it. `hierarchy` turns `uiautomator` XML into the one snapshot type.
//!
//! Architecture invariant: no policy. Nothing here waits for a screen, repeats a command or chooses a device.

pub mod adb;
mod apps;
mod capture;
pub mod crash;
mod device;
mod fingers;
mod gesture;
mod helper;
pub mod hierarchy;
mod hub;
pub mod log;
mod network;
mod pixels;
mod probe;
mod screen;
pub mod served;
mod settings;
mod text;

pub use device::AndroidDevice;
pub use helper::HelperMode;
#[cfg(fuzzing)]
pub use helper::shown as shown_by_helper;
pub use hub::{Endpoint, Hub, HubConfig, StartServer};
