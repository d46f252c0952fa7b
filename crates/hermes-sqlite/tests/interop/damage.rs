//! Damaged indexes: our next write replaces them, and the agent uses the new ones while they are filled.

use crate::fixture::{File, at, id, new, session, user};
use crate::peer::{Peer, Release};
use crate::views::their_hits;
use hermes_session::{ConversationStore as _, DeleteExtent, IndexHealth, Maintenance as _, SessionStore as _};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use serde_json::json;

const DAMAGES: [&str; 7] = [
    "DROP TABLE messages_fts_docsize",
    "DROP TABLE messages_fts_config",
    "DROP TABLE messages_fts_idx",
    "DROP TABLE messages_fts",
    "DROP TABLE messages_fts_trigram_data",
    "UPDATE messages_fts_data SET block = x'deadbeefdeadbeefdeadbeef' WHERE id = 10",
    "UPDATE messages_fts_trigram_data SET block = x'deadbeefdeadbeefdeadbeef' WHERE id = 10",
];

fn say(peer: &mut Peer, session: &str, text: &str) {
    peer.call("append_message", json!({"session_id": session, "role": "user", "content": text}));
}

/// Returns how many messages the agent finds in each of the two indexes.
fn hits(peer: &mut Peer) -> (usize, usize) {
    (their_hits(peer, "mountain").len(), their_hits(peer, "大别山").len())
}

async fn it_goes_on_with_new_indexes(release: &Release) {
    for damage in DAMAGES {
        let file = File::new();
        // Nothing is indexed unless the test asks for it.
        let options = SqliteOptions { background: false, ..SqliteOptions::default() };
        let store = SqliteStore::open(&file.path(), &options).unwrap();
        for name in ["kept", "gone"] {
            store.create(&new(name), &at(1.0)).await.unwrap();
            let texts: Vec<_> = (0..5).map(|n| user(&format!("mountain {n} 大别山"))).collect();
            store.append(&id(name), &texts, &at(2.0)).await.unwrap();
        }
        while store.upkeep().await.unwrap() {}
        let mut peer = release.open(&file);
        say(&mut peer, "kept", "their mountain 大别山");
        assert_eq!(hits(&mut peer), (11, 11), "{damage}");
        peer.close();

        file.look().execute_batch(damage).unwrap();
        let deleted = store.delete(&id("gone"), DeleteExtent::Conversation, &at(3.0)).await;
        assert_eq!(deleted.unwrap_or_else(|error| panic!("{damage}: {error}")).messages, 5);
        assert_eq!(store.status().await.unwrap().indexes, IndexHealth::Behind { messages: 6 }, "{damage}");

        let mut peer = release.open(&file);
        let (words, trigrams) = hits(&mut peer);
        assert!(words <= 6 && trigrams <= 6, "{damage}: {words} {trigrams}");
        say(&mut peer, "kept", "their second mountain 大别山");
        assert_eq!(hits(&mut peer), (words + 1, trigrams + 1), "{damage}");
        peer.call("create_session", json!({"session_id": "theirs", "source": "cli"}));
        say(&mut peer, "theirs", "a mountain of their own 大别山");
        assert_eq!(peer.call("delete_session", json!({"session_id": "theirs"})), true, "{damage}");
        store.append(&id("kept"), &[user("our mountain 大别山")], &at(4.0)).await.unwrap();
        let rewritten = json!([{"role": "user", "content": "mountain 大别山"}]);
        peer.call("replace_messages", json!({"session_id": "kept", "messages": rewritten}));
        say(&mut peer, "kept", "one more mountain 大别山");

        while store.upkeep().await.unwrap() {}
        assert_eq!(hits(&mut peer), (2, 2), "{damage}");
        peer.close();
        assert_eq!(store.status().await.unwrap().indexes, IndexHealth::Whole, "{damage}");
        assert_eq!(session(&store, "kept").await.message_count, 2, "{damage}");
        drop(store);
        assert!(file.is_compact(), "{damage}");
        file.check();
        file.check_counters();
    }
}

scenario!(it_goes_on_with_new_indexes);
