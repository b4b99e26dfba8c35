//! Everything that a device tells of one moment, each part by itself (OB-02).

use std::sync::Arc;

use mdm_core::change::tracker::Observation;
use mdm_core::failure::Failure;
use mdm_core::port::{LogRead, Picture};
use mdm_core::screen::snapshot::Screen;

use crate::progress::Progress;
use crate::session::Session;

/// The parts, read at the same time in one turn. One that fails loses no other.
#[derive(Debug)]
pub struct DebugParts {
    pub seen: Result<Arc<Observation>, Failure>,
    /// The screen after the picture was taken; `None` when it was not asked for.
    pub seen_after: Option<Result<Arc<Observation>, Failure>>,
    pub screen: Result<Screen, Failure>,
    /// `None` when it was not asked for.
    pub log: Option<Result<LogRead, Failure>>,
    pub crashes: Result<(), Failure>,
    /// When reading began and ended.
    pub began_ms: u64,
    pub ended_ms: u64,
}

impl Session {
    /// Reads the parts, and a picture. `reads_again` is asked when the picture was taken.
    pub async fn debug_parts(
        &self,
        app: Option<&str>,
        with_log: bool,
        reads_again: impl FnOnce() -> bool,
        progress: &Progress,
    ) -> Result<(DebugParts, Result<Picture, Failure>), Failure> {
        let _turn = self.turn(progress).await?;
        let began_ms = self.now_ms();
        let log = async {
            match with_log {
                true => Some(self.logs_now(app, progress).await),
                false => None,
            }
        };
        let (seen, picture, screen, log, crashes) = tokio::join!(
            self.capture_now(progress),
            self.screenshot_now(progress),
            self.screen_now(progress),
            log,
            self.note_crashes(progress),
        );
        let seen_after = match reads_again() {
            true => Some(self.capture_now(progress).await),
            false => None,
        };
        let ended_ms = self.now_ms();
        Ok((DebugParts { seen, seen_after, screen, log, crashes, began_ms, ended_ms }, picture))
    }
}
