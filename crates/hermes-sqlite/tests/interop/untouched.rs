//! Every call that reads, on files of real agents in every state, changes nothing in the file.

use crate::fixture::{File, id};
use crate::peer::{Peer, Release};
use hermes_conformance::untouched::Untouched;
use hermes_session::search::{Query, SearchRequest};
use hermes_session::*;
use hermes_sqlite::{Adopt, SqliteOptions, SqliteStore};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;

/// Opens a file read-only, or so that the first write would adopt it.
fn open(file: &File, adopt: Adopt) -> Result<SqliteStore, StoreError> {
    let read_only = adopt == Adopt::AtOpen;
    SqliteStore::open(&file.path(), &SqliteOptions { read_only, adopt, ..SqliteOptions::default() })
}

/// Makes every call that reads, each on a store of its own, and checks the file after each. Returns the calls that
/// failed.
async fn read_all(file: &File, before: &Untouched) -> Vec<&'static str> {
    let mut failed = Vec::new();
    for adopt in [Adopt::AtOpen, Adopt::OnFirstWrite] {
        macro_rules! call {
            ($name:literal, $store:ident => $call:expr) => {
                match open(file, adopt) {
                    Ok($store) => {
                        if $call.await.is_err() {
                            failed.push($name);
                        }
                        drop($store);
                    }
                    Err(_) => failed.push($name),
                }
                before.check($name);
            };
        }
        let search = SearchRequest::new(Query::parse("mountain OR piece"));
        let session = id("first");
        let backup = file.home().join(format!("backup-{adopt:?}.db"));
        call!("list", store => store.list(&ListRequest::default()));
        call!("counts", store => store.counts(&SessionFilter::default()));
        call!("session", store => store.session(&session));
        call!("messages", store => store.messages(&session, &MessageRequest::first(100)));
        call!("lineage", store => store.lineage(&session));
        call!("titled", store => store.titled("x"));
        call!("ids_with_prefix", store => store.ids_with_prefix("f", 5));
        call!("meta", store => store.meta("x"));
        call!("meta_page", store => store.meta_page(None, 10));
        call!("search", store => store.search(&search));
        call!("verify", store => store.verify());
        call!("status", store => store.status());
        call!("statistics", store => store.statistics());
        call!("room", store => store.room());
        call!("foreign", store => store.foreign());
        call!("topics", store => store.topics());
        call!("trash", store => store.trash(None, 10));
        call!("backup", store => store.backup(&backup));
        _ = std::fs::remove_file(backup);
    }
    hermes_sqlite::facts(&file.path());
    before.check("facts");
    failed
}

fn fill(peer: &mut Peer) {
    for (name, text) in [("first", "the mountain"), ("second", "a piece of it 大别山")] {
        peer.call("create_session", json!({"session_id": name, "source": "cli"}));
        for n in 0..40 {
            let content = format!("{text} {n} {}", "word ".repeat(60));
            peer.call("append_message", json!({"session_id": name, "role": "user", "content": content}));
        }
    }
}

fn side_objects(file: &File) -> i64 {
    file.number("SELECT count(*) FROM sqlite_schema WHERE name GLOB 'hx_*'")
}

async fn a_closed_file(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    fill(&mut peer);
    peer.close();
    std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    let before = Untouched::of(&file.path());
    assert_eq!(read_all(&file, &before).await, Vec::<&str>::new());
    assert_eq!(side_objects(&file), 0);
}

async fn a_wal_that_a_killed_writer_left(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    fill(&mut peer);
    peer.process.end_by("KILL");
    let wal = file.path().with_file_name("state.db-wal");
    assert!(wal.metadata().unwrap().len() > 0, "the agent left a WAL");
    let before = Untouched::of(&file.path());
    assert_eq!(read_all(&file, &before).await, Vec::<&str>::new());
    let store = open(&file, Adopt::AtOpen).unwrap();
    assert_eq!(store.counts(&SessionFilter::default()).await.unwrap().messages, 80, "the WAL was read");
}

async fn beside_a_live_agent(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    fill(&mut peer);
    let before = Untouched::of(&file.path());
    assert_eq!(read_all(&file, &before).await, Vec::<&str>::new());
    assert_eq!(hermes_sqlite::damage_marker(&file.path()), None);
    // A reader that stays open sees what the agent writes.
    let store = open(&file, Adopt::AtOpen).unwrap();
    assert_eq!(store.list(&ListRequest::default()).await.unwrap().rows.len(), 2);
    peer.call("create_session", json!({"session_id": "third", "source": "cli"}));
    peer.call("append_message", json!({"session_id": "third", "role": "user", "content": "later"}));
    let rows = store.list(&ListRequest::default()).await.unwrap().rows;
    assert_eq!((rows.len(), rows[0].id.as_str(), rows[0].preview.as_str()), (3, "third", "later"));
    let found = SearchRequest::new(Query::parse("later"));
    assert_eq!(store.search(&found).await.unwrap().hits.len(), 1);
    drop(store);
    peer.close();
}

async fn a_damaged_file(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    fill(&mut peer);
    peer.close();
    let root = file.number("SELECT rootpage FROM sqlite_schema WHERE name = 'messages'");
    let page = file.number("PRAGMA page_size");
    let mut bytes = std::fs::read(file.path()).unwrap();
    let start = usize::try_from((root - 1) * page).unwrap();
    bytes[start..start + usize::try_from(page).unwrap()].fill(0xff);
    std::fs::write(file.path(), bytes).unwrap();
    let before = Untouched::of(&file.path());
    let failed = read_all(&file, &before).await;
    assert!(failed.contains(&"messages") && !failed.contains(&"verify") && !failed.contains(&"status"), "{failed:?}");

    // A process that meets the damage while it reads does not write afterwards.
    assert!(hermes_sqlite::clear_damage(&file.path()).unwrap());
    let store = open(&file, Adopt::OnFirstWrite).unwrap();
    store.messages(&id("first"), &MessageRequest::first(10)).await.unwrap_err();
    let error = store.set_meta("x", Some("y")).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    drop(store);
    before.check("a write after damage was met");

    // The marker keeps others from writing, too.
    let marker = hermes_sqlite::damage_marker(&file.path()).expect("the damage is recorded");
    assert_eq!(marker.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let Err(error) = SqliteStore::open(&file.path(), &SqliteOptions::default()) else { panic!("it opened") };
    assert!(error.to_string().contains("state.db.damaged"), "{error}");
    let before = Untouched::of(&file.path());
    let store = open(&file, Adopt::OnFirstWrite).unwrap();
    store.status().await.unwrap();
    store.set_meta("x", Some("y")).await.unwrap_err();
    drop(store);
    before.check("a file that is marked as damaged");
    assert!(hermes_sqlite::clear_damage(&file.path()).unwrap());
    assert!(!hermes_sqlite::clear_damage(&file.path()).unwrap());
}

async fn the_same_answers_before_and_after_adoption(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    fill(&mut peer);
    for text in
        ["don't panic", "Việt Nam", "src/main.rs:12", "{\"path\": \"a\\nword\"}", "foxes and mountaineers", "🚀"]
    {
        peer.call("append_message", json!({"session_id": "second", "role": "user", "content": text}));
    }
    peer.close();
    let queries = [
        "mountain",
        "mount*",
        "ountai",
        "大别山",
        "别",
        "viet",
        "\"the mountain 3\"",
        "don't",
        "main.rs",
        "word",
        "mountain NOT 3",
        "piece OR mountain",
        "🚀",
        "nothing here",
        "NOT NULL",
        "pieces of mountains",
    ];
    let mut answers = Vec::new();
    for is_adopted in [false, true] {
        if is_adopted {
            let store = file.open();
            let notices = store.notices();
            // The same for all schemas; nothing of the agent is altered here, so no copy is needed.
            assert!(
                notices[0].starts_with("adopted this file: ") && notices[0].contains("sessiondb detach"),
                "{notices:?}"
            );
            assert!(notices[0].contains("no copy was kept"), "{notices:?}");
            while store.upkeep().await.unwrap() {}
        }
        let store = open(&file, Adopt::AtOpen).unwrap();
        let mut all = Vec::new();
        for query in queries {
            let mut request = SearchRequest::new(Query::parse(query));
            request.timeout = std::time::Duration::from_secs(60);
            let mut found = Vec::new();
            loop {
                let answer = store.search(&request).await.unwrap();
                assert_eq!(answer.served.needs_adoption, !is_adopted);
                found.extend(answer.hits.iter().map(|hit| (hit.message, hit.tier)));
                let Some(next) = answer.next else { break };
                request.after = Some(next);
            }
            found.sort_unstable_by_key(|(message, _)| *message);
            all.push((query, found));
        }
        answers.push(all);
    }
    assert_eq!(answers[0], answers[1]);
}

scenario!(a_closed_file);
scenario!(a_wal_that_a_killed_writer_left);
scenario!(beside_a_live_agent);
scenario!(a_damaged_file);
scenario!(the_same_answers_before_and_after_adoption);
