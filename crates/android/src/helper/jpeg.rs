//! The size that a JPEG says it has.

use mdm_core::screen::geometry::Size;

const MARKER: u8 = 0xff;
const START: [u8; 2] = [MARKER, 0xd8];
/// Segments before the one with the size; a device that sends more is not believed.
const SEGMENTS_MAX: usize = 64;

/// Returns the size of a JPEG, or nothing if these bytes are none.
pub fn size(jpeg: &[u8]) -> Option<Size> {
    let mut rest = jpeg.strip_prefix(&START)?;
    for _ in 0..SEGMENTS_MAX {
        let [MARKER, kind, high, low, ..] = *rest else { return None };
        let length = usize::from(u16::from_be_bytes([high, low]));
        let segment = rest.get(4..2 + length)?;
        if is_frame(kind) {
            let [_, height_high, height_low, width_high, width_low, ..] = *segment else { return None };
            let side = |high, low| u32::from(u16::from_be_bytes([high, low]));
            let size = Size { width: side(width_high, width_low), height: side(height_high, height_low) };
            return Some(size).filter(|size| size.width > 0 && size.height > 0);
        }
        rest = rest.get(2 + length..)?;
    }
    None
}

/// True for the segments that begin a frame: 0xc0 to 0xcf, but for those that hold tables.
fn is_frame(kind: u8) -> bool {
    matches!(kind, 0xc0..=0xcf) && !matches!(kind, 0xc4 | 0xc8 | 0xcc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_stands_in_the_frame() {
        let mut jpeg = vec![0xff, 0xd8, 0xff, 0xe0, 0, 4, 7, 7, 0xff, 0xc4, 0, 3, 9];
        jpeg.extend([0xff, 0xc0, 0, 8, 8, 4, 0, 1, 0xcd, 3]);
        assert_eq!(size(&jpeg), Some(Size { width: 461, height: 1024 }));
        for end in 0..jpeg.len() {
            assert_eq!(size(&jpeg[..end]), None, "{end} bytes of it");
        }
    }

    #[test]
    fn what_is_no_jpeg_has_no_size() {
        assert_eq!(size(b"\x89PNG"), None);
        assert_eq!(size(&[0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff]), None, "a segment shorter than its length");
        let endless = [&START[..], &[0xff, 0xe0, 0, 2].repeat(SEGMENTS_MAX + 1)].concat();
        assert_eq!(size(&endless), None);
        assert_eq!(size(&[0xff, 0xd8, 0xff, 0xc0, 0, 8, 8, 0, 0, 0, 5, 3]), None, "no height");
    }
}
