//! Arguments that do not match the signature.

use super::*;

#[tokio::test]
async fn what_does_not_fit_is_a_type_error_in_pythons_words() {
    let mut client = Client::of(&model()).await;
    for (request, text) in [
        (json!({"m": "get_session"}), "SessionDB.get_session() missing 1 required positional argument: 'session_id'"),
        (
            json!({"m": "get_session", "a": ["a", "b"]}),
            "SessionDB.get_session() takes 2 positional arguments but 3 were given",
        ),
        (
            json!({"m": "create_session", "a": ["a", "cli"], "k": {"title": "x"}}),
            "SessionDB.create_session() got an unexpected keyword argument 'title'",
        ),
        (
            json!({"m": "end_session", "a": ["a"], "k": {"session_id": "b", "end_reason": "x"}}),
            "SessionDB.end_session() got multiple values for argument 'session_id'",
        ),
        (
            json!({"m": "is_telegram_topic_mode_enabled", "k": {"chat_id": "c"}}),
            "SessionDB.is_telegram_topic_mode_enabled() missing 1 required keyword-only argument: 'user_id'",
        ),
        (json!({"m": "drop_everything"}), "SessionDB has no method 'drop_everything'"),
    ] {
        let answer = client.ask(request).await;
        assert_eq!((answer["e"].as_str(), answer["t"].as_str()), (Some("TypeError"), Some(text)));
    }
}

#[tokio::test]
async fn what_is_no_request_is_answered_too_and_the_next_one_is_served() {
    let mut client = Client::of(&model()).await;
    for line in ["{", "[]", "\u{1}", "{\"m\": 1}", "\"x\""] {
        client.write(line).await;
        let answer = client.line().await.unwrap();
        assert_eq!((answer["e"].as_str(), answer.get("id")), (Some("ValueError"), None), "{line}");
    }
    client.write("").await;
    assert_eq!(client.call("ping", json!([])).await, json!(true));
}

#[tokio::test]
async fn any_id_is_echoed_as_it_came() {
    let mut client = Client::of(&model()).await;
    for id in ["null", "-0", "1.0", "123456789012345678901234567890", "[1, {\"a\": \"\\ud800\"}]"] {
        client.write(&format!("{{\"m\": \"ping\", \"id\": {id}}}")).await;
        assert_eq!(client.raw_line().await, format!("{{\"id\": {id}, \"r\": true}}"));
    }
    client.write("{\"m\": \"ping\"}").await;
    assert_eq!(client.raw_line().await, "{\"r\": true}");
}

#[tokio::test]
async fn every_method_is_served() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["s", "cli"])).await;
        let (theirs, ours) = hermes_rpc::signatures();
        for signature in theirs.into_iter().chain(ours) {
            let (name, list) = signature.split_once('(').unwrap();
            let needed = list.trim_end_matches(')').split(',').map(str::trim).filter(|part| !part.contains('='));
            let mut arguments = serde_json::Map::new();
            for parameter in needed.filter(|part| !part.is_empty() && *part != "*") {
                let value = match parameter {
                    "session_id" => json!("s"),
                    "messages" => json!([]),
                    "model_config_json" => json!("{}"),
                    "older_than_days" => json!(1),
                    "scope" => json!("all"),
                    _ => json!("x"),
                };
                arguments.insert(parameter.to_owned(), value);
            }
            let answer = client.ask(json!({"m": name, "k": arguments})).await;
            assert!(answer.get("r").is_some(), "{name}: {answer}");
            client.call("create_session", json!(["s", "cli"])).await;
        }
    }
}
