//! Requests that are repeated with their idempotency key.

use super::*;

#[tokio::test]
async fn what_is_sent_again_is_applied_once_and_answers_the_same() {
    for place in places() {
        let mut client = Client::of(&place).await;
        for request in [
            json!({"m": "create_session", "a": ["s", "cli"], "q": "k1"}),
            json!({"m": "append_message", "a": ["s", "user", "hello"], "q": "k2"}),
            json!({"m": "append_messages", "a": ["s", [{"role": "user", "content": "a"}, {"role": "tool"}]], "q": "k3"}),
            json!({"m": "update_token_counts", "a": ["s", 5], "q": "k4"}),
            json!({"m": "set_session_title", "a": ["s", "mine"], "q": "k5"}),
            json!({"m": "end_session", "a": ["s", "cli_close"], "q": "k6"}),
            json!({"m": "reopen_session", "a": ["s"], "q": "k7"}),
            json!({"m": "update_system_prompt", "a": ["s", "be nice"], "q": "k8"}),
            json!({"m": "replace_messages", "a": ["s", [{"role": "user", "content": "b"}]], "q": "k9"}),
            json!({"m": "request_handoff", "a": ["s", "telegram"], "q": "k10"}),
            json!({"m": "claim_handoff", "a": ["s"], "q": "k11"}),
        ] {
            let first = client.ask(request.clone()).await;
            let again = client.ask(request.clone()).await;
            assert_eq!(first.get("r"), again.get("r"), "{request}");
            assert!(first.get("r").is_some(), "{request}: {first}");
        }
        let session = client.call("get_session", json!(["s"])).await;
        assert_eq!((&session["input_tokens"], &session["message_count"]), (&json!(5), &json!(1)));
        let delete = json!({"m": "delete_session", "a": ["s"], "q": "k12"});
        assert_eq!(client.ask(delete.clone()).await["r"], json!(true));
        assert_eq!(client.ask(delete).await["r"], json!(true));
        assert_eq!(client.call("delete_session", json!(["s"])).await, json!(false));
    }
}

#[tokio::test]
async fn counters_of_a_session_that_was_only_heard_of_are_moved_once() {
    for place in places() {
        let mut client = Client::of(&place).await;
        let request = json!({"m": "update_token_counts", "a": ["new", 7], "q": "k"});
        client.ask(request.clone()).await;
        client.ask(request).await;
        let session = client.call("get_session", json!(["new"])).await;
        assert_eq!((&session["source"], &session["input_tokens"]), (&json!("unknown"), &json!(7)));
    }
}

#[tokio::test]
async fn a_key_serves_one_change() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["s", "cli"])).await;
        client.ask(json!({"m": "append_message", "a": ["s", "user", "one"], "q": "k"})).await;
        let answer = client.ask(json!({"m": "append_message", "a": ["s", "user", "two"], "q": "k"})).await;
        assert_eq!(answer["e"], json!("ValueError"));
        assert!(answer["t"].as_str().unwrap().contains("used for another change"), "{answer}");
    }
}
