//! Sessions with parents.

use super::*;

/// Creates a conversation that was compressed once, by the agent's own steps, with a delegate.
async fn compressed(client: &mut Client) {
    client.call("create_session", json!(["root", "cli"])).await;
    client.call("set_session_title", json!(["root", "work"])).await;
    client.call("append_message", json!(["root", "user", "begin"])).await;
    client.named("update_token_counts", json!({"session_id": "root", "input_tokens": 10})).await;
    client.call("end_session", json!(["root", "compression"])).await;
    child(client, "tip", "root").await;
    client.call("set_session_title", json!(["tip", "work #2"])).await;
    client.call("append_message", json!(["tip", "user", "go on"])).await;
    client.named("update_token_counts", json!({"session_id": "tip", "input_tokens": 5})).await;
    child(client, "helper", "tip").await;
}

async fn child(client: &mut Client, id: &str, parent: &str) {
    client.named("create_session", json!({"session_id": id, "source": "cli", "parent_session_id": parent})).await;
}

#[tokio::test]
async fn a_compressed_conversation_is_one_row() {
    for place in places() {
        let mut client = Client::of(&place).await;
        compressed(&mut client).await;
        let rows = client.call("list_sessions_rich", json!([])).await;
        assert_eq!(rows.as_array().unwrap().len(), 1);
        let row = &rows[0];
        assert_eq!(
            (&row["id"], &row["title"], &row["_lineage_root_id"]),
            (&json!("tip"), &json!("work #2"), &json!("root"))
        );
        assert_eq!((&row["started_at"], &row["parent_session_id"]), (&json!(START as f64), &json!(null)));
        assert_eq!((&row["input_tokens"], &row["preview"]), (&json!(10), &json!("go on")), "as the agent shows them");
        let raw = client.named("list_sessions_rich", json!({"project_compression_tips": false})).await;
        assert_eq!((raw.as_array().unwrap().len(), &raw[0]["id"]), (1, &json!("root")));
        let all = client.named("list_sessions_rich", json!({"include_children": true})).await;
        assert_eq!(all.as_array().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn the_tip_is_known_also_when_the_root_was_reopened() {
    for place in places() {
        let mut client = Client::of(&place).await;
        compressed(&mut client).await;
        client.call("reopen_session", json!(["root"])).await;
        for (session, tip) in [("root", json!("tip")), ("helper", json!("helper")), ("gone", json!("gone"))] {
            assert_eq!(client.call("get_compression_tip", json!([session])).await, tip);
        }
        assert_eq!(client.call("get_compression_tip", json!([null])).await, json!(null));
    }
}

#[tokio::test]
async fn resuming_leads_to_where_something_was_said() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["root", "cli"])).await;
        client.call("end_session", json!(["root", "compression"])).await;
        child(&mut client, "older", "root").await;
        client.call("append_message", json!(["older", "user", "here"])).await;
        child(&mut client, "newer", "root").await;
        for (asked, found) in [("root", "older"), ("older", "older"), ("newer", "newer"), ("gone", "gone"), ("", "")] {
            assert_eq!(client.call("resolve_resume_session_id", json!([asked])).await, json!(found));
        }
        client.call("append_message", json!(["newer", "user", "a branch"])).await;
        let resumed = client.call("resolve_resume_session_id", json!(["root"])).await;
        assert_eq!(resumed, json!("older"), "what carries it on comes first");
    }
}

#[tokio::test]
async fn ancestors_come_in_order_and_without_repeated_prompts() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["root", "cli"])).await;
        for (role, text) in
            [("user", "one"), ("assistant", "two"), ("user", "yes"), ("user", "yes"), ("assistant", "end")]
        {
            client.call("append_message", json!(["root", role, text])).await;
        }
        client.call("end_session", json!(["root", "compression"])).await;
        child(&mut client, "tip", "root").await;
        for (role, text) in [("assistant", "end"), ("user", "three")] {
            client.call("append_message", json!(["tip", role, text])).await;
        }
        let whole = client.call("get_messages_as_conversation", json!(["tip", true])).await;
        let texts: Vec<&str> = whole.as_array().unwrap().iter().map(|map| map["content"].as_str().unwrap()).collect();
        assert_eq!(
            texts,
            ["one", "two", "yes", "end", "end", "three"],
            "a prompt is repeated while nothing answers it"
        );
        let own = client.call("get_messages_as_conversation", json!(["tip"])).await;
        assert_eq!(own, json!([{"role": "assistant", "content": "end"}, {"role": "user", "content": "three"}]));
        assert_eq!(client.call("get_messages_as_conversation", json!(["gone", true])).await, json!([]));
        // A session of any relation is preceded by its ancestors, in the order in which messages were stored.
        child(&mut client, "helper", "tip").await;
        client.call("append_message", json!(["helper", "user", "look"])).await;
        client.call("append_message", json!(["tip", "assistant", "later"])).await;
        let whole = client.call("get_messages_as_conversation", json!(["helper", true])).await;
        let texts: Vec<&str> = whole.as_array().unwrap().iter().map(|map| map["content"].as_str().unwrap()).collect();
        assert_eq!(texts[5..], ["three", "look", "later"]);
    }
}

#[tokio::test]
async fn a_branch_does_not_repeat_a_prompt_of_its_parent() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["root", "cli"])).await;
        client.call("append_message", json!(["root", "user", "one"])).await;
        client.call("end_session", json!(["root", "branched"])).await;
        child(&mut client, "branch", "root").await;
        client.call("append_message", json!(["branch", "user", "one"])).await;
        client.call("reopen_session", json!(["root"])).await;
        let whole = client.call("get_messages_as_conversation", json!(["branch", true])).await;
        assert_eq!(whole, json!([{"role": "user", "content": "one"}]));
        let rows = client.call("list_sessions_rich", json!([])).await;
        assert_eq!(rows.as_array().unwrap().len(), 2, "a branch shows also when its parent was reopened");
    }
}
