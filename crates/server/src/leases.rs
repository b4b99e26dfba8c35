//! One caller acts on a device at a time: what two do to it would fall between each other's steps.
//!
//! The first action takes the device for its caller. It is free again some time after the caller's last action ended,
//! when the caller's session ends, or when another takes it over while nothing runs on it. Reading needs no lease.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mdm_core::failure::{Cause, Failure};
use mdm_engine::Deadline;

use crate::caller::Caller;
use crate::refusal::Refusal;

/// How long after its last action a caller keeps a device, unless told otherwise.
pub const TERM_DEFAULT: Duration = Duration::from_secs(120);
/// Devices whose leases are remembered.
const LEASES_MAX: usize = 4096;

pub struct Leases {
    term: Duration,
    /// A caller may take a device over from one that does nothing with it at the moment.
    may_take_over: bool,
    held: Arc<Mutex<BTreeMap<String, Lease>>>,
}

struct Lease {
    holder: String,
    name: String,
    /// Actions of the holder that run.
    running: usize,
    until: Deadline,
}

impl Lease {
    fn is_over(&self) -> bool {
        self.running == 0 && self.until.left().is_zero()
    }
}

impl Default for Leases {
    fn default() -> Leases {
        Leases::new(TERM_DEFAULT, true)
    }
}

impl Leases {
    pub fn new(term: Duration, may_take_over: bool) -> Leases {
        Leases { term, may_take_over, held: Arc::default() }
    }

    /// Takes a device for an action of this caller, for as long as the result is kept and for the term after that.
    pub fn take(&self, device: &str, caller: &Caller) -> Result<Held, Refusal> {
        let mut held = lock(&self.held);
        held.retain(|_, lease| !lease.is_over());
        match held.get_mut(device) {
            Some(lease) if lease.holder != caller.key() => Err(self.leased(device, lease)),
            Some(lease) => {
                lease.running += 1;
                Ok(self.held_by(device, caller))
            }
            None => {
                if held.len() >= LEASES_MAX {
                    return Err(Refusal::defect(format!("{LEASES_MAX} devices are leased")));
                }
                held.insert(device.to_owned(), Lease { running: 1, ..self.lease_of(caller) });
                Ok(self.held_by(device, caller))
            }
        }
    }

    /// Takes a device from whoever has it, unless that one is in the middle of an action.
    pub fn take_over(&self, device: &str, caller: &Caller) -> Result<(), Refusal> {
        let mut held = lock(&self.held);
        if let Some(lease) = held.get(device).filter(|lease| lease.holder != caller.key() && !lease.is_over())
        {
            if !self.may_take_over {
                return Err(self.leased(device, lease));
            }
            if lease.running > 0 {
                let message = format!("{} is in the middle of an action on {device}", lease.name);
                let failure = Failure::new(Cause::Leased, message);
                return Err(Refusal::with_words(failure, "call again when that action has ended"));
            }
        }
        let running =
            held.get(device).filter(|lease| lease.holder == caller.key()).map_or(0, |lease| lease.running);
        held.insert(device.to_owned(), Lease { running, ..self.lease_of(caller) });
        Ok(())
    }

    /// The name of another caller that has this device.
    pub fn other_holder(&self, device: &str, caller: &Caller) -> Option<String> {
        let held = lock(&self.held);
        let lease = held.get(device).filter(|lease| lease.holder != caller.key() && !lease.is_over());
        lease.map(|lease| lease.name.clone())
    }

    /// Gives back what a caller has that is gone. An action of it that still runs keeps its device until it ends.
    pub fn release(&self, key: &str) {
        let mut held = lock(&self.held);
        for lease in held.values_mut().filter(|lease| lease.holder == key) {
            lease.until = Deadline::after(Duration::ZERO);
        }
        held.retain(|_, lease| !lease.is_over());
    }

    fn lease_of(&self, caller: &Caller) -> Lease {
        let until = Deadline::after(self.term);
        Lease { holder: caller.key().to_owned(), name: caller.name.clone(), running: 0, until }
    }

    fn held_by(&self, device: &str, caller: &Caller) -> Held {
        Held {
            held: Arc::clone(&self.held),
            device: device.to_owned(),
            holder: caller.key().to_owned(),
            term: self.term,
        }
    }

    fn leased(&self, device: &str, lease: &Lease) -> Refusal {
        let seconds = match lease.running {
            0 => lease.until.left().as_secs() + 1,
            _ => self.term.as_secs(),
        };
        let message =
            format!("{device} is used by {}, for {seconds} s more unless it acts again", lease.name);
        let hint = match self.may_take_over {
            true => {
                "nothing was done; use another device, wait, or take it with use_device and take_over:true"
            }
            false => "nothing was done; use another device or wait",
        };
        Refusal::with_words(Failure::new(Cause::Leased, message), hint)
    }
}

/// A device that is kept for an action.
pub struct Held {
    held: Arc<Mutex<BTreeMap<String, Lease>>>,
    device: String,
    holder: String,
    term: Duration,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = lock(&self.held);
        let Some(lease) = held.get_mut(&self.device).filter(|lease| lease.holder == self.holder) else {
            return;
        };
        lease.running = lease.running.saturating_sub(1);
        lease.until = Deadline::after(self.term);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> (Caller, Caller) {
        (Caller::new("1", "one"), Caller::new("2", "two"))
    }

    fn refused<T>(outcome: Result<T, Refusal>) -> String {
        outcome.err().map(|refusal| refusal.failure.message).unwrap_or_default()
    }

    #[tokio::test(start_paused = true)]
    async fn a_device_belongs_to_who_acted_last_until_the_term_is_over() {
        let (leases, (one, two)) = (Leases::default(), two());
        let acting = leases.take("a", &one).unwrap();
        assert!(refused(leases.take("a", &two)).contains("\"one\""));
        assert!(leases.take("b", &two).is_ok(), "another device is free");
        tokio::time::advance(TERM_DEFAULT * 2).await;
        assert!(leases.take("a", &two).is_err(), "an action that runs keeps it");
        drop(acting);
        tokio::time::advance(TERM_DEFAULT - Duration::from_secs(1)).await;
        assert!(leases.take("a", &two).is_err());
        assert_eq!(leases.other_holder("a", &two).as_deref(), Some("\"one\""));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(leases.take("a", &two).is_ok());
        assert!(leases.take("a", &one).is_err(), "it is the other's now");
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_taken_over_only_between_two_actions() {
        let (leases, (one, two)) = (Leases::default(), two());
        let acting = leases.take("a", &one).unwrap();
        assert!(refused(leases.take_over("a", &two)).contains("middle of an action"));
        drop(acting);
        leases.take_over("a", &two).unwrap();
        assert!(leases.take("a", &one).is_err());
        leases.take_over("a", &two).unwrap();
        let kept = Leases::new(TERM_DEFAULT, false);
        drop(kept.take("a", &one).unwrap());
        assert!(kept.take_over("a", &two).is_err(), "unless that is forbidden");
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_that_is_gone_leaves_nothing_behind() {
        let (leases, (one, two)) = (Leases::default(), two());
        drop(leases.take("a", &one).unwrap());
        let acting = leases.take("b", &one).unwrap();
        leases.release(one.key());
        assert!(leases.take("a", &two).is_ok());
        assert!(leases.take("b", &two).is_err(), "its action has not ended");
        drop(acting);
        tokio::time::advance(TERM_DEFAULT).await;
        assert!(leases.take("b", &two).is_ok());
    }
}
