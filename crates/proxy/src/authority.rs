//! A certificate authority of the user's own: made once, kept in a folder, trusted only where the user installs it.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

const KEY_FILE: &str = "proxy-ca.key";
const CERTIFICATE_FILE: &str = "proxy-ca.pem";
const NAME: &str = "mobile-debug-mcp proxy CA";
/// A key or certificate of ours is far smaller.
const FILE_BYTES_MAX: u64 = 16 * 1024;
/// Hosts whose certificates are kept; all are made again after that.
const HOSTS_MAX: usize = 256;
const CA_YEARS: u64 = 10;
/// Clients refuse certificates of servers that are valid for longer than 398 days.
const HOST_DAYS: u64 = 390;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// Why the authority cannot be used.
#[derive(Debug)]
pub struct AuthorityError(pub String);

impl std::fmt::Display for AuthorityError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<rcgen::Error> for AuthorityError {
    fn from(error: rcgen::Error) -> AuthorityError {
        AuthorityError(error.to_string())
    }
}

pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate_file: PathBuf,
    certificate_pem: String,
    /// One key for the certificates of all hosts: they live as long as this process.
    host_key: KeyPair,
    hosts: Mutex<HashMap<String, Arc<ServerConfig>>>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").field("certificate", &self.certificate_file).finish_non_exhaustive()
    }
}

impl Authority {
    /// The authority of this folder; made if there is none. The key never leaves its file, which only its owner can read.
    pub fn open(folder: &Path, now_ms: u64) -> Result<Authority, AuthorityError> {
        let (key_file, certificate_file) = (folder.join(KEY_FILE), folder.join(CERTIFICATE_FILE));
        let about = |file: &Path| {
            let file = file.display().to_string();
            move |error: io::Error| AuthorityError(format!("{file}: {error}"))
        };
        let kept = (
            read(&key_file).map_err(about(&key_file))?,
            read(&certificate_file).map_err(about(&certificate_file))?,
        );
        let (key, certificate_pem) = match kept {
            (Some(key), Some(certificate)) => {
                check_mode(&key_file)?;
                let key = KeyPair::from_pem(&key)
                    .map_err(|error| AuthorityError(format!("{}: {error}", key_file.display())))?;
                (key, certificate)
            }
            _ => {
                let key = KeyPair::generate()?;
                let certificate = params(now_ms).self_signed(&key)?.pem();
                std::fs::create_dir_all(folder).map_err(about(folder))?;
                write(&key_file, &key.serialize_pem(), 0o600).map_err(about(&key_file))?;
                write(&certificate_file, &certificate, 0o644).map_err(about(&certificate_file))?;
                (key, certificate)
            }
        };
        Ok(Authority {
            issuer: Issuer::new(params(now_ms), key),
            certificate_file,
            certificate_pem,
            host_key: KeyPair::generate()?,
            hosts: Mutex::default(),
        })
    }

    /// The file that the user installs.
    pub fn certificate_file(&self) -> &Path {
        &self.certificate_file
    }

    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// What a server of this name shows, HTTP/2 and HTTP/1.1 offered.
    pub(crate) fn config(&self, host: &str, now_ms: u64) -> Result<Arc<ServerConfig>, AuthorityError> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = hosts.get(host) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.make_config(host, now_ms)?);
        if hosts.len() >= HOSTS_MAX {
            hosts.clear();
        }
        hosts.insert(host.to_owned(), Arc::clone(&config));
        Ok(config)
    }

    fn make_config(&self, host: &str, now_ms: u64) -> Result<ServerConfig, AuthorityError> {
        let mut params = CertificateParams::new(vec![host.to_owned()])?;
        // The common name has room for 64 characters, and clients look at the other names.
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, host.chars().take(60).collect::<String>());
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        set_validity(&mut params, now_ms, HOST_DAYS);
        let certificate = params.signed_by(&self.host_key, &self.issuer)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.host_key.serialize_der()));
        let unusable = |error: rustls::Error| AuthorityError(error.to_string());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .map_err(unusable)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }
}

/// The same for the certificate in the file and for the issuer of hosts: only the dates differ, and those are not used
/// when a host's certificate is signed.
fn params(now_ms: u64) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, NAME);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    set_validity(&mut params, now_ms, CA_YEARS * 365);
    params
}

/// From two days before, for clients whose clocks are late.
fn set_validity(params: &mut CertificateParams, now_ms: u64, days: u64) {
    params.not_before = moment(now_ms.saturating_sub(2 * DAY_MS));
    params.not_after = moment(now_ms + days * DAY_MS);
}

/// A time that no calendar has is that of 1970: such a certificate is refused, and nothing else happens.
fn moment(at_ms: u64) -> time::OffsetDateTime {
    let seconds = i64::try_from(at_ms / 1000).unwrap_or_default();
    time::OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(time::OffsetDateTime::UNIX_EPOCH)
}

fn read(file: &Path) -> io::Result<Option<String>> {
    match std::fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(found) if found.len() > FILE_BYTES_MAX => Err(io::Error::other("it is too large to be ours")),
        Ok(_) => std::fs::read_to_string(file).map(Some),
    }
}

/// Refuses a key that others can read: whoever has it can read what the phone sends.
fn check_mode(file: &Path) -> Result<(), AuthorityError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let found = std::fs::metadata(file)
            .map_err(|error| AuthorityError(format!("{}: {error}", file.display())))?;
        if found.permissions().mode() & 0o077 != 0 {
            let file = file.display();
            return Err(AuthorityError(format!(
                "others can read {file}; run: chmod 600 {file}, or delete it"
            )));
        }
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// Writes a file in one step, readable from the first moment only for those it is meant for.
fn write(file: &Path, text: &str, mode: u32) -> io::Result<()> {
    let temporary = file.with_extension(format!("new-{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(mode);
    }
    #[cfg(not(unix))]
    let _ = mode;
    let mut out = options.open(&temporary)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    std::fs::rename(&temporary, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: u64 = 1_794_000_000_000;

    #[test]
    fn a_moment_is_in_utc_and_never_panics() {
        assert_eq!(moment(951_782_400_000).to_calendar_date(), (2000, time::Month::February, 29));
        assert_eq!(moment(u64::MAX).unix_timestamp(), 0, "SE-07");
    }

    #[test]
    fn it_is_made_once_and_its_key_is_its_owners() {
        let folder = std::env::temp_dir().join(format!("authority-{}", std::process::id()));
        let first = Authority::open(&folder, NOW_MS).unwrap();
        let again = Authority::open(&folder, NOW_MS + 1).unwrap();
        assert_eq!(first.certificate_pem(), again.certificate_pem());
        assert_eq!(first.certificate_pem(), std::fs::read_to_string(first.certificate_file()).unwrap());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let key = folder.join(KEY_FILE);
            assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600, "SE-06");
            std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
            assert!(Authority::open(&folder, NOW_MS).is_err_and(|why| why.0.contains("chmod 600")));
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn hosts_of_any_length_and_addresses_get_certificates() {
        let folder = std::env::temp_dir().join(format!("authority-hosts-{}", std::process::id()));
        let authority = Authority::open(&folder, NOW_MS).unwrap();
        for host in ["example.com", "127.0.0.1", "::1", &format!("{}.example", "a".repeat(63))] {
            assert!(authority.config(host, NOW_MS).is_ok(), "{host}");
        }
        for number in 0..HOSTS_MAX {
            authority.config(&format!("h{number}.example"), NOW_MS).unwrap();
        }
        assert!(authority.hosts.lock().unwrap().len() <= HOSTS_MAX);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
