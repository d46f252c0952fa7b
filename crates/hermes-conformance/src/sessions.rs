//! Single sessions: create, find, change, end.

use crate::fixture::{
    assert_invalid, assert_not_found, at, conflict, id, ids, json, keyed, made, new_session, request, source, stored,
    title, transcript, user,
};
use crate::{CaseResult, Setup};
use hermes_session::{
    Conflict, DeleteExtent, EndReason, Ensured, Extra, HandoffColumns, MessageRequest, NewChild, NewMessage,
    NewSession, Relation, Request, Role, Session, SessionFilter, SessionId, SessionPatch, Source, Timestamp, Usage,
    UsageUpdate,
};

fn full() -> NewSession {
    NewSession {
        user_id: Some("u-1 大".into()),
        model: Some("vendor/model:free".into()),
        model_config: Some(json(r#"{"temperature": 0.10, "stop": ["\n"]}"#)),
        system_prompt: Some("  You are\r\n helpful.\n".into()),
        started_at: Some(at(-7.25)),
        ..new_session("full")
    }
}

/// Returns the stored form of [`full`].
fn full_stored() -> Session {
    let new = full();
    Session {
        id: new.id,
        source: new.source,
        user_id: new.user_id,
        model: new.model,
        model_config: new.model_config,
        system_prompt: new.system_prompt,
        parent_session_id: None,
        relation: Relation::Root,
        started_at: at(-7.25),
        ended_at: None,
        end_reason: None,
        message_count: 0,
        tool_call_count: 0,
        usage: Usage::default(),
        title: None,
        handoff: HandoffColumns::default(),
        archived: false,
        extra: Extra::new(),
        faults: Vec::new(),
    }
}

/// Every given field comes back, and no other is set.
pub async fn create_then_read(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    store.create(&full(), &request(0)).await?;
    assert_eq!(stored(&*store, &id("full")).await, full_stored());

    store.create(&new_session("bare"), &request(3.5)).await?;
    let bare = Session {
        id: id("bare"),
        user_id: None,
        model: None,
        model_config: None,
        system_prompt: None,
        started_at: at(3.5),
        ..full_stored()
    };
    assert_eq!(stored(&*store, &id("bare")).await, bare);
    assert!(transcript(&*store, &id("bare")).await.is_empty());
    Ok(())
}

/// Empty settings are stored as `None`.
pub async fn empty_settings_are_nothing(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for (name, config) in [("map", "{}"), ("list", "[]"), ("null", "null"), ("text", "\"\""), ("zero", "0")] {
        store.create(&NewSession { model_config: Some(json(config)), ..new_session(name) }, &request(0)).await?;
        assert_eq!(stored(&*store, &id(name)).await.model_config, None, "{config}");
    }
    Ok(())
}

/// Empty texts are kept, not stored as `None`.
pub async fn empty_texts_stay(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let empty = || Some(String::new());
    let new = NewSession { user_id: empty(), model: empty(), system_prompt: empty(), ..new_session("s") };
    store.create(&new, &request(0)).await?;
    let session = stored(&*store, &id("s")).await;
    assert_eq!((session.user_id, session.model, session.system_prompt), (empty(), empty(), empty()));
    Ok(())
}

/// A second session of the same id is refused, and the first is unchanged.
pub async fn a_taken_id_is_a_conflict(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    store.create(&full(), &request(0)).await?;
    let again = NewSession { source: source("telegram"), ..new_session("full") };
    assert_eq!(conflict(store.create(&again, &request(1)).await), Conflict::Exists(id("full")));
    assert_eq!(conflict(store.create(&full(), &request(0)).await), Conflict::Exists(id("full")));
    assert_eq!(stored(&*store, &id("full")).await, full_stored());
    Ok(())
}

/// A missing parent is reported, and nothing is created.
pub async fn the_parent_must_exist(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for relation in [Relation::Continuation, Relation::Branch, Relation::Delegate] {
        let child = new_session("child").child_of(id("ghost"), relation);
        assert_not_found(store.create(&child, &request(0)).await, &id("ghost"));
        assert_not_found(store.ensure(&child, &request(0)).await, &id("ghost"));
    }
    let unsaid = NewSession { parent_session_id: Some(id("ghost")), ..new_session("child") };
    assert_not_found(store.create(&unsaid, &request(0)).await, &id("ghost"));
    assert_eq!(store.session(&id("child")).await?, None);
    assert_eq!(store.counts(&SessionFilter::default()).await?, hermes_session::Counts::default());
    Ok(())
}

/// Invalid arguments are reported before missing objects, and those before conflicts.
pub async fn refusals_have_an_order(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    store.set_title(&session, Some(&title("t")), &request(0)).await?;
    let ghost = id("ghost");
    let child = NewChild { title: Some(title("t")), ..NewChild::new(session.clone()) };
    assert_not_found(
        store.create(&new_session("s").child_of(ghost.clone(), Relation::Branch), &request(1)).await,
        &ghost,
    );
    assert_not_found(store.split(&ghost, &child, &[], &request(1)).await, &ghost);
    assert_not_found(store.branch(&ghost, &child, &request(1)).await, &ghost);
    assert_not_found(store.set_title(&ghost, Some(&title("t")), &request(1)).await, &ghost);
    let bad = NewMessage::new(Role::Other(String::new()), "x");
    assert_invalid(store.append(&ghost, std::slice::from_ref(&bad), &request(1)).await, "role");
    assert_invalid(store.split(&ghost, &child, &[bad], &request(1)).await, "role");
    // Order of conflicts: the id, then the continuation, then the title.
    store.split(&session, &NewChild::new(id("c")), &[], &request(2)).await?;
    assert_eq!(conflict(store.split(&session, &child, &[], &request(3)).await), Conflict::Exists(session.clone()));
    let other = NewChild { id: id("other"), ..child };
    let split = Conflict::AlreadySplit { parent: session.clone(), continuation: id("c") };
    assert_eq!(conflict(store.split(&session, &other, &[], &request(3)).await), split);
    let taken = new_session("c").child_of(session.clone(), Relation::Continuation);
    assert_eq!(conflict(store.create(&taken, &request(3)).await), Conflict::Exists(id("c")));
    assert_eq!(
        conflict(store.branch(&session, &other, &request(3)).await),
        Conflict::TitleTaken { title: "t".into(), holder: session }
    );
    Ok(())
}

/// A session that names itself as its parent is refused, and so is a relation without a parent.
pub async fn nobody_is_their_own_parent(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let own = new_session("s").child_of(id("s"), Relation::Branch);
    let lost = NewSession { relation: Some(Relation::Delegate), ..new_session("s") };
    let root = new_session("s").child_of(id("other"), Relation::Root);
    for odd in [&own, &lost, &root] {
        assert_invalid(store.create(odd, &request(0)).await, "parent session");
        assert_invalid(store.ensure(odd, &request(0)).await, "parent session");
    }
    assert_eq!(store.session(&id("s")).await?, None);
    made(&*store, "s", 0).await;
    assert_invalid(store.create(&own, &request(0)).await, "parent session");
    assert_eq!(stored(&*store, &id("s")).await.parent_session_id, None);
    Ok(())
}

/// Text that a server could not store is refused before anything is written.
pub async fn what_cannot_be_kept_is_refused(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let user = NewSession { user_id: Some("a\0b".into()), ..new_session("s") };
    assert_invalid(store.create(&user, &request(0)).await, "user id");
    let model = NewSession { model: Some("\0".into()), ..new_session("s") };
    assert_invalid(store.ensure(&model, &request(0)).await, "model");
    assert_eq!(store.session(&id("s")).await?, None);
    Ok(())
}

/// `ensure` creates a missing session, fills in a placeholder, and leaves anything else unchanged.
pub async fn ensure_makes_fills_or_leaves(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    assert_eq!(store.ensure(&full(), &request(0)).await?, Ensured::Created);
    assert_eq!(stored(&*store, &id("full")).await, full_stored());

    let other = NewSession { source: source("cron"), user_id: Some("x".into()), ..new_session("full") };
    assert_eq!(store.ensure(&other, &request(1)).await?, Ensured::Existed);
    assert_eq!(stored(&*store, &id("full")).await, full_stored());
    // The arguments are ignored, even a parent that does not exist.
    assert_eq!(store.ensure(&other.child_of(id("ghost"), Relation::Branch), &request(1)).await?, Ensured::Existed);

    let heard_of = NewSession::new(id("heard"), source(Source::UNKNOWN));
    store.create(&NewSession { model: Some("first".into()), ..heard_of }, &request(5)).await?;
    let late = NewSession { id: id("heard"), started_at: Some(at(99)), ..full() };
    assert_eq!(store.ensure(&late, &request(6)).await?, Ensured::Filled);
    let filled = Session { id: id("heard"), model: Some("first".into()), started_at: at(5), ..full_stored() };
    assert_eq!(stored(&*store, &id("heard")).await, filled);
    assert_eq!(store.ensure(&late, &request(7)).await?, Ensured::Existed);
    Ok(())
}

/// A placeholder gets its parent too, unless it has one.
pub async fn ensure_fills_the_parent(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let root = made(&*store, "root", 0).await;
    store.end(&root, &EndReason::compression(), &request(1)).await?;
    store.create(&NewSession::new(id("heard"), source(Source::UNKNOWN)), &request(2)).await?;
    let ghostly = new_session("heard").child_of(id("ghost"), Relation::Delegate);
    assert_not_found(store.ensure(&ghostly, &request(3)).await, &id("ghost"));
    assert_eq!(stored(&*store, &id("heard")).await.source.as_str(), Source::UNKNOWN);

    let late = NewSession { parent_session_id: Some(root.clone()), ..new_session("heard") };
    assert_eq!(store.ensure(&late, &request(3)).await?, Ensured::Filled);
    let session = stored(&*store, &id("heard")).await;
    assert_eq!((session.parent_session_id, session.relation), (Some(root.clone()), Relation::Continuation));

    let orphan = NewSession::new(id("second"), source(Source::UNKNOWN));
    store.create(&orphan.child_of(id("heard"), Relation::Delegate), &request(4)).await?;
    let other = new_session("second").child_of(root, Relation::Branch);
    assert_eq!(store.ensure(&other, &request(5)).await?, Ensured::Filled);
    let session = stored(&*store, &id("second")).await;
    assert_eq!((session.parent_session_id, session.relation), (Some(id("heard")), Relation::Delegate));
    assert_eq!(session.source.as_str(), "cli");
    Ok(())
}

/// Ids are compared by their bytes: case, spaces and combining forms matter.
pub async fn ids_are_exact(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let longest = "x".repeat(255);
    let names = [
        "abc",
        "ABC",
        "Abc",
        "abc ",
        " abc",
        "é",
        "e\u{301}",
        "ÅB",
        "ß",
        "ss",
        "%",
        "_",
        "a\nb",
        "大别山",
        "🚀",
        &longest,
    ];
    for (n, name) in names.iter().enumerate() {
        let new = NewSession { model: Some(format!("model {n}")), ..new_session(name) };
        store.create(&new, &request(n as f64)).await?;
        store.append(&id(name), &[user(name)], &request(n as f64)).await?;
    }
    for (n, name) in names.iter().enumerate() {
        let session = stored(&*store, &id(name)).await;
        assert_eq!((session.id.as_str(), session.model), (*name, Some(format!("model {n}"))));
        assert_eq!(crate::fixture::texts(&*store, &id(name)).await, [*name]);
    }
    for absent in ["aBC", "abc  ", "E\u{301}", "SS", "x", "__", "a b"] {
        assert_eq!(store.session(&id(absent)).await?, None, "{absent:?}");
    }
    assert_eq!(store.session(&SessionId::from_stored("")).await?, None);
    assert_eq!(store.counts(&SessionFilter::default()).await?.sessions, names.len() as u64);
    Ok(())
}

/// A patch changes the fields it names, possibly to `None`; the rest stays.
pub async fn a_patch_changes_only_what_it_names(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    store.create(&full(), &request(0)).await?;
    store.update(&id("full"), &SessionPatch::default(), &request(1)).await?;
    assert_eq!(stored(&*store, &id("full")).await, full_stored());

    let patch =
        SessionPatch { model: Some(Some("other".into())), system_prompt: Some(None), ..SessionPatch::default() };
    store.update(&id("full"), &patch, &request(2)).await?;
    let expected = Session { model: Some("other".into()), system_prompt: None, ..full_stored() };
    assert_eq!(stored(&*store, &id("full")).await, expected);

    let patch = SessionPatch {
        model_config: Some(Some(json("[NaN, 1e400]"))),
        user_id: Some(Some(String::new())),
        system_prompt: Some(Some("new".into())),
        model: Some(None),
    };
    store.update(&id("full"), &patch, &request(3)).await?;
    let expected = Session {
        model: None,
        model_config: Some(json("[NaN, 1e400]")),
        user_id: Some(String::new()),
        system_prompt: Some("new".into()),
        ..full_stored()
    };
    assert_eq!(stored(&*store, &id("full")).await, expected);
    Ok(())
}

/// The first end is kept, with its time and reason.
pub async fn the_first_end_wins(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    store.create(&full(), &request(0)).await?;
    let reason = |text: &str| EndReason::parse(text).unwrap();
    assert!(store.end(&id("full"), &reason("cli_close"), &request(10)).await?);
    let ended = Session { ended_at: Some(at(10)), end_reason: Some(reason("cli_close")), ..full_stored() };
    assert_eq!(stored(&*store, &id("full")).await, ended);
    assert!(!store.end(&id("full"), &reason("compression"), &request(20)).await?);
    assert_eq!(stored(&*store, &id("full")).await, ended);

    assert!(store.reopen(&id("full"), &request(30)).await?);
    assert_eq!(stored(&*store, &id("full")).await, full_stored());
    assert!(!store.reopen(&id("full"), &request(31)).await?);
    // The clock may have been set back since the start; the end has the time of the request.
    assert!(store.end(&id("full"), &reason("später 大"), &request(-1000)).await?);
    let session = stored(&*store, &id("full")).await;
    assert_eq!((session.ended_at, session.end_reason), (Some(at(-1000)), Some(reason("später 大"))));
    Ok(())
}

/// Resuming a compressed session does not split its conversation.
pub async fn reopening_keeps_the_lineage(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let root = made(&*store, "root", 0).await;
    store.split(&root, &NewChild::new(id("child")), &[], &request(10)).await?;
    store.branch(&root, &NewChild::new(id("branch")), &request(20)).await?;
    let (before, rows) = (store.lineage(&root).await?, store.list(&Default::default()).await?);
    assert!(store.reopen(&root, &request(30)).await?);
    assert_eq!(stored(&*store, &root).await.ended_at, None);
    assert_eq!(store.lineage(&root).await?, before);
    assert_eq!(store.lineage(&root).await?.tip(&root), id("child"));
    assert_eq!(store.list(&Default::default()).await?, rows);
    assert_eq!(stored(&*store, &id("child")).await.relation, Relation::Continuation);
    // The child still continues it, so there can be no other continuation.
    let again = conflict(store.split(&root, &NewChild::new(id("again")), &[], &request(40)).await);
    assert_eq!(again, Conflict::AlreadySplit { parent: root, continuation: id("child") });
    Ok(())
}

/// Every method that names a session fails if it does not exist, and leaves no trace.
pub async fn unknown_session(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (ghost, now) = (&id("ghost"), &request(0));
    assert_eq!(store.session(ghost).await?, None);
    assert_not_found(store.update(ghost, &SessionPatch::default(), now).await, ghost);
    assert_not_found(store.end(ghost, &EndReason::compression(), now).await, ghost);
    assert_not_found(store.reopen(ghost, now).await, ghost);
    assert_not_found(store.set_title(ghost, Some(&title("t")), now).await, ghost);
    assert_not_found(store.set_title(ghost, None, now).await, ghost);
    assert_not_found(store.allocate_title(ghost, &title("t"), now).await, ghost);
    assert_not_found(store.split(ghost, &NewChild::new(id("child")), &[user("x")], now).await, ghost);
    assert_not_found(store.branch(ghost, &NewChild::new(id("child")), now).await, ghost);
    for batch in [&[user("x")][..], &[]] {
        assert_not_found(store.append(ghost, batch, now).await, ghost);
        assert_not_found(store.replace(ghost, batch, now).await, ghost);
    }
    assert_not_found(store.messages(ghost, &MessageRequest::first(1)).await, ghost);
    assert_not_found(store.record_usage(ghost, &UsageUpdate::default(), now).await, ghost);
    assert_not_found(store.lineage(ghost).await, ghost);
    assert_not_found(store.delete(ghost, DeleteExtent::Conversation, now).await, ghost);
    assert_not_found(store.delete(ghost, DeleteExtent::Chain, now).await, ghost);
    assert_not_found(store.delete(ghost, DeleteExtent::Session, now).await, ghost);
    assert_not_found(store.recount(ghost).await, ghost);
    // A request that failed leaves its key free.
    assert_not_found(store.append(ghost, &[user("x")], &keyed(0, "k")).await, ghost);
    assert_eq!(store.counts(&SessionFilter::default()).await?, hermes_session::Counts::default());
    assert!(store.titled("t").await?.is_empty());
    let real = made(&*store, "real", 0).await;
    store.append(&real, &[user("x")], &keyed(0, "k")).await?;
    Ok(())
}

/// Several sessions are returned in the requested order, without those that do not exist.
pub async fn several_at_once(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for name in ["a", "b", "B", "c"] {
        made(&*store, name, 0).await;
    }
    let asked = ["c", "nobody", "B", "a", "c"].map(id);
    let found = store.sessions(&asked).await?;
    assert_eq!(found.iter().map(|session| session.id.as_str()).collect::<Vec<_>>(), ["c", "B", "a", "c"]);
    assert_eq!(Some(&found[1]), store.session(&asked[2]).await?.as_ref(), "they are whole");
    let many: Vec<_> = std::iter::repeat_with(|| id("b")).take(3000).collect();
    assert_eq!(store.sessions(&many).await?.len(), 3000);
    assert!(store.sessions(&[]).await?.is_empty());
    Ok(())
}

/// A prefix is literal text, not a pattern, and case-sensitive.
pub async fn prefixes_are_literal(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for name in [
        "a%b",
        "a_b",
        "aXb",
        "A_b",
        "ab",
        "a",
        "a\\b",
        "a*",
        "éa",
        "e\u{301}a",
        "20250305_a",
        "20250305_A",
        "ÿ",
        "\u{10ffff}x",
    ] {
        made(&*store, name, 0).await;
    }
    for (prefix, found) in [
        ("a%", vec!["a%b"]),
        ("a_", vec!["a_b"]),
        ("a\\", vec!["a\\b"]),
        ("a*", vec!["a*"]),
        ("A", vec!["A_b"]),
        ("é", vec!["éa"]),
        ("e", vec!["e\u{301}a"]),
        ("20250305_a", vec!["20250305_a"]),
        ("20250305_", vec!["20250305_A", "20250305_a"]),
        ("a", vec!["a", "a%b", "a*", "aXb", "a\\b", "a_b", "ab"]),
        ("ÿ", vec!["ÿ"]),
        ("\u{10ffff}", vec!["\u{10ffff}x"]),
        ("b", vec![]),
        ("a%b ", vec![]),
    ] {
        assert_eq!(store.ids_with_prefix(prefix, 100).await?, ids(&found), "{prefix:?}");
    }
    assert_eq!(store.ids_with_prefix("a", 2).await?, ids(&["a", "a%b"]));
    assert!(store.ids_with_prefix("a", 0).await?.is_empty());
    assert_invalid(store.ids_with_prefix("", 10).await, "prefix");
    Ok(())
}

/// Times come back with the same bits, whatever they are.
pub async fn times_are_exact(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let times =
        [0.1 + 0.2, 1.0, 0.0, -1.5, 1e300, -1e300, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1_741_166_123.000_000_2];
    for (n, seconds) in times.into_iter().enumerate() {
        let time = Timestamp::from_seconds(seconds).unwrap();
        let name = format!("s{n}");
        let new = NewSession { started_at: Some(time), ..new_session(&name) };
        store.create(&new, &request(0)).await?;
        store.append(&id(&name), &[user("x").said_at(time), user("y")], &Request::at(time)).await?;
        store.end(&id(&name), &EndReason::parse("x").unwrap(), &Request::at(time)).await?;
        let session = stored(&*store, &id(&name)).await;
        let said = transcript(&*store, &id(&name)).await;
        let back = [session.started_at, session.ended_at.unwrap(), said[0].timestamp, said[1].timestamp];
        assert_eq!(back.map(|time| time.seconds().to_bits()), [seconds.to_bits(); 4], "{seconds}");
    }
    Ok(())
}
