//! Where this program keeps what must outlive it: the proxy's certificate authority, and which devices use the proxy.

use std::env;
use std::path::PathBuf;

const NAME: &str = "mobile-debug-mcp";

/// The folder that the system has for such things; nothing where it does not tell.
pub fn of_process() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(state) = folder("XDG_STATE_HOME") {
        return Some(state.join(NAME));
    }
    if cfg!(windows) {
        return Some(folder("LOCALAPPDATA")?.join(NAME));
    }
    let below_home = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/state" };
    Some(folder("HOME")?.join(below_home).join(NAME))
}
