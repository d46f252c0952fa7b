//! The tables: made and brought up to date by numbered migrations, each once, whoever comes first.
//!
//! A server of this kind commits each statement of a migration by itself. So each can be run again, and a migration counts when its row says that it ended:
//! one that was cut off is run from its start by whoever comes next.

use crate::connection::{Object, refusal, silence};
use crate::database::{Database, Flavour};
use crate::error::{Failure, code};
use deadpool::managed::{PoolError, TimeoutType};
use hermes_session::{Cause, Location, Refusal, StoreError};
use hermes_sql::server::Failing as _;
use mysql_async::prelude::Queryable as _;
use std::time::{Duration, Instant};

/// The version of the agent's schema that the tables stand for.
pub(crate) const AGENT_VERSION: i64 = 11;

/// A step from one form of the tables to the next. Never changed once it was released.
struct Migration {
    number: i32,
    name: &'static str,
    sql: &'static str,
}

const MIGRATIONS: [Migration; 7] = [
    Migration { number: 1, name: "sessions", sql: include_str!("../migrations/0001_sessions.sql") },
    Migration { number: 2, name: "search", sql: include_str!("../migrations/0002_search.sql") },
    Migration { number: 3, name: "topics", sql: include_str!("../migrations/0003_topics.sql") },
    Migration { number: 4, name: "gateway", sql: include_str!("../migrations/0004_gateway.sql") },
    Migration { number: 5, name: "marks", sql: include_str!("../migrations/0005_marks.sql") },
    Migration { number: 6, name: "trash", sql: include_str!("../migrations/0006_trash.sql") },
    Migration { number: 7, name: "states", sql: include_str!("../migrations/0007_states.sql") },
];

/// The server's error for a column that is there already.
const DUPLICATE_COLUMN: u16 = 1060;

/// How many seconds one attempt at a migration waits for metadata locks. Short: while a change of a table waits, every call on that table waits
/// behind it.
const ATTEMPT: u64 = 2;
/// Pause between two attempts, in which the calls that waited behind the first one run.
const PAUSE: Duration = Duration::from_millis(200);

/// Sees that the tables are there as this program knows them; what a person should be told.
pub(crate) async fn open(database: &mut Database, create: bool) -> Result<Vec<String>, StoreError> {
    let location = database.location.clone();
    let mut conn = database.pool.get().await.map_err(|error| match error {
        PoolError::Backend(error) => refusal(&location, error),
        PoolError::Timeout(TimeoutType::Create) => silence(&location),
        other => Failure::from(other).into_store_error("open the store", Duration::ZERO, &location),
    })?;
    match bring_up(&mut conn, database, create).await {
        Ok(notices) => Ok(notices),
        Err(Failure::Driver(error)) => Err(refusal(&location, error)),
        Err(other) => Err(other.into_store_error("open the store", Duration::ZERO, &location)),
    }
}

async fn bring_up(conn: &mut Object, database: &mut Database, create: bool) -> Result<Vec<String>, Failure> {
    let location = database.location.clone();
    let refuse = |refusal: Refusal| refused(&location, refusal);
    let version: String = conn.query_first("SELECT version()").await?.unwrap_or_default();
    if let Some(refusal) = unfit(&version) {
        return Err(refuse(refusal));
    }
    database.flavour = Flavour::of(&version);
    let newest = MIGRATIONS.last().map_or(0, |migration| migration.number);
    let mut applied = applied(conn).await?;
    match applied {
        None if database.read_only || !create => {
            return Err(refuse(Refusal::NoStore { namespace: format!("database {}", database.name) }));
        }
        Some(applied) if applied < newest && database.read_only => {
            return Err(refuse(Refusal::OlderTables { found: applied, needed: newest }));
        }
        None => applied = Some(migrate_alone(conn, database).await?),
        Some(older) if older < newest => applied = Some(migrate_alone(conn, database).await?),
        Some(_) => {}
    }
    match applied {
        Some(applied) if applied > newest => Err(refuse(Refusal::NewerTables { found: applied, newest })),
        _ => Ok(crate::hints::of(conn).await?),
    }
}

/// Why a server can't be used, and what to do; nothing if it can.
fn unfit(version: &str) -> Option<Refusal> {
    let mut numbers =
        version.split(|sign: char| !sign.is_ascii_digit()).map(|number| number.parse::<u32>().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let (name, oldest) = match Flavour::of(version) {
        Flavour::Mariadb => ("MariaDB", (10, 6)),
        Flavour::Mysql => ("MySQL", (8, 0)),
    };
    let is_old = found < oldest;
    is_old.then(|| Refusal::TooOld { product: format!("{name} {}.{}", found.0, found.1) })
}

fn refused(location: &str, refusal: Refusal) -> Failure {
    StoreError::Refused { location: Location::Server(location.to_owned()), refusal }.into()
}

/// The number of the last migration that ended; nothing if there are no tables of ours.
async fn applied(conn: &mut Object) -> Result<Option<i32>, Failure> {
    const THERE: &str = "SELECT count(*) FROM information_schema.tables WHERE table_schema = database() AND table_name = 'hx_migration'";
    if conn.query_first::<i64, _>(THERE).await? == Some(0) {
        return Ok(None);
    }
    Ok(conn.query_first("SELECT max(number) FROM hx_migration WHERE applied_at IS NOT NULL").await?.flatten())
}

/// Applies what is missing while nobody else does, again and again while others hold locks on the tables.
///
/// # Errors
/// `Busy` if somebody else migrates, or the locks are held, for as long as the store waits.
async fn migrate_alone(conn: &mut Object, database: &Database) -> Result<i32, Failure> {
    let start = Instant::now();
    // The lock goes with the connection, so that one who is killed keeps nobody waiting.
    let lock =
        format!("SELECT get_lock(left(concat('hermes ', md5(database())), 64), {})", seconds(database.wait, u64::MAX));
    if conn.query_first::<Option<i64>, _>(lock).await?.flatten() != Some(1) {
        let holder = "a process of hermes that brings them up to date";
        return Err(busy(database, start.elapsed(), holder, "the server's lock for migrations is taken".into()));
    }
    let migrated = loop {
        let left = database.wait.saturating_sub(start.elapsed());
        // In whole seconds; zero would stand for no wait at all.
        conn.query_drop(format!("SET SESSION lock_wait_timeout = {}", seconds(left, ATTEMPT))).await?;
        let error = match migrate(conn, database).await {
            Err(Failure::Driver(error @ mysql_async::Error::Server(_))) if is_lock(&error) => error,
            outcome => break outcome,
        };
        let waited = start.elapsed();
        if waited >= database.wait {
            break Err(busy(database, waited, "a transaction of another session", error.into()));
        }
        tokio::time::sleep(PAUSE.min(database.wait - waited)).await;
    };
    conn.query_drop("SET SESSION lock_wait_timeout = DEFAULT").await?;
    conn.query_drop("DO release_lock(left(concat('hermes ', md5(database())), 64))").await?;
    migrated
}

/// Returns a time in whole seconds, rounded up: one at least, `most` at most.
fn seconds(time: Duration, most: u64) -> u64 {
    (time.as_secs() + u64::from(time.subsec_nanos() > 0)).clamp(1, most)
}

/// Returns whether a statement was given up because of a lock that somebody else held.
fn is_lock(error: &mysql_async::Error) -> bool {
    matches!(error, mysql_async::Error::Server(error) if [code::LOCK_WAIT, code::DEADLOCK].contains(&error.code))
}

fn busy(database: &Database, waited: Duration, holder: &str, source: Cause) -> Failure {
    let (location, op) = (Location::Server(database.location.clone()), "bring the tables up to date");
    StoreError::Busy { location, op, waited, holder: Some(holder.to_owned()), source }.into()
}

async fn migrate(conn: &mut Object, database: &Database) -> Result<i32, Failure> {
    if applied(conn).await?.is_none() {
        refuse_strangers(conn, database).await?;
        conn.query_drop(
            "CREATE TABLE IF NOT EXISTS hx_migration (number INTEGER NOT NULL PRIMARY KEY, name VARBINARY(64) NOT NULL, \
             begun_at DATETIME NOT NULL, applied_at DATETIME) ENGINE = InnoDB",
        )
        .await?;
    }
    // Words that others leave out are found as well.
    conn.query_drop("SET SESSION innodb_ft_enable_stopword = OFF").await?;
    let mut last = applied(conn).await?.unwrap_or(0);
    for migration in &MIGRATIONS {
        if last >= migration.number {
            continue;
        }
        conn.exec_drop(
            "INSERT INTO hx_migration (number, name, begun_at) VALUES (?, ?, utc_timestamp()) ON DUPLICATE KEY UPDATE begun_at = utc_timestamp()",
            (migration.number, migration.name),
        )
        .await?;
        for statement in statements(migration.sql) {
            match conn.query_drop(statement).await {
                // A migration that was cut off added them: all columns of a statement are added at once.
                Err(mysql_async::Error::Server(error)) if error.code == DUPLICATE_COLUMN => {}
                outcome => outcome?,
            }
        }
        let done = "UPDATE hx_migration SET applied_at = utc_timestamp() WHERE number = ?";
        conn.exec_drop(done, (migration.number,)).await?;
        last = migration.number;
        tracing::info!(number = migration.number, name = migration.name, "migration applied");
    }
    Ok(last)
}

/// The statements of a migration: each ends at the end of a line.
fn statements(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(";\n").map(str::trim).filter(|statement| {
        statement.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with("--"))
    })
}

/// Sees that no other program has tables of our names.
async fn refuse_strangers(conn: &mut Object, database: &Database) -> Result<(), Failure> {
    let found: Option<String> = conn
        .query_first(
            "SELECT CAST(table_name AS CHAR) FROM information_schema.tables WHERE table_schema = database() \
             AND (table_name IN ('sessions', 'messages', 'state_meta', 'telegram_dm_topic_mode', 'telegram_dm_topic_bindings') \
             OR (table_name LIKE 'hx\\_%' AND table_name <> 'hx_migration')) ORDER BY 1 LIMIT 1",
        )
        .await?;
    match found {
        // Tables of ours that a migration left which was cut off come with its row.
        Some(table) if !has_begun(conn).await? => Err(refused(
            &database.location,
            Refusal::OtherTables { table, namespace: format!("database {}", database.name) },
        )),
        _ => Ok(()),
    }
}

/// Whether a migration of ours has begun.
async fn has_begun(conn: &mut Object) -> Result<bool, Failure> {
    const THERE: &str = "SELECT count(*) FROM information_schema.tables WHERE table_schema = database() AND table_name = 'hx_migration'";
    if conn.query_first::<i64, _>(THERE).await? == Some(0) {
        return Ok(false);
    }
    Ok(conn.query_first::<i64, _>("SELECT count(*) FROM hx_migration").await? > Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_server_is_told() {
        for fit in ["10.11.14-MariaDB-0+deb12u2", "10.6.1-MariaDB", "11.4.2-MariaDB", "8.0.36", "8.4.0", "9.1.0-log"] {
            assert_eq!(unfit(fit), None, "{fit}");
        }
        let text = |version| unfit(version).map(|refusal| refusal.to_string());
        assert_eq!(text("5.7.44-log").as_deref(), Some("is MySQL 5.7, which is too old"));
        assert_eq!(text("10.5.9-MariaDB").as_deref(), Some("is MariaDB 10.5, which is too old"));
    }

    #[test]
    fn statements_are_told_apart() {
        let found: Vec<&str> = statements("-- A\n\nCREATE a (\n  b\n);\n-- C; D\nINSERT d;\n-- E\n").collect();
        assert_eq!(found, ["-- A\n\nCREATE a (\n  b\n)", "-- C; D\nINSERT d"]);
    }
}
