//! The RSA public key in the form that adbd stores: little-endian words with Montgomery constants, in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{WireError, u32_at, wire_error};

/// AUTH arg0: a random token for the host to sign.
pub const TOKEN: u32 = 1;
/// AUTH arg0: the host's signature of that token.
pub const SIGNATURE: u32 = 2;
/// AUTH arg0: the host's public key, which a person must accept on the screen.
pub const PUBLIC_KEY: u32 = 3;

pub const TOKEN_BYTES: usize = 20;
pub const MODULUS_BYTES: usize = 256;
const MODULUS_WORDS: usize = MODULUS_BYTES / 4;
/// Size of the key structure: word count, n0inv, modulus, r squared, exponent.
const STRUCT_BYTES: usize = 4 + 4 + MODULUS_BYTES + MODULUS_BYTES + 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    /// The modulus, big-endian.
    pub modulus: [u8; MODULUS_BYTES],
    pub exponent: u32,
}

impl PublicKey {
    /// Encodes the key as `BASE64 name\0`, the payload of AUTH(PUBLIC_KEY).
    pub fn encode(&self, name: &str) -> Vec<u8> {
        let modulus = to_words(&self.modulus);
        let mut bytes = Vec::with_capacity(STRUCT_BYTES);
        bytes.extend((MODULUS_WORDS as u32).to_le_bytes());
        bytes.extend(negative_inverse(modulus[0]).to_le_bytes());
        bytes.extend(modulus.iter().flat_map(|w| w.to_le_bytes()));
        bytes.extend(r_squared(&modulus).iter().flat_map(|w| w.to_le_bytes()));
        bytes.extend(self.exponent.to_le_bytes());
        format!("{} {name}\0", STANDARD.encode(bytes)).into_bytes()
    }

    pub fn decode(payload: &[u8]) -> Result<PublicKey, WireError> {
        let text = String::from_utf8_lossy(payload);
        let encoded = text.split([' ', '\0', '\n']).next().unwrap_or("");
        let bytes = STANDARD.decode(encoded).or_else(|e| wire_error(format!("public key: {e}")))?;
        if bytes.len() != STRUCT_BYTES || u32_at(&bytes, 0) != MODULUS_WORDS as u32 {
            return wire_error(format!("public key of {} bytes, expected {STRUCT_BYTES}", bytes.len()));
        }
        let mut modulus = [0u8; MODULUS_BYTES];
        for (to, from) in modulus.iter_mut().zip(bytes[8..8 + MODULUS_BYTES].iter().rev()) {
            *to = *from;
        }
        Ok(PublicKey { modulus, exponent: u32_at(&bytes, STRUCT_BYTES - 4) })
    }
}

/// Converts a big-endian number to little-endian words.
fn to_words(modulus: &[u8; MODULUS_BYTES]) -> [u32; MODULUS_WORDS] {
    let mut words = [0u32; MODULUS_WORDS];
    for (word, bytes) in words.iter_mut().zip(modulus.rchunks(4)) {
        *word = bytes.iter().fold(0, |value, byte| (value << 8) | u32::from(*byte));
    }
    words
}

/// Computes -1 / n0 modulo 2^32 by Newton's iteration (n0 is odd in every RSA modulus).
fn negative_inverse(n0: u32) -> u32 {
    let mut inverse = n0;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2u32.wrapping_sub(n0.wrapping_mul(inverse)));
    }
    inverse.wrapping_neg()
}

/// Computes 2^4096 mod n by doubling. It is slow but simple, and runs at most once per connection.
fn r_squared(modulus: &[u32; MODULUS_WORDS]) -> [u32; MODULUS_WORDS] {
    let mut value = [0u32; MODULUS_WORDS];
    value[0] = 1;
    for _ in 0..2 * MODULUS_BYTES * 8 {
        let mut carry = 0;
        for word in &mut value {
            let doubled = (u64::from(*word) << 1) | carry;
            *word = doubled as u32;
            carry = doubled >> 32;
        }
        if carry == 1 || !less_than(&value, modulus) {
            subtract(&mut value, modulus);
        }
    }
    value
}

fn less_than(a: &[u32; MODULUS_WORDS], b: &[u32; MODULUS_WORDS]) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

fn subtract(a: &mut [u32; MODULUS_WORDS], b: &[u32; MODULUS_WORDS]) {
    let mut borrow = 0i64;
    for (x, y) in a.iter_mut().zip(b) {
        let difference = i64::from(*x) - i64::from(*y) + borrow;
        *x = difference as u32;
        borrow = difference >> 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_key_is_encoded_and_decoded() {
        let mut modulus = [0x5a; MODULUS_BYTES];
        modulus[0] = 0xc1;
        modulus[MODULUS_BYTES - 1] = 0x37;
        let key = PublicKey { modulus, exponent: 65537 };
        let encoded = key.encode("me@here");
        assert!(encoded.ends_with(b" me@here\0"));
        assert_eq!(PublicKey::decode(&encoded).unwrap(), key);
    }

    #[test]
    fn montgomery_constants_are_computed() {
        assert_eq!(negative_inverse(0x37).wrapping_mul(0x37), u32::MAX);
        // n = 2^2048 - 1: 2^4096 = (2^2048)^2 = 1 mod n.
        let mut one = [0; MODULUS_WORDS];
        one[0] = 1;
        assert_eq!(r_squared(&[u32::MAX; MODULUS_WORDS]), one);
    }

    #[test]
    fn a_short_key_is_an_error() {
        assert!(PublicKey::decode(b"AAAA x\0").is_err());
        assert!(PublicKey::decode(b"\xff").is_err());
    }
}
