//! Compacted and rewound messages, and columns of newer agents, are salvaged with their state and values.

use crate::cases::repaired;
use crate::fixture::{at, id, idle};
use crate::newer::{leaves, number, spoilt};
use hermes_conformance::agent::{Absent, Agent, release};
use hermes_session::extra::Table;
use hermes_session::import::{ImportPiece, Imported};
use hermes_session::{
    Maintenance as _, Message, MessageBody, MessageId, MessageRequest, MessageState, NewSession, Role, Scalar, Session,
    SessionId, SessionStore as _, Source, Timestamp,
};
use hermes_sqlite::SqliteStore;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::Path;

const SESSIONS: i64 = 4;
const MESSAGES: i64 = 60;
const STATES: [MessageState; 3] = [MessageState::Compacted, MessageState::Undone, MessageState::Active];

fn name(session: i64) -> SessionId {
    id(&format!("s{session}"))
}

/// Fills a file of ours with messages of every state and with columns of newer agents, as an import does.
async fn fill(path: &Path) {
    let store = SqliteStore::open(path, &idle()).unwrap();
    store.create(&NewSession::new(id("model"), Source::parse("cli").unwrap()), &at(1.0)).await.unwrap();
    let model = store.session(&id("model")).await.unwrap().unwrap();
    for session in 0..SESSIONS {
        let mut piece = piece(&model, session);
        while let Imported::Partly(taken) = store.import(std::slice::from_ref(&piece)).await.unwrap().remove(0) {
            piece.messages.drain(..taken as usize);
            piece.start += taken;
        }
    }
}

fn piece(model: &Session, session: i64) -> ImportPiece {
    let message = |place: i64| {
        let text = format!("{place} of {session}, about the okapi {}", "and more ".repeat(20));
        let number = MessageId(session * MESSAGES + place + 1);
        let time = Timestamp::from_seconds(10.0 + place as f64).unwrap();
        let mut message = Message::new(number, name(session), time, MessageBody::new(Role::User, text.as_str()));
        message.state = STATES[place as usize % 3];
        message.extra.set(Table::Messages, "platform_message_id", Scalar::Text(format!("p-{place} 大")));
        message.extra.set(Table::Messages, "observed", Scalar::Integer(place % 2));
        message
    };
    let mut meant = Session { id: name(session), archived: session % 2 == 0, ..model.clone() };
    meant.message_count = MESSAGES / 3;
    meant.extra.set(Table::Sessions, "rewind_count", Scalar::Integer(session + 1));
    meant.extra.set(Table::Sessions, "cwd", Scalar::Text("/tmp/é".into()));
    ImportPiece { session: meant, start: 0, messages: (0..MESSAGES).map(message).collect(), is_last: true }
}

/// Returns every session with its messages of every state.
async fn all(path: &Path) -> Vec<(Session, Vec<Message>)> {
    let store = SqliteStore::open(path, &idle()).unwrap();
    let mut all = Vec::new();
    for session in 0..SESSIONS {
        let found = store.session(&name(session)).await.unwrap().unwrap();
        let every = MessageRequest::first(1_000).every();
        all.push((found, store.messages(&name(session), &every).await.unwrap()));
    }
    assert!(store.verify().await.unwrap().is_sound());
    all
}

/// Counts messages by state, past the store.
fn states(path: &Path) -> [i64; 3] {
    let connection = Connection::open(path).unwrap();
    [(1, 0), (0, 1), (0, 0)].map(|(active, compacted)| {
        number(
            &connection,
            &format!("SELECT count(*) FROM messages WHERE active = {active} AND compacted = {compacted}"),
        )
    })
}

#[tokio::test]
async fn a_file_of_ours_keeps_states_and_columns() {
    let folder = tempfile::tempdir().unwrap();
    let (truth, target) = (folder.path().join("state.db"), folder.path().join("new.db"));
    fill(&truth).await;
    let before = all(&truth).await;
    let third = SESSIONS * MESSAGES / 3;
    assert_eq!(states(&truth), [third; 3]);
    let outcome = repaired(&truth, &target).await;
    assert!(outcome.proof.holds() && outcome.report.findings.is_empty(), "{:?} {:?}", outcome.proof, outcome.report);
    assert_eq!(states(&target), [third; 3]);
    assert_eq!(all(&target).await, before);
}

#[tokio::test]
async fn a_damaged_file_of_ours_loses_only_the_rows_of_the_damaged_page() {
    let folder = tempfile::tempdir().unwrap();
    let (truth, target) = (folder.path().join("state.db"), folder.path().join("new.db"));
    fill(&truth).await;
    let before = all(&truth).await;
    let (page, rows) = leaves(&truth, "messages")[2];
    let outcome = repaired(&spoilt(&truth, &[page], "damaged.db"), &target).await;
    assert!(outcome.proof.holds(), "{:?}", outcome.proof);
    let after = all(&target).await;
    let mut lost = 0;
    for ((was, said), (is, kept)) in before.iter().zip(&after) {
        assert_eq!((is.archived, &is.extra), (was.archived, &was.extra));
        assert!(kept.iter().all(|message| said.contains(message)), "{}", was.id);
        lost += said.len() - kept.len();
    }
    assert_eq!(lost as i64, rows);
    assert_eq!(states(&target).iter().sum::<i64>(), SESSIONS * MESSAGES - rows);
}

/// Makes a file of agent 0.19 with a session that was compacted in place and rewound, and one that was archived.
fn agents_file(release: &Path, home: &Path) {
    let mut agent = Agent::open(release, home);
    let mut call = |method: &str, arguments: Value| agent.call(method, &arguments).unwrap();
    for session in ["s", "away"] {
        call("create_session", json!({"session_id": session, "source": "telegram", "cwd": "/tmp/é"}));
    }
    let mut say = |session: &str, number: i64| {
        let text = format!("{number} about the okapi {}", "and more ".repeat(20));
        let platform = format!("p-{number}");
        let arguments =
            json!({"session_id": session, "role": "user", "content": text, "platform_message_id": platform});
        call("append_message", arguments)
    };
    (0..60).for_each(|number| _ = say("s", number));
    (0..60).for_each(|number| _ = say("away", number));
    let summary = json!([{"role": "user", "content": "the summary of a walrus"}]);
    agent.call("archive_and_compact", &json!({"session_id": "s", "compacted_messages": summary})).unwrap();
    let wombat = json!({"session_id": "s", "role": "user", "content": "a mistaken wombat"});
    let taken_back = agent.call("append_message", &wombat).unwrap();
    agent.call("rewind_to_message", &json!({"session_id": "s", "target_message_id": taken_back})).unwrap();
    agent.call("set_session_archived", &json!({"session_id": "away", "archived": true})).unwrap();
    agent.say(&json!({"do": "close"}));
}

#[tokio::test]
async fn a_damaged_file_of_a_newer_agent_keeps_states_and_columns() {
    let release = match release("0.19.0") {
        Err(Absent::Unwanted) => return,
        release => release.unwrap(),
    };
    let folder = tempfile::tempdir().unwrap();
    agents_file(&release, folder.path());
    let truth = folder.path().join("state.db");
    assert_eq!(states(&truth), [61, 60, 1]);
    let (page, lost) = leaves(&truth, "messages")[1];
    for (pages, lost, name) in [(vec![], 0, "whole"), (vec![page], lost, "damaged")] {
        let target = folder.path().join(format!("new-{name}.db"));
        let outcome = repaired(&spoilt(&truth, &pages, &format!("{name}.db")), &target).await;
        assert!(outcome.proof.holds(), "{name}: {:?}", outcome.proof);
        let connection = Connection::open(&target).unwrap();
        connection.execute("ATTACH ? AS truth", [truth.to_str().unwrap()]).unwrap();
        for (sql, expect) in [
            ("SELECT count(*) FROM (SELECT * FROM main.messages EXCEPT SELECT * FROM truth.messages)", 0),
            ("SELECT count(*) FROM (SELECT * FROM truth.messages EXCEPT SELECT * FROM main.messages)", lost),
            ("SELECT count(*) FROM main.messages WHERE active = 0 AND compacted = 0 AND content LIKE '%wombat'", 1),
            ("SELECT count(*) FROM main.sessions WHERE id = 's' AND rewind_count = 1 AND archived = 0", 1),
            ("SELECT count(*) FROM main.sessions WHERE id = 'away' AND archived = 1 AND cwd = '/tmp/é'", 1),
        ] {
            assert_eq!(number(&connection, sql), expect, "{name}: {sql}");
        }
    }
}

/// The page with the statements that created the tables is lost: the columns are recognized from the rows.
#[tokio::test]
async fn a_newer_agents_file_that_lost_its_list_of_tables_keeps_states_and_columns() {
    let release = match release("0.19.0") {
        Err(Absent::Unwanted) => return,
        release => release.unwrap(),
    };
    let folder = tempfile::tempdir().unwrap();
    agents_file(&release, folder.path());
    let (truth, target) = (folder.path().join("state.db"), folder.path().join("new.db"));
    let pages: Vec<usize> = leaves(&truth, "sqlite_schema").iter().map(|(page, _)| *page).collect();
    let outcome = repaired(&spoilt(&truth, &pages, "damaged.db"), &target).await;
    assert!(outcome.proof.holds() && outcome.salvage.has_guessed, "{outcome:?}");
    assert_eq!(states(&target), [61, 60, 1]);
    let connection = Connection::open(&target).unwrap();
    connection.execute("ATTACH ? AS truth", [truth.to_str().unwrap()]).unwrap();
    let messages = "id, session_id, role, content, timestamp, platform_message_id, active, compacted";
    let sessions = "id, source, started_at, cwd, rewind_count, archived";
    for (table, columns) in [("messages", messages), ("sessions", sessions)] {
        let sql = format!(
            "SELECT count(*) FROM (SELECT {columns} FROM truth.{table} EXCEPT SELECT {columns} FROM main.{table})"
        );
        assert_eq!(number(&connection, &sql), 0, "{table}");
    }
}
