//! Trashed conversations are invisible to the agent, and completely visible again once they are restored.

use crate::fixture::{File, at, id, new, now, title, user};
use crate::peer::{Peer, Release};
use hermes_session::{ConversationStore as _, Maintenance as _, SessionStore as _, Timestamp};
use serde_json::{Value, json};

/// Returns everything that the agent returns about its sessions, and its search results.
fn told(peer: &mut Peer) -> String {
    let mut told: Vec<Value> = vec![peer.call("export_all", json!({})), peer.call("list_sessions_rich", json!({}))];
    told.push(peer.call("get_session", json!({"session_id": "secret"})));
    told.push(peer.call("get_messages", json!({"session_id": "secret"})));
    told.push(peer.call("get_session_by_title", json!({"title": "Operation Zanzibar"})));
    for query in ["Zanzibarium", "zanzib*", "朱雀项目"] {
        told.push(peer.call("search_messages", json!({"query": query})));
    }
    Value::from(told).to_string()
}

fn is_told(told: &str) -> bool {
    ["Zanzib", "朱雀", "secret"].iter().any(|word| told.contains(word))
}

/// The agent neither reads nor finds a word of trashed conversations, whoever made the file, and continues in restored
/// ones.
async fn nothing_of_the_trash_is_seen(release: &Release) {
    for is_theirs in [false, true] {
        let file = File::new();
        if is_theirs {
            release.open(&file).close();
        }
        let store = file.open();
        store.create(&new("secret"), &now()).await.unwrap();
        store.set_title(&id("secret"), Some(&title("Operation Zanzibar")), &now()).await.unwrap();
        store
            .append(&id("secret"), &[user("the codename is Zanzibarium"), user("朱雀项目代号")], &now())
            .await
            .unwrap();
        store.create(&new("other"), &now()).await.unwrap();
        store.append(&id("other"), &[user("everyday talk")], &now()).await.unwrap();
        while store.upkeep().await.unwrap() {}
        let mut peer = release.open(&file);
        let before = told(&mut peer);
        assert!(is_told(&before), "{before}");
        let usage = "SELECT count(*) FROM sqlite_schema WHERE name = 'session_model_usage'";
        if file.number(usage) > 0 {
            let sql = "INSERT INTO session_model_usage (session_id, model, input_tokens) VALUES ('secret', 'm', 7)";
            file.look().execute_batch(sql).unwrap();
        }
        store.trash_chain(&id("secret"), Timestamp::from_seconds(1e12).unwrap(), &at(9.0)).await.unwrap();
        while store.upkeep().await.unwrap() {}
        let meanwhile = told(&mut peer);
        assert!(!is_told(&meanwhile) && meanwhile.contains("everyday talk"), "{meanwhile}");
        store.restore(&id("secret"), &now()).await.unwrap();
        while store.upkeep().await.unwrap() {}
        assert!(is_told(&told(&mut peer)));
        if file.number(usage) > 0 {
            assert_eq!(file.number("SELECT sum(input_tokens) FROM session_model_usage WHERE session_id = 'secret'"), 7);
        }
        peer.call("append_message", json!({"session_id": "secret", "role": "user", "content": "and on"}));
        peer.close();
        file.check();
    }
}
scenario!(nothing_of_the_trash_is_seen);
