//! Tables, created and changed by numbered migrations. Each is applied once, by the first process that gets to it.

use crate::connection::{OLDEST, quoted, refusal, silence};
use crate::database::Database;
use crate::error::Failure;
use deadpool_postgres::{Object, PoolError, TimeoutType};
use futures_util::future::join;
use hermes_session::{Location, Refusal, StoreError};
use hermes_sql::server::Failing as _;
use std::time::{Duration, Instant};
use tokio_postgres::IsolationLevel;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

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

/// How long one attempt at a migration waits for locks. Short: while a change of a table waits, every call on that table waits behind it.
const ATTEMPT: Duration = Duration::from_secs(2);
/// Pause between two attempts, in which the calls that waited behind the first one run.
const PAUSE: Duration = Duration::from_millis(200);

/// First key of the advisory lock for migrations; the second is the number of the schema.
const LOCK: i32 = 0x4845_524e;

/// Creates or migrates the tables as needed. Returns notices for the user.
pub(crate) async fn open(database: &Database, create: bool) -> Result<Vec<String>, StoreError> {
    let location = &database.location;
    let mut client = database.pool.get().await.map_err(|error| match error {
        PoolError::Backend(error) => refusal(location, error),
        PoolError::Timeout(TimeoutType::Create) => silence(location),
        other => Failure::from(other).into_store_error("open the store", Duration::ZERO, location),
    })?;
    match bring_up(&mut client, database, create).await {
        Ok(notices) => Ok(notices),
        Err(Failure::Driver(error)) => Err(refusal(location, error)),
        Err(other) => Err(other.into_store_error("open the store", Duration::ZERO, location)),
    }
}

async fn bring_up(client: &mut Object, database: &Database, create: bool) -> Result<Vec<String>, Failure> {
    let refuse = |refusal: Refusal| refused(&database.location, refusal);
    let (table, index) = (named(&database.schema, "hx_migration"), named(&database.schema, "hx_term_trgm"));
    let names: [(&(dyn ToSql + Sync), Type); 2] = [(&table, Type::TEXT), (&index, Type::TEXT)];
    let last = format!("SELECT max(number) FROM {table}");
    // Sent at once, so that a store in use is opened in one round trip. Without tables the second one fails.
    let (facts, last) = join(client.query_typed_one(FACTS, &names), client.query_typed_one(&last, &[])).await;
    let facts = facts?;
    let (number, version, encoding): (i32, String, String) = (facts.try_get(0)?, facts.try_get(1)?, facts.try_get(2)?);
    if let Some(refusal) = unfit(number, &version, &encoding) {
        return Err(refuse(refusal));
    }
    let (is_there, mut has_trigrams): (bool, bool) = (facts.try_get(3)?, facts.try_get(4)?);
    let newest = MIGRATIONS.last().map_or(0, |migration| migration.number);
    let mut applied: Option<i32> = if is_there { last?.try_get(0)? } else { None };
    if applied.is_none_or(|applied| applied < newest) {
        // The next migrations may create it.
        has_trigrams = false;
    }
    match applied {
        None if database.read_only || !create => {
            return Err(refuse(Refusal::NoStore { namespace: format!("schema {}", database.schema) }));
        }
        Some(applied) if applied < newest && database.read_only => {
            return Err(refuse(Refusal::OlderTables { found: applied, needed: newest }));
        }
        None => applied = Some(migrate_in_time(client, database).await?),
        Some(older) if older < newest => applied = Some(migrate_in_time(client, database).await?),
        Some(_) => {}
    }
    match applied {
        Some(applied) if applied > newest => Err(refuse(Refusal::NewerTables { found: applied, newest })),
        _ if has_trigrams => Ok(Vec::new()),
        _ if database.read_only => lacks_trigrams(client, &database.schema).await,
        _ => trigrams(client, &database.schema).await,
    }
}

/// Returns why a server cannot be used, or `None` if it can.
fn unfit(number: i32, version: &str, encoding: &str) -> Option<Refusal> {
    if number < OLDEST {
        return Some(Refusal::TooOld { product: format!("PostgreSQL {version}") });
    }
    (encoding != "UTF8").then(|| Refusal::Encoding { encoding: encoding.to_owned() })
}

fn refused(location: &str, refusal: Refusal) -> Failure {
    StoreError::Refused { location: Location::Server(location.to_owned()), refusal }.into()
}

/// The server, and whether the tables in `$1` and the index in `$2` exist.
const FACTS: &str = "SELECT current_setting('server_version_num')::int, current_setting('server_version'), \
     current_setting('server_encoding'), to_regclass($1) IS NOT NULL, to_regclass($2) IS NOT NULL";

/// Returns the qualified name of an object in a schema.
fn named(schema: &str, object: &str) -> String {
    format!("{}.{object}", quoted(schema))
}

/// Applies the missing migrations, retried while others hold locks on the tables. Returns the number of the last
/// migration.
///
/// # Errors
/// `Busy` if the locks were held for as long as the store waits.
async fn migrate_in_time(client: &mut Object, database: &Database) -> Result<i32, Failure> {
    let start = Instant::now();
    loop {
        let left = database.wait.saturating_sub(start.elapsed());
        let error = match migrate(client, database, left.min(ATTEMPT)).await {
            Err(Failure::Driver(error)) if is_lock(&error) => error,
            outcome => return outcome,
        };
        let waited = start.elapsed();
        if waited >= database.wait {
            let holder = holders(client, &database.schema).await.unwrap_or(None);
            let (location, op) = (Location::Server(database.location.clone()), "migrate the tables");
            return Err(StoreError::Busy { location, op, waited, holder, source: error.into() }.into());
        }
        tokio::time::sleep(PAUSE.min(database.wait - waited)).await;
    }
}

/// Returns whether a statement failed because of a lock held by another transaction.
fn is_lock(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| *code == SqlState::LOCK_NOT_AVAILABLE || *code == SqlState::T_R_DEADLOCK_DETECTED)
}

/// Describes the server's processes that hold locks on tables of the schema. Returns `None` if there are none.
async fn holders(client: &Object, schema: &str) -> Result<Option<String>, Failure> {
    let sql = "SELECT string_agg(DISTINCT l.pid::text, ', ') FROM pg_locks l JOIN pg_class c ON c.oid = l.relation \
         JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND l.granted AND l.pid <> pg_backend_pid() \
         AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let pids: Option<String> = client.query_one(sql, &[&schema]).await?.try_get(0)?;
    Ok(pids.map(|pids| format!("a transaction of another session (process {pids} of the server)")))
}

/// Applies the missing migrations, one transaction each, and waits at most `patience` for a lock. Returns the number of
/// the last migration.
async fn migrate(client: &mut Object, database: &Database, patience: Duration) -> Result<i32, Failure> {
    // Zero would mean no limit.
    let patience = patience.as_millis().max(1);
    let (schema, lock) = (database.schema.as_str(), database.lock_number());
    let mut last = 0;
    for migration in &MIGRATIONS {
        let transaction = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted).start().await?;
        transaction.batch_execute(&format!("SET LOCAL lock_timeout = {patience}")).await?;
        // Another process that opens the store now waits here, and then finds the migration applied.
        transaction.execute("SELECT pg_advisory_xact_lock($1, $2)", &[&LOCK, &lock]).await?;
        let name = quoted(schema);
        // Checked first, because CREATE SCHEMA needs the privilege even if the schema exists.
        let has_schema = transaction.query_opt("SELECT 1 FROM pg_namespace WHERE nspname = $1", &[&schema]).await?;
        if has_schema.is_none() {
            transaction.batch_execute(&format!("CREATE SCHEMA {name}")).await?;
        }
        transaction.batch_execute(&format!("SET LOCAL search_path = {name}")).await?;
        let is_first = transaction.query_one("SELECT to_regclass('hx_migration') IS NULL", &[]).await?.try_get(0)?;
        if is_first {
            refuse_strangers(&transaction, database).await?;
            transaction
                .batch_execute(
                    "CREATE TABLE hx_migration (number INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, \
                     applied_at TIMESTAMPTZ NOT NULL DEFAULT now())",
                )
                .await?;
        }
        last = transaction.query_one("SELECT coalesce(max(number), 0) FROM hx_migration", &[]).await?.try_get(0)?;
        if last < migration.number {
            transaction.batch_execute(migration.sql).await?;
            let record = "INSERT INTO hx_migration (number, name) VALUES ($1, $2)";
            transaction.execute(record, &[&migration.number, &migration.name]).await?;
            tracing::info!(number = migration.number, name = migration.name, "migration applied");
            last = migration.number;
        }
        transaction.commit().await?;
    }
    Ok(last)
}

/// Fails if another program has tables with our names.
async fn refuse_strangers(
    transaction: &deadpool_postgres::Transaction<'_>,
    database: &Database,
) -> Result<(), Failure> {
    let schema = &database.schema;
    let found = transaction
        .query_opt(
            "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 \
             AND (c.relname IN ('sessions', 'messages', 'state_meta', 'telegram_dm_topic_mode', 'telegram_dm_topic_bindings') \
             OR starts_with(c.relname::text, 'hx_')) ORDER BY 1 LIMIT 1",
            &[&schema],
        )
        .await?;
    match found {
        None => Ok(()),
        Some(row) => Err(refused(
            &database.location,
            Refusal::OtherTables { table: row.try_get(0)?, namespace: format!("schema {schema}") },
        )),
    }
}

/// Statement for the schema of the extension, if it is installed.
const WHERE: &str = "SELECT n.nspname::text FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'";
const SLOWLY: &str = "searches for parts of words are slow, because";
const ADD: &str = "have an administrator run CREATE EXTENSION pg_trgm in the database";

async fn has_trigrams(client: &Object, schema: &str) -> Result<bool, Failure> {
    let index = format!("{}.hx_term_trgm", quoted(schema));
    Ok(client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&index]).await?.try_get(0)?)
}

/// Returns a notice if the index for pieces of words is missing, without changing anything.
async fn lacks_trigrams(client: &Object, schema: &str) -> Result<Vec<String>, Failure> {
    if has_trigrams(client, schema).await? {
        return Ok(Vec::new());
    }
    Ok(vec![match client.query_opt(WHERE, &[]).await? {
        None => format!("{SLOWLY} the extension pg_trgm is missing; {ADD}"),
        Some(_) => format!("{SLOWLY} their index is missing; the next command that writes creates it"),
    }])
}

/// Creates the index for pieces of words, if the extension is available. Returns a notice otherwise.
async fn trigrams(client: &Object, schema: &str) -> Result<Vec<String>, Failure> {
    if has_trigrams(client, schema).await? {
        return Ok(Vec::new());
    }
    let name = quoted(schema);
    let lacking = |why: &str| vec![format!("{SLOWLY} the extension pg_trgm is missing ({why}); {ADD}")];
    if client.query_opt(WHERE, &[]).await?.is_none()
        && let Err(error) = client.batch_execute("CREATE EXTENSION IF NOT EXISTS pg_trgm").await
        && error.code() != Some(&SqlState::UNIQUE_VIOLATION)
    {
        let why = error.as_db_error().map_or_else(|| error.to_string(), |error| error.message().to_owned());
        return Ok(lacking(&why));
    }
    let Some(row) = client.query_opt(WHERE, &[]).await? else { return Ok(lacking("it could not be created")) };
    let place = quoted(&row.try_get::<_, String>(0)?);
    let made =
        format!("CREATE INDEX IF NOT EXISTS hx_term_trgm ON {name}.hx_term USING gin (term {place}.gin_trgm_ops)");
    match client.batch_execute(&made).await {
        Ok(()) => Ok(Vec::new()),
        // Another process creates it at this moment.
        Err(error)
            if error
                .code()
                .is_some_and(|code| *code == SqlState::UNIQUE_VIOLATION || *code == SqlState::DUPLICATE_TABLE) =>
        {
            Ok(Vec::new())
        }
        Err(error) => {
            Ok(lacking(&error.as_db_error().map_or_else(|| error.to_string(), |error| error.message().to_owned())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Refusal, unfit};

    #[test]
    fn an_old_server_is_reported() {
        assert_eq!(unfit(150_018, "15.18", "UTF8"), None);
        assert_eq!(unfit(130_000, "13.0", "UTF8"), None);
        let text = |refusal: Option<Refusal>| refusal.map(|refusal| refusal.to_string());
        assert_eq!(text(unfit(120_022, "12.22", "UTF8")).as_deref(), Some("is PostgreSQL 12.22, which is too old"));
        assert_eq!(text(unfit(150_000, "15", "SQL_ASCII")).as_deref(), Some("stores text as SQL_ASCII, not UTF-8"));
    }
}
