//! The throw-away servers behave as the tests assume.

use hermes_conformance::servers::{Mariadb, Postgres, is_skipped};

#[test]
fn a_mariadb_dies_and_comes_back_with_what_it_was_told() {
    if is_skipped("mysql") {
        return;
    }
    let mut server = Mariadb::start(&["innodb_flush_log_at_trx_commit=1"]);
    server.sql("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)");
    server.crash();
    assert_eq!(server.sql("SELECT a FROM t"), "1\n");
    server.stop("fast");
    assert!(std::net::TcpStream::connect(("127.0.0.1", server.port())).is_err(), "nobody listens");
    server.set(&["innodb_ft_min_token_size=2"]);
    server.launch();
    assert_eq!(server.sql("SELECT a, @@innodb_ft_min_token_size, DATABASE() FROM t"), "1\t2\thermes\n");
    assert!(server.socket().exists() && server.data().join("hermes").exists());
}

#[test]
fn a_postgres_dies_and_comes_back_with_what_it_was_told() {
    if is_skipped("postgres") {
        return;
    }
    let mut server = Postgres::start(&["fsync=on"]);
    server.sql("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)");
    server.crash();
    assert_eq!(server.sql("SELECT a FROM t"), "1\n");
    server.stop("fast");
    assert!(std::net::TcpStream::connect(("127.0.0.1", server.port())).is_err(), "nobody listens");
}
