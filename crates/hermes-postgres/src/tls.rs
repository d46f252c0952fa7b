//! Encryption and verification of the server.

use crate::address::Trust;
use hermes_session::Invalid;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::path::Path;
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// Returns a connector with the required verification.
pub(crate) fn connector(trust: &Trust) -> Result<MakeRustlsConnect, Invalid> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| odd(format!("can't be reached over TLS: {error}")))?;
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::Any => Arc::new(Lenient { provider, authority: None }),
        Trust::Authority { roots, is_named } => {
            let roots = Arc::new(authorities(roots.as_deref())?);
            let authority = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
                .build()
                .map_err(|error| odd(format!("can't be verified: {error}")))?;
            if *is_named { authority } else { Arc::new(Lenient { provider, authority: Some(authority) }) }
        }
    };
    let config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// Returns the authorities from a file, or those that the system trusts.
fn authorities(file: Option<&Path>) -> Result<RootCertStore, Invalid> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(file) => {
            let unreadable =
                |error: &dyn std::fmt::Display| odd(format!("names certificates that can't be read: {error}"));
            for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))? {
                roots.add(certificate.map_err(|error| unreadable(&error))?).map_err(|error| unreadable(&error))?;
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs();
            // Unreadable certificates do not prevent the use of the others.
            let (added, ignored) = roots.add_parsable_certificates(found.certs);
            tracing::debug!(added, ignored, errors = found.errors.len(), "certificates of the system loaded");
        }
    }
    match roots.is_empty() {
        true => Err(odd("asks to verify the server's certificate, but no CA certificates were found".into())),
        false => Ok(roots),
    }
}

fn odd(why: String) -> Invalid {
    Invalid::new(
        "store URL",
        why,
        "sslrootcert=FILE names the CA certificates; sslmode=verify-full, verify-ca, require or disable sets what is verified",
    )
}

/// Accepts a certificate for another name or, without an authority, any certificate.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    authority: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authority) = &self.authority else { return Ok(ServerCertVerified::assertion()) };
        match authority.verify_server_cert(certificate, between, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
