//! The simulation: random apps, timings and faults, a random agent, and oracles that judge the product by the phone's
//! truth.
//!
//! Architecture invariant: everything is a function of the seed, and no oracle asks the product what was true.

pub mod agent;
pub mod claim;
pub mod compare;
pub mod datum;
pub mod handed;
pub mod judge;
pub mod plan;
pub mod run;
pub mod world;
