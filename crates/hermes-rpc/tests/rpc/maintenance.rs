//! Deleting, pruning, handoffs and topics.

use super::*;

#[tokio::test]
async fn a_session_is_deleted_alone_with_its_files() {
    for place in places() {
        let mut client = Client::of(&place).await;
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        for name in ["a.json", "b.jsonl", "ab.json", "session_c.json"] {
            std::fs::write(file(name), "").unwrap();
        }
        client.call("create_session", json!(["a", "cli"])).await;
        client.call("end_session", json!(["a", "compression"])).await;
        for (id, parent) in [("b", "a"), ("c", "b")] {
            let child = json!({"session_id": id, "source": "cli", "parent_session_id": parent});
            client.named("create_session", child).await;
        }
        client.call("create_session", json!(["ab", "cli"])).await;
        assert_eq!(client.call("delete_session", json!(["b", folder.path()])).await, json!(true));
        assert_eq!(client.call("delete_session", json!(["b"])).await, json!(false));
        assert_eq!(client.call("session_count", json!([])).await, json!(3));
        let orphan = client.call("get_session", json!(["c"])).await;
        assert_eq!(orphan["parent_session_id"], json!(null));
        assert_eq!(client.call("get_compression_tip", json!(["a"])).await, json!("a"));
        let left = ["a.json", "b.jsonl", "ab.json", "session_c.json"].map(|name| file(name).exists());
        assert_eq!(left, [true, false, true, true]);
    }
}

#[tokio::test]
async fn what_a_deleted_delegate_sent_stays() {
    for place in places() {
        let mut client = Client::of(&place).await;
        let folder = tempfile::tempdir().unwrap();
        client.call("create_session", json!(["a", "cli"])).await;
        client.call("append_message", json!(["a", "user", "said first"])).await;
        for (id, parent) in [("helper", "a"), ("deep", "helper"), ("other", "a")] {
            let child = json!({"session_id": id, "source": "cli", "parent_session_id": parent});
            client.named("create_session", child).await;
            client.call("append_message", json!([id, "user", "sent to look"])).await;
        }
        for name in ["a.json", "helper.json", "deep.jsonl", "other.json"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let delete = json!({"m": "delete_session", "a": ["helper", folder.path()], "q": "once"});
        assert_eq!(client.ask(delete.clone()).await["r"], json!(true));
        assert_eq!(client.ask(delete).await["r"], json!(true), "a repeated request is told the same");
        assert_eq!(client.call("delete_session", json!(["helper"])).await, json!(false));
        let left = ["a.json", "helper.json", "deep.jsonl", "other.json"].map(|name| folder.path().join(name).exists());
        assert_eq!(left, [true, false, true, true]);
        assert_eq!(client.call("get_session", json!(["deep"])).await["parent_session_id"], json!(null));
        assert_eq!(client.call("session_count", json!([])).await, json!(3));
        assert_eq!(client.call("search_messages", json!(["sent"])).await.as_array().unwrap().len(), 2);
        let rows = client.call("list_sessions_rich", json!([])).await;
        let mut ids: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["a", "deep"]);
        assert_eq!(client.call("verify", json!([])).await["sound"], json!(true));
    }
}

#[tokio::test]
async fn what_ended_long_ago_is_pruned() {
    for place in places() {
        let mut client = Client::of(&place).await;
        let folder = tempfile::tempdir().unwrap();
        let old = [json!({"role": "user", "content": "x", "timestamp": 5.0})];
        for (id, source) in [("old", "cli"), ("old_too", "cron"), ("active", "cli")] {
            client.call("create_session", json!([id, source])).await;
            client.call("append_messages", json!([id, old])).await;
            std::fs::write(folder.path().join(format!("{id}.jsonl")), "").unwrap();
        }
        for id in ["old", "old_too"] {
            client.call("end_session", json!([id, "cli_close"])).await;
        }
        assert_eq!(client.call("prune_sessions", json!([90])).await, json!(0), "they started just now");
        assert_eq!(client.call("prune_sessions", json!([0.000001, "cron", folder.path()])).await, json!(1));
        assert!(!folder.path().join("old_too.jsonl").exists() && folder.path().join("old.jsonl").exists());
        assert_eq!(client.raises("prune_sessions", json!([-1])).await.0, "ValueError");
        let auto = json!({"retention_days": 0.000001, "sessions_dir": folder.path()});
        let done = client.named("maybe_auto_prune_and_vacuum", auto.clone()).await;
        assert_eq!(done, json!({"skipped": false, "pruned": 1, "vacuumed": true}));
        assert!(!folder.path().join("old.jsonl").exists() && folder.path().join("active.jsonl").exists());
        let again = client.named("maybe_auto_prune_and_vacuum", auto).await;
        assert_eq!(again, json!({"skipped": true, "pruned": 0, "vacuumed": false}));
        assert_eq!(client.call("session_count", json!([])).await, json!(1));
        let wrong = client.named("maybe_auto_prune_and_vacuum", json!({"retention_days": -1})).await;
        assert!(wrong["error"].is_string(), "{wrong}");
    }
}

#[tokio::test]
async fn a_handoff_goes_its_way() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["s", "cli"])).await;
        let none = json!({"state": null, "platform": null, "error": null});
        assert_eq!(client.call("get_handoff_state", json!(["s"])).await, none);
        assert_eq!(client.call("get_handoff_state", json!(["gone"])).await, json!(null));
        assert_eq!(client.call("request_handoff", json!(["gone", "telegram"])).await, json!(false));
        assert_eq!(client.call("request_handoff", json!(["s", "telegram"])).await, json!(true));
        assert_eq!(client.call("request_handoff", json!(["s", "discord"])).await, json!(false));
        assert_eq!(client.call("list_pending_handoffs", json!([])).await[0]["id"], json!("s"));
        assert_eq!(client.call("claim_handoff", json!(["s"])).await, json!(true));
        assert_eq!(client.call("claim_handoff", json!(["s"])).await, json!(false));
        assert_eq!(client.call("list_pending_handoffs", json!([])).await, json!([]));
        client.call("fail_handoff", json!(["s", "é".repeat(600)])).await;
        let failed = client.call("get_handoff_state", json!(["s"])).await;
        assert_eq!(failed, json!({"state": "failed", "platform": "telegram", "error": "é".repeat(500)}));
        assert_eq!(client.raises("fail_handoff", json!(["s", null])).await.0, "TypeError");
        client.call("request_handoff", json!(["s", "discord"])).await;
        client.call("claim_handoff", json!(["s"])).await;
        client.call("complete_handoff", json!(["s"])).await;
        let done = client.call("get_handoff_state", json!(["s"])).await;
        assert_eq!(done, json!({"state": "completed", "platform": "discord", "error": null}));
    }
}

#[tokio::test]
async fn topics_lead_to_sessions() {
    for place in places() {
        let mut client = Client::of(&place).await;
        for id in ["a", "b", "c"] {
            let made = json!({"session_id": id, "source": "telegram", "user_id": "7"});
            client.named("create_session", made).await;
        }
        let enabled = json!({"chat_id": 1, "user_id": 7});
        assert_eq!(client.named("is_telegram_topic_mode_enabled", enabled.clone()).await, json!(false));
        client.named("enable_telegram_topic_mode", enabled.clone()).await;
        assert_eq!(client.named("is_telegram_topic_mode_enabled", enabled.clone()).await, json!(true));
        let bind = |thread: i64, session: &str| json!({"chat_id": 1, "thread_id": thread, "user_id": 7, "session_key": "k", "session_id": session});
        client.named("bind_telegram_topic", bind(5, "a")).await;
        client.named("bind_telegram_topic", bind(5, "a")).await;
        let binding = client.named("get_telegram_topic_binding", json!({"chat_id": "1", "thread_id": "5"})).await;
        let keys: Vec<&str> = binding.as_object().unwrap().keys().map(String::as_str).collect();
        let expect =
            ["chat_id", "thread_id", "user_id", "session_key", "session_id", "managed_mode", "linked_at", "updated_at"];
        assert_eq!(keys, expect);
        assert_eq!((&binding["session_id"], &binding["managed_mode"]), (&json!("a"), &json!("auto")));
        let taken = client.ask(json!({"m": "bind_telegram_topic", "k": bind(6, "a")})).await;
        assert_eq!(taken["t"], json!("session is already linked to another Telegram topic"));
        assert_eq!(taken["e"], json!("ValueError"));
        let gone = client.ask(json!({"m": "bind_telegram_topic", "k": bind(6, "gone")})).await;
        assert_eq!(gone["e"], json!("IntegrityError"));
        assert_eq!(client.named("is_telegram_session_linked_to_topic", json!({"session_id": "a"})).await, json!(true));
        let unlinked =
            client.named("list_unlinked_telegram_sessions_for_user", json!({"chat_id": 1, "user_id": 7})).await;
        let ids: Vec<&str> = unlinked.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["c", "b"]);
        assert_eq!(unlinked[0]["preview"], json!(""));
        client.named("disable_telegram_topic_mode", json!({"chat_id": 1})).await;
        assert_eq!(client.named("is_telegram_topic_mode_enabled", enabled).await, json!(false));
        let gone = client.named("get_telegram_topic_binding", json!({"chat_id": "1", "thread_id": "5"})).await;
        assert_eq!(gone, json!(null));
    }
}

#[tokio::test]
async fn it_tells_what_it_is_and_how_it_is() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["s", "cli"])).await;
        client.call("append_message", json!(["s", "user", "x"])).await;
        let info = client.call("info", json!([])).await;
        let status = client.call("status", json!([])).await;
        assert_eq!((&info["provider"], &info["schema_version"]), (&status["provider"], &json!(11)));
        assert_eq!((&status["sessions"], &status["messages"]), (&json!(1), &json!(1)));
        assert_eq!(client.call("verify", json!([])).await["sound"], json!(true));
        assert!(client.call("optimize", json!([])).await["bytes_after"].is_u64());
        assert_eq!(client.call("vacuum", json!([])).await, json!(null));
        assert_eq!(client.call("close", json!([])).await, json!(null));
    }
}
