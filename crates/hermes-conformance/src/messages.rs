//! Messages: order, atomic batches, every field.

use crate::fixture::{
    assert_invalid, assert_not_found, assistant, at, calls, id, json, made, request, stored, structured, texts,
    transcript, user,
};
use crate::{CaseResult, Setup};
use hermes_session::{
    Content, DeleteExtent, EndReason, Message, MessageBody, MessageId, MessageRequest, NewMessage, Role, Session,
    UsageUpdate, Window,
};

/// Returns a message with every field set.
fn full() -> MessageBody {
    MessageBody {
        role: Role::Other("session_meta".into()),
        content: Some(structured(
            r#"[{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": "data:"}}]"#,
        )),
        tool_call_id: Some("call 1 大".into()),
        tool_calls: Some(json(r#"[{"id": "a", "function": {"name": "ls", "arguments": "{\"x\": 1}"}}, {"id": "b"}]"#)),
        tool_name: Some("terminal".into()),
        token_count: Some(-7),
        finish_reason: Some("tool_calls".into()),
        reasoning: Some("because\0of this".into()),
        reasoning_content: Some(String::new()),
        reasoning_details: Some(json(r#"[{"type": "x", "data": "\ud800"}]"#)),
        codex_reasoning_items: Some(json("[1, NaN]")),
        codex_message_items: Some(json(r#"{"k": 123456789012345678901234567890}"#)),
    }
}

/// Every field of a message comes back unchanged, for every role.
pub async fn every_field_comes_back(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let mut bodies = vec![full()];
    for role in [Role::User, Role::Assistant, Role::Tool, Role::System] {
        bodies.push(MessageBody { role: role.clone(), ..full() });
        bodies.push(MessageBody::empty(role));
    }
    let batch: Vec<NewMessage> = bodies.iter().cloned().map(NewMessage::from).collect();
    let ids = store.append(&session, &batch, &request(4)).await?;
    let expected: Vec<Message> =
        std::iter::zip(ids, bodies).map(|(id, body)| Message::new(id, session.clone(), at(4), body)).collect();
    assert_eq!(transcript(&*store, &session).await, expected);
    Ok(())
}

/// Empty lists and maps in the structured fields are stored as `None` and do not count.
pub async fn empty_structures_are_nothing(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    for empty in ["[]", "{}", "\"\"", "null"] {
        let body = MessageBody {
            tool_calls: Some(json(empty)),
            reasoning_details: Some(json(empty)),
            codex_reasoning_items: Some(json(empty)),
            codex_message_items: Some(json(empty)),
            ..MessageBody::empty(Role::Assistant)
        };
        store.append(&session, &[body.into()], &request(1)).await?;
    }
    for message in transcript(&*store, &session).await {
        assert_eq!(message.body, MessageBody::empty(Role::Assistant));
    }
    assert_eq!(stored(&*store, &session).await.tool_call_count, 0);
    Ok(())
}

/// The order is that of the calls, whatever the times are and whichever handle was called.
pub async fn keep_order(setup: Setup) -> CaseResult {
    let handles = [setup.store().await, setup.store().await];
    let session = made(&*handles[0], "s", 0).await;
    let mut ids = Vec::new();
    for n in 0..20_u32 {
        let message = user(&n.to_string()).said_at(at(-f64::from(n)));
        let given = handles[n as usize % 2].append(&session, &[message], &request(f64::from(n % 3))).await?;
        assert_eq!(given.len(), 1);
        ids.extend(given);
    }
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    let messages = transcript(&*handles[0], &session).await;
    assert_eq!(messages.iter().map(|message| message.id).collect::<Vec<_>>(), ids);
    let expected: Vec<String> = (0..20).map(|n| n.to_string()).collect();
    assert_eq!(texts(&*handles[1], &session).await, expected);
    assert_eq!(messages[3].timestamp, at(-3));
    Ok(())
}

/// A message has its own time or, without one, that of the request, which is the same for the whole batch.
pub async fn times_are_given_or_the_requests(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let batch = [user("a"), user("b").said_at(at(-50)), user("c")];
    store.append(&session, &batch, &request(3)).await?;
    let times = async |seconds: i32| {
        let messages = transcript(&*store, &session).await;
        assert_eq!(
            messages.iter().map(|message| message.timestamp).collect::<Vec<_>>(),
            [at(seconds), at(-50), at(seconds)]
        );
    };
    times(3).await;
    store.replace(&session, &batch, &request(8)).await?;
    times(8).await;
    Ok(())
}

/// The counters of a session match its messages after every step.
pub async fn counters_move_together(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    made(&*store, "other", 0).await;
    let before = stored(&*store, &session).await;
    let counted = async |messages: i64, tool_calls: i64| {
        let expected = Session { message_count: messages, tool_call_count: tool_calls, ..before.clone() };
        assert_eq!(stored(&*store, &session).await, expected);
    };
    store.append(&session, &[user("a"), calls(r#"[{"id": "x"}, {"id": "y"}]"#), calls("[]")], &request(1)).await?;
    counted(3, 2).await;
    let result = MessageBody { tool_call_id: Some("x".into()), ..MessageBody::new(Role::Tool, "done") };
    store
        .append(&session, &[result.into(), calls(r#"{"id": "z"}"#), calls(r#"["a, b", [1, 2], {}]"#)], &request(2))
        .await?;
    counted(6, 6).await;
    store.append(&session, &[], &request(3)).await?;
    counted(6, 6).await;
    store.replace(&session, &[calls("[{}]"), assistant("x")], &request(4)).await?;
    counted(2, 1).await;
    store.replace(&session, &[], &request(5)).await?;
    counted(0, 0).await;
    assert_eq!(stored(&*store, &id("other")).await.message_count, 0);
    Ok(())
}

/// A batch with one invalid message is refused as a whole.
pub async fn a_batch_is_all_or_nothing(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    store.append(&session, &[user("kept"), calls("[{}]")], &request(1)).await?;
    let before = (stored(&*store, &session).await, transcript(&*store, &session).await);
    let field = |change: fn(&mut MessageBody)| {
        let mut body = full();
        change(&mut body);
        NewMessage::from(body)
    };
    let bad = [
        (field(|body| body.role = Role::Other(String::new())), "role"),
        (field(|body| body.role = Role::Other("a\0".into())), "role"),
        (field(|body| body.content = Some(Content::Bytes(vec![b'a', 0xff]))), "content"),
        (field(|body| body.tool_call_id = Some("\0".into())), "tool_call_id"),
        (field(|body| body.tool_name = Some("a\0b".into())), "tool_name"),
        (field(|body| body.finish_reason = Some("b\0".into())), "finish_reason"),
    ];
    for (message, what) in bad {
        let batch = [user("first"), message, user("last")];
        assert_invalid(store.append(&session, &batch, &request(2)).await, what);
        assert_invalid(store.replace(&session, &batch, &request(3)).await, what);
        assert_eq!((stored(&*store, &session).await, transcript(&*store, &session).await), before);
    }
    assert_eq!(store.append(&session, &[], &request(4)).await?, []);
    Ok(())
}

/// Large batches are stored completely and in order.
pub async fn a_batch_of_thousands(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let batch: Vec<NewMessage> = (0..3_000).map(|n| user(&format!("message {n}"))).collect();
    let ids = store.append(&session, &batch, &request(1)).await?;
    assert!(ids.len() == batch.len() && ids.is_sorted_by(|a, b| a < b));
    let messages = transcript(&*store, &session).await;
    assert_eq!(messages.iter().map(|message| message.id).collect::<Vec<_>>(), ids);
    assert!(messages.iter().zip(&batch).all(|(stored, given)| stored.body == given.body));
    assert_eq!(stored(&*store, &session).await.message_count, 3_000);
    Ok(())
}

/// Ended sessions accept messages, and stay ended.
pub async fn ended_sessions_take_messages(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    store.end(&session, &EndReason::parse("cli_close")?, &request(1)).await?;
    store.append(&session, &[user("late")], &request(2)).await?;
    assert_eq!(texts(&*store, &session).await, ["late"]);
    assert_eq!(stored(&*store, &session).await.ended_at, Some(at(1)));
    Ok(())
}

/// Replacing exchanges all messages; usage and the other fields of the session stay.
pub async fn replace_is_all_or_nothing(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (session, other) = (made(&*store, "s", 0).await, made(&*store, "t", 0).await);
    store.append(&session, &[user("old"), calls("[{}, {}]")], &request(1)).await?;
    store.append(&other, &[user("other")], &request(1)).await?;
    store.record_usage(&session, &UsageUpdate { input_tokens: Some(5), ..UsageUpdate::default() }, &request(2)).await?;
    let before = stored(&*store, &session).await;
    let ids = store.replace(&session, &[full().into(), user("new").said_at(at(-3))], &request(3)).await?;
    let messages = transcript(&*store, &session).await;
    let shown: Vec<_> = messages.iter().map(|message| (message.id, message.timestamp, message.body.clone())).collect();
    assert_eq!(shown, [(ids[0], at(3), full()), (ids[1], at(-3), user("new").body)]);
    assert!(ids[0] < ids[1]);
    assert_eq!(stored(&*store, &session).await, Session { message_count: 2, tool_call_count: 2, ..before });
    assert_eq!(texts(&*store, &other).await, ["other"]);
    store.append(&session, &[user("after")], &request(4)).await?;
    assert_eq!(texts(&*store, &session).await.last().unwrap(), "after");
    Ok(())
}

/// Replacing with an empty list removes all messages.
pub async fn replace_with_nothing_clears(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let empty = stored(&*store, &session).await;
    store.append(&session, &[user("old"), calls("[{}]")], &request(1)).await?;
    for _ in 0..2 {
        assert_eq!(store.replace(&session, &[], &request(2)).await?, []);
        assert!(transcript(&*store, &session).await.is_empty());
        assert_eq!(stored(&*store, &session).await, empty);
    }
    Ok(())
}

/// Ids of deleted messages are not assigned again, so that a new message is not mistaken for an old one.
pub async fn ids_are_not_given_again(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let old = store.append(&session, &[user("a"), user("b")], &request(1)).await?;
    let new = store.replace(&session, &[user("c"), user("d")], &request(2)).await?;
    assert!(new[0] > old[1], "{old:?} {new:?}");
    store.delete(&session, DeleteExtent::Conversation, &request(3)).await?;
    let session = made(&*store, "t", 4).await;
    let next = store.append(&session, &[user("e")], &request(5)).await?;
    assert!(next[0] > new[1], "{new:?} {next:?}");
    Ok(())
}

/// Pages of any size, from the front or from the back, neither skip nor repeat messages.
pub async fn pages_neither_skip_nor_repeat(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (session, other) = (made(&*store, "s", 0).await, made(&*store, "t", 0).await);
    let mut ids = Vec::new();
    for n in 0..23 {
        ids.extend(store.append(&session, &[user(&n.to_string())], &request(-n)).await?);
        store.append(&other, &[user("between")], &request(n)).await?;
    }
    for limit in [1, 2, 7, 22, 23, 24, u32::MAX] {
        let mut forward = Vec::new();
        loop {
            let page =
                store.messages(&session, &MessageRequest::new(Window::After(forward.last().copied()), limit)).await?;
            assert!(page.len() <= limit as usize);
            forward.extend(page.iter().map(|message| message.id));
            // Pages that repeat messages would never end.
            assert!(forward.len() <= ids.len(), "pages of {limit} repeat: {forward:?}");
            if page.is_empty() {
                break;
            }
        }
        assert_eq!(forward, ids, "pages of {limit} from the front");
        let mut backward: Vec<MessageId> = Vec::new();
        loop {
            let page = store
                .messages(&session, &MessageRequest::new(Window::Before(backward.first().copied()), limit))
                .await?;
            if page.is_empty() {
                break;
            }
            backward.splice(0..0, page.iter().map(|message| message.id));
            assert!(backward.len() <= ids.len(), "pages of {limit} repeat: {backward:?}");
        }
        assert_eq!(backward, ids, "pages of {limit} from the back");
    }
    assert!(store.messages(&session, &MessageRequest::first(0)).await?.is_empty());
    assert!(store.messages(&session, &MessageRequest::last(0)).await?.is_empty());
    Ok(())
}

/// The last messages are returned oldest first; the bounds need not be messages of the session.
pub async fn the_last_page_first(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let batch: Vec<NewMessage> = (0..10).map(|n| user(&n.to_string())).collect();
    let ids = store.append(&session, &batch, &request(1)).await?;
    let page = async |request: MessageRequest| -> Vec<MessageId> {
        store.messages(&session, &request).await.unwrap().iter().map(|message| message.id).collect()
    };
    assert_eq!(page(MessageRequest::last(3)).await, ids[7..]);
    assert_eq!(page(MessageRequest::first(3)).await, ids[..3]);
    assert_eq!(page(MessageRequest::after(ids[3], 2)).await, ids[4..6]);
    assert_eq!(page(MessageRequest::after(ids[9], 2)).await, []);
    assert_eq!(page(MessageRequest::new(Window::Before(Some(ids[4])), 2)).await, ids[2..4]);
    assert_eq!(page(MessageRequest::new(Window::Before(Some(ids[0])), 2)).await, []);
    assert_eq!(page(MessageRequest::after(MessageId(i64::MIN), 2)).await, ids[..2]);
    assert_eq!(page(MessageRequest::new(Window::Before(Some(MessageId(i64::MAX))), 2)).await, ids[8..]);
    Ok(())
}

/// If nothing was compacted, the messages as said equal the transcript, from either side.
pub async fn as_said_is_the_transcript(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let ids = store.append(&session, &[user("a"), user("b"), user("c")], &request(1)).await?;
    for (asked, expect) in [
        (MessageRequest::first(9), &ids[..]),
        (MessageRequest::last(2), &ids[1..]),
        (MessageRequest::after(ids[0], 1), &ids[1..2]),
    ] {
        let said = store.messages(&session, &asked.as_said()).await?;
        assert_eq!(said.iter().map(|message| message.id).collect::<Vec<_>>(), expect, "{asked:?}");
        assert_eq!(said, store.messages(&session, &asked).await?);
    }
    assert_not_found(store.messages(&id("absent"), &MessageRequest::first(1).as_said()).await, &id("absent"));
    Ok(())
}

/// Around a position are the message before it, itself and the one after it, of its own session, whatever the order of
/// the positions.
pub async fn around_places(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (one, other) = (made(&*store, "one", 0).await, made(&*store, "other", 0).await);
    let (mut ids, mut others) = (Vec::new(), Vec::new());
    for n in 0..4 {
        ids.extend(store.append(&one, &[user(&format!("one {n}"))], &request(1)).await?);
        others.extend(store.append(&other, &[user(&format!("other {n}"))], &request(1)).await?);
    }
    // One more position, far from the last message of its session.
    let between: Vec<NewMessage> = (0..100).map(|n| user(&n.to_string())).collect();
    store.append(&other, &between, &request(2)).await?;
    ids.extend(store.append(&one, &[user("far")], &request(3)).await?);
    let places = [
        (one.clone(), ids[1]),
        (other.clone(), others[0]),
        (one.clone(), ids[0]),
        (one.clone(), ids[4]),
        (one.clone(), ids[3]),
        (one.clone(), ids[3]),
        (one.clone(), MessageId(ids[4].0 + 1)),
        (one.clone(), MessageId(i64::MIN)),
        (id("nobody"), ids[1]),
    ];
    let around = store.around(&places).await?;
    for (messages, (session, _)) in around.iter().zip(&places) {
        assert!(messages.iter().all(|message| message.session_id == *session));
    }
    let found: Vec<Vec<MessageId>> =
        around.iter().map(|messages| messages.iter().map(|message| message.id).collect()).collect();
    assert_eq!(found[0], ids[..3]);
    assert_eq!(found[1], others[..2]);
    assert_eq!(found[2], ids[..2]);
    assert_eq!(found[3], ids[3..]);
    assert_eq!((&found[4][..], &found[5][..]), (&ids[2..], &ids[2..]));
    assert_eq!(found[6], ids[4..]);
    assert_eq!(found[7], ids[..2]);
    assert_eq!(found[8], []);
    assert_eq!(around[0], store.messages(&one, &MessageRequest::first(3)).await?, "they are whole");
    let many: Vec<_> = std::iter::repeat_with(|| (one.clone(), ids[2])).take(300).collect();
    assert!(store.around(&many).await?.iter().all(|messages| messages.len() == 3));
    assert!(store.around(&[]).await?.is_empty());
    Ok(())
}
