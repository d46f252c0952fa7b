//! `hermes mcp`: refusals, and that stdout holds nothing but the protocol. `scripts/mcp-test` runs a real client.

use super::*;
use serde_json::{Value, json};
use std::io::Write as _;

/// Returns a home with conversations of two people.
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

/// Sends lines and closes stdin. Returns the answers and the exit code.
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

pub(super) fn hello() -> [Value; 2] {
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
    // A client that sends nothing ends the server too.
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

/// Kills the child after a minute, so that a test whose child does not end fails. Drop the result when it has ended.
#[cfg(target_os = "linux")]
fn deadline(child: &std::process::Child) -> std::sync::mpsc::Sender<()> {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    let id = rustix::process::Pid::from_child(child);
    let (sender, receiver) = channel::<()>();
    std::thread::spawn(move || {
        if receiver.recv_timeout(std::time::Duration::from_secs(60)) == Err(RecvTimeoutError::Timeout) {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
        }
    });
    sender
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_ends_it_at_a_terminal() {
    use std::io::{BufRead as _, BufReader, Read as _};
    let home = home();
    let mut run = home.hermes(&["mcp", "--all"]);
    let (_master, terminal) = terminal::a_terminal(80);
    let mut child = run.command.stdin(terminal).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let _deadline = deadline(&child);
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    errors.read_line(&mut said).unwrap();
    assert_eq!(
        said,
        "note: serving past conversations over MCP (JSON lines on stdin and stdout); Ctrl-C or Ctrl-D ends it\n"
    );
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    said.clear();
    errors.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("error: interrupted\nhint: "), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_that_serves_its_agent_is_not_ended_by_ctrl_c() {
    let home = home();
    let [first, second] = hello();
    let mut run = home.hermes(&["mcp", "--all"]);
    let mut child = run.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _deadline = deadline(&child);
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    writeln!(stdin, "{first}\n{second}").unwrap();
    assert!(answers.next().unwrap().unwrap().contains("serverInfo"));
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).unwrap();
    assert!(answers.next().unwrap().unwrap().contains("\"id\":2"));
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn times_are_those_of_the_command_line_and_unknown_methods_are_named() {
    let home = home();
    let list = |since: &str| json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_conversations", "arguments": {"since": since}}});
    let [first, second] = hello();
    let unknown = json!({"jsonrpc": "2.0", "id": 3, "method": "nosuch"});
    let lines = [first, second, list("yesterday"), list("2025-03-05"), list("soon"), unknown];
    let (told, code) = talk(home.hermes(&["mcp", "--all"]), &lines);
    let text = |number: usize| told[number]["result"]["content"][0]["text"].as_str().unwrap();
    assert!(!text(1).contains("\"a1\"") && told[1]["result"]["isError"] == false, "{}", text(1));
    assert!(text(2).contains("\"a1\""), "{}", text(2));
    assert!(told[3]["result"]["isError"] == true && text(3).contains("yesterday"), "{}", text(3));
    assert_eq!(told[4]["error"], json!({"code": -32601, "message": "unknown method \"nosuch\""}));
    assert_eq!(code, Some(0));
}

#[test]
fn a_line_that_is_not_json_is_answered() {
    let home = home();
    let mut run = home.hermes(&["mcp", "--all"]);
    let mut child = run.command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"ls -l\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["error"]["code"], -32700);
    assert_eq!(output.status.code(), Some(0));
}
