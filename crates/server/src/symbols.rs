//! Names for the frames of a crash: R8's mapping for Java and Kotlin, debug symbols for native code and iOS.

mod binary;
mod mapping;

use std::path::{Path, PathBuf};

use mdm_core::port::{CrashReport, Thrown};

use crate::refusal::Refusal;

/// Limit of a mapping file. R8 writes some ten megabytes for large apps.
const MAPPING_BYTES_MAX: u64 = 512 << 20;
/// Limit of a file with debug symbols.
const BINARY_BYTES_MAX: u64 = 1 << 30;

/// How many frames got a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub report: CrashReport,
    pub frames: usize,
    /// Why frames have none although they belong to the file.
    pub problem: Option<String>,
}

/// Names the frames of a report with the symbols in a file: a mapping.txt, a binary with debug symbols, or a dSYM.
pub fn name_frames(report: &CrashReport, file: &Path) -> Result<Named, Refusal> {
    let wrong = |problem: String| {
        let hint =
            "give the mapping.txt of this build, the .so with symbols (not the stripped one), or the .dSYM";
        Refusal::argument(format!("{}: {problem}", file.display()), hint)
    };
    let file = &in_bundle(file).map_err(|error| wrong(error.to_string()))?;
    let size = std::fs::metadata(file).map_err(|error| wrong(error.to_string()))?.len();
    let start = first_bytes(file).map_err(|error| wrong(error.to_string()))?;
    if binary::is_binary(start) {
        if size > BINARY_BYTES_MAX {
            return Err(wrong(format!("{size} bytes are more than is read")));
        }
        return binary::name_frames(report, file).map_err(wrong);
    }
    if size > MAPPING_BYTES_MAX {
        return Err(wrong(format!("{size} bytes are more than is read")));
    }
    let text = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    mapping::name_frames(report, &text).map_err(wrong)
}

/// The binary inside a dSYM, which is a folder.
fn in_bundle(file: &Path) -> std::io::Result<PathBuf> {
    let inner = file.join("Contents/Resources/DWARF");
    if !inner.is_dir() {
        return Ok(file.to_path_buf());
    }
    let first = std::fs::read_dir(&inner)?.flatten().map(|entry| entry.path()).find(|path| path.is_file());
    first.ok_or_else(|| std::io::Error::other("the dSYM has no binary in it"))
}

fn first_bytes(file: &Path) -> std::io::Result<[u8; 4]> {
    let mut start = [0; 4];
    let mut opened = std::fs::File::open(file)?;
    std::io::Read::read(&mut opened, &mut start)?;
    Ok(start)
}

/// A copy of what was thrown, with other frames. `own` says anew whose each is.
fn with_frames(thrown: &Thrown, frames: impl IntoIterator<Item = (String, bool)>) -> Thrown {
    let mut named = Thrown::new(&thrown.exception, &thrown.message);
    let mut count = 0;
    for (text, own) in frames {
        named.push_frame(&text, own);
        count += 1;
    }
    named.frame_count = thrown.frame_count.max(count);
    named
}
