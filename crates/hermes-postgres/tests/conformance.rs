//! Runs the contract on a temporary server; each store is a schema of its own.

use hermes_conformance::servers::{Postgres, is_skipped};
use hermes_conformance::{Harness, run};
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::Store;
use std::sync::Arc;

struct Server(Postgres);

#[async_trait::async_trait]
impl Harness for Server {
    fn provider(&self) -> &'static str {
        "postgresql"
    }

    async fn open(&self, name: &str) -> Arc<dyn Store> {
        // Names of schemas have a short limit.
        let number = name.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte));
        let schema = Some(format!("s{number:016x}"));
        let options = PostgresOptions { schema, max_connections: 4, ..PostgresOptions::default() };
        Arc::new(PostgresStore::open(&self.0.url(), &options).await.expect("the store opens"))
    }

    fn judges_by_own_clock(&self) -> bool {
        true
    }
}

fn main() {
    if !is_skipped("postgres") {
        run(Server(Postgres::start(&[])));
    }
}
