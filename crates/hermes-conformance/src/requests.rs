//! Idempotency keys: a repeated change is made once.

use crate::fixture::{
    assert_not_found, conflict, id, key, keyed, made, new_session, request, stored, texts, title, transcript, user,
};
use crate::{CaseResult, Setup};
use hermes_session::{
    Conflict, DeleteExtent, Deleted, EndReason, Ensured, ListRequest, Maintenance, MessageBody, MessageId, NewChild,
    NewMessage, NewSession, Relation, Request, Role, SessionFilter, SessionId, SessionPatch, StoreError, Title,
    UsageMode, UsageUpdate, View,
};

fn reused(name: &str) -> Conflict {
    Conflict::KeyReused(key(name))
}

/// Returns everything that a store shows of a few sessions, to check that nothing changed.
pub(crate) async fn whole(store: &dyn Maintenance) -> Result<String, StoreError> {
    let rows = store.list(&ListRequest { view: View::Sessions, ..ListRequest::default() }).await?.rows;
    let mut shown = format!("{rows:?} {:?}", store.counts(&SessionFilter::default()).await?);
    for row in rows {
        shown += &format!("{:?} {:?}", stored(store, &row.id).await, transcript(store, &row.id).await);
    }
    Ok(shown)
}

/// Repeating a creation with its key is not a conflict.
pub async fn create_repeats(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let new = NewSession { model: Some("m".into()), ..new_session("s") };
    store.create(&new, &keyed(0, "k")).await?;
    let before = whole(&*store).await?;
    store.create(&new, &keyed(99, "k")).await?;
    assert_eq!(whole(&*store).await?, before);
    for other in [
        NewSession { model: None, ..new.clone() },
        NewSession { id: id("t"), ..new.clone() },
        NewSession { started_at: Some(crate::fixture::at(0)), ..new.clone() },
        NewSession { system_prompt: Some(String::new()), ..new.clone() },
    ] {
        assert_eq!(conflict(store.create(&other, &keyed(0, "k")).await), reused("k"));
    }
    // The same content through another method is another change.
    assert_eq!(conflict(store.ensure(&new, &keyed(0, "k")).await), reused("k"));
    assert_eq!(conflict(store.create(&new, &keyed(0, "other key")).await), Conflict::Exists(id("s")));
    assert_eq!(whole(&*store).await?, before);
    Ok(())
}

/// A repeated `ensure` returns the first answer, not the current state.
pub async fn ensure_repeats(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let new = new_session("s");
    assert_eq!(store.ensure(&new, &keyed(0, "k")).await?, Ensured::Created);
    assert_eq!(store.ensure(&new, &keyed(1, "k")).await?, Ensured::Created);
    assert_eq!(store.ensure(&new, &keyed(2, "l")).await?, Ensured::Existed);
    let other = NewSession { model: Some("x".into()), ..new };
    assert_eq!(conflict(store.ensure(&other, &keyed(3, "k")).await), reused("k"));
    Ok(())
}

/// A repeated patch does not undo later changes.
pub async fn update_repeats(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let patch = |model: &str| SessionPatch { model: Some(Some(model.into())), ..SessionPatch::default() };
    store.update(&session, &patch("one"), &keyed(1, "k")).await?;
    store.update(&session, &patch("two"), &request(2)).await?;
    store.update(&session, &patch("one"), &keyed(3, "k")).await?;
    assert_eq!(stored(&*store, &session).await.model.as_deref(), Some("two"));
    assert_eq!(conflict(store.update(&session, &patch("two"), &keyed(4, "k")).await), reused("k"));
    // Leaving a field unchanged differs from clearing it.
    store.update(&session, &SessionPatch::default(), &keyed(5, "l")).await?;
    let emptied = SessionPatch { model: Some(None), ..SessionPatch::default() };
    assert_eq!(conflict(store.update(&session, &emptied, &keyed(6, "l")).await), reused("l"));
    assert_eq!(stored(&*store, &session).await.model.as_deref(), Some("two"));
    Ok(())
}

/// Repeated ends and reopenings return the same answer, and have no effect.
pub async fn end_and_reopen_repeat(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let reason = EndReason::parse("cli_close")?;
    assert!(store.end(&session, &reason, &keyed(1, "end")).await?);
    assert!(store.end(&session, &reason, &keyed(2, "end")).await?);
    assert_eq!(stored(&*store, &session).await.ended_at, Some(crate::fixture::at(1)));
    assert!(store.reopen(&session, &keyed(3, "open")).await?);
    assert!(store.end(&session, &reason, &keyed(4, "end")).await?);
    assert_eq!(stored(&*store, &session).await.ended_at, None, "the repeat ended it again");
    store.end(&session, &EndReason::compression(), &request(5)).await?;
    assert!(store.reopen(&session, &keyed(6, "open")).await?);
    assert_eq!(stored(&*store, &session).await.end_reason, Some(EndReason::compression()));
    assert_eq!(conflict(store.end(&session, &EndReason::branched(), &keyed(7, "end")).await), reused("end"));
    assert_eq!(conflict(store.end(&session, &reason, &keyed(7, "open")).await), reused("open"));
    assert!(!store.end(&session, &reason, &keyed(8, "late")).await?);
    store.reopen(&session, &request(9)).await?;
    assert!(!store.end(&session, &reason, &keyed(10, "late")).await?, "the answer was no");
    Ok(())
}

/// Repeated requests set and allocate a title only once.
pub async fn titles_repeat(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (session, other) = (made(&*store, "s", 0).await, made(&*store, "t", 0).await);
    store.set_title(&session, Some(&title("one")), &keyed(1, "set")).await?;
    store.set_title(&session, None, &request(2)).await?;
    store.set_title(&other, Some(&title("one")), &request(3)).await?;
    store.set_title(&session, Some(&title("one")), &keyed(4, "set")).await?;
    assert_eq!(stored(&*store, &session).await.title, None);
    assert_eq!(conflict(store.set_title(&session, None, &keyed(5, "set")).await), reused("set"));

    assert_eq!(store.allocate_title(&session, &title("one"), &keyed(6, "next")).await?, title("one #2"));
    store.set_title(&session, Some(&title("mine")), &request(7)).await?;
    assert_eq!(store.allocate_title(&session, &title("one"), &keyed(8, "next")).await?, title("one #2"));
    assert_eq!(stored(&*store, &session).await.title.as_deref(), Some("mine"));
    assert_eq!(conflict(store.allocate_title(&other, &title("one"), &keyed(9, "next")).await), reused("next"));
    assert_eq!(conflict(store.allocate_title(&session, &title("two"), &keyed(9, "next")).await), reused("next"));
    Ok(())
}

/// A repeated split returns the title it assigned.
pub async fn split_repeats(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    store.set_title(&session, Some(&title("work")), &request(0)).await?;
    let (child, summary) = (NewChild::new(id("c")), [user("summary")]);
    assert_eq!(store.split(&session, &child, &summary, &keyed(1, "k")).await?, Some(title("work #2")));
    let before = whole(&*store).await?;
    assert_eq!(store.split(&session, &child, &summary, &keyed(2, "k")).await?, Some(title("work #2")));
    assert_eq!(whole(&*store).await?, before);
    let longer = [user("summary"), user("more")];
    let (other, asked) = (NewChild::new(id("d")), NewChild { title: Some(title("work #2")), ..child.clone() });
    assert_eq!(conflict(store.split(&session, &child, &longer, &keyed(3, "k")).await), reused("k"));
    assert_eq!(conflict(store.split(&session, &other, &summary, &keyed(3, "k")).await), reused("k"));
    assert_eq!(conflict(store.split(&session, &asked, &summary, &keyed(3, "k")).await), reused("k"));
    assert_eq!(conflict(store.branch(&session, &child, &keyed(3, "k")).await), reused("k"));
    assert_eq!(whole(&*store).await?, before);
    Ok(())
}

/// A repeated branch copies nothing again.
pub async fn branch_repeats(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    store.append(&session, &[user("one")], &request(0)).await?;
    let child = NewChild::new(id("b"));
    assert_eq!(store.branch(&session, &child, &keyed(1, "k")).await?, None);
    store.append(&session, &[user("two")], &request(2)).await?;
    store.set_title(&id("b"), Some(&title("later")), &request(2)).await?;
    let before = whole(&*store).await?;
    assert_eq!(store.branch(&session, &child, &keyed(3, "k")).await?, None);
    assert_eq!(whole(&*store).await?, before);
    let other = NewChild { model: Some("m".into()), ..child };
    assert_eq!(conflict(store.branch(&session, &other, &keyed(4, "k")).await), reused("k"));
    Ok(())
}

/// A repeated batch returns the ids it got.
pub async fn append_repeats(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (session, other) = (made(&*store, "s", 0).await, made(&*store, "t", 0).await);
    let batch = [user("one"), user("two").said_at(crate::fixture::at(-1))];
    let given = store.append(&session, &batch, &keyed(1, "k")).await?;
    store.append(&session, &[user("three")], &request(2)).await?;
    let before = whole(&*store).await?;
    assert_eq!(store.append(&session, &batch, &keyed(3, "k")).await?, given);
    assert_eq!(conflict(store.append(&other, &batch, &keyed(3, "k")).await), reused("k"));
    assert_eq!(conflict(store.append(&session, &batch[..1], &keyed(3, "k")).await), reused("k"));
    assert_eq!(conflict(store.append(&session, &[], &keyed(3, "k")).await), reused("k"));
    assert_eq!(conflict(store.replace(&session, &batch, &keyed(3, "k")).await), reused("k"));
    let timed = [batch[0].clone().said_at(crate::fixture::at(1)), batch[1].clone()];
    assert_eq!(conflict(store.append(&session, &timed, &keyed(1, "k")).await), reused("k"), "a time is content");
    let tool = NewMessage::from(MessageBody { tool_name: Some(String::new()), ..batch[0].body.clone() });
    assert_eq!(conflict(store.append(&session, &[tool, batch[1].clone()], &keyed(3, "k")).await), reused("k"));
    // Invalid arguments are reported before the key is looked up.
    let broken = NewMessage::from(MessageBody::empty(Role::Other(String::new())));
    crate::fixture::assert_invalid(store.append(&session, &[broken], &keyed(3, "k")).await, "role");
    assert_eq!(whole(&*store).await?, before);
    assert_eq!(store.append(&session, &[], &keyed(4, "none")).await?, []);
    assert_eq!(store.append(&session, &[], &keyed(5, "none")).await?, []);
    Ok(())
}

/// Two spellings of the same message are one message for the key.
pub async fn the_stored_form_is_what_counts(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let json = |text: &str| hermes_session::Content::Json(crate::fixture::json(text));
    let empty = MessageBody { tool_calls: Some(crate::fixture::json("[]")), ..user("大").body };
    let given = store.append(&session, &[user("大")], &keyed(1, "k")).await?;
    assert_eq!(store.append(&session, &[empty.into()], &keyed(1, "k")).await?, given);
    let spelled = NewMessage::new(Role::User, json(r#""\u5927""#));
    assert_eq!(store.append(&session, &[spelled], &keyed(1, "k")).await?, given);
    assert_eq!(texts(&*store, &session).await, ["大"]);
    Ok(())
}

/// A repeated replacement does not replace later messages.
pub async fn replace_repeats(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let given = store.replace(&session, &[user("one")], &keyed(1, "k")).await?;
    store.append(&session, &[user("two")], &request(2)).await?;
    assert_eq!(store.replace(&session, &[user("one")], &keyed(3, "k")).await?, given);
    assert_eq!(texts(&*store, &session).await, ["one", "two"]);
    assert_eq!(conflict(store.replace(&session, &[], &keyed(4, "k")).await), reused("k"));
    assert_eq!(store.replace(&session, &[], &keyed(5, "clear")).await?, []);
    store.append(&session, &[user("three")], &request(6)).await?;
    assert_eq!(store.replace(&session, &[], &keyed(7, "clear")).await?, []);
    assert_eq!(texts(&*store, &session).await, ["three"], "the repeat cleared it again");
    Ok(())
}

/// Repeated usage is not counted again.
pub async fn record_usage_repeats(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let update = UsageUpdate { input_tokens: Some(5), estimated_cost_usd: Some(0.5), ..UsageUpdate::default() };
    for _ in 0..3 {
        store.record_usage(&session, &update, &keyed(1, "k")).await?;
    }
    let usage = stored(&*store, &session).await.usage;
    assert_eq!((usage.input_tokens, usage.estimated_cost_usd), (5, Some(0.5)));
    for other in [
        UsageUpdate { mode: UsageMode::Set, ..update.clone() },
        UsageUpdate { output_tokens: Some(0), ..update.clone() },
        UsageUpdate { estimated_cost_usd: None, actual_cost_usd: Some(0.5), ..update.clone() },
        UsageUpdate { model: Some(String::new()), ..update.clone() },
    ] {
        assert_eq!(conflict(store.record_usage(&session, &other, &keyed(2, "k")).await), reused("k"));
    }
    assert_eq!(stored(&*store, &session).await.usage, usage);
    Ok(())
}

/// A repeated deletion returns what it deleted, and does not delete anything created since.
pub async fn delete_repeats(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (session, other) = (made(&*store, "s", 0).await, made(&*store, "t", 0).await);
    store.append(&session, &[user("x"), user("y")], &request(1)).await?;
    store.append(&other, &[user("x")], &keyed(1, "used")).await?;
    assert_eq!(conflict(store.delete(&session, DeleteExtent::Conversation, &keyed(2, "used")).await), reused("used"));
    let deleted = store.delete(&session, DeleteExtent::Conversation, &keyed(3, "k")).await?;
    assert_eq!(deleted, Deleted { sessions: 1, messages: 2 });
    assert_eq!(store.delete(&session, DeleteExtent::Conversation, &keyed(4, "k")).await?, deleted);
    assert_eq!(conflict(store.delete(&other, DeleteExtent::Conversation, &keyed(5, "k")).await), reused("k"));
    assert_not_found(store.delete(&session, DeleteExtent::Conversation, &request(6)).await, &session);
    made(&*store, "s", 7).await;
    assert_eq!(store.delete(&session, DeleteExtent::Conversation, &keyed(8, "k")).await?, deleted);
    assert_eq!(stored(&*store, &session).await.started_at, crate::fixture::at(7));
    // Another deletion of the id ends the key, because its lifetime is over.
    store.delete(&session, DeleteExtent::Conversation, &request(9)).await?;
    assert_not_found(store.delete(&session, DeleteExtent::Conversation, &keyed(10, "k")).await, &session);
    Ok(())
}

/// The repeated deletion of one session returns what it deleted, and is not mistaken for another deletion.
pub async fn delete_of_a_session_repeats(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let root = made(&*store, "root", 0).await;
    store.append(&root, &[user("x")], &request(1)).await?;
    store.create(&new_session("helper").child_of(root.clone(), Relation::Delegate), &request(1)).await?;
    let deleted = store.delete(&root, DeleteExtent::Session, &keyed(3, "k")).await?;
    assert_eq!(deleted, Deleted { sessions: 1, messages: 1 });
    assert_eq!(store.delete(&root, DeleteExtent::Session, &keyed(4, "k")).await?, deleted);
    assert_eq!(conflict(store.delete(&root, DeleteExtent::Chain, &keyed(4, "k")).await), reused("k"));
    assert_eq!(conflict(store.delete(&id("helper"), DeleteExtent::Session, &keyed(4, "k")).await), reused("k"));
    assert_not_found(store.delete(&root, DeleteExtent::Session, &request(5)).await, &root);
    assert_eq!(stored(&*store, &id("helper")).await.parent_session_id, None);
    Ok(())
}

/// The repeated deletion of a chain returns what it deleted, even if a later session of the chain is named, and is not
/// mistaken for another deletion.
pub async fn delete_of_a_chain_repeats(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let root = made(&*store, "root", 0).await;
    let (helper, on) = (id("helper"), id("on"));
    store.create(&new_session("helper").child_of(root.clone(), Relation::Delegate), &request(1)).await?;
    store.append(&helper, &[user("x")], &keyed(1, "used")).await?;
    store.split(&helper, &NewChild::new(on.clone()), &[user("y")], &request(2)).await?;
    assert_eq!(conflict(store.delete(&on, DeleteExtent::Chain, &keyed(3, "used")).await), reused("used"));
    let deleted = store.delete(&on, DeleteExtent::Chain, &keyed(3, "k")).await?;
    assert_eq!(deleted, Deleted { sessions: 2, messages: 2 });
    assert_eq!(store.delete(&on, DeleteExtent::Chain, &keyed(4, "k")).await?, deleted);
    assert_eq!(conflict(store.delete(&on, DeleteExtent::Conversation, &keyed(4, "k")).await), reused("k"));
    assert_eq!(conflict(store.delete(&helper, DeleteExtent::Chain, &keyed(4, "k")).await), reused("k"));
    assert_not_found(store.delete(&on, DeleteExtent::Chain, &request(5)).await, &on);
    // The key of a message in it is free again.
    store.append(&root, &[user("z")], &keyed(6, "used")).await?;
    store.create(&new_session("on").child_of(root.clone(), Relation::Delegate), &request(7)).await?;
    assert_eq!(store.delete(&on, DeleteExtent::Chain, &keyed(8, "k")).await?, deleted);
    assert_eq!(stored(&*store, &on).await.started_at, crate::fixture::at(7), "it does not take what was made since");
    Ok(())
}

/// A key ends with its session, even when another session of that id is created.
pub async fn a_key_goes_with_its_session(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let make = async |at: i32| -> Result<(), StoreError> {
        let patch = SessionPatch { model: Some(Some("m".into())), ..SessionPatch::default() };
        let used = UsageUpdate { input_tokens: Some(5), ..UsageUpdate::default() };
        store.create(&new_session("s"), &keyed(at, "create")).await?;
        store.update(&id("s"), &patch, &keyed(at, "update")).await?;
        store.set_title(&id("s"), Some(&title("t")), &keyed(at, "title")).await?;
        store.record_usage(&id("s"), &used, &keyed(at, "usage")).await?;
        store.append(&id("s"), &[user("x")], &keyed(at, "append")).await?;
        store.split(&id("s"), &NewChild::new(id("c")), &[user("y")], &keyed(at, "split")).await?;
        assert_eq!(store.append(&id("c"), &[], &keyed(at, "nothing")).await?, []);
        store.branch(&id("c"), &NewChild::new(id("b")), &keyed(at, "branch")).await?;
        Ok(())
    };
    make(0).await?;
    store.delete(&id("b"), DeleteExtent::Conversation, &request(1)).await?;
    store.delete(&id("c"), DeleteExtent::Conversation, &request(1)).await?;
    assert_not_found(store.append(&id("s"), &[user("x")], &keyed(2, "append")).await, &id("s"));
    make(3).await?;
    let session = stored(&*store, &id("s")).await;
    let shown = (session.model.as_deref(), session.title.as_deref(), session.usage.input_tokens, session.message_count);
    assert_eq!(shown, (Some("m"), Some("t"), 5, 1));
    assert_eq!(session.started_at, crate::fixture::at(3));
    assert_eq!(texts(&*store, &id("b")).await, ["y"]);
    Ok(())
}

/// A key of messages ends with the first of them.
pub async fn a_key_goes_with_its_messages(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let first = store.append(&session, &[user("one"), user("two")], &keyed(1, "k")).await?;
    store.replace(&session, &[user("three")], &keyed(2, "r")).await?;
    let second = store.append(&session, &[user("one"), user("two")], &keyed(3, "k")).await?;
    assert!(second.iter().all(|id: &MessageId| !first.contains(id)), "{first:?} {second:?}");
    assert_eq!(texts(&*store, &session).await, ["three", "one", "two"]);
    store.replace(&session, &[user("four")], &request(4)).await?;
    store.append(&session, &[user("five")], &keyed(5, "r")).await?;
    assert_eq!(texts(&*store, &session).await, ["four", "five"]);
    Ok(())
}

/// A key whose messages are deleted is free for any other change.
pub async fn a_free_key_serves_any_change(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let free = async |name: &str| -> Result<Request, StoreError> {
        store.append(&session, &[user("one"), user("two")], &keyed(1, name)).await?;
        store.replace(&session, &[], &request(2)).await?;
        Ok(keyed(3, name))
    };
    assert!(store.end(&session, &EndReason::compression(), &free("end").await?).await?);
    assert!(store.reopen(&session, &free("reopen").await?).await?);
    let patch = SessionPatch { model: Some(Some("m".into())), ..SessionPatch::default() };
    store.update(&session, &patch, &free("update").await?).await?;
    store.set_title(&session, Some(&title("t")), &free("title").await?).await?;
    assert_eq!(store.allocate_title(&session, &title("u"), &free("next").await?).await?, title("u"));
    store.create(&new_session("new"), &free("create").await?).await?;
    assert_eq!(store.ensure(&new_session("new"), &free("ensure").await?).await?, Ensured::Existed);
    let used = UsageUpdate { input_tokens: Some(5), ..UsageUpdate::default() };
    store.record_usage(&session, &used, &free("usage").await?).await?;
    assert_eq!(store.branch(&session, &NewChild::new(id("b")), &free("branch").await?).await?, Some(title("u #2")));
    assert_eq!(store.split(&session, &NewChild::new(id("c")), &[], &free("split").await?).await?, Some(title("u #3")));
    let shown = stored(&*store, &session).await;
    assert_eq!((shown.model.as_deref(), shown.title.as_deref(), shown.usage.input_tokens), (Some("m"), Some("u"), 5));
    store.delete(&id("new"), DeleteExtent::Conversation, &free("delete").await?).await?;
    assert_eq!(store.session(&id("new")).await?, None);
    Ok(())
}

/// A key in use is refused for a change of any other kind, whatever the answers of the two would be.
pub async fn a_used_key_serves_no_other_change(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    made(&*store, "gone", 0).await;
    let reason = EndReason::parse("x")?;
    let child = NewChild::new(id("c"));
    store.delete(&id("gone"), DeleteExtent::Conversation, &keyed(1, "delete")).await?;
    store.end(&session, &reason, &keyed(1, "end")).await?;
    store.set_title(&session, None, &keyed(1, "title")).await?;
    store.allocate_title(&session, &title("7"), &keyed(1, "next")).await?;
    store.branch(&session, &NewChild::new(id("b")), &keyed(1, "branch")).await?;
    store.append(&session, &[], &keyed(1, "append")).await?;
    let before = whole(&*store).await?;
    for name in ["delete", "end", "title", "next", "branch", "append"] {
        let again = keyed(2, name);
        assert_eq!(conflict(store.append(&session, &[user("x")], &again).await), reused(name));
        assert_eq!(conflict(store.replace(&session, &[], &again).await), reused(name));
        assert_eq!(conflict(store.reopen(&session, &again).await), reused(name));
        assert_eq!(conflict(store.ensure(&new_session("n"), &again).await), reused(name));
        assert_eq!(conflict(store.create(&new_session("n"), &again).await), reused(name));
        assert_eq!(conflict(store.split(&session, &child, &[], &again).await), reused(name));
        assert_eq!(conflict(store.allocate_title(&session, &title("8"), &again).await), reused(name));
        assert_eq!(conflict(store.delete(&session, DeleteExtent::Conversation, &again).await), reused(name));
        assert_eq!(conflict(store.delete(&session, DeleteExtent::Chain, &again).await), reused(name));
    }
    assert_eq!(whole(&*store).await?, before);
    Ok(())
}

/// A change that was refused leaves its key free.
pub async fn a_refusal_uses_no_key(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (session, other) = (made(&*store, "s", 0).await, made(&*store, "t", 0).await);
    store.set_title(&other, Some(&title("taken")), &request(1)).await?;
    assert!(matches!(
        conflict(store.set_title(&session, Some(&title("taken")), &keyed(2, "k")).await),
        Conflict::TitleTaken { .. }
    ));
    let orphan = new_session("o").child_of(id("ghost"), Relation::Branch);
    assert_not_found(store.create(&orphan, &keyed(2, "k")).await, &id("ghost"));
    store.set_title(&session, Some(&title("free")), &keyed(3, "k")).await?;
    assert_eq!(stored(&*store, &session).await.title.as_deref(), Some("free"));
    Ok(())
}

/// Keys match exactly, and are known to every handle.
pub async fn keys_are_exact_and_shared(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let session = made(&*store, "s", 0).await;
    let longest = "k".repeat(255);
    let keys = ["k", "K", "k ", " k", "é", "e\u{301}", "%", "大", &longest];
    for text in keys {
        store.append(&session, &[user(text)], &Request::at(crate::fixture::at(1)).keyed(key(text))).await?;
    }
    for text in keys {
        other.append(&session, &[user(text)], &keyed(2, text)).await?;
    }
    assert_eq!(texts(&*store, &session).await, keys);
    Ok(())
}

/// The same request from many concurrent callers is applied once, and all get the same answer.
pub async fn many_repeats_at_once(setup: Setup) -> CaseResult {
    let handles = [setup.store().await, setup.store().await];
    let session = made(&*handles[0], "s", 0).await;
    for round in 0..5 {
        let name = format!("round {round}");
        let mut appends = tokio::task::JoinSet::new();
        for n in 0..6 {
            let (store, session, name) = (handles[n % 2].clone(), session.clone(), name.clone());
            appends
                .spawn(async move { store.append(&session, &[user(&name), user("b")], &keyed(n as f64, &name)).await });
        }
        let mut answers = appends.join_all().await.into_iter().collect::<Result<Vec<_>, _>>()?;
        answers.dedup();
        assert_eq!(answers.len(), 1, "{answers:?}");
    }
    assert_eq!(stored(&*handles[1], &session).await.message_count, 10);
    assert_eq!(texts(&*handles[0], &session).await.len(), 10);
    let mut titles = tokio::task::JoinSet::new();
    for n in 0..6 {
        let (store, session): (_, SessionId) = (handles[n % 2].clone(), session.clone());
        titles.spawn(async move { store.allocate_title(&session, &title("t"), &keyed(1, "title")).await });
    }
    let answers: Vec<Title> = titles.join_all().await.into_iter().collect::<Result<_, _>>()?;
    assert_eq!(answers, vec![title("t"); 6]);
    Ok(())
}
