//! Identity of the server: verified on request, and by default on another machine.

use crate::fixture::{options, refusal, server};
use hermes_mysql::MysqlStore;
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
    let data = server.data();
    certificates(&data, "localhost");
    let file = |option: &str, name: &str| format!("{option}={}", data.join(name).display());
    let settings = [file("ssl_cert", "server.crt"), file("ssl_key", "server.key"), file("ssl_ca", "ca.pem")];
    server.set(&settings.each_ref().map(String::as_str));
    server.launch();
    server.sql("CREATE USER strict@'127.0.0.1' REQUIRE SSL; GRANT ALL ON hermes.* TO strict@'127.0.0.1'");
    let copy = tempfile::NamedTempFile::new().expect("a file");
    std::fs::copy(data.join("ca.pem"), copy.path()).expect("the authority can be read");
    let url = |host: &str, query: &str| format!("mysql://strict@{host}:{}/hermes?{query}", server.port());
    let roots = format!("ssl-ca={}", copy.path().display());
    for (host, query) in [
        ("localhost", format!("ssl-mode=VERIFY_IDENTITY&{roots}")),
        ("localhost", format!("sslmode=verify-full&{roots}")),
        ("localhost", format!("ssl-mode=verify_ca&{roots}")),
        ("localhost", format!("sslmode=verify-ca&{roots}")),
        ("127.0.0.1", "ssl-mode=REQUIRED".to_owned()),
        ("127.0.0.1", "sslmode=require".to_owned()),
        ("127.0.0.1", "ssl-mode=PREFERRED".to_owned()),
        ("127.0.0.1", String::new()),
    ] {
        let opened = MysqlStore::open(&url(host, &query), &options()).await;
        opened.unwrap_or_else(|error| panic!("{host} {query}: {error}"));
    }
    for (host, query, why) in [
        ("127.0.0.1", format!("ssl-mode=VERIFY_IDENTITY&{roots}"), "not valid for name"),
        // Asked for less, the driver still checks the name.
        ("127.0.0.1", format!("ssl-mode=VERIFY_CA&{roots}"), "not valid for name"),
        ("localhost", "ssl-mode=VERIFY_IDENTITY".to_owned(), "UnknownIssuer"),
        ("127.0.0.1", "ssl-mode=VERIFY_CA".to_owned(), "UnknownIssuer"),
        ("127.0.0.1", "ssl-mode=DISABLED".to_owned(), "Access denied"),
    ] {
        let (error, _) = refusal(&url(host, &query), &options()).await;
        assert!(error.contains(why), "{host} {query}: {error}");
    }
}

#[tokio::test]
async fn a_server_without_tls_is_taken_only_if_that_is_well() {
    let Some(server) = server(&["skip-ssl"]) else { return };
    for query in ["", "?ssl-mode=PREFERRED", "?ssl-mode=DISABLED"] {
        let opened = MysqlStore::open(&format!("{}{query}", server.url()), &options()).await;
        opened.unwrap_or_else(|error| panic!("{query}: {error}"));
    }
    for query in ["?ssl-mode=REQUIRED", "?ssl-mode=VERIFY_CA"] {
        let (_, reason) = refusal(&format!("{}{query}", server.url()), &options()).await;
        let expect = hermes_session::ServerProblem::NotReached;
        assert!(matches!(reason, hermes_session::Refusal::Server { problem, .. } if problem == expect), "{reason:?}");
    }
    let odd = MysqlStore::open(&format!("{}?ssl-mode=perhaps", server.url()), &options()).await.err();
    assert!(matches!(odd, Some(hermes_session::StoreError::Invalid(_))), "{odd:?}");
}

#[tokio::test]
async fn a_socket_serves() {
    let Some(server) = server(&[]) else { return };
    server.sql("CREATE USER hermes@localhost; GRANT ALL ON hermes.* TO hermes@localhost");
    let url = format!("mysql://hermes@localhost/hermes?socket={}", server.socket().display());
    MysqlStore::open(&url, &options()).await.unwrap_or_else(|error| panic!("{url}: {error}"));
}
