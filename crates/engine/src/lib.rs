//! Sessions over devices: which device a call means, whose turn it is, how long it may take, what it did and saw.
//!
//! Architecture invariant: actions on one device never interleave (waits take a turn for each look), calls on different
//! devices never wait for each other, and every call ends by its deadline. Only `clock` sleeps, only `poll` waits for a screen.

mod background;
mod choose;
mod clock;
mod crash_watch;
mod debug_parts;
mod events;
mod fleet;
mod log_streams;
mod metrics;
mod poll;
mod progress;
mod read;
mod run;
mod session;

pub use choose::{Binding, WantedDevice};
pub use clock::{Clock, Deadline, pause};
pub use debug_parts::DebugParts;
pub use events::{Bus, Listener, Stamped};
pub use fleet::{Admits, DeviceList, Fleet, Sessions, UntoldCrash};
pub use log_streams::{LogStreams, STREAMS_MAX, StreamState};
pub use metrics::Counts;
pub use progress::Progress;
pub use session::{FramedPicture, Memory, Session, Taken};
