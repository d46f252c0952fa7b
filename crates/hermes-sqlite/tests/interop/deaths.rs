//! Processes of both sides are killed while all write: acknowledged messages stay, and the other processes are not
//! affected.

use crate::at_once::{append_in_a_loop, shared_file};
use crate::fixture::{id, now, report, user};
use crate::ledger::{Writer, place, settle};
use crate::peer::Release;
use crate::process::{Process, text};
use hermes_session::SessionStore as _;
use hermes_sqlite::{SqliteOptions, SqliteStore};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The variable that makes a copy of this program a writer: name and file.
const ROLE: &str = "HERMES_INTEROP_WRITER";
const ROUNDS: usize = 8;

/// Appends until it is killed, and prints each append after it was acknowledged. Does nothing unless it was started as
/// a writer.
#[tokio::test]
async fn a_writer_of_its_own() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let (name, path) = role.split_once(':').unwrap();
    let store = SqliteStore::open(path.as_ref(), &SqliteOptions::default()).unwrap();
    // Bounded, so that it ends even if the process that started it is killed.
    for number in 0..100_000 {
        let (session, text) = (place(number), text(name, number));
        let ids = store.append(&id(session), &[user(&text)], &now()).await.unwrap();
        println!("\n{}", json!({"acknowledged": ids[0].0, "session": session, "text": text}));
    }
}

async fn what_was_acknowledged_outlives_its_writer(release: &Release) {
    let (file, store, mut steady) = shared_file(release).await;
    steady.append_in_a_loop("steady");
    let stop = Arc::new(AtomicBool::new(false));
    let inside = append_in_a_loop(&store, "inside", &stop);
    let mut writers = Vec::new();
    for round in 0..ROUNDS {
        let (ours, theirs) = (format!("ours{round}"), format!("theirs{round}"));
        let victim = Process::copy_of_us("deaths::a_writer_of_its_own", ROLE, &ours, &file);
        let mut peer = release.open(&file);
        peer.append_in_a_loop(&theirs);
        victim.wait_for(1 + round);
        peer.process.wait_for(1 + round);
        let (one, other) = if round % 2 == 0 { ("KILL", "TERM") } else { ("TERM", "KILL") };
        // The remaining process continues: it is not blocked by locks of the killed one.
        if round % 4 < 2 {
            writers.push(Writer::killed(ours, victim.end_by(one)));
            peer.process.wait_for(peer.process.acknowledged() + 3);
            writers.push(Writer::killed(theirs, peer.process.end_by(other)));
        } else {
            writers.push(Writer::killed(theirs, peer.process.end_by(one)));
            victim.wait_for(victim.acknowledged() + 3);
            writers.push(Writer::killed(ours, victim.end_by(other)));
        }
    }
    stop.store(true, Ordering::Relaxed);
    writers.push(Writer::new("inside", inside.await.unwrap().0));
    writers.push(Writer::new("steady", steady.finish().acknowledged));
    let found = settle(&file, &store, &mut steady, &writers).await;
    let killed: usize = writers.iter().filter(|writer| writer.killed).map(|writer| writer.acknowledged.len()).sum();
    report(&format!(
        "{}, {} writers killed: {killed} messages acknowledged to them, none lost; beside them {}",
        release.version,
        2 * ROUNDS,
        found[2 * ROUNDS..].join(", ")
    ));
}
scenario!(what_was_acknowledged_outlives_its_writer);
