//! Copying and proving a store, with events.

use super::*;
use hermes_app::migrate::{MigrateError, MigrateEvent, migrate};
use hermes_session::transfer::{Phase, TransferError, TransferOptions};
use hermes_store::StoreUrl;
use std::ops::ControlFlow;

fn url(home: &Home) -> StoreUrl {
    StoreUrl::Sqlite(home.path().join("state.db"))
}

async fn filled() -> Home {
    let home = Home::new();
    let store = home.store().await;
    ended(&*store, "a", Some("one")).await;
    ended(&*store, "b", None).await;
    home
}

#[tokio::test]
async fn a_migration_reports_events_and_a_proof() {
    let (from, to) = (filled().await, Home::new());
    let mut phases = Vec::new();
    let mut note = |event: MigrateEvent| {
        if let MigrateEvent::Transfer(progress) = event {
            phases.push(progress.phase);
        }
        ControlFlow::Continue(())
    };
    let workspace = from.workspace();
    let migrated = migrate(&workspace, &url(&from), &url(&to), TransferOptions::default(), &mut note).await.unwrap();
    assert!(phases.contains(&Phase::Copying) && phases.contains(&Phase::Proving), "{phases:?}");
    assert_eq!((migrated.report.sessions, migrated.report.messages, migrated.fts_entries), (2, 2, 2));
    assert!(migrated.proof.unwrap().holds());
}

#[tokio::test]
async fn a_rehearsal_writes_nothing() {
    let (from, to) = (filled().await, Home::new());
    let options = TransferOptions { is_rehearsal: true, ..TransferOptions::default() };
    let mut go_on = |_| ControlFlow::Continue(());
    let migrated = migrate(&from.workspace(), &url(&from), &url(&to), options, &mut go_on).await.unwrap();
    assert!(migrated.proof.is_none() && migrated.report.sessions == 2 && !to.has("state.db"));
}

#[tokio::test]
async fn a_migration_is_refused_or_stopped() {
    let (from, to) = (filled().await, Home::new());
    let workspace = from.workspace();
    let options = TransferOptions::default();
    let mut stop = |_| ControlFlow::Break(());
    let same = migrate(&workspace, &url(&from), &url(&from), options, &mut stop).await;
    assert!(matches!(same, Err(MigrateError::SameStore(_))));
    let stopped = migrate(&workspace, &url(&from), &url(&to), options, &mut stop).await;
    assert!(matches!(stopped, Err(MigrateError::Transfer(TransferError::Stopped))), "{stopped:?}");
}
