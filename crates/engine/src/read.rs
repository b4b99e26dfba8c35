//! Reading a device again. Reads change nothing, so a lost or premature one is made again.

use std::time::Duration;

use mdm_core::failure::Failure;
use mdm_core::port::{DeviceErrorKind, PortFuture};

use crate::progress::Progress;

/// Pauses between attempts; their number limits the attempts. Together they outlast a capture of ours that was cut off
/// and still occupies the device.
const PAUSES_MS: [u64; 7] = [20, 100, 250, 500, 1000, 2000, 4000];

/// Repeats `read` while its failure is of the passing kind and time is left.
pub async fn read_again<'a, T>(
    progress: &Progress,
    doing: &str,
    read: impl Fn() -> PortFuture<'a, T>,
) -> Result<T, Failure> {
    for pause in PAUSES_MS.map(Duration::from_millis) {
        match progress.race_device(doing, read()).await {
            Err(failure) if passes(&failure) && progress.has_time_for(pause) => {
                progress.pause(doing, pause).await?;
            }
            done => return done,
        }
    }
    progress.race_device(doing, read()).await
}

/// A device between two windows, a capture that was killed, a connection that broke: all mend themselves. A screen
/// that never rests does not, and waiting for it has already taken ten seconds.
fn passes(failure: &Failure) -> bool {
    [
        DeviceErrorKind::NoWindow,
        DeviceErrorKind::TreeBusy,
        DeviceErrorKind::TreeUnavailable,
        DeviceErrorKind::ConnectionLost,
    ]
    .into_iter()
    .any(|kind| failure.is(kind))
}
