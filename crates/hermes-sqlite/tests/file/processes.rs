//! Many processes on one file.

use crate::child::{EACH, child, told};
use crate::fixture::{File, at, id, new};
use hermes_session::{Maintenance as _, MessageId, MessageRequest, NewMessage, Role, SessionStore as _};
use std::collections::BTreeSet;

const WRITERS: usize = 8;

/// Returns how many rounds of a test to run: `usual`, or the value of `HERMES_TORTURE`.
pub(crate) fn rounds(usual: usize) -> usize {
    std::env::var("HERMES_TORTURE").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(usual)
}

pub(crate) fn acknowledged(output: &[u8]) -> Vec<(i64, String)> {
    let parse = |line: &str| line.split_once(' ').and_then(|(id, text)| Some((id.parse().ok()?, text.to_owned())));
    told(output, "acknowledged").into_iter().filter_map(parse).collect()
}

#[tokio::test]
async fn eight_processes_lose_and_double_nothing() {
    let file = File::new();
    let writers: Vec<_> =
        (0..WRITERS).map(|name| child("write", &name.to_string(), &file.path()).spawn().unwrap()).collect();
    let mut promised = BTreeSet::new();
    for child in writers {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        promised.extend(acknowledged(&output.stdout));
    }
    let store = file.open();
    let messages = store.messages(&id("shared"), &MessageRequest::first(10_000)).await.unwrap();
    let stored: BTreeSet<(i64, String)> =
        messages.iter().map(|message| (message.id.0, message.body.plain_text().into_owned())).collect();
    assert_eq!(promised.len(), WRITERS * EACH);
    assert_eq!(stored, promised);
    assert_eq!(messages.len(), WRITERS * EACH, "nothing is there twice");
    assert_eq!(store.session(&id("shared")).await.unwrap().unwrap().message_count, (WRITERS * EACH) as i64);
    for name in 0..WRITERS {
        let own: Vec<String> = messages
            .iter()
            .map(|message| message.body.plain_text().into_owned())
            .filter(|text| text.starts_with(&format!("{name}/")))
            .collect();
        assert_eq!(own, (0..EACH).map(|n| format!("{name}/{n}")).collect::<Vec<_>>());
    }
    let check: String = file.foreign().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

#[tokio::test]
async fn a_killed_writer_keeps_its_promises() {
    use std::io::{BufRead as _, BufReader};
    let file = File::new();
    for round in 0..5 {
        let mut child = child("write", &round.to_string(), &file.path()).spawn().unwrap();
        let mut promised = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
            promised.extend(acknowledged(line.as_bytes()));
            if promised.len() == 3 + round {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        let store = file.open();
        let messages = store.messages(&id("shared"), &MessageRequest::first(10_000)).await.unwrap();
        for (number, text) in promised {
            let kept = messages.iter().filter(|message| message.id == MessageId(number));
            assert_eq!(kept.map(|message| message.body.plain_text().into_owned()).collect::<Vec<_>>(), [text]);
        }
        assert_eq!(store.session(&id("shared")).await.unwrap().unwrap().message_count, messages.len() as i64);
    }
}

#[test]
fn sixteen_processes_make_one_file() {
    for _ in 0..rounds(3) {
        let file = File::new();
        let openers: Vec<_> = (0..16).map(|_| child("open", "", &file.path()).spawn().unwrap()).collect();
        for opener in openers {
            let output = opener.wait_with_output().unwrap();
            assert_eq!(told(&output.stdout, "opened"), ["11"], "{}", String::from_utf8_lossy(&output.stdout));
        }
        let rows: i64 = file.foreign().query_row("SELECT count(*) FROM schema_version", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 1);
    }
}

/// Writers that wait together commit together, and one that fails does not affect the others.
#[tokio::test(flavor = "multi_thread")]
async fn a_failure_in_a_group_is_its_own() {
    let file = File::new();
    let store = std::sync::Arc::new(file.open());
    store.create(&new("taken"), &at(1.0)).await.unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..100 {
        let store = std::sync::Arc::clone(&store);
        tasks.spawn(async move {
            if n % 3 == 0 {
                assert!(store.create(&new("taken"), &at(2.0)).await.is_err());
            } else {
                store.append(&id("taken"), &[NewMessage::new(Role::User, format!("{n}"))], &at(2.0)).await.unwrap();
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_eq!(store.session(&id("taken")).await.unwrap().unwrap().message_count, 66);
    assert_eq!(store.status().await.unwrap().schema_version, 11);
}
