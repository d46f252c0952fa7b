//! Files of an agent whose schema is newer than ours are repaired into files of that agent.

use crate::cases::repaired;
use crate::fixture::idle;
use hermes_conformance::agent::{Absent, Agent, release};
use hermes_session::Maintenance as _;
use hermes_sqlite::SqliteStore;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const SESSIONS: usize = 6;
/// The agent's tables, except the one whose rows are damaged.
const OTHERS: [&str; 5] =
    ["schema_version", "session_model_usage", "gateway_routing", "state_meta", "async_delegations"];

/// Makes a file of agent 0.19.0 in its home: with messages that were compacted or rewound, model usage, routes of a
/// gateway, and columns that only this agent knows.
fn file(release: &Path, home: &Path) {
    let mut agent = Agent::open(release, home);
    let mut call = |method: &str, arguments: Value| agent.call(method, &arguments).unwrap();
    for session in 0..SESSIONS {
        let id = format!("s{session}");
        call(
            "create_session",
            json!({"session_id": id, "source": "telegram", "model": "m-1", "chat_id": "c", "cwd": "/w"}),
        );
        for number in 0..30 {
            let text = format!("{number} of {session}, about the okapi {}", "and more ".repeat(20));
            call(
                "append_message",
                json!({"session_id": id, "role": "user", "content": text, "platform_message_id": "p"}),
            );
        }
        let used =
            json!({"session_id": id, "input_tokens": 100, "output_tokens": 20, "model": "m-1", "api_call_count": 1});
        call("update_token_counts", used);
    }
    let summary = json!([{"role": "user", "content": "the summary of a walrus"}]);
    call("archive_and_compact", json!({"session_id": "s1", "compacted_messages": summary}));
    call("save_gateway_routing_entry", json!({"session_key": "k", "entry_json": "{\"a\": 1}"}));
    agent.say(&json!({"do": "query", "sql": "UPDATE messages SET active = 0 WHERE session_id = 's2' AND content LIKE '29 %'"}));
    agent.say(&json!({"do": "close"}));
}

pub(crate) fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Returns the pages of a table, and how many rows each has.
pub(crate) fn leaves(path: &Path, table: &str) -> Vec<(usize, i64)> {
    let connection = Connection::open(path).unwrap();
    let mut pages = connection
        .prepare("SELECT pageno, ncell FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno")
        .unwrap();
    let page = |row: &rusqlite::Row<'_>| Ok((row.get::<_, u32>(0)? as usize, row.get(1)?));
    pages.query_map([table], page).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Copies a file and zeroes some pages of the copy.
pub(crate) fn spoilt(truth: &Path, pages: &[usize], name: &str) -> PathBuf {
    let mut bytes = std::fs::read(truth).unwrap();
    for page in pages {
        bytes[(page - 1) * 4096..page * 4096].fill(0);
    }
    let path = truth.with_file_name(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Returns the statements that created the agent's tables and indexes.
fn made(connection: &Connection) -> Vec<String> {
    let sql = "SELECT sql FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL AND tbl_name NOT GLOB 'messages_fts*'
               AND name NOT GLOB 'hx_*' AND name NOT GLOB 'sqlite_*' ORDER BY name";
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn all_that_can_be_read_of_a_newer_agents_file_comes_back_and_serves_it() {
    let release = match release("0.19.0") {
        Err(Absent::Unwanted) => return,
        release => release.unwrap(),
    };
    let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    file(&release, folder.path());
    let truth = folder.path().join("state.db");
    let (page, rows) = leaves(&truth, "messages")[3];
    let target = home.path().join("state.db");
    let outcome = repaired(&spoilt(&truth, &[page], "damaged.db"), &target).await;
    assert!(outcome.proof.holds(), "{:?}", outcome.proof);

    let connection = Connection::open(&target).unwrap();
    connection.execute("ATTACH ? AS truth", [truth.to_str().unwrap()]).unwrap();
    let lost =
        number(&connection, "SELECT count(*) FROM truth.messages WHERE id NOT IN (SELECT id FROM main.messages)");
    assert_eq!(lost, rows);
    assert_eq!(
        number(&connection, "SELECT count(*) FROM (SELECT * FROM main.messages EXCEPT SELECT * FROM truth.messages)"),
        0
    );
    for table in OTHERS {
        let differ = |from: &str, to: &str| {
            format!("SELECT count(*) FROM (SELECT * FROM {from}.{table} EXCEPT SELECT * FROM {to}.{table})")
        };
        assert_eq!(number(&connection, &differ("main", "truth")), 0, "{table}");
        assert_eq!(number(&connection, &differ("truth", "main")), 0, "{table}");
    }
    assert_eq!(
        number(&connection, "SELECT count(*) FROM sessions WHERE cwd = '/w' AND chat_id = 'c'"),
        SESSIONS as i64
    );
    assert_eq!(made(&connection), made(&Connection::open(&truth).unwrap()));
    // The rows reported as saved are there, and no others are reported.
    for table in &outcome.salvage.tables {
        let there = number(&connection, &format!("SELECT count(*) FROM {}", table.name));
        assert_eq!(table.saved, there.unsigned_abs(), "{table:?}");
        assert_eq!(table.lost, if table.name == "messages" { rows.unsigned_abs() } else { 0 }, "{table:?}");
        assert!(table.is_certain, "{table:?}");
    }
    assert!(outcome.salvage.table("session_model_usage").unwrap().saved > 0);
    assert_eq!((outcome.report.findings, outcome.salvage.unread.len()), (Vec::new(), 0));
    drop(connection);
    let store = SqliteStore::open(&target, &idle()).unwrap();
    let report = store.verify().await.unwrap();
    assert!(report.is_sound(), "{report:?}");
    drop(store);

    let mut agent = Agent::open(&release, home.path());
    let mut call = |method: &str, arguments: Value| agent.call(method, &arguments).unwrap();
    let said = |answer: Value| answer.as_array().unwrap().len();
    assert_eq!(said(call("get_messages", json!({"session_id": "s1"}))), 1);
    assert_eq!(said(call("get_messages", json!({"session_id": "s5"}))), 30);
    call("append_message", json!({"session_id": "s5", "role": "user", "content": "a second walrus"}));
    assert_eq!(said(call("search_messages", json!({"query": "walrus"}))), 2);
    assert_eq!(call("load_gateway_routing_entries", json!({}))["k"], "{\"a\": 1}");
}

#[tokio::test]
async fn a_newer_agents_file_that_lost_its_version_is_still_one() {
    let release = match release("0.19.0") {
        Err(Absent::Unwanted) => return,
        release => release.unwrap(),
    };
    let folder = tempfile::tempdir().unwrap();
    file(&release, folder.path());
    let (truth, target) = (folder.path().join("state.db"), folder.path().join("new.db"));
    let pages: Vec<usize> = leaves(&truth, "schema_version").iter().map(|(page, _)| *page).collect();
    repaired(&spoilt(&truth, &pages, "damaged.db"), &target).await;
    let connection = Connection::open(&target).unwrap();
    assert_eq!(number(&connection, "SELECT version FROM schema_version"), 22);
    assert!(number(&connection, "SELECT count(*) FROM messages WHERE compacted = 1") > 0);
}
