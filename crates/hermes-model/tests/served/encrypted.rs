//! TLS, with an authority that the system trusts because `SSL_CERT_FILE` names it.
//!
//! The variable is that of a process, so the client is a process of its own: the test [`client`] of this program.

use crate::support::{TIMEOUTS, client as client_of};
use hermes_model::script::{Reply, Script};
use hermes_standins::{ModelServer, Rules};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// The variable that holds the address for the client.
const URL: &str = "HERMES_TEST_MODEL_URL";

/// Makes an authority and a certificate for `localhost` in a folder.
fn certificates(folder: &Path) {
    let script = "set -e; \
        openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority 2>/dev/null; \
        openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost 2>/dev/null; \
        printf 'subjectAltName=DNS:localhost' > names; \
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt 2>/dev/null";
    let status = Command::new("sh").arg("-c").arg(script).current_dir(folder).status().unwrap();
    assert!(status.success(), "openssl makes certificates");
}

/// Puts TLS in front of a server. Returns the port.
async fn encrypted(folder: &Path, target: String) -> u16 {
    let certificate = CertificateDer::from_pem_file(folder.join("server.crt")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, target) = (acceptor.clone(), target.clone());
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let mut plain = TcpStream::connect(target).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut plain).await;
            });
        }
    });
    port
}

/// Runs the client as a process. Returns what it printed.
async fn asked(url: String, authority: Option<&Path>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "encrypted::client", "--ignored", "--nocapture"]).env(URL, url);
    match authority {
        Some(file) => command.env("SSL_CERT_FILE", file),
        None => command.env_remove("SSL_CERT_FILE"),
    };
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let server = ModelServer::start(Script::new([Reply::text("good").repeated()]), Rules::default()).await.unwrap();
    let target = server.base_url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let port = encrypted(folder.path(), target).await;
    let authority = folder.path().join("ca.pem");
    let trusted = asked(format!("https://localhost:{port}/v1"), Some(&authority)).await;
    assert!(trusted.contains("outcome: good"), "{trusted}");
    for (host, authority) in [("127.0.0.1", Some(authority.as_path())), ("localhost", None)] {
        let printed = asked(format!("https://{host}:{port}/v1"), authority).await;
        assert!(printed.contains("outcome: no encrypted connection to the model server"), "{printed}");
    }
    assert_eq!(server.received().len(), 1, "no request reached the server without trust");
}

#[tokio::test]
#[ignore = "a part of a_certificate_is_verified, which runs it in a process of its own"]
async fn client() {
    let seen = client_of(&std::env::var(URL).unwrap(), TIMEOUTS).say("hi").await;
    match seen.outcome {
        Ok(answer) => println!("outcome: {}", answer.text),
        Err(error) => println!("outcome: {error}"),
    }
}
