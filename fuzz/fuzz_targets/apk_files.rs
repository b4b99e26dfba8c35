//! Any bytes as an app file: as a whole archive, or as the manifest in a good one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mdm_build::apk;
use mdm_fuzz::files;

const NAME: &[u8] = b"AndroidManifest.xml";
const WHOLE: u8 = 1;

fuzz_target!(|data: &[u8]| {
    let [kind, bytes @ ..] = data else { return };
    let archive = if kind & WHOLE == 0 { archive_of(bytes) } else { bytes.to_vec() };
    match apk::read(&files::written("app.apk", &archive)) {
        Ok(manifest) => assert!(!manifest.package.is_empty()),
        Err(why) => assert!(!why.is_empty()),
    }
});

/// An archive with this manifest in it, stored as it is.
fn archive_of(manifest: &[u8]) -> Vec<u8> {
    let half = |number: usize| (number as u16).to_le_bytes();
    let word = |number: usize| (number as u32).to_le_bytes();
    let mut out = b"PK\x03\x04".to_vec();
    out.extend([0; 14]);
    out.extend([word(manifest.len()), word(manifest.len())].concat());
    out.extend([half(NAME.len()), half(0)].concat());
    out.extend(NAME);
    out.extend(manifest);
    let directory = out.len();
    out.extend(b"PK\x01\x02");
    out.extend([0; 16]);
    out.extend([word(manifest.len()), word(manifest.len())].concat());
    out.extend([half(NAME.len()), half(0), half(0)].concat());
    out.extend([0; 12]);
    out.extend(NAME);
    let length = out.len() - directory;
    out.extend(b"PK\x05\x06");
    out.extend([0; 8]);
    out.extend([word(length), word(directory)].concat());
    out.extend([0; 2]);
    out
}
