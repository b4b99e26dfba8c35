//! The program that runs on the device, as it was built from the folder `helper` of this project.

/// Replaced by the build of `helper/`; until then a placeholder that only the virtual phone takes for a program.
pub const JAR: &[u8] = include_bytes!("../../../../helper/mdm-helper.jar");
