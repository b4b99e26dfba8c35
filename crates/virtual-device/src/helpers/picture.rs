//! Screenshots in the formats that helpers send.

use bytes::Bytes;

use crate::draw;
use crate::phone::Phone;
use crate::shell::commands::pixels;

pub fn png(phone: &Phone) -> Bytes {
    draw::encode(&pixels(phone))
}

/// Encodes a JPEG; returns nothing for a screen that is too large for the format.
pub fn jpeg(phone: &Phone, quality: u8) -> Option<Vec<u8>> {
    let pixels = pixels(phone);
    let (width, height) = (u16::try_from(pixels.width).ok()?, u16::try_from(pixels.height).ok()?);
    let mut out = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut out, quality.clamp(1, 100));
    encoder.encode(&pixels.rgba, width, height, jpeg_encoder::ColorType::Rgba).ok()?;
    Some(out)
}
