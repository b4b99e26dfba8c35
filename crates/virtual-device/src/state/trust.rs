//! Which adb keys the phone trusts.

use mdm_wire::adb::auth::PublicKey;

use crate::config::Auth;

/// Keys that a phone remembers.
const KEYS_MAX: usize = 100;

#[derive(Debug)]
pub struct Trust {
    auth: Auth,
    /// No host is trusted for a while.
    suspended: bool,
    /// Keys that a person accepted on the screen.
    accepted: Vec<PublicKey>,
}

impl Trust {
    pub fn new(auth: Auth) -> Trust {
        Trust { auth, suspended: false, accepted: Vec::new() }
    }

    /// True if a host must show a key.
    pub fn is_needed(&self) -> bool {
        self.suspended || !matches!(self.auth, Auth::Open)
    }

    pub fn known_keys(&self) -> &[PublicKey] {
        match &self.auth {
            _ if self.suspended => &[],
            Auth::Keys(keys) => keys,
            Auth::AcceptNew => &self.accepted,
            Auth::Open | Auth::Refuse => &[],
        }
    }

    /// Shows a new key to the person at the phone; true when it is accepted.
    pub fn offer(&mut self, key: PublicKey) -> bool {
        if self.suspended || !matches!(self.auth, Auth::AcceptNew) {
            return false;
        }
        if self.accepted.len() < KEYS_MAX && !self.accepted.contains(&key) {
            self.accepted.push(key);
        }
        true
    }

    /// Trusts no host, or those again that it trusted before.
    pub fn suspend(&mut self, suspended: bool) {
        self.suspended = suspended;
    }
}
