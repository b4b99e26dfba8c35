//! Which programs served a call: noted while it runs, for its answer.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::route::Way;

tokio::task_local! {
    static SERVED: RefCell<BTreeSet<Way>>;
}

/// Runs `work` and returns the ways that it took, in the order of [`Way`]. Tasks that it starts are not heard.
pub async fn noting<T>(work: impl Future<Output = T>) -> (T, Vec<Way>) {
    let noted = async {
        let done = work.await;
        (done, SERVED.with(|served| served.take().into_iter().collect()))
    };
    SERVED.scope(RefCell::default(), noted).await
}

/// Notes that a way is taken, if anybody wants to know.
pub(crate) fn note(way: Way) {
    let _ = SERVED.try_with(|served| served.borrow_mut().insert(way));
}
