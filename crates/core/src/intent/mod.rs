//! What an agent wants of a screen: which element it means, where that can be touched, what must hold, how to get
//! there by scrolling or adjusting.
//!
//! What may not enter: sending anything, words for agents that name tools, a clock. Machines here are fed with captures
//! and times and say what to do next.

pub mod actionable;
pub mod adjust;
pub mod back;
pub mod predicate;
pub mod resolve;
pub mod scope;
pub mod scroll;
pub mod selector;
pub mod target;
pub mod typing;
pub mod watch;
