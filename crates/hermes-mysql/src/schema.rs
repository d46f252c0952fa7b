//! Tables, created and changed by numbered migrations. Each is applied once, by the first process that gets to it.
//!
//! These servers commit each statement of a migration by itself. So every statement is repeatable, and a migration
//! counts as applied when its row says that it ended. An interrupted migration is run from its start by the next
//! process.

use crate::connection::{Object, refusal, silence};
use crate::database::{Database, Flavour};
use crate::error::{Failure, code};
use deadpool::managed::{PoolError, TimeoutType};
use hermes_session::{Cause, Location, Refusal, StoreError};
use hermes_sql::server::Failing as _;
use mysql_async::prelude::Queryable as _;
use std::time::{Duration, Instant};

/// Version of the agent's schema that the tables correspond to.
pub(crate) const AGENT_VERSION: i64 = 11;

/// A step from one version of the tables to the next. Never changed after its release.
struct Migration {
    number: i32,
    name: &'static str,
    sql: &'static str,
}

const MIGRATIONS: [Migration; 8] = [
    Migration { number: 1, name: "sessions", sql: include_str!("../migrations/0001_sessions.sql") },
    Migration { number: 2, name: "search", sql: include_str!("../migrations/0002_search.sql") },
    Migration { number: 3, name: "topics", sql: include_str!("../migrations/0003_topics.sql") },
    Migration { number: 4, name: "gateway", sql: include_str!("../migrations/0004_gateway.sql") },
    Migration { number: 5, name: "marks", sql: include_str!("../migrations/0005_marks.sql") },
    Migration { number: 6, name: "trash", sql: include_str!("../migrations/0006_trash.sql") },
    Migration { number: 7, name: "states", sql: include_str!("../migrations/0007_states.sql") },
    Migration { number: 8, name: "live", sql: include_str!("../migrations/0008_live.sql") },
];

/// Error number for a column that already exists.
const DUPLICATE_COLUMN: u16 = 1060;

/// How many seconds one attempt at a migration waits for metadata locks. Short: while a change of a table waits, every call on that table waits
/// behind it.
const ATTEMPT: u64 = 2;
/// Pause between two attempts, in which the calls that waited behind the first one run.
const PAUSE: Duration = Duration::from_millis(200);

/// Creates or migrates the tables as needed. Returns notices for the user.
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

/// Returns why a server cannot be used, or `None` if it can.
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

/// Returns the number of the last completed migration, or `None` if our tables do not exist.
async fn applied(conn: &mut Object) -> Result<Option<i32>, Failure> {
    const THERE: &str = "SELECT count(*) FROM information_schema.tables WHERE table_schema = database() AND table_name = 'hx_migration'";
    if conn.query_first::<i64, _>(THERE).await? == Some(0) {
        return Ok(None);
    }
    Ok(conn.query_first("SELECT max(number) FROM hx_migration WHERE applied_at IS NOT NULL").await?.flatten())
}

/// Applies the missing migrations under an exclusive lock, retried while others hold locks on the tables.
///
/// # Errors
/// `Busy` if another process migrates, or the locks are held, for as long as the store waits.
async fn migrate_alone(conn: &mut Object, database: &Database) -> Result<i32, Failure> {
    let start = Instant::now();
    // The lock ends with the connection, so that a killed process blocks nobody.
    let lock =
        format!("SELECT get_lock(left(concat('hermes ', md5(database())), 64), {})", seconds(database.wait, u64::MAX));
    if conn.query_first::<Option<i64>, _>(lock).await?.flatten() != Some(1) {
        let holder = "a process of hermes that is migrating the tables";
        return Err(busy(database, start.elapsed(), holder, "the server's lock for migrations is taken".into()));
    }
    let migrated = loop {
        let left = database.wait.saturating_sub(start.elapsed());
        // In whole seconds; zero would mean no wait at all.
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

/// Returns a time in whole seconds, rounded up, between 1 and `most`.
fn seconds(time: Duration, most: u64) -> u64 {
    (time.as_secs() + u64::from(time.subsec_nanos() > 0)).clamp(1, most)
}

/// Returns whether a statement failed because of a lock held by another transaction.
fn is_lock(error: &mysql_async::Error) -> bool {
    matches!(error, mysql_async::Error::Server(error) if [code::LOCK_WAIT, code::DEADLOCK].contains(&error.code))
}

fn busy(database: &Database, waited: Duration, holder: &str, source: Cause) -> Failure {
    let (location, op) = (Location::Server(database.location.clone()), "migrate the tables");
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
    // Stop words are indexed as well.
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
                // Added by an interrupted migration. All columns of one statement are added at once.
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

/// Returns the statements of a migration. Each ends at the end of a line.
fn statements(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(";\n").map(str::trim).filter(|statement| {
        statement.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with("--"))
    })
}

/// Fails if another program has tables with our names.
async fn refuse_strangers(conn: &mut Object, database: &Database) -> Result<(), Failure> {
    let found: Option<String> = conn
        .query_first(
            "SELECT CAST(table_name AS CHAR) FROM information_schema.tables WHERE table_schema = database() \
             AND (table_name IN ('sessions', 'messages', 'state_meta', 'telegram_dm_topic_mode', 'telegram_dm_topic_bindings') \
             OR (table_name LIKE 'hx\\_%' AND table_name <> 'hx_migration')) ORDER BY 1 LIMIT 1",
        )
        .await?;
    match found {
        // Tables left by an interrupted migration of ours come with its row.
        Some(table) if !has_begun(conn).await? => Err(refused(
            &database.location,
            Refusal::OtherTables { table, namespace: format!("database {}", database.name) },
        )),
        _ => Ok(()),
    }
}

/// Returns whether a migration of ours has begun.
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
    fn an_old_server_is_reported() {
        for fit in ["10.11.14-MariaDB-0+deb12u2", "10.6.1-MariaDB", "11.4.2-MariaDB", "8.0.36", "8.4.0", "9.1.0-log"] {
            assert_eq!(unfit(fit), None, "{fit}");
        }
        let text = |version| unfit(version).map(|refusal| refusal.to_string());
        assert_eq!(text("5.7.44-log").as_deref(), Some("is MySQL 5.7, which is too old"));
        assert_eq!(text("10.5.9-MariaDB").as_deref(), Some("is MariaDB 10.5, which is too old"));
    }

    #[test]
    fn statements_are_distinguished() {
        let found: Vec<&str> = statements("-- A\n\nCREATE a (\n  b\n);\n-- C; D\nINSERT d;\n-- E\n").collect();
        assert_eq!(found, ["-- A\n\nCREATE a (\n  b\n)", "-- C; D\nINSERT d"]);
    }
}
