//! Everything at once, in any order, on one file: our writes, our maintenance, and a foreign writer that does with the file as the agent
//! does. Whatever comes of it, the indexes end whole, or what the foreign writer broke is found and mended; no message is lost.

use crate::adoption::agents_file;
use crate::fixture::{File, at, id, new};
use crate::inline::inline_indexes;
use crate::verify::told;
use hermes_session::retention::{RetentionPolicy, prune};
use hermes_session::*;
use hermes_sqlite::SqliteStore;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, TransactionBehavior, params};
use std::collections::{BTreeMap, BTreeSet};

/// How many lists of steps are tried, unless `HERMES_PROPERTY_CASES` says otherwise.
const RUNS: u32 = 24;
/// More steps than this no maintenance takes on files so small.
const MANY: usize = 2_000;

/// What the file is in the beginning.
#[derive(Debug, Clone, Copy)]
enum Start {
    New,
    /// The agent's indexes, as of schema 11.
    Inline,
    /// The same, on the way to compact ones, with some messages brought over and some not.
    HalfOptimized,
}

#[derive(Debug, Clone)]
enum Step {
    Append(usize, Vec<usize>),
    Replace(usize, Vec<usize>),
    Split(usize, Vec<usize>),
    Branch(usize),
    Delete(usize),
    End(usize),
    Prune,
    Import,
    Upkeep,
    Optimize,
    Rebuild,
    Reopen { background: bool },
    Foreign(Foreign),
}

#[derive(Debug, Clone)]
enum Foreign {
    Insert(usize, usize),
    Change(usize, usize),
    /// Something that no index has is changed.
    Touch(usize),
    Remove(usize),
    RemoveSession(usize),
    /// A trigger goes, and the agent makes it anew in its own way.
    Retrigger(usize),
    Optimize,
    Rebuild,
    Vacuum,
    /// As release 0.19 fills indexes whose triggers were missing: with every row, also those that ours leave out.
    FillAnew,
}

/// Texts of every kind. Words stand apart, so that each is one token whatever is around it.
fn text(kind: usize) -> Vec<u8> {
    match kind % 10 {
        0 => b"alpha beta".to_vec(),
        1 => "alpha 大别山项目".into(),
        2 => "大别山".into(),
        3 => "beta \0 alpha 大别山".into(),
        4 => "\0json:[{\"type\": \"text\", \"text\": \"alpha 大别山\"}]".into(),
        5 => b"\0json:[{\"type\": \"text\", \"text\": \"beta \\u5927\\u522b\\u5c71\"}]".to_vec(),
        6 => Vec::new(),
        7 => b"alpha \xff\xfe beta".to_vec(),
        8 => [b"\xe5\xa4 ".as_slice(), "大别山 alpha".as_bytes(), b" \xc0"].concat(),
        _ => "gamma ".repeat(40).into(),
    }
}

fn ours(kind: usize) -> NewMessage {
    let parts = r#"[{"type": "text", "text": "alpha 大别山"}]"#;
    match kind % 10 {
        4 | 5 => NewMessage::new(Role::User, Content::Json(Json::parse(parts).unwrap())),
        7 | 8 => {
            let body = MessageBody {
                tool_name: Some("alpha".to_owned()),
                tool_calls: Some(Json::parse(r#"[{"id": "beta 大别山"}]"#).unwrap()),
                ..MessageBody::empty(Role::Assistant)
            };
            body.into()
        }
        kind => NewMessage::new(Role::User, String::from_utf8(text(kind)).unwrap()),
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kinds = || vec(0..10_usize, 0..5);
    let foreign = prop_oneof![
        4 => (0..4_usize, 0..10_usize).prop_map(|(session, kind)| Foreign::Insert(session, kind)),
        4 => (any::<usize>(), 0..10_usize).prop_map(|(place, kind)| Foreign::Change(place, kind)),
        1 => any::<usize>().prop_map(Foreign::Touch),
        3 => any::<usize>().prop_map(Foreign::Remove),
        1 => (0..4_usize).prop_map(Foreign::RemoveSession),
        2 => (0..6_usize).prop_map(Foreign::Retrigger),
        1 => Just(Foreign::Optimize),
        1 => Just(Foreign::Rebuild),
        1 => Just(Foreign::Vacuum),
        1 => Just(Foreign::FillAnew),
    ];
    let step = prop_oneof![
        5 => (0..4_usize, kinds()).prop_map(|(session, kinds)| Step::Append(session, kinds)),
        2 => (0..4_usize, kinds()).prop_map(|(session, kinds)| Step::Replace(session, kinds)),
        1 => (0..4_usize, kinds()).prop_map(|(session, kinds)| Step::Split(session, kinds)),
        1 => (0..4_usize).prop_map(Step::Branch),
        2 => (0..4_usize).prop_map(Step::Delete),
        1 => (0..4_usize).prop_map(Step::End),
        1 => Just(Step::Prune),
        1 => Just(Step::Import),
        3 => Just(Step::Upkeep),
        3 => Just(Step::Optimize),
        1 => Just(Step::Rebuild),
        1 => any::<bool>().prop_map(|background| Step::Reopen { background }),
        12 => foreign.prop_map(Step::Foreign),
    ];
    vec(step, 5..40)
}

#[test]
fn any_order_ends_with_whole_indexes() {
    let cases = std::env::var("HERMES_PROPERTY_CASES").map_or(RUNS, |text| text.parse().unwrap());
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_time: 30_000,
        max_shrink_iters: 2_000,
        ..Config::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let start = prop_oneof![Just(Start::New), Just(Start::Inline), Just(Start::HalfOptimized)];
    let outcome = TestRunner::new(config)
        .run(&(start, steps()), |(start, steps)| runtime.block_on(run(start, &steps)).map_err(TestCaseError::fail));
    match outcome {
        Ok(()) => println!("{cases} runs"),
        Err(TestError::Fail(why, (start, steps))) => panic!("{why}\n{start:?}: {steps:?}"),
        Err(error) => panic!("{error}"),
    }
}

async fn run(start: Start, steps: &[Step]) -> Result<(), String> {
    let mut world = World::new(start).await;
    for (place, step) in steps.iter().enumerate() {
        world.take(step).await.map_err(|why| format!("step {place}, {step:?}: {why}"))?;
    }
    world.end().await
}

struct World {
    file: File,
    store: Option<SqliteStore>,
    foreign: Connection,
    /// The messages that have to be there, and in which session.
    messages: BTreeMap<i64, String>,
    /// How many sessions were made so far that are named by a number.
    made: usize,
    /// Whether the foreign writer has done what can't leave a compact index whole, so that somebody has to have it made anew.
    is_broken: bool,
    /// Whether it has put triggers on a compact index that can't serve it. We see that with our next write; until then FTS5 may refuse
    /// what goes through them.
    is_retriggered: bool,
}

type Done = Result<(), String>;

fn wrong(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn name(session: usize) -> String {
    format!("s{session}")
}

impl World {
    async fn new(start: Start) -> Self {
        // One that a step of maintenance does not get beyond.
        let rows = "INSERT INTO sessions (id, source, started_at) VALUES ('s0', 'cli', 1.0);
             INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s0', 'user', hex(randomblob(150000)), 2.0);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
             INSERT INTO messages (session_id, role, content, timestamp)
                 SELECT 's0', 'user', iif(i % 3, 'alpha ' || i, 'beta 大别山 ' || i), i FROM n;
             UPDATE sessions SET message_count = 13;";
        let file = match start {
            Start::New => File::new(),
            Start::Inline | Start::HalfOptimized => agents_file(rows),
        };
        let store = file.open_idle();
        if matches!(start, Start::HalfOptimized) {
            store.optimize().await.unwrap();
        }
        let foreign = file.foreign();
        let mut world = Self {
            file,
            store: Some(store),
            foreign,
            messages: BTreeMap::new(),
            made: 0,
            is_broken: false,
            is_retriggered: false,
        };
        world.messages = world.there().unwrap();
        world
    }

    fn store(&self) -> &SqliteStore {
        self.store.as_ref().unwrap()
    }

    fn there(&self) -> Result<BTreeMap<i64, String>, String> {
        let mut statement = self.foreign.prepare("SELECT id, session_id FROM messages").map_err(wrong)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(wrong)?;
        rows.collect::<Result<_, _>>().map_err(wrong)
    }

    /// Takes over what is in a session that has to have so many messages.
    fn learn(&mut self, session: &str, count: usize) -> Done {
        let there = self.there()?;
        let new: Vec<i64> =
            there.iter().filter(|(_, of)| of.as_str() == session).map(|(message, _)| *message).collect();
        if new.len() != count {
            return Err(format!("{session} has {} messages, not {count}", new.len()));
        }
        self.messages.extend(new.into_iter().map(|message| (message, session.to_owned())));
        Ok(())
    }

    fn count(&self, session: &str) -> usize {
        self.messages.values().filter(|of| of.as_str() == session).count()
    }

    async fn is_there(&self, session: &str) -> bool {
        self.store().session(&id(session)).await.unwrap().is_some()
    }

    fn next(&mut self) -> String {
        self.made += 1;
        format!("made{}", self.made)
    }

    async fn take(&mut self, step: &Step) -> Done {
        match step {
            Step::Append(session, kinds) => {
                let session = name(*session);
                self.store().ensure(&new(&session), &at(1.0)).await.map_err(wrong)?;
                let batch: Vec<NewMessage> = kinds.iter().map(|kind| ours(*kind)).collect();
                let ids = self.store().append(&id(&session), &batch, &at(5.0)).await.map_err(wrong)?;
                self.acknowledged(&session, &ids)
            }
            Step::Replace(session, kinds) => {
                let session = name(*session);
                self.store().ensure(&new(&session), &at(1.0)).await.map_err(wrong)?;
                let batch: Vec<NewMessage> = kinds.iter().map(|kind| ours(*kind)).collect();
                let ids = self.store().replace(&id(&session), &batch, &at(6.0)).await.map_err(wrong)?;
                self.messages.retain(|_, of| *of != session);
                self.acknowledged(&session, &ids)
            }
            Step::Split(session, kinds) if self.is_there(&name(*session)).await => {
                let child = self.next();
                let batch: Vec<NewMessage> = kinds.iter().map(|kind| ours(*kind)).collect();
                let split =
                    self.store().split(&id(&name(*session)), &NewChild::new(id(&child)), &batch, &at(7.0)).await;
                match split {
                    Ok(_) => self.learn(&child, kinds.len()),
                    // It was carried on before.
                    Err(StoreError::Conflict { .. }) => Ok(()),
                    Err(error) => Err(wrong(error)),
                }
            }
            Step::Branch(session) if self.is_there(&name(*session)).await => {
                let child = self.next();
                let parent = name(*session);
                self.store().branch(&id(&parent), &NewChild::new(id(&child)), &at(8.0)).await.map_err(wrong)?;
                self.learn(&child, self.count(&parent))
            }
            Step::Delete(session) if self.is_there(&name(*session)).await => {
                let session = id(&name(*session));
                let lineage = self.store().lineage(&session).await.map_err(wrong)?;
                let gone: BTreeSet<String> =
                    lineage.conversation(&session).iter().map(|member| member.as_str().to_owned()).collect();
                self.store().delete_conversation(&session, &at(9.0)).await.map_err(wrong)?;
                self.messages.retain(|_, of| !gone.contains(of));
                Ok(())
            }
            Step::End(session) if self.is_there(&name(*session)).await => {
                self.store().end(&id(&name(*session)), &EndReason::compression(), &at(9.0)).await.map_err(wrong)?;
                Ok(())
            }
            Step::Prune => {
                let policy = RetentionPolicy::new(1.0, None).unwrap();
                let now = Timestamp::from_seconds(1e6).unwrap();
                let pruned = prune(self.store(), &policy, now, &mut |_, _| {}).await.map_err(wrong)?;
                let sql = "SELECT 1 FROM sessions WHERE id = ?";
                let left = |of: &String| self.foreign.prepare(sql).unwrap().exists([of]).unwrap();
                let before = self.messages.len();
                let messages = std::mem::take(&mut self.messages);
                self.messages = messages.into_iter().filter(|(_, of)| left(of)).collect();
                let gone = before - self.messages.len();
                if gone as u64 == pruned.messages { Ok(()) } else { Err(format!("{gone} messages gone: {pruned:?}")) }
            }
            Step::Import => self.import().await,
            Step::Upkeep => self.store().upkeep().await.map(drop).map_err(wrong),
            Step::Optimize => self.store().optimize().await.map(drop).map_err(wrong),
            Step::Rebuild => self.store().rebuild_indexes().await.map_err(wrong),
            Step::Reopen { background } => {
                self.store = None;
                self.store = Some(if *background { self.file.open() } else { self.file.open_idle() });
                Ok(())
            }
            Step::Foreign(step) => match self.foreign(step) {
                // What it broke itself may refuse it.
                Err(error) if self.may_refuse() && error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
                    Ok(())
                }
                outcome => outcome.map_err(wrong),
            },
            Step::Split(..) | Step::Branch(_) | Step::Delete(_) | Step::End(_) => Ok(()),
        }
    }

    const fn may_refuse(&self) -> bool {
        self.is_broken || self.is_retriggered
    }

    fn acknowledged(&mut self, session: &str, ids: &[MessageId]) -> Done {
        for message in ids {
            if self.messages.insert(message.0, session.to_owned()).is_some() {
                return Err(format!("message {} is acknowledged twice", message.0));
            }
        }
        Ok(())
    }

    /// Imports a session whose messages want ids that are free, taken, and far away.
    async fn import(&mut self) -> Done {
        let session = self.next();
        let messages: Vec<String> = [3, 4, 50 + 10 * self.made, 51 + 10 * self.made]
            .into_iter()
            .zip(["alpha", "大别山 beta", "beta \\u0000 alpha", "alpha 大别山"])
            .map(|(message, text)| {
                format!(r#"{{"id": {message}, "role": "user", "content": "{text}", "timestamp": 3.0}}"#)
            })
            .collect();
        let line = format!(
            "{{\"id\": \"{session}\", \"source\": \"cli\", \"started_at\": 2.0, \"messages\": [{}]}}\n",
            messages.join(", ")
        );
        let options = import::ImportOptions::default();
        let report = import::import(self.store(), &mut line.as_bytes(), options, &mut |_| {}).await.map_err(wrong)?;
        self.learn(&session, 4).map_err(|why| format!("{why}: {report:?}"))
    }

    fn foreign(&mut self, step: &Foreign) -> Result<(), rusqlite::Error> {
        let nth = |place: usize| self.messages.keys().copied().nth(place % self.messages.len().max(1));
        match step {
            Foreign::Insert(session, kind) => {
                let session = name(*session);
                let hidden =
                    self.foreign.prepare("SELECT 1 FROM hx_hidden WHERE session_id = ?")?.exists([&session])?;
                if hidden {
                    return Ok(());
                }
                self.foreign.execute(
                    "INSERT OR IGNORE INTO sessions (id, source, started_at) VALUES (?, 'cli', 1.0)",
                    [&session],
                )?;
                let bytes = text(*kind);
                // Bytes that are no text come as a blob or as a text, by turns.
                let content = match kind % 2 {
                    0 if std::str::from_utf8(&bytes).is_err() => ValueRef::Blob(&bytes),
                    _ => ValueRef::Text(&bytes),
                };
                self.foreign.execute(
                    "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, 4.0)",
                    params![session, ToSqlOutput::Borrowed(content)],
                )?;
                self.messages.insert(self.foreign.last_insert_rowid(), session);
                Ok(())
            }
            Foreign::Change(place, kind) => {
                let Some(message) = nth(*place) else { return Ok(()) };
                self.foreign.execute(
                    "UPDATE messages SET content = ?, tool_name = NULL WHERE id = ?",
                    params![ToSqlOutput::Borrowed(ValueRef::Text(&text(*kind))), message],
                )?;
                Ok(())
            }
            Foreign::Touch(place) => {
                let Some(message) = nth(*place) else { return Ok(()) };
                self.foreign.execute("UPDATE messages SET token_count = 7 WHERE id = ?", [message])?;
                Ok(())
            }
            Foreign::Remove(place) => {
                let Some(message) = nth(*place) else { return Ok(()) };
                self.foreign.execute("DELETE FROM messages WHERE id = ?", [message])?;
                self.messages.remove(&message);
                Ok(())
            }
            Foreign::RemoveSession(session) => {
                let session = name(*session);
                let transaction = self.foreign.transaction_with_behavior(TransactionBehavior::Immediate)?;
                transaction
                    .execute("UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?", [&session])?;
                transaction.execute("DELETE FROM messages WHERE session_id = ?", [&session])?;
                transaction.execute("DELETE FROM sessions WHERE id = ?", [&session])?;
                transaction.commit()?;
                self.messages.retain(|_, of| *of != session);
                Ok(())
            }
            Foreign::Retrigger(which) => {
                self.is_retriggered = true;
                let all = inline_indexes();
                let statement = all.split_inclusive(" END;").nth(*which).unwrap();
                let statement = &statement[statement.find("CREATE TRIGGER").unwrap()..];
                let trigger = statement.split_whitespace().nth(2).unwrap().to_owned();
                let transaction = self.foreign.transaction_with_behavior(TransactionBehavior::Immediate)?;
                transaction.execute_batch(&format!("DROP TRIGGER IF EXISTS {trigger}; {statement}"))?;
                transaction.commit()
            }
            Foreign::Optimize => self.command("optimize"),
            Foreign::Rebuild => self.command("rebuild"),
            Foreign::Vacuum => match self.foreign.execute_batch("VACUUM") {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
                outcome => outcome,
            },
            Foreign::FillAnew => {
                self.is_broken = true;
                let transaction = self.foreign.transaction_with_behavior(TransactionBehavior::Immediate)?;
                for table in ["messages_fts", "messages_fts_trigram"] {
                    transaction.execute_batch(&format!(
                        "DELETE FROM {table}; INSERT INTO {table}(rowid, content) SELECT id, COALESCE(content, '') || ' ' || \
                         COALESCE(tool_name, '') || ' ' || COALESCE(tool_calls, '') FROM messages;"
                    ))?;
                }
                transaction.commit()
            }
        }
    }

    fn command(&self, command: &str) -> Result<(), rusqlite::Error> {
        ["messages_fts", "messages_fts_trigram"].iter().try_for_each(|table| {
            self.foreign.execute_batch(&format!("INSERT INTO {table}({table}) VALUES('{command}')"))
        })
    }

    async fn settle(&self) -> Done {
        for _ in 0..MANY {
            if !self.store().upkeep().await.map_err(|error| format!("upkeep: {error}"))? {
                return Ok(());
            }
        }
        Err("upkeep does not end".to_owned())
    }

    /// What verify tells, but for the counters, which are the foreign writer's own matter.
    async fn findings(&self) -> Result<Vec<String>, String> {
        let mut found = told(&self.store().verify().await.map_err(wrong)?);
        found.retain(|line| !line.starts_with("counters: "));
        Ok(found)
    }

    async fn end(&mut self) -> Done {
        self.settle().await?;
        self.are_there()?;
        let mut found = self.findings().await?;
        if self.is_broken && !found.is_empty() {
            self.store().rebuild_indexes().await.map_err(wrong)?;
            found.clear();
        }
        if !found.is_empty() {
            return Err(format!("before optimize: {found:#?}"));
        }
        let mut steps = 0;
        while self.store().optimize().await.map_err(|error| format!("optimize: {error}"))? != Optimizing::Done {
            steps += 1;
            if steps > MANY {
                return Err("optimize does not end".to_owned());
            }
        }
        self.settle().await?;
        let found = self.findings().await?;
        if !found.is_empty() {
            return Err(format!("after optimize: {found:#?}"));
        }
        self.are_there()?;
        self.are_found().map_err(wrong)?
    }

    /// Every message is there once, and no other.
    fn are_there(&self) -> Done {
        let there = self.there()?;
        if there == self.messages { Ok(()) } else { Err(format!("{there:?}\nare there, not\n{:?}", self.messages)) }
    }

    /// The indexes find what they should, and FTS5 itself finds nothing wrong with them.
    fn are_found(&self) -> Result<Done, rusqlite::Error> {
        for table in ["messages_fts", "messages_fts_trigram"] {
            self.foreign.execute_batch(&format!("INSERT INTO {table}({table}, rank) VALUES('integrity-check', 1)"))?;
        }
        for table in ["hx_cjk", "hx_term_trigram"] {
            self.foreign.execute_batch(&format!("INSERT INTO {table}({table}) VALUES('integrity-check')"))?;
        }
        let ids = |sql: &str, term: &str| -> Result<BTreeSet<i64>, rusqlite::Error> {
            self.foreign.prepare(sql)?.query_map([term], |row| row.get(0))?.collect()
        };
        let text =
            "CAST(coalesce(content, '') || ' ' || coalesce(tool_name, '') || ' ' || coalesce(tool_calls, '') AS BLOB)";
        let having = format!("SELECT id FROM messages WHERE instr({text}, CAST(? AS BLOB)) > 0");
        for word in ["alpha", "beta", "gamma"] {
            let found = ids("SELECT rowid FROM messages_fts WHERE messages_fts MATCH ?", word)?;
            if found != ids(&having, word)? {
                return Ok(Err(format!("{word} is found in {found:?}")));
            }
        }
        // One NUL at the beginning is left out; beyond another one nothing is told.
        let taken = format!("{having} AND instr(substr({text}, 2), x'00') = 0");
        let found = ids("SELECT rowid FROM messages_fts_trigram WHERE messages_fts_trigram MATCH ?", "大别山")?;
        let expected = ids(&taken, "大别山")?;
        if found != expected {
            return Ok(Err(format!("大别山 is found in {found:?}, not {expected:?}")));
        }
        // Our own index may tell of more.
        let ours = ids("SELECT rowid FROM hx_cjk WHERE hx_cjk MATCH ?", "\"大别\"")?;
        if let Some(lacking) = ids(&having, "大别")?.difference(&ours).next() {
            return Ok(Err(format!("hx_cjk does not have {lacking}")));
        }
        let pending: i64 = self.foreign.query_row("SELECT count(*) FROM hx_pending", [], |row| row.get(0))?;
        Ok(if pending == 0 { Ok(()) } else { Err(format!("{pending} ranges are pending")) })
    }
}
