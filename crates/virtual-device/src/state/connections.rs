//! The cable, and the transports over it.

use std::io;

/// Transports at a time.
const CONNECTIONS_MAX: usize = 64;

#[derive(Debug)]
pub struct Connections {
    plugged: bool,
    open: usize,
}

impl Connections {
    pub fn new() -> Connections {
        Connections { plugged: true, open: 0 }
    }

    pub fn is_plugged(&self) -> bool {
        self.plugged
    }

    pub fn plug(&mut self, plugged: bool) {
        self.plugged = plugged;
    }

    /// Returns how many transports are open.
    pub fn count(&self) -> usize {
        self.open
    }

    pub fn open(&mut self) -> io::Result<()> {
        if !self.plugged {
            return Err(io::Error::new(io::ErrorKind::NotConnected, "the phone is unplugged"));
        }
        if self.open >= CONNECTIONS_MAX {
            return Err(io::Error::new(io::ErrorKind::ConnectionRefused, "too many transports"));
        }
        self.open += 1;
        Ok(())
    }

    pub fn close(&mut self) {
        self.open = self.open.saturating_sub(1);
    }
}
