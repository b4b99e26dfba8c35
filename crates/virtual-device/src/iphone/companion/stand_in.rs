//! The program `idb_companion` of a Mac with one simulator: it listens where it is told to, and hands everything to the
//! companion of the phone.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::iphone::IPhone;
use crate::unix::{UnixListener, UnixStream, listen, write_script};

/// The sub-command by which a program runs [`stand_in`].
pub const STAND_IN: &str = "companion-stand-in";
/// The socket's name in the script's folder.
const SOCKET: &str = "companion.sock";

impl IPhone {
    /// Writes an executable `idb_companion` into a folder, which runs `PROGRAM companion-stand-in SOCKET UDID ARGUMENTS`,
    /// and opens the socket that [`IPhone::serve_companion_unix`] serves.
    pub fn install_companion(&self, folder: &Path, program: &Path) -> io::Result<UnixListener> {
        std::fs::create_dir_all(folder)?;
        let socket = folder.join(SOCKET);
        let listener = listen(&socket)?;
        let quoted = crate::iphone::xcrun::quoted;
        let udid = quoted(Path::new(&self.config().udid))?;
        let (program, socket) = (quoted(program)?, quoted(&socket)?);
        let script = format!("#!/bin/sh\nexec {program} {STAND_IN} {socket} {udid} \"$@\"\n");
        write_script(&folder.join("idb_companion"), &script)?;
        Ok(listener)
    }
}

/// Runs until it is ended. `phone` is the socket of the phone's companion.
pub async fn stand_in(
    phone: &Path,
    udid: &str,
    arguments: &[String],
    stdout: &mut (dyn Write + Send),
) -> io::Result<()> {
    let given = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)
    };
    let wanted = given("--udid").ok_or_else(|| io::Error::other("--udid is required"))?;
    if wanted != udid {
        return Err(io::Error::other(format!("No target found with udid {wanted}")));
    }
    let path =
        given("--grpc-domain-sock").ok_or_else(|| io::Error::other("--grpc-domain-sock is required"))?;
    let path = PathBuf::from(path);
    let listener = UnixListener::bind(&path)?;
    writeln!(stdout, "{}", serde_json::json!({ "grpc_path": path }))?;
    stdout.flush()?;
    loop {
        let (mut client, _) = listener.accept().await?;
        let mut companion = UnixStream::connect(phone).await?;
        tokio::spawn(async move { tokio::io::copy_bidirectional(&mut client, &mut companion).await });
    }
}
