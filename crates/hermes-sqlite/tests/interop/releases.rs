//! A file of each release that we are guests of: opened, read, written, then read again by the release that made it.

use crate::fixture::{File, at, id, report, user};
use crate::old_schema::{ROWS, schema};
use crate::on_their_file::{populate, read, read_again, write};
use crate::peer::Release;
use hermes_session::{Maintenance as _, SessionStore as _};
use hermes_sqlite::{IndexAtClose, SqliteOptions, SqliteStore};
use serde_json::json;
use std::sync::{Arc, Mutex};

async fn its_file_serves_us_and_still_serves_it(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    let bodies = populate(&mut peer);
    // No process has the file open when we open it.
    peer.close();
    let before = file.foreign_schema();
    let store = file.open();
    read(&store, &bodies).await;
    write(&store).await;
    drop(store);
    let store = file.open();
    let mut peer = release.open(&file);
    read_again(&store, &mut peer).await;
    peer.close();
    drop(store);
    assert_eq!(file.foreign_schema(), before, "something of theirs was altered");
    file.check();
    file.check_counters();
}
scenario!(its_file_serves_us_and_still_serves_it:
    release_0_15_2 "0.15.2", release_0_16_0 "0.16.0", release_0_17_0 "0.17.0", release_0_18_0 "0.18.0",
    release_0_18_2 "0.18.2", release_0_19_0 "0.19.0");

/// No available release wrote these schemas, only one before and one after. The file of the next release with their
/// number stands in for them: we detect what is there by column, and the release itself upgrades from that number when
/// it opens the file again.
async fn a_number_between_releases_serves_us_and_still_serves_it(release: &Release) {
    let between: &[i64] = match release.version {
        "0.15.2" => &[12],
        "0.17.0" => &[15],
        "0.18.2" => &[18],
        "0.19.0" => &[20, 21],
        other => panic!("no schema is known between {other} and the release before"),
    };
    for version in between {
        let file = File::new();
        let mut peer = release.open(&file);
        let bodies = populate(&mut peer);
        peer.close();
        file.look().execute("UPDATE schema_version SET version = ?", [version]).unwrap();
        let store = file.open();
        read(&store, &bodies).await;
        write(&store).await;
        let mut peer = release.open(&file);
        read_again(&store, &mut peer).await;
        peer.close();
        drop(store);
        file.check();
        file.check_counters();
    }
    report(&format!("{}: files numbered {between:?} used by us, taken up and read by it", release.version));
}
scenario!(a_number_between_releases_serves_us_and_still_serves_it:
    release_0_15_2 "0.15.2", release_0_17_0 "0.17.0", release_0_18_2 "0.18.2", release_0_19_0 "0.19.0");

/// No available release wrote schemas 1 to 10; our upgrade of them is read by the release that came next.
async fn what_we_make_of_old_schemas_serves_it(release: &Release) {
    for version in 1..=10 {
        let file = File::new();
        std::fs::create_dir_all(file.path().parent().unwrap()).unwrap();
        file.look().execute_batch(&schema(version)).unwrap();
        file.look().execute_batch(ROWS).unwrap();
        let store = file.open();
        store.append(&id("new"), &[user("one more fox")], &at(20.0)).await.unwrap();
        while store.upkeep().await.unwrap() {}
        let mut peer = release.open(&file);
        let messages = peer.call("get_messages", json!({"session_id": "new"}));
        let said: Vec<&str> =
            messages.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap()).collect();
        assert_eq!(said, ["大别山项目", "lazy dog", "one more fox"], "schema {version}");
        for (query, hits) in [("fox", 2), ("大别山", 1)] {
            let found = peer.call("search_messages", json!({"query": query}));
            assert_eq!(found.as_array().unwrap().len(), hits, "schema {version}: {query}");
        }
        assert_eq!(peer.call("get_compression_tip", json!({"session_id": "old"})), json!("new"));
        peer.call("append_message", json!({"session_id": "new", "role": "user", "content": "theirs"}));
        peer.close();
        assert_eq!(crate::fixture::texts(&store, "new").await.last().map(String::as_str), Some("theirs"));
        drop(store);
        file.check();
    }
    report(&format!("{}: files of schemas 1 to 10 adopted by us, read and written by it", release.version));
}
scenario!(what_we_make_of_old_schemas_serves_it: release_0_14_0 "0.14.0");

/// A short command adopts a file of an old schema and ends; the agent finds every message at once.
async fn an_old_file_that_a_short_command_adopted_is_searchable_by_it(release: &Release) {
    for version in [1, 10] {
        let file = File::new();
        std::fs::create_dir_all(file.path().parent().unwrap()).unwrap();
        file.look().execute_batch(&schema(version)).unwrap();
        file.look().execute_batch(ROWS).unwrap();
        // Enough messages that the indexing time at close (200 ms) is not sufficient.
        let said = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 400) \
             INSERT INTO messages (session_id, role, content, timestamp) SELECT 'new', 'user', \
                 'pebble ' || i || ' ' || hex(randomblob(600)), 20.0 + i FROM n";
        file.look().execute_batch(said).unwrap();
        let steps = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&steps);
        let watch = move |done, total| {
            seen.lock().unwrap().push((done, total));
            true
        };
        let options = SqliteOptions { index_at_close: Some(IndexAtClose::new(watch)), ..SqliteOptions::default() };
        drop(SqliteStore::open(&file.path(), &options).unwrap());
        let steps = steps.lock().unwrap().clone();
        // The number of steps depends on the machine, and background work may have started.
        assert!(steps.is_sorted() && steps.iter().all(|(done, total)| done < total), "schema {version}: {steps:?}");
        assert_eq!(file.number("SELECT count(*) FROM hx_pending"), 0);
        let mut peer = release.open(&file);
        let found = peer.call("search_messages", json!({"query": "pebble", "limit": 5000}));
        assert_eq!(found.as_array().unwrap().len(), 400, "schema {version}");
        peer.close();
        file.check();
    }
}
scenario!(an_old_file_that_a_short_command_adopted_is_searchable_by_it: release_0_14_0 "0.14.0");

/// A message that is imported under its own id is found, even if the indexes have passed that id and triggers are the
/// agent's.
async fn an_import_below_what_is_there_is_indexed(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    populate(&mut peer);
    peer.query("UPDATE messages SET id = id + 1000");
    let store = file.open();
    while store.upkeep().await.unwrap() {}
    let line = r#"{"id": "came", "source": "cli", "started_at": 5.0, "messages": [{"id": 7, "role": "user", "content": "okapi 富士山上", "timestamp": 6.0}]}"#;
    let report =
        hermes_session::import::import(&store, &mut line.as_bytes(), Default::default(), &mut |_| {}).await.unwrap();
    assert_eq!((report.messages, report.findings), (1, Vec::new()));
    while store.upkeep().await.unwrap() {}
    let verified = store.verify().await.unwrap();
    assert!(verified.is_sound(), "{verified:?}");
    assert_eq!(crate::fixture::all_messages(&store, "came").await[0].id.0, 7);
    for query in ["okapi", "富士山上"] {
        assert_eq!(crate::views::their_hits(&mut peer, query), [7], "{query}");
    }
    peer.close();
    drop(store);
    file.check();
}
scenario!(an_import_below_what_is_there_is_indexed);
