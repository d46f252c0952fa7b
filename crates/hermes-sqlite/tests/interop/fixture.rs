//! A file in a temporary folder, and checks that hold whoever wrote it.

use hermes_session::*;
use hermes_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::RwLock;

/// Taken for writing by measurements and for reading by all other tests, so that no other test runs beside a
/// measurement.
pub(crate) static ALONE: RwLock<()> = RwLock::const_new(());

pub(crate) struct File {
    folder: tempfile::TempDir,
}

impl File {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("state.db")
    }

    /// Returns the home of the agent's processes, which is empty.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn open(&self) -> SqliteStore {
        let options = SqliteOptions { wait: Duration::from_secs(60), ..SqliteOptions::default() };
        SqliteStore::open(&self.path(), &options).unwrap()
    }

    /// Opens the file as a third program.
    pub(crate) fn look(&self) -> Connection {
        let connection = Connection::open(self.path()).unwrap();
        connection.busy_timeout(Duration::from_secs(30)).unwrap();
        connection
    }

    pub(crate) fn number(&self, sql: &str) -> i64 {
        self.look().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Returns everything in the schema that is not ours, and the version that the agent reads.
    pub(crate) fn foreign_schema(&self) -> Vec<String> {
        let connection = self.look();
        let mut statement = connection
            .prepare(
                "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') FROM sqlite_schema \
                 WHERE name NOT LIKE 'hx\\_%' ESCAPE '\\' UNION ALL SELECT 'version ' || version FROM schema_version ORDER BY 1",
            )
            .unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    /// Returns whether the indexes read their text through our views.
    pub(crate) fn is_compact(&self) -> bool {
        self.number("SELECT count(*) FROM sqlite_schema WHERE name = 'messages_fts_trigram' AND sql LIKE '%hx\\_cjk\\_text%' ESCAPE '\\'") > 0
    }

    /// Checks that SQLite finds nothing wrong, that both indexes are complete, and that each session has its side row.
    ///
    /// SQLite before 3.45 ends the trigrams of a text at a NUL, newer versions skip it. If both have indexed structured
    /// content, which begins with a NUL, no version of SQLite accepts that index; all other findings still count.
    #[track_caller]
    pub(crate) fn check(&self) {
        const BOTH_WAYS: &str = "malformed inverted index for FTS5 table main.messages_fts_trigram";
        let connection = self.look();
        let structured =
            !self.is_compact() && self.number("SELECT count(*) FROM messages WHERE instr(content, char(0)) > 0") > 0;
        let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert!(verdict == "ok" || structured && verdict == BOTH_WAYS, "{verdict}");
        let tables = ["messages_fts", "messages_fts_trigram"];
        for table in &tables[..if structured { 1 } else { 2 }] {
            let check = format!("INSERT INTO {table}({table}, rank) VALUES('integrity-check', 1)");
            connection.execute(&check, []).unwrap_or_else(|error| panic!("{table}: {error}"));
        }
        assert_eq!(self.number("SELECT count(*) FROM pragma_foreign_key_check"), 0);
        let alone = "SELECT count(*) FROM sessions WHERE id NOT IN (SELECT session_id FROM hx_session)";
        assert_eq!(self.number(alone), 0, "a session has no side row");
        let widowed = "SELECT count(*) FROM hx_session WHERE session_id NOT IN (SELECT id FROM sessions)";
        assert_eq!(self.number(widowed), 0, "a side row has no session");
    }

    /// Checks that the counter of each session is its number of messages. Not for files with rewound or compacted
    /// messages.
    #[track_caller]
    pub(crate) fn check_counters(&self) {
        let wrong = "SELECT count(*) FROM sessions s \
                     WHERE message_count <> (SELECT count(*) FROM messages m WHERE m.session_id = s.id)";
        assert_eq!(self.number(wrong), 0, "a counter is not the number of messages");
    }
}

pub(crate) fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

pub(crate) fn at(seconds: f64) -> Request {
    Request::at(Timestamp::from_seconds(seconds).unwrap())
}

/// Returns a request at the current time, by the clock that the agent's processes use too.
pub(crate) fn now() -> Request {
    at(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64())
}

pub(crate) fn user(text: &str) -> NewMessage {
    NewMessage::new(Role::User, text)
}

pub(crate) fn new(text: &str) -> NewSession {
    NewSession::new(id(text), Source::parse("cli").unwrap())
}

pub(crate) fn title(text: &str) -> Title {
    Title::parse(text).unwrap()
}

pub(crate) async fn all_messages(store: &SqliteStore, session: &str) -> Vec<Message> {
    store.messages(&id(session), &MessageRequest::first(1_000_000)).await.unwrap()
}

pub(crate) async fn texts(store: &SqliteStore, session: &str) -> Vec<String> {
    all_messages(store, session).await.iter().map(|message| message.body.plain_text().into_owned()).collect()
}

pub(crate) async fn session(store: &SqliteStore, name: &str) -> Session {
    store.session(&id(name)).await.unwrap().unwrap_or_else(|| panic!("there is no session {name}"))
}

/// Prints a line that is shown even if the test passes: the harness captures only the print macros.
pub(crate) fn report(line: &str) {
    _ = writeln!(std::io::stderr().lock(), "interop: {line}");
}
