//! The user's adb key, `~/.android/adbkey`: adb's own file, so that a phone which trusts adb trusts us.

use std::path::{Path, PathBuf};

use mdm_wire::adb::auth::{MODULUS_BYTES, PublicKey, TOKEN_BYTES};
use rsa::pkcs8::{DecodePrivateKey, EncodePrivateKey, LineEnding};
use rsa::traits::PublicKeyParts;
use rsa::{Pkcs1v15Sign, RsaPrivateKey};
use sha1::Sha1;

use super::error::AdbError;

const KEY_BITS: usize = MODULUS_BYTES * 8;

#[derive(Debug, Clone)]
pub struct HostKey {
    path: PathBuf,
}

impl HostKey {
    pub fn at(path: impl Into<PathBuf>) -> HostKey {
        HostKey { path: path.into() }
    }

    /// Returns the key at adb's own path.
    pub fn of_user(home: &Path) -> HostKey {
        HostKey::at(home.join(".android").join("adbkey"))
    }

    /// Signs a device's token; `None` if there is no usable key yet. On a blocking thread: it takes milliseconds, and a
    /// device may ask for it again and again.
    pub async fn sign(&self, token: &[u8]) -> Option<Vec<u8>> {
        // Only tokens are signed: otherwise a device could get signatures for any data.
        if token.len() != TOKEN_BYTES {
            return None;
        }
        let (host_key, token) = (self.clone(), token.to_vec());
        let signed = tokio::task::spawn_blocking(move || {
            let key = host_key.read().ok()?;
            // Signed with blinding, because the device chooses the message and can measure the time.
            key.sign_with_rng(&mut rsa::rand_core::OsRng, Pkcs1v15Sign::new::<Sha1>(), &token).ok()
        });
        signed.await.ok().flatten()
    }

    /// Returns the public key, to be accepted on the phone's screen. Creates a key if the user has none, as adb does.
    pub async fn public(&self) -> Result<Vec<u8>, AdbError> {
        let host_key = self.clone();
        let found = tokio::task::spawn_blocking(move || match host_key.read() {
            Err(_) if !host_key.path.exists() => generate(&host_key.path),
            found => found,
        });
        let key = found.await.map_err(|e| AdbError::Local(e.to_string()))??;
        let mut modulus = [0u8; MODULUS_BYTES];
        let bytes = key.n().to_bytes_be();
        let Some(start) = MODULUS_BYTES.checked_sub(bytes.len()) else {
            return Err(AdbError::Local(format!("{} is not a {KEY_BITS}-bit key", self.path.display())));
        };
        modulus[start..].copy_from_slice(&bytes);
        let exponent = key.e().to_bytes_le().iter().take(4).rev().fold(0, |e, b| (e << 8) | u32::from(*b));
        Ok(PublicKey { modulus, exponent }.encode("mobile-debug-mcp"))
    }

    fn read(&self) -> Result<RsaPrivateKey, AdbError> {
        let unusable = |e: String| AdbError::Local(format!("adb key {}: {e}", self.path.display()));
        let pem = std::fs::read_to_string(&self.path).map_err(|e| unusable(e.to_string()))?;
        RsaPrivateKey::from_pkcs8_pem(&pem).map_err(|e| unusable(e.to_string()))
    }
}

fn generate(path: &Path) -> Result<RsaPrivateKey, AdbError> {
    use std::io::Write as _;
    let local = |e: String| AdbError::Local(format!("cannot make an adb key at {}: {e}", path.display()));
    let key = RsaPrivateKey::new(&mut rsa::rand_core::OsRng, KEY_BITS).map_err(|e| local(e.to_string()))?;
    let pem = key.to_pkcs8_pem(LineEnding::LF).map_err(|e| local(e.to_string()))?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| local(e.to_string()))?;
    }
    let mut options = std::fs::OpenOptions::new();
    // Never overwrites a key that was created meanwhile: the user's phones may trust it.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(|e| local(e.to_string()))?;
    file.write_all(pem.as_bytes()).map_err(|e| local(e.to_string()))?;
    Ok(key)
}
