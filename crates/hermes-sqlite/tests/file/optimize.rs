//! Conversion from the agent's indexes to compact ones, beside other writers and with killed processes.

use crate::child::child;
use crate::fixture::{File, at, id, new, user};
use crate::inline::agents_file;
use crate::processes::{acknowledged, rounds};
use crate::verify::told;
use hermes_session::*;
use std::collections::BTreeSet;
use std::process::Child;
use std::time::Duration;

/// Makes a file of the agent that takes a while to convert.
fn large() -> File {
    agents_file(
        "INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0), ('b', 'cli', 1.0);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
         INSERT INTO messages (session_id, role, content, timestamp)
             SELECT iif(i % 2, 'a', 'b'), 'user', 'message ' || i || iif(i % 5 = 0, ' 大别山项目 ', ' ') || hex(randomblob(300)), i FROM n;
         UPDATE sessions SET message_count = 1500;",
    )
}

/// Checks that both indexes are compact, that nothing is left of the conversion, and that FTS5 finds them sound.
async fn settled(file: &File, messages: i64) {
    let store = file.open();
    while store.upkeep().await.unwrap() {}
    assert_eq!(store.optimize().await.unwrap(), Optimizing::Done);
    assert_eq!(told(&store.verify().await.unwrap()), Vec::<String>::new());
    let foreign = file.foreign();
    let number = |sql: &str| foreign.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("SELECT count(*) FROM messages"), messages);
    let compact = "SELECT count(*) FROM sqlite_schema WHERE name IN ('messages_fts', 'messages_fts_trigram') AND sql LIKE '%content=''hx%'";
    assert_eq!(number(compact), 2);
    let left = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'hx\\_built%' ESCAPE '\\' OR name LIKE 'hx\\_replaced%' ESCAPE '\\'";
    assert_eq!(number(left), 0);
    for table in ["messages_fts", "messages_fts_trigram"] {
        foreign.execute(&format!("INSERT INTO {table}({table}, rank) VALUES('integrity-check', 1)"), []).unwrap();
    }
    let found = "SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'message'";
    assert_eq!(number(found), number("SELECT count(*) FROM messages WHERE content LIKE '%message%'"));
    let found = "SELECT count(*) FROM messages_fts_trigram WHERE messages_fts_trigram MATCH '大别山项目'";
    assert_eq!(number(found), number("SELECT count(*) FROM messages WHERE content LIKE '%大别山项目%'"));
}

#[tokio::test]
async fn everybody_writes_between_its_steps() {
    let file = large();
    let store = file.open();
    let foreign = file.foreign();
    let (mut steps, mut messages, mut looked) = (0, 3_000, false);
    store.create(&new("ours"), &at(1.0)).await.unwrap();
    let before = store.status().await.unwrap();
    loop {
        let progress = store.optimize().await.unwrap();
        if progress == Optimizing::Done {
            break;
        }
        if let Optimizing::Building { done, total } = progress {
            assert!(done <= total && total >= 2_999, "{progress:?}");
        }
        // Once while the indexes are being built and once after. Verifying takes so long that background work continues
        // meanwhile.
        if steps == 2 || progress == Optimizing::Clearing && !std::mem::replace(&mut looked, true) {
            let report = store.verify().await.unwrap();
            assert_eq!(report.check("indexes").unwrap().problems, 0, "after {steps} steps: {progress:?} {report:?}");
        }
        // Messages that the new indexes have and that they do not have, in turn; ours and the agent's.
        let (early, late) = (steps + 1, 3_000 - steps);
        foreign
            .execute_batch(&format!(
                "DELETE FROM messages WHERE id IN ({early}, {late});
                 UPDATE messages SET content = 'changed message 大别山项目' WHERE id = {early} + 500;
                 UPDATE messages SET content = 'changed message' WHERE id = {late} - 500;
                 INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'their message 大别山项目', 9.0);"
            ))
            .unwrap();
        store.append(&id("ours"), &[user("our message"), user("大别山项目")], &at(2.0)).await.unwrap();
        messages += 1;
        steps += 1;
    }
    assert!(steps > 2, "{steps} steps");
    let after = store.status().await.unwrap();
    let used = |status: &StoreStatus| status.bytes - status.free_bytes;
    assert!(used(&after) * 2 < used(&before), "{} of {} bytes are in use", used(&after), used(&before));
    foreign
        .execute_batch(
            "UPDATE sessions SET message_count = (SELECT count(*) FROM messages m WHERE m.session_id = sessions.id)",
        )
        .unwrap();
    drop(store);
    settled(&file, messages).await;
}

/// SQLite parses every view before it renames a table, unless it is configured not to.
#[tokio::test]
async fn a_foreign_view_that_is_broken_is_not_in_its_way() {
    let file = agents_file(
        "INSERT INTO sessions (id, source, started_at, message_count) VALUES ('a', 'cli', 1.0, 1);
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'message 大别山项目', 1.0);
         CREATE VIEW theirs AS SELECT gone FROM sessions;",
    );
    let store = file.open_idle();
    while store.optimize().await.unwrap() != Optimizing::Done {}
    drop(store);
    settled(&file, 1).await;
}

/// Killed again and again, it reaches the same result.
#[tokio::test]
async fn it_survives_any_number_of_deaths() {
    for round in 0..rounds(2) {
        let file = large();
        let mut deaths = 0;
        loop {
            let mut optimizer = child("optimize", "", &file.path()).spawn().unwrap();
            // Later each time, so that it makes progress.
            std::thread::sleep(Duration::from_millis((round * 7 + deaths * 20) as u64 + 20));
            optimizer.kill().unwrap();
            let output = optimizer.wait_with_output().unwrap();
            if !crate::child::told(&output.stdout, "optimized").is_empty() {
                break;
            }
            deaths += 1;
            assert!(deaths < 200, "it does not get on");
        }
        println!("optimized after {deaths} deaths");
        settled(&file, 3_000).await;
    }
}

/// Number of processes that append at once.
const WRITERS: usize = 3;

/// Pseudo-random numbers, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn has_ended(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_some()
}

/// Other processes append all the while, and are killed too.
#[tokio::test]
async fn it_survives_deaths_beside_writers_that_die() {
    for round in 0..rounds(1) {
        let (file, mut dice) = (large(), Dice(round as u64));
        file.open().create(&new("shared"), &at(1.0)).await.unwrap();
        let mut promised = BTreeSet::new();
        let mut take_in = |writer: Child| {
            let output = writer.wait_with_output().unwrap();
            // The last line of a killed process may be incomplete.
            let whole = output.stdout.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            promised.extend(acknowledged(&output.stdout[..whole]));
        };
        let (mut writers, mut started, mut deaths) = (Vec::new(), 0, 0);
        loop {
            let mut optimizer = child("optimize", "", &file.path()).spawn().unwrap();
            while writers.len() < WRITERS {
                writers.push(child("write", &format!("w{started}"), &file.path()).spawn().unwrap());
                started += 1;
            }
            // Later each time, so that it makes progress.
            std::thread::sleep(Duration::from_millis(10 + dice.below(40 + deaths * 15)));
            optimizer.kill().unwrap();
            if dice.below(2) == 0 {
                writers[dice.below(WRITERS as u64) as usize].kill().unwrap();
            }
            writers.extract_if(.., has_ended).for_each(&mut take_in);
            let output = optimizer.wait_with_output().unwrap();
            if !crate::child::told(&output.stdout, "optimized").is_empty() {
                break;
            }
            deaths += 1;
            assert!(deaths < 300, "it does not get on");
        }
        writers.into_iter().for_each(&mut take_in);
        println!("optimized after {deaths} deaths, beside {started} writers: {} messages acknowledged", promised.len());
        assert!(deaths > 0 && !promised.is_empty());
        let store = file.open();
        let stored: BTreeSet<(i64, String)> = store
            .messages(&id("shared"), &MessageRequest::first(100_000))
            .await
            .unwrap()
            .iter()
            .map(|message| (message.id.0, message.body.plain_text().into_owned()))
            .collect();
        assert!(promised.is_subset(&stored), "lost: {:?}", promised.difference(&stored).collect::<Vec<_>>());
        drop(store);
        settled(&file, 3_000 + stored.len() as i64).await;
    }
}
