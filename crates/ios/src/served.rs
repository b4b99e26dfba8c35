//! Which programs served a call, and what was done for it on the way: noted while it runs, for its answer.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::route::Way;

/// Things that are told of one call.
const WORDS_MAX: usize = 8;

/// What is noted of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Served {
    pub ways: BTreeSet<Way>,
    /// What was started for it.
    pub words: Vec<String>,
}

tokio::task_local! {
    static SERVED: RefCell<Served>;
}

/// Runs `work` and returns what was noted, the ways in the order of [`Way`]. Tasks that it starts are not heard.
pub async fn noting<T>(work: impl Future<Output = T>) -> (T, Served) {
    let noted = async {
        let done = work.await;
        (done, SERVED.with(RefCell::take))
    };
    SERVED.scope(RefCell::default(), noted).await
}

/// Notes that a way is taken, if anybody wants to know.
pub(crate) fn note(way: Way) {
    let _ = SERVED.try_with(|served| served.borrow_mut().ways.insert(way));
}

/// Notes what was done for the call; false if nobody wants to know.
pub(crate) fn tell(words: String) -> bool {
    let noted = SERVED.try_with(|served| {
        let words_so_far = &mut served.borrow_mut().words;
        if words_so_far.len() < WORDS_MAX {
            words_so_far.push(words);
        }
    });
    noted.is_ok()
}
