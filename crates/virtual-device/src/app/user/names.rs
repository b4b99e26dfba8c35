//! Names from files that live as long as the process.
//!
//! Names of packages, activities and widgets are `&'static str` everywhere. Those of files are kept in one pool, so
//! that the same file loaded for hundreds of phones costs its names once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The size of all names that one process may load.
const POOL_BYTES_MAX: usize = 8 * 1024 * 1024;

struct Pool {
    names: BTreeSet<&'static str>,
    bytes: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { names: BTreeSet::new(), bytes: 0 });

/// Returns the kept name, or nothing when the pool is full.
pub fn keep(name: &str) -> Option<&'static str> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = pool.names.get(name) {
        return Some(known);
    }
    if pool.bytes + name.len() > POOL_BYTES_MAX {
        return None;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    pool.bytes += kept.len();
    pool.names.insert(kept);
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once() {
        let first = keep("a name that only this test keeps").unwrap_or("");
        let again = keep(&["a name that only", " this test keeps"].concat()).unwrap_or("other");
        assert!(std::ptr::eq(first, again));
    }
}
