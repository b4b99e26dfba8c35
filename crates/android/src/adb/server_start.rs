//! Finds the adb program and starts its server. This is the only place that spawns a process.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::error::AdbError;

/// Limit for `adb start-server`, which waits until the daemon listens; a slow disk makes it slow.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The environment in which adb is searched. Tests pass their own.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    pub adb_path: Option<PathBuf>,
    pub android_sdk_root: Option<PathBuf>,
    pub android_home: Option<PathBuf>,
    pub home: Option<PathBuf>,
    /// SDK folders of system packages.
    pub system_sdks: Vec<PathBuf>,
    pub path: Vec<PathBuf>,
    /// `ADB_SERVER_SOCKET`, `ANDROID_ADB_SERVER_ADDRESS` and `ANDROID_ADB_SERVER_PORT`.
    pub server_socket: Option<String>,
    pub server_host: Option<String>,
    pub server_port: Option<String>,
}

/// The default address of an adb server.
const SERVER_HOST: &str = "127.0.0.1";
const SERVER_PORT: u16 = 5037;

impl Environment {
    pub fn of_process() -> Environment {
        let folder = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Environment {
            adb_path: folder("ADB_PATH"),
            android_sdk_root: folder("ANDROID_SDK_ROOT"),
            android_home: folder("ANDROID_HOME"),
            home: folder("HOME").or_else(|| folder("USERPROFILE")),
            system_sdks: vec![PathBuf::from("/usr/lib/android-sdk"), PathBuf::from("/opt/android-sdk")],
            server_socket: text("ADB_SERVER_SOCKET"),
            server_host: text("ANDROID_ADB_SERVER_ADDRESS"),
            server_port: text("ANDROID_ADB_SERVER_PORT"),
            path: std::env::var_os("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default(),
        }
    }

    /// Returns `HOST:PORT` and the port of the adb server, from the same variables that adb reads.
    pub fn server_address(&self) -> (String, u16) {
        if let Some(socket) = self.server_socket.as_deref().and_then(|socket| socket.strip_prefix("tcp:")) {
            let (host, port) = socket.rsplit_once(':').unwrap_or((SERVER_HOST, socket));
            if let Ok(port) = port.parse() {
                return (format!("{host}:{port}"), port);
            }
        }
        let port = self.server_port.as_deref().and_then(|port| port.parse().ok()).unwrap_or(SERVER_PORT);
        let host = self.server_host.as_deref().unwrap_or(SERVER_HOST);
        (format!("{host}:{port}"), port)
    }

    /// Returns the first adb that exists: ADB_PATH, the SDK variables, the usual folders, PATH.
    pub fn find_adb(&self) -> Option<PathBuf> {
        let program = if cfg!(windows) { "adb.exe" } else { "adb" };
        let in_sdk = |sdk: &PathBuf| sdk.join("platform-tools").join(program);
        let usual = ["Library/Android/sdk", "Android/Sdk", "AppData/Local/Android/Sdk"];
        let mut candidates: Vec<PathBuf> = self.adb_path.iter().cloned().collect();
        candidates.extend(self.android_sdk_root.iter().map(in_sdk));
        candidates.extend(self.android_home.iter().map(in_sdk));
        candidates.extend(self.home.iter().flat_map(|h| usual.iter().map(move |u| in_sdk(&h.join(u)))));
        candidates.extend(self.system_sdks.iter().map(in_sdk));
        candidates.extend(self.path.iter().map(|folder| folder.join(program)));
        candidates.into_iter().find(|c| c.is_file())
    }

    /// What was set by hand and does not work, in words: nothing that a person chose is passed over in silence (F48).
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(path) = self.adb_path.as_ref().filter(|path| !path.is_file()) {
            let instead = match self.find_adb() {
                Some(adb) => format!("{} is used instead", adb.display()),
                None => "and no other adb was found".to_owned(),
            };
            problems.push(format!("ADB_PATH is {}, which is no file; {instead}", path.display()));
        }
        let tcp_port = |socket: &str| socket.strip_prefix("tcp:")?.rsplit(':').next()?.parse::<u16>().ok();
        if let Some(socket) = self.server_socket.as_deref().filter(|socket| tcp_port(socket).is_none()) {
            problems
                .push(format!("ADB_SERVER_SOCKET is {socket:?}, which is not tcp:HOST:PORT; it is ignored"));
        }
        if let Some(port) = self.server_port.as_deref().filter(|port| port.parse::<u16>().is_err()) {
            problems.push(format!("ANDROID_ADB_SERVER_PORT is {port:?}, which is no port; it is ignored"));
        }
        problems
    }
}

/// Starts the server on `port` and waits until it listens. Its output is discarded, because our stdout is the MCP
/// channel.
pub async fn start_server(adb: &std::path::Path, port: u16) -> Result<(), AdbError> {
    #[expect(clippy::disallowed_methods, reason = "starting the adb server is what this module is for")]
    let mut command = Command::new(adb);
    command.arg("-P").arg(port.to_string()).arg("start-server").kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let failed = |why: String| AdbError::Unreachable(format!("{} start-server: {why}", adb.display()));
    let mut child = command.spawn().map_err(|e| failed(e.to_string()))?;
    match tokio::time::timeout(START_TIMEOUT, child.wait()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(failed(status.to_string())),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(_) => Err(failed(format!("no end in {START_TIMEOUT:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_address_follows_adb_variables() {
        let address = |socket: Option<&str>, host: Option<&str>, port: Option<&str>| {
            let text = |text: Option<&str>| text.map(str::to_owned);
            let (server_socket, server_host, server_port) = (text(socket), text(host), text(port));
            Environment { server_socket, server_host, server_port, ..Environment::default() }.server_address()
        };
        assert_eq!(address(None, None, None), ("127.0.0.1:5037".to_owned(), 5037), "EN-01");
        assert_eq!(address(Some("tcp:6000"), None, Some("7000")), ("127.0.0.1:6000".to_owned(), 6000));
        assert_eq!(address(Some("tcp:box:6000"), None, None), ("box:6000".to_owned(), 6000));
        assert_eq!(address(Some("local:x"), Some("box"), Some("7000")), ("box:7000".to_owned(), 7000));
        assert_eq!(address(None, None, Some("many")), ("127.0.0.1:5037".to_owned(), 5037));
    }

    #[test]
    fn what_was_set_by_hand_and_does_not_work_is_told() {
        // F48
        let set = Environment {
            adb_path: Some(PathBuf::from("/no/such/adb")),
            server_socket: Some("local:x".to_owned()),
            server_port: Some("many".to_owned()),
            ..Environment::default()
        };
        assert_eq!(
            set.problems(),
            [
                "ADB_PATH is /no/such/adb, which is no file; and no other adb was found",
                "ADB_SERVER_SOCKET is \"local:x\", which is not tcp:HOST:PORT; it is ignored",
                "ANDROID_ADB_SERVER_PORT is \"many\", which is no port; it is ignored",
            ]
        );
        let right = Environment { server_socket: Some("tcp:box:6000".to_owned()), ..Environment::default() };
        assert_eq!(right.problems(), [""; 0]);
    }

    #[test]
    fn adb_is_searched_in_the_documented_order() {
        let root = std::env::temp_dir().join(format!("mdm-find-adb-{}", std::process::id()));
        let make = |relative: &str| {
            let file = root.join(relative);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "").unwrap();
            file
        };
        let in_path = make("bin/adb");
        let in_home = make("home/Android/Sdk/platform-tools/adb");
        let in_sdk = make("sdk/platform-tools/adb");
        let named = make("named");
        let mut environment = Environment { path: vec![root.join("bin")], ..Environment::default() };
        assert_eq!(environment.find_adb(), Some(in_path), "EN-01");
        environment.home = Some(root.join("home"));
        assert_eq!(environment.find_adb(), Some(in_home));
        environment.android_home = Some(root.join("sdk"));
        assert_eq!(environment.find_adb(), Some(in_sdk.clone()));
        environment.android_sdk_root = Some(root.join("no-such-folder"));
        assert_eq!(environment.find_adb(), Some(in_sdk));
        environment.adb_path = Some(named.clone());
        assert_eq!(environment.find_adb(), Some(named));
        std::fs::remove_dir_all(root).unwrap();
    }
}
