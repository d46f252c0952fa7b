//! Large deletions: in steps, with other writers in between, and completed by another process after a kill.

use crate::child::child;
use crate::fixture::{File, at, id, new, shown, user};
use hermes_session::retention::{RetentionPolicy, prune};
use hermes_session::{
    ConversationStore as _, DeleteExtent, Deleted, Maintenance as _, NewMessage, Relation, SessionStore as _, Timestamp,
};
use hermes_sqlite::SqliteStore;
use rusqlite::Connection;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// The number of messages of the large session; `STEPS` is the minimum number of steps that deleting them takes.
const MESSAGES: usize = 5_000;
const STEPS: u32 = 5;

/// Makes a session with many messages, and one with none.
async fn fill(store: &SqliteStore) {
    store.create(&new("large"), &at(1.0)).await.unwrap();
    store.create(&new("other"), &at(2.0)).await.unwrap();
    let batch: Vec<NewMessage> = (0..MESSAGES).map(|n| user(&format!("message {n} 大别山"))).collect();
    store.append(&id("large"), &batch, &at(1.0)).await.unwrap();
}

fn count(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn hidden(connection: &Connection) -> i64 {
    count(connection, "SELECT count(*) FROM hx_hidden")
}

/// Returns how many transactions changed the file so far: SQLite counts them at the start of the `-shm` file. Read by
/// another process, because closing a descriptor of it here would drop this process's locks.
fn transactions(path: &Path) -> u32 {
    let mut name = path.as_os_str().to_owned();
    name.push("-shm");
    let output = Command::new("cat").arg(name).output().unwrap();
    u32::from_ne_bytes(output.stdout[8..12].try_into().unwrap())
}

/// Makes a session that is deleted in part: its deleter was dropped after the first step.
async fn half_deleted(file: &File) -> Arc<SqliteStore> {
    let store = Arc::new(file.open_idle());
    fill(&store).await;
    let (deleter, foreign) = (Arc::clone(&store), file.foreign());
    let deletion =
        tokio::spawn(async move { deleter.delete(&id("large"), DeleteExtent::Conversation, &at(9.0)).await });
    while hidden(&foreign) == 0 && !deletion.is_finished() {
        tokio::task::yield_now().await;
    }
    deletion.abort();
    assert!(deletion.await.is_err(), "it takes several steps");
    // Waits for a step that was already requested.
    store.append(&id("other"), &[user("after")], &at(3.0)).await.unwrap();
    assert_eq!(hidden(&foreign), 1);
    store
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_deletion_is_many_transactions_and_many_small_ones_are_few() {
    let file = File::new();
    let store = file.open();
    fill(&store).await;
    let before = transactions(&file.path());
    store.delete(&id("large"), DeleteExtent::Conversation, &at(9.0)).await.unwrap();
    let large = transactions(&file.path()) - before;
    assert!(large >= STEPS, "{large} transactions");
    for n in 0..200 {
        let name = format!("small-{n}");
        store.create(&new(&name), &at(1.0)).await.unwrap();
        store.end(&id(&name), &hermes_session::EndReason::compression(), &at(2.0)).await.unwrap();
    }
    let (before, policy) = (transactions(&file.path()), RetentionPolicy::new(1.0, None).unwrap());
    let pruned = prune(&store, &policy, Timestamp::from_seconds(1e6).unwrap(), &mut |_, _| {}).await.unwrap();
    let small = transactions(&file.path()) - before;
    assert_eq!(pruned.conversations, 200);
    assert!(small < 100, "{small} transactions for 200 conversations");
}

/// A large conversation that is pruned goes in steps, with messages of a live writer in between.
#[tokio::test(flavor = "multi_thread")]
async fn a_live_writer_gets_in_between() {
    let file = File::new();
    let store = Arc::new(file.open());
    fill(&store).await;
    store.end(&id("large"), &hermes_session::EndReason::compression(), &at(2.0)).await.unwrap();
    file.foreign()
        .execute_batch(
            "CREATE TABLE seen (rows INTEGER); CREATE TRIGGER live AFTER INSERT ON messages WHEN new.session_id = 'other' BEGIN
             INSERT INTO seen SELECT count(*) FROM messages WHERE session_id = 'large'; END;",
        )
        .unwrap();
    let pruner = Arc::clone(&store);
    let pruning = tokio::spawn(async move {
        let policy = RetentionPolicy::new(1.0, None).unwrap();
        prune(&*pruner, &policy, Timestamp::from_seconds(1e6).unwrap(), &mut |_, _| {}).await.unwrap()
    });
    while !pruning.is_finished() {
        store.append(&id("other"), &[user("live")], &at(3.0)).await.unwrap();
    }
    assert_eq!(pruning.await.unwrap().messages, MESSAGES as u64);
    let between = format!("SELECT count(DISTINCT rows) FROM seen WHERE rows > 0 AND rows < {MESSAGES}");
    assert!(count(&file.foreign(), &between) >= 2, "the writer waited for more than a step");
}

#[tokio::test(flavor = "multi_thread")]
async fn upkeep_ends_what_was_left() {
    let file = File::new();
    let store = half_deleted(&file).await;
    assert_eq!(shown(&store).await, "other(after)");
    let report = store.verify().await.unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert!(report.checks.iter().any(|check| check.findings.iter().any(|found| found.object == "hx_hidden large")));
    drop(store);
    let store = file.open_idle();
    assert_eq!((store.session(&id("large")).await.unwrap(), hidden(&file.foreign())), (None, 1));
    while store.upkeep().await.unwrap() {}
    assert_eq!(hidden(&file.foreign()), 0);
    assert_eq!(count(&file.foreign(), "SELECT count(*) FROM messages"), 1);
    assert_eq!(count(&file.foreign(), "SELECT count(*) FROM sessions"), 1);
    assert!(store.verify().await.unwrap().checks.iter().all(|check| check.findings.is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
async fn its_id_can_be_used_at_once() {
    for verb in ["create", "ensure", "branch", "split"] {
        let file = File::new();
        let store = half_deleted(&file).await;
        let child = hermes_session::NewChild::new(id("large"));
        match verb {
            "create" => store.create(&new("large"), &at(10.0)).await.unwrap(),
            "ensure" => _ = store.ensure(&new("large"), &at(10.0)).await.unwrap(),
            "branch" => _ = store.branch(&id("other"), &child, &at(10.0)).await.unwrap(),
            _ => _ = store.split(&id("other"), &child, &[user("after")], &at(10.0)).await.unwrap(),
        }
        store.append(&id("large"), &[user("new")], &at(11.0)).await.unwrap();
        let session = store.session(&id("large")).await.unwrap().unwrap();
        let inherited = i64::from(matches!(verb, "branch" | "split"));
        assert_eq!((session.message_count, hidden(&file.foreign())), (1 + inherited, 0), "{verb}");
        assert!(store.verify().await.unwrap().is_sound());
    }
}

/// The agent sees a session until its row is gone, and may write to it.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_agent_adds_meanwhile_breaks_nothing() {
    let file = File::new();
    let store = half_deleted(&file).await;
    let foreign = file.foreign();
    foreign
        .execute_batch(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('large', 'user', 'late', 5.0);
         UPDATE sessions SET message_count = message_count + 1, title = 'late' WHERE id = 'large';
         INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES ('child', 'cli', 'large', 6.0);
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('child', 'user', 'mine', 7.0);
         UPDATE sessions SET message_count = 1 WHERE id = 'child';
         INSERT OR IGNORE INTO sessions (id, source, started_at) VALUES ('large', 'cli', 8.0);",
        )
        .unwrap();
    assert_eq!(shown(&store).await, "child(mine) other(after)");
    assert!(store.verify().await.unwrap().is_sound());
    assert_eq!(store.lineage(&id("child")).await.unwrap().links().count(), 1);
    assert!(store.create(&new("x").child_of(id("large"), Relation::Delegate), &at(9.0)).await.is_err());
    while store.upkeep().await.unwrap() {}
    assert_eq!(shown(&store).await, "child(mine) other(after)");
    let child = store.session(&id("child")).await.unwrap().unwrap();
    assert_eq!((child.parent_session_id, child.relation), (None, Relation::Root));
    assert_eq!(count(&foreign, "SELECT count(*) FROM messages WHERE session_id = 'large'"), 0);
    assert!(store.verify().await.unwrap().is_sound());
}

/// The first version of the topic tables refers to a session without an ON DELETE action; the agent itself can't delete
/// such a session.
#[tokio::test(flavor = "multi_thread")]
async fn rows_that_refer_to_a_session_go_with_it() {
    let file = File::new();
    let store = file.open();
    for name in ["a", "b"] {
        store.create(&new(name), &at(1.0)).await.unwrap();
    }
    let foreign = file.foreign();
    foreign
        .execute_batch(
            "CREATE TABLE \"topic \"\"bindings\" (topic TEXT, session_id TEXT NOT NULL REFERENCES sessions(id));
             INSERT INTO \"topic \"\"bindings\" VALUES ('1', 'a'), ('2', 'b');",
        )
        .unwrap();
    let deleted = store.delete(&id("a"), DeleteExtent::Conversation, &at(2.0)).await.unwrap();
    assert_eq!(deleted, Deleted { sessions: 1, messages: 0 });
    assert_eq!(count(&foreign, "SELECT sum(topic) FROM \"topic \"\"bindings\""), 2);
}

#[tokio::test]
async fn a_killed_deletion_has_happened() {
    let mut half = 0;
    for round in 0..10 {
        let file = File::new();
        let store = file.open();
        fill(&store).await;
        let mut child = child("delete", "large", &file.path()).spawn().unwrap();
        let foreign = file.foreign();
        while hidden(&foreign) == 0 && count(&foreign, "SELECT count(*) FROM sessions") == 2 {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        half += hidden(&foreign);
        assert_eq!(shown(&store).await, "other()");
        let key = hermes_session::RequestKey::parse("delete").unwrap();
        let again = store.delete(&id("large"), DeleteExtent::Conversation, &at(10.0).keyed(key)).await.unwrap();
        assert_eq!(again, Deleted { sessions: 1, messages: MESSAGES as u64 }, "round {round}");
        while store.upkeep().await.unwrap() {}
        assert_eq!((hidden(&foreign), count(&foreign, "SELECT count(*) FROM messages")), (0, 0));
        assert!(store.verify().await.unwrap().is_sound());
        if half > 1 {
            return;
        }
    }
    panic!("no process was killed half-way");
}

/// The conversation of a large delegate is recomputed in the step that deletes the delegate, whichever process removes
/// its rows.
#[tokio::test]
async fn a_killed_deletion_of_a_delegate_has_happened() {
    let mut half = 0;
    for round in 0..10 {
        let file = File::new();
        let store = file.open_idle();
        store.create(&new("sender"), &at(1.0)).await.unwrap();
        store.create(&new("large").child_of(id("sender"), Relation::Delegate), &at(2.0)).await.unwrap();
        let batch: Vec<NewMessage> = (0..MESSAGES).map(|n| user(&format!("message {n} 大别山"))).collect();
        store.append(&id("large"), &batch, &at(8.0)).await.unwrap();
        let mut child = child("delete_chain", "large", &file.path()).spawn().unwrap();
        let foreign = file.foreign();
        while hidden(&foreign) == 0 && count(&foreign, "SELECT count(*) FROM sessions") == 2 {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        half += hidden(&foreign);
        let side = "SELECT group_concat(session_id || ' ' || tip || ' ' || active || ' ' || dirty) FROM hx_session";
        let side: String = foreign.query_row(side, [], |row| row.get(0)).unwrap();
        assert_eq!(side, "sender sender 1.0 0");
        let key = hermes_session::RequestKey::parse("delete_chain").unwrap();
        let again = store.delete(&id("large"), DeleteExtent::Chain, &at(10.0).keyed(key)).await.unwrap();
        assert_eq!(again, Deleted { sessions: 1, messages: MESSAGES as u64 }, "round {round}");
        while store.upkeep().await.unwrap() {}
        assert_eq!((hidden(&foreign), count(&foreign, "SELECT count(*) FROM messages")), (0, 0));
        assert!(store.verify().await.unwrap().is_sound());
        if half > 1 {
            return;
        }
    }
    panic!("no process was killed half-way");
}

/// If a foreign writer left delegates in a cycle, deleting any of them deletes all.
#[tokio::test]
async fn delegates_in_a_cycle_go_together() {
    for member in ["a", "b", "c"] {
        let file = File::new();
        let store = file.open();
        store.create(&new("a"), &at(1.0)).await.unwrap();
        for (name, parent) in [("b", "a"), ("c", "b")] {
            store.create(&new(name).child_of(id(parent), Relation::Delegate), &at(2.0)).await.unwrap();
        }
        file.foreign().execute("UPDATE sessions SET parent_session_id = 'c' WHERE id = 'a'", []).unwrap();
        file.foreign().execute("UPDATE hx_session SET relation = 'delegate' WHERE session_id = 'a'", []).unwrap();
        let deleted = store.delete(&id(member), DeleteExtent::Chain, &at(3.0)).await.unwrap();
        assert_eq!(deleted, Deleted { sessions: 3, messages: 0 }, "{member}");
        assert_eq!(shown(&store).await, "");
        assert!(store.verify().await.unwrap().is_sound());
    }
}
