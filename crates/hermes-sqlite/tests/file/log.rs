//! The WAL does not grow without bound, checkpoints do not slow down appends, and no descriptor is left open.

use crate::fixture::{File, at, id, new, user};
use hermes_session::{
    ConversationStore as _, ListRequest, Maintenance as _, MessageRequest, NewMessage, SessionStore as _,
};
use hermes_sqlite::SqliteStore;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Maximum size of the WAL while readers come and go: it is checkpointed in a slot from 16 MB on.
const BOUND: u64 = 32 << 20;

fn log_size(file: &File) -> u64 {
    std::fs::metadata(file.path().with_file_name("state.db-wal")).map_or(0, |log| log.len())
}

/// Returns a message of 64 KB that no index takes.
fn large() -> NewMessage {
    let mut message = user("x");
    message.body.reasoning = Some("thinking ".repeat(7_282));
    message
}

/// Appends until that many megabytes are written. Returns the maximum length of the WAL.
async fn append(store: &SqliteStore, file: &File, megabytes: usize) -> u64 {
    let mut longest = 0;
    for _ in 0..megabytes * 16 {
        store.append(&id("a"), &[large()], &at(2.0)).await.unwrap();
        longest = longest.max(log_size(file));
    }
    longest
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_stays_short_while_much_is_written_and_readers_come_and_go() {
    let file = File::new();
    let store = Arc::new(file.open());
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (store, stop) = (Arc::clone(&store), Arc::clone(&stop));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    store.messages(&id("a"), &MessageRequest::first(20)).await.unwrap();
                }
            })
        })
        .collect();
    let longest = append(&store, &file, 100).await;
    stop.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.await.unwrap();
    }
    println!("100 MB were written; the log took {} kB at most", longest >> 10);
    assert!(longest <= BOUND, "the log took {longest} bytes");
}

#[tokio::test]
async fn a_log_that_an_old_reader_held_up_gets_short_again() {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let reader = file.foreign();
    reader.execute_batch("BEGIN").unwrap();
    let seen: i64 = reader.query_row("SELECT count(*) FROM messages", [], |row| row.get(0)).unwrap();
    append(&store, &file, 40).await;
    assert!(log_size(&file) > BOUND, "the reader did not hold it up: {}", log_size(&file));
    assert_eq!(reader.query_row("SELECT count(*) FROM messages", [], |row| row.get::<_, i64>(0)).unwrap(), seen);
    reader.execute_batch("COMMIT").unwrap();
    // Nothing more is written; the checkpoint happens in the background.
    let start = Instant::now();
    while log_size(&file) > BOUND {
        assert!(start.elapsed() < Duration::from_secs(30), "it stays at {}", log_size(&file));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(append(&store, &file, 20).await <= BOUND);
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Runs as the only test of a process, so that nothing else opens files.
#[tokio::test]
async fn nothing_is_left_open() {
    let output = crate::child::child("descriptors", "", &File::new().path()).output().unwrap();
    let told = crate::child::told(&output.stdout, "descriptors");
    let counts: Vec<usize> = told.iter().map(|count| count.parse().unwrap()).collect();
    assert!(counts.len() > 10 && counts.windows(2).all(|pair| pair[0] == pair[1]), "{counts:?}");
}

/// Uses a store in every way again and again, and prints how many descriptors are open in between.
pub(crate) async fn use_it(store: SqliteStore, path: &std::path::Path) {
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let mut store = Arc::new(store);
    for round in 0..12 {
        for _ in 0..200 {
            store.messages(&id("a"), &MessageRequest::first(10)).await.unwrap();
            store.list(&ListRequest::default()).await.unwrap();
        }
        append_at_once(&store, 200, &user("x")).await;
        // Enough for a checkpoint.
        append_at_once(&store, 80, &large()).await;
        // Long enough to run on a reader thread.
        store.messages(&id("a"), &MessageRequest::first(100_000)).await.unwrap();
        store.verify().await.unwrap();
        let copy = path.with_file_name(format!("copy-{round}"));
        store.backup(&copy).await.unwrap();
        std::fs::remove_file(&copy).unwrap();
        drop(store);
        store = Arc::new(SqliteStore::open(path, &hermes_sqlite::SqliteOptions::default()).unwrap());
        // When the writer answers, it has opened everything it needs.
        append_at_once(&store, 1, &user("x")).await;
        println!("\ndescriptors {}", descriptors());
    }
}

async fn append_at_once(store: &Arc<SqliteStore>, count: usize, message: &NewMessage) {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..count {
        let (store, message) = (Arc::clone(store), message.clone());
        tasks.spawn(async move { store.append(&id("a"), &[message], &at(2.0)).await.unwrap() });
    }
    tasks.join_all().await;
}
