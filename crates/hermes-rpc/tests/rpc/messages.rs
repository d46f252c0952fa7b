//! Messages: their columns, counters, replay and search.

use super::*;

#[tokio::test]
async fn a_message_comes_back_with_every_column() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["s", "cli"])).await;
        let calls = json!([{"id": "c1", "function": {"name": "f", "arguments": "{\"x\": \"é\"}"}}]);
        let details = json!([{"type": "summary", "text": "é"}]);
        let given = json!({
            "session_id": "s", "role": "assistant", "content": null, "tool_calls": calls, "token_count": 3, "finish_reason": "stop",
            "reasoning": "", "reasoning_content": "", "reasoning_details": details, "codex_message_items": {},
        });
        let id = client.named("append_message", given).await;
        let rows = client.call("get_messages", json!(["s"])).await;
        let expect = json!({
            "id": id, "session_id": "s", "role": "assistant", "content": null, "tool_call_id": null, "tool_calls": calls, "tool_name": null,
            "timestamp": rows[0]["timestamp"], "token_count": 3, "finish_reason": "stop", "reasoning": "", "reasoning_content": "",
            "reasoning_details": "[{\"type\": \"summary\", \"text\": \"\\u00e9\"}]", "codex_reasoning_items": null, "codex_message_items": null,
        });
        assert_eq!(rows[0].to_string(), expect.to_string(), "in this order too");
        let replayed = client.call("get_messages_as_conversation", json!(["s"])).await;
        let expect = json!({
            "role": "assistant", "content": null, "tool_calls": calls, "finish_reason": "stop", "reasoning_content": "", "reasoning_details": details,
        });
        assert_eq!(replayed[0].to_string(), expect.to_string());
        let row = client.call("get_session", json!(["s"])).await;
        assert_eq!((&row["message_count"], &row["tool_call_count"]), (&json!(1), &json!(1)));
        let exported = client.call("export_session", json!(["s"])).await;
        assert_eq!(exported["messages"], rows);
        assert_eq!(client.call("export_all", json!([])).await[0]["messages"], rows);
    }
}

#[tokio::test]
async fn what_cannot_be_stored_raises_what_the_agents_store_raises() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["s", "cli"])).await;
        client.call("append_message", json!(["s", "user", "kept"])).await;
        for (method, arguments, error) in [
            ("append_message", json!(["gone", "user", "x"]), "IntegrityError"),
            ("append_message", json!(["s", null, "x"]), "IntegrityError"),
            ("append_message", json!(["s", {}, "x"]), "DatabaseError"),
            ("replace_messages", json!(["gone", [{"role": "user"}]]), "IntegrityError"),
            ("replace_messages", json!(["s", [{"role": null}]]), "IntegrityError"),
            ("replace_messages", json!(["s", [{"role": "user"}, "x"]]), "TypeError"),
            ("replace_messages", json!(["s", null]), "TypeError"),
            ("append_messages", json!(["s", [{"role": "user", "content": "x"}, {"role": ""}]]), "ValueError"),
        ] {
            assert_eq!(client.raises(method, arguments.clone()).await.0, error, "{method} {arguments}");
        }
        let rows = client.call("get_messages", json!(["s"])).await;
        assert_eq!((rows.as_array().unwrap().len(), &rows[0]["content"]), (1, &json!("kept")), "all or nothing");
    }
}

#[tokio::test]
async fn messages_are_replaced_and_cleared() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["s", "cli"])).await;
        client.call("append_message", json!(["s", "user", "old"])).await;
        let new = json!([
            {"role": "user", "content": "new", "reasoning": "not kept", "timestamp": 12.5, "unknown": 1},
            {"content": [1]},
            {"role": "assistant", "reasoning": "kept", "tool_calls": [{}, {}]},
        ]);
        client.call("replace_messages", json!(["s", new])).await;
        let rows = client.call("get_messages", json!(["s"])).await;
        let told: Vec<(&Value, &Value, &Value)> =
            rows.as_array().unwrap().iter().map(|row| (&row["role"], &row["content"], &row["reasoning"])).collect();
        assert_eq!(told[0], (&json!("user"), &json!("new"), &json!(null)));
        assert_eq!(told[1], (&json!("unknown"), &json!([1]), &json!(null)));
        assert_eq!(told[2], (&json!("assistant"), &json!(null), &json!("kept")));
        assert_eq!(rows[0]["timestamp"], json!(12.5));
        let row = client.call("get_session", json!(["s"])).await;
        assert_eq!((&row["message_count"], &row["tool_call_count"]), (&json!(3), &json!(2)));
        client.call("clear_messages", json!(["s"])).await;
        assert_eq!(client.call("message_count", json!(["s"])).await, json!(0));
        let ids =
            client.call("append_messages", json!(["s", [{"role": "user", "content": "a"}, {"role": "tool"}]])).await;
        assert_eq!(ids.as_array().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn memory_that_leaked_is_left_out_and_indentation_is_kept() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["s", "cli"])).await;
        for text in ["  indented", "<memory-context>\nsecret\n</memory-context>\nhi", "I wrote <memory-context> once"] {
            client.call("append_message", json!(["s", "user", text])).await;
        }
        client.call("append_message", json!(["s", "tool", " <memory-context>\nx\n</memory-context>"])).await;
        let said = client.call("get_messages_as_conversation", json!(["s"])).await;
        let texts: Vec<&str> = said.as_array().unwrap().iter().map(|map| map["content"].as_str().unwrap()).collect();
        assert_eq!(
            texts,
            ["  indented", "hi", "I wrote <memory-context> once", " <memory-context>\nx\n</memory-context>"]
        );
    }
}

#[tokio::test]
async fn hits_have_marks_and_what_stands_beside_them() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.named("create_session", json!({"session_id": "s", "source": "cli", "model": "m"})).await;
        client.call("append_message", json!(["s", "user", "first\nline"])).await;
        let id = client.call("append_message", json!(["s", "assistant", "the docker daemon"])).await;
        client
            .call("append_message", json!(["s", "user", [{"type": "text", "text": "a"}, {"type": "image_url"}]]))
            .await;
        let hits = client.call("search_messages", json!(["docker"])).await;
        let expect = json!([{
            "id": id, "session_id": "s", "role": "assistant", "snippet": "the >>>docker<<< daemon", "timestamp": hits[0]["timestamp"],
            "tool_name": null, "source": "cli", "model": "m", "session_started": START as f64,
            "context": [
                {"role": "user", "content": "first\nline"},
                {"role": "assistant", "content": "the docker daemon"},
                {"role": "user", "content": "a"},
            ],
        }]);
        assert_eq!(hits.to_string(), expect.to_string());
        for (arguments, count) in [
            (json!({"query": "docker", "source_filter": []}), 0),
            (json!({"query": "docker", "source_filter": ["cli"]}), 1),
            (json!({"query": "docker", "exclude_sources": ["cli"]}), 0),
            (json!({"query": "docker", "role_filter": ["user"]}), 0),
            (json!({"query": "docker", "role_filter": []}), 1),
            (json!({"query": "docker", "limit": 0}), 0),
            (json!({"query": "docker", "limit": -1}), 1),
            (json!({"query": "docker", "offset": 1}), 0),
            (json!({"query": " "}), 0),
            (json!({"query": null}), 0),
            (json!({"query": "docker's"}), 1),
            (json!({"query": "docker's", "offset": 1}), 0),
            (json!({"query": "elephants"}), 0),
            (json!({"query": "\u{fffd}docker"}), 1),
        ] {
            let hits = client.named("search_messages", arguments.clone()).await;
            assert_eq!(hits.as_array().unwrap().len(), count, "{arguments}");
        }
        let rich = client.call("search", json!(["docker elephants"])).await;
        assert_eq!((&rich["relaxed"], &rich["partial"]), (&json!(true), &json!(false)), "{rich}");
        assert_eq!(rich["hits"][0]["conversation"], json!("s"));
        let relaxed = client.call("search_messages", json!(["docker elephants"])).await;
        assert_eq!((&relaxed[0]["id"], &relaxed[0]["relaxed"]), (&id, &json!(true)));
        assert_eq!(client.call("search_messages", json!(["docker"])).await[0].get("relaxed"), None);
    }
}
