//! What goes wrong on purpose: the kinds of faults, how often they happen, and what they do. All of it follows from the
//! phone's seed.

mod apply;
mod injector;
mod kinds;

pub(crate) use injector::{DueFault, FaultInjector, Outage, TapOutcome, TransportFault};
pub use kinds::{Fault, Faults};
