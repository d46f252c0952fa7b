//! Random sequences of our writes, our maintenance, and a foreign writer that acts like the agent, on one file. In the
//! end the indexes are sound, or the damage by the foreign writer is found and repaired; no message is lost.

mod foreign;
mod oracle;
mod step;

use crate::fixture::{File, at, id, new};
use crate::inline::agents_file;
use hermes_session::retention::{RetentionPolicy, prune};
use hermes_session::*;
use hermes_sqlite::SqliteStore;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};
use rusqlite::{Connection, ErrorCode};
use std::collections::{BTreeMap, BTreeSet};
use step::{Start, Step, ours, steps};

/// Number of sequences to try, unless `HERMES_PROPERTY_CASES` is set.
const RUNS: u32 = 12;
/// Maximum number of maintenance steps that such small files may take.
const MAX_STEPS: usize = 2_000;

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
    /// The messages that must exist, with their session.
    messages: BTreeMap<i64, String>,
    /// Number of sessions created so far that are named by a number.
    made: usize,
    /// Whether the foreign writer did something that leaves a compact index damaged until a rebuild is requested.
    is_broken: bool,
    /// Whether it has put triggers on a compact index that do not fit it. Our next write notices that; until then FTS5
    /// may reject what goes through them.
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
        // With a message so large that a step of maintenance ends with it.
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

    /// Takes over the messages of a session, which must have `count` of them.
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
                    // It already has a continuation.
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
                self.store().delete(&session, DeleteExtent::Conversation, &at(9.0)).await.map_err(wrong)?;
                self.messages.retain(|_, of| !gone.contains(of));
                Ok(())
            }
            Step::DeleteChain(session) if self.is_there(&name(*session)).await => {
                let session = id(&name(*session));
                let lineage = self.store().lineage(&session).await.map_err(wrong)?;
                let gone: BTreeSet<String> =
                    lineage.chain(&session).iter().map(|member| member.as_str().to_owned()).collect();
                let deleted = self.store().delete(&session, DeleteExtent::Chain, &at(9.0)).await.map_err(wrong)?;
                self.messages.retain(|_, of| !gone.contains(of));
                if deleted.sessions == gone.len() as u64 { Ok(()) } else { Err(format!("{deleted:?} of {gone:?}")) }
            }
            Step::Link(child, parent) => {
                let (child, parent) = (id(&name(*child)), id(&name(*parent)));
                match self.store().link(&child, &parent, Relation::Delegate).await {
                    // One of them does not exist, or the parent descends from the child.
                    Ok(_) | Err(StoreError::NotFound(_) | StoreError::Invalid(_)) => Ok(()),
                    Err(error) => Err(wrong(error)),
                }
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
                // Its own damage may make its writes fail.
                Err(error) if self.may_refuse() && error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
                    Ok(())
                }
                outcome => outcome.map_err(wrong),
            },
            Step::Split(..) | Step::Branch(_) | Step::Delete(_) | Step::DeleteChain(_) | Step::End(_) => Ok(()),
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

    /// Imports a session whose messages ask for ids that are free, taken, and far away.
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
}
