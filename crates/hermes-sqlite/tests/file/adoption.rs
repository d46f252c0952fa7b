//! A file of the agent, schema 11, that is opened by us for the first time.

use crate::child::{child, told};
use crate::fixture::{File, id, shown};
use crate::inline::agents_file;
use crate::old_schema::schema;
use crate::processes::rounds;
use hermes_session::{Maintenance as _, Relation, SessionStore as _};

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

/// Makes a file of an old schema with enough content that adopting it takes a moment.
fn old_file(version: i64) -> File {
    let file = File::new();
    let foreign = file.foreign();
    foreign.execute_batch(&schema(version)).unwrap();
    foreign
        .execute_batch(
            "BEGIN; INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
             INSERT INTO messages (session_id, role, content, timestamp)
                 SELECT 'a', 'user', 'message ' || i || ' ' || hex(randomblob(400)), i FROM n; COMMIT",
        )
        .unwrap();
    file
}

fn facts(file: &File) -> (i64, i64, i64, i64) {
    let foreign = file.foreign();
    let side: i64 =
        foreign.query_row("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'hx%'", [], |row| row.get(0)).unwrap();
    let revision = foreign.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let rows = "SELECT (SELECT max(version) FROM schema_version), (SELECT count(*) FROM messages)";
    let (version, messages) = foreign.query_row(rows, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    (version, messages, revision, side.min(1))
}

#[test]
fn eight_processes_adopt_once() {
    for version in [6, 9].into_iter().cycle().take(rounds(2)) {
        let file = old_file(version);
        let openers: Vec<_> = (0..8).map(|_| child("open", "", &file.path()).spawn().unwrap()).collect();
        for opener in openers {
            let output = opener.wait_with_output().unwrap();
            assert_eq!(told(&output.stdout, "opened"), ["11"], "{}", String::from_utf8_lossy(&output.stdout));
        }
        assert_eq!(facts(&file), (11, 400, 2, 1));
        let beside = std::fs::read_dir(file.path().parent().unwrap()).unwrap();
        let copies =
            beside.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains("backup")).count();
        assert_eq!(copies, 1, "one copy is kept, whoever came first");
    }
}

/// If it is killed at any moment, the file is either unchanged or adopted, and the next process completes the adoption.
#[test]
fn an_adoption_that_is_killed_never_happened() {
    let (mut before, mut after) = (0, 0);
    for round in 0..rounds(12) {
        let file = old_file(6);
        let mut opener = child("open", "", &file.path()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(round as u64 * 7_919 % 60_000));
        opener.kill().unwrap();
        opener.wait().unwrap();
        match facts(&file) {
            (6, 400, 0, 0) => before += 1,
            (11, 400, 2, 1) => after += 1,
            half => panic!("half a state: {half:?}"),
        }
        drop(file.open());
        assert_eq!(facts(&file), (11, 400, 2, 1));
        let left = std::fs::read_dir(file.path().parent().unwrap()).unwrap();
        assert!(left.flatten().all(|entry| !entry.file_name().to_string_lossy().contains(".part-")));
    }
    println!("killed {} times: {before} as before, {after} as after", before + after);
}

/// Dropping a table of ours loses nothing that can't be recomputed.
#[tokio::test]
async fn side_tables_that_were_dropped_come_back() {
    for table in ["hx_session", "hx_request", "hx_state", "hx_pending", "hx_hidden"] {
        let file = File::new();
        let store = file.open();
        store.create(&crate::fixture::new("a"), &crate::fixture::at(1.0)).await.unwrap();
        store.append(&id("a"), &[crate::fixture::user("hello")], &crate::fixture::at(2.0)).await.unwrap();
        drop(store);
        file.foreign().execute_batch(&format!("DROP TABLE {table}")).unwrap();
        let store = file.open();
        assert_eq!(shown(&store).await, "a(hello)", "{table}");
        store.append(&id("a"), &[crate::fixture::user("again")], &crate::fixture::at(3.0)).await.unwrap();
        while store.upkeep().await.unwrap() {}
        assert_eq!(crate::verify::told(&store.verify().await.unwrap()), Vec::<String>::new(), "{table}");
    }
}
