//! Connections: name, address, encryption.

use super::pool::Sender;
use crate::transport::network;
use crate::{ModelError, NetworkFault, Origin};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// A connection, encrypted or not.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Makes connections. Reads the certificates that the system trusts when the first encrypted one is made.
#[derive(Default)]
pub(super) struct Connector {
    tls: OnceLock<Result<TlsConnector, String>>,
}

impl Connector {
    /// Connects to a server.
    pub(super) async fn connect(&self, origin: &Origin, limit: Duration) -> Result<Sender, ModelError> {
        let stream = timeout(limit, self.stream(origin, limit)).await.unwrap_or_else(|_| Err(late(origin, limit)))?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| network(NetworkFault::Broken, causes(&error)))?;
        // Its errors also reach the request; it ends when the request and the kept sender are dropped.
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "connection to a model server ended");
            }
        });
        Ok(sender)
    }

    async fn stream(&self, origin: &Origin, limit: Duration) -> Result<Box<dyn Stream>, ModelError> {
        let tcp = tcp(origin, limit).await?;
        if !origin.is_encrypted() {
            return Ok(Box::new(tcp));
        }
        let fault = |why: String| network(NetworkFault::Tls, why);
        let tls = self.tls.get_or_init(tls).as_ref().map_err(|why| fault(why.clone()))?;
        let name = ServerName::try_from(origin.host().to_owned()).map_err(|error| fault(error.to_string()))?;
        let stream = tls.connect(name, tcp).await.map_err(|error| match error.kind() {
            // The server hung up: it may be starting or overloaded.
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                network(NetworkFault::Broken, causes(&error))
            }
            _ => fault(causes(&error)),
        })?;
        Ok(Box::new(stream))
    }
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connector")
    }
}

/// Connects to the first address that answers. Each address has its share of the time, so that one that swallows
/// packets does not keep the next from being tried.
async fn tcp(origin: &Origin, limit: Duration) -> Result<TcpStream, ModelError> {
    let found = tokio::net::lookup_host((origin.host(), origin.port())).await;
    let addresses: Vec<SocketAddr> =
        found.map_err(|error| network(NetworkFault::Dns, format!("{}: {error}", origin.host())))?.collect();
    let share = limit / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
    let mut last = network(NetworkFault::Dns, format!("{} has no address", origin.host()));
    for address in addresses {
        match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // A request is one write; waiting for more would only delay it.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => {
                let fault = match error.kind() {
                    io::ErrorKind::ConnectionRefused => NetworkFault::Refused,
                    _ => NetworkFault::Unreachable,
                };
                last = network(fault, format!("{origin}: {error}"));
            }
            Err(_) => last = late(origin, share),
        }
    }
    Err(last)
}

fn late(origin: &Origin, limit: Duration) -> ModelError {
    network(NetworkFault::ConnectTimeout, format!("{origin} did not answer within {} s", limit.as_secs_f64()))
}

/// Returns a connector that trusts what the system trusts.
fn tls() -> Result<TlsConnector, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Unreadable certificates do not prevent the use of the others.
    let (added, ignored) = roots.add_parsable_certificates(found.certs);
    tracing::debug!(added, ignored, errors = found.errors.len(), "certificates of the system loaded");
    if roots.is_empty() {
        return Err("no CA certificates were found on this machine; SSL_CERT_FILE names them".to_owned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Returns an error with its causes, which say more than the error itself.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
