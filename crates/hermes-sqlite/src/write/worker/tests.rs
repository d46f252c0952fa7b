use super::*;
use crate::open::connection;
use crate::open::options::{SqliteOptions, Synchronous};
use crate::write::background::Background;
use hermes_session::StoreError;
use rusqlite::OptionalExtension as _;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A folder with a store.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("state.db")
    }

    fn start(&self, settings: Settings) -> Workers {
        let opened = connection::open_writer(&self.path(), &SqliteOptions::default()).unwrap();
        Workers::start(Writing::Now(Box::new((opened.writer.unwrap(), opened.queue))), None, &self.path(), settings)
            .unwrap()
    }

    fn steps(&self) -> i64 {
        steps(&connection::open_reader(&self.path()).unwrap()).unwrap()
    }
}

fn nothing(_: &Database) -> Result<bool, Failure> {
    Ok(false)
}

fn settings(step: fn(&Database) -> Result<bool, Failure>) -> Settings {
    Settings {
        wait: Duration::from_secs(60),
        synchronous: Synchronous::Full,
        background: Some(Background { step, pressing: step }),
        sync: File::sync_data,
        index_at_close: None,
    }
}

fn steps(database: &Database) -> Result<i64, Failure> {
    let value: Option<String> =
        database.query_row("SELECT value FROM hx_state WHERE key = 'steps'", [], |row| row.get(0)).optional()?;
    Ok(value.map_or(0, |value| value.parse().unwrap()))
}

fn note(database: &Database, key: &str, value: i64) -> Result<(), Failure> {
    database.execute("INSERT OR REPLACE INTO hx_state VALUES (?, ?)", (key, value.to_string()))?;
    Ok(())
}

/// Counts steps; work is left until the third.
fn count(database: &Database) -> Result<bool, Failure> {
    let steps = steps(database)? + 1;
    note(database, "steps", steps)?;
    Ok(steps < 3)
}

/// A slow step that always reports more work.
fn count_slowly(database: &Database) -> Result<bool, Failure> {
    std::thread::sleep(Duration::from_millis(60));
    count(database).map(|_| true)
}

async fn write(workers: &Workers) -> Result<(), StoreError> {
    workers.write("note", |database| note(database, "written", 1)).await
}

async fn wait_for_steps(workers: &Workers, expect: i64) {
    while workers.read("look", steps).await.unwrap() < expect {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn background_work_follows_a_write_until_nothing_is_left() {
    let place = Place::new();
    let workers = place.start(settings(count));
    write(&workers).await.unwrap();
    wait_for_steps(&workers, 3).await;
    drop(workers);
    assert_eq!(place.steps(), 3, "nothing was left at the end");
}

#[tokio::test]
async fn background_work_is_done_when_the_store_is_closed_unless_it_read_and_nobody_asked() {
    let place = Place::new();
    let workers = place.start(settings(count));
    workers.read("look", steps).await.unwrap();
    drop(workers);
    assert_eq!(place.steps(), 0);
    let workers = place.start(settings(count));
    write(&workers).await.unwrap();
    drop(workers);
    assert_eq!(place.steps(), 3);
    let place = Place::new();
    let workers = place.start(settings(count));
    workers.nudge();
    drop(workers);
    assert_eq!(place.steps(), 3);
}

/// The damage may be elsewhere. New indexes that do not help would be replaced again and again.
#[tokio::test]
async fn what_fails_in_the_background_gets_no_new_indexes_from_a_write() {
    static BEGUN: Once = Once::new();
    static SENT: Once = Once::new();
    let place = Place::new();
    let workers = place.start(settings(|_| {
        BEGUN.call_once(|| {});
        SENT.wait();
        Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT), None).into())
    }));
    workers.nudge();
    tokio::task::spawn_blocking(|| BEGUN.wait()).await.unwrap();
    let (written, ()) = tokio::join!(write(&workers), async { SENT.call_once(|| {}) });
    written.unwrap();
    let replaced = |database: &Database| {
        let sql = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'hx_replaced*'";
        Ok(database.query_row(sql, [], |row| row.get::<_, i64>(0))?)
    };
    assert_eq!(workers.read("look", replaced).await.unwrap(), 0);
}

#[tokio::test]
async fn closing_does_not_wait_for_all_of_it() {
    let place = Place::new();
    let workers = place.start(settings(count_slowly));
    write(&workers).await.unwrap();
    drop(workers);
    // Each step takes 60 ms, and none starts after 200 ms.
    assert!((1..=4).contains(&place.steps()), "{}", place.steps());
}

#[tokio::test]
async fn a_nudge_has_it_done_soon() {
    let place = Place::new();
    let workers = place.start(settings(count));
    workers.nudge();
    wait_for_steps(&workers, 3).await;
}

#[tokio::test]
async fn unbroken_writing_does_not_keep_it_off() {
    let place = Place::new();
    let workers =
        place.start(Settings { background: Some(Background { step: nothing, pressing: count }), ..settings(nothing) });
    let jobs = (0..2_500).map(|_| write(&workers));
    // All jobs are waiting before the first is done, so there is no pause between them.
    let (_, seen) = tokio::join!(all(jobs), async { workers.write("look", steps).await.unwrap() });
    assert!(seen > 0);
}

#[tokio::test]
async fn whoever_waits_in_line_waits_for_one_long_transaction_only() {
    static SENT: Once = Once::new();
    static BEGUN: Once = Once::new();
    let place = Place::new();
    let opened = connection::open_writer(&place.path(), &SqliteOptions::default()).unwrap();
    let settings = settings(|database| count(database).map(|_| true));
    // Long enough, however slowly this machine wakes a thread.
    let queue = opened.queue.with_yield_time(Duration::from_secs(60));
    let workers =
        Workers::start(Writing::Now(Box::new((opened.writer.unwrap(), queue))), None, &place.path(), settings).unwrap();
    write(&workers).await.unwrap();
    // More work is known to be left now, so 250 writes are enough for a step.
    wait_for_steps(&workers, 1).await;
    let path = place.path();
    let other = std::thread::spawn(move || {
        BEGUN.wait();
        let mut queue = Queue::of(&path);
        queue.enter("write", Instant::now() + Duration::from_secs(60)).unwrap();
        steps(&connection::open_reader(&path).unwrap()).unwrap()
    });
    // Makes all jobs that follow one group.
    let first = workers.write("wait", |_| {
        SENT.wait();
        Ok(())
    });
    let queue = place.0.path().join("state.db.queue");
    let long = workers.write("take long", move |database| {
        let start = Instant::now();
        BEGUN.call_once(|| {});
        while start.elapsed() < Duration::from_millis(20) || !somebody_waits_for(&queue) {
            std::thread::yield_now();
        }
        steps(database)
    });
    let (_, _, before, ()) = tokio::join!(first, all((0..250).map(|_| write(&workers))), long, async {
        SENT.call_once(|| {});
    });
    assert_eq!(other.join().unwrap(), before.unwrap(), "a step came between");
}

/// Returns whether a process is blocked on the lock of a file.
fn somebody_waits_for(file: &Path) -> bool {
    let inode = format!(":{} ", std::fs::metadata(file).unwrap().ino());
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    locks.lines().any(|line| line.contains("-> FLOCK") && line.contains(&inode))
}

/// Runs futures at the same time.
async fn all(jobs: impl Iterator<Item = impl Future<Output = Result<(), StoreError>>>) {
    let mut jobs: Vec<_> = jobs.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        jobs.retain_mut(|job| match job.as_mut().poll(context) {
            std::task::Poll::Ready(outcome) => {
                outcome.unwrap();
                false
            }
            std::task::Poll::Pending => true,
        });
        if jobs.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

#[tokio::test]
async fn background_work_that_fails_fails_nothing_else() {
    static TRIED: AtomicUsize = AtomicUsize::new(0);
    fn fail(database: &Database) -> Result<bool, Failure> {
        TRIED.fetch_add(1, Ordering::Relaxed);
        note(database, "steps", 99)?;
        Err(Failure::Damaged("an index".into()))
    }
    let place = Place::new();
    let workers = place.start(settings(fail));
    write(&workers).await.unwrap();
    while TRIED.load(Ordering::Relaxed) < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    write(&workers).await.unwrap();
    drop(workers);
    assert_eq!((TRIED.load(Ordering::Relaxed), place.steps()), (2, 0), "once more, then let be");
}

#[tokio::test]
async fn a_job_that_fails_leaves_nothing_alone_or_beside_others() {
    static SENT: Once = Once::new();
    let (place, noted) = (Place::new(), "SELECT group_concat(key) FROM hx_state WHERE key GLOB 'job*'");
    let workers = place.start(settings(nothing));
    let fail = |key: &'static str| {
        workers.write("fail", move |database| {
            note(database, key, 1)?;
            Err::<(), _>(Failure::Damaged("a reason".into()))
        })
    };
    fail("job 1").await.unwrap_err();
    workers.write("note", |database| note(database, "job 2", 1)).await.unwrap();
    // Makes all jobs that follow one group.
    let first = workers.write("wait", |_| {
        SENT.wait();
        Ok(())
    });
    let (before, after) = (
        workers.write("note", |database| note(database, "job 3", 1)),
        workers.write("note", |database| note(database, "job 5", 1)),
    );
    let (_, before, failed, after, ()) =
        tokio::join!(first, before, fail("job 4"), after, async { SENT.call_once(|| {}) });
    failed.unwrap_err();
    before.and(after).unwrap();
    let left: String = workers.read("look", |it| Ok(it.query_row(noted, [], |row| row.get(0))?)).await.unwrap();
    assert_eq!(left, "job 2,job 3,job 5");
}

#[tokio::test]
async fn every_answer_follows_a_sync() {
    static SYNCS: AtomicUsize = AtomicUsize::new(0);
    let sync = |_: &File| {
        SYNCS.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    let place = Place::new();
    let workers = place.start(Settings { sync, ..settings(nothing) });
    for n in 1..=5 {
        write(&workers).await.unwrap();
        assert_eq!(SYNCS.load(Ordering::Relaxed), n);
    }
    // What the job read may have been committed by another process a moment ago.
    workers.write("look", steps).await.unwrap();
    assert_eq!(SYNCS.load(Ordering::Relaxed), 6);
    drop(workers);
    let workers = place.start(Settings { sync, synchronous: Synchronous::Normal, ..settings(nothing) });
    write(&workers).await.unwrap();
    assert_eq!(SYNCS.load(Ordering::Relaxed), 6, "none is asked for");
}

#[tokio::test]
async fn what_could_not_be_brought_to_disk_is_not_promised_and_ends_the_writing() {
    let place = Place::new();
    let workers = place.start(Settings { sync: |_| Err(std::io::Error::from_raw_os_error(5)), ..settings(nothing) });
    let error = write(&workers).await.unwrap_err();
    assert!(matches!(error, StoreError::InDoubt { .. }), "{error:?}");
    let error = write(&workers).await.unwrap_err();
    assert!(matches!(error, StoreError::Backend { .. }), "{error:?}");
    assert!(error.to_string().contains("an earlier write could not be synced to disk"), "{error}");
    workers.read("look", steps).await.unwrap();
}

#[tokio::test]
async fn a_log_that_was_taken_away_ends_the_writing() {
    let place = Place::new();
    let workers = place.start(settings(nothing));
    write(&workers).await.unwrap();
    std::fs::remove_file(crate::open::place::beside(&place.path(), "-wal")).unwrap();
    assert!(matches!(write(&workers).await, Err(StoreError::InDoubt { .. })));
    assert!(matches!(write(&workers).await, Err(StoreError::Backend { .. })));
}

/// Returns the setting: 2 is FULL, 1 is NORMAL.
async fn synchronous(workers: &Workers) -> i64 {
    let read = |database: &Database| Ok(database.pragma_query_value(None, "synchronous", |row| row.get(0))?);
    workers.write("look", read).await.unwrap()
}

#[tokio::test]
async fn without_a_log_sqlite_brings_commits_to_disk_itself() {
    let place = Place::new();
    let set = |mode: &str| {
        let connection = connection::open_new(&place.path()).unwrap();
        connection.pragma_update_and_check(None, "journal_mode", mode, |row| row.get::<_, String>(0)).ok()
    };
    drop(place.start(settings(nothing)));
    assert_eq!(set("DELETE").as_deref(), Some("delete"));
    let workers = place.start(Settings { synchronous: Synchronous::Normal, ..settings(nothing) });
    assert_eq!(synchronous(&workers).await, 2, "whatever is asked for");
    drop(workers);
    let workers = place.start(settings(nothing));
    assert_eq!(synchronous(&workers).await, 2);
    // An agent that opens the file switches it to WAL mode.
    assert_eq!(set("WAL").as_deref(), Some("wal"));
    synchronous(&workers).await;
    assert_eq!(synchronous(&workers).await, 1);
    // And no program can undo that while the store is open.
    assert_eq!(set("DELETE"), None);
}
