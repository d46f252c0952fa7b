//! Sessions, titles, counters and lists.

use super::*;

/// The agent's columns, in its order.
const COLUMNS: [&str; 30] = [
    "id",
    "source",
    "user_id",
    "model",
    "model_config",
    "system_prompt",
    "parent_session_id",
    "started_at",
    "ended_at",
    "end_reason",
    "message_count",
    "tool_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "billing_provider",
    "billing_base_url",
    "billing_mode",
    "estimated_cost_usd",
    "actual_cost_usd",
    "cost_status",
    "cost_source",
    "pricing_version",
    "title",
    "api_call_count",
    "handoff_state",
    "handoff_platform",
    "handoff_error",
];

fn keys(row: &Value) -> Vec<&str> {
    row.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn a_row_has_the_agents_columns_in_the_agents_order() {
    for place in places() {
        let mut client = Client::of(&place).await;
        let settings = json!({"temperature": 1.0, "name": "大🚀"});
        let made = json!({"session_id": "s", "source": "cli", "model": "m", "model_config": settings, "user_id": 7});
        assert_eq!(client.named("create_session", made).await, json!("s"));
        let row = client.call("get_session", json!(["s"])).await;
        assert_eq!(keys(&row), COLUMNS);
        assert_eq!(row["model_config"], json!(r#"{"temperature": 1.0, "name": "\u5927\ud83d\ude80"}"#));
        assert_eq!((&row["user_id"], &row["input_tokens"], &row["ended_at"]), (&json!("7"), &json!(0), &json!(null)));
        assert!(row["started_at"].is_f64());
        let listed = client.call("list_sessions_rich", json!([])).await;
        assert_eq!(keys(&listed[0])[..30], COLUMNS);
        assert_eq!(keys(&listed[0])[30..], ["last_active", "preview"]);
        let found = client.call("search_sessions", json!([])).await;
        assert_eq!(keys(&found[0])[30..], ["last_active"]);
        assert_eq!(client.call("get_session", json!(["S"])).await, json!(null));
        assert_eq!(client.call("get_session", json!([null])).await, json!(null));
    }
}

#[tokio::test]
async fn sessions_are_made_once_and_filled_if_they_were_only_heard_of() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("update_token_counts", json!(["s", 3])).await;
        let late = json!({"session_id": "s", "source": "telegram", "system_prompt": "p"});
        assert_eq!(client.named("create_session", late).await, json!("s"));
        client.call("create_session", json!(["s", "cli"])).await;
        let row = client.call("get_session", json!(["s"])).await;
        assert_eq!(
            (&row["source"], &row["system_prompt"], &row["input_tokens"]),
            (&json!("telegram"), &json!("p"), &json!(3))
        );
        let orphan = json!({"m": "create_session", "a": ["t", "cli"], "k": {"parent_session_id": "gone"}});
        assert_eq!(client.ask(orphan).await["e"], json!("IntegrityError"));
        assert_eq!(client.raises("create_session", json!(["t", null])).await.0, "IntegrityError");
        assert_eq!(client.raises("create_session", json!(["", "cli"])).await.0, "ValueError");
    }
}

#[tokio::test]
async fn the_first_end_wins_and_unknown_sessions_are_no_error() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["s", "cli"])).await;
        for reason in ["one", "two"] {
            assert_eq!(client.call("end_session", json!(["s", reason])).await, json!(null));
        }
        assert_eq!(client.call("get_session", json!(["s"])).await["end_reason"], json!("one"));
        client.call("reopen_session", json!(["s"])).await;
        client.call("end_session", json!(["s", null])).await;
        assert_eq!(client.call("get_session", json!(["s"])).await["end_reason"], json!("unspecified"));
        for (method, arguments) in [
            ("end_session", json!(["gone", "x"])),
            ("reopen_session", json!(["gone"])),
            ("update_system_prompt", json!(["gone", "x"])),
            ("update_session_meta", json!(["gone", "{}"])),
            ("clear_messages", json!(["gone"])),
            ("replace_messages", json!(["gone", []])),
            ("complete_handoff", json!(["gone"])),
            ("end_session", json!(["", "x"])),
        ] {
            assert_eq!(client.call(method, arguments).await, json!(null), "{method}");
        }
        assert_eq!(client.call("session_count", json!([])).await, json!(1));
    }
}

#[tokio::test]
async fn counters_add_up_and_what_is_not_given_stays() {
    for place in places() {
        let mut client = Client::of(&place).await;
        let first =
            json!({"session_id": "s", "input_tokens": 5, "model": "m", "api_call_count": 1, "billing_provider": ""});
        client.named("update_token_counts", first).await;
        let second = json!({"session_id": "s", "input_tokens": 2, "model": "other", "estimated_cost_usd": 0.5, "billing_provider": "x"});
        client.named("update_token_counts", second).await;
        let row = client.call("get_session", json!(["s"])).await;
        assert_eq!(
            (&row["input_tokens"], &row["estimated_cost_usd"], &row["actual_cost_usd"]),
            (&json!(7), &json!(0.5), &json!(null))
        );
        assert_eq!(
            (&row["model"], &row["billing_provider"], &row["api_call_count"]),
            (&json!("m"), &json!(""), &json!(1))
        );
        client.named("update_token_counts", json!({"session_id": "s", "output_tokens": 9, "absolute": true})).await;
        let row = client.call("get_session", json!(["s"])).await;
        assert_eq!(
            (&row["input_tokens"], &row["output_tokens"], &row["estimated_cost_usd"]),
            (&json!(7), &json!(9), &json!(0.5))
        );
    }
}

#[tokio::test]
async fn settings_and_model_are_updated_together() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.named("create_session", json!({"session_id": "s", "source": "acp", "model": "old"})).await;
        client.call("update_session_meta", json!(["s", "{\"a\":1}"])).await;
        let row = client.call("get_session", json!(["s"])).await;
        assert_eq!((&row["model_config"], &row["model"]), (&json!("{\"a\": 1}"), &json!("old")));
        client.call("update_session_meta", json!(["s", null, "new"])).await;
        let row = client.call("get_session", json!(["s"])).await;
        assert_eq!((&row["model_config"], &row["model"]), (&json!(null), &json!("new")));
        assert_eq!(client.raises("update_session_meta", json!(["s", "{"])).await.0, "ValueError");
    }
}

#[tokio::test]
async fn titles_are_given_found_and_numbered() {
    for place in places() {
        let mut client = Client::of(&place).await;
        for session in ["a", "b", "c"] {
            client.call("create_session", json!([session, "cli"])).await;
        }
        assert_eq!(client.call("set_session_title", json!(["a", " my\twork "])).await, json!(true));
        assert_eq!(client.call("get_session_title", json!(["a"])).await, json!("my work"));
        assert_eq!(client.call("get_session_by_title", json!(["my work"])).await["id"], json!("a"));
        let taken = ("ValueError".to_owned(), "Title 'my work' is already in use by session a".to_owned());
        assert_eq!(client.raises("set_session_title", json!(["b", "my work"])).await, taken);
        assert_eq!(client.raises("set_session_title", json!(["gone", "my work"])).await, taken);
        assert_eq!(client.call("set_session_title", json!(["gone", "free"])).await, json!(false));
        assert_eq!(client.call("get_next_title_in_lineage", json!(["my work #7"])).await, json!("my work #2"));
        assert_eq!(client.call("get_next_title_in_lineage", json!(["fresh #7"])).await, json!("fresh"));
        client.call("set_session_title", json!(["b", "my work #2"])).await;
        client.call("set_session_title", json!(["c", "my work #10"])).await;
        assert_eq!(client.call("resolve_session_by_title", json!(["my work"])).await, json!("c"));
        assert_eq!(client.call("resolve_session_by_title", json!(["other"])).await, json!(null));
        assert_eq!(client.call("set_session_title", json!(["a", " "])).await, json!(true));
        assert_eq!(client.call("get_session_title", json!(["a"])).await, json!(null));
        assert_eq!(client.call("sanitize_title", json!(["\u{b}x\u{2028}y"])).await, json!("xy"));
        assert_eq!(
            client.raises("sanitize_title", json!(["x".repeat(101)])).await.1,
            "Title too long (101 chars, max 100)"
        );
    }
}

#[tokio::test]
async fn ids_are_found_by_their_start_letter_by_letter() {
    for place in places() {
        let mut client = Client::of(&place).await;
        for session in ["abc", "abd", "x_1", "xy1"] {
            client.call("create_session", json!([session, "cli"])).await;
        }
        for (text, expect) in
            [("abc", json!("abc")), ("ab", json!(null)), ("x_", json!("x_1")), ("XY", json!(null)), ("", json!(null))]
        {
            assert_eq!(client.call("resolve_session_id", json!([text])).await, expect, "{text}");
        }
    }
}

#[tokio::test]
async fn lists_have_pages_sources_and_no_end_if_that_is_asked_for() {
    for place in places() {
        let mut client = Client::of(&place).await;
        for number in 0..25 {
            let source = if number % 5 == 0 { "cron" } else { "cli" };
            client.call("create_session", json!([format!("s{number:02}"), source])).await;
        }
        let count = |rows: &Value| rows.as_array().unwrap().len();
        assert_eq!(count(&client.call("list_sessions_rich", json!([])).await), 20);
        assert_eq!(count(&client.named("list_sessions_rich", json!({"limit": -1})).await), 25);
        assert_eq!(count(&client.named("list_sessions_rich", json!({"limit": 0})).await), 0);
        assert_eq!(count(&client.named("list_sessions_rich", json!({"source": "cron"})).await), 5);
        assert_eq!(
            count(&client.named("list_sessions_rich", json!({"exclude_sources": ["cron"], "limit": 99})).await),
            20
        );
        let page = client.named("search_sessions", json!({"limit": 2, "offset": 3})).await;
        assert_eq!((&page[0]["id"], &page[1]["id"]), (&json!("s21"), &json!("s20")));
        let raw = json!({"project_compression_tips": false, "limit": 2, "offset": 3});
        let page = client.named("list_sessions_rich", raw).await;
        assert_eq!((&page[0]["id"], &page[1]["id"]), (&json!("s21"), &json!("s20")));
        assert_eq!(client.call("session_count", json!(["cron"])).await, json!(5));
        assert_eq!(client.call("session_count", json!([])).await, json!(25));
        assert_eq!(client.raises("list_sessions_rich", json!([null, null, null])).await.0, "IntegrityError");
    }
}
