//! The agent keeps appending while processes of ours adopt its file.

use crate::fixture::{File, report, texts};
use crate::peer::{Peer, Release};
use crate::process::{Acknowledged, Process};
use crate::views::our_list;
use hermes_sqlite::{SqliteOptions, SqliteStore};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// The variable that makes a copy of this program open a file: name and file.
const ROLE: &str = "HERMES_INTEROP_OPENER";
const SESSIONS: usize = 1_000;
/// Number of messages that the agent appends to each of its new sessions.
const EACH: u32 = 4;

/// Opens a file and prints a line before and after. Does nothing unless it was started as an opener.
#[test]
fn an_opener_of_its_own() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let (_, path) = role.split_once(':').unwrap();
    println!("\n{}", json!("opening"));
    drop(SqliteStore::open(path.as_ref(), &SqliteOptions::default()).unwrap());
    println!("\n{}", json!("opened"));
}

fn opener(file: &File) -> Process {
    let opener = Process::copy_of_us("adoption::an_opener_of_its_own", ROLE, "opener", file);
    assert_eq!(opener.answer(), "opening");
    opener
}

/// Makes a file of the agent with enough content that adoption takes a while. Every fourth session continues another
/// one.
fn old_file(release: &Release) -> File {
    let file = File::new();
    let mut peer = release.open(&file);
    let numbers = format!("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {SESSIONS})");
    peer.query(&format!(
        "{numbers} INSERT INTO sessions (id, source, started_at, ended_at, end_reason, parent_session_id, message_count)
         SELECT 'old-' || i, 'cli', 1000.0 + i, iif(i % 4 = 0, 1000.5 + i, NULL), iif(i % 4 = 0, 'compression', NULL),
             iif(i % 4 = 1, 'old-' || (i - 1), NULL), 3 FROM n"
    ));
    peer.query(
        "INSERT INTO messages (session_id, role, content, timestamp)
         SELECT id, 'user', 'word ' || v.column1 || ' of ' || id, started_at + v.column1 / 10.0
         FROM sessions, (VALUES (1), (2), (3)) v",
    );
    peer.close();
    file
}

/// Copies the file, which must not be open anywhere.
fn copy(old: &File) -> File {
    let file = File::new();
    assert!(!old.path().with_file_name("state.db-wal").exists(), "the file is not at rest");
    std::fs::copy(old.path(), file.path()).unwrap();
    file
}

fn start(release: &Release, file: &File) -> Peer {
    let mut peer = release.open(file);
    peer.start_sessions_in_a_loop("late", EACH);
    peer.process.wait_for(3);
    peer
}

/// Checks that the file is completely adopted and holds what was acknowledged to the agent, exactly once. Returns the
/// number of messages.
async fn settle(file: &File, store: &SqliteStore, acknowledged: &[Acknowledged]) -> usize {
    let mut promised: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for append in acknowledged {
        promised.entry(&append.session).or_default().push(&append.text);
    }
    for (session, expect) in &promised {
        assert_eq!(texts(store, session).await, *expect, "{session}");
    }
    let late = "SELECT count(*) FROM messages WHERE session_id LIKE 'late%'";
    assert_eq!(file.number(late), acknowledged.len() as i64);
    assert_eq!(file.number("SELECT count(*) FROM messages WHERE session_id LIKE 'old-%'"), 3 * SESSIONS as i64);
    let rows = our_list(store).await;
    let previews: BTreeSet<(String, String)> =
        rows.iter().map(|row| (row.id.as_str().to_owned(), row.preview.clone())).collect();
    let old = (0..SESSIONS).filter(|number| number % 4 != 0).map(|number| {
        let first = if number % 4 == 1 { number - 1 } else { number };
        (format!("old-{number}"), format!("word 1 of old-{first}"))
    });
    let late = promised.iter().map(|(session, texts)| ((*session).to_owned(), texts[0].to_owned()));
    assert_eq!(previews, old.chain(late).collect::<BTreeSet<_>>());
    file.check();
    acknowledged.len()
}

async fn an_old_writer_notices_nothing(release: &Release) {
    let old = old_file(release);
    let mut during = 0;
    const ROUNDS: usize = 5;
    for _ in 0..ROUNDS {
        let file = copy(&old);
        let mut peer = start(release, &file);
        let openers = [opener(&file), opener(&file)];
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| drop(file.open()));
            }
        });
        for opener in openers {
            assert_eq!(opener.answer(), "opened");
            opener.end();
        }
        peer.process.wait_for(peer.process.acknowledged() + 2 * EACH as usize);
        let end = peer.finish();
        peer.close();
        during += settle(&file, &file.open(), &end.acknowledged).await;
        assert_eq!(file.number("SELECT version FROM schema_version"), 11);
    }
    report(&format!("{}, 4 openers adopt {ROUNDS} files it appends to: {during} messages, none lost", release.version));
}
scenario!(an_old_writer_notices_nothing: release_0_14_0 "0.14.0");

async fn an_adoption_that_is_killed_is_whole_or_nothing(release: &Release) {
    const ROUNDS: u32 = 10;
    let old = old_file(release);
    let undisturbed = copy(&old);
    let start_of_one = Instant::now();
    let first = opener(&undisturbed);
    let begun = start_of_one.elapsed();
    assert_eq!(first.answer(), "opened");
    let span = start_of_one.elapsed() - begun;
    first.end();

    let (mut never, mut wholly, mut during) = (0, 0, 0);
    for round in 0..ROUNDS {
        let file = copy(&old);
        let mut peer = start(release, &file);
        let opener = opener(&file);
        // This does not wait for a condition: the rounds try one moment of the adoption after the other, and some after
        // it. Beside a writer, adoption takes longer than alone.
        tokio::time::sleep(span * 3 * round / ROUNDS).await;
        opener.end_by(if round % 2 == 0 { "KILL" } else { "TERM" });
        let adopted = file.number("SELECT count(*) FROM sqlite_schema WHERE name = 'hx_session'") == 1;
        if adopted {
            wholly += 1;
            file.check();
        } else {
            never += 1;
            assert_eq!(file.number("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'hx%'"), 0);
            assert_eq!(file.number("SELECT user_version FROM pragma_user_version"), 0);
        }
        peer.process.wait_for(peer.process.acknowledged() + EACH as usize);
        let store = file.open();
        let end = peer.finish();
        peer.close();
        during += settle(&file, &store, &end.acknowledged).await;
    }
    report(&format!(
        "{}, {ROUNDS} adoptions killed: {never} never happened, {wholly} were whole; {during} messages of the agent's, none lost",
        release.version
    ));
}
scenario!(an_adoption_that_is_killed_is_whole_or_nothing: release_0_14_0 "0.14.0");
