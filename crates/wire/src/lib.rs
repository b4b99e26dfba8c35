//! Codecs of the device protocols, for both ends.
//!
//! Architecture invariant: nothing here performs I/O, keeps a connection or knows a device. The client (`mdm-android`)
//! and the embedded phone (`mdm-virtual-device`) share these codecs and nothing else.

pub mod adb;
pub mod dtx;
pub mod helper;
pub mod idb;
pub mod keyed_archive;
pub mod markup;
