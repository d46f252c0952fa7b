//! Runs the contract on a temporary server; each store is a database of its own.

use hermes_conformance::servers::{Mariadb, is_skipped};
use hermes_conformance::{Harness, run};
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_session::Store;
use std::sync::Arc;

struct Server(Mariadb);

#[async_trait::async_trait]
impl Harness for Server {
    fn provider(&self) -> &'static str {
        "mysql"
    }

    async fn open(&self, name: &str) -> Arc<dyn Store> {
        // Names of databases have a short limit.
        let number = name.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte));
        let database = format!("s{number:016x}");
        tokio::task::block_in_place(|| self.0.sql(&format!("CREATE DATABASE IF NOT EXISTS {database}")));
        let options = MysqlOptions { max_connections: 4, ..MysqlOptions::default() };
        Arc::new(MysqlStore::open(&self.0.url_of(&database), &options).await.expect("the store opens"))
    }

    fn judges_by_own_clock(&self) -> bool {
        true
    }
}

fn main() {
    if !is_skipped("mysql") {
        run(Server(Mariadb::start(&[])));
    }
}
