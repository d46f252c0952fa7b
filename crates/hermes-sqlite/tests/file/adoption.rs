//! A file of the agent's, schema 11, that we see for the first time.

use crate::fixture::{File, id, shown};
use hermes_session::{Relation, SessionStore as _};

/// Makes a file as the agent leaves it: ours without our side tables.
pub(crate) fn agents_file(rows: &str) -> File {
    let file = File::new();
    drop(file.open());
    let foreign = file.foreign();
    let ours: Vec<(String, String)> = foreign
        .prepare("SELECT type, name FROM sqlite_schema WHERE name LIKE 'hx\\_%' ESCAPE '\\' ORDER BY type = 'table'")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for (kind, name) in ours {
        foreign.execute_batch(&format!("DROP {kind} IF EXISTS {name}")).unwrap();
    }
    foreign.execute_batch("PRAGMA user_version = 0").unwrap();
    foreign.execute_batch(rows).unwrap();
    file
}

#[tokio::test]
async fn old_rows_are_stamped_once() {
    let file = agents_file(
        "INSERT INTO sessions (id, source, parent_session_id, started_at, ended_at, end_reason) VALUES
             ('root', 'cli', NULL, 1.0, 10.0, 'compression'),
             ('helper', 'cli', 'root', 5.0, NULL, NULL),
             ('second', 'cli', 'root', 20.0, 30.0, 'branched'),
             ('fork', 'cli', 'second', 30.0, NULL, NULL),
             ('first', 'cli', 'root', 10.0, NULL, NULL),
             ('plain', 'cli', NULL, 2.0, NULL, NULL);
         INSERT INTO messages (session_id, role, content, timestamp) VALUES
             ('first', 'user', 'after the cut', 12.0), ('root', 'user', 'the start', 3.0), ('plain', 'user', 'hi', 50.0);",
    );
    let store = file.open();
    for (name, expect) in [
        ("root", Relation::Root),
        ("helper", Relation::Delegate),
        ("first", Relation::Continuation),
        ("second", Relation::Branch),
        ("fork", Relation::Branch),
    ] {
        assert_eq!(store.session(&id(name)).await.unwrap().unwrap().relation, expect, "{name}");
    }
    assert_eq!(shown(&store).await, "plain(hi) fork() second() first(the start)");
}

#[test]
fn many_openers_adopt_once() {
    let file = agents_file("INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0)");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| drop(file.open()));
        }
    });
    let stamped: i64 = file.foreign().query_row("SELECT count(*) FROM hx_session", [], |row| row.get(0)).unwrap();
    assert_eq!(stamped, 1);
}
