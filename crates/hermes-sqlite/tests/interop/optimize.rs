//! The agent keeps appending while we convert its file, and finds everything afterwards.

use crate::at_once::append_in_a_loop;
use crate::fixture::{ALONE, File, report};
use crate::ledger::{SHARED, Writer, settle};
use crate::peer::Release;
use hermes_session::{Maintenance as _, Optimizing};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of messages when the conversion starts.
const OLD: usize = 4_000;

async fn it_writes_while_we_convert(version: &'static str) {
    let Some(release) = Release::find(version) else { return };
    let _alone = ALONE.write().await;
    let file = File::new();
    let mut peer = release.open(&file);
    for session in SHARED {
        peer.call("create_session", json!({"session_id": session, "source": "cli"}));
    }
    peer.query(&format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {OLD})
         INSERT INTO messages (session_id, role, content, timestamp)
         SELECT '{}', 'user', 'old ' || i || ' ' || hex(randomblob(200)) || ' 大别山项目', i FROM n",
        SHARED[0]
    ));
    peer.query(
        "UPDATE sessions SET message_count = (SELECT count(*) FROM messages m WHERE m.session_id = sessions.id)",
    );
    let store = Arc::new(file.open());
    assert!(!file.is_compact());
    peer.append_in_a_loop("peera");
    let stop = Arc::new(AtomicBool::new(false));
    let ours = append_in_a_loop(&store, "oursa", &stop);
    peer.process.wait_for(10);
    let mut steps = 0;
    while store.optimize().await.unwrap() != Optimizing::Done {
        steps += 1;
    }
    assert!(file.is_compact() && steps > 3, "{steps} steps");
    // It keeps appending to the new indexes.
    let end = peer.finish();
    stop.store(true, Ordering::Relaxed);
    let writers = [Writer::new("oursa", ours.await.unwrap().0), Writer::new("peera", end.acknowledged)];
    file.look().execute_batch("DELETE FROM messages WHERE content LIKE 'old %'").unwrap();
    file.look()
        .execute_batch(
            "UPDATE sessions SET message_count = (SELECT count(*) FROM messages m WHERE m.session_id = sessions.id)",
        )
        .unwrap();
    while store.upkeep().await.unwrap() {}
    let found = settle(&file, &store, &mut peer, &writers).await;
    report(&format!("{version}, converted in {steps} steps: {}", found.join(", ")));
}

#[tokio::test(flavor = "multi_thread")]
async fn release_0_14_0_writes_while_we_convert() {
    it_writes_while_we_convert("0.14.0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn release_0_19_0_writes_while_we_convert() {
    it_writes_while_we_convert("0.19.0").await;
}
