//! Runs the real binary on real SQLite files and checks everything a person would see: stdout, stderr and the exit
//! code.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod archive;
mod ask;
mod automatic;
mod backup;
#[cfg(target_os = "linux")]
mod browse;
mod completions;
mod config;
mod contact;
mod delete;
mod demo;
mod detach;
mod doctor;
mod erase;
mod export;
mod flags;
mod import;
mod indexing;
mod insights;
mod instructions;
mod list;
mod logging;
mod looking;
mod man;
mod mcp;
mod migrate;
mod names;
mod notices;
mod numbers;
#[path = "../../../hermes-sqlite/tests/shared/old_schema.rs"]
mod old_schema;
mod optimize;
mod owners;
mod pins_and_tags;
mod places;
mod previous;
mod prune;
mod rename;
mod repair;
mod restore_backup;
mod rpc;
mod search;
mod server;
mod show;
mod states;
mod stats;
mod status;
mod stop;
mod terminal;
mod trash;
mod verify;
#[cfg(target_os = "linux")]
mod waiting;

use hermes_session::{
    ConversationStore as _, MessageBody, NewMessage, NewSession, Request, Role, SessionId, SessionStore as _, Source,
    Timestamp, Title,
};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// 2025-03-05 09:15:23 UTC, for times that are shown as dates.
const LONG_AGO: f64 = 1_741_166_123.0;

/// A temporary home folder, with or without a store in it.
struct Home {
    folder: TempDir,
    /// The state folder of the person.
    state: TempDir,
}

impl Home {
    fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap() }
    }

    /// Returns a home with an empty store.
    fn with_store() -> Self {
        let home = Self::empty();
        home.write(async |_| {});
        home
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn database(&self) -> PathBuf {
        self.path().join("state.db")
    }

    /// Runs `work` on the store, as an agent would.
    fn write(&self, work: impl AsyncFnOnce(&SqliteStore)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let store = SqliteStore::open(&self.database(), &SqliteOptions::default()).unwrap();
        runtime.block_on(work(&store));
    }

    /// Stores a session that started at `start`, with these messages a second apart.
    fn talk(&self, id: &str, source: &str, title: Option<&str>, start: f64, said: &[(Role, &str)]) -> &Self {
        let start = Timestamp::from_seconds(start).unwrap();
        let id = SessionId::parse(id).unwrap();
        let messages: Vec<NewMessage> = said
            .iter()
            .enumerate()
            .map(|(index, (role, text))| NewMessage::new(role.clone(), *text).said_at(start.plus(index as f64)))
            .collect();
        self.write(async |store| {
            let session = NewSession {
                model: Some("model-x".into()),
                ..NewSession::new(id.clone(), Source::parse(source).unwrap())
            };
            store.create(&session, &Request::at(start)).await.unwrap();
            store.append(&id, &messages, &Request::at(start)).await.unwrap();
            if let Some(title) = title {
                store.set_title(&id, Some(&Title::parse(title).unwrap()), &Request::at(start)).await.unwrap();
            }
        });
        self
    }

    /// Stores one more message, 100 seconds after [`LONG_AGO`].
    fn add(&self, id: &str, body: MessageBody) {
        let at = Timestamp::from_seconds(LONG_AGO).unwrap().plus(100.0);
        let id = SessionId::parse(id).unwrap();
        self.write(async |store| {
            store.append(&id, &[NewMessage::from(body).said_at(at)], &Request::at(at)).await.unwrap();
        });
    }

    /// Opens the file as a foreign program does.
    #[expect(clippy::disallowed_methods, reason = "what no store would write is written past the store")]
    fn foreign(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.database()).unwrap()
    }

    /// Changes the file without the store, as a foreign writer or damage would.
    fn damage(&self, sql: &str) {
        self.foreign().execute_batch(sql).unwrap();
    }

    fn config(&self, yaml: &str) {
        std::fs::write(self.path().join("config.yaml"), yaml).unwrap();
    }

    /// Returns the command with this home, in a minimal environment.
    fn hermes(&self, args: &[&str]) -> Run<'_> {
        self.program(env!("CARGO_BIN_EXE_hermes"), args)
    }

    /// Returns a command of another binary, as [`Home::hermes`] does.
    fn program(&self, binary: &str, args: &[&str]) -> Run<'_> {
        let mut command = Command::new(binary);
        command.args(args).env_clear().env("HERMES_HOME", self.path()).env("HOME", "/nonexistent").env("TZ", "UTC");
        command.env("XDG_STATE_HOME", self.state.path());
        command.env("TMPDIR", self.path()).env("COLUMNS", "80").current_dir(self.path()).stdin(Stdio::null());
        Run { command, home: self }
    }

    /// Runs a command. Returns everything a person sees of it.
    fn see(&self, args: &[&str]) -> String {
        self.hermes(args).see()
    }
}

/// A command about to be run.
struct Run<'a> {
    command: Command,
    home: &'a Home,
}

impl Run<'_> {
    fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    fn without_env(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    fn output(mut self) -> Output {
        self.command.output().unwrap()
    }

    fn stdout(self) -> String {
        String::from_utf8(self.output().stdout).unwrap()
    }

    fn see(self) -> String {
        let home = self.home.path().display().to_string();
        let output = self.output();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(&home, "[HOME]");
        let mut seen = text(output.stdout);
        let errors = text(output.stderr);
        if !errors.is_empty() {
            seen.push_str("--- stderr\n");
            seen.push_str(&errors);
        }
        seen.push_str(&format!("--- exit {}", output.status.code().unwrap()));
        seen
    }
}

/// Returns the time `seconds` ago, for times that are shown as relative.
#[expect(clippy::disallowed_methods, reason = "the binary under test reads the same clock")]
fn ago(seconds: f64) -> f64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    now.as_secs_f64() - seconds
}

const MINUTE: f64 = 60.0;
const HOUR: f64 = 3600.0;
const DAY: f64 = 24.0 * HOUR;

/// Returns a home with conversations in several languages.
fn several() -> Home {
    let home = Home::empty();
    home.talk(
        "20250305_091523_a1b2c3",
        "cli",
        Some("refactoring auth"),
        ago(2.5 * HOUR),
        &[(Role::User, "Help me refactor the auth module please"), (Role::Assistant, "Sure.")],
    )
    .talk(
        "20250304_150000_b0b0b0",
        "telegram",
        Some("大别山徒步计划"),
        ago(25.0 * HOUR),
        &[(Role::User, "周末想去大别山徒步，两天一夜")],
    )
    .talk(
        "20250303_101500_f1f2f3f4",
        "discord",
        None,
        ago(3.2 * DAY),
        &[(Role::User, "كيف أحضّر كبسة الدجاج لستة أشخاص؟")],
    )
    .talk(
        "cron_job1",
        "cron",
        Some("Größe 👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}"),
        LONG_AGO,
        &[(Role::User, "Run the daily report\nsecond line")],
    )
    .talk("tool_1", "tool", Some("made by a tool"), ago(MINUTE), &[(Role::User, "hidden")]);
    home
}

/// Returns a home with a conversation whose context was compressed once.
fn compressed() -> Home {
    let home = Home::empty();
    home.talk("first", "cli", Some("long work"), LONG_AGO, &[(Role::User, "begin")]);
    home.write(async |store| {
        let at = Request::at(Timestamp::from_seconds(LONG_AGO + 60.0).unwrap());
        let child = hermes_session::NewChild::new(SessionId::parse("second").unwrap());
        let first = SessionId::parse("first").unwrap();
        store.split(&first, &child, &[NewMessage::new(Role::User, "go on")], &at).await.unwrap();
    });
    home
}

#[test]
fn the_version_names_sqlite() {
    let seen = Home::empty().see(&["--version"]);
    let words: Vec<&str> = seen.split([' ', '\n', ')']).collect();
    assert_eq!(words[..3], ["hermes", env!("CARGO_PKG_VERSION"), "(SQLite"], "{seen}");
    assert!(words[3].starts_with("3.") && seen.ends_with("--- exit 0"), "{seen}");
}

#[test]
fn nothing_asked_is_help() {
    insta::assert_snapshot!(Home::empty().see(&[]), @r"
    List, search and read the conversations of your agents

    Usage: hermes [OPTIONS] [COMMAND]

    Conversations:
      sessions     List, search, read, change, export and import sessions; verify,
                   back up, optimize and repair the store
      list, search, show, browse  Short for sessions list, sessions search and so on
      insights     Show usage statistics: conversations, models, cost, tools, skills
                   and times of day

    Agents:
      mcp          Serve past conversations to agents over the Model Context
                   Protocol (MCP), on stdin and stdout or over HTTP

    Store and settings:
      sessiondb    Show the status of the store, migrate it, or remove what hermes
                   added to a state.db
      doctor       Check the home folder, the settings and the store, and say how to
                   fix problems
      config       Show the configuration

    Help:
      demo         Try hermes on sample conversations in a separate folder
      man          Show the manual page of a command, or write all pages to a folder
      completions  Print a shell completion script for commands, options, session
                   ids and titles
      help         Print this message or the help of a command

    Options:
          --home <DIR>    Folder of state.db and config.yaml [default: $HERMES_HOME,
                          or ~/.hermes]
          --url <URL>     Store to use: sqlite:PATH, postgresql://…, mysql://… or a
                          path [default: $HERMES_SESSIONDB_URL, or config.yaml]
          --read-only     Open the store read-only; commands that change it fail
      -v, --verbose...    Log to stderr: -v for info, -vv for debug, -vvv for trace
                          [default: $HERMES_LOG]
          --color <WHEN>  Use colours: auto (at a terminal), always or never
                          [default: auto]
          --quiet         Print no notes, no progress and no confirmation of what
                          was done; errors and warnings are printed
      -h, --help          Print help
      -V, --version       Print version

    Examples:
      hermes sessions list                 List conversations
      hermes sessions search deploy error  Find messages
      hermes sessions show @1              Read the first conversation of the list
      hermes doctor                        Check the store; changes nothing
    --- exit 0
    ");
}

#[test]
fn half_a_command_is_help_and_a_mistake() {
    let seen = Home::empty().see(&["sessions"]);
    assert!(seen.contains("Usage: hermes sessions") && seen.ends_with("--- exit 2"), "{seen}");
}

#[test]
fn what_is_typed_wrong_reaches_the_terminal_harmlessly() {
    insta::assert_snapshot!(Home::empty().see(&["sessions", "li\u{1b}[2Jst"]), @r#"
    --- stderr
    error: unrecognized subcommand 'list'

    Usage: hermes sessions [OPTIONS] <COMMAND>

    For more information, try '--help'.
    --- exit 2
    "#);
}
