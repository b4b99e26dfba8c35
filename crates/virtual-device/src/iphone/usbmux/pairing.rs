//! Trust between a host and the phone: certificates, records, and TLS with them.

use std::io;
use std::sync::Arc;

use plist::{Dictionary, Value};
use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    DigitallySignedStruct, DistinguishedName as Name, Error, ServerConfig, SignatureScheme,
    SupportedProtocolVersion,
};

use super::plists::dictionary;
use crate::iphone::IPhone;

/// The keys of every virtual iPhone and of the host that it trusts from the start. They protect nothing.
const DEVICE_KEY: &str = include_str!("device_key.pem");
pub const DEVICE_PUBLIC_KEY: &str = include_str!("device_public_key.pem");
const HOST_KEY: &str = include_str!("host_key.pem");
const HOST_ID: &str = "2D1E6C3A-5B7F-4E8D-9A0B-1C2D3E4F5A6B";
const SYSTEM_BUID: &str = "30142955-444094379208051516";
pub const WIFI_ADDRESS: &str = "a4:83:e7:12:34:56";

/// What the phone keeps of a host that it trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trusted {
    /// What the phone shows to this host, which signed it.
    device_certificate: CertificateDer<'static>,
    /// What the host may show: its own certificate, or the root that signed it, which libimobiledevice shows.
    host_certificates: Vec<CertificateDer<'static>>,
}

impl Trusted {
    /// Reads the record of a `Pair` request.
    pub fn of_record(record: &Dictionary) -> Option<(String, Trusted)> {
        let host = record.get("HostID").and_then(Value::as_string)?.to_owned();
        let certificate = |key: &str| {
            let pem = record.get(key).and_then(Value::as_data)?;
            CertificateDer::from_pem_slice(pem).ok()
        };
        let trusted = Trusted {
            device_certificate: certificate("DeviceCertificate")?,
            host_certificates: vec![certificate("HostCertificate")?, certificate("RootCertificate")?],
        };
        Some((host, trusted))
    }

    /// The phone's end of TLS with this host: only its certificate is taken.
    pub fn tls(&self) -> io::Result<Arc<ServerConfig>> {
        self.server(rustls::DEFAULT_VERSIONS).map(Arc::new)
    }

    /// TLS for a connection that goes on without it: nothing of TLS may come after the handshake.
    pub fn tls_for_handshake(&self) -> io::Result<Arc<ServerConfig>> {
        let mut config = self.server(&[&rustls::version::TLS12])?;
        config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
        Ok(Arc::new(config))
    }

    fn server(&self, versions: &[&'static SupportedProtocolVersion]) -> io::Result<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::from_pem_slice(DEVICE_KEY.as_bytes()).map_err(io::Error::other)?;
        let verifier =
            OnlyHost { certificates: self.host_certificates.clone(), provider: Arc::clone(&provider) };
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .map_err(io::Error::other)?
            .with_client_cert_verifier(Arc::new(verifier))
            .with_single_cert(vec![self.device_certificate.clone()], key)
            .map_err(io::Error::other)?;
        Ok(config)
    }
}

/// Makes usbmuxd have a record of the phone, and the phone trust its host, unless a person has to be asked.
pub fn prepare(phone: &IPhone) {
    let faults = phone.config().iphone_faults;
    let is_strange = faults.pairing_refused || faults.pairing_pending_ms > 0;
    if is_strange || phone.device(|device| std::mem::replace(&mut device.prepared, true)) {
        return;
    }
    // The keys are constants: this cannot fail on one machine and work on another.
    let Ok(record) = record(phone) else { return };
    let Some((host, mut trusted)) = Trusted::of_record(&record) else { return };
    if faults.wrong_certificate {
        // As after a restore of the host: the phone remembers another certificate.
        trusted.host_certificates = vec![trusted.device_certificate.clone()];
    }
    let mut bytes = Vec::new();
    if Value::Dictionary(record).to_writer_xml(&mut bytes).is_ok() {
        phone.device(|device| {
            device.trust(&host, trusted);
            device.save_record(&phone.config().udid, bytes);
        });
    }
}

fn record(phone: &IPhone) -> Result<Dictionary, rcgen::Error> {
    let (root_key, device_key) = (KeyPair::from_pem(HOST_KEY)?, KeyPair::from_pem(DEVICE_KEY)?);
    let mut root = CertificateParams::default();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    root.distinguished_name = named("Root");
    let root_certificate = root.self_signed(&root_key)?.pem();
    let leaf = |name: &str| {
        let mut params = CertificateParams::default();
        params.distinguished_name = named(name);
        params
    };
    let issuer = Issuer::from_params(&root, &root_key);
    let host = leaf("Host").signed_by(&root_key, &issuer)?.pem();
    let device = leaf("Device").signed_by(&device_key, &issuer)?.pem();
    let data = |text: &str| Value::Data(text.as_bytes().to_vec());
    let made = dictionary([
        ("DeviceCertificate", data(&device)),
        ("EscrowBag", Value::Data(vec![0; 32])),
        ("HostCertificate", data(&host)),
        ("HostID", HOST_ID.into()),
        ("HostPrivateKey", data(HOST_KEY)),
        ("RootCertificate", data(&root_certificate)),
        ("RootPrivateKey", data(HOST_KEY)),
        ("SystemBUID", SYSTEM_BUID.into()),
        ("UDID", phone.config().udid.as_str().into()),
        ("WiFiMACAddress", WIFI_ADDRESS.into()),
    ]);
    Ok(made.into_dictionary().unwrap_or_default())
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

/// Takes the certificates of one host and no other.
#[derive(Debug)]
struct OnlyHost {
    certificates: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for OnlyHost {
    fn root_hint_subjects(&self) -> &[Name] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if self.certificates.iter().any(|known| known.as_ref() == shown.as_ref()) {
            Ok(ClientCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
