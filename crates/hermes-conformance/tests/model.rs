//! The suite against the model, which shows that the contract can be met.

use async_trait::async_trait;
use hermes_conformance::{Harness, ModelStore};
use hermes_session::Store;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct ModelHarness {
    stores: Mutex<BTreeMap<String, ModelStore>>,
}

#[async_trait]
impl Harness for ModelHarness {
    fn provider(&self) -> &'static str {
        "model"
    }

    async fn open(&self, name: &str) -> Arc<dyn Store> {
        Arc::new(self.stores.lock().expect("nobody panics here").entry(name.to_owned()).or_default().clone())
    }
}

fn main() {
    hermes_conformance::run(ModelHarness::default())
}
