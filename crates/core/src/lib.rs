//! Pure model and policy: what a screen is, what it means, and the port through which a device is driven.
//!
//! Architecture invariant: no tokio, no serde, no I/O and no clock. Time arrives as data; JSON shapes belong to the
//! server. The rooms below are listed in order: a room may import from the rooms above it, never from those below.

pub mod text;

pub mod screen;

pub mod port;

pub mod failure;

pub mod meaning;

pub mod identity;

pub mod change;

pub mod intent;

pub mod outline;

pub mod action;

pub mod evidence;
