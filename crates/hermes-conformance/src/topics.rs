//! Topics of chats, and the sessions they are bound to.

use crate::fixture::{at, id, made, new_session, request};
use crate::{CaseResult, Setup};
use hermes_session::{DeleteExtent, NewChild, Relation, Timestamp, TopicBinding, TopicMode, Topics, TopicsImported};

fn mode(chat: &str) -> TopicMode {
    TopicMode {
        chat_id: chat.into(),
        user_id: "u".into(),
        enabled: true,
        activated_at: at(0),
        updated_at: at(1.5),
        has_topics_enabled: Some(true),
        allows_users_to_create_topics: Some(false),
        capability_checked_at: Some(at(2)),
        intro_message_id: None,
        pinned_message_id: None,
    }
}

fn binding(chat: &str, thread: &str, session: &str) -> TopicBinding {
    TopicBinding {
        chat_id: chat.into(),
        thread_id: thread.into(),
        user_id: "u".into(),
        session_key: format!("agent:main:telegram:dm:{chat}:{thread}"),
        session_id: id(session),
        managed_mode: "auto".into(),
        linked_at: at(1),
        updated_at: at(3),
    }
}

fn rows(modes: Vec<TopicMode>, bindings: Vec<TopicBinding>) -> Topics {
    Topics { modes, bindings, unreadable: Vec::new() }
}

/// Every column comes back, in order; repeating the import changes nothing.
pub async fn come_and_come_back(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    assert_eq!(store.topics().await?, Topics::default());
    assert_eq!(store.import_topics(&Topics::default()).await?, TopicsImported::default());
    assert_eq!(store.topics().await?, Topics::default());
    for name in ["a", "b", "c", "d"] {
        made(&*store, name, 0).await;
    }
    let unasked = TopicMode {
        enabled: false,
        has_topics_enabled: None,
        allows_users_to_create_topics: None,
        capability_checked_at: None,
        intro_message_id: Some(String::new()),
        pinned_message_id: Some("大 7".into()),
        activated_at: Timestamp::from_seconds(-0.1).unwrap(),
        ..mode("-100")
    };
    let manual = TopicBinding { managed_mode: "manual".into(), ..binding("é", "1", "d") };
    let given = rows(
        vec![mode("é"), mode("7"), unasked.clone()],
        vec![manual.clone(), binding("7", "9", "c"), binding("7", "10", "b"), binding("7", "", "a")],
    );
    let ordered = rows(
        vec![unasked, mode("7"), mode("é")],
        vec![binding("7", "", "a"), binding("7", "10", "b"), binding("7", "9", "c"), manual],
    );
    assert_eq!(store.import_topics(&given).await?, TopicsImported { taken: 7, ..TopicsImported::default() });
    assert_eq!(other.topics().await?, ordered);
    assert_eq!(other.import_topics(&ordered).await?, TopicsImported { same: 7, ..TopicsImported::default() });
    assert_eq!(store.topics().await?, ordered);
    assert!(store.verify().await?.is_sound());
    assert_eq!(store.foreign().await?, []);
    Ok(())
}

/// A conflicting row stays and is reported, and the rest is imported.
pub async fn topics_that_cannot_be_imported_are_reported(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for name in ["a", "b", "c"] {
        made(&*store, name, 0).await;
    }
    store.import_topics(&rows(vec![mode("1")], vec![binding("1", "1", "a")])).await?;
    let given = rows(
        vec![TopicMode { enabled: false, ..mode("1") }, mode("2"), mode("N\0L")],
        vec![
            binding("1", "1", "b"),
            binding("1", "2", "a"),
            binding("1", "3", "nobody"),
            TopicBinding { managed_mode: "\0".into(), ..binding("1", "4", "c") },
            binding("2", "1", "c"),
            binding("2", "2", "c"),
        ],
    );
    let told = store.import_topics(&given).await?;
    assert_eq!((told.taken, told.same), (2, 0));
    let left: Vec<(&str, Option<&str>, &str)> =
        told.left.iter().map(|left| (left.chat_id.as_str(), left.thread_id.as_deref(), left.why.as_str())).collect();
    let expected = [
        ("1", None, "the chat already exists with other settings"),
        ("N\0L", None, "its chat_id holds a NUL character"),
        ("1", Some("1"), "the topic is already linked to session a, or has other settings"),
        ("1", Some("2"), "its session a is already linked to thread 1 of chat 1"),
        ("1", Some("3"), "its session nobody does not exist"),
        ("1", Some("4"), "its managed_mode holds a NUL character"),
        ("2", Some("2"), "its session c is already linked to thread 1 of chat 2"),
    ];
    assert_eq!(left, expected);
    assert_eq!(
        store.topics().await?,
        rows(vec![mode("1"), mode("2")], vec![binding("1", "1", "a"), binding("2", "1", "c")])
    );
    let again = store.import_topics(&given).await?;
    assert_eq!((again.taken, again.same, again.left), (0, 2, told.left));
    Ok(())
}

/// Deleting a conversation deletes the bindings of all its sessions at once; the chat stays.
pub async fn go_with_their_sessions(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "root", 0).await;
    store.create(&new_session("helper").child_of(id("root"), Relation::Delegate), &request(1)).await?;
    store.split(&id("root"), &NewChild::new(id("tip")), &[], &request(2)).await?;
    made(&*store, "other", 0).await;
    let bindings =
        [("1", "root"), ("2", "helper"), ("3", "tip"), ("4", "other")].map(|(thread, to)| binding("c", thread, to));
    store.import_topics(&rows(vec![mode("c")], bindings.to_vec())).await?;
    store.delete(&id("helper"), DeleteExtent::Chain, &request(3)).await?;
    let left = [&bindings[0], &bindings[2], &bindings[3]].map(Clone::clone);
    assert_eq!(store.topics().await?, rows(vec![mode("c")], left.to_vec()), "a delegate takes its own");
    store.delete(&id("tip"), DeleteExtent::Conversation, &request(3)).await?;
    assert_eq!(store.topics().await?, rows(vec![mode("c")], vec![binding("c", "4", "other")]));
    // The topic is free, and so is the id.
    made(&*store, "tip", 9).await;
    let told = store.import_topics(&rows(vec![], vec![binding("c", "1", "tip"), binding("c", "2", "root")])).await?;
    assert_eq!((told.taken, told.left.len()), (1, 1));
    assert_eq!(store.topics().await?.bindings, [binding("c", "1", "tip"), binding("c", "4", "other")]);
    Ok(())
}
