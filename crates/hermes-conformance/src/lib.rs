//! What a session store promises, as a list of named cases that any provider can be run against.
//!
//! A provider is done when it passes; a bug found in one provider becomes a case for all.
//! [`ModelStore`] passes as well: it is the contract as plain maps, and what random operations
//! ([`property`]) are compared with.

#![warn(missing_docs)]
#![expect(clippy::unwrap_used, reason = "a case that panics is a case that fails")]

pub mod agent;
mod fixture;
mod list;
pub mod model;
pub mod oracle;
pub mod people;
pub mod property;
pub mod questions;
pub mod servers;

pub mod concurrency;
pub mod deletion;
pub mod functions;
pub mod gateway;
pub mod import;
pub mod insights;
pub mod lineage;
pub mod listing;
pub mod maintenance;
pub mod messages;
pub mod meta;
pub mod ordering;
pub mod pieces;
pub mod pins_and_tags;
pub mod requests;
pub mod scope;
pub mod search;
pub mod sessions;
pub mod states;
pub mod text;
pub mod titles;
pub mod topics;
pub mod transfer;
pub mod trash;
pub mod untouched;
pub mod usage;

pub use list::CASES;
pub use model::ModelStore;

use async_trait::async_trait;
use hermes_session::{Store, StoreError};
use libtest_mimic::{Arguments, Failed, Trial};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// How long a case may take before it counts as hanging.
const DEADLINE: Duration = Duration::from_secs(120);

/// Opens the stores that cases run on.
#[async_trait]
pub trait Harness: Send + Sync {
    /// The provider, as [`hermes_session::StoreStatus::provider`] tells it.
    fn provider(&self) -> &'static str;

    /// Opens the store of this name, empty when it is opened first. The same name twice is two handles on the same
    /// data. Names are made of `[a-z0-9_-]`.
    async fn open(&self, name: &str) -> Arc<dyn Store>;

    /// Opens it such that nothing is done unasked, where a provider does anything.
    async fn open_idle(&self, name: &str) -> Arc<dyn Store> {
        self.open(name).await
    }
}

/// What a case is given: stores of its own.
#[derive(Clone)]
pub struct Setup {
    harness: Arc<dyn Harness>,
    name: String,
}

impl Setup {
    /// Sets up the case of this name.
    pub fn new(harness: Arc<dyn Harness>, case: &str) -> Self {
        Self { harness, name: case.replace("::", "-") }
    }

    /// A handle on the case's store; each call gives another one on the same data.
    pub async fn store(&self) -> Arc<dyn Store> {
        self.harness.open(&self.name).await
    }

    /// A handle that does nothing unasked: what was written stays unindexed until somebody asks for upkeep.
    pub async fn idle_store(&self, name: &str) -> Arc<dyn Store> {
        self.harness.open_idle(&format!("{}-{name}", self.name)).await
    }

    /// A handle on a second store of the case.
    pub async fn store_named(&self, name: &str) -> Arc<dyn Store> {
        self.harness.open(&format!("{}-{name}", self.name)).await
    }

    /// The provider the case runs on.
    pub fn provider(&self) -> &'static str {
        self.harness.provider()
    }
}

/// How a case ends: an error that it did not expect fails it, and so does a panic.
pub type CaseResult = Result<(), StoreError>;

/// A named promise.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Its module and function.
    pub name: &'static str,
    /// Tries the promise.
    pub run: fn(Setup) -> Pin<Box<dyn Future<Output = CaseResult> + Send>>,
}

/// Runs every case, and random operations, against a provider, as a test program with the usual arguments.
pub fn run(harness: impl Harness + 'static) -> ! {
    let arguments = Arguments::from_args();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let harness: Arc<dyn Harness> = Arc::new(harness);
    let mut trials: Vec<Trial> =
        CASES.iter().map(|case| trial(*case, Arc::clone(&harness), runtime.handle().clone())).collect();
    let properties: [(&str, Property); 2] = [
        ("property::random_operations", property::random_operations),
        ("property::random_searches", property::search::random_searches),
    ];
    for (name, property) in properties {
        let (random, handle) = (Arc::clone(&harness), runtime.handle().clone());
        let runner = move || property(&random, &handle).map_err(Failed::from);
        trials.push(Trial::test(name, runner).with_kind(harness.provider()));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    // Leaving the process drops nothing by itself, and a harness may own servers and folders.
    drop(runtime);
    drop(harness);
    conclusion.exit()
}

/// Tries something with random input on a provider.
type Property = fn(&Arc<dyn Harness>, &tokio::runtime::Handle) -> Result<(), String>;

fn trial(case: Case, harness: Arc<dyn Harness>, runtime: tokio::runtime::Handle) -> Trial {
    let kind = harness.provider();
    let runner = move || {
        let setup = Setup::new(harness, case.name);
        match runtime.block_on(async { tokio::time::timeout(DEADLINE, (case.run)(setup)).await }) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Failed::from(format!("{error} ({error:?})"))),
            Err(_) => Err(Failed::from(format!("nothing came back within {} s", DEADLINE.as_secs()))),
        }
    };
    Trial::test(case.name, runner).with_kind(kind)
}
