//! Sound files to be damaged, and facts about their pages.

use hermes_session::*;
use hermes_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The number of sessions that are made, how many of them are kept, and the number of messages of each.
const SESSIONS: usize = 18;
pub(crate) const KEPT: usize = 15;
pub(crate) const MESSAGES: usize = 24;

/// A page and its owner.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) number: usize,
    pub(crate) owner: String,
    /// `leaf`, `internal` or `overflow`.
    pub(crate) kind: String,
    pub(crate) cells: u64,
}

/// A sound file, and a copy that is never damaged.
pub(crate) struct Sound {
    folder: tempfile::TempDir,
    pub(crate) page_size: usize,
    pub(crate) pages: Vec<Page>,
    pub(crate) free: Vec<usize>,
    pub(crate) count: usize,
    pub(crate) messages: u64,
    /// Messages in the file itself, without its WAL.
    pub(crate) folded: u64,
}

pub(crate) fn at(seconds: f64) -> Request {
    Request::at(Timestamp::from_seconds(seconds).unwrap())
}

pub(crate) fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

pub(crate) fn idle() -> SqliteOptions {
    SqliteOptions { background: false, ..SqliteOptions::default() }
}

fn body(session: usize, number: usize) -> NewMessage {
    let text = match number % 24 {
        3 => format!(
            "long {session} {number} {}",
            "the same line of a log again, word by word. ".repeat(110 + 30 * (session % 4))
        ),
        5 => format!("大别山徒步计划 {session} {number}"),
        _ => {
            format!("message {number} of session {session}, about the billing queue and its retries {}", number * 7919)
        }
    };
    let role = if number.is_multiple_of(2) { Role::User } else { Role::Assistant };
    NewMessage::new(role, text.as_str())
}

impl Sound {
    /// Makes a file with sessions, continuations, branches, values and free pages. Rewrites it if `page_size` is not
    /// our default.
    pub(crate) async fn make(page_size: usize, log: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let store = SqliteStore::open(&path, &idle()).unwrap();
        for session in 0..SESSIONS {
            let name = format!("session-{session:02}");
            let new = NewSession {
                system_prompt: Some("You are helpful. ".repeat(20 * (session % 5))),
                ..NewSession::new(id(&name), Source::parse("cli").unwrap())
            };
            store.create(&new, &at(1_000.0 + session as f64)).await.unwrap();
            let messages: Vec<NewMessage> = (0..MESSAGES).map(|number| body(session, number)).collect();
            store.append(&id(&name), &messages, &at(2_000.0 + session as f64)).await.unwrap();
            store
                .set_title(&id(&name), Some(&Title::parse(&format!("Title {session}")).unwrap()), &at(1.0))
                .await
                .unwrap();
        }
        store.set_meta("kept", Some("value")).await.unwrap();
        while store.upkeep().await.unwrap() {}
        drop(store);
        if page_size != 4096 {
            let connection = Connection::open(&path).unwrap();
            connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).unwrap();
            connection
                .execute_batch(&format!(
                    "PRAGMA page_size = {page_size}; PRAGMA auto_vacuum = 0; VACUUM; PRAGMA journal_mode = WAL"
                ))
                .unwrap();
        }
        let store = SqliteStore::open(&path, &idle()).unwrap();
        // Free pages, which still contain deleted rows.
        for session in KEPT..SESSIONS {
            store
                .delete(&id(&format!("session-{session:02}")), DeleteExtent::Conversation, &at(9_000.0))
                .await
                .unwrap();
        }
        drop(store);
        let mut sound =
            Self { folder, page_size, pages: Vec::new(), free: Vec::new(), count: 0, messages: 0, folded: 0 };
        sound.look();
        if log {
            let store = SqliteStore::open(&sound.path(), &idle()).unwrap();
            for round in 0..40 {
                let messages: Vec<NewMessage> = (100..105).map(|number| body(round, number)).collect();
                store.append(&id(&format!("session-{:02}", round % KEPT)), &messages, &at(10_000.0)).await.unwrap();
            }
            // The state that a power failure leaves. Copied by another process: closing a descriptor here would drop
            // locks.
            let (from, to) = (sound.path(), sound.folder.path().join("copy.db"));
            for suffix in ["", "-wal"] {
                let name = |path: &Path| format!("{}{suffix}", path.display());
                assert!(Command::new("cp").args([name(&from), name(&to)]).status().unwrap().success());
            }
            drop(store);
            std::fs::rename(sound.path(), sound.truth()).unwrap();
            for suffix in ["", "-wal"] {
                let name = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
                std::fs::rename(name(&to), name(&from)).unwrap();
            }
        } else {
            std::fs::copy(sound.path(), sound.truth()).unwrap();
        }
        let truth = Connection::open(sound.truth()).unwrap();
        sound.messages =
            truth.query_row("SELECT count(*) FROM messages", [], |row| row.get::<_, u32>(0)).unwrap().into();
        sound
    }

    /// Returns the file to be copied and damaged.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("state.db")
    }

    /// Returns the copy that is never damaged.
    pub(crate) fn truth(&self) -> PathBuf {
        self.folder.path().join("truth.db")
    }

    fn look(&mut self) {
        let connection = Connection::open(self.path()).unwrap();
        self.folded =
            connection.query_row("SELECT count(*) FROM messages", [], |row| row.get::<_, u32>(0)).unwrap().into();
        self.count = connection.pragma_query_value(None, "page_count", |row| row.get::<_, u32>(0)).unwrap() as usize;
        let mut statement = connection.prepare("SELECT pageno, name, pagetype, ncell FROM dbstat").unwrap();
        let page = |row: &rusqlite::Row<'_>| {
            Ok(Page {
                number: row.get::<_, u32>(0)? as usize,
                owner: row.get(1)?,
                kind: row.get(2)?,
                cells: row.get::<_, u32>(3)?.into(),
            })
        };
        self.pages = statement.query_map([], page).unwrap().collect::<Result<_, _>>().unwrap();
        let owned: Vec<usize> = self.pages.iter().map(|page| page.number).collect();
        let is_auto: i64 = connection.pragma_query_value(None, "auto_vacuum", |row| row.get(0)).unwrap();
        let span = self.page_size / 5 + 1;
        let is_map = |number: usize| is_auto != 0 && number >= 2 && (number - 2).is_multiple_of(span);
        self.free = (2..=self.count).filter(|number| !owned.contains(number) && !is_map(*number)).collect();
    }

    /// Returns the pages of an owner, by kind.
    pub(crate) fn of(&self, owner: &str, kind: &str) -> Vec<usize> {
        let is_it = |page: &&Page| page.owner == owner && page.kind == kind;
        self.pages.iter().filter(is_it).map(|page| page.number).collect()
    }

    /// Returns the maximum number of messages that can be lost with these pages.
    pub(crate) fn at_stake(&self, damaged: &[usize]) -> u64 {
        let stake = |page: &&Page| match (page.owner.as_str(), page.kind.as_str()) {
            ("messages", "leaf") => page.cells,
            ("messages", "overflow") => 1,
            _ => 0,
        };
        self.pages.iter().filter(|page| damaged.contains(&page.number)).map(|page| stake(&page)).sum()
    }
}
