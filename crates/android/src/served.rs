//! Which way a call took when it was not the usual one: noted while it runs, for its answer.

use std::cell::RefCell;

/// Things that are told of one call.
const WORDS_MAX: usize = 4;

/// What is noted of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Served {
    /// The shell served it although a helper on the device was wanted.
    pub by_shell: bool,
    /// Why, where that was not told before.
    pub words: Vec<String>,
}

tokio::task_local! {
    static SERVED: RefCell<Served>;
}

/// Runs `work` and returns what was noted. Tasks that it starts are not heard.
pub async fn noting<T>(work: impl Future<Output = T>) -> (T, Served) {
    let noted = async {
        let done = work.await;
        (done, SERVED.with(RefCell::take))
    };
    SERVED.scope(RefCell::default(), noted).await
}

pub(crate) fn note_shell() {
    let _ = SERVED.try_with(|served| served.borrow_mut().by_shell = true);
}

/// Notes why; false if nobody wants to know.
pub(crate) fn tell(words: String) -> bool {
    let noted = SERVED.try_with(|served| {
        let words_so_far = &mut served.borrow_mut().words;
        if words_so_far.len() < WORDS_MAX {
            words_so_far.push(words);
        }
    });
    noted.is_ok()
}
