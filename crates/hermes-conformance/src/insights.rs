//! Usage of an agent.

use crate::fixture::{assistant, at, calls, id, made, new_session, request, source, title, user};
use crate::listing::{family, used};
use crate::{CaseResult, Setup};
use hermes_session::insights::{Distinction, MessageCounts, Notable, SkillUse, TimeSpent, ToolUse};
use hermes_session::{
    DeleteExtent, EndReason, Insights, InsightsRequest, MessageBody, NewChild, NewMessage, NewSession, Relation, Role,
    Timestamp, UsageUpdate,
};
use std::collections::BTreeMap;

/// Returns a request for everything.
fn all() -> InsightsRequest {
    InsightsRequest::since(at(-1_000))
}

fn since(seconds: i32) -> InsightsRequest {
    InsightsRequest::since(at(seconds))
}

fn notable(told: &Insights, distinction: Distinction) -> Option<(&str, Option<&str>, Timestamp, f64)> {
    let found: Option<&Notable> = told.notable.iter().find(|notable| notable.distinction == distinction);
    found.map(|notable| (notable.id.as_str(), notable.title.as_deref(), notable.started_at, notable.value))
}

/// A compressed conversation with delegates counts once, and so does a branch of it. Deleted ones do not count.
pub async fn a_conversation_counts_once(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    assert_eq!(store.insights(&all()).await?, Insights::default());
    family(&*store).await?;
    made(&*store, "gone", 50).await;
    store.delete(&id("gone"), DeleteExtent::Conversation, &request(51)).await?;
    let told = store.insights(&all()).await?;
    assert_eq!((told.total.conversations, told.total.sessions), (2, 6));
    assert_eq!(told.starts, [at(0), at(40)]);
    // Delegates have a source of their own, and count towards the conversation that sent them.
    let sources: Vec<_> = told.sources.iter().map(|(source, tally)| (source.as_str(), tally.conversations)).collect();
    assert_eq!(sources, [("telegram", 2)]);
    let models: Vec<_> = told
        .models
        .iter()
        .map(|(model, tally)| (model.as_deref(), tally.conversations, tally.sessions, tally.usage.input_tokens))
        .collect();
    assert_eq!(models, [(None, 1, 2, 10), (Some("big"), 2, 3, 101), (Some("small"), 1, 1, 0)]);
    assert_eq!(told.total.tokens(), 111);
    assert_eq!(told.total.messages, MessageCounts { user: 4, assistant: 3, tool: 0, other: 0 });
    assert_eq!(notable(&told, Distinction::Messages), Some(("c2", Some("build #3"), at(0), 7.0)));
    Ok(())
}

/// Sessions count by their own start, and conversations by the source of their first session.
pub async fn only_what_was_asked_for(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    made(&*store, "other", 18).await;
    let told = store.insights(&since(15)).await?;
    // The conversation continued within the span: `d2` started at 15, `c2` at 20.
    assert_eq!((told.total.conversations, told.total.sessions), (3, 4));
    assert_eq!(told.starts, [at(15), at(18), at(40)]);
    assert_eq!((told.total.usage.input_tokens, told.total.messages.user), (0, 1));
    let by_source = |tag: &str| InsightsRequest { source: Some(source(tag)), ..all() };
    let told = store.insights(&by_source("telegram")).await?;
    assert_eq!((told.total.conversations, told.total.sessions), (2, 6));
    let told = store.insights(&by_source("cli")).await?;
    assert_eq!((told.total.conversations, told.total.sessions, told.tools.len()), (1, 1, 0));
    // Sources match exactly, including trailing blanks.
    for nobody in ["delegate", "CLI", "cli "] {
        assert_eq!(store.insights(&by_source(nobody)).await?, Insights::default(), "{nobody:?}");
    }
    let without =
        |tags: &[&str]| InsightsRequest { exclude_sources: tags.iter().map(|tag| source(tag)).collect(), ..all() };
    let told = store.insights(&without(&["telegram", "nobody", "delegate", "CLI"])).await?;
    assert_eq!(told, store.insights(&by_source("cli")).await?);
    assert_eq!(store.insights(&without(&["telegram", "cli"])).await?, Insights::default());
    let both = InsightsRequest { source: Some(source("cli")), ..without(&["cli"]) };
    assert_eq!(store.insights(&both).await?, Insights::default());
    assert_eq!(store.insights(&since(41)).await?, Insights::default());
    Ok(())
}

/// The number of uses is the maximum of calls and results; skills are identified by the arguments of two tools.
pub async fn tools_and_skills_are_counted(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "s", 0).await;
    let result = |tool: Option<&str>| -> NewMessage {
        MessageBody { tool_name: tool.map(str::to_owned), ..MessageBody::empty(Role::Tool) }.into()
    };
    let skill = |tool: &str, arguments: &str| {
        calls(&format!(r#"[{{"id": "x", "function": {{"name": "{tool}", "arguments": {arguments}}}}}]"#))
    };
    let messages = [
        calls(r#"[{"function": {"name": "terminal", "arguments": "{}"}}, {"name": "Terminal"}, 5]"#),
        calls(r#"{"function": {"name": "größe"}}"#),
        result(Some("terminal")),
        result(Some("terminal")),
        result(Some("terminal ")),
        result(Some("")),
        result(None),
        skill("skill_view", r#""{\"name\": \"pdf\"}""#).said_at(at(30)),
        skill("skill_manage", r#"{"name": "pdf"}"#).said_at(at(20)),
        skill("skill_view", r#""{\"name\": \"日本 <b>\"}""#).said_at(at(10)),
        skill("skill_view", r#""no object""#),
        // Only the assistant calls tools, and only tools have results.
        MessageBody { tool_calls: calls(r#"[{"name": "x"}]"#).body.tool_calls, ..MessageBody::empty(Role::User) }
            .into(),
        MessageBody { tool_name: Some("y".into()), ..MessageBody::empty(Role::Assistant) }.into(),
        NewMessage::new(Role::Other("session_meta".into()), "z"),
    ];
    store.append(&id("s"), &messages, &request(1)).await?;
    let told = store.insights(&all()).await?;
    let tools: Vec<_> = told.tools.iter().map(|(name, used)| (name.as_str(), *used)).collect();
    let used = |calls, results| ToolUse { calls, results };
    assert_eq!(
        tools,
        [
            ("Terminal", used(1, 0)),
            ("größe", used(1, 0)),
            ("skill_manage", used(1, 0)),
            ("skill_view", used(3, 0)),
            ("terminal", used(1, 2)),
            ("terminal ", used(0, 1)),
        ]
    );
    assert_eq!(told.tools["terminal"].count(), 2);
    let skill = |loads, edits, seconds| SkillUse { loads, edits, last_used: Some(at(seconds)) };
    assert_eq!(
        told.skills,
        BTreeMap::from([("pdf".to_owned(), skill(1, 1, 30)), ("日本 <b>".to_owned(), skill(1, 0, 10))])
    );
    assert_eq!(told.total.tool_calls, 7);
    assert_eq!(told.total.messages, MessageCounts { user: 1, assistant: 7, tool: 5, other: 1 });
    assert_eq!(notable(&told, Distinction::ToolCalls), Some(("s", None, at(0), 7.0)));
    Ok(())
}

/// Billed cost takes precedence over the estimate; an unknown price is `None`. Time is that of the chain, ended or not.
pub async fn cost_and_time_are_reported(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let with = |status: &str, estimate: Option<f64>, billed: Option<f64>| UsageUpdate {
        estimated_cost_usd: estimate,
        actual_cost_usd: billed,
        cost_status: Some(status.to_owned()),
        output_tokens: Some(5),
        cache_read_tokens: Some(1),
        ..UsageUpdate::default()
    };
    let updates = [
        ("a", with("estimated", Some(0.5), None)),
        ("b", with("actual", Some(9.0), Some(0.25))),
        ("c", with("unknown", None, None)),
        ("d", with("included", Some(0.0), None)),
    ];
    for (name, update) in updates {
        let session = NewSession { model: Some(format!("m-{name}")), ..new_session(name) };
        store.create(&session, &request(0)).await?;
        store.record_usage(&id(name), &update, &request(1)).await?;
    }
    let told = store.insights(&all()).await?;
    assert_eq!((told.total.cost_usd, told.total.tokens()), (Some(0.75), 24));
    assert_eq!((told.total.unknown_cost_sessions, told.total.included_cost_sessions), (1, 1));
    assert_eq!((told.total.usage.estimated_cost_usd, told.total.usage.actual_cost_usd), (Some(9.5), Some(0.25)));
    let cost = |model: &str| told.models[&Some(model.to_owned())].cost_usd;
    assert_eq!((cost("m-a"), cost("m-b"), cost("m-c"), cost("m-d")), (Some(0.5), Some(0.25), None, Some(0.0)));
    assert_eq!(told.time, TimeSpent::default());
    assert_eq!(notable(&told, Distinction::Longest), None);
    assert_eq!(notable(&told, Distinction::Cost), Some(("a", None, at(0), 0.5)));
    // 10 s until it was compressed, 4 s more until the last message; the time of a delegate and its continuation is not
    // added.
    made(&*store, "root", 100).await;
    store.set_title(&id("root"), Some(&title("plan")), &request(100)).await?;
    store.create(&new_session("sent").child_of(id("root"), Relation::Delegate), &request(101)).await?;
    store.split(&id("root"), &NewChild::new(id("next")), &[user("on").said_at(at(114))], &request(110)).await?;
    store.split(&id("sent"), &NewChild::new(id("zzz")), &[assistant("x").said_at(at(900))], &request(150)).await?;
    store.end(&id("a"), &EndReason::parse("cli_close")?, &request(2)).await?;
    let told = store.insights(&all()).await?;
    let elapsed = at(2).since(at(0)) + (at(110).since(at(100)) + at(114).since(at(110)));
    assert_eq!(told.time, TimeSpent { conversations: 2, seconds: elapsed });
    assert_eq!(notable(&told, Distinction::Longest).map(|told| (told.0, told.1)), Some(("next", Some("plan #2"))));
    Ok(())
}

/// The continuation of a delegate is not part of the conversation's own chain, even if the delegate started before the
/// span.
pub async fn what_a_delegate_goes_on_with_adds_no_time(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "root", 0).await;
    store.create(&new_session("sent").child_of(id("root"), Relation::Delegate), &request(1)).await?;
    for (parent, child, seconds) in [("sent", "zz1", 5), ("zz1", "zz2", 20), ("zz2", "zz3", 30)] {
        let said = [user(child).said_at(at(seconds + 3))];
        store.split(&id(parent), &NewChild::new(id(child)), &said, &request(seconds)).await?;
    }
    store.split(&id("root"), &NewChild::new(id("next")), &[user("x").said_at(at(22))], &request(21)).await?;
    for from in [0, 2, 10, 20] {
        let told = store.insights(&since(from)).await?;
        let root = if from == 0 { at(21).since(at(0)) } else { 0.0 };
        assert_eq!(told.time, TimeSpent { conversations: 1, seconds: root + at(22).since(at(21)) }, "{from}");
        assert_eq!(notable(&told, Distinction::Longest).map(|told| told.0), Some("next"), "{from}");
    }
    // Only the delegate's chain is within the span.
    let told = store.insights(&since(25)).await?;
    assert_eq!((told.total.conversations, told.total.sessions, told.time), (1, 1, TimeSpent::default()));
    assert_eq!(notable(&told, Distinction::Messages).map(|told| told.0), Some("root"));
    Ok(())
}

/// A branch starts with copies of earlier messages: they count only in the original session.
pub async fn a_copy_is_not_counted_again(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "s", 0).await;
    let called = calls(r#"[{"function": {"name": "ls"}}]"#).said_at(at(2));
    let result: NewMessage = MessageBody { tool_name: Some("ls".into()), ..MessageBody::empty(Role::Tool) }.into();
    store.append(&id("s"), &[user("one").said_at(at(1)), called, result.said_at(at(3))], &request(3)).await?;
    store.branch(&id("s"), &NewChild::new(id("b")), &request(10)).await?;
    store.append(&id("b"), &[user("two").said_at(at(11))], &request(11)).await?;
    let told = store.insights(&all()).await?;
    assert_eq!(told.total.messages, MessageCounts { user: 2, assistant: 1, tool: 1, other: 0 });
    assert_eq!((told.total.conversations, told.total.tool_calls), (2, 1));
    assert_eq!(told.tools, BTreeMap::from([("ls".to_owned(), ToolUse { calls: 1, results: 1 })]));
    // The first messages of a continuation may have earlier times, and are not copies.
    let old = user("old").said_at(at(-5));
    store.split(&id("b"), &NewChild::new(id("c")), &[old], &request(20)).await?;
    assert_eq!(store.insights(&all()).await?.total.messages.user, 3);
    Ok(())
}

/// A compressed context starts with copies of earlier messages: they count only in the original session.
pub async fn what_a_compression_copied_is_not_counted_again(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "s", 0).await;
    let skill = |call: &str| {
        calls(&format!(r#"[{{"id": "{call}", "function": {{"name": "skill_view", "arguments": {{"name": "pdf"}}}}}}]"#))
    };
    let result = |call: &str, text: &str| -> NewMessage {
        let (tool_call_id, tool_name) = (Some(call.to_owned()), Some("skill_view".to_owned()));
        MessageBody { tool_call_id, tool_name, ..MessageBody::new(Role::Tool, text) }.into()
    };
    let summary = |text: &str| user(&format!("[CONTEXT COMPACTION — REFERENCE ONLY] {text}"));
    let head = [user("größe"), skill("1"), result("1", "a \u{0} text")];
    let (middle, tail) = ([assistant("hm"), user("go on")], [assistant("done"), user("yes")]);
    let whole = [&head[..], &middle, &tail].concat();
    store.append(&id("s"), &whole, &request(1)).await?;
    let once = MessageCounts { user: 3, assistant: 3, tool: 1, other: 0 };
    assert_eq!(store.insights(&all()).await?.total.messages, once);
    // The agent trims the messages it keeps, and gives them the time of the copy.
    let second = [&head[..], &[summary("one")], &[assistant(" done\n"), user("yes"), skill("2")]].concat();
    store.split(&id("s"), &NewChild::new(id("a")), &second, &request(10)).await?;
    // A session without messages, then a copy of all previous messages.
    store.split(&id("a"), &NewChild::new(id("c")), &[], &request(20)).await?;
    store.split(&id("c"), &NewChild::new(id("b")), &second, &request(30)).await?;
    let third = [summary("two"), skill("2"), result("2", "x"), user("yes"), user("yes")];
    store.split(&id("b"), &NewChild::new(id("z")), &third, &request(40)).await?;
    let told = store.insights(&all()).await?;
    assert_eq!(told.total.messages, MessageCounts { user: 7, assistant: 4, tool: 2, other: 0 });
    assert_eq!((told.total.conversations, told.total.sessions, told.total.tool_calls), (1, 5, 2));
    assert_eq!(told.tools, BTreeMap::from([("skill_view".to_owned(), ToolUse { calls: 2, results: 2 })]));
    assert_eq!(told.skills["pdf"], SkillUse { loads: 2, edits: 0, last_used: Some(at(10)) });
    assert_eq!(notable(&told, Distinction::Messages).map(|told| (told.0, told.3)), Some(("z", 13.0)));
    // A copy of a message from before the span belongs before the span.
    let told = store.insights(&since(40)).await?;
    assert_eq!(told.total.messages, MessageCounts { user: 3, assistant: 0, tool: 1, other: 0 });
    assert_eq!((told.total.tool_calls, told.tools["skill_view"]), (0, ToolUse { calls: 0, results: 1 }));
    Ok(())
}

/// More calls than a page of any provider, over more sessions than a provider queries at once.
pub async fn many_calls_are_all_counted(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let some: Vec<NewMessage> = (0..1_100).map(|_| calls(r#"[{"function": {"name": "ls"}}]"#)).collect();
    for number in 0..70 {
        made(&*store, &format!("s{number:02}"), number).await;
        let count = if number == 3 { some.len() } else { 1 };
        store.append(&id(&format!("s{number:02}")), &some[..count], &request(number)).await?;
    }
    store.record_usage(&id("s03"), &used(1, 0.5, "x"), &request(80)).await?;
    let told = store.insights(&all()).await?;
    assert_eq!((told.tools["ls"].calls, told.total.tool_calls, told.total.conversations), (1_169, 1_169, 70));
    assert_eq!(notable(&told, Distinction::ToolCalls), Some(("s03", None, at(3), 1_100.0)));
    Ok(())
}
