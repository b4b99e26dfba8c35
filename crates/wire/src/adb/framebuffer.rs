//! The header that the `framebuffer:` service sends before raw pixels.

use super::{WireError, u32_at, wire_error};

/// The header after its version word. Version 2 has one more word, the colour space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub bits_per_pixel: u32,
    pub size_bytes: u32,
    pub width: u32,
    pub height: u32,
    /// (offset, length) in bits of red, blue, green, alpha: the order in which adbd sends them.
    pub red: (u32, u32),
    pub blue: (u32, u32),
    pub green: (u32, u32),
    pub alpha: (u32, u32),
}

/// Returns the length of the header after its version word, in bytes.
pub fn rest_bytes(version: u32) -> Result<usize, WireError> {
    match version {
        1 => Ok(12 * 4),
        2 => Ok(13 * 4),
        other => wire_error(format!("framebuffer version {other} is not known")),
    }
}

impl Header {
    pub fn rgba8888(width: u32, height: u32) -> Header {
        Header {
            bits_per_pixel: 32,
            size_bytes: width * height * 4,
            width,
            height,
            red: (0, 8),
            blue: (16, 8),
            green: (8, 8),
            alpha: (24, 8),
        }
    }

    /// Decodes the bytes after the version word; `rest` must be `rest_bytes(version)` long.
    pub fn decode(version: u32, rest: &[u8]) -> Result<Header, WireError> {
        if rest.len() != rest_bytes(version)? {
            return wire_error("framebuffer header is cut short");
        }
        let first = if version == 2 { 4 } else { 0 };
        // The first word is the depth; size, width, height follow, then four (offset, length) pairs.
        let word = |index: usize| if index == 0 { u32_at(rest, 0) } else { u32_at(rest, first + index * 4) };
        let header = Header {
            bits_per_pixel: word(0),
            size_bytes: word(1),
            width: word(2),
            height: word(3),
            red: (word(4), word(5)),
            blue: (word(6), word(7)),
            green: (word(8), word(9)),
            alpha: (word(10), word(11)),
        };
        let pixels = u64::from(header.width) * u64::from(header.height);
        if pixels.saturating_mul(u64::from(header.bits_per_pixel / 8)) > u64::from(header.size_bytes) {
            return wire_error("framebuffer size does not hold its pixels");
        }
        Ok(header)
    }

    pub fn encode_v2(&self) -> Vec<u8> {
        let pairs = [self.red, self.blue, self.green, self.alpha];
        // The colour space is 1, sRGB, as on phones; one client in use reads any other value as the size.
        let mut words = vec![2, self.bits_per_pixel, 1, self.size_bytes, self.width, self.height];
        words.extend(pairs.iter().flat_map(|(offset, length)| [*offset, *length]));
        words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_2_header_is_encoded_and_decoded() {
        let header = Header::rgba8888(1080, 2400);
        let bytes = header.encode_v2();
        assert_eq!(bytes.len(), 4 + rest_bytes(2).unwrap());
        assert_eq!(Header::decode(2, &bytes[4..]).unwrap(), header);
    }

    #[test]
    fn a_header_with_more_pixels_than_bytes_is_an_error() {
        let mut bytes = Header::rgba8888(10, 10).encode_v2();
        bytes[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(Header::decode(2, &bytes[4..]).is_err(), "SE-07");
        assert!(rest_bytes(9).is_err());
        bytes[4..].fill(0xff);
        assert!(Header::decode(2, &bytes[4..]).is_err(), "SE-07: the product does not overflow");
    }
}
