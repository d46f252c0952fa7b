//! The end of serving: of the input, by a signal, or because the client stops reading answers.

use super::*;
use tokio::sync::oneshot;

#[tokio::test]
async fn the_end_of_input_lets_everything_be_answered() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.send(json!({"m": "create_session", "a": ["s", "cli"]})).await;
        for number in 0..200 {
            client.send(json!({"m": "append_message", "a": ["s", "user", format!("{number}")]})).await;
        }
        let answers = client.finish().await;
        assert_eq!(answers.len(), 201);
        assert!(answers.iter().all(|answer| answer.get("r").is_some()));
    }
}

#[tokio::test]
async fn a_line_without_an_end_is_a_line() {
    let mut client = Client::of(&model()).await;
    client.writer.write_all(b"{\"m\": \"ping\"}").await.unwrap();
    assert_eq!(client.finish().await, [json!({"r": true})]);
}

#[tokio::test]
async fn what_was_taken_before_a_stop_is_answered_and_nothing_else_is_done() {
    for place in places() {
        let (stop, stopped) = oneshot::channel::<()>();
        let mut client = Client::until(&place, async { _ = stopped.await }).await;
        client.call("create_session", json!(["s", "cli"])).await;
        for number in 0..100 {
            client.send(json!({"m": "append_message", "a": ["s", "user", format!("{number}")]})).await;
        }
        client.writer.write_all(b"{\"m\": \"clear_messages\", \"a\": [\"s\"").await.unwrap();
        stop.send(()).unwrap();
        // The input stays open.
        let mut answered = 0;
        while let Some(answer) = client.line().await {
            assert!(answer.get("r").is_some(), "{answer}");
            answered += 1;
        }
        client.served.await.unwrap().unwrap();
        let mut after = Client::of(&place).await;
        assert_eq!(after.call("message_count", json!([])).await, json!(answered));
    }
}

#[tokio::test]
async fn what_was_taken_is_done_in_order_also_if_nobody_reads_the_answers() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["s", "cli"])).await;
        for number in 0..50 {
            client.send(json!({"m": "append_message", "a": ["s", "user", format!("{number}")]})).await;
        }
        let Client { writer, lines, served, .. } = client;
        drop((writer, lines));
        assert!(served.await.unwrap().is_err(), "it tells that it could not answer");
        let mut after = Client::of(&place).await;
        let rows = after.call("get_messages", json!(["s"])).await;
        let said: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["content"].as_str().unwrap()).collect();
        let expect: Vec<String> = (0..said.len()).map(|number| number.to_string()).collect();
        assert_eq!(said, expect, "nothing is left out and nothing comes later");
        assert_eq!(after.call("message_count", json!([])).await, json!(said.len()));
    }
}
