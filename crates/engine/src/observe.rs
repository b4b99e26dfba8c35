//! ScreenReading a device. Reads change nothing, so a lost or premature one is made again; this is the only place that waits.

use std::future::Future;
use std::time::Duration;

use mdm_core::action::failure::{ErrorCode, Failure};

use crate::progress::Progress;

/// Pauses between attempts; their number limits the attempts. Together they outlast a capture of ours that was cut off
/// and still occupies the device.
const PAUSES_MS: [u64; 7] = [20, 100, 250, 500, 1000, 2000, 4000];

/// Repeats `read` while its failure is of the passing kind and time is left.
pub async fn read_again<T, F>(progress: &Progress, doing: &str, read: impl Fn() -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    for pause in PAUSES_MS.map(Duration::from_millis) {
        match progress.race(doing, read()).await {
            Err(failure) if passes(failure.code) && progress.has_time_for(pause) => {
                progress.race(doing, pause_for(pause)).await?;
            }
            done => return done,
        }
    }
    progress.race(doing, read()).await
}

/// A device between two windows, a capture that was killed, a connection that broke: all mend themselves. A screen
/// that never rests does not, and waiting for it has already taken ten seconds.
fn passes(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::NoRootWindow | ErrorCode::UiTreeUnavailable | ErrorCode::ConnectionLost)
}

async fn pause_for(pause: Duration) -> Result<(), Failure> {
    tokio::time::sleep(pause).await;
    Ok(())
}
