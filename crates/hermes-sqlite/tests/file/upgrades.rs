//! Files of revision 1: the first write brings them to the present one, in one transaction.

use crate::child::{child, told};
use crate::fixture::{File, at, id, new, shown, user};
use crate::processes::rounds;
use hermes_session::gateway::HandoffRequest;
use hermes_session::live::{Resource, RouteKey, Terms};
use hermes_session::{
    GatewayStore as _, LeaseStore as _, MailStore as _, Maintenance as _, MessageRequest, RouteStore as _,
    SessionStore as _, TurnStore as _,
};
use hermes_sqlite::{Adopt, SqliteOptions, SqliteStore};
use std::time::Duration;

/// Takes back what revision 2 added.
const REVISION_1: &str = "
    BEGIN;
    DROP TABLE hx_lease; DROP TABLE hx_turn; DROP TABLE hx_inbox; DROP TABLE hx_cursor; DROP TABLE hx_outbox;
    DROP TABLE hx_route; DROP TABLE hx_route_alias;
    DROP TRIGGER hx_session_gone;
    ALTER TABLE hx_session DROP COLUMN cause;
    ALTER TABLE hx_handoff DROP COLUMN expires_at; ALTER TABLE hx_handoff DROP COLUMN claimed_by;
    ALTER TABLE hx_handoff DROP COLUMN destination; ALTER TABLE hx_handoff DROP COLUMN thread;
    ALTER TABLE hx_handoff DROP COLUMN turn; ALTER TABLE hx_handoff DROP COLUMN synthetic_from;
    CREATE TRIGGER hx_session_gone AFTER DELETE ON sessions BEGIN
        UPDATE hx_session SET dirty = dirty | 2 WHERE root = (SELECT root FROM hx_session WHERE session_id = old.id);
        UPDATE hx_session SET dirty = dirty | 2, root = session_id, active = last_active WHERE origin = old.id AND root = old.id;
        DELETE FROM hx_session WHERE session_id = old.id;
        DELETE FROM hx_request WHERE session_id = old.id;
    END;
    DELETE FROM hx_state WHERE key = 'reads_from';
    PRAGMA user_version = 1;
    COMMIT";

/// Returns a file with two messages and a handoff, at the present revision.
async fn present() -> File {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.append(&id("a"), &[user("the start"), user("the end")], &at(2.0)).await.unwrap();
    store.request_handoff(&id("a"), &HandoffRequest::to("telegram"), &at(3.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    drop(store);
    file
}

async fn old() -> File {
    let file = present().await;
    file.foreign().execute_batch(REVISION_1).unwrap();
    file
}

/// Returns the revision, and the statements of all objects of a file by name. Spaces do not count: [`REVISION_1`] drops
/// some.
fn schema(file: &File) -> (i64, Vec<(String, Option<String>)>) {
    let foreign = file.foreign();
    let revision = foreign.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let mut statement = foreign.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").unwrap();
    let without_spaces = |sql: String| sql.split_whitespace().collect();
    let objects =
        statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?.map(without_spaces)))).unwrap();
    (revision, objects.map(Result::unwrap).collect())
}

#[track_caller]
fn is_same(one: &File, other: &File) {
    let (one, other) = (schema(one), schema(other));
    let differing: Vec<_> = one.1.iter().filter(|object| !other.1.contains(object)).collect();
    assert_eq!((one.0, one.1.len(), differing), (other.0, other.1.len(), Vec::new()));
}

fn open(file: &File, options: SqliteOptions) -> SqliteStore {
    SqliteStore::open(&file.path(), &options).unwrap()
}

#[tokio::test]
async fn an_upgraded_file_has_the_objects_of_a_new_one() {
    let (new, old) = (present().await, old().await);
    assert_eq!(schema(&old).0, 1);
    let store = old.open();
    assert_eq!(store.notices(), Vec::<String>::new());
    assert_eq!(shown(&store).await, "a(the start)");
    assert_eq!(store.handoff(&id("a")).await.unwrap().unwrap().requested_at, Some(at(3.0).at));
    assert_eq!(crate::verify::told(&store.verify().await.unwrap()), Vec::<String>::new());
    drop(store);
    is_same(&old, &new);
}

/// If it is killed at any moment, the file is either of revision 1 or of the present one, and whole.
#[tokio::test]
async fn an_upgrade_that_is_killed_never_happened() {
    let before = schema(&old().await);
    let after = schema(&present().await);
    let (mut unchanged, mut upgraded) = (0, 0);
    for round in 0..rounds(12) {
        let file = old().await;
        let mut opener = child("open", "", &file.path()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(round as u64 * 7_919 % 40_000));
        opener.kill().unwrap();
        opener.wait().unwrap();
        match schema(&file) {
            found if found == before => unchanged += 1,
            found if found == after => upgraded += 1,
            half => panic!("half a state: {} objects of revision {}", half.1.len(), half.0),
        }
        let store = file.open();
        assert_eq!(store.messages(&id("a"), &MessageRequest::first(9)).await.unwrap().len(), 2);
        drop(store);
        assert!(schema(&file) == after);
    }
    println!("killed {} times: {unchanged} as before, {upgraded} as after", unchanged + upgraded);
}

#[tokio::test]
async fn eight_processes_upgrade_once() {
    let file = old().await;
    let openers: Vec<_> = (0..8).map(|_| child("open", "", &file.path()).spawn().unwrap()).collect();
    for opener in openers {
        let output = opener.wait_with_output().unwrap();
        assert_eq!(told(&output.stdout, "opened"), ["11"], "{}", String::from_utf8_lossy(&output.stdout));
    }
    is_same(&file, &present().await);
}

/// A reader adds nothing: there are no live data until somebody writes. Then it sees them.
#[tokio::test]
async fn a_file_of_revision_1_is_read_as_it_is() {
    let file = old().await;
    let before = schema(&file);
    let readers = [
        open(&file, SqliteOptions { read_only: true, ..SqliteOptions::default() }),
        open(&file, SqliteOptions { adopt: Adopt::OnFirstWrite, ..SqliteOptions::default() }),
    ];
    let key = RouteKey {
        platform: "telegram".into(),
        account: "telegram:1".into(),
        chat_type: "dm".into(),
        chat: "7".into(),
        thread: None,
        participant: None,
    };
    for store in &readers {
        assert_eq!(shown(store).await, "a(the start)");
        assert!(store.leases("").await.unwrap().is_empty() && store.open_turns(None, 9).await.unwrap().is_empty());
        assert!(store.waiting(None, 9).await.unwrap().is_empty() && store.outbound(None, 9).await.unwrap().is_empty());
        assert_eq!(store.route(&key).await.unwrap(), None);
        assert_eq!(store.reset_cause(&id("a")).await.unwrap(), None);
        assert!(store.undone(&id("a")).await.unwrap().is_empty());
        assert_eq!(store.handoff(&id("a")).await.unwrap().unwrap().expires_at, None);
    }
    assert!(schema(&file) == before);
    let (what, who) = (Resource::Conversation(id("a")), crate::live::holder("chat"));
    let lasting = Terms::free(Duration::from_secs(15));
    readers[1].acquire(&what, &who, lasting, &at(4.0)).await.unwrap();
    for store in &readers {
        assert_eq!(store.leases("c:").await.unwrap().len(), 1);
    }
    drop(readers);
    is_same(&file, &present().await);
}
