//! `xcrun simctl` for one simulator, on machines without one.
//!
//! A small script named `xcrun` hands its arguments over a Unix socket to the phone, which does what they ask and
//! answers with output and exit code.

mod client;
mod frame;
mod list;
mod log;
mod output;
mod plist_text;
mod simctl;
mod system;

use std::io;
use std::path::Path;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};

use super::IPhone;
use crate::unix::{UnixListener, listen, write_script};
pub use client::{Streams, client};
use frame::Session;

/// The socket's name in the script's folder.
const SOCKET: &str = "xcrun.sock";
/// The sub-command by which a program runs [`client`].
pub const STAND_IN: &str = "xcrun-stand-in";
const DUPLEX_BYTES: usize = 64 * 1024;

impl IPhone {
    /// Writes an executable `xcrun` into a folder, which runs `PROGRAM xcrun-stand-in SOCKET ARGUMENTS`, and opens the
    /// socket that [`IPhone::serve_xcrun`] serves.
    pub fn install_xcrun(&self, folder: &Path, program: &Path) -> io::Result<UnixListener> {
        std::fs::create_dir_all(folder)?;
        let socket = folder.join(SOCKET);
        let listener = listen(&socket)?;
        let script = format!("#!/bin/sh\nexec {} {STAND_IN} {} \"$@\"\n", quoted(program)?, quoted(&socket)?);
        write_script(&folder.join("xcrun"), &script)?;
        Ok(listener)
    }

    /// Opens a conversation inside this process, as the script's program has one.
    pub fn connect_xcrun(&self) -> io::Result<DuplexStream> {
        let (ours, theirs) = tokio::io::duplex(DUPLEX_BYTES);
        self.converse(ours);
        Ok(theirs)
    }

    /// Answers commands until the listener fails.
    pub async fn serve_xcrun(&self, listener: UnixListener) -> io::Result<()> {
        loop {
            let (socket, _) = listener.accept().await?;
            self.converse(socket);
        }
    }

    fn converse<S: AsyncRead + AsyncWrite + Send + 'static>(&self, stream: S) {
        let phone = self.clone();
        tokio::spawn(async move {
            let mut session = Session::new(stream);
            // A caller that went away wants no answer.
            let _ = simctl::answer(&phone, &mut session).await;
        });
    }
}

/// Quotes a path for the shell of the script.
pub(super) fn quoted(path: &Path) -> io::Result<String> {
    let text = path.to_str().ok_or_else(|| io::Error::other("a path that is not UTF-8"))?;
    Ok(format!("'{}'", text.replace('\'', "'\\''")))
}
