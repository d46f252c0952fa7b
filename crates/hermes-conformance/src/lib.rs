//! The contract of a session store, as a list of named cases that any provider can be run against.
//!
//! A provider is finished when it passes all of them; a bug found in one provider becomes a case for all.
//! [`ModelStore`] passes too: it implements the contract with plain maps, and is the reference for random operations
//! ([`property`]).

#![warn(missing_docs)]
#![expect(clippy::unwrap_used, reason = "a case that panics is a case that fails")]

pub mod agent;
mod fixture;
pub mod history;
mod list;
pub mod model;
pub mod oracle;
pub mod people;
pub mod property;
pub mod questions;
pub mod servers;

pub mod archive;
pub mod carry;
pub mod changes;
pub mod concurrency;
pub mod deletion;
pub mod functions;
pub mod gateway;
pub mod import;
pub mod insights;
pub mod leases;
pub mod lineage;
pub mod listing;
pub mod mail;
pub mod maintenance;
pub mod messages;
pub mod meta;
pub mod ordering;
pub mod pieces;
pub mod pins_and_tags;
pub mod recorded;
pub mod requests;
pub mod routes;
pub mod scope;
pub mod search;
pub mod sessions;
pub mod states;
pub mod text;
pub mod titles;
pub mod topics;
pub mod transfer;
pub mod trash;
pub mod turns;
pub mod undo;
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

/// Time after which a case counts as hanging.
const DEADLINE: Duration = Duration::from_secs(120);

/// Opens the stores that cases run on.
#[async_trait]
pub trait Harness: Send + Sync {
    /// Returns the provider, as in [`hermes_session::StoreStatus::provider`].
    fn provider(&self) -> &'static str;

    /// Opens the store of this name, which is empty when it is first opened. Opening a name twice gives two handles on
    /// the same data. Names consist of `[a-z0-9_-]`.
    async fn open(&self, name: &str) -> Arc<dyn Store>;

    /// Opens it without background work, where a provider does any.
    async fn open_idle(&self, name: &str) -> Arc<dyn Store> {
        self.open(name).await
    }

    /// Returns whether the store judges the expiry of a lease by its own clock, not by the time of the request.
    fn judges_by_own_clock(&self) -> bool {
        false
    }
}

/// The environment of a case: stores of its own.
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

    /// Returns a handle on the case's store; each call opens another one on the same data.
    pub async fn store(&self) -> Arc<dyn Store> {
        self.harness.open(&self.name).await
    }

    /// Returns a handle without background work: messages stay unindexed until upkeep is called.
    pub async fn idle_store(&self, name: &str) -> Arc<dyn Store> {
        self.harness.open_idle(&format!("{}-{name}", self.name)).await
    }

    /// Returns a handle on a second store of the case.
    pub async fn store_named(&self, name: &str) -> Arc<dyn Store> {
        self.harness.open(&format!("{}-{name}", self.name)).await
    }

    /// Returns the provider the case runs on.
    pub fn provider(&self) -> &'static str {
        self.harness.provider()
    }

    /// Returns whether the store judges the expiry of a lease by its own clock, not by the time of the request.
    pub fn judges_by_own_clock(&self) -> bool {
        self.harness.judges_by_own_clock()
    }
}

/// Result of a case. It fails on an unexpected error or a panic.
pub type CaseResult = Result<(), StoreError>;

/// A case: a named promise of the contract.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Its module and function.
    pub name: &'static str,
    /// Checks the promise.
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
    // Exiting the process drops nothing, and a harness may own servers and folders.
    drop(runtime);
    drop(harness);
    conclusion.exit()
}

/// Checks a property with random input on a provider.
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
