//! Lists: what a row stands for, in what order rows come, and how they are paged and counted.

use crate::fixture::{
    assistant, at, calls, id, ids, made, new_session, request, row_ids, source, structured, title, user,
};
use crate::{CaseResult, Setup};
use hermes_session::{
    Counts, EndReason, ListCursor, ListRequest, Listing, Maintenance, NewChild, NewMessage, NewSession, Order,
    PageRequest, Relation, Role, SessionFilter, SessionId, SessionSummary, StoreError, Usage, UsageUpdate, View,
};

const VIEWS: [View; 2] = [View::Conversations, View::Sessions];
pub(crate) const ORDERS: [Order; 5] = [Order::Active, Order::Started, Order::Messages, Order::Cost, Order::Id];

fn sessions() -> ListRequest {
    ListRequest { view: View::Sessions, ..ListRequest::default() }
}

fn used(input: i64, cost: f64, provider: &str) -> UsageUpdate {
    UsageUpdate {
        input_tokens: Some(input),
        estimated_cost_usd: Some(cost),
        billing_provider: Some(provider.into()),
        ..UsageUpdate::default()
    }
}

/// A conversation of three sessions and two delegates, and a branch of it.
async fn family(store: &dyn Maintenance) -> Result<(), StoreError> {
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
        usage: Usage {
            input_tokens: 111,
            estimated_cost_usd: Some(1.5),
            billing_provider: Some("a".into()),
            ..Usage::default()
        },
        title: Some("build #3".into()),
        last_active: at(900),
        preview: "fix the build".into(),
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
        usage: Usage::default(),
        title: Some("build #4".into()),
        last_active: at(40),
        preview: "summary 1".into(),
        ..conversation_row()
    }
}

/// A compressed chain and its delegates are one row, made of root, tip and sum.
pub async fn a_conversation_is_one_row(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    let listing = store.list(&ListRequest::default()).await?;
    assert_eq!(listing, Listing { rows: vec![conversation_row(), branch_row()], unreadable: vec![], next: None });
    Ok(())
}

/// In the view of sessions every session is a row that tells of nothing but itself.
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
        usage: Usage::default(),
        last_active: at(15),
        preview: String::new(),
        ..d1
    };
    assert_eq!(listing.rows[4], d2);
    assert_eq!(listing.rows[2].last_active, at(20));
    Ok(())
}

/// The work of a delegate counts as activity of its conversation, which its own row does not say.
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

/// The preview is the first thing the person said that is not blank, on one line, cut with dots.
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
    // What comes later, and what takes its place.
    store.append(&id("none"), &[user("late")], &request(1)).await?;
    store.replace(&id("first"), &[user("new")], &request(1)).await?;
    store.replace(&id("order"), &[], &request(1)).await?;
    let rows = store.list(&ListRequest { order: Order::Id, ..sessions() }).await?.rows;
    let shown: Vec<_> = rows.iter().map(|row| row.preview.as_str()).collect();
    assert_eq!(shown[1], "new");
    assert_eq!((shown[4], shown[5]), ("late", ""));
    Ok(())
}

/// A conversation without anything said in its first session shows what was said in its tip.
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

/// Sessions with equal and unequal times, in an order that no column has by chance.
async fn crowd(store: &dyn Maintenance) -> Result<(), StoreError> {
    for (name, started, said) in [
        ("m", 5, Some(50)),
        ("c", 7, None),
        ("x", 5, Some(7)),
        ("B", 5, Some(50)),
        ("p", 9, Some(2)),
        ("é", 5, None),
        ("a", 1, Some(50)),
        ("z", 1, None),
        ("_", 3, Some(9)),
    ] {
        made(store, name, started).await;
        if let Some(said) = said {
            store.append(&id(name), &[user("x")], &request(said)).await?;
        }
    }
    Ok(())
}

/// Newest first, ties by id in the same direction; by id, the smallest first.
pub async fn orders(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    crowd(&*store).await?;
    for view in VIEWS {
        let listed = async |order| {
            let listing = store.list(&ListRequest { view, order, ..ListRequest::default() }).await.unwrap();
            assert_eq!(listing.next, None);
            listing.rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
        };
        assert_eq!(listed(Order::Active).await, ids(&["m", "a", "B", "p", "_", "x", "c", "é", "z"]), "{view:?}");
        assert_eq!(listed(Order::Started).await, ids(&["p", "c", "é", "x", "m", "B", "_", "z", "a"]), "{view:?}");
        assert_eq!(listed(Order::Id).await, ids(&["B", "_", "a", "c", "m", "p", "x", "z", "é"]), "{view:?}");
    }
    Ok(())
}

/// By the number of messages and by the cost of what the row stands for, ties by id; what is unknown is nothing.
pub async fn orders_by_size(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    for (name, messages, cost) in
        [("n", 3, Some(1.5)), ("o", 0, None), ("p", 3, Some(0.0)), ("q", 1, Some(1.75)), ("r", 2, None)]
    {
        made(&*store, name, 5).await;
        store.append(&id(name), &vec![user("x"); messages], &request(6)).await?;
        if let Some(cost) = cost {
            store.record_usage(&id(name), &used(1, cost, "a"), &request(7)).await?;
        }
    }
    let billed = UsageUpdate { actual_cost_usd: Some(0.125), estimated_cost_usd: Some(9.0), ..UsageUpdate::default() };
    store.record_usage(&id("r"), &billed, &request(8)).await?;
    let listed = async |view, order| {
        let listing = store.list(&ListRequest { view, order, ..ListRequest::default() }).await.unwrap();
        listing.rows.iter().map(|row| row.id.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(listed(View::Conversations, Order::Messages).await, "p n c2 r q b o");
    assert_eq!(listed(View::Conversations, Order::Cost).await, "q c2 n r p o b");
    assert_eq!(listed(View::Sessions, Order::Messages).await, "p n root r d1 c2 q c1 b o d2");
    assert_eq!(listed(View::Sessions, Order::Cost).await, "q n c1 d1 root r p o d2 c2 b");
    Ok(())
}

/// Pages by cursor and pages by offset, of any size, give the list, each row once.
pub async fn pages_neither_skip_nor_repeat(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    crowd(&*store).await?;
    family(&*store).await?;
    for (view, order) in VIEWS.into_iter().flat_map(|view| ORDERS.map(|order| (view, order))) {
        let whole = store.list(&ListRequest { view, order, ..ListRequest::default() }).await?.rows;
        assert_eq!(whole.len(), if view == View::Sessions { 15 } else { 11 });
        for limit in [1, 2, 4, 10, 11, 15, 16] {
            let page = PageRequest::first(limit);
            let (mut paged, mut after) = (Vec::new(), None);
            loop {
                let listing = store
                    .list(&ListRequest { view, order, page: page.clone(), after, ..ListRequest::default() })
                    .await?;
                assert_eq!(listing.next.is_some(), listing.rows.len() == limit as usize);
                paged.extend(listing.rows);
                // A page that repeats would go on for ever.
                assert!(paged.len() <= whole.len(), "{view:?} {order:?} by {limit} repeats");
                after = listing.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(paged, whole, "{view:?} {order:?} by {limit}");
            let mut paged = Vec::new();
            for offset in (0..20).step_by(limit as usize) {
                let page = PageRequest::new(i64::from(limit), offset)?;
                paged.extend(store.list(&ListRequest { view, order, page, ..ListRequest::default() }).await?.rows);
            }
            assert_eq!(paged, whole, "{view:?} {order:?} by {limit}, by offset");
        }
    }
    Ok(())
}

/// The edges of paging: nothing asked for, nothing left, more than there is, a row that is gone.
pub async fn edges_of_pages(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    assert_eq!(store.list(&ListRequest::default()).await?, Listing::default());
    crowd(&*store).await?;
    let by_id = |page, after: Option<&str>| ListRequest {
        order: Order::Id,
        page,
        after: after.map(|name| ListCursor { key: 1e9, id: id(name) }),
        ..ListRequest::default()
    };
    assert_eq!(store.list(&by_id(PageRequest::first(0), None)).await?, Listing::default());
    assert_eq!(store.list(&by_id(PageRequest::new(5, 9)?, None)).await?, Listing::default());
    assert_eq!(store.list(&by_id(PageRequest::new(5, i64::MAX)?, None)).await?, Listing::default());
    assert_eq!(row_ids(&store.list(&by_id(PageRequest::first(u32::MAX), None)).await?).len(), 9);
    // A cursor is a place: the row that was there may be gone, or never have been. The offset counts from it.
    assert_eq!(row_ids(&store.list(&by_id(PageRequest::first(2), Some("n"))).await?), ["p", "x"]);
    assert_eq!(row_ids(&store.list(&by_id(PageRequest::new(2, 1)?, Some("c"))).await?), ["p", "x"]);
    let active = |seconds: i32, name: &str| ListRequest {
        after: Some(ListCursor { key: at(seconds).seconds(), id: id(name) }),
        ..ListRequest::default()
    };
    assert_eq!(row_ids(&store.list(&active(9, "b")).await?), ["_", "x", "c", "é", "z"]);
    assert_eq!(row_ids(&store.list(&active(9, "Z")).await?), ["x", "c", "é", "z"]);
    assert_eq!(row_ids(&store.list(&active(0, "b")).await?), [] as [&str; 0]);
    for (limit, offset) in [(-1, 0), (0, -1), (i64::MIN, i64::MIN)] {
        assert!(PageRequest::new(limit, offset).is_err());
    }
    Ok(())
}

/// In the order of ids nothing is missed or repeated while others write.
pub async fn paging_while_others_write(setup: Setup) -> CaseResult {
    let (store, writer) = (setup.store().await, setup.store().await);
    for n in 0..20 {
        made(&*store, &format!("k{n:02}"), n).await;
    }
    let (mut seen, mut after, mut round) = (Vec::new(), None, 0);
    loop {
        let request = ListRequest { order: Order::Id, page: PageRequest::first(3), after, ..sessions() };
        let listing = store.list(&request).await?;
        seen.extend(listing.rows.into_iter().map(|row| row.id));
        after = listing.next;
        if after.is_none() {
            break;
        }
        round += 1;
        assert!(round < 40, "the pages do not end: {seen:?}");
        // Old rows become active, and rows come in before and behind the place of the reader.
        writer.append(&id("k19"), &[user("x")], &crate::fixture::request(1_000 + round)).await?;
        made(&*writer, &format!("a{round}"), 5_000 + round).await;
        made(&*writer, &format!("z{round}"), -round).await;
    }
    let old: Vec<SessionId> = seen.iter().filter(|id| id.as_str().starts_with('k')).cloned().collect();
    assert_eq!(old, (0..20).map(|n| id(&format!("k{n:02}"))).collect::<Vec<_>>());
    assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
    Ok(())
}

/// Each part of a filter, alone and together; a conversation is judged by its first session and its own activity.
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
        (SessionFilter { model: Some("Small".into()), ..plain() }, "", ""),
        (SessionFilter { model: Some(String::new()), ..plain() }, "", ""),
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

/// The counts are those of the lists, for every filter.
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
        SessionFilter { model: Some("big".into()), ..plain() },
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
