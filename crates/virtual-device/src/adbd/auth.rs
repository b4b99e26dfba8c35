//! Authentication of hosts by their adb keys.

use mdm_wire::adb::auth::{PublicKey, TOKEN_BYTES};
use rsa::{BigUint, Pkcs1v15Sign, RsaPublicKey};
use sha1::Sha1;

use crate::phone::Phone;

pub fn needed(phone: &Phone) -> bool {
    phone.with(|state| state.trust.is_needed())
}

pub fn new_token(phone: &Phone) -> [u8; TOKEN_BYTES] {
    let mut token = [0; TOKEN_BYTES];
    phone.with(|state| {
        for chunk in token.chunks_mut(8) {
            let random = state.random.number().to_le_bytes();
            chunk.copy_from_slice(&random[..chunk.len()]);
        }
    });
    token
}

/// Returns true if a known key made this signature. adb signs the token itself in place of a SHA-1 digest.
pub fn signature_fits(phone: &Phone, token: &[u8; TOKEN_BYTES], signature: &[u8]) -> bool {
    let known = phone.with(|state| state.trust.known_keys().to_vec());
    known.iter().any(|key| verifies(key, token, signature))
}

fn verifies(key: &PublicKey, token: &[u8], signature: &[u8]) -> bool {
    let modulus = BigUint::from_bytes_be(&key.modulus);
    let Ok(key) = RsaPublicKey::new(modulus, BigUint::from(key.exponent)) else { return false };
    key.verify(Pkcs1v15Sign::new::<Sha1>(), token, signature).is_ok()
}

/// Shows a new key to the person at the phone; returns true when it is accepted.
pub fn offer(phone: &Phone, payload: &[u8]) -> bool {
    let Ok(key) = PublicKey::decode(payload) else { return false };
    phone.with(|state| state.trust.offer(key))
}
