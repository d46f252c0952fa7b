//! Requests that are sent without waiting for answers.

use super::*;
use std::collections::BTreeMap;

#[tokio::test]
async fn a_session_keeps_the_order_in_which_it_was_written() {
    for place in places() {
        let mut client = Client::of(&place).await;
        let mut said: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
        for session in ["a", "b", "c"] {
            client.send(json!({"m": "create_session", "a": [session, "cli"]})).await;
        }
        for number in 0..40 {
            for (place, session) in ["a", "b", "c"].iter().enumerate() {
                let text = format!("{session} {number}");
                let id = client.send(json!({"m": "append_message", "a": [session, "user", text]})).await;
                said.insert(id, (place, number));
            }
        }
        let mut reads = Vec::new();
        for session in ["a", "b", "c"] {
            reads.push(client.send(json!({"m": "get_messages", "a": [session]})).await);
        }
        let counted = client.send(json!({"m": "message_count"})).await;
        let answers: BTreeMap<u64, Value> = client
            .finish()
            .await
            .into_iter()
            .map(|answer| (answer["id"].as_u64().unwrap(), answer["r"].clone()))
            .collect();
        assert_eq!(answers[&counted], json!(120), "what is about all comes after all");
        for (place, session) in ["a", "b", "c"].iter().enumerate() {
            let rows = answers[&reads[place]].as_array().unwrap();
            let texts: Vec<&str> = rows.iter().map(|row| row["content"].as_str().unwrap()).collect();
            let expect: Vec<String> = (0..40).map(|number| format!("{session} {number}")).collect();
            assert_eq!(texts, expect);
            let ids: Vec<&Value> =
                said.iter().filter(|(_, (at, _))| *at == place).map(|(id, _)| &answers[id]).collect();
            assert!(ids.is_sorted_by_key(|id| id.as_u64().unwrap()));
        }
    }
}

#[tokio::test]
async fn a_change_of_more_than_one_session_stands_between() {
    for place in places() {
        let mut client = Client::of(&place).await;
        for round in 0..20 {
            let session = format!("s{round}");
            client.send(json!({"m": "create_session", "a": [session, "cli"]})).await;
            client.send(json!({"m": "append_message", "a": [session, "user", "x"]})).await;
            client.send(json!({"m": "delete_session", "a": [session]})).await;
            client.send(json!({"m": "get_session", "a": [session]})).await;
        }
        let mut answers = client.finish().await;
        answers.sort_by_key(|answer| answer["id"].as_u64().unwrap());
        for (number, answer) in answers.iter().enumerate() {
            match number % 4 {
                2 => assert_eq!(answer["r"], json!(true), "{answer}"),
                3 => assert_eq!(answer["r"], json!(null), "{answer}"),
                _ => assert!(answer.get("r").is_some(), "{answer}"),
            }
        }
    }
}
