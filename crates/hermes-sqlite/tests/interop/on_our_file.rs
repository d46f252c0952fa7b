//! A file that we made: the agent reads everything in it, changes it in its own way, and we read the result.

use crate::fixture::{File, all_messages, at, id, new, now, session, texts, title, user};
use crate::peer::{Peer, Release};
use crate::views::{our_list, same_list, same_messages, same_tip, same_transcripts, shown, their_hits, their_messages};
use crate::{samples, views};
use hermes_session::{
    ConversationStore as _, DeleteExtent, EndReason, Message, MessageBody, NewChild, NewMessage, NewSession, Relation,
    Role, SessionStore as _, Timestamp, UsageUpdate,
};
use hermes_sqlite::SqliteStore;
use serde_json::{Value, json};

const SESSIONS: [&str; 10] =
    ["plain", "scripts", "tools", "parts", "long", "long-2", "origin", "copy", "boss", "helper"];

/// Appends `bodies` to a session, a quarter of a second apart, and returns the messages that should be read back.
async fn say(store: &SqliteStore, name: &str, bodies: Vec<MessageBody>, start: f64) -> Vec<Message> {
    let time = |place: usize| Timestamp::from_seconds(start + place as f64 / 4.0).unwrap();
    let batch: Vec<NewMessage> =
        bodies.iter().enumerate().map(|(place, body)| NewMessage::from(body.clone()).said_at(time(place))).collect();
    let ids = store.append(&id(name), &batch, &at(start)).await.unwrap();
    let told = ids
        .into_iter()
        .zip(bodies)
        .enumerate()
        .map(|(place, (message, body))| Message::new(message, id(name), time(place), body));
    told.collect()
}

async fn titled(store: &SqliteStore, session: NewSession, name: &str, start: f64) {
    store.create(&session, &at(start)).await.unwrap();
    store.set_title(&session.id, Some(&title(name)), &at(start)).await.unwrap();
}

/// Makes a file with every kind of content, and returns the appended messages by session.
async fn populate(store: &SqliteStore) -> Vec<(&'static str, Vec<Message>)> {
    let words = |text: &str| vec![MessageBody::new(Role::User, text)];
    let plain = NewSession { user_id: Some("u".into()), model: Some("m-1".into()), ..new("plain") };
    titled(store, plain, "Plain words", 1.0).await;
    let mut said = vec![("plain", say(store, "plain", samples::plain(), 2.0).await)];
    let usage = UsageUpdate { input_tokens: Some(11), output_tokens: Some(5), ..UsageUpdate::default() };
    store.record_usage(&id("plain"), &usage, &at(3.0)).await.unwrap();
    titled(store, new("scripts"), "文字 scripts", 10.0).await;
    said.push(("scripts", say(store, "scripts", samples::scripts(), 11.0).await));
    titled(store, new("tools"), "tools", 30.0).await;
    said.push(("tools", say(store, "tools", samples::tools(), 31.0).await));
    titled(store, new("parts"), "100% of_parts", 40.0).await;
    said.push(("parts", say(store, "parts", samples::parts(), 41.0).await));

    titled(store, new("long"), "chain", 50.0).await;
    said.push(("long", say(store, "long", words("the start of a long talk"), 51.0).await));
    let carried = [user("carrying on").said_at(Timestamp::from_seconds(60.5).unwrap())];
    let number = store.split(&id("long"), &NewChild::new(id("long-2")), &carried, &at(60.0)).await.unwrap();
    assert_eq!(number, Some(title("chain #2")));
    titled(store, new("origin"), "fork", 70.0).await;
    said.push(("origin", say(store, "origin", words("where it forks"), 71.0).await));
    let number = store.branch(&id("origin"), &NewChild::new(id("copy")), &at(80.0)).await.unwrap();
    assert_eq!(number, Some(title("fork #2")));
    say(store, "copy", words("another way"), 81.0).await;
    titled(store, new("boss"), "boss", 90.0).await;
    said.push(("boss", say(store, "boss", words("do it for me"), 91.0).await));
    store.create(&new("helper").child_of(id("boss"), Relation::Delegate), &at(92.0)).await.unwrap();
    said.push(("helper", say(store, "helper", words("on it"), 93.0).await));
    // The parent has the last message, so that both sides see the same activity: ours includes delegates.
    let last = say(store, "boss", words("thanks"), 94.0).await;
    said.iter_mut().find(|(name, _)| *name == "boss").unwrap().1.extend(last);
    said
}

/// Runs the agent's own searches, each of which has to find exactly the messages with the words.
fn search(peer: &mut Peer, said: &[(&str, Vec<Message>)]) {
    let message = |name: &str, place: usize| {
        let (_, messages) = said.iter().find(|(session, _)| *session == name).unwrap();
        messages[place].id.0
    };
    for (query, expect) in [
        ("general", vec![message("plain", 0)]),
        ("GENERAL hello", vec![message("plain", 0)]),
        ("hello", vec![message("plain", 0), message("plain", 1)]),
        ("\"hello there\"", vec![message("plain", 0)]),
        ("cafe", vec![message("scripts", 0)]),
        ("привет", vec![message("scripts", 1)]),
        ("大别山项目", vec![message("scripts", 2)]),
        ("天气", vec![message("scripts", 2)]),
        ("こんにちは", vec![message("scripts", 3)]),
        ("안녕하세요", vec![message("scripts", 4)]),
        ("עולם", vec![message("scripts", 5)]),
        ("lift-off", vec![message("scripts", 8)]),
        ("terminal", vec![message("tools", 1), message("tools", 2)]),
        ("call_2", vec![message("tools", 1)]),
        ("two.txt", vec![message("tools", 2)]),
        ("富士山", vec![message("parts", 1)]),
        ("mountain", vec![message("parts", 2)]),
        ("nowhere", vec![]),
    ] {
        assert_eq!(their_hits(peer, query), expect, "{query}");
    }
}

/// The agent changes what it found, each in its own way.
fn rework(peer: &mut Peer, host: bool) {
    let say = |peer: &mut Peer, session: &str, text: &str| {
        peer.call("append_message", json!({"session_id": session, "role": "user", "content": text}));
    };
    // Newer releases store the relation of a child.
    let marked = |key: &str, parent: &str| if host { json!({key: parent}) } else { Value::Null };
    for body in samples::tools() {
        peer.call("append_message", views::arguments("plain", &body));
    }
    peer.call("set_session_title", json!({"session_id": "plain", "title": "Renamed by them"}));
    peer.call("end_session", json!({"session_id": "plain", "end_reason": "cli_close"}));
    // Its compression: end, child, title, transcript, in four steps.
    peer.call("end_session", json!({"session_id": "copy", "end_reason": "compression"}));
    let child = json!({"session_id": "copy-2", "source": "cli", "model": "m-2", "parent_session_id": "copy"});
    peer.call("create_session", child);
    let number = peer.call("get_next_title_in_lineage", json!({"base_title": "fork #2"}));
    assert_eq!(number, "fork #3");
    peer.call("set_session_title", json!({"session_id": "copy-2", "title": number}));
    say(peer, "copy-2", "after their cut");
    let errand = json!({"session_id": "errand", "source": "cli", "parent_session_id": "copy-2",
        "model_config": marked("_delegate_from", "copy-2")});
    peer.call("create_session", errand);
    say(peer, "errand", "fetch it");
    peer.call("end_session", json!({"session_id": "tools", "end_reason": "branched"}));
    let branch = json!({"session_id": "tools-b", "source": "cli", "parent_session_id": "tools",
        "model_config": marked("_branched_from", "tools")});
    peer.call("create_session", branch);
    say(peer, "tools-b", "their own way");
    let rewritten = json!([{"role": "user", "content": "rewritten from scratch"},
        {"role": "assistant", "content": [{"type": "text", "text": "大 parts"}]}]);
    peer.call("replace_messages", json!({"session_id": "scripts", "messages": rewritten}));
    assert_eq!(peer.call("delete_session", json!({"session_id": "long"})), true);
    peer.call("set_meta", json!({"key": "interop", "value": "theirs"}));
    let taken = peer.try_call("set_session_title", json!({"session_id": "parts", "title": "boss"}));
    assert_eq!(taken.unwrap_err(), "ValueError: Title 'boss' is already in use by session boss");
}

/// Checks that the agent's changes are in our list, our counters and our lineages.
async fn read_back(store: &SqliteStore) {
    assert_eq!(
        shown(store).await,
        "scripts(rewritten from scratch) tools-b(their own way) copy-2(where it forks) plain(Hello there general) \
         boss(do it for me) origin(where it forks) long-2(carrying on) parts(look at this) tools(what is in there?)"
    );
    let rows = our_list(store).await;
    let row = |name: &str| rows.iter().find(|row| row.id == id(name)).unwrap();
    assert_eq!(row("copy-2").segments, 3, "the chain and its errand");
    assert_eq!((row("copy-2").conversation.as_str(), row("copy-2").title.as_deref()), ("copy", Some("fork #3")));
    assert_eq!((row("copy-2").model.as_deref(), row("copy-2").relation), (Some("m-2"), Relation::Branch));
    for (name, messages, calls, relation) in [
        ("plain", 6, 2, Relation::Root),
        ("scripts", 2, 0, Relation::Root),
        ("tools", 4, 2, Relation::Root),
        ("tools-b", 1, 0, Relation::Branch),
        ("copy", 2, 0, Relation::Branch),
        ("copy-2", 1, 0, Relation::Continuation),
        ("errand", 1, 0, Relation::Delegate),
        ("helper", 1, 0, Relation::Delegate),
        ("long-2", 1, 0, Relation::Root),
    ] {
        let session = session(store, name).await;
        let facts = (session.message_count, session.tool_call_count, session.relation);
        assert_eq!(facts, (messages, calls, relation), "{name}");
        assert_eq!(session.faults, [], "{name}");
    }
    let plain = session(store, "plain").await;
    assert_eq!((plain.title.as_deref(), plain.usage.input_tokens), (Some("Renamed by them"), 11));
    assert_eq!(plain.end_reason, Some(EndReason::parse("cli_close").unwrap()));
    assert_eq!(store.session(&id("long")).await.unwrap(), None);
    let lineage = store.lineage(&id("errand")).await.unwrap();
    assert_eq!(lineage.conversation(&id("errand")), [id("copy"), id("copy-2"), id("errand")]);
    assert_eq!(lineage.root(&id("errand")), id("origin"));
    assert_eq!(texts(store, "scripts").await, ["rewritten from scratch", "大 parts"]);
    assert_eq!(store.meta("interop").await.unwrap().as_deref(), Some("theirs"));
}

async fn each_side_reads_what_the_other_wrote(release: &Release) {
    let file = File::new();
    let store = file.open();
    let said = populate(&store).await;
    drop(store);

    let mut peer = release.open(&file);
    let store = file.open();
    for (name, messages) in &said {
        assert_eq!(&all_messages(&store, name).await, messages, "{name}");
        same_messages(messages, &their_messages(&mut peer, name));
    }
    same_transcripts(&store, &mut peer, &SESSIONS).await;
    same_list(&store, &mut peer).await;
    let rows = peer.call("list_sessions_rich", json!({"limit": 100, "order_by_last_active": true}));
    let previews: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["preview"].as_str().unwrap()).collect();
    assert_eq!(previews[..3], ["do it for me", "where it forks", "where it forks"]);
    assert_eq!(previews[3..6], ["carrying on", "look at this", "what is in there?"]);
    for (name, expect) in [("chain", "long-2"), ("fork", "copy"), ("boss", "boss"), ("100% of_parts", "parts")] {
        assert_eq!(peer.call("resolve_session_by_title", json!({"title": name})), expect, "{name}");
    }
    same_tip(&store, &mut peer, "long", "long-2").await;
    same_tip(&store, &mut peer, "origin", "origin").await;
    search(&mut peer, &said);

    rework(&mut peer, release.is_host());
    read_back(&store).await;
    let sessions = ["plain", "scripts", "tools", "tools-b", "parts", "long-2", "copy", "copy-2", "errand", "boss"];
    same_transcripts(&store, &mut peer, &sessions).await;
    same_tip(&store, &mut peer, "copy", "copy-2").await;

    let next = store.split(&id("copy-2"), &NewChild::new(id("copy-3")), &[user("ours again")], &now()).await.unwrap();
    assert_eq!(next, Some(title("fork #4")));
    same_tip(&store, &mut peer, "copy", "copy-3").await;
    store.append(&id("plain"), &[user("after the end")], &now()).await.unwrap();
    let deleted = store.delete(&id("copy-2"), DeleteExtent::Conversation, &now()).await.unwrap();
    assert_eq!((deleted.sessions, deleted.messages), (4, 5));
    same_transcripts(&store, &mut peer, &["plain", "origin"]).await;
    same_list(&store, &mut peer).await;
    // Its pruning deletes ended sessions by their age and detaches their children.
    let pruned = peer.call("prune_sessions", json!({"older_than_days": 1}));
    assert_eq!(pruned, 3, "plain, origin and tools had ended");
    let left = "scripts(rewritten from scratch) tools-b(their own way) boss(do it for me) long-2(carrying on) parts(look at this)";
    assert_eq!(shown(&store).await, left);
    same_list(&store, &mut peer).await;
    assert_eq!(peer.query("PRAGMA integrity_check"), json!([["ok"]]));
    peer.close();
    drop(store);
    file.check();
    file.check_counters();
    assert_eq!(shown(&file.open()).await, left);
}
scenario!(each_side_reads_what_the_other_wrote);

/// The agent is upgraded while a process of ours has the file open.
async fn the_schema_is_raised_under_an_open_store(release: &Release) {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.append(&id("a"), &[user("before")], &at(2.0)).await.unwrap();
    let mut peer = release.open(&file);
    store.append(&id("a"), &[user("after"), user("taken back")], &now()).await.unwrap();
    same_transcripts(&store, &mut peer, &["a"]).await;
    same_list(&store, &mut peer).await;
    let messages = all_messages(&store, "a").await;
    peer.call("rewind_to_message", json!({"session_id": "a", "target_message_id": messages[2].id.0}));
    assert_eq!(texts(&store, "a").await, ["before", "after"]);
    same_transcripts(&store, &mut peer, &["a"]).await;
    store.append(&id("a"), &[user("said instead")], &now()).await.unwrap();
    same_transcripts(&store, &mut peer, &["a"]).await;
    assert_eq!(texts(&store, "a").await, ["before", "after", "said instead"]);
    peer.close();
    drop(store);
    assert_eq!(file.number("SELECT version FROM schema_version"), 22);
    file.check();
}
scenario!(the_schema_is_raised_under_an_open_store: release_0_19_0 "0.19.0");
