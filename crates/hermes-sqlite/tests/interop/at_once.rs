//! Two processes of the agent and two tasks of ours append to the same sessions at the same time, for a few seconds.

use crate::fixture::{ALONE, File, id, new, now, report, user};
use crate::ledger::{SHARED, Writer, place, settle};
use crate::peer::{Peer, Release};
use crate::process::{Acknowledged, text};
use hermes_session::SessionStore as _;
use hermes_sqlite::SqliteStore;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// How long all of them append.
const SPAN: Duration = Duration::from_secs(3);

/// Starts a task that appends to the shared sessions until it is stopped. It returns what was acknowledged, and the
/// slowest append.
pub(crate) fn append_in_a_loop(
    store: &Arc<SqliteStore>,
    name: &'static str,
    stop: &Arc<AtomicBool>,
) -> JoinHandle<(Vec<Acknowledged>, f64)> {
    let (store, stop) = (Arc::clone(store), Arc::clone(stop));
    tokio::spawn(async move {
        let (mut acknowledged, mut slowest) = (Vec::new(), 0_f64);
        while !stop.load(Ordering::Relaxed) {
            let (session, text) = (place(acknowledged.len()), text(name, acknowledged.len()));
            let start = Instant::now();
            let ids = store.append(&id(session), &[user(&text)], &now()).await.unwrap();
            slowest = slowest.max(start.elapsed().as_secs_f64());
            acknowledged.push(Acknowledged { id: ids[0].0, session: session.into(), text });
        }
        (acknowledged, slowest)
    })
}

/// Opens a file whose first opener creates the schema: the agent if we are guests there, else us.
pub(crate) async fn shared_file(release: &Release) -> (File, Arc<SqliteStore>, Peer) {
    let file = File::new();
    let (peer, store) = if release.is_host() {
        let peer = release.open(&file);
        (peer, file.open())
    } else {
        let store = file.open();
        (release.open(&file), store)
    };
    for session in SHARED {
        store.create(&new(session), &now()).await.unwrap();
    }
    (file, Arc::new(store), peer)
}

/// Returns the slowest append of two processes of the agent beside a third one.
async fn beside_itself(release: &Release) -> f64 {
    let file = File::new();
    let names = ["peera", "peerb", "peerc"];
    let mut peers = names.map(|_| release.open(&file));
    for session in SHARED {
        peers[0].call("create_session", serde_json::json!({"session_id": session, "source": "cli"}));
    }
    peers.iter_mut().zip(names).for_each(|(peer, name)| peer.append_in_a_loop(name));
    tokio::time::sleep(SPAN).await;
    let ends = peers.each_mut().map(Peer::finish);
    ends[0].slowest.max(ends[1].slowest)
}

async fn nobody_loses_anything(version: &'static str) {
    let Some(release) = Release::find(version) else { return };
    let _alone = ALONE.write().await;
    let (file, store, first) = shared_file(&release).await;
    let second = release.open(&file);
    let mut peers = [first, second];
    peers[0].append_in_a_loop("peera");
    peers[1].append_in_a_loop("peerb");
    let stop = Arc::new(AtomicBool::new(false));
    let tasks = ["oursa", "oursb"].map(|name| (name, append_in_a_loop(&store, name, &stop)));
    let start = Instant::now();
    tokio::time::sleep(SPAN).await;
    // The agent polls for the lock and may be late; it has to get to write while we do.
    peers.iter().for_each(|peer| peer.process.wait_for(10));
    let span = start.elapsed().as_secs_f64();
    stop.store(true, Ordering::Relaxed);
    let (mut writers, mut our_slowest, mut slowest) = (Vec::new(), 0_f64, 0_f64);
    for (name, task) in tasks {
        let (acknowledged, took) = task.await.unwrap();
        our_slowest = our_slowest.max(took);
        writers.push(Writer::new(name, acknowledged));
    }
    for (peer, name) in peers.iter_mut().zip(["peera", "peerb"]) {
        let end = peer.finish();
        slowest = slowest.max(end.slowest);
        writers.push(Writer::new(name, end.acknowledged));
    }
    let found = settle(&file, &store, &mut peers[0], &writers).await;
    report(&format!("{version}, {span:.1} s at once: {}", found.join(", ")));
    drop(peers);
    let alone = beside_itself(&release).await;
    report(&format!(
        "{version}, slowest append: the agent's beside us {:.0} ms, beside itself {:.0} ms; ours {:.0} ms",
        slowest * 1e3,
        alone * 1e3,
        our_slowest * 1e3
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_loses_anything_beside_0_14_0() {
    nobody_loses_anything("0.14.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_loses_anything_beside_0_19_0() {
    nobody_loses_anything("0.19.0").await;
}
