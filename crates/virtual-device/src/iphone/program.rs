//! A program beside the phone that can end and be started again: WebDriverAgent's runner, idb's companion.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// All clones are the same program.
#[derive(Debug, Clone, Default)]
pub struct Program {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    has_ended: bool,
    /// Ends the connections of this run.
    run: CancellationToken,
}

impl Program {
    /// Returns what ends a new connection, or refuses it while nothing listens.
    pub fn connect(&self) -> io::Result<CancellationToken> {
        let state = self.state();
        if state.has_ended {
            return Err(io::Error::new(io::ErrorKind::ConnectionRefused, "Connection refused"));
        }
        Ok(state.run.clone())
    }

    /// Breaks all connections. What was sent to the phone before takes its course.
    pub fn end(&self) {
        let mut state = self.state();
        state.has_ended = true;
        state.run.cancel();
    }

    pub fn start(&self) {
        let mut state = self.state();
        if state.has_ended {
            *state = State::default();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
