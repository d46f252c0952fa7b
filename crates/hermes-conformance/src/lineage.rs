//! Sessions with parents: continuations, branches, delegates.

use crate::fixture::{
    assert_invalid, assistant, at, calls, conflict, id, ids, json, made, new_session, request, source, stored, texts,
    title, transcript, user,
};
use crate::{CaseResult, Setup};
use hermes_session::{
    Conflict, DeleteExtent, EndReason, Extra, HandoffColumns, Lineage, Link, ListRequest, Maintenance, NewChild,
    NewSession, Relation, Session, SessionId, Source, Usage, UsageUpdate,
};

/// Creates a session with everything that a child may inherit.
async fn rich(store: &dyn Maintenance) -> SessionId {
    let new = NewSession {
        user_id: Some("u".into()),
        model: Some("m".into()),
        model_config: Some(json(r#"{"a": 1}"#)),
        system_prompt: Some("be kind".into()),
        ..NewSession::new(id("parent"), source("telegram"))
    };
    store.create(&new, &request(0)).await.unwrap();
    store.append(&id("parent"), &[user("one"), calls(r#"[{"id": "c"}]"#).said_at(at(-5))], &request(1)).await.unwrap();
    store.set_title(&id("parent"), Some(&title("work")), &request(2)).await.unwrap();
    let used = UsageUpdate { input_tokens: Some(7), ..UsageUpdate::default() };
    store.record_usage(&id("parent"), &used, &request(3)).await.unwrap();
    id("parent")
}

fn heir(name: &str, relation: Relation, parent: &SessionId) -> Session {
    Session {
        id: id(name),
        source: source("telegram"),
        user_id: Some("u".into()),
        model: Some("m".into()),
        model_config: Some(json(r#"{"a": 1}"#)),
        system_prompt: Some("be kind".into()),
        parent_session_id: Some(parent.clone()),
        relation,
        started_at: at(10),
        ended_at: None,
        end_reason: None,
        message_count: 0,
        tool_call_count: 0,
        usage: Usage::default(),
        title: Some("work #2".into()),
        handoff: HandoffColumns::default(),
        archived: false,
        extra: Extra::new(),
        faults: Vec::new(),
    }
}

/// A split ends the parent and creates, fills and titles the child in one transaction.
pub async fn a_split_is_one_step(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let parent = rich(&*store).await;
    let before = stored(&*store, &parent).await;
    let summary = [user("summary"), assistant("go on").said_at(at(4)), calls("[{}, {}]")];
    let given = store.split(&parent, &NewChild::new(id("child")), &summary, &request(10)).await?;
    assert_eq!(given, Some(title("work #2")));
    let ended = Session { ended_at: Some(at(10)), end_reason: Some(EndReason::compression()), ..before };
    assert_eq!(stored(&*store, &parent).await, ended);
    let child = Session { message_count: 3, tool_call_count: 2, ..heir("child", Relation::Continuation, &parent) };
    assert_eq!(stored(&*store, &id("child")).await, child);
    let said = transcript(&*store, &id("child")).await;
    assert_eq!(said.iter().map(|message| message.timestamp).collect::<Vec<_>>(), [at(10), at(4), at(10)]);
    assert_eq!(said.into_iter().map(|message| message.body).collect::<Vec<_>>(), summary.map(|message| message.body));
    assert_eq!(texts(&*store, &parent).await, ["one", ""]);

    // Explicit fields of the child take precedence over inherited ones. Without a title there is no number.
    let bare = made(&*store, "bare", 0).await;
    let asked = NewChild {
        system_prompt: Some("be brief".into()),
        model: Some("small".into()),
        title: Some(title("asked")),
        ..NewChild::new(id("asked"))
    };
    assert_eq!(store.split(&bare, &asked, &[], &request(11)).await?, Some(title("asked")));
    let session = stored(&*store, &id("asked")).await;
    assert_eq!((session.system_prompt.as_deref(), session.model.as_deref()), (Some("be brief"), Some("small")));
    let untitled = made(&*store, "untitled", 0).await;
    assert_eq!(store.split(&untitled, &NewChild::new(id("plain")), &[], &request(12)).await?, None);
    assert_eq!(stored(&*store, &id("plain")).await.title, None);
    Ok(())
}

/// A split that fails changes nothing.
pub async fn a_split_is_all_or_nothing(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let parent = rich(&*store).await;
    made(&*store, "other", 0).await;
    store.set_title(&id("other"), Some(&title("held")), &request(1)).await?;
    let before = (stored(&*store, &parent).await, store.lineage(&parent).await?);
    let child = NewChild::new(id("child"));
    let titled = NewChild { title: Some(title("held")), ..child.clone() };
    let result = store.split(&parent, &titled, &[user("x")], &request(5)).await;
    assert_eq!(conflict(result), Conflict::TitleTaken { title: "held".into(), holder: id("other") });
    let result = store.branch(&parent, &titled, &request(5)).await;
    assert_eq!(conflict(result), Conflict::TitleTaken { title: "held".into(), holder: id("other") });
    let result = store.split(&parent, &NewChild::new(id("other")), &[], &request(5)).await;
    assert_eq!(conflict(result), Conflict::Exists(id("other")));
    assert_eq!(
        conflict(store.split(&parent, &NewChild::new(parent.clone()), &[], &request(5)).await),
        Conflict::Exists(parent.clone())
    );
    assert_eq!(
        conflict(store.branch(&parent, &NewChild::new(parent.clone()), &request(5)).await),
        Conflict::Exists(parent.clone())
    );
    let bad = user("x");
    let bad = hermes_session::NewMessage {
        body: hermes_session::MessageBody { tool_name: Some("\0".into()), ..bad.body },
        timestamp: None,
    };
    assert_invalid(store.split(&parent, &child, &[user("fine"), bad], &request(5)).await, "tool_name");
    assert_eq!((stored(&*store, &parent).await, store.lineage(&parent).await?), before);
    assert_eq!(store.session(&id("child")).await?, None);
    Ok(())
}

/// Splitting a session that has ended sets its end reason to compression; the time of its end stays.
pub async fn an_ended_session_can_be_split(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let parent = made(&*store, "parent", 0).await;
    store.end(&parent, &EndReason::parse("cli_close")?, &request(50)).await?;
    store.split(&parent, &NewChild::new(id("child")), &[user("x")], &request(20)).await?;
    let ended = stored(&*store, &parent).await;
    assert_eq!((ended.ended_at, ended.end_reason), (Some(at(50)), Some(EndReason::compression())));
    // The clock was set back since: the child does not start before the parent's end, but its messages have the time of
    // the request.
    assert_eq!(stored(&*store, &id("child")).await.started_at, at(50));
    assert_eq!(transcript(&*store, &id("child")).await[0].timestamp, at(20));
    Ok(())
}

/// A session has at most one continuation, however the second one is created.
pub async fn one_continuation_only(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let parent = made(&*store, "parent", 0).await;
    store.split(&parent, &NewChild::new(id("first")), &[], &request(1)).await?;
    let refused = Conflict::AlreadySplit { parent: parent.clone(), continuation: id("first") };
    let before = stored(&*store, &parent).await;
    let result = store.split(&parent, &NewChild::new(id("second")), &[], &request(2)).await;
    assert_eq!(conflict(result), refused);
    let second = new_session("second").child_of(parent.clone(), Relation::Continuation);
    assert_eq!(conflict(store.create(&second, &request(2)).await), refused);
    assert_eq!(conflict(store.ensure(&second, &request(2)).await), refused);
    assert_eq!(store.session(&id("second")).await?, None);
    assert_eq!(stored(&*store, &parent).await, before);

    // A child without a given relation becomes a branch, so that it is not hidden.
    let unsaid = NewSession { parent_session_id: Some(parent.clone()), ..new_session("second") };
    store.create(&unsaid, &request(3)).await?;
    assert_eq!(stored(&*store, &id("second")).await.relation, Relation::Branch);
    assert_eq!(store.lineage(&parent).await?.tip(&parent), id("first"));

    // The same for a continuation created by `create`.
    let other = made(&*store, "other", 0).await;
    store.create(&new_session("on").child_of(other.clone(), Relation::Continuation), &request(4)).await?;
    assert_eq!(stored(&*store, &other).await.ended_at, None);
    let result = store.split(&other, &NewChild::new(id("third")), &[], &request(5)).await;
    assert_eq!(conflict(result), Conflict::AlreadySplit { parent: other, continuation: id("on") });
    Ok(())
}

/// Of concurrent splits over two handles exactly one succeeds.
pub async fn two_splits_one_winner(setup: Setup) -> CaseResult {
    let handles = [setup.store().await, setup.store().await];
    for round in 0..6 {
        let parent = made(&*handles[0], &format!("parent{round}"), 0).await;
        let mut splits = tokio::task::JoinSet::new();
        for n in 0..4 {
            let (store, parent) = (handles[n % 2].clone(), parent.clone());
            let child = NewChild::new(id(&format!("child{round}-{n}")));
            splits.spawn(async move {
                let result = store.split(&parent, &child, &[user("summary")], &request(1)).await;
                (child.id, result)
            });
        }
        let answers = splits.join_all().await;
        let winners: Vec<_> =
            answers.iter().filter(|(_, result)| result.is_ok()).map(|(child, _)| child.clone()).collect();
        assert_eq!(winners.len(), 1, "{answers:?}");
        for (child, result) in answers {
            if child == winners[0] {
                assert_eq!(texts(&*handles[1], &child).await, ["summary"]);
            } else {
                let lost = Conflict::AlreadySplit { parent: parent.clone(), continuation: winners[0].clone() };
                assert_eq!(conflict(result), lost);
                assert_eq!(handles[0].session(&child).await?, None);
            }
        }
        assert_eq!(handles[1].lineage(&parent).await?.tip(&parent), winners[0]);
    }
    Ok(())
}

/// A branch starts with a copy of all messages and is independent from then on.
pub async fn a_branch_copies_and_stands_alone(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let parent = rich(&*store).await;
    let before = stored(&*store, &parent).await;
    assert_eq!(store.branch(&parent, &NewChild::new(id("branch")), &request(10)).await?, Some(title("work #2")));
    let ended = Session { ended_at: Some(at(10)), end_reason: Some(EndReason::branched()), ..before };
    assert_eq!(stored(&*store, &parent).await, ended);
    let child = Session {
        message_count: 2,
        tool_call_count: 1,
        // Newer agents recognise a branch by this key; without it they treat it as a delegate and delete it with its
        // parent.
        model_config: Some(json(r#"{"a": 1, "_branched_from": "parent"}"#)),
        ..heir("branch", Relation::Branch, &parent)
    };
    assert_eq!(stored(&*store, &id("branch")).await, child);

    let (old, copies) = (transcript(&*store, &parent).await, transcript(&*store, &id("branch")).await);
    assert_eq!(old.len(), copies.len());
    for (old, copy) in old.iter().zip(&copies) {
        assert_eq!((&old.body, old.timestamp), (&copy.body, copy.timestamp));
        assert_eq!(copy.session_id, id("branch"));
        assert_ne!(old.id, copy.id);
    }
    store.split(&id("branch"), &NewChild::new(id("on")), &[], &request(10)).await?;
    assert_eq!(
        stored(&*store, &id("on")).await.model_config,
        Some(json(r#"{"a": 1}"#)),
        "the mark stays with the branch"
    );
    store.append(&id("branch"), &[user("only here")], &request(11)).await?;
    store.replace(&parent, &[], &request(12)).await?;
    assert_eq!(texts(&*store, &id("branch")).await, ["one", "", "only here"]);
    assert_eq!(store.list(&ListRequest::default()).await?.rows.len(), 2);
    Ok(())
}

/// A branch of an ended session does not change that end, and starts no earlier.
pub async fn a_branch_from_an_ended_session(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let parent = made(&*store, "parent", 0).await;
    store.end(&parent, &EndReason::parse("cli_close")?, &request(50)).await?;
    let ended = stored(&*store, &parent).await;
    let asked = NewChild { title: Some(title("mine")), ..NewChild::new(id("branch")) };
    assert_eq!(store.branch(&parent, &asked, &request(20)).await?, Some(title("mine")));
    assert_eq!(stored(&*store, &parent).await, ended);
    let child = stored(&*store, &id("branch")).await;
    assert_eq!((child.started_at, child.relation, child.title.as_deref()), (at(50), Relation::Branch, Some("mine")));
    Ok(())
}

/// The relation of a child is derived from its parent's end, unless it is given.
pub async fn the_parent_tells_what_a_child_is(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let born = async |name: &str, ended: Option<&str>, config: Option<&str>| {
        let parent = made(&*store, &format!("parent of {name}"), 0).await;
        if let Some(reason) = ended {
            store.end(&parent, &EndReason::parse(reason).unwrap(), &request(1)).await.unwrap();
        }
        let new = NewSession { parent_session_id: Some(parent), model_config: config.map(json), ..new_session(name) };
        store.create(&new, &request(2)).await.unwrap();
        stored(&*store, &id(name)).await.relation
    };
    assert_eq!(born("a", None, None).await, Relation::Delegate);
    assert_eq!(born("b", Some("compression"), None).await, Relation::Continuation);
    assert_eq!(born("c", Some("branched"), None).await, Relation::Branch);
    assert_eq!(born("d", Some("cli_close"), None).await, Relation::Delegate);
    assert_eq!(born("e", Some("compression"), Some(r#"{"_branched_from": "x"}"#)).await, Relation::Branch);
    assert_eq!(born("f", Some("compression"), Some(r#"{"_delegate_from": "x"}"#)).await, Relation::Delegate);
    // A clock that was set back between the end of the parent and the creation changes nothing.
    let parent = made(&*store, "late", 100).await;
    store.end(&parent, &EndReason::compression(), &request(200)).await?;
    let new = NewSession { parent_session_id: Some(parent.clone()), ..new_session("early") };
    store.create(&new, &request(-500)).await?;
    assert_eq!(stored(&*store, &id("early")).await.relation, Relation::Continuation);
    assert_eq!(store.lineage(&parent).await?.tip(&parent), id("early"));
    Ok(())
}

/// A chain of thousands is one conversation, and is found from any of its sessions.
pub async fn any_length(setup: Setup) -> CaseResult {
    // Longer than the default recursion limit of any server, and with a clock that runs backwards.
    const LENGTH: usize = 2_500;
    let store = setup.store().await;
    let name = |n: usize| id(&format!("s{n:05}"));
    store.create(&NewSession::new(name(0), source("cli")), &request(0)).await?;
    for n in 1..LENGTH {
        let link = NewSession::new(name(n), source("cli")).child_of(name(n - 1), Relation::Continuation);
        store.create(&link, &request(-(n as f64))).await?;
    }
    let chain: Vec<SessionId> = (0..LENGTH).map(name).collect();
    for from in [0, LENGTH / 2, LENGTH - 1] {
        let lineage = store.lineage(&name(from)).await?;
        assert_eq!(lineage.conversation(&name(from)), chain);
        assert_eq!(lineage.tip(&name(from)), name(LENGTH - 1));
        assert_eq!(lineage.ancestors(&name(LENGTH - 1)), chain[..LENGTH - 1]);
    }
    let rows = store.list(&ListRequest::default()).await?.rows;
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0].id, &rows[0].conversation, rows[0].segments), (&name(LENGTH - 1), &name(0), LENGTH as u64));
    assert_eq!((rows[0].started_at, rows[0].last_active), (at(0), at(0)));
    let deleted = store.delete(&name(LENGTH / 2), DeleteExtent::Conversation, &request(1)).await?;
    assert_eq!(deleted, hermes_session::Deleted { sessions: LENGTH as u64, messages: 0 });
    Ok(())
}

/// The whole family is found from each of its members; unrelated sessions are not.
pub async fn branches_and_delegates(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    made(&*store, "stranger", 0).await;
    let root = made(&*store, "root", 0).await;
    let child = |name: &str, parent: &str, relation| new_session(name).child_of(id(parent), relation);
    store.create(&child("d1", "root", Relation::Delegate), &request(5)).await?;
    store.split(&root, &NewChild::new(id("c1")), &[], &request(20)).await?;
    store.create(&child("d2", "c1", Relation::Delegate), &request(25)).await?;
    store.split(&id("d2"), &NewChild::new(id("d2b")), &[], &request(26)).await?;
    store.split(&id("c1"), &NewChild::new(id("c2")), &[], &request(30)).await?;
    store.branch(&id("c1"), &NewChild::new(id("b")), &request(40)).await?;
    store.split(&id("b"), &NewChild::new(id("b2")), &[], &request(50)).await?;
    let link = |name: &str, parent: Option<&str>, relation, seconds: i32| Link {
        id: id(name),
        parent: parent.map(id),
        relation,
        started_at: at(seconds),
    };
    let family = Lineage::new([
        link("root", None, Relation::Root, 0),
        link("d1", Some("root"), Relation::Delegate, 5),
        link("c1", Some("root"), Relation::Continuation, 20),
        link("d2", Some("c1"), Relation::Delegate, 25),
        link("d2b", Some("d2"), Relation::Continuation, 26),
        link("c2", Some("c1"), Relation::Continuation, 30),
        link("b", Some("c1"), Relation::Branch, 40),
        link("b2", Some("b"), Relation::Continuation, 50),
    ]);
    for name in ["root", "d1", "c1", "d2", "d2b", "c2", "b", "b2"] {
        assert_eq!(store.lineage(&id(name)).await?, family, "{name}");
    }
    assert_eq!(store.lineage(&id("stranger")).await?, Lineage::new([link("stranger", None, Relation::Root, 0)]));
    assert_eq!(family.conversation(&id("d2b")), ids(&["root", "c1", "c2", "d2", "d2b", "d1"]));
    Ok(())
}

/// A branch created after the compression is not the tip.
pub async fn a_later_branch_is_not_the_tip(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let root = made(&*store, "root", 0).await;
    store.split(&root, &NewChild::new(id("child")), &[], &request(10)).await?;
    store.branch(&root, &NewChild::new(id("branch")), &request(1000)).await?;
    assert_eq!(store.lineage(&root).await?.tip(&root), id("child"));
    let rows = store.list(&ListRequest::default()).await?.rows;
    let rows: Vec<_> = rows.iter().map(|row| (row.id.as_str(), row.conversation.as_str(), row.segments)).collect();
    assert_eq!(rows, [("branch", "branch", 1), ("child", "root", 2)]);
    assert_eq!(stored(&*store, &root).await.end_reason, Some(EndReason::compression()));
    Ok(())
}

/// No session becomes its own ancestor, not even when a placeholder is filled in.
pub async fn cycles_cannot_be_made(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    store.create(&NewSession::new(id("a"), source(Source::UNKNOWN)), &request(0)).await?;
    store.create(&new_session("b").child_of(id("a"), Relation::Delegate), &request(1)).await?;
    store.create(&new_session("c").child_of(id("b"), Relation::Continuation), &request(2)).await?;
    let before = store.lineage(&id("a")).await?;
    for parent in ["a", "b", "c"] {
        let circle = new_session("a").child_of(id(parent), Relation::Branch);
        assert_invalid(store.ensure(&circle, &request(3)).await, "parent session");
    }
    assert_eq!(store.lineage(&id("c")).await?, before);
    assert_eq!(stored(&*store, &id("a")).await.source.as_str(), Source::UNKNOWN);
    Ok(())
}
