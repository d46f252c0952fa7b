//! Lists: the content of rows, which rows there are, and counts. Their order is tested in `ordering`.

use crate::fixture::{assistant, at, calls, id, made, new_session, request, row_ids, source, structured, title, user};
use crate::ordering::crowd;
use crate::{CaseResult, Setup};
use hermes_session::{
    Counts, EndReason, ListRequest, Listing, Maintenance, NewChild, NewMessage, NewSession, Order, PageRequest,
    Relation, Role, SessionFilter, SessionSummary, StoreError, Usage, UsageUpdate, View,
};

pub(crate) fn sessions() -> ListRequest {
    ListRequest { view: View::Sessions, ..ListRequest::default() }
}

pub(crate) fn used(input: i64, cost: f64, provider: &str) -> UsageUpdate {
    UsageUpdate {
        input_tokens: Some(input),
        estimated_cost_usd: Some(cost),
        billing_provider: Some(provider.into()),
        ..UsageUpdate::default()
    }
}

/// Creates a conversation of three sessions and two delegates, and a branch of it.
pub(crate) async fn family(store: &dyn Maintenance) -> Result<(), StoreError> {
    let root = NewSession {
        user_id: Some("u".into()),
        model: Some("big".into()),
        system_prompt: Some("prompt".into()),
        ..NewSession::new(id("root"), source("telegram"))
    };
    store.create(&root, &request(0)).await?;
    store.append(&id("root"), &[assistant("hello"), user(" fix\n the build")], &request(1)).await?;
    store.set_title(&id("root"), Some(&title("build")), &request(1)).await?;
    store.record_usage(&id("root"), &used(1, 0.25, "a"), &request(1)).await?;
    let delegate = NewSession { source: source("delegate"), ..new_session("d1") };
    store.create(&delegate.child_of(id("root"), Relation::Delegate), &request(2)).await?;
    store.append(&id("d1"), &[user("sub"), calls("[{}]")], &request(900)).await?;
    store.record_usage(&id("d1"), &used(10, 0.5, "b"), &request(3)).await?;
    store.split(&id("root"), &NewChild::new(id("c1")), &[user("summary 1")], &request(10)).await?;
    store.record_usage(&id("c1"), &used(100, 0.75, "c"), &request(11)).await?;
    let tip = NewChild { model: Some("small".into()), ..NewChild::new(id("c2")) };
    store.split(&id("c1"), &tip, &[user("summary 2"), calls("[{}, {}]")], &request(20)).await?;
    store.end(&id("c2"), &EndReason::parse("cli_close")?, &request(30)).await?;
    store.create(&new_session("d2").child_of(id("c1"), Relation::Delegate), &request(15)).await?;
    store.branch(&id("c1"), &NewChild::new(id("b")), &request(40)).await?;
    Ok(())
}

fn conversation_row() -> SessionSummary {
    SessionSummary {
        id: id("c2"),
        conversation: id("root"),
        segments: 5,
        source: source("telegram"),
        user_id: Some("u".into()),
        model: Some("small".into()),
        parent_session_id: None,
        relation: Relation::Root,
        started_at: at(0),
        ended_at: Some(at(30)),
        end_reason: Some(EndReason::parse("cli_close").unwrap()),
        message_count: 2,
        tool_call_count: 2,
        messages: 7,
        tool_calls: 3,
        usage: Usage {
            input_tokens: 111,
            estimated_cost_usd: Some(1.5),
            billing_provider: Some("a".into()),
            ..Usage::default()
        },
        title: Some("build #3".into()),
        last_active: at(900),
        preview: "fix the build".into(),
        pinned_at: None,
        tags: Vec::new(),
        is_archived: false,
    }
}

fn branch_row() -> SessionSummary {
    SessionSummary {
        id: id("b"),
        conversation: id("b"),
        segments: 1,
        model: Some("big".into()),
        parent_session_id: Some(id("c1")),
        relation: Relation::Branch,
        started_at: at(40),
        ended_at: None,
        end_reason: None,
        message_count: 1,
        tool_call_count: 0,
        messages: 1,
        tool_calls: 0,
        usage: Usage::default(),
        title: Some("build #4".into()),
        last_active: at(40),
        preview: "summary 1".into(),
        ..conversation_row()
    }
}

/// A compressed chain and its delegates are one row, combined from root, tip and sums.
pub async fn a_conversation_is_one_row(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    let listing = store.list(&ListRequest::default()).await?;
    assert_eq!(listing, Listing { rows: vec![conversation_row(), branch_row()], unreadable: vec![], next: None });
    Ok(())
}

/// In the view of sessions every session is a row with only its own data.
pub async fn every_session_by_itself(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    let listing = store.list(&ListRequest { order: Order::Id, ..sessions() }).await?;
    assert_eq!(row_ids(&listing), ["b", "c1", "c2", "d1", "d2", "root"]);
    assert_eq!(listing.rows[0], branch_row());
    let conversations: Vec<_> = listing.rows.iter().map(|row| row.conversation.as_str()).collect();
    assert_eq!(conversations, ["b", "root", "root", "root", "root", "root"]);
    let d1 = SessionSummary {
        id: id("d1"),
        segments: 1,
        source: source("delegate"),
        user_id: None,
        model: None,
        parent_session_id: Some(id("root")),
        relation: Relation::Delegate,
        started_at: at(2),
        ended_at: None,
        end_reason: None,
        tool_call_count: 1,
        messages: 2,
        tool_calls: 1,
        usage: Usage::default().after(&used(10, 0.5, "b")),
        title: None,
        preview: "sub".into(),
        ..conversation_row()
    };
    assert_eq!(listing.rows[3], d1);
    let d2 = SessionSummary {
        id: id("d2"),
        source: source("cli"),
        parent_session_id: Some(id("c1")),
        started_at: at(15),
        message_count: 0,
        tool_call_count: 0,
        messages: 0,
        tool_calls: 0,
        usage: Usage::default(),
        last_active: at(15),
        preview: String::new(),
        ..d1
    };
    assert_eq!(listing.rows[4], d2);
    assert_eq!(listing.rows[2].last_active, at(20));
    Ok(())
}

/// The last activity of a session is the newest time of its messages, or its start if that is later. Nothing else
/// counts.
pub async fn last_activity(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let active = async |name: &str| {
        let listing = store.list(&sessions()).await.unwrap();
        listing.rows.into_iter().find(|row| row.id == id(name)).unwrap().last_active
    };
    let session = made(&*store, "s", 100).await;
    assert_eq!(active("s").await, at(100));
    store.append(&session, &[user("older").said_at(at(50))], &request(60)).await?;
    assert_eq!(active("s").await, at(100), "a message from before the start");
    store.append(&session, &[user("newer").said_at(at(300)), user("between").said_at(at(200))], &request(60)).await?;
    assert_eq!(active("s").await, at(300), "the newest is not the last");
    store.append(&session, &[user("back")], &request(10)).await?;
    assert_eq!(active("s").await, at(300), "the clock went back");
    store.end(&session, &EndReason::parse("x")?, &request(900)).await?;
    store.set_title(&session, Some(&title("t")), &request(901)).await?;
    assert_eq!(active("s").await, at(300), "only messages are activity");
    store.replace(&session, &[user("early").said_at(at(150))], &request(902)).await?;
    assert_eq!(active("s").await, at(150), "what was replaced does not count");
    store.replace(&session, &[], &request(903)).await?;
    assert_eq!(active("s").await, at(100));
    Ok(())
}

/// The preview is the first message of the user that is not blank, on one line, cut with dots.
pub async fn previews(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let preview = async |name: &str, messages: &[NewMessage]| {
        store.create(&new_session(name), &request(0)).await.unwrap();
        store.append(&id(name), messages, &request(0)).await.unwrap();
        let rows = store.list(&sessions()).await.unwrap().rows;
        rows.into_iter().find(|row| row.id == id(name)).unwrap().preview
    };
    let parts = |text: &str| NewMessage::new(Role::User, structured(text));
    assert_eq!(preview("none", &[]).await, "");
    assert_eq!(preview("others", &[assistant("hi"), calls("[{}]")]).await, "");
    assert_eq!(preview("first", &[assistant("hi"), user("one"), user("two")]).await, "one");
    assert_eq!(preview("blank", &[user(" \n\t"), user(""), user("\u{3000}\0"), user(" two\r\n 2 ")]).await, "two 2");
    assert_eq!(preview("order", &[user("first").said_at(at(9)), user("second").said_at(at(1))]).await, "first");
    assert_eq!(
        preview("parts", &[parts(r#"[{"type": "text", "text": "look"}, {"type": "image_url"}]"#)]).await,
        "look [image]"
    );
    assert_eq!(preview("memory", &[user("<memory-context>\nx\n</memory-context>\nhi")]).await, "hi");
    assert_eq!(preview("surrogate", &[parts(r#""a\ud800""#)]).await, "a\u{fffd}");
    assert_eq!(preview("long", &[user(&"é".repeat(121))]).await, format!("{}...", "é".repeat(117)));
    // A later message, and a replacement.
    store.append(&id("none"), &[user("late")], &request(1)).await?;
    store.replace(&id("first"), &[user("new")], &request(1)).await?;
    store.replace(&id("order"), &[], &request(1)).await?;
    let rows = store.list(&ListRequest { order: Order::Id, ..sessions() }).await?.rows;
    let shown: Vec<_> = rows.iter().map(|row| row.preview.as_str()).collect();
    assert_eq!(shown[1], "new");
    assert_eq!((shown[4], shown[5]), ("late", ""));
    Ok(())
}

/// The preview of a conversation without messages in its first session comes from its tip.
pub async fn the_preview_of_a_conversation(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "root", 0).await;
    store.split(&id("root"), &NewChild::new(id("mid")), &[user("mid")], &request(1)).await?;
    store.split(&id("mid"), &NewChild::new(id("tip")), &[user("tip")], &request(2)).await?;
    assert_eq!(store.list(&ListRequest::default()).await?.rows[0].preview, "tip");
    store.append(&id("root"), &[user("root")], &request(3)).await?;
    assert_eq!(store.list(&ListRequest::default()).await?.rows[0].preview, "root");
    Ok(())
}

/// Each part of a filter, alone and combined; a conversation is filtered by its first session and its own activity.
pub async fn filters(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    for (name, tag, user_id, started) in
        [("x1", "cli", Some("u"), 500), ("x2", "CLI", Some("U"), 600), ("x3", "cron", None, 900)]
    {
        let new = NewSession { user_id: user_id.map(Into::into), ..NewSession::new(id(name), source(tag)) };
        store.create(&new, &request(started)).await?;
    }
    store.set_title(&id("x3"), Some(&title("U\u{308}ber alles")), &request(900)).await?;
    let plain = SessionFilter::default;
    let tags = |tags: &[&str]| tags.iter().map(|tag| source(tag)).collect::<Vec<_>>();
    let table = [
        (plain(), "x3 root x2 x1 b", "x3 d1 x2 x1 b c2 d2 c1 root"),
        (SessionFilter { sources: Some(tags(&["cli"])), ..plain() }, "x1", "x1 d2"),
        (SessionFilter { sources: Some(tags(&["cli", "cron", "nope"])), ..plain() }, "x3 x1", "x3 x1 d2"),
        (SessionFilter { sources: Some(vec![]), ..plain() }, "", ""),
        (SessionFilter { sources: Some(tags(&["delegate"])), ..plain() }, "", "d1"),
        (SessionFilter { exclude_sources: tags(&["telegram", "CLI"]), ..plain() }, "x3 x1", "x3 d1 x1 d2"),
        (SessionFilter { sources: Some(tags(&["cli"])), exclude_sources: tags(&["cli"]), ..plain() }, "", ""),
        (SessionFilter { user_id: Some("u".into()), ..plain() }, "root x1 b", "x1 b c2 c1 root"),
        (SessionFilter { user_id: Some(String::new()), ..plain() }, "", ""),
        (SessionFilter { active_since: Some(at(600)), ..plain() }, "x3 root x2", "x3 d1 x2"),
        (SessionFilter { active_before: Some(at(600)), ..plain() }, "x1 b", "x1 b c2 d2 c1 root"),
        (SessionFilter { active_since: Some(at(500)), active_before: Some(at(900)), ..plain() }, "x2 x1", "x2 x1"),
        (SessionFilter { active_since: Some(at(9)), active_before: Some(at(9)), ..plain() }, "", ""),
        (SessionFilter { model: Some("big".into()), ..plain() }, "b", "b c1 root"),
        (SessionFilter { model: Some("small".into()), ..plain() }, "root", "c2"),
        (SessionFilter { model: Some("MAL".into()), ..plain() }, "root", "c2"),
        (SessionFilter { model: Some("smaller".into()), ..plain() }, "", ""),
        (SessionFilter { model: Some("%".into()), ..plain() }, "", ""),
        (SessionFilter { model: Some("b_g".into()), ..plain() }, "", ""),
        (SessionFilter { model: Some(String::new()), ..plain() }, "root b", "b c2 c1 root"),
        (SessionFilter { title: Some("BUILD".into()), ..plain() }, "root b", "b c2 c1 root"),
        (SessionFilter { title: Some("ld #3".into()), ..plain() }, "root", "c2"),
        (SessionFilter { title: Some("%".into()), ..plain() }, "", ""),
        (SessionFilter { title: Some("ÜBER".into()), ..plain() }, "x3", "x3"),
        (SessionFilter { title: Some(String::new()), ..plain() }, "x3 root b", "x3 b c2 c1 root"),
        (
            SessionFilter {
                title: Some("build".into()),
                model: Some("big".into()),
                active_since: Some(at(30)),
                ..plain()
            },
            "b",
            "b",
        ),
    ];
    for (filter, conversations, sessions) in table {
        for (view, expected) in [(View::Conversations, conversations), (View::Sessions, sessions)] {
            let rows = store.list(&ListRequest { view, filter: filter.clone(), ..ListRequest::default() }).await?.rows;
            let name = |row: &SessionSummary| match view {
                View::Conversations => row.conversation.to_string(),
                View::Sessions => row.id.to_string(),
            };
            assert_eq!(rows.iter().map(name).collect::<Vec<_>>().join(" "), expected, "{view:?} {filter:?}");
            let limit =
                ListRequest { view, filter: filter.clone(), page: PageRequest::new(2, 1)?, ..ListRequest::default() };
            let paged: Vec<_> = rows.into_iter().skip(1).take(2).collect();
            assert_eq!(store.list(&limit).await?.rows, paged, "{view:?} {filter:?}");
        }
    }
    Ok(())
}

/// Counts match the lists, for every filter.
pub async fn counts_match_the_list(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    assert_eq!(store.counts(&SessionFilter::default()).await?, Counts::default());
    family(&*store).await?;
    crowd(&*store).await?;
    let counts = store.counts(&SessionFilter::default()).await?;
    assert_eq!(counts, Counts { conversations: 11, sessions: 15, messages: 14 });
    let plain = SessionFilter::default;
    for filter in [
        SessionFilter { sources: Some(vec![source("cli")]), ..plain() },
        SessionFilter { sources: Some(vec![]), ..plain() },
        SessionFilter { exclude_sources: vec![source("cli")], ..plain() },
        SessionFilter { user_id: Some("u".into()), ..plain() },
        SessionFilter { active_since: Some(at(20)), ..plain() },
        SessionFilter { active_before: Some(at(50)), exclude_sources: vec![source("delegate")], ..plain() },
        SessionFilter { model: Some("BI".into()), ..plain() },
        SessionFilter { title: Some("BUILD".into()), active_since: Some(at(10)), ..plain() },
    ] {
        let rows = async |view| {
            let request =
                ListRequest { view, filter: filter.clone(), page: PageRequest::first(1_000), ..ListRequest::default() };
            store.list(&request).await.unwrap().rows
        };
        let (conversations, sessions) = (rows(View::Conversations).await, rows(View::Sessions).await);
        let expected = Counts {
            conversations: conversations.len() as u64,
            sessions: sessions.len() as u64,
            messages: sessions.iter().map(|row| row.message_count as u64).sum(),
        };
        assert_eq!(store.counts(&filter).await?, expected, "{filter:?}");
    }
    Ok(())
}
