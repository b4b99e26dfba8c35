//! A recording for the phone to play: a screen that changes to another one and back.

use std::path::{Path, PathBuf};

/// The key that changes the screen of a recording for keys: volume up, which apps ignore.
pub const FLIP: &str = "input keyevent 24";
const ON_KEY: &str = r#"{"type":"key","key":"24"}"#;
/// The whole screen, so that every touch counts.
const ON_TAP: &str = r#"{"type":"click","bounds_px":{"x1":0,"y1":0,"x2":8000,"y2":8000}}"#;

/// The input that changes the screen.
#[derive(Clone, Copy)]
pub enum By {
    Key,
    Tap,
}

/// A temporary folder, removed with this value.
pub struct Recording {
    pub folder: PathBuf,
}

impl Recording {
    /// Makes a recording of `size.xml` and `size_flip.xml`, which differ in one text.
    pub fn of(data: &Path, size: &str, by: By) -> Result<Recording, String> {
        let (action, name) = match by {
            By::Key => (ON_KEY, "key"),
            By::Tap => (ON_TAP, "tap"),
        };
        let folder = std::env::temp_dir().join(format!("mdm-bench-{}-{size}-{name}", std::process::id()));
        let recording = Recording { folder };
        let at = |name: &str| recording.folder.join(name);
        let steps = format!(
            r#"{{"steps":[{{"state":"S0","tree":"S0.xml","action":{action}}},{{"state":"S1","tree":"S1.xml","to":"S0","action":{action}}}]}}"#
        );
        std::fs::create_dir_all(&recording.folder)
            .and_then(|()| std::fs::copy(data.join(format!("{size}.xml")), at("S0.xml")))
            .and_then(|_| std::fs::copy(data.join(format!("{size}_flip.xml")), at("S1.xml")))
            .and_then(|_| std::fs::write(at("trace.json"), steps))
            .map_err(|e| format!("{}: {e}", recording.folder.display()))?;
        Ok(recording)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
