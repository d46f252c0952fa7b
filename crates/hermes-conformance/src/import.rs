//! Import: exported sessions come back unchanged.

use crate::fixture::{
    at, calls, id, json, made, new_session, request, row_ids, source, stored, structured, title, transcript, user,
};
use crate::{CaseResult, ModelStore, Setup};
use hermes_session::export::Exporter;
use hermes_session::import::{
    Finding, FindingKind, ImportError, ImportOptions, ImportReport, LeftOut, TableRow, import,
};
use hermes_session::{
    Content, ConversationStore, DeleteExtent, EndReason, ListRequest, Maintenance, MessageBody, NewChild, NewMessage,
    NewSession, Relation, Role, Scalar, SessionFilter, StoreError, UsageUpdate,
};

pub(crate) async fn exported(store: &dyn ConversationStore) -> Result<String, StoreError> {
    let mut exporter = Exporter::new(store, SessionFilter::default());
    let mut text = String::new();
    while let Some(chunk) = exporter.next_chunk().await? {
        text += &chunk;
    }
    Ok(text)
}

pub(crate) async fn imported(store: &dyn Maintenance, text: &str) -> ImportReport {
    import(store, &mut text.as_bytes(), ImportOptions::default(), &mut |_| {}).await.unwrap()
}

/// Returns the counts of a report, and its findings as line and kind.
pub(crate) fn told(report: &ImportReport) -> ([u64; 5], Vec<(u64, FindingKind)>) {
    let ImportReport { sessions, messages, skipped, conflicts, bad, findings, .. } = report;
    let found = |finding: &Finding| (finding.line, finding.kind);
    ([*sessions, *messages, *skipped, *conflicts, *bad], findings.iter().map(found).collect())
}

/// Returns a line as the agent exports it.
fn plain_line(name: &str, more: &str, messages: &str) -> String {
    format!("{{\"id\": \"{name}\", \"source\": \"cli\", \"started_at\": 1.5, {more}\"messages\": [{messages}]}}\n")
}

/// Creates every kind of session, message and value, with ids that are not in the order of sessions.
pub(crate) async fn ugly(store: &dyn Maintenance) -> Result<(), StoreError> {
    let tag = "\u{202e}odd 🚀";
    let settings = json(r#"{"a": [NaN, -Infinity, "\ud800", 123456789012345678901234567890.5e-7], "b": {}}"#);
    let root = NewSession {
        user_id: Some(String::new()),
        model: Some("m'\"".into()),
        model_config: Some(settings.clone()),
        system_prompt: Some("be\n\tkind \u{1}".into()),
        started_at: Some(at(-1e-3)),
        ..NewSession::new(id("z root"), source(tag))
    };
    store.create(&root, &request(0)).await?;
    store.create(&new_session("a-empty"), &request(0.125)).await?;
    let odd = [
        user("a\0b"),
        user("\0json:[1]"),
        user(""),
        NewMessage::new(Role::User, structured(r#""\ud800 lone""#)),
        NewMessage::new(Role::User, structured(r#"[{"type": "text", "text": "大别山 👨‍👩‍👧"}, NaN, "\udc00"]"#)),
        NewMessage::new(Role::User, structured("null")),
        NewMessage::new(Role::User, structured("[]")),
        calls(r#"[{"id": "a", "function": {"arguments": "{\"x\": 1}"}}, {}]"#),
        NewMessage::from(MessageBody {
            tool_call_id: Some("a".into()),
            tool_name: Some("ls \u{7f}".into()),
            token_count: Some(i64::MIN),
            finish_reason: Some(String::new()),
            reasoning: Some("why\0".into()),
            reasoning_content: Some(String::new()),
            reasoning_details: Some(json(r#"[{"a": -0.0}]"#)),
            codex_reasoning_items: Some(json("[NaN]")),
            codex_message_items: Some(json(r#"{"b": "\ud800"}"#)),
            ..MessageBody::empty(Role::Other("session_meta".into()))
        })
        .said_at(at(-1e9)),
    ];
    store.append(&id("z root"), &odd, &request(1)).await?;
    store.set_title(&id("z root"), Some(&title("plan 🚀")), &request(1)).await?;
    let update = UsageUpdate {
        input_tokens: Some(i64::MAX),
        output_tokens: Some(-3),
        estimated_cost_usd: Some(0.1 + 0.2),
        actual_cost_usd: Some(5e-324),
        cost_status: Some("x".into()),
        billing_mode: Some(String::new()),
        ..UsageUpdate::default()
    };
    store.record_usage(&id("z root"), &update, &request(2)).await?;
    store.create(&new_session("helper").child_of(id("z root"), Relation::Delegate), &request(3)).await?;
    store.split(&id("z root"), &NewChild::new(id("b tip")), &[user("summary")], &request(4)).await?;
    store.branch(&id("b tip"), &NewChild::new(id("branch")), &request(5)).await?;
    store.append(&id("z root"), &[user("late")], &request(6)).await?;
    store.end(&id("branch"), &EndReason::parse("cli_close")?, &request(7)).await?;
    store.reopen(&id("z root"), &request(8)).await?;
    Ok(())
}

/// An export that is imported into an empty store is exported byte for byte the same: ids, times, numbers, relations. A
/// second import skips it.
pub async fn an_export_comes_back_byte_by_byte(setup: Setup) -> CaseResult {
    let (from, to) = (setup.store().await, setup.store_named("copy").await);
    ugly(&*from).await?;
    let text = exported(&*from).await?;
    let report = imported(&*to, &text).await;
    assert_eq!(told(&report), ([5, 12, 0, 0, 0], vec![]), "{report:?}");
    let again = exported(&*to).await?;
    for (found, expected) in again.lines().zip(text.lines()) {
        assert!(found == expected, "exported as\n{found}\ninstead of\n{expected}");
    }
    assert_eq!(again.len(), text.len());
    for view in [hermes_session::View::Conversations, hermes_session::View::Sessions] {
        let request = ListRequest { view, ..ListRequest::default() };
        assert_eq!(to.list(&request).await?, from.list(&request).await?);
    }
    assert_eq!(told(&imported(&*to, &text).await), ([0, 0, 5, 0, 0], vec![]));
    assert_eq!(exported(&*to).await?, text);
    let verified = to.verify().await?;
    assert!(verified.is_sound(), "{verified:?}");
    // The same for the export of another store.
    let model = ModelStore::new();
    imported(&model, &text).await;
    assert_eq!(exported(&model).await?, text);
    Ok(())
}

/// Bytes left by a foreign writer come back as bytes, and stored nulls as nulls.
pub async fn bytes_are_kept(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let messages = concat!(
        r#"{"id": 3, "role": "user", "content": {"base64": "/wBh"}, "content_encoding": "base64", "timestamp": 1}, "#,
        r#"{"id": 4, "role": "user", "content": null, "content_encoding": "json", "timestamp": 1}, "#,
        r#"{"id": 9, "role": "user", "content": null, "timestamp": 1}"#
    );
    let line = plain_line("s", "", messages);
    assert_eq!(told(&imported(&*store, &line).await).0, [1, 3, 0, 0, 0]);
    let contents: Vec<_> =
        transcript(&*store, &id("s")).await.into_iter().map(|message| message.body.content).collect();
    assert_eq!(contents, [Some(Content::Bytes(vec![0xff, 0, b'a'])), Some(Content::Json(json("null"))), None]);
    let copy = setup.store_named("copy").await;
    let text = exported(&*store).await?;
    imported(&*copy, &text).await;
    assert_eq!(exported(&*copy).await?, text);
    assert_eq!(told(&imported(&*store, &line).await).0, [0, 0, 1, 0, 0]);
    assert!(store.verify().await?.is_sound());
    // They can be deleted like others.
    store.delete(&id("s"), DeleteExtent::Conversation, &request(2)).await?;
    assert!(store.verify().await?.is_sound());
    Ok(())
}

/// An existing session with other content stays unchanged and is reported.
pub async fn other_content_is_a_conflict(setup: Setup) -> CaseResult {
    let (from, to) = (setup.store().await, setup.store_named("copy").await);
    for name in ["edited", "fewer", "more", "same", "titled", "used"] {
        made(&*from, name, 0).await;
        from.append(&id(name), &[user("one"), user("two")], &request(1)).await?;
    }
    let text = exported(&*from).await?;
    imported(&*to, &text).await;
    to.replace(&id("edited"), &[user("one"), user("other")], &request(1)).await?;
    to.replace(&id("fewer"), &[user("one")], &request(1)).await?;
    to.append(&id("more"), &[user("three")], &request(1)).await?;
    to.set_title(&id("titled"), Some(&title("mine")), &request(2)).await?;
    to.record_usage(&id("used"), &UsageUpdate { input_tokens: Some(1), ..UsageUpdate::default() }, &request(2)).await?;
    let before = exported(&*to).await?;
    let report = imported(&*to, &text).await;
    assert_eq!(told(&report).0, [0, 0, 1, 5, 0]);
    let found: Vec<(u64, &str)> = report.findings.iter().map(|found| (found.line, found.what.as_str())).collect();
    let expected = [
        (1, "message 2 differs"),
        (2, "message_count differs"),
        (3, "message_count differs"),
        (5, "title differs"),
        (6, "usage differs"),
    ];
    assert_eq!(found, expected);
    assert!(report.findings.iter().all(|found| found.kind == FindingKind::Conflict && found.session.is_some()));
    assert_eq!(exported(&*to).await?, before);
    // The same id twice in one export: the first one counts.
    let doubled = plain_line("x", "", "") + &plain_line("x", "\"model\": \"m\", ", "") + &plain_line("x", "", "");
    assert_eq!(told(&imported(&*to, &doubled).await), ([1, 0, 1, 1, 0], vec![(2, FindingKind::Conflict)]));
    Ok(())
}

/// Lines in any order give the same lineage; a missing parent is reported, and may come with a later import.
pub async fn parents_may_come_later(setup: Setup) -> CaseResult {
    let from = setup.store().await;
    ugly(&*from).await?;
    let text = exported(&*from).await?;
    let mut backwards: Vec<&str> = text.split_inclusive('\n').collect();
    for name in ["backwards", "rotated"] {
        if name == "backwards" {
            backwards.reverse()
        } else {
            backwards.rotate_left(2)
        }
        let to = setup.store_named(name).await;
        assert_eq!(told(&imported(&*to, &backwards.concat()).await), ([5, 12, 0, 0, 0], vec![]));
        assert_eq!(exported(&*to).await?, text, "{name}");
        assert_eq!(to.lineage(&id("helper")).await?, from.lineage(&id("helper")).await?);
        assert_eq!(to.list(&ListRequest::default()).await?, from.list(&ListRequest::default()).await?);
        assert!(to.verify().await?.is_sound());
    }
    let (to, lines) = (setup.store_named("parts").await, text.split_inclusive('\n'));
    let (roots, children): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.contains("\"relation\": \"root\""));
    let report = imported(&*to, &children.concat()).await;
    assert_eq!(told(&report), ([3, 2, 0, 0, 0], vec![(1, FindingKind::Parent), (3, FindingKind::Parent)]));
    let helper = stored(&*to, &id("helper")).await;
    assert_eq!((helper.relation, helper.parent_session_id), (Relation::Root, None));
    imported(&*to, &roots.concat()).await;
    assert_eq!(told(&imported(&*to, &text).await), ([0, 0, 5, 0, 0], vec![]), "it is the same, and linked now");
    assert_eq!(exported(&*to).await?, text);
    Ok(())
}

/// A title that is taken is replaced by the next of its lineage, and that is reported; repeating the import changes
/// nothing.
pub async fn a_taken_title_gives_way(setup: Setup) -> CaseResult {
    let (from, to) = (setup.store().await, setup.store_named("copy").await);
    for name in ["one", "two"] {
        made(&*from, name, 0).await;
    }
    from.set_title(&id("one"), Some(&title("plan")), &request(1)).await?;
    from.set_title(&id("two"), Some(&title("plan #2")), &request(1)).await?;
    let text = exported(&*from).await?;
    made(&*to, "mine", 0).await;
    to.set_title(&id("mine"), Some(&title("plan")), &request(1)).await?;
    let report = imported(&*to, &text).await;
    assert_eq!(told(&report), ([2, 0, 0, 0, 0], vec![(1, FindingKind::Title), (2, FindingKind::Title)]));
    let has = |name: &'static str| {
        let to = &to;
        async move { stored(&**to, &id(name)).await.title.unwrap() }
    };
    assert_eq!(
        (has("mine").await, has("one").await, has("two").await),
        ("plan".into(), "plan #2".into(), "plan #3".into())
    );
    assert_eq!(told(&imported(&*to, &text).await), ([0, 0, 2, 0, 0], vec![]));
    Ok(())
}

/// Unreadable lines are reported by number, and the rest is imported; or the first such line ends the import, if
/// requested.
pub async fn bad_lines_are_reported(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let message = r#"{"role": "user", "content": "hi", "timestamp": 2}"#;
    let text = [
        &plain_line("a", "", message),
        "{broken\n",
        "\n",
        &plain_line("b", "\"relation\": \"twin\", ", ""),
        &plain_line("c", "", "{\"role\": \"\"}"),
        "   \r\n",
        plain_line("d", "", message).trim_end(),
    ]
    .concat();
    let mut seen = Vec::new();
    let report =
        import(&*store, &mut text.as_bytes(), ImportOptions::default(), &mut |done| seen.push(done)).await.unwrap();
    let bad = FindingKind::Bad;
    assert_eq!(told(&report), ([2, 2, 0, 0, 3], vec![(2, bad), (4, bad), (5, bad)]));
    assert!(report.findings[0].what.contains("byte 1"), "{report:?}");
    let last = seen.last().unwrap();
    assert_eq!((last.lines, last.bytes, last.messages), (7, text.len() as u64, 2));
    let strict = setup.store_named("strict").await;
    let options = ImportOptions { is_strict: true, ..ImportOptions::default() };
    match import(&*strict, &mut text.as_bytes(), options, &mut |_| {}).await {
        Err(ImportError::Bad { line: 2, .. }) => {}
        other => panic!("line 2 should end it, not {other:?}"),
    }
    assert_eq!(row_ids(&strict.list(&ListRequest::default()).await?), ["a"], "what came before it is there");
    Ok(())
}

/// A dry run reports the same as the import, and changes nothing.
pub async fn a_rehearsal_tells_and_changes_nothing(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "there", 0).await;
    store.set_title(&id("there"), Some(&title("taken")), &request(1)).await?;
    let message = r#"{"role": "user", "content": "x"}"#;
    let text = [
        plain_line("a", "\"title\": \"taken\", ", message),
        plain_line("b", "\"title\": \"twice\", ", message),
        plain_line("c", "\"title\": \"twice\", ", ""),
        plain_line("child", "\"parent_session_id\": \"parent\", ", ""),
        plain_line("orphan", "\"parent_session_id\": \"nowhere\", ", ""),
        plain_line("parent", "", ""),
        plain_line("b", "\"title\": \"twice\", ", message),
        plain_line("b", "\"title\": \"other\", ", message),
        plain_line("there", "", message),
        "{broken\n".into(),
    ]
    .concat();
    let before = exported(&*store).await?;
    let options = ImportOptions { is_rehearsal: true, ..ImportOptions::default() };
    let rehearsed = import(&*store, &mut text.as_bytes(), options, &mut |_| {}).await.unwrap();
    assert_eq!(exported(&*store).await?, before);
    assert_eq!(told(&rehearsed), told(&imported(&*store, &text).await));
    assert_eq!(told(&rehearsed).0, [6, 2, 1, 2, 1]);
    Ok(())
}

/// The agent's own export: JSON as text, no relations, children before their parents.
pub async fn the_agents_own_lines(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (ended, none) = ("\"ended_at\": 10, \"end_reason\": \"compression\", ", "");
    let child = |at: u32| format!("\"parent_session_id\": \"root\", \"started_at\": {at}, ");
    let message = r#"{"id": 1, "role": "assistant", "content": [{"type": "text", "text": "x"}], "timestamp": 2, "tool_calls": [{"id": "a"}], "reasoning_details": "[{}]"}"#;
    let text = [
        plain_line("late", &child(12), none),
        plain_line("tip", &child(11), none),
        plain_line("early", &child(9), none),
        plain_line("root", &format!("{ended}\"model_config\": \"{{\\\"a\\\":1}}\", \"title\": \"t\", "), message),
    ];
    assert_eq!(told(&imported(&*store, &text.concat()).await), ([4, 1, 0, 0, 0], vec![]));
    for (name, relation) in [
        ("root", Relation::Root),
        ("tip", Relation::Continuation),
        ("late", Relation::Branch),
        ("early", Relation::Delegate),
    ] {
        assert_eq!(stored(&*store, &id(name)).await.relation, relation, "{name}");
    }
    let root = stored(&*store, &id("root")).await;
    assert_eq!((root.model_config, root.message_count, root.tool_call_count), (Some(json(r#"{"a": 1}"#)), 1, 1));
    let said = &transcript(&*store, &id("root")).await[0].body;
    assert_eq!(said.content, Some(structured(r#"[{"type": "text", "text": "x"}]"#)));
    assert_eq!(said.reasoning_details, Some(json("[{}]")));
    assert_eq!(told(&imported(&*store, &text.concat()).await).0, [0, 0, 4, 0, 0]);
    Ok(())
}

/// Rows of tables that a store lacks, or that are no tables of rows that refer to a session, are left out and counted.
pub async fn rows_without_a_table_are_left_out(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "a", 0).await;
    let row = |table: &str| TableRow {
        table: table.to_owned(),
        values: [("session_id", Scalar::Text("a".to_owned())), ("id", Scalar::Integer(1))].into_iter().collect(),
    };
    let rows = [row("no \"such\" table"), row("no \"such\" table"), row("messages"), row("hx_tag")];
    let left = |table: &str, rows| LeftOut { table: table.to_owned(), column: None, rows };
    let expect = [left("no \"such\" table", 2), left("messages", 1), left("hx_tag", 1)];
    assert_eq!(store.import_rows(&id("a"), &rows).await?, expect);
    assert_eq!(store.import_rows(&id("a"), &[]).await?, []);
    assert!(transcript(&*store, &id("a")).await.is_empty() && store.tags().await?.is_empty());
    assert!(matches!(store.import_rows(&id("absent"), &rows).await, Err(StoreError::NotFound(_))));
    Ok(())
}
