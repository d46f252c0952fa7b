//! Text of every kind comes back unchanged.

use crate::fixture::{at, id, json, made, new_session, request, stored, structured, transcript, user};
use crate::{CaseResult, Setup};
use hermes_session::{
    Content, ListRequest, Maintenance, MessageBody, NewMessage, NewSession, Role, SessionPatch, StoreError,
};

async fn round_trip(store: &dyn Maintenance, contents: Vec<Content>) -> Result<(), StoreError> {
    let session = made(store, "s", 0).await;
    let batch: Vec<NewMessage> = contents.iter().cloned().map(|content| NewMessage::new(Role::User, content)).collect();
    store.append(&session, &batch, &request(1)).await?;
    for (content, back) in contents.iter().zip(transcript(store, &session).await) {
        let expected = MessageBody::new(Role::User, content.clone());
        assert!(
            back.body == expected,
            "{:.200} came back as {:.200}",
            format!("{content:?}"),
            format!("{:?}", back.body)
        );
        assert!(back.faults.is_empty(), "{:?}", back.faults);
    }
    assert_eq!(stored(store, &session).await.message_count, contents.len() as i64);
    Ok(())
}

fn plain(texts: &[&str]) -> Vec<Content> {
    texts.iter().map(|text| Content::from(*text)).collect()
}

/// NUL and every other control character.
pub async fn nul_and_controls(setup: Setup) -> CaseResult {
    let every: String = (0..0x20).chain(0x7f..0xa0).filter_map(char::from_u32).collect();
    round_trip(&*setup.store().await, plain(&["\0", "a\0b", "\0\0a", "a\0", &every, "\u{feff}x", "\r\n\r"])).await
}

/// Text that looks like the marker of structured content is text.
pub async fn text_that_looks_structured(setup: Setup) -> CaseResult {
    let texts = [
        "\0json:[1, 2]",
        "\0json:",
        "\0json:\"x\"",
        "\0json:{broken",
        "\0JSON:1",
        "json:[1]",
        "[1, 2]",
        "{\"a\": 1}",
        "null",
        "\"x\"",
        "5",
        "x'00'",
    ];
    round_trip(&*setup.store().await, plain(&texts)).await
}

/// Text with lone surrogates, which Rust can't hold, as JSON strings.
pub async fn lone_surrogates(setup: Setup) -> CaseResult {
    let contents = [
        r#""\ud800""#,
        r#""a\udc00b""#,
        r#""\udc00\ud800""#,
        r#""\ud83d x \ude80""#,
        r#"["\ud800", {"\udfff": "\u0000"}]"#,
    ];
    let contents: Vec<Content> = contents.into_iter().map(structured).collect();
    assert!(contents.iter().all(|content| matches!(content, Content::Json(_))));
    round_trip(&*setup.store().await, contents).await
}

/// Structured content of every shape, including numbers of any size and NaN.
pub async fn structured_content(setup: Setup) -> CaseResult {
    let deep = format!("{}{}", "[".repeat(2_000), "]".repeat(2_000));
    let contents = [
        "[]",
        "{}",
        "null",
        "true",
        "0",
        "-0.0",
        "NaN",
        "[NaN, Infinity, -Infinity]",
        "123456789012345678901234567890",
        "1e400",
        "0.1000",
        r#"{"b": 1, "a": 2, "b": 3}"#,
        r#"[{"type": "text", "text": "大\u0000🚀"}]"#,
        &deep,
    ];
    round_trip(&*setup.store().await, contents.into_iter().map(structured).collect()).await
}

/// A JSON string that Rust can hold is plain text.
pub async fn a_json_string_is_text(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let content = Content::Json(json(r#""hi \u5927""#));
    store.append(&session, &[NewMessage::new(Role::User, content)], &request(1)).await?;
    let bytes = NewMessage::new(Role::User, Content::Bytes("bytes 大".into()));
    store.append(&session, &[bytes], &request(1)).await?;
    let back: Vec<_> = transcript(&*store, &session).await.into_iter().map(|message| message.body.content).collect();
    assert_eq!(back, [Some(Content::from("hi 大")), Some(Content::from("bytes 大"))]);
    Ok(())
}

/// Scripts, directions, joiners, combining forms, spaces at the ends: nothing is folded, trimmed or normalised.
pub async fn every_script(setup: Setup) -> CaseResult {
    let texts = [
        "",
        " ",
        "  leading",
        "trailing  ",
        "\ttabs\t",
        "line\n",
        "大别山",
        "ひらがな カタカナ 한국어",
        "שלום \u{202e}evil\u{202c} مرحبا",
        "👨\u{200d}👩\u{200d}👧 🏳\u{fe0f}\u{200d}🌈 🇨🇭",
        "e\u{301} é",
        "ＦＵＬＬ ｗｉｄｔｈ",
        "ß ẞ ſ ı İ",
        "\u{10ffff}\u{fffd}\u{fffe}",
        "C++ v1.2.3 don't src/main.rs",
        "'; DROP TABLE messages; --",
        "100% _under\\score",
        "$1 ?1 :name @p {x}",
    ];
    round_trip(&*setup.store().await, plain(&texts)).await
}

/// Ten megabytes in one message, as text and as structured content, and in a system prompt.
pub async fn ten_megabytes(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let long = "大别山 0123456789\n".repeat(500_000);
    assert!(long.len() > 10_000_000);
    let parts =
        Content::from_json(hermes_session::Json::from_value(&serde_json::json!([{"type": "text", "text": &long}])));
    round_trip(&*store, vec![long.as_str().into(), parts, "after".into()]).await?;
    store
        .update(
            &id("s"),
            &SessionPatch { system_prompt: Some(Some(long.clone())), ..SessionPatch::default() },
            &request(2),
        )
        .await?;
    assert!(stored(&*store, &id("s")).await.system_prompt == Some(long));
    let preview = &store.list(&ListRequest::default()).await?.rows[0].preview;
    assert!(
        preview.starts_with("大别山 0123456789 大别山") && preview.ends_with("...") && preview.chars().count() <= 120
    );
    Ok(())
}

/// The other text fields of a message and of a session keep their values too.
pub async fn the_other_fields(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let odd = "\0json:[1]\u{feff} e\u{301} \u{202e} 🚀 \r\n ";
    let new = NewSession {
        user_id: Some("' \" %_ e\u{301} é ".into()),
        model: Some("🚀 x ".into()),
        model_config: Some(json(r#"{"a": "\ud800\u0000", "n": NaN, "big": 1e400}"#)),
        system_prompt: Some(odd.into()),
        ..new_session("s")
    };
    store.create(&new, &request(0)).await?;
    let session = stored(&*store, &id("s")).await;
    let back = (session.user_id, session.model, session.model_config, session.system_prompt);
    assert_eq!(back, (new.user_id, new.model, new.model_config, new.system_prompt));
    let body = MessageBody {
        role: Role::parse(" User ").unwrap(),
        tool_name: Some("e\u{301} ".into()),
        finish_reason: Some("'stop'".into()),
        reasoning: Some(odd.into()),
        reasoning_content: Some(odd.into()),
        ..user(odd).body
    };
    store.append(&id("s"), &[NewMessage::from(body.clone()).said_at(at(5))], &request(1)).await?;
    assert_eq!(transcript(&*store, &id("s")).await[0].body, body);
    Ok(())
}
