//! `session_search`: passages within a scope.

use super::*;

async fn said(client: &mut Client, session: &str, user: &str, text: &str) {
    client.named("create_session", json!({"session_id": session, "source": "telegram", "user_id": user})).await;
    client.call("append_message", json!([session, "user", text])).await;
    client.call("append_message", json!([session, "assistant", "At nine, from the pier."])).await;
}

#[tokio::test]
async fn what_was_said_comes_back_within_the_scope_alone() {
    for place in places() {
        let mut client = Client::of(&place).await;
        said(&mut client, "hers", "anna", "When does the ferry leave?").await;
        said(&mut client, "his", "ben", "Is the ferry late?").await;

        let ids = |answer: &Value| -> Vec<String> {
            let results = answer["results"].as_array().unwrap().iter();
            let mut ids: Vec<String> = results.map(|one| one["session_id"].as_str().unwrap().to_owned()).collect();
            ids.sort_unstable();
            ids
        };
        let ask = |more: Value| {
            let mut arguments = json!({"query": "ferry", "scope": "all"});
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            arguments
        };
        let all = client.named("session_search", ask(json!({}))).await;
        assert_eq!(ids(&all), ["hers", "his"]);
        let hers = client.named("session_search", ask(json!({"scope": {"user_id": "anna"}}))).await;
        assert_eq!(ids(&hers), ["hers"]);
        assert_eq!(
            hers["results"][0]["summary"],
            json!("[USER]: When does the ferry leave?\n\n[ASSISTANT]: At nine, from the pier.")
        );
        assert_eq!(hers["results"][0]["when"], json!("June 15, 2025 at 03:06 PM"));
        let others = client.named("session_search", ask(json!({"current_session_id": "hers"}))).await;
        assert_eq!(ids(&others), ["his"]);
        let answers = client.named("session_search", ask(json!({"role_filter": "assistant"}))).await;
        assert_eq!(ids(&answers), [""; 0]);
        let recent = client.named("session_search", json!({"scope": {"user_id": "ben"}})).await;
        assert_eq!((&recent["mode"], ids(&recent)), (&json!("recent"), vec!["his".to_owned()]));
    }
}

#[tokio::test]
async fn five_conversations_are_the_most_and_a_scope_has_to_be_named() {
    let place = sqlite();
    let mut client = Client::of(&place).await;
    for number in 0..7 {
        said(&mut client, &format!("s{number}"), "anna", "the ferry").await;
    }
    let limits = [(json!(10), 5), (json!(4), 4), (json!(0), 1), (json!(-3), 1), (json!("2"), 2)];
    // A value that is not a number counts as not given.
    let odd = [(json!(null), 3), (json!("many"), 3), (json!([1]), 3)];
    for (limit, expected) in limits.into_iter().chain(odd) {
        let answer = client.named("session_search", json!({"query": "ferry", "limit": limit, "scope": "all"})).await;
        assert_eq!(answer["count"], json!(expected), "{limit}");
    }
    client.call("append_message", json!(["s0", "user", format!("the pier {}", "is far ".repeat(1_000))])).await;
    for (budget, is_whole) in [(json!(null), true), (json!(0), false), (json!(i64::MAX), true)] {
        let asked = json!({"query": "pier", "limit": 5, "scope": {"sessions": ["s0"]}, "budget": budget});
        let answer = client.named("session_search", asked).await;
        let text = answer["results"][0]["summary"].as_str().unwrap().to_owned();
        assert_eq!(text.contains(&"is far ".repeat(999)), is_whole, "{budget}");
    }
    let missing = client.raises("session_search", json!(["ferry"])).await;
    assert_eq!(missing.0, "TypeError");
    let answer = client.ask(json!({"m": "session_search", "k": {"query": "ferry", "scope": {}}})).await;
    assert_eq!(answer["e"], json!("ValueError"));
}
