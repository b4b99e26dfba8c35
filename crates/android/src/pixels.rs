//! Converts the output of `screencap` to pixels.

use mdm_core::port::Pixels;
use mdm_core::screen::geometry::Size;

/// Limit of a screenshot: ten million pixels, more than a 4K screen has (F62).
pub const PIXELS_BYTES_MAX: usize = 40_000_000;
/// Limit of a screenshot that the device has encoded.
pub const PNG_BYTES_MAX: usize = 16_000_000;
const RGBA_8888: u32 = 1;

/// Parses raw `screencap` output: width, height, format, on newer devices the colour space, then the pixels.
pub fn from_raw(mut raw: Vec<u8>) -> Result<Pixels, String> {
    let word = |at: usize| raw.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let (Some(width), Some(height), Some(format)) = (word(0), word(4), word(8)) else {
        return Err(format!("screencap gave {} bytes", raw.len()));
    };
    if format != RGBA_8888 {
        return Err(format!("screencap gave pixel format {format}"));
    }
    if width == 0 || height == 0 {
        return Err(format!("screencap gave a picture of {width}x{height}"));
    }
    let pixels = (u64::from(width) * u64::from(height)).saturating_mul(4);
    let header = match (raw.len() as u64).checked_sub(pixels) {
        Some(extra @ (12 | 16)) => extra as usize,
        _ => return Err(format!("screencap gave {} bytes for {width}x{height}", raw.len())),
    };
    raw.drain(..header);
    Ok(Pixels { size: Size { width, height }, rgba: raw })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(width: u32, height: u32, format: u32, tail: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = [width, height, format].iter().flat_map(|w| w.to_le_bytes()).collect();
        bytes.extend(std::iter::repeat_n(7, tail));
        bytes
    }

    #[test]
    fn both_header_lengths_are_parsed() {
        for extra in [0, 4] {
            let pixels = from_raw(raw(2, 1, 1, 8 + extra)).unwrap();
            assert_eq!((pixels.size, pixels.rgba.len()), (Size { width: 2, height: 1 }, 8));
        }
    }

    #[test]
    fn truncated_pixels_and_other_formats_are_errors() {
        assert!(from_raw(raw(2, 2, 1, 3)).is_err());
        assert!(from_raw(raw(u32::MAX, u32::MAX, 1, 3)).is_err(), "SE-07");
        assert!(from_raw(raw(1, 1, 5, 4)).is_err());
        assert!(from_raw(vec![1, 2]).is_err());
        for (width, height) in [(0, 0), (0, 5), (5, 0)] {
            assert!(from_raw(raw(width, height, 1, 0)).is_err(), "F71: {width}x{height}");
        }
    }
}
