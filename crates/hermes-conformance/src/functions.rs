//! Functions over the contract work on every store: replay, recap, retention, export, resume.

use crate::fixture::{
    assistant, at, calls, id, ids, json, made, new_session, request, source, structured, title, transcript, user,
};
use crate::{CaseResult, ModelStore, Setup};
use hermes_session::export::{Exporter, FORMAT};
use hermes_session::recap::{Recap, RecapEntry, RecapLimits, Speaker, recap};
use hermes_session::replay::{self, INTERRUPTED, Scope};
use hermes_session::resume::{FindError, Found, Selector, find};
use hermes_session::retention::{Candidate, RetentionPolicy, plan};
use hermes_session::{
    DeleteExtent, EndReason, Maintenance, MessageBody, NewChild, NewMessage, NewSession, Relation, Role, SessionFilter,
    SessionId, StoreError, UsageUpdate,
};

const DAY: f64 = 86_400.0;

fn result_of(call: &str, text: &str) -> NewMessage {
    MessageBody { tool_call_id: Some(call.into()), ..MessageBody::new(Role::Tool, text) }.into()
}

/// Returns the texts of a replay, one line for each message.
fn said(messages: &[replay::ReplayMessage]) -> Vec<String> {
    let text =
        |message: &replay::ReplayMessage| message.content.as_ref().map(|content| content.plain_text().into_owned());
    messages.iter().map(|message| format!("{}: {}", message.role, text(message).unwrap_or_default())).collect()
}

/// A replay of a compressed conversation contains every message once, and neither its branches nor the conversation it
/// branched from.
pub async fn a_replay_follows_the_conversation(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let root = made(&*store, "root", 0).await;
    let talk = [user("one"), assistant("two"), user("three"), assistant("four")];
    store.append(&root, &talk, &request(1)).await?;
    // The continuation starts with a copy of the end, as the agent does.
    let kept = [talk[2].clone(), talk[3].clone()];
    store.split(&root, &NewChild::new(id("tip")), &kept, &request(2)).await?;
    store.append(&id("tip"), &[user("five")], &request(3)).await?;
    store.branch(&id("tip"), &NewChild::new(id("branch")), &request(4)).await?;
    store.append(&id("branch"), &[user("aside")], &request(5)).await?;
    // Replacing the first messages gives them later ids; the order is still that of the conversation.
    store.replace(&root, &talk, &request(6)).await?;
    let whole = replay::load(&*store, &id("tip"), Scope::WholeConversation).await?;
    assert_eq!(said(&whole), ["user: one", "assistant: two", "user: three", "assistant: four", "user: five"]);
    let own = replay::load(&*store, &id("tip"), Scope::ThisSession).await?;
    assert_eq!(said(&own), ["user: three", "assistant: four", "user: five"]);
    let branch = replay::load(&*store, &id("branch"), Scope::WholeConversation).await?;
    assert_eq!(said(&branch), ["user: three", "assistant: four", "user: five", "user: aside"]);
    let ghost = replay::load(&*store, &id("ghost"), Scope::WholeConversation).await;
    crate::fixture::assert_not_found(ghost, &id("ghost"));
    Ok(())
}

/// In a replay every tool call has exactly one result, directly after it, whatever was stored.
pub async fn a_replay_answers_every_call(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let call = |name: &str| {
        calls(&format!(
            r#"[{{"id": "{name}", "type": "function", "function": {{"name": "ls", "arguments": "{{}}"}}}}]"#
        ))
    };
    let stored = [user("go"), call("a"), user("meanwhile"), result_of("a", "late"), result_of("a", "twice"), call("b")];
    store.append(&session, &stored, &request(1)).await?;
    let messages = replay::load(&*store, &session, Scope::ThisSession).await?;
    assert_eq!(replay::validate(&messages), Ok(()));
    let interrupted = format!("tool: {INTERRUPTED}");
    assert_eq!(
        said(&messages),
        ["user: go", "assistant: ", "tool: late", "user: meanwhile", "assistant: ", &interrupted]
    );
    Ok(())
}

/// A transcript of many pages is read completely and in order.
pub async fn a_transcript_of_many_pages(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let batch: Vec<NewMessage> = (0..2_000).map(|n| user(&n.to_string())).collect();
    store.append(&session, &batch, &request(1)).await?;
    let read = replay::transcript(&*store, &session).await?;
    assert_eq!(read.len(), 2_000);
    assert_eq!(read, transcript(&*store, &session).await);
    Ok(())
}

/// The recap of a stored session equals the recap of the same messages in memory.
pub async fn a_recap_of_a_session(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let call = calls(r#"[{"id": "a", "function": {"name": "ls", "arguments": "{}"}}]"#);
    let talk = [user("fix it"), call, result_of("a", "main.rs"), assistant("fixed"), user(" thanks ")];
    store.append(&session, &talk, &request(1)).await?;
    let entry = |speaker, text: &str, is_last_answer| RecapEntry { speaker, text: text.into(), is_last_answer };
    let expected = Recap {
        earlier: 0,
        entries: vec![
            entry(Speaker::User, "fix it", false),
            entry(Speaker::Assistant, "[1 tool call: ls]", false),
            entry(Speaker::Assistant, "fixed", true),
            entry(Speaker::User, "thanks", false),
        ],
    };
    assert_eq!(recap(&transcript(&*store, &session).await, RecapLimits::default()), expected);
    Ok(())
}

/// Retention plans whole conversations without active or recent sessions; deleting them leaves the rest.
pub async fn retention_takes_whole_conversations(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let closed = EndReason::parse("cli_close")?;
    for (name, last) in [("old", 1.0), ("older", 0.5), ("recent", 99.0)] {
        let session = made(&*store, name, 0).await;
        store.append(&session, &[user(name), user("more")], &request(last * DAY)).await?;
        store.end(&session, &closed, &request(last * DAY)).await?;
    }
    made(&*store, "active", 0).await;
    let root = made(&*store, "root", 0).await;
    store.split(&root, &NewChild::new(id("tip")), &[user("summary")], &request(2.0 * DAY)).await?;
    store.end(&id("tip"), &closed, &request(2.0 * DAY)).await?;
    // An active delegate keeps its conversation.
    let kept = made(&*store, "kept", 0).await;
    store.end(&kept, &closed, &request(1)).await?;
    store.create(&new_session("worker").child_of(kept, Relation::Delegate), &request(1)).await?;

    let now = at(100.0 * DAY);
    let candidate = |conversation: &str, members: &[&str], messages, days: f64| Candidate {
        conversation: id(conversation),
        members: ids(members),
        messages,
        last_active: at(days * DAY),
    };
    let candidates = plan(&*store, &RetentionPolicy::new(90.0, None)?, now).await?;
    let expected = [
        candidate("older", &["older"], 2, 0.5),
        candidate("old", &["old"], 2, 1.0),
        candidate("root", &["root", "tip"], 1, 2.0),
    ];
    assert_eq!(candidates, expected);
    assert_eq!(plan(&*store, &RetentionPolicy::new(90.0, Some(source("cron")))?, now).await?, []);
    for candidate in candidates {
        let deleted = store.delete(&candidate.conversation, DeleteExtent::Conversation, &request(100.0 * DAY)).await?;
        assert_eq!((deleted.sessions, deleted.messages), (candidate.members.len() as u64, candidate.messages));
    }
    assert_eq!(plan(&*store, &RetentionPolicy::new(90.0, None)?, now).await?, []);
    assert_eq!(store.counts(&SessionFilter::default()).await?.conversations, 3);
    Ok(())
}

/// A session is found by id, title, number and prefix of its id, and resolved to the session in which it continues.
pub async fn a_session_is_found_as_it_is_named(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for name in ["2025_a", "2025_b", "2026_c", "plan"] {
        made(&*store, name, 0).await;
    }
    store.set_title(&id("2025_a"), Some(&title("plan")), &request(1)).await?;
    store.set_title(&id("2025_b"), Some(&title("trip #2")), &request(1)).await?;
    store.set_title(&id("2026_c"), Some(&title("Café")), &request(1)).await?;
    store.split(&id("2025_b"), &NewChild::new(id("2025_d")), &[], &request(2)).await?;
    store.append(&id("2026_c"), &[user("x")], &request(50)).await?;
    let found = async |text: &str| find(&*store, &Selector::parse(text), &SessionFilter::default()).await;
    let at_once = |name: &str| Found { asked: id(name), session: id(name) };
    for (text, expected) in [
        ("plan", at_once("plan")),
        ("2025_a", at_once("2025_a")),
        (" Cafe\u{301} ", at_once("2026_c")),
        ("trip #2", Found { asked: id("2025_b"), session: id("2025_d") }),
        ("trip", at_once("2025_d")),
        ("2026", at_once("2026_c")),
        ("@last", at_once("2026_c")),
    ] {
        assert_eq!(found(text).await.map_err(|error| error.to_string()), Ok(expected), "{text:?}");
    }
    assert!(
        matches!(found("2025_").await, Err(FindError::Ambiguous { candidates, .. }) if candidates == ids(&["2025_a", "2025_b", "2025_d"]))
    );
    for nothing in ["", "nope", "2025-", "%", "CAFÉ"] {
        assert!(matches!(found(nothing).await, Err(FindError::NotFound { .. })), "{nothing:?}");
    }
    Ok(())
}

/// Fills a store with every kind of data.
async fn story(store: &dyn Maintenance) -> Result<(), StoreError> {
    let new = NewSession {
        user_id: Some("u 大".into()),
        model: Some("m".into()),
        model_config: Some(json(r#"{"t": 0.10, "x": "\ud800", "n": NaN}"#)),
        system_prompt: Some("be\0kind\n".into()),
        ..new_session("root")
    };
    store.create(&new, &request(0)).await?;
    store.set_title(&id("root"), Some(&title("👨\u{200d}👩\u{200d}👧 trip")), &request(1)).await?;
    let batch: Vec<NewMessage> = (0..250).map(|n| user(&format!("line {n}\n")).said_at(at(-n))).collect();
    store.append(&id("root"), &batch, &request(2)).await?;
    let odd = ["[NaN, 1e400]", r#""\ud800""#, "null", r#"[{"type": "text", "text": "\u0000"}]"#];
    let odd = odd.map(|text| NewMessage::new(Role::User, structured(text)));
    store.append(&id("root"), &odd, &request(3)).await?;
    store.append(&id("root"), &[user("\0json:[1]"), user(""), calls(r#"[{"id": "a"}, {}]"#)], &request(4)).await?;
    let update = UsageUpdate { input_tokens: Some(7), estimated_cost_usd: Some(0.1), ..UsageUpdate::default() };
    store.record_usage(&id("root"), &update, &request(5)).await?;
    store.split(&id("root"), &NewChild::new(id("tip")), &[user("summary"), result_of("a", "x")], &request(6)).await?;
    store.branch(&id("root"), &NewChild::new(id("branch")), &request(-7)).await?;
    store.create(&NewSession { source: source("cron"), ..new_session("Z") }, &request(8)).await?;
    store.end(&id("Z"), &EndReason::parse("cron_complete")?, &request(9)).await?;
    Ok(())
}

/// Returns an export as text, with message ids replaced by ordinals, because ids differ between stores.
async fn exported(store: &dyn Maintenance, only: Option<SessionId>) -> Result<String, StoreError> {
    let mut exporter = match only {
        Some(id) => Exporter::of(store, [id]),
        None => Exporter::new(store, SessionFilter::default()),
    };
    let mut text = String::new();
    while let Some(chunk) = exporter.next_chunk().await? {
        text += &chunk;
    }
    assert_eq!(exporter.unreadable(), []);
    assert_eq!(exporter.sessions(), text.lines().count() as u64);
    let mut parts = text.split("{\"id\": ");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for (ordinal, part) in parts.enumerate() {
        let digits = part.len() - part.trim_start_matches(|character: char| character.is_ascii_digit()).len();
        shown +=
            &format!("{{\"id\": {}{}", if digits > 0 { ordinal.to_string() } else { String::new() }, &part[digits..]);
    }
    Ok(shown)
}

/// The export of the same data is byte for byte the same on every store.
pub async fn the_export_is_the_models(setup: Setup) -> CaseResult {
    let (store, model) = (setup.store().await, ModelStore::new());
    story(&*store).await?;
    story(&model).await?;
    let (found, expected) = (exported(&*store, None).await?, exported(&model, None).await?);
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert!(found == expected, "exported as\n{found}\ninstead of\n{expected}");
    }
    assert_eq!(found.len(), expected.len());
    assert_eq!(found.lines().count(), 4);
    assert!(found.lines().all(|line| line.starts_with(&format!("{{\"format\": \"{FORMAT}\", "))));
    let one = exported(&*store, Some(id("branch"))).await?;
    assert_eq!(one.lines().count(), 1);
    assert!(one.contains("line 249\\n"), "a branch holds what it copied");
    Ok(())
}
