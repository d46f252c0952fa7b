//! `hermes mcp`: what is refused, and that nothing but the protocol is on stdout. `scripts/mcp-test` has a real client.

use super::*;
use serde_json::{Value, json};
use std::io::Write as _;

/// A home in which two people talked.
fn home() -> Home {
    let home = Home::empty();
    let request = Request::at(Timestamp::from_seconds(LONG_AGO).unwrap());
    home.write(async |store| {
        for (name, user) in [("a1", "anna"), ("b1", "bob")] {
            let id = SessionId::parse(name).unwrap();
            let session = NewSession::new(id.clone(), Source::parse("telegram").unwrap());
            store.create(&NewSession { user_id: Some(user.into()), ..session }, &request).await.unwrap();
            let said = NewMessage::new(Role::User, format!("the ferry of {user}"));
            store.append(&id, &[said], &request).await.unwrap();
        }
    });
    home
}

/// Sends lines, closes stdin, and tells the answers and the exit code.
fn talk(mut run: Run<'_>, lines: &[Value]) -> (Vec<Value>, Option<i32>) {
    let mut child = run.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let stdout = child.stdout.take().unwrap();
    let mut answers = std::io::BufRead::lines(std::io::BufReader::new(stdout));
    let mut told = Vec::new();
    for line in lines {
        writeln!(stdin, "{line}").unwrap();
        if line.get("id").is_some() {
            told.push(serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap());
        }
    }
    drop(stdin);
    assert!(answers.next().is_none(), "nothing but answers");
    (told, child.wait().unwrap().code())
}

fn hello() -> [Value; 2] {
    let client =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ]
}

#[test]
fn a_client_is_served_until_it_leaves() {
    let home = home();
    let call = |name: &str, arguments: Value| json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
    let [first, second] = hello();
    let search = call("session_search", json!({"query": "ferry"}));
    let rename = call("rename_conversation", json!({"session_id": "a1", "title": "mine"}));
    let lines = [first, second, search, rename];
    let (told, code) = talk(home.hermes(&["mcp", "--user", "anna"]), &lines);
    assert_eq!(code, Some(0));
    assert_eq!(told[0]["result"]["serverInfo"]["name"], "hermes-sessions");
    let answer: Value = serde_json::from_str(told[1]["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    let found: Vec<&str> =
        answer["results"].as_array().unwrap().iter().map(|one| one["session_id"].as_str().unwrap()).collect();
    assert_eq!(found, ["a1"]);
    assert_eq!(told[2]["error"]["message"], "there is no tool \"rename_conversation\"");
    let (told, code) = talk(home.hermes(&["mcp", "--user", "anna", "--write"]), &lines);
    assert_eq!((told[2]["result"]["isError"].as_bool(), code), (Some(false), Some(0)));
    // One that says nothing at all leaves too.
    assert_eq!(talk(home.hermes(&["mcp", "--all"]), &[]), (vec![], Some(0)));
}

#[test]
fn read_conversation_gives_the_state_of_each_message() {
    let home = show::with_states();
    let read = |more: Value| {
        let mut arguments = json!({"session_id": "s"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "read_conversation", "arguments": arguments}});
        let [first, second] = hello();
        let (told, code) = talk(home.hermes(&["mcp", "--all"]), &[first, second, call]);
        assert_eq!((told[1]["result"]["isError"].as_bool(), code), (Some(false), Some(0)), "{told:?}");
        let answer: Value = serde_json::from_str(told[1]["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
        let message = |message: &Value| {
            let state = message.get("state").map_or("none", |state| state.as_str().unwrap());
            format!("{} {state}", message["content"].as_str().unwrap())
        };
        answer["messages"].as_array().unwrap().iter().map(message).collect::<Vec<String>>()
    };
    let compacted = (1..=12).map(|number| format!("pebble {number} compacted"));
    // An active message has no key "state".
    let said: Vec<String> = compacted.chain((13..=17).map(|number| format!("stone {number} none"))).collect();
    assert_eq!(read(json!({})), said);
    assert_eq!(read(json!({"include_undone": false})), said);
    let every = [said, vec!["mistake 18 undone".to_owned(), "mistake 19 undone".to_owned()]].concat();
    assert_eq!(read(json!({"include_undone": true})), every);
}

#[test]
fn what_is_served_to_whom_has_to_be_said() {
    let home = home();
    let code = |arguments: &[&str]| {
        let mut run = home.hermes(&[&["mcp"], arguments].concat());
        run.command.env("HERMES_MCP_TOKEN", "short").output().unwrap().status.code()
    };
    for usage in [
        &[][..],
        &["--write"],
        &["--all", "--user", "anna"],
        &["--chat", "telegram:7", "--source", "telegram"],
        &["--chat", "telegram"],
        &["--all", "--http", "0.0.0.0:0"],
        &["--all", "--http", "here"],
    ] {
        assert_eq!(code(usage), Some(2), "{usage:?}");
    }
    assert_eq!(code(&["--all", "--http", "127.0.0.1:0"]), Some(1), "a token that can be guessed");
    assert_ne!(Home::empty().hermes(&["mcp", "--all"]).command.output().unwrap().status.code(), Some(0), "no store");
}
