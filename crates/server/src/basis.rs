//! What an answer was made from. The text of an answer says none of it; `--compat` shows it in the predecessor's form.

use std::sync::Arc;

use mdm_core::action::outcome::Outcome;
use mdm_core::change::tracker::Observation;
use mdm_core::evidence::exchange::Exchange;
use mdm_core::failure::Failure;
use mdm_core::intent::resolve::Search;
use mdm_core::intent::watch::WatchReport;
use mdm_core::port::LogEntry;
use mdm_core::screen::geometry::Size;
use mdm_engine::{DebugParts, Session};

#[derive(Default)]
pub struct Basis {
    /// The device that the call went to.
    pub session: Option<Arc<Session>>,
    pub made_from: MadeFrom,
}

impl std::fmt::Debug for Basis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let device = self.session.as_ref().map(|session| session.id());
        f.debug_struct("Basis").field("device", &device).field("made_from", &self.made_from).finish()
    }
}

#[derive(Debug, Default)]
pub enum MadeFrom {
    #[default]
    Nothing,
    /// The call was refused before anything was done.
    Refusal(Failure),
    Screen(Arc<Observation>),
    Search(Box<Search>, Arc<Observation>),
    Wait(Box<WatchReport>),
    Action(Box<Outcome>),
    /// The lines that are shown, and the app's processes.
    Log(Vec<LogEntry>, Vec<u32>),
    Requests(Vec<Exchange>),
    Moment(Box<Moment>),
    Picture(Size),
}

/// Everything of a debug snapshot.
#[derive(Debug)]
pub struct Moment {
    pub parts: DebugParts,
    pub picture_failure: Option<Failure>,
    pub entries: Vec<LogEntry>,
}
