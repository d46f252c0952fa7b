//! Random operations, applied step by step to the store under test and to the model.
//!
//! Ids, titles and keys come from small pools, so that operations conflict, and clocks jump. A failure is shrunk to the
//! shortest list of operations that still fails, and reported.

mod live;
mod operation;
mod picture;
pub mod search;
mod strategy;

use crate::{Harness, ModelStore};
use operation::Step;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use proptest_state_machine::ReferenceStateMachine as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use strategy::Machine;
use tokio::runtime::Handle;

/// Number of lists of operations that are tried, unless `HERMES_PROPERTY_CASES` is set.
const RUNS: u32 = 48;
/// Maximum length of a list.
const STEPS: usize = 60;
/// Number of operations after which the whole states are compared.
const STRIDE: usize = 6;

/// Compares a store with the model under random operations.
///
/// # Errors
/// The first difference, and the operations that led to it.
pub fn random_operations(harness: &Arc<dyn Harness>, runtime: &Handle) -> Result<(), String> {
    let runs = runs(RUNS)?;
    let config = Config { cases: runs, failure_persistence: None, max_shrink_time: 120_000, ..Config::default() };
    let (stores, compared) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let outcome = TestRunner::new(config).run(&Machine::sequential_strategy(STEPS / 2..=STEPS), |(_, steps, seen)| {
        let name = format!("property-{}", stores.fetch_add(1, Ordering::Relaxed));
        let seen = |_: &Step| {
            compared.fetch_add(1, Ordering::Relaxed);
            seen.as_ref().map(|seen| seen.fetch_add(1, Ordering::SeqCst));
        };
        runtime.block_on(compare(harness, &name, &steps, seen)).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => {
            report(&format!(
                "property::random_operations: {runs} runs, {} operations compared with the model",
                compared.into_inner()
            ));
            Ok(())
        }
        Err(TestError::Fail(reason, (_, steps, _))) => {
            let steps: String = steps.iter().map(|step| format!("  {step:?}\n")).collect();
            Err(format!("{reason}\nafter these operations:\n{steps}"))
        }
        Err(TestError::Abort(reason)) => Err(format!("no operations could be made: {reason}")),
    }
}

/// Returns the number of runs.
fn runs(usual: u32) -> Result<u32, String> {
    match std::env::var("HERMES_PROPERTY_CASES") {
        Ok(text) => text.parse().map_err(|_| format!("HERMES_PROPERTY_CASES is {text:?}, not a number")),
        Err(_) => Ok(usual),
    }
}

/// Applies the steps to both. Fails with the first difference.
async fn compare(harness: &Arc<dyn Harness>, name: &str, steps: &[Step], seen: impl Fn(&Step)) -> Result<(), String> {
    let store = harness.open(name).await;
    let model = ModelStore::new();
    for (n, step) in steps.iter().enumerate() {
        seen(step);
        let (expected, found) = (step.apply(&model).await, step.apply(&*store).await);
        if expected != found {
            return Err(format!("operation {n} should answer\n  {expected:?}\nbut answers\n  {found:?}\n{step:?}"));
        }
        if n % STRIDE == STRIDE - 1 || n + 1 == steps.len() {
            picture::compare(&model, &*store)
                .await
                .map_err(|difference| format!("after operation {n}, {difference}"))?;
        }
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "how much was compared is part of the result, and the test program has no log")]
fn report(line: &str) {
    eprintln!("{line}");
}
