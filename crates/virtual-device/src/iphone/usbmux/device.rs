//! What a phone on a cable remembers: whom it trusts, its started services, and the files that hosts left on it.

use std::collections::BTreeMap;
use std::io;

use plist::Dictionary;
use tokio::time::Instant;

use super::PortOpener;
use super::afc::Files;
use super::pairing::Trusted;

/// Hosts that are trusted, records that usbmuxd keeps, ports that wait for a connection.
const HOSTS_MAX: usize = 32;
const RECORDS_MAX: usize = 32;
const PORTS_MAX: usize = 256;
const FIRST_SERVICE_PORT: u16 = 49_152;

/// A service that was started and waits for its connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedService {
    pub name: String,
    /// The host for whose certificate the connection is meant.
    pub host: String,
}

#[derive(Default)]
pub struct DeviceState {
    /// By host id.
    trusted: BTreeMap<String, Trusted>,
    /// usbmuxd's own: by udid.
    records: BTreeMap<String, Vec<u8>>,
    services: BTreeMap<u16, StartedService>,
    next_port: u16,
    ports: BTreeMap<u16, PortOpener>,
    pub(super) files: Files,
    /// Names of crash reports that hosts removed.
    pub(super) removed_reports: Vec<String>,
    /// The element at which accessibility stopped last; it stays when a client goes.
    pub(super) focus: Option<Vec<u8>>,
    /// When a host asked to be trusted.
    pub(super) asked_at: Option<Instant>,
    /// The record that was there from the start was made.
    pub(super) prepared: bool,
}

impl std::fmt::Debug for DeviceState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hosts: Vec<&String> = self.trusted.keys().collect();
        f.debug_struct("DeviceState").field("trusted", &hosts).finish_non_exhaustive()
    }
}

impl DeviceState {
    pub(super) fn trust(&mut self, host: &str, trusted: Trusted) {
        if self.trusted.len() < HOSTS_MAX {
            self.trusted.insert(host.to_owned(), trusted);
        }
    }

    pub(super) fn trusted(&self, host: &str) -> Option<Trusted> {
        self.trusted.get(host).cloned()
    }

    pub(super) fn forget(&mut self, host: &str) {
        self.trusted.remove(host);
    }

    pub(super) fn record(&self, udid: &str) -> Option<Vec<u8>> {
        self.records.get(udid).cloned()
    }

    pub(super) fn save_record(&mut self, udid: &str, record: Vec<u8>) {
        if self.records.len() < RECORDS_MAX || self.records.contains_key(udid) {
            self.records.insert(udid.to_owned(), record);
        }
    }

    pub(super) fn delete_record(&mut self, udid: &str) -> bool {
        self.records.remove(udid).is_some()
    }

    /// Gives a service a port; nothing when too many wait.
    pub(super) fn start_service(&mut self, service: StartedService) -> Option<u16> {
        if self.services.len() >= PORTS_MAX {
            return None;
        }
        let port = FIRST_SERVICE_PORT.wrapping_add(self.next_port).max(FIRST_SERVICE_PORT);
        self.next_port = self.next_port.wrapping_add(1) % (u16::MAX - FIRST_SERVICE_PORT);
        self.services.insert(port, service);
        Some(port)
    }

    pub(super) fn take_service(&mut self, port: u16) -> Option<StartedService> {
        self.services.remove(&port)
    }

    pub(super) fn open_port(&mut self, port: u16, opener: PortOpener) {
        if self.ports.len() < PORTS_MAX {
            self.ports.insert(port, opener);
        }
    }

    pub(super) fn port(&self, port: u16) -> Option<io::Result<tokio::io::DuplexStream>> {
        self.ports.get(&port).map(|opener| opener())
    }

    /// The bundle that a host staged at this path: an archive, or a folder.
    pub(super) fn staged_info(&self, path: &str) -> Result<Dictionary, &'static str> {
        self.files.info_of(path)
    }
}
