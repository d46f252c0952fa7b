//! Calls that depend on derived data, right after a foreign writer changed its source. Nothing is recomputed in
//! between: the stores are opened without background work.

use crate::fixture::{File, at, id, new, shown, user};
use hermes_session::retention::{self, RetentionPolicy};
use hermes_session::{
    ConversationStore as _, EndReason, ListRequest, Maintenance as _, Order, SessionFilter, SessionStore as _,
    Timestamp, View,
};
use hermes_sqlite::SqliteStore;

const DAY: f64 = 86_400.0;
const NOW: f64 = 200.0 * DAY;

fn now() -> Timestamp {
    Timestamp::from_seconds(NOW).unwrap()
}

async fn ended(store: &SqliteStore, name: &str) {
    store.create(&new(name), &at(NOW)).await.unwrap();
    store.end(&id(name), &EndReason::parse("done").unwrap(), &at(NOW)).await.unwrap();
}

fn restart(file: &File, name: &str, started_at: f64) {
    file.foreign().execute("UPDATE sessions SET started_at = ? WHERE id = ?", (started_at, name)).unwrap();
}

fn stale(file: &File) -> i64 {
    file.foreign().query_row("SELECT count(*) FROM hx_session WHERE dirty <> 0", [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn pruning_goes_by_a_start_that_was_moved_back() {
    let file = File::new();
    let store = file.open_idle();
    ended(&store, "old").await;
    ended(&store, "new").await;
    restart(&file, "old", 100.0 * DAY);
    assert_eq!(stale(&file), 1);
    let policy = RetentionPolicy::new(90.0, None).unwrap();
    let planned = retention::plan(&store, &policy, now()).await.unwrap();
    assert_eq!(planned.iter().map(|candidate| candidate.conversation.as_str()).collect::<Vec<_>>(), ["old"]);
    let pruned = retention::prune(&store, &policy, now(), &mut |_, _| {}).await.unwrap();
    assert_eq!((pruned.sessions, pruned.kept), (1, 0));
    assert!(store.session(&id("old")).await.unwrap().is_none());
    assert!(store.session(&id("new")).await.unwrap().is_some());
}

#[tokio::test]
async fn the_step_that_prunes_goes_by_a_start_that_was_moved_since_the_plan() {
    let file = File::new();
    let store = file.open_idle();
    ended(&store, "a").await;
    restart(&file, "a", 100.0 * DAY);
    let policy = RetentionPolicy::new(90.0, None).unwrap();
    assert_eq!(retention::plan(&store, &policy, now()).await.unwrap().len(), 1);
    restart(&file, "a", 150.0 * DAY);
    let pruned = store.prune(&[id("a")], &policy, now()).await.unwrap();
    assert_eq!((pruned.sessions, pruned.kept), (0, 1), "it started too late by now");
}

#[tokio::test]
async fn a_list_is_ordered_and_filtered_by_times_that_were_moved() {
    let file = File::new();
    let store = file.open_idle();
    for (name, started_at) in [("a", 10.0), ("b", 20.0), ("c", 30.0)] {
        store.create(&new(name), &at(started_at)).await.unwrap();
        store.append(&id(name), &[user(name)], &at(started_at)).await.unwrap();
    }
    assert_eq!(shown(&store).await, "c(c) b(b) a(a)");
    // Later, then earlier than before.
    file.foreign().execute("UPDATE messages SET timestamp = 100 WHERE session_id = 'a'", []).unwrap();
    file.foreign().execute("UPDATE messages SET timestamp = 5 WHERE session_id = 'c'", []).unwrap();
    restart(&file, "c", 5.0);
    assert_eq!(shown(&store).await, "a(a) b(b) c(c)");
    assert_eq!(stale(&file), 2, "a list changes nothing in the file");
    let first = ListRequest { page: hermes_session::PageRequest::first(1), ..ListRequest::default() };
    let page = store.list(&first).await.unwrap();
    assert_eq!((page.rows[0].id.as_str(), page.rows[0].last_active.seconds()), ("a", 100.0));
    let next = store.list(&ListRequest { after: page.next, ..first.clone() }).await.unwrap();
    assert_eq!(next.rows[0].id.as_str(), "b");
    let started = ListRequest { order: Order::Started, view: View::Sessions, ..ListRequest::default() };
    let rows = store.list(&started).await.unwrap().rows;
    assert_eq!(rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["b", "a", "c"]);
    let since = Timestamp::from_seconds(50.0).unwrap();
    let recent = SessionFilter { active_since: Some(since), ..SessionFilter::default() };
    assert_eq!(store.counts(&recent).await.unwrap().sessions, 1);
    let before = SessionFilter { active_before: Some(since), ..SessionFilter::default() };
    assert_eq!(store.counts(&before).await.unwrap().conversations, 2);
    while store.upkeep().await.unwrap() {}
    assert_eq!(stale(&file), 0);
    assert_eq!(shown(&store).await, "a(a) b(b) c(c)");
}

#[tokio::test]
async fn what_a_foreign_writer_orphaned_is_listed_and_counted_at_once() {
    let file = File::new();
    let store = file.open_idle();
    let child =
        |name: &str, parent: &str| hermes_session::NewSession { parent_session_id: Some(id(parent)), ..new(name) };
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.create(&child("b", "a"), &at(2.0)).await.unwrap();
    store.create(&child("c", "b"), &at(3.0)).await.unwrap();
    store.append(&id("c"), &[user("late")], &at(50.0)).await.unwrap();
    // The agent's way to delete: it detaches the children, then deletes the row.
    let foreign = file.foreign();
    foreign.execute("UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = 'a'", []).unwrap();
    foreign.execute("DELETE FROM sessions WHERE id = 'a'", []).unwrap();
    let page = store.list(&ListRequest::default()).await.unwrap();
    let rows: Vec<_> = page.rows.iter().map(|row| (row.id.as_str(), row.segments, row.last_active.seconds())).collect();
    assert_eq!(rows, [("b", 2, 50.0)]);
    let counts = store.counts(&SessionFilter::default()).await.unwrap();
    assert_eq!((counts.conversations, counts.sessions), (1, 2));
    // A child of a session with a stale place gets the right place too.
    store.create(&child("d", "c"), &at(60.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    let page = store.list(&ListRequest::default()).await.unwrap();
    let rows: Vec<_> = page.rows.iter().map(|row| (row.id.as_str(), row.segments, row.last_active.seconds())).collect();
    assert_eq!(rows, [("b", 3, 60.0)]);
}

#[tokio::test]
async fn statistics_go_by_times_that_were_moved() {
    let file = File::new();
    let store = file.open_idle();
    store.create(&new("a"), &at(10.0)).await.unwrap();
    store.append(&id("a"), &[user("a")], &at(20.0)).await.unwrap();
    file.foreign().execute("UPDATE messages SET timestamp = 15 WHERE session_id = 'a'", []).unwrap();
    assert_eq!(store.statistics().await.unwrap().newest.map(Timestamp::seconds), Some(15.0));
}
