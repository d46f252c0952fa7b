//! Identity of the server: verified on request, and by default on another machine.

use crate::fixture::{options, refusal, server};
use hermes_postgres::PostgresStore;
use std::process::Command;

/// Creates an authority and a certificate signed by it for `name`, in the server's folder.
fn certificates(folder: &std::path::Path, name: &str) {
    let script = format!(
        "set -e; cd {}; openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority 2>/dev/null; \
         openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN={name} 2>/dev/null; \
         printf 'subjectAltName=DNS:{name}' > names; \
         openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt 2>/dev/null; \
         chmod 600 server.key; chown --reference=. server.key server.crt",
        folder.display()
    );
    assert!(
        Command::new("sh").args(["-c", &script]).status().expect("a shell").success(),
        "openssl makes certificates"
    );
}

#[tokio::test]
async fn a_server_proves_who_it_is_as_far_as_it_is_asked() {
    let Some(mut server) = server(&[]) else { return };
    server.stop("fast");
    certificates(&server.data(), "localhost");
    let settings = "ssl = on\nssl_cert_file = 'server.crt'\nssl_key_file = 'server.key'\nssl_ca_file = 'ca.pem'\n";
    std::fs::write(server.data().join("postgresql.auto.conf"), settings).expect("the settings are written");
    std::fs::write(server.data().join("pg_hba.conf"), "hostssl all all 127.0.0.1/32 trust\n")
        .expect("the rules are written");
    server.launch();
    let ca = server.data().join("ca.pem");
    let copy = tempfile::NamedTempFile::new().expect("a file");
    std::fs::copy(&ca, copy.path()).expect("the authority can be read");
    let url = |host: &str, query: &str| format!("postgresql://hermes@{host}:{}/hermes?{query}", server.port());
    let roots = format!("sslrootcert={}", copy.path().display());
    for (host, query) in [
        ("localhost", format!("sslmode=verify-full&{roots}")),
        ("127.0.0.1", format!("sslmode=verify-ca&{roots}")),
        ("127.0.0.1", "sslmode=require".to_owned()),
        ("127.0.0.1", String::new()),
    ] {
        let opened = PostgresStore::open(&url(host, &query), &options("t")).await;
        opened.unwrap_or_else(|error| panic!("{host} {query}: {error}"));
    }
    for (host, query, why) in [
        ("127.0.0.1", format!("sslmode=verify-full&{roots}"), "not valid for name"),
        ("localhost", "sslmode=verify-full".to_owned(), "UnknownIssuer"),
        ("127.0.0.1", "sslmode=disable".to_owned(), "no encryption"),
    ] {
        let (error, _) = refusal(&url(host, &query), &options("t")).await;
        assert!(error.contains(why), "{host} {query}: {error}");
    }
}
