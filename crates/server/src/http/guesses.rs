//! Wrong tokens, by address: who guesses too often is not listened to for a while.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use mdm_engine::Deadline;

/// Wrong tokens of one address within the time below, before it has to wait.
const WRONG_MAX: u32 = 10;
const WINDOW: Duration = Duration::from_secs(60);
/// Addresses that are remembered. The one that guessed first is forgotten for the next.
const ADDRESSES_MAX: usize = 4096;

#[derive(Default)]
pub struct Guesses {
    wrong: Mutex<BTreeMap<IpAddr, Wrong>>,
}

#[derive(Clone, Copy)]
struct Wrong {
    count: u32,
    /// When it may try again, or has guessed so long ago that it does not count.
    over: Deadline,
}

impl Guesses {
    /// How long this address has to wait before it is listened to.
    pub fn wait_of(&self, address: IpAddr) -> Option<Duration> {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        let key = network_of(address);
        let known = *wrong.get(&key)?;
        match Some(known.over.left()).filter(|left| !left.is_zero()) {
            None => {
                wrong.remove(&key);
                None
            }
            Some(left) => (known.count >= WRONG_MAX).then_some(left),
        }
    }

    pub fn note_wrong(&self, address: IpAddr) {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        let key = network_of(address);
        if !wrong.contains_key(&key) && wrong.len() >= ADDRESSES_MAX {
            let first = wrong.iter().min_by_key(|(_, wrong)| wrong.over.left()).map(|(address, _)| *address);
            first.map(|address| wrong.remove(&address));
        }
        let entry = wrong.entry(key).or_insert(Wrong { count: 0, over: Deadline::after(WINDOW) });
        entry.count = entry.count.saturating_add(1);
        // Who goes on guessing goes on waiting.
        if entry.count >= WRONG_MAX {
            entry.over = Deadline::after(WINDOW);
        }
    }
}

/// One customer has a whole /64 of IPv6 addresses.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let mut octets = v6.octets();
            octets[8..].fill(0);
            IpAddr::from(octets)
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_guesses_too_often_waits_and_nobody_else_does() {
        // SE-03
        let guesses = Guesses::default();
        let address = |last: u8| IpAddr::from([10, 0, 0, last]);
        for _ in 0..WRONG_MAX {
            assert_eq!(guesses.wait_of(address(1)), None);
            guesses.note_wrong(address(1));
        }
        assert_eq!(guesses.wait_of(address(1)), Some(WINDOW));
        assert_eq!(guesses.wait_of(address(2)), None);
        tokio::time::advance(WINDOW).await;
        assert_eq!(guesses.wait_of(address(1)), None, "it may try again");
    }

    #[tokio::test(start_paused = true)]
    async fn addresses_of_one_network_count_together_and_memory_is_bounded() {
        let guesses = Guesses::default();
        let of = |host: u16| IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, host]);
        (0..10).for_each(|host| guesses.note_wrong(of(host)));
        assert!(guesses.wait_of(of(99)).is_some());
        for number in 0..10_000_u32 {
            guesses.note_wrong(IpAddr::from(number.to_be_bytes()));
        }
        assert_eq!(guesses.wrong.lock().unwrap().len(), ADDRESSES_MAX);
    }
}
