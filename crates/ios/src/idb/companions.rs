//! Companions that run already: where idb's own client finds them too.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Largest state file.
const STATE_BYTES_MAX: u64 = 1024 * 1024;
/// Companions that are known; further ones are not looked at.
const COMPANIONS_MAX: usize = 200;
/// Files of the folder that are looked at.
const FILES_MAX: usize = 10_000;
const SOCKET_END: &str = "_companion.sock";

/// A companion that was started by somebody. It may have ended since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Companion {
    pub udid: String,
    pub address: CompanionAddress,
    pub pid: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompanionAddress {
    /// `HOST:PORT`.
    Tcp(String),
    Unix(PathBuf),
}

#[derive(Deserialize)]
struct Entry {
    udid: Option<String>,
    pid: Option<u32>,
    host: Option<String>,
    port: Option<u16>,
    path: Option<PathBuf>,
}

/// Reads the state file of idb's client. Entries that cannot be understood are left out.
pub fn parse_state(json: &[u8]) -> Vec<Companion> {
    let entries: Vec<serde_json::Value> = serde_json::from_slice(json).unwrap_or_default();
    let companion = |entry: serde_json::Value| {
        let Entry { udid, pid, host, port, path } = serde_json::from_value(entry).ok()?;
        let address = match (path, host, port) {
            (Some(path), _, _) => CompanionAddress::Unix(path),
            // An address of IPv6 has colons of its own.
            (None, Some(host), Some(port)) if host.contains(':') => {
                CompanionAddress::Tcp(format!("[{host}]:{port}"))
            }
            (None, Some(host), Some(port)) => CompanionAddress::Tcp(format!("{host}:{port}")),
            _ => return None,
        };
        Some(Companion { udid: udid.filter(|udid| !udid.is_empty())?, address, pid })
    };
    entries.into_iter().filter_map(companion).take(COMPANIONS_MAX).collect()
}

/// Reads the names of sockets: `UDID_companion.sock`.
fn parse_socket(folder: &Path, name: &str) -> Option<Companion> {
    let udid = name.strip_suffix(SOCKET_END).filter(|udid| !udid.is_empty())?;
    let address = CompanionAddress::Unix(folder.join(name));
    Some(Companion { udid: udid.to_owned(), address, pid: None })
}

/// Looks into idb's folder, `/tmp/idb` unless somebody moved it. It reads files: not for an async task. What is not
/// there, or cannot be read, is no companion.
pub fn find_companions(folder: &Path) -> Vec<Companion> {
    let mut state = Vec::new();
    if let Ok(file) = std::fs::File::open(folder.join("state")) {
        // What was read before an error does not parse.
        let _ = file.take(STATE_BYTES_MAX).read_to_end(&mut state);
    }
    let mut found = parse_state(&state);
    let Ok(files) = std::fs::read_dir(folder) else { return found };
    for file in files.take(FILES_MAX).flatten() {
        let socket = file.file_name().to_str().and_then(|name| parse_socket(folder, name));
        if let Some(socket) = socket
            && found.len() < COMPANIONS_MAX
            && found.iter().all(|known| known.udid != socket.udid)
        {
            found.push(socket);
        }
    }
    found.sort_by(|a, b| a.udid.cmp(&b.udid));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_entries_are_read_and_others_left_out() {
        let json = br#"[{"udid":"A","is_local":true,"pid":7,"host":"localhost","port":10882},
            {"udid":"B","path":"/tmp/idb/B_companion.sock"},{"udid":"C"},{"udid":"","host":"h","port":1},
            {"udid":"D","host":"::1","port":70000},{"udid":"E","host":"::1","port":9},7]"#;
        let found = parse_state(json);
        let tcp = |udid: &str, address: &str, pid| Companion {
            udid: udid.to_owned(),
            address: CompanionAddress::Tcp(address.to_owned()),
            pid,
        };
        let socket = CompanionAddress::Unix("/tmp/idb/B_companion.sock".into());
        assert_eq!(
            found,
            [
                tcp("A", "localhost:10882", Some(7)),
                Companion { udid: "B".to_owned(), address: socket, pid: None },
                tcp("E", "[::1]:9", None)
            ]
        );
        for junk in [&b""[..], b"{}", b"[", b"null", b"[[[[", &[0xff; 10]] {
            assert_eq!(parse_state(junk), []);
        }
    }

    #[test]
    fn sockets_are_found_by_their_names() {
        let folder = Path::new("/tmp/idb");
        let found = parse_socket(folder, "AB-1_companion.sock").map(|found| (found.udid, found.address));
        let address = CompanionAddress::Unix("/tmp/idb/AB-1_companion.sock".into());
        assert_eq!(found, Some(("AB-1".to_owned(), address)));
        assert_eq!((parse_socket(folder, "_companion.sock"), parse_socket(folder, "state")), (None, None));
    }
}
