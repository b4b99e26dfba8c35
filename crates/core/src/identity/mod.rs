//! Which element of one capture is the same element in the next, and the ids that name elements over a session.
//!
//! What may not enter: changes and their kinds (see `change`), what an agent wants, time. Two captures go in, pairs of
//! indexes come out.

mod element_id;
mod names;
mod pairing;
mod returned;
mod rows;

pub use element_id::{ElementId, InvalidElementId};
pub use pairing::{NONE, Pairing, is_dialog, is_replaced, pair, pair_swiped, title};
pub use returned::is_same_screen;
