//! A foreign writer writes the file while we have it open, with plain SQL in the agent's order.

use crate::fixture::{File, at, id, new, shown, user};
use hermes_session::{
    ConversationStore as _, DeleteExtent, Lineage, ListRequest, Maintenance as _, MessageRequest, NewChild, Relation,
    SessionStore as _, View,
};
use hermes_sqlite::SqliteStore;
use rusqlite::Connection;

fn create(connection: &Connection, id: &str, parent: Option<&str>, started_at: f64) {
    connection
        .execute(
            "INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES (?, 'cli', ?, ?)",
            (id, parent, started_at),
        )
        .unwrap();
}

fn end(connection: &Connection, id: &str, reason: &str, at: f64) {
    connection.execute("UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ?", (at, reason, id)).unwrap();
}

fn say(connection: &Connection, session: &str, role: &str, text: &str, at: f64) {
    connection
        .execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)",
            (session, role, text, at),
        )
        .unwrap();
    connection.execute("UPDATE sessions SET message_count = message_count + 1 WHERE id = ?", [session]).unwrap();
}

async fn relation(store: &SqliteStore, name: &str) -> Relation {
    store.session(&id(name)).await.unwrap().unwrap().relation
}

/// Runs upkeep until all stale rows are recomputed, then returns the list. The list showed the same rows before; only
/// the order by activity may lag if messages were deleted.
async fn list_after_upkeep(file: &File, store: &SqliteStore) -> String {
    let before = shown(store).await;
    while store.upkeep().await.unwrap() {}
    let marked: i64 =
        file.foreign().query_row("SELECT count(*) FROM hx_session WHERE dirty <> 0", [], |row| row.get(0)).unwrap();
    assert_eq!(marked, 0);
    let after = shown(store).await;
    let sorted = |list: &str| {
        list.split(") ").map(|row| row.trim_end_matches(')').to_owned()).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(sorted(&before), sorted(&after));
    after
}

#[tokio::test]
async fn their_sessions_are_stamped_at_birth() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    create(&foreign, "root", None, 100.0);
    create(&foreign, "helper", Some("root"), 110.0);
    end(&foreign, "root", "compression", 200.0);
    // Clocks that went backwards do not matter: the end reason at creation decides.
    create(&foreign, "next", Some("root"), 50.0);
    create(&foreign, "late", Some("root"), 300.0);
    end(&foreign, "next", "branched", 400.0);
    create(&foreign, "fork", Some("next"), 400.0);
    for (name, expect) in [
        ("root", Relation::Root),
        ("helper", Relation::Delegate),
        ("next", Relation::Continuation),
        ("late", Relation::Branch),
        ("fork", Relation::Branch),
    ] {
        assert_eq!(relation(&store, name).await, expect, "{name}");
    }
    say(&foreign, "next", "user", "carry on", 500.0);
    assert_eq!(shown(&store).await, "next(carry on) fork() late()");
    foreign.execute("UPDATE sessions SET ended_at = NULL, end_reason = NULL", []).unwrap();
    assert_eq!(list_after_upkeep(&file, &store).await, "next(carry on) fork() late()", "reopening changes no relation");
}

#[tokio::test]
async fn their_messages_move_times_and_previews() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    create(&foreign, "a", None, 1.0);
    create(&foreign, "b", None, 2.0);
    say(&foreign, "a", "assistant", "hello", 10.0);
    assert_eq!(shown(&store).await, "a() b()");
    say(&foreign, "b", "user", "  ", 20.0);
    say(&foreign, "b", "user", "\0json:[{\"type\": \"text\", \"text\": \"\\u5927 山\"}]", 30.0);
    assert_eq!(list_after_upkeep(&file, &store).await, "b(大 山) a()");
    foreign.execute("DELETE FROM messages WHERE session_id = 'b'", []).unwrap();
    assert_eq!(shown(&store).await.matches("山").count(), 0, "a preview never outlives its message");
    assert_eq!(list_after_upkeep(&file, &store).await, "a() b()");
    foreign.execute("UPDATE messages SET role = 'user' WHERE session_id = 'a'", []).unwrap();
    assert_eq!(list_after_upkeep(&file, &store).await, "a(hello) b()");
}

#[tokio::test]
async fn what_they_cut_off_stays_visible() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    for (name, parent) in [("c1", None), ("c2", Some("c1")), ("c3", Some("c2")), ("c4", Some("c3"))] {
        create(&foreign, name, parent, 1.0);
        say(&foreign, name, "user", name, 2.0);
        end(&foreign, name, "compression", 3.0);
    }
    assert_eq!(list_after_upkeep(&file, &store).await, "c4(c1)");
    // The agent's way to delete: children lose their parent, then messages and row are deleted.
    let delete = |name: &str| {
        foreign
            .execute_batch(&format!(
                "BEGIN; UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = '{name}';
                 DELETE FROM messages WHERE session_id = '{name}'; DELETE FROM sessions WHERE id = '{name}'; COMMIT"
            ))
            .unwrap();
    };
    delete("c2");
    assert_eq!(shown(&store).await, "c4(c3) c1(c1)");
    assert_eq!(list_after_upkeep(&file, &store).await, "c4(c3) c1(c1)");
    let lineage: Lineage = store.lineage(&id("c4")).await.unwrap();
    assert_eq!(lineage.conversation(&id("c4")), [id("c3"), id("c4")]);
}

#[tokio::test]
async fn a_cycle_they_left_hides_nothing_and_hangs_nothing() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    create(&foreign, "self", Some("self"), 5.0);
    create(&foreign, "x", None, 1.0);
    create(&foreign, "y", Some("x"), 2.0);
    create(&foreign, "z", Some("y"), 3.0);
    foreign
        .execute("UPDATE sessions SET parent_session_id = 'z', end_reason = 'compression' WHERE id = 'x'", [])
        .unwrap();
    foreign.execute("UPDATE hx_session SET relation = 'delegate', dirty = 3 WHERE session_id = 'x'", []).unwrap();
    assert_eq!(list_after_upkeep(&file, &store).await, "self() x()");
    assert_eq!(store.lineage(&id("y")).await.unwrap().conversation(&id("y")).len(), 3);
    let deleted = store.delete(&id("y"), DeleteExtent::Conversation, &at(9.0)).await.unwrap();
    assert_eq!((deleted.sessions, shown(&store).await.as_str()), (3, "self()"));
    store.delete(&id("self"), DeleteExtent::Conversation, &at(9.0)).await.unwrap();
    assert_eq!(shown(&store).await, "");
}

#[tokio::test]
async fn both_sides_write_in_turn() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    store.create(&new("ours"), &at(1.0)).await.unwrap();
    store.append(&id("ours"), &[user("one")], &at(2.0)).await.unwrap();
    say(&foreign, "ours", "assistant", "two", 3.0);
    store.append(&id("ours"), &[user("three")], &at(4.0)).await.unwrap();
    store.split(&id("ours"), &NewChild::new(id("on")), &[user("four")], &at(5.0)).await.unwrap();
    say(&foreign, "on", "user", "five", 6.0);
    assert_eq!(shown(&store).await, "on(one)");
    let session = store.session(&id("ours")).await.unwrap().unwrap();
    assert_eq!((session.message_count, session.end_reason.unwrap().as_str()), (3, "compression"));
    let rows = store.list(&ListRequest { view: View::Sessions, ..ListRequest::default() }).await.unwrap().rows;
    assert_eq!(
        rows.iter().map(|row| (row.id.as_str(), row.message_count)).collect::<Vec<_>>(),
        [("on", 2), ("ours", 3)]
    );
    while store.upkeep().await.unwrap() {}
    for table in ["messages_fts", "messages_fts_trigram"] {
        foreign.execute(&format!("INSERT INTO {table}({table}, rank) VALUES('integrity-check', 1)"), []).unwrap();
    }
    let found: i64 = foreign
        .query_row("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'four OR three'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(found, 2);
}

#[tokio::test]
async fn what_they_compacted_away_is_read_as_it_was_said() {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let said = ["one", "two", "taken back", "in short", "three"];
    store.append(&id("a"), &said.map(user), &at(2.0)).await.unwrap();
    file.foreign()
        .execute_batch(
            "ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
             ALTER TABLE messages ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0;
             UPDATE messages SET active = 0 WHERE content IN ('one', 'two', 'taken back');
             UPDATE messages SET compacted = 1 WHERE content IN ('one', 'two');",
        )
        .unwrap();
    let read = async |request: MessageRequest| -> Vec<String> {
        let messages = store.messages(&id("a"), &request).await.unwrap();
        messages.iter().map(|message| message.body.plain_text().into_owned()).collect()
    };
    assert_eq!(read(MessageRequest::first(9)).await, ["in short", "three"]);
    assert_eq!(read(MessageRequest::first(9).as_said()).await, ["one", "two", "in short", "three"]);
    assert_eq!(read(MessageRequest::last(3).as_said()).await, ["two", "in short", "three"]);
}
