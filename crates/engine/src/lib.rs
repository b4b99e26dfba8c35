//! Sessions over devices: which device a call means, whose turn it is, how long it may take, what it saw.
//!
//! Architecture invariant: calls on one device never interleave, calls on different devices never wait for each
//! other, and every call ends by its deadline. Only `observe` and `watch` may sleep.

mod act;
mod adjust;
mod choose;
mod clock;
mod fleet;
mod metrics;
mod observe;
mod progress;
mod scroll;
mod session;
mod watch;

pub use act::{Acted, Action, After, Aim, Deed, Follow, Hit, ReadBack, Typed, Typing, Verdict};
pub use adjust::{Adjusted, Adjustment, ControlValue, End, Mode};
pub use choose::Wanted;
pub use clock::Clock;
pub use fleet::Fleet;
pub use metrics::Counts;
pub use progress::Progress;
pub use scroll::{InSight, ScrollTo, Scrolled};
pub use session::{Memory, Session, stale};
pub use watch::{Ending, Goal, Moving, Patience, Settled, Wait, Waited};
