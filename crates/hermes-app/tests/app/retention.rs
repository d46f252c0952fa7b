//! Auto-prune: one process does it, and it stays due until it is finished.

use super::*;
use hermes_app::retention::{AutoPruneOptions, AutoPruneReport, after_writing, auto_prune};
use hermes_session::retention::{AutoPrune, LAST_AUTO_PRUNE, RetentionPolicy};
use hermes_session::{NewChild, SessionFilter};
use std::time::Duration;
use tokio::task::JoinSet;

fn options(time_limit: Option<Duration>) -> AutoPruneOptions {
    let rule = AutoPrune::new(RetentionPolicy::new(30.0, None).unwrap(), 24.0);
    AutoPruneOptions { rule, time_limit, is_vacuumed: false }
}

async fn run(store: &dyn Store, home: &Home, time_limit: Option<Duration>) -> Option<AutoPruneReport> {
    let transcripts = home.workspace().transcripts().unwrap();
    auto_prune(store, &options(time_limit), transcripts.as_ref(), at(NOW)).await.unwrap()
}

async fn sessions(store: &dyn Store) -> u64 {
    store.counts(&SessionFilter::default()).await.unwrap().sessions
}

#[tokio::test]
async fn of_two_at_once_one_prunes() {
    let home = Home::new();
    let (one, other) = (home.store().await, home.store().await);
    for name in ["a", "b"] {
        ended(&*one, name, None).await;
    }
    home.write("sessions/session_a.json", "{}");
    let (first, second) = tokio::join!(run(&*one, &home, None), run(&*other, &home, None));
    let reports: Vec<_> = first.into_iter().chain(second).collect();
    assert_eq!(reports.len(), 1, "{reports:?}");
    let report = &reports[0];
    assert_eq!((report.pruned.conversations, report.transcripts.files), (2, 1));
    assert!(report.is_first && report.is_finished && !home.has("sessions/session_a.json"));
    assert!(run(&*one, &home, None).await.is_none(), "it was done just now");
}

#[tokio::test]
async fn a_run_that_is_cut_short_stays_due() {
    // One more than the store is given in one step.
    const COUNT: u64 = 501;
    let home = Home::new();
    let store = home.store().await;
    let mut tasks = JoinSet::new();
    for number in 0..COUNT {
        let store = store.shared();
        tasks.spawn(async move { ended(&*store, &format!("s{number}"), None).await });
    }
    tasks.join_all().await;
    let report = run(&*store, &home, Some(Duration::ZERO)).await.unwrap();
    assert!(report.is_first && !report.is_finished, "{report:?}");
    assert!((1..COUNT).contains(&sessions(&*store).await));
    // A run that is still due continues, and is no longer the first.
    let report = run(&*store, &home, None).await.unwrap();
    assert!(!report.is_first && report.is_finished, "{report:?}");
    assert_eq!(sessions(&*store).await, 0);
    assert_eq!(store.meta(LAST_AUTO_PRUNE).await.unwrap(), Some(at(NOW).seconds().to_string()));
}

#[tokio::test]
async fn an_orphan_is_a_child_of_a_compressed_session() {
    let home = Home::new();
    home.write("config.yaml", "sessions:\n  auto_prune: true\n  retention_days: 9999\n");
    let store = home.store().await;
    let week_ago = Request::at(at(NOW - 8.0 * DAY));
    let message = NewMessage::new(Role::User, "so far");
    for name in ["parent", "reopened"] {
        ended(&*store, name, None).await;
        store.reopen(&id(name), &week_ago).await.unwrap();
        let child = NewChild::new(id(&format!("{name}-child")));
        store.split(&id(name), &child, std::slice::from_ref(&message), &week_ago).await.unwrap();
    }
    // The parent was reopened and is active: its child is not an orphan.
    store.reopen(&id("reopened"), &week_ago).await.unwrap();
    let settings = home.workspace().settings().unwrap();
    after_writing(&*store, &settings.sessions, None, at(NOW)).await.unwrap();
    let reason = async |name: &str| store.session(&id(name)).await.unwrap().unwrap().end_reason;
    assert_eq!(reason("parent-child").await.unwrap().as_str(), EndReason::ORPHANED_COMPRESSION);
    assert_eq!(reason("reopened-child").await, None);
}

#[tokio::test]
async fn nothing_is_pruned_unless_it_is_configured() {
    let home = Home::new();
    let store = home.store().await;
    ended(&*store, "a", None).await;
    let settings = home.workspace().settings().unwrap();
    assert!(after_writing(&*store, &settings.sessions, None, at(NOW)).await.is_none());
    assert_eq!(sessions(&*store).await, 1);
}
