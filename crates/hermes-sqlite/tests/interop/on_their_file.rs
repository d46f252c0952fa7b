//! A file that the agent made: we adopt it or use it as guests, read it, write to it, and the agent reads it again.

use crate::fixture::{File, all_messages, id, now, report, session, texts, title, user};
use crate::peer::{Peer, Release};
use crate::samples;
use crate::views::{arguments, fields, our_list, same_list, same_tip, same_transcripts, their_hits};
use hermes_session::insights::{MessageCounts, ToolUse};
use hermes_session::{
    ConversationStore as _, EndReason, InsightsRequest, Maintenance as _, MessageBody, MessageRequest, NewChild,
    Relation, SessionStore as _, Timestamp, UsageUpdate,
};
use hermes_sqlite::SqliteStore;
use serde_json::{Value, json};

pub(crate) fn create(peer: &mut Peer, session: &str, parent: Option<&str>) {
    peer.call("create_session", json!({"session_id": session, "source": "cli", "parent_session_id": parent}));
}

pub(crate) fn say(peer: &mut Peer, session: &str, text: &str) -> i64 {
    let message = json!({"session_id": session, "role": "user", "content": text});
    peer.call("append_message", message).as_i64().unwrap()
}

pub(crate) fn end(peer: &mut Peer, session: &str, reason: &str) {
    peer.call("end_session", json!({"session_id": session, "end_reason": reason}));
}

/// Makes the sessions that every release can make, and returns the messages of `all`.
pub(crate) fn populate(peer: &mut Peer) -> Vec<MessageBody> {
    let bodies: Vec<MessageBody> =
        [samples::plain(), samples::scripts(), samples::tools(), samples::parts()].into_iter().flatten().collect();
    let session =
        json!({"session_id": "all", "source": "telegram", "model": "m-1", "user_id": "u", "system_prompt": "be good"});
    peer.call("create_session", session);
    peer.call("set_session_title", json!({"session_id": "all", "title": "everything"}));
    for body in &bodies {
        peer.call("append_message", arguments("all", body));
    }
    let usage =
        json!({"session_id": "all", "input_tokens": 100, "output_tokens": 20, "model": "m-1", "api_call_count": 1});
    peer.call("update_token_counts", usage);
    create(peer, "long", None);
    peer.call("set_session_title", json!({"session_id": "long", "title": "chain"}));
    say(peer, "long", "the start of a long talk");
    create(peer, "helper", Some("long"));
    say(peer, "helper", "on it");
    end(peer, "long", "compression");
    create(peer, "long-2", Some("long"));
    peer.call("set_session_title", json!({"session_id": "long-2", "title": "chain #2"}));
    say(peer, "long-2", "carrying on");
    create(peer, "origin", None);
    say(peer, "origin", "where it forks");
    end(peer, "origin", "branched");
    create(peer, "fork", Some("origin"));
    say(peer, "fork", "another way");
    bodies
}

/// Checks, through our store, what [`populate`] left.
pub(crate) async fn read(store: &SqliteStore, bodies: &[MessageBody]) {
    let messages = all_messages(store, "all").await;
    let ours: Vec<Value> = messages.iter().map(|message| fields(&message.body)).collect();
    assert_eq!(ours, bodies.iter().map(fields).collect::<Vec<_>>());
    let all = session(store, "all").await;
    assert_eq!((all.message_count, all.tool_call_count), (bodies.len() as i64, 2));
    assert_eq!((all.usage.input_tokens, all.usage.output_tokens, all.usage.api_call_count), (100, 20, 1));
    assert_eq!((all.title.as_deref(), all.user_id.as_deref()), (Some("everything"), Some("u")));
    assert_eq!((all.system_prompt.as_deref(), all.source.as_str()), (Some("be good"), "telegram"));
    for (name, expect) in [
        ("all", Relation::Root),
        ("long", Relation::Root),
        ("helper", Relation::Delegate),
        ("long-2", Relation::Continuation),
        ("origin", Relation::Root),
        ("fork", Relation::Branch),
    ] {
        assert_eq!(session(store, name).await.relation, expect, "{name}");
    }
    let rows = our_list(store).await;
    let previews: Vec<(&str, &str)> = rows.iter().map(|row| (row.id.as_str(), row.preview.as_str())).collect();
    for expect in [
        ("all", "Hello there general"),
        ("long-2", "the start of a long talk"),
        ("origin", "where it forks"),
        ("fork", "another way"),
    ] {
        assert!(previews.contains(&expect), "{expect:?} is not in {previews:?}");
    }
    assert!(!previews.iter().any(|(name, _)| ["helper", "long"].contains(name)), "{previews:?}");
}

/// Writes to the sessions of [`populate`].
pub(crate) async fn write(store: &SqliteStore) {
    let parts = samples::parts().into_iter().chain(samples::tools()).map(Into::into).collect::<Vec<_>>();
    store.append(&id("all"), &parts, &now()).await.unwrap();
    let usage = UsageUpdate { input_tokens: Some(30), api_call_count: Some(1), ..UsageUpdate::default() };
    store.record_usage(&id("all"), &usage, &now()).await.unwrap();
    let carried = store.split(&id("long-2"), &NewChild::new(id("long-3")), &[user("carried by us")], &now()).await;
    assert_eq!(carried.unwrap(), Some(title("chain #3")));
    store.branch(&id("fork"), &NewChild::new(id("twig")), &now()).await.unwrap();
    store.append(&id("twig"), &[user("our twig zebrafish")], &now()).await.unwrap();
    store.set_title(&id("origin"), Some(&title("named by us")), &now()).await.unwrap();
    assert!(store.end(&id("twig"), &EndReason::parse("cli_close").unwrap(), &now()).await.unwrap());
}

const SESSIONS: [&str; 8] = ["all", "long", "helper", "long-2", "origin", "fork", "long-3", "twig"];

/// Checks what [`write`] did, through both stores.
pub(crate) async fn read_again(store: &SqliteStore, peer: &mut Peer) {
    while store.upkeep().await.unwrap() {}
    same_transcripts(store, peer, &SESSIONS).await;
    same_list(store, peer).await;
    same_tip(store, peer, "long", "long-3").await;
    let twig = all_messages(store, "twig").await;
    assert_eq!(their_hits(peer, "zebrafish"), [twig[1].id.0]);
    assert_eq!(peer.call("resolve_session_by_title", json!({"title": "chain"})), "long-3");
    let all = peer.call("get_session", json!({"session_id": "all"}));
    let samples = samples::parts().len() + samples::tools().len();
    assert_eq!(all["message_count"], json!(all_messages(store, "all").await.len()));
    assert_eq!(all["message_count"], json!(18 + samples));
    assert_eq!((&all["tool_call_count"], &all["input_tokens"]), (&json!(4), &json!(130)));
    assert_eq!(session(store, "twig").await.relation, Relation::Branch);
}

async fn each_side_reads_what_the_other_wrote(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    let bodies = populate(&mut peer);
    let before = file.foreign_schema();
    let store = file.open();
    read(&store, &bodies).await;
    same_transcripts(&store, &mut peer, &SESSIONS[..6]).await;
    same_list(&store, &mut peer).await;
    write(&store).await;
    read_again(&store, &mut peer).await;
    // A restarted agent checks every column and index again.
    peer.close();
    let mut peer = release.open(&file);
    read_again(&store, &mut peer).await;
    say(&mut peer, "twig", "and once more");
    assert_eq!(texts(&store, "twig").await, ["another way", "our twig zebrafish", "and once more"]);
    // In a file that we may adopt, its insert triggers are replaced by ones that skip our backlog.
    let theirs = |schema: Vec<String>| -> Vec<String> {
        let is_ours = |line: &&String| line.contains("_insert messages ") && !release.is_host();
        schema.iter().filter(|line| !is_ours(line)).cloned().collect()
    };
    assert_eq!(theirs(file.foreign_schema()), theirs(before.clone()), "something of theirs was altered");
    assert_eq!(peer.query("PRAGMA integrity_check"), json!([["ok"]]));
    peer.close();
    drop(store);
    file.check();
    file.check_counters();
    report(&format!("{}: its file read and written by us, {} schema rows unchanged", release.version, before.len()));
}
scenario!(each_side_reads_what_the_other_wrote);

/// Sessions and messages that newer releases set aside stay so: archived sessions, rewound messages, compacted
/// messages.
async fn what_they_put_aside_stays_aside(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    for name in ["kept", "tucked", "rewound", "squeezed"] {
        create(&mut peer, name, None);
        say(&mut peer, name, &format!("{name} one"));
    }
    let taken_back = say(&mut peer, "rewound", "a slip of the tongue");
    peer.call("rewind_to_message", json!({"session_id": "rewound", "target_message_id": taken_back}));
    say(&mut peer, "rewound", "said instead");
    let summary = json!([{"role": "user", "content": "what was said, in short"}]);
    peer.call("archive_and_compact", json!({"session_id": "squeezed", "compacted_messages": summary}));
    peer.call("set_session_archived", json!({"session_id": "tucked", "archived": true}));
    let before = file.foreign_schema();

    let store = file.open();
    assert_eq!(texts(&store, "rewound").await, ["rewound one", "said instead"]);
    assert_eq!(texts(&store, "squeezed").await, ["what was said, in short"]);
    let as_said = async |name: &str| -> Vec<String> {
        let messages = store.messages(&id(name), &MessageRequest::first(9).as_said()).await.unwrap();
        messages.iter().map(|message| message.body.plain_text().into_owned()).collect()
    };
    assert_eq!(as_said("rewound").await, ["rewound one", "said instead"]);
    assert_eq!(as_said("squeezed").await, ["squeezed one", "what was said, in short"]);
    same_list(&store, &mut peer).await;
    let ids = |rows: Vec<hermes_session::SessionSummary>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
    assert_eq!(ids(our_list(&store).await), [id("squeezed"), id("rewound"), id("kept")]);
    assert_eq!(session(&store, "squeezed").await.message_count, 1);

    // Archived and unarchived while we have the file open.
    peer.call("set_session_archived", json!({"session_id": "tucked", "archived": false}));
    peer.call("set_session_archived", json!({"session_id": "kept", "archived": true}));
    same_list(&store, &mut peer).await;
    assert_eq!(ids(our_list(&store).await), [id("squeezed"), id("rewound"), id("tucked")]);
    for name in ["kept", "tucked", "rewound", "squeezed"] {
        let counted = session(&store, name).await.message_count;
        store.append(&id(name), &[user("from us")], &now()).await.unwrap();
        assert_eq!(session(&store, name).await.message_count, counted + 1, "{name}");
    }
    same_transcripts(&store, &mut peer, &["kept", "tucked", "rewound", "squeezed"]).await;
    same_list(&store, &mut peer).await;
    // A branch is a copy of the visible messages, and the others stay where they were.
    store.branch(&id("squeezed"), &NewChild::new(id("copied")), &now()).await.unwrap();
    assert_eq!(texts(&store, "copied").await, ["what was said, in short", "from us"]);
    same_transcripts(&store, &mut peer, &["copied"]).await;
    assert_eq!(file.number("SELECT count(*) FROM messages WHERE active = 0 AND compacted = 1"), 1);
    assert_eq!(file.number("SELECT count(*) FROM messages WHERE active = 0 AND compacted = 0"), 1);
    assert_eq!(their_hits(&mut peer, "slip"), [0_i64; 0], "what was taken back is not found");
    assert_eq!(file.foreign_schema(), before);
    peer.close();
    drop(store);
    file.check();
}
scenario!(what_they_put_aside_stays_aside: release_0_19_0 "0.19.0");

/// Messages that the agent keeps when it compacts a session in place are stored again, but count once.
async fn what_a_compaction_keeps_counts_once(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    create(&mut peer, "s", None);
    let call = json!([{"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]);
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    let summary = |text: &str| said("user", &format!("[CONTEXT COMPACTION — REFERENCE ONLY] {text}"));
    let head = [said("user", "one"), json!({"role": "assistant", "content": "", "tool_calls": call})];
    let result = json!({"role": "tool", "content": "a b", "tool_call_id": "1", "tool_name": "ls"});
    let append = |peer: &mut Peer, messages: &[Value]| {
        for message in messages {
            let mut message = message.clone();
            message["session_id"] = "s".into();
            peer.call("append_message", message);
        }
    };
    let compact = |peer: &mut Peer, messages: &[Value]| {
        peer.call("archive_and_compact", json!({"session_id": "s", "compacted_messages": messages}));
    };
    append(&mut peer, &head);
    append(&mut peer, &[result.clone(), said("assistant", "two"), said("user", "yes")]);
    let kept = [head[0].clone(), head[1].clone(), result];
    compact(&mut peer, &[&kept[..], &[summary("a"), said("user", "yes")]].concat());
    append(&mut peer, &[said("assistant", "three"), said("user", "yes")]);
    compact(&mut peer, &[&kept[..], &[summary("b"), said("assistant", "three"), said("user", "yes")]].concat());
    append(&mut peer, &[said("assistant", "three")]);
    let store = file.open();
    let told = store.insights(&InsightsRequest::since(Timestamp::EPOCH)).await.unwrap();
    assert_eq!(told.total.messages, MessageCounts { user: 5, assistant: 4, tool: 1, other: 0 });
    assert_eq!((told.total.tool_calls, told.tools["ls"]), (1, ToolUse { calls: 1, results: 1 }));
    peer.close();
    drop(store);
    file.check();
}
scenario!(what_a_compaction_keeps_counts_once: release_0_18_2 "0.18.2", release_0_19_0 "0.19.0");

/// Our usage is also in the table of usage by model, so that the agent's insights add up.
async fn usage_by_model_adds_up(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    create(&mut peer, "a", None);
    let theirs =
        json!({"session_id": "a", "input_tokens": 100, "output_tokens": 20, "model": "m-1", "api_call_count": 1});
    peer.call("update_token_counts", theirs);
    let store = file.open();
    for model in [None, Some("m-1"), Some("m-2")] {
        let update = UsageUpdate {
            input_tokens: Some(10),
            output_tokens: Some(1),
            api_call_count: Some(1),
            model: model.map(str::to_owned),
            ..UsageUpdate::default()
        };
        store.record_usage(&id("a"), &update, &now()).await.unwrap();
    }
    assert_eq!(
        peer.query("SELECT model, input_tokens, output_tokens, api_call_count FROM session_model_usage ORDER BY model"),
        json!([["m-1", 120, 22, 3], ["m-2", 10, 1, 1]])
    );
    let session = session(&store, "a").await;
    assert_eq!((session.usage.input_tokens, session.model.as_deref()), (130, Some("m-1")));
    peer.close();
    drop(store);
    file.check();
}
scenario!(usage_by_model_adds_up: release_0_19_0 "0.19.0");
