//! Routes: which session the messages of a chat belong to.

use crate::fixture::live::taken;
use crate::fixture::{
    assert_invalid, assert_not_found, at, conflict, id, ids, keyed, made, new_session, request, stored, user,
};
use crate::{CaseResult, Setup};
use hermes_session::live::{
    Fence, Origin, ResetCause, Route, RouteKey, RoutePatch, Switch, SwitchTo, Switched, Termination,
};
use hermes_session::{
    Conflict, DeleteExtent, EndReason, NewChild, NewSession, Request, SessionId, Store, StoreError, TopicChange,
};

fn chat(name: &str) -> RouteKey {
    RouteKey {
        platform: "telegram".into(),
        account: "12:ab".into(),
        chat_type: "group".into(),
        chat: name.into(),
        thread: None,
        participant: None,
    }
}

/// Returns a switch to a session that exists, without an end of the old one.
fn to(key: &RouteKey, expected: Option<i64>, session: &str) -> Switch {
    let to = SwitchTo::Existing(id(session));
    Switch { key: key.clone(), expected, to, end: None, origin: None, notice: None }
}

/// Returns a switch to a new session, which ends the old one with a reset.
fn to_new(key: &RouteKey, expected: Option<i64>, session: &str, cause: Option<ResetCause>) -> Switch {
    let end = Some(Termination { reason: EndReason::from_stored("session_reset"), cause });
    Switch { to: SwitchTo::New(Box::new(new_session(session))), end, ..to(key, expected, session) }
}

fn origin(name: &str) -> Origin {
    Origin {
        session_key: format!("agent:main:telegram:group:{name}"),
        source: Some(format!(r#"{{"chat_id": "{name}"}}"#)),
        display_name: Some(format!("{name} 大")),
    }
}

#[track_caller]
fn done(switched: Switched) -> (Route, Option<SessionId>) {
    match switched {
        Switched::Done { route, ended } => (*route, ended),
        Switched::Moved(route) => panic!("the route has moved: {route:?}"),
    }
}

/// Returns the sessions of a few routes.
fn sessions(routes: &[Route]) -> Vec<&str> {
    routes.iter().map(|route| route.session.as_str()).collect()
}

/// Makes a route to a session that is made for it.
async fn routed(store: &dyn Store, key: &RouteKey, session: &str) -> Result<Route, StoreError> {
    Ok(done(store.switch(&to_new(key, None, session, None), &request(0)).await?).0)
}

async fn route(store: &dyn Store, key: &RouteKey) -> Result<Route, StoreError> {
    Ok(store.route(key).await?.unwrap_or_else(|| panic!("{key:?} has no route")))
}

/// A switch creates the session and stores the route; another one leads to a session that existed, and opens it again.
pub async fn switched_in_one_step(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let key = RouteKey { thread: Some("9".into()), participant: Some("@u:大".into()), ..chat("-100") };
    assert_eq!(store.route(&key).await?, None);
    let new = NewSession { user_id: Some("u".into()), ..new_session("first") };
    let first = Switch {
        to: SwitchTo::New(Box::new(new)),
        origin: Some(origin("-100")),
        notice: Some("welcome 大".into()),
        ..to(&key, None, "first")
    };
    let (made_route, ended) = done(store.switch(&first, &request(1)).await?);
    let expected = Route {
        key: key.clone(),
        session: id("first"),
        generation: 1,
        origin: origin("-100"),
        created_at: at(1),
        touched_at: at(1),
        suspended: false,
        notice: Some("welcome 大".into()),
        last_prompt_tokens: None,
    };
    assert_eq!((&made_route, ended), (&expected, None));
    assert_eq!(other.route(&key).await?, Some(expected.clone()));
    let session = stored(&*other, &id("first")).await;
    assert_eq!((session.user_id.as_deref(), session.started_at), (Some("u"), at(1)));

    let old = made(&*store, "old", 0).await;
    store.end(&old, &EndReason::from_stored("cli_close"), &request(1)).await?;
    let tokens = RoutePatch { last_prompt_tokens: Some(Some(7)), suspended: Some(true), ..RoutePatch::default() };
    assert!(store.patch_route(&key, &tokens, &request(2)).await?);
    let (now, ended) = done(other.switch(&to(&key, Some(1), "old"), &request(3)).await?);
    // The place is the same; the rest was about the session that the route has left.
    let expected = Route { session: old.clone(), generation: 2, touched_at: at(3), notice: None, ..expected };
    assert_eq!((&now, ended), (&expected, None));
    assert_eq!(store.route(&key).await?, Some(expected));
    let reopened = stored(&*store, &old).await;
    assert_eq!((reopened.ended_at, reopened.end_reason), (None, None));
    assert_eq!(stored(&*store, &id("first")).await.ended_at, None, "no end was asked for");

    // A session may have several routes; a user and a topic of the same number are two places.
    let user = RouteKey { thread: None, participant: Some("9".into()), ..key.clone() };
    done(store.switch(&to(&user, None, "old"), &request(4)).await?);
    let both = other.routes_of(&old).await?;
    assert_eq!(both.iter().map(|route| &route.key).collect::<Vec<_>>(), [&user, &key]);
    assert_eq!(both[0].origin, Origin::default());
    assert_eq!(other.routes_of(&id("first")).await?, []);
    for odd in [RouteKey { chat: String::new(), ..key.clone() }, RouteKey { thread: Some("\0".into()), ..key.clone() }]
    {
        assert_invalid(store.switch(&to(&odd, None, "old"), &request(5)).await, "route");
    }
    let odd = Switch { notice: Some("a\0b".into()), ..to(&key, Some(2), "old") };
    assert_invalid(store.switch(&odd, &request(5)).await, "notice");
    Ok(())
}

/// Of callers that saw the same generation one switches the route; the others are told where it leads and write
/// nothing.
pub async fn of_two_switches_one_wins(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let mut expected = None;
    for round in 0..10 {
        let key = chat("c");
        let (one, two) = (format!("one{round}"), format!("two{round}"));
        let (first, second) = (to_new(&key, expected, &one, None), to_new(&key, expected, &two, None));
        let request = request(round);
        let answers = tokio::join!(store.switch(&first, &request), other.switch(&second, &request));
        let (won, lost, loser) = match answers {
            (Ok(won @ Switched::Done { .. }), Ok(lost)) => (won, lost, two),
            (Ok(lost), Ok(won)) => (won, lost, one),
            failed => panic!("{failed:?}"),
        };
        let (route, ended) = done(won);
        assert_eq!((route.generation, ended.is_some()), (i64::from(round) + 1, round > 0));
        assert_eq!(lost, Switched::Moved(Some(Box::new(route.clone()))));
        assert_eq!(store.session(&id(&loser)).await?, None, "the session of the loser was created");
        expected = Some(route.generation);
    }
    // A generation that is not there any more, or not yet; a route that is not there at all.
    let before = route(&*store, &chat("c")).await?;
    for wrong in [None, Some(9), Some(11), Some(0)] {
        let answer = store.switch(&to_new(&chat("c"), wrong, "late", Some(ResetCause::Idle)), &request(20)).await?;
        assert_eq!(answer, Switched::Moved(Some(Box::new(before.clone()))), "{wrong:?}");
    }
    let nowhere = store.switch(&to_new(&chat("d"), Some(1), "late", None), &request(20)).await?;
    assert_eq!(nowhere, Switched::Moved(None));
    assert_eq!((store.session(&id("late")).await?, route(&*store, &chat("c")).await?), (None, before.clone()));
    assert_eq!(stored(&*store, &before.session).await.ended_at, None);
    Ok(())
}

/// A switch ends the session that the route leaves, unless it had ended or is the new one.
pub async fn a_switch_ends_the_old_session(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let key = chat("c");
    routed(&*store, &key, "a").await?;
    made(&*store, "b", 0).await;
    let end = |reason: &str| Some(Termination { reason: EndReason::from_stored(reason), cause: None });
    let switch = Switch { end: end("session_switch"), ..to(&key, Some(1), "b") };
    let (_, ended) = done(store.switch(&switch, &request(1)).await?);
    let left = stored(&*store, &id("a")).await;
    assert_eq!((ended, left.ended_at), (Some(id("a")), Some(at(1))));
    assert_eq!(left.end_reason.unwrap().as_str(), "session_switch");
    // The first end stays.
    store.end(&id("b"), &EndReason::from_stored("cli_close"), &request(2)).await?;
    let switch = Switch { end: end("session_switch"), ..to(&key, Some(2), "a") };
    let (route, ended) = done(store.switch(&switch, &request(3)).await?);
    let left = stored(&*store, &id("b")).await;
    assert_eq!((ended, left.ended_at, left.end_reason.unwrap().as_str()), (None, Some(at(2)), "cli_close"));
    assert_eq!((route.session, stored(&*store, &id("a")).await.ended_at), (id("a"), None));
    // A switch to the same session ends nothing, and opens it.
    store.end(&id("a"), &EndReason::from_stored("cli_close"), &request(4)).await?;
    let switch = Switch { end: end("session_switch"), ..to(&key, Some(3), "a") };
    let (route, ended) = done(store.switch(&switch, &request(5)).await?);
    assert_eq!((route.generation, ended, stored(&*store, &id("a")).await.ended_at), (4, None, None));
    Ok(())
}

/// The cause of a reset is kept with the session that it ended, until the session is opened again.
pub async fn a_cause_is_kept(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let key = chat("c");
    routed(&*store, &key, "s0").await?;
    assert_eq!(other.reset_cause(&id("s0")).await?, None);
    let causes = [Some(ResetCause::Idle), Some(ResetCause::Daily), None, Some(ResetCause::Suspended)];
    for (n, cause) in (1..).zip(causes) {
        let switch = to_new(&key, Some(n), &format!("s{n}"), cause);
        let (_, ended) = done(store.switch(&switch, &request(n as f64)).await?);
        assert_eq!(ended, Some(id(&format!("s{}", n - 1))));
    }
    for (n, cause) in causes.into_iter().chain([None]).enumerate() {
        assert_eq!(other.reset_cause(&id(&format!("s{n}"))).await?, cause, "s{n}");
    }
    store.reopen(&id("s0"), &request(10)).await?;
    assert_eq!(other.reset_cause(&id("s0")).await?, None);
    store.end(&id("s0"), &EndReason::from_stored("session_reset"), &request(11)).await?;
    assert_eq!(other.reset_cause(&id("s0")).await?, None, "nobody gave a cause for this end");
    done(store.switch(&to(&key, Some(5), "s1"), &request(12)).await?);
    assert_eq!(other.reset_cause(&id("s1")).await?, None);
    assert_not_found(store.reset_cause(&id("nobody")).await, &id("nobody"));
    Ok(())
}

/// A switch is repeated under its key with the same answer, as long as the session that it led to exists.
pub async fn switching_repeats_under_its_key(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let key = chat("c");
    let reused = |name: &str| Conflict::KeyReused(crate::fixture::key(name));
    let first = Switch { notice: Some("hello".into()), ..to_new(&key, None, "a", None) };
    let answer = store.switch(&first, &keyed(1, "k")).await?;
    let second = store.switch(&to_new(&key, Some(1), "b", Some(ResetCause::Daily)), &keyed(2, "l")).await?;
    assert_eq!(other.switch(&first, &keyed(9, "k")).await?, answer);
    let repeated = other.switch(&to_new(&key, Some(1), "b", Some(ResetCause::Daily)), &keyed(9, "l")).await?;
    assert_eq!((&repeated, done(repeated.clone()).1), (&second, Some(id("a"))));
    assert_eq!(route(&*store, &key).await?, done(second).0, "a repetition switches nothing");
    for switch in [
        Switch { notice: None, ..first.clone() },
        Switch { expected: Some(2), ..first.clone() },
        Switch { key: chat("d"), ..first.clone() },
        to(&key, None, "a"),
    ] {
        assert_eq!(conflict(store.switch(&switch, &keyed(3, "k")).await), reused("k"));
    }
    // A switch that came too late wrote nothing, so its key is free.
    let late = to(&key, Some(1), "a");
    assert!(matches!(store.switch(&late, &keyed(4, "m")).await?, Switched::Moved(Some(_))));
    assert_eq!(done(store.switch(&to(&key, Some(2), "a"), &keyed(5, "m")).await?).0.generation, 3);
    // The other changes of a route repeat, too.
    let patch = RoutePatch { suspended: Some(true), ..RoutePatch::default() };
    assert!(store.patch_route(&key, &patch, &keyed(6, "p")).await?);
    store.patch_route(&key, &RoutePatch { suspended: Some(false), ..RoutePatch::default() }, &request(7)).await?;
    assert!(store.patch_route(&key, &patch, &keyed(8, "p")).await?);
    assert!(!route(&*store, &key).await?.suspended, "a repetition changes nothing");
    assert_eq!(conflict(store.patch_route(&key, &RoutePatch::default(), &keyed(9, "p")).await), reused("p"));
    assert!(store.rekey(&key, &chat("e"), &keyed(10, "r")).await?);
    assert!(store.rekey(&key, &chat("e"), &keyed(11, "r")).await?);
    assert_eq!(conflict(store.rekey(&key, &chat("f"), &keyed(12, "r")).await), reused("r"));
    store.delete(&id("a"), DeleteExtent::Conversation, &request(20)).await?;
    assert_eq!(done(store.switch(&first, &keyed(21, "k")).await?).0.generation, 1, "the key went with its session");
    Ok(())
}

/// A switch that fails leaves the route, the old session and the new one as they were.
pub async fn a_switch_is_all_or_nothing(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let key = chat("c");
    let before = routed(&*store, &key, "a").await?;
    let taken = made(&*store, "taken", 0).await;
    store.end(&taken, &EndReason::from_stored("cli_close"), &request(1)).await?;
    let whole = async || -> Result<_, StoreError> {
        Ok((store.route(&key).await?, store.session(&id("a")).await?, store.session(&taken).await?))
    };
    let untouched = whole().await?;
    assert_eq!(untouched.0, Some(before));
    let switch = to_new(&key, Some(1), "taken", Some(ResetCause::Idle));
    assert_eq!(conflict(store.switch(&switch, &keyed(2, "k")).await), Conflict::Exists(taken.clone()));
    let orphan = NewSession { parent_session_id: Some(id("nobody")), ..new_session("orphan") };
    let switch = Switch { to: SwitchTo::New(Box::new(orphan)), ..switch };
    assert_not_found(store.switch(&switch, &request(3)).await, &id("nobody"));
    let switch = Switch { to: SwitchTo::Existing(id("nobody")), ..switch };
    assert_not_found(store.switch(&switch, &request(4)).await, &id("nobody"));
    assert_eq!(whole().await?, untouched);
    assert_eq!((store.reset_cause(&id("a")).await?, store.session(&id("orphan")).await?), (None, None));
    // A refusal uses no key.
    done(store.switch(&to_new(&key, Some(1), "b", None), &keyed(5, "k")).await?);
    Ok(())
}

/// A caller who lost the conversation that a route leads to changes nothing of the route.
pub async fn an_old_owner_switches_nothing(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let key = chat("c");
    let before = routed(&*store, &key, "a").await?;
    made(&*store, "b", 0).await;
    let (owner, another) =
        (taken(&*store, &id("a"), 1).await.lease.fence, taken(&*store, &id("b"), 2).await.lease.fence);
    let fenced = |fence: Fence| -> Request { request(2).fenced(fence) };
    for stranger in [another, Fence(owner.0.wrapping_add(1))] {
        let refused = Conflict::Fenced(id("a"));
        let reset = to_new(&key, Some(1), "new", Some(ResetCause::Idle));
        assert_eq!(conflict(store.switch(&reset, &fenced(stranger)).await), refused);
        let patch = RoutePatch { suspended: Some(true), ..RoutePatch::default() };
        assert_eq!(conflict(store.patch_route(&key, &patch, &fenced(stranger)).await), refused);
        assert_eq!(conflict(store.rekey(&key, &chat("d"), &fenced(stranger)).await), refused);
        let late = to(&key, Some(7), "b");
        assert_eq!(conflict(store.switch(&late, &fenced(stranger)).await), refused);
    }
    assert_eq!((route(&*store, &key).await?, store.session(&id("new")).await?), (before, None));
    assert_eq!(stored(&*store, &id("a")).await.ended_at, None);
    let late = store.switch(&to(&key, Some(7), "b"), &fenced(owner)).await?;
    assert!(matches!(late, Switched::Moved(Some(_))), "{late:?}");
    done(store.switch(&to(&key, Some(1), "b"), &fenced(owner)).await?);
    // A place without a route belongs to nobody.
    done(store.switch(&to_new(&chat("e"), None, "e", None), &fenced(owner)).await?);
    Ok(())
}

/// A route that was moved to another key is found by both.
pub async fn an_alias_leads_there(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let keys = ["c", "d", "e", "f"].map(chat);
    let [old, new, newest, elsewhere] = &keys;
    assert!(!store.rekey(old, new, &request(1)).await?, "there is no route");
    let first = routed(&*store, old, "a").await?;
    routed(&*store, elsewhere, "b").await?;
    assert!(!store.rekey(old, elsewhere, &request(2)).await?, "the other key has a route");
    assert!(!store.rekey(old, old, &request(2)).await?);
    assert!(store.rekey(old, new, &request(3)).await?);
    let moved = Route { key: new.clone(), ..first };
    for key in [old, new] {
        assert_eq!(other.route(key).await?.as_ref(), Some(&moved), "{key:?}");
    }
    assert_eq!(other.routes_of(&id("a")).await?, std::slice::from_ref(&moved));
    assert!(!store.rekey(elsewhere, old, &request(4)).await?, "the alias has a route");
    assert!(!store.rekey(new, old, &request(4)).await?);
    // Moved again, by its alias: both old keys lead there.
    assert!(store.rekey(old, newest, &request(5)).await?);
    let moved = Route { key: newest.clone(), ..moved };
    for key in [old, new, newest] {
        assert_eq!(other.route(key).await?.as_ref(), Some(&moved), "{key:?}");
    }
    // Changes by an alias are changes of the route.
    let patch = RoutePatch { last_prompt_tokens: Some(Some(5)), ..RoutePatch::default() };
    assert!(store.patch_route(old, &patch, &request(6)).await?);
    assert!(matches!(store.switch(&to_new(old, None, "x", None), &request(7)).await?, Switched::Moved(Some(_))));
    let (route, ended) = done(store.switch(&to_new(new, Some(1), "x", None), &request(8)).await?);
    assert_eq!((&route.key, route.generation, ended), (newest, 2, Some(id("a"))));
    assert_eq!(other.routes(None, 10).await?.len(), 2);
    let odd = RouteKey { chat: String::new(), ..new.clone() };
    assert_invalid(store.rekey(newest, &odd, &request(9)).await, "route");
    // The aliases go with the route, and their keys are free.
    store.delete(&id("x"), DeleteExtent::Conversation, &request(10)).await?;
    for key in [old, new, newest] {
        assert_eq!(other.route(key).await?, None, "{key:?}");
    }
    assert_eq!(routed(&*store, old, "y").await?.key, *old);
    Ok(())
}

/// Attributes change one by one, and the route is not touched by that.
pub async fn attributes_change(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let key = chat("c");
    let nothing = RoutePatch::default();
    let all = RoutePatch {
        suspended: Some(true),
        notice: Some(Some("reset 大".into())),
        last_prompt_tokens: Some(Some(i64::MAX)),
    };
    assert!(!store.patch_route(&key, &all, &request(1)).await?);
    let first = routed(&*store, &key, "a").await?;
    assert!(store.patch_route(&key, &all, &request(2)).await?);
    let changed =
        Route {
            suspended: true, notice: Some("reset 大".into()), last_prompt_tokens: Some(i64::MAX), ..first.clone()
        };
    assert_eq!(route(&*store, &key).await?, changed);
    assert!(store.patch_route(&key, &nothing, &request(3)).await?);
    assert_eq!(route(&*store, &key).await?, changed);
    let cleared = RoutePatch { notice: Some(None), last_prompt_tokens: Some(None), ..nothing.clone() };
    assert!(store.patch_route(&key, &cleared, &request(4)).await?);
    assert_eq!(route(&*store, &key).await?, Route { suspended: true, ..first.clone() });
    let odd = RoutePatch { notice: Some(Some("a\0b".into())), ..nothing };
    assert_invalid(store.patch_route(&key, &odd, &request(5)).await, "notice");
    Ok(())
}

/// Routes are listed in the order of their stored keys' bytes, in pages.
pub async fn listed_in_order(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let thread = |name: &str, thread: &str| RouteKey { thread: Some(thread.into()), ..chat(name) };
    let mut keys =
        vec![chat("c"), chat("C"), chat("é"), chat("e"), chat("c "), chat("-"), chat("大"), thread("c", "1")];
    keys.extend([thread("c", "-"), RouteKey { platform: "Telegram".into(), ..chat("c") }]);
    for (n, key) in keys.iter().enumerate() {
        routed(&*store, key, &format!("s{n}")).await?;
    }
    keys.sort_by_key(RouteKey::to_stored);
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let page = store.routes(after.as_ref(), 3).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.key.clone());
        listed.extend(page.into_iter().map(|route| route.key));
    }
    assert_eq!(listed, keys);
    // A page starts behind a key that has no route.
    assert_eq!(store.routes(Some(&chat("\u{1}")), 1).await?[0].key.to_stored(), keys[1].to_stored());
    assert_eq!(store.routes(None, 0).await?, []);
    Ok(())
}

/// A route goes with the session that it leads to, and does not come back with it.
pub async fn gone_with_the_conversation(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    for name in ["a", "b", "c", "d"] {
        routed(&*store, &chat(name), name).await?;
    }
    store.split(&id("a"), &NewChild::new(id("tip")), &[user("so far")], &request(1)).await?;
    done(store.switch(&to(&chat("a2"), None, "a"), &request(2)).await?);
    store.delete(&id("a"), DeleteExtent::Conversation, &request(3)).await?;
    assert_eq!(sessions(&other.routes(None, 10).await?), ["b", "c", "d"]);
    assert_eq!((other.route(&chat("a")).await?, other.routes_of(&id("tip")).await?), (None, Vec::new()));
    store.trash_chain(&id("b"), at(100), &request(4)).await?;
    assert_eq!(other.route(&chat("b")).await?, None);
    store.restore(&id("b"), &request(5)).await?;
    assert_eq!(other.route(&chat("b")).await?, None);
    // The last session of a conversation takes its route along; the sessions before it stay.
    store.split(&id("c"), &NewChild::new(id("c2")), &[user("so far")], &request(6)).await?;
    store.delete(&id("c2"), DeleteExtent::Session, &request(7)).await?;
    assert_eq!(sessions(&other.routes(None, 10).await?), ["d"]);
    // The key starts again.
    assert_eq!(routed(&*store, &chat("b"), "b2").await?.generation, 1);
    Ok(())
}

/// A compression moves the routes and the topic of the conversation to the continuation. That is not a switch.
pub async fn a_split_carries_the_route(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    let first = routed(&*store, &chat("c"), "a").await?;
    done(store.switch(&to(&chat("d"), None, "a"), &request(1)).await?);
    routed(&*store, &chat("e"), "b").await?;
    store.rekey(&chat("c"), &chat("f"), &request(1)).await?;
    let bind = TopicChange::Bind {
        chat_id: "1".into(),
        thread_id: "2".into(),
        user_id: "u".into(),
        session_key: "key".into(),
        session_id: id("a"),
        managed_mode: "auto".into(),
    };
    store.change_topics(&bind, at(1)).await?;
    store.split(&id("a"), &NewChild::new(id("tip")), &[user("so far")], &request(2)).await?;
    assert_eq!(other.route(&chat("c")).await?, Some(Route { key: chat("f"), session: id("tip"), ..first.clone() }));
    assert_eq!(sessions(&other.routes(None, 10).await?), ["tip", "b", "tip"]);
    assert_eq!((other.routes_of(&id("a")).await?, other.routes_of(&id("tip")).await?.len()), (Vec::new(), 2));
    let topic = other.topic("1", "2").await?.unwrap();
    assert_eq!((topic.session_id, topic.linked_at, topic.updated_at), (id("tip"), at(1), at(2)));
    assert_eq!(other.topic_of(&id("a")).await?, None);
    // A switch that was planned before the compression ends the continuation.
    let (_, ended) = done(store.switch(&to_new(&chat("f"), Some(first.generation), "n", None), &request(3)).await?);
    assert_eq!(ended, Some(id("tip")));
    // A branch leaves the routes where they are.
    store.branch(&id("b"), &NewChild::new(id("branch")), &request(4)).await?;
    assert_eq!(other.routes_of(&id("b")).await?.len(), 1);
    assert_eq!(
        ids(&["n", "tip", "b"]),
        [route(&*other, &chat("f")).await?, route(&*other, &chat("d")).await?, route(&*other, &chat("e")).await?]
            .map(|route| route.session)
    );
    Ok(())
}
