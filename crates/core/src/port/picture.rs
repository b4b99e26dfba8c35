//! Pictures of a screen, as a device gives them.

use crate::screen::geometry::Size;

/// Eight bits each of red, green, blue and alpha, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    pub size: Size,
    pub rgba: Vec<u8>,
}

/// Raw where the device has it raw, since encoding costs a phone more than sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Picture {
    Raw(Pixels),
    Png(Vec<u8>),
}
