//! Import of the agent's own export, and the agent beside a large deletion.

use crate::fixture::{File, id, now, user};
use crate::on_their_file::populate;
use crate::peer::Release;
use hermes_session::export::Exporter;
use hermes_session::import::{ImportOptions, import};
use hermes_session::{
    ConversationStore as _, DeleteExtent, Maintenance as _, NewMessage, SessionFilter, SessionStore as _,
};
use hermes_sqlite::SqliteStore;
use serde_json::json;

async fn exported(store: &SqliteStore) -> Vec<String> {
    let mut exporter = Exporter::new(store, SessionFilter::default());
    let mut text = String::new();
    while let Some(chunk) = exporter.next_chunk().await.unwrap() {
        text += &chunk;
    }
    text.lines().map(str::to_owned).collect()
}

async fn their_export_is_imported(release: &Release) {
    let theirs = File::new();
    let mut peer = release.open(&theirs);
    populate(&mut peer);
    let sessions = peer.call("export_all", json!({}));
    peer.close();
    // Newest activity first: continuations and branches come before their parents.
    let lines: String = sessions.as_array().unwrap().iter().map(|session| format!("{session}\n")).collect();
    let ours = File::new();
    let store = ours.open();
    let report = import(&store, &mut lines.as_bytes(), ImportOptions::default(), &mut |_| {}).await.unwrap();
    assert_eq!((report.sessions, report.findings.as_slice()), (6, &[][..]));
    let expected = exported(&theirs.open()).await;
    for (found, expected) in exported(&store).await.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(expected.len(), 6);
    ours.check();
    ours.check_counters();
    assert!(store.verify().await.unwrap().is_sound());
}

scenario!(their_export_is_imported);

/// Sessions that we delete in steps are gone for the agent too, and its store keeps working.
async fn they_go_on_after_a_large_deletion(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    populate(&mut peer);
    let store = file.open();
    let batch: Vec<NewMessage> = (0..3_000).map(|n| user(&format!("message {n} 大别山"))).collect();
    store.append(&id("long-2"), &batch, &now()).await.unwrap();
    let deleted = store.delete(&id("helper"), DeleteExtent::Conversation, &now()).await.unwrap();
    assert_eq!((deleted.sessions, deleted.messages), (3, 3_003));
    assert_eq!(peer.call("get_session", json!({"session_id": "long-2"})), json!(null));
    assert_eq!(peer.call("search_messages", json!({"query": "carrying"})), json!([]));
    peer.call("create_session", json!({"session_id": "long-2", "source": "cli"}));
    peer.call("append_message", json!({"session_id": "long-2", "role": "user", "content": "carrying water"}));
    assert_eq!(peer.call("search_messages", json!({"query": "carrying"})).as_array().unwrap().len(), 1);
    peer.close();
    while store.upkeep().await.unwrap() {}
    file.check();
    assert!(store.verify().await.unwrap().is_sound());
}

scenario!(they_go_on_after_a_large_deletion);
