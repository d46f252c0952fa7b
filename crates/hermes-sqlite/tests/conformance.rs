//! The store contract, on SQLite files in a temporary folder.

use hermes_conformance::{Harness, run};
use hermes_session::Store;
use hermes_sqlite::{SqliteOptions, SqliteStore, Synchronous};
use std::sync::Arc;

struct Files(tempfile::TempDir);

#[async_trait::async_trait]
impl Harness for Files {
    fn provider(&self) -> &'static str {
        "sqlite"
    }

    async fn open(&self, name: &str) -> Arc<dyn Store> {
        self.opened(name, &SqliteOptions::default())
    }

    async fn open_idle(&self, name: &str) -> Arc<dyn Store> {
        let synchronous = Synchronous::Normal;
        self.opened(name, &SqliteOptions { background: false, synchronous, ..SqliteOptions::default() })
    }
}

impl Files {
    fn opened(&self, name: &str, options: &SqliteOptions) -> Arc<dyn Store> {
        let path = self.0.path().join(name.replace("::", "-")).join("state.db");
        Arc::new(SqliteStore::open(&path, options).expect("the store opens"))
    }
}

fn main() {
    run(Files(tempfile::tempdir().expect("a folder for the files")))
}
