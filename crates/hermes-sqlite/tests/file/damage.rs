use crate::fixture::{File, at, id, new, shown, user};
use hermes_session::{Content, ConversationStore as _, ListRequest, MessageRequest, SessionStore as _};

#[tokio::test]
async fn one_bad_row_hides_no_other() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    store.create(&new("good"), &at(10.0)).await.unwrap();
    store.append(&id("good"), &[user("fine")], &at(11.0)).await.unwrap();
    foreign
        .execute_batch(
            "INSERT INTO sessions (id, source, started_at) VALUES (NULL, 'cli', 1.0), ('when', 'cli', 'soon'), ('bytes', 'cli', 5.0);
             INSERT INTO messages (session_id, role, content, timestamp) VALUES
                 ('bytes', 'user', x'61FF', 6.0), ('bytes', 'user', CAST(x'62FE' AS TEXT), 7.0), ('bytes', 'user', 'text', 'never');
             UPDATE messages SET tool_calls = '{broken' WHERE content = 'text';
             UPDATE sessions SET model_config = '[' WHERE id = 'bytes';",
        )
        .unwrap();
    let listing = store.list(&ListRequest::default()).await.unwrap();
    assert_eq!(listing.rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["good", "bytes"]);
    assert_eq!(listing.rows[1].preview, "a\u{fffd}");
    let told: Vec<String> = listing.unreadable.iter().map(|row| format!("{} {}", row.id, row.why)).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told.iter().any(|row| row.contains("the id is missing"))
            && told.iter().any(|row| row == "when started_at is not a time")
    );

    let messages = store.messages(&id("bytes"), &MessageRequest::first(10)).await.unwrap();
    assert_eq!(messages[0].body.content, Some(Content::Bytes(vec![0x61, 0xff])));
    assert_eq!(messages[1].body.content, Some(Content::Bytes(vec![0x62, 0xfe])));
    assert_eq!(messages[2].body.content, Some(Content::from("text")));
    let faults: Vec<(&str, &[u8])> = messages[2].faults.iter().map(|fault| (fault.column, &*fault.raw)).collect();
    assert_eq!(faults, [("timestamp", &b"never"[..]), ("tool_calls", b"{broken")]);
    assert_eq!(store.session(&id("bytes")).await.unwrap().unwrap().faults[0].column, "model_config");
    let error = store.session(&id("when")).await.unwrap_err();
    assert!(error.to_string().ends_with("state.db is damaged: sessions when: started_at is not a time"), "{error}");
    assert_eq!(shown(&store).await, "good(fine) bytes(a\u{fffd})");
}

#[tokio::test]
async fn counters_that_were_unset_recover() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    store.create(&new("a"), &at(1.0)).await.unwrap();
    foreign
        .execute("UPDATE sessions SET message_count = NULL, tool_call_count = NULL, input_tokens = NULL", [])
        .unwrap();
    store.append(&id("a"), &[user("x")], &at(2.0)).await.unwrap();
    let update = hermes_session::UsageUpdate { input_tokens: Some(5), ..Default::default() };
    store.record_usage(&id("a"), &update, &at(3.0)).await.unwrap();
    let session = store.session(&id("a")).await.unwrap().unwrap();
    assert_eq!((session.message_count, session.tool_call_count, session.usage.input_tokens), (1, 0, 5));
}
