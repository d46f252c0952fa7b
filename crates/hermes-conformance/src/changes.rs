//! The feed of changes.

mod load;

pub use load::none_is_skipped_under_load;

use crate::fixture::live::{conversation, granted, holder, new_turn, taken};
use crate::fixture::{assert_not_found, assistant, at, conflict, id, keyed, made, new_session, request, title, user};
use crate::import::{exported, imported};
use crate::{CaseResult, Setup};
use hermes_session::gateway::{HandoffEnd, HandoffRequest};
use hermes_session::live::{
    ChangeMark, Kinds, Resource, RouteKey, Switch, SwitchTo, Take, Termination, Terms, TurnClose,
};
use hermes_session::retention::RetentionPolicy;
use hermes_session::{
    Conflict, DeleteExtent, EndReason, NewChild, NewSession, Relation, SessionId, SessionPatch, Store, UsageUpdate,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Time within which a change has to be reported, on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(20);

const MESSAGES: Kinds = Kinds::MESSAGES;
const REWRITTEN: Kinds = Kinds::REWRITTEN;
const SESSION: Kinds = Kinds::SESSION;
const OWNER: Kinds = Kinds::OWNER;
const CREATED: Kinds = Kinds::CREATED;
const DELETED: Kinds = Kinds::DELETED;

/// A reader who follows the changes of a store.
struct Reader {
    store: Arc<dyn Store>,
    mark: ChangeMark,
}

impl Reader {
    /// Starts to follow.
    async fn of(store: Arc<dyn Store>) -> Self {
        let now = store.changes(None).await.unwrap();
        assert_eq!((now.changed.len(), now.is_reset), (0, false));
        Self { store, mark: now.next }
    }

    /// Reads once.
    async fn read(&mut self) -> Vec<(SessionId, Kinds)> {
        let changes = self.store.changes(Some(&self.mark)).await.unwrap();
        assert!(!changes.is_reset, "the mark is of this store: {:?}", self.mark);
        assert!(changes.changed.is_sorted_by(|a, b| a.session < b.session), "{:?}", changes.changed);
        for changed in &changes.changed {
            let root = match self.store.lineage(&changed.session).await {
                Ok(lineage) => Some(lineage.conversation_root(&changed.session)),
                Err(_) => None,
            };
            assert_eq!(changed.conversation, root, "{changed:?}");
            assert_ne!(changed.kinds, Kinds::default(), "{changed:?}");
        }
        self.mark = changes.next;
        changes.changed.into_iter().map(|changed| (changed.session, changed.kinds)).collect()
    }

    /// Reads until these kinds of changes were reported.
    async fn sees(&mut self, what: &str, expected: &[(&str, Kinds)]) {
        let start = tokio::time::Instant::now();
        let mut seen: BTreeMap<SessionId, Kinds> = BTreeMap::new();
        let is_seen = |seen: &BTreeMap<SessionId, Kinds>, (name, kinds): &(&str, Kinds)| {
            seen.get(&id(name)).is_some_and(|seen| seen.contain(*kinds))
        };
        while !expected.iter().all(|expected| is_seen(&seen, expected)) {
            assert!(start.elapsed() < PATIENCE, "{what}: {expected:?} were expected, and reported were {seen:?}");
            for (session, kinds) in self.read().await {
                let known = seen.entry(session).or_default();
                *known = known.and(kinds);
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Reads until nothing is reported, and checks that it stays so.
    async fn is_quiet(&mut self, what: &str) {
        let start = tokio::time::Instant::now();
        while !self.read().await.is_empty() {
            assert!(start.elapsed() < PATIENCE, "{what}: reports do not end");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        for _ in 0..5 {
            assert_eq!(self.read().await, [], "{what}");
        }
    }
}

/// Every call that changes something is reported, with its kind, to a reader on another handle.
pub async fn every_change_is_reported(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let mut reader = Reader::of(setup.store().await).await;
    sessions_are_followed(&*store, &mut reader).await?;
    lineages_are_followed(&*store, &mut reader).await?;
    owners_are_followed(&*store, &mut reader).await?;
    handoffs_and_routes_are_followed(&*store, &mut reader).await?;
    arrivals_are_followed(&setup, &*store, &mut reader).await?;
    // Changes between two reads are reported together, each session once.
    store.append(&id("a"), &[user("one")], &request(90)).await?;
    store.set_title(&id("a"), None, &request(90)).await?;
    store.delete(&id("kept"), DeleteExtent::Conversation, &request(90)).await?;
    store.create(&new_session("kept"), &request(91)).await?;
    store.append(&id("a"), &[user("two")], &request(92)).await?;
    reader.sees("together", &[("a", MESSAGES.and(SESSION)), ("kept", DELETED.and(CREATED))]).await;
    Ok(())
}

async fn sessions_are_followed(store: &dyn Store, reader: &mut Reader) -> CaseResult {
    let a = made(store, "a", 0).await;
    reader.sees("create", &[("a", CREATED)]).await;
    store.append(&a, &[user("hello"), assistant("hi")], &request(1)).await?;
    reader.sees("append", &[("a", MESSAGES)]).await;
    store.update(&a, &SessionPatch { model: Some(Some("m".into())), ..SessionPatch::default() }, &request(2)).await?;
    reader.sees("update", &[("a", SESSION)]).await;
    store.end(&a, &EndReason::from_stored("cli_close"), &request(3)).await?;
    reader.sees("end", &[("a", SESSION)]).await;
    store.reopen(&a, &request(4)).await?;
    reader.sees("reopen", &[("a", SESSION)]).await;
    store.record_usage(&a, &UsageUpdate { input_tokens: Some(3), ..UsageUpdate::default() }, &request(5)).await?;
    reader.sees("record_usage", &[("a", SESSION)]).await;
    store.set_title(&a, Some(&title("plan")), &request(6)).await?;
    reader.sees("set_title", &[("a", SESSION)]).await;
    store.allocate_title(&a, &title("other"), &request(7)).await?;
    reader.sees("allocate_title", &[("a", SESSION)]).await;
    store.set_title(&a, None, &request(8)).await?;
    reader.sees("the title cleared", &[("a", SESSION)]).await;
    store.entitle(&a, &title("plan"), &request(8)).await?;
    reader.sees("entitle", &[("a", SESSION)]).await;
    store.set_archived(&a, true, &request(9)).await?;
    reader.sees("set_archived", &[("a", SESSION)]).await;
    store.set_archived(&a, false, &request(9)).await?;
    let ids = store.replace(&a, &[user("one"), user("two"), user("three")], &request(10)).await?;
    reader.sees("replace", &[("a", REWRITTEN)]).await;
    store.undo(&a, ids[1], &request(11)).await?;
    reader.sees("undo", &[("a", REWRITTEN)]).await;
    store.replace(&a, &[], &request(12)).await?;
    reader.sees("replace with nothing", &[("a", REWRITTEN)]).await;
    let placeholder = NewSession { source: crate::fixture::source("unknown"), ..new_session("late") };
    store.ensure(&placeholder, &request(13)).await?;
    reader.sees("ensure", &[("late", CREATED)]).await;
    store.ensure(&NewSession { parent_session_id: Some(a), ..new_session("late") }, &request(14)).await?;
    reader.sees("ensure with values", &[("late", SESSION)]).await;
    Ok(())
}

async fn lineages_are_followed(store: &dyn Store, reader: &mut Reader) -> CaseResult {
    let root = made(store, "root", 20).await;
    reader.sees("create", &[("root", CREATED)]).await;
    store.split(&root, &NewChild::new(id("tip")), &[user("so far")], &request(21)).await?;
    reader.sees("split", &[("root", SESSION), ("tip", CREATED.and(MESSAGES))]).await;
    store.branch(&id("tip"), &NewChild::new(id("branch")), &request(22)).await?;
    reader.sees("branch", &[("tip", SESSION), ("branch", CREATED.and(MESSAGES))]).await;
    store.set_archived(&root, true, &request(23)).await?;
    reader.sees("set_archived", &[("root", SESSION), ("tip", SESSION)]).await;
    store.delete(&root, DeleteExtent::Chain, &request(24)).await?;
    reader.sees("delete", &[("root", DELETED), ("tip", DELETED), ("branch", SESSION)]).await;
    let other = made(store, "other", 25).await;
    assert!(store.link(&other, &id("branch"), Relation::Delegate).await?);
    reader.sees("link", &[("other", CREATED.and(SESSION))]).await;
    store.delete(&other, DeleteExtent::Session, &request(26)).await?;
    reader.sees("delete alone", &[("other", DELETED)]).await;
    Ok(())
}

async fn owners_are_followed(store: &dyn Store, reader: &mut Reader) -> CaseResult {
    let root = made(store, "owned", 30).await;
    let tip = id("owned tip");
    store.split(&root, &NewChild::new(tip.clone()), &[user("so far")], &request(31)).await?;
    reader.sees("split", &[("owned", SESSION), ("owned tip", CREATED)]).await;
    let first = taken(store, &tip, 1).await.lease;
    reader.sees("acquire", &[("owned", OWNER)]).await;
    let terms = Terms { ttl: Duration::from_secs(60), take: Take::Force(first.fence) };
    let next = granted(store.acquire(&conversation(&tip), &holder(2), terms, &request(32)).await?).lease;
    reader.sees("a take-over", &[("owned", OWNER)]).await;
    let owner = request(33).fenced(next.fence);
    let turn = store.open_turn(&new_turn(&tip, &["and now?"]), &owner).await?.turn.id;
    reader.sees("open_turn", &[("owned", OWNER), ("owned tip", MESSAGES)]).await;
    store.resume_turn(turn, &owner).await?;
    reader.sees("resume_turn", &[("owned", OWNER)]).await;
    let usage = Some(UsageUpdate { input_tokens: Some(3), ..UsageUpdate::default() });
    let close = TurnClose { messages: vec![assistant("this")], usage, ..TurnClose::default() };
    store.close_turn(turn, &close, &owner).await?;
    reader.sees("close_turn", &[("owned", OWNER), ("owned tip", MESSAGES.and(SESSION))]).await;
    assert!(store.release(&next, &request(34)).await?);
    reader.sees("release", &[("owned", OWNER)]).await;
    Ok(())
}

async fn handoffs_and_routes_are_followed(store: &dyn Store, reader: &mut Reader) -> CaseResult {
    let session = made(store, "moved", 40).await;
    reader.sees("create", &[("moved", CREATED)]).await;
    let what = HandoffRequest { expires: Some(Duration::from_secs(1)), ..HandoffRequest::to("telegram") };
    store.request_handoff(&session, &what, &request(41)).await?;
    reader.sees("request_handoff", &[("moved", SESSION)]).await;
    assert_eq!(store.expire_handoffs(at(43)).await?, std::slice::from_ref(&session));
    reader.sees("expire_handoffs", &[("moved", SESSION)]).await;
    store.request_handoff(&session, &what, &request(44)).await?;
    reader.sees("request_handoff", &[("moved", SESSION)]).await;
    let minute = Duration::from_secs(60);
    let claimed = store.claim_handoff(&session, minute, Some(&holder(3)), &request(44)).await?.unwrap();
    reader.sees("claim_handoff", &[("moved", SESSION.and(OWNER))]).await;
    let end = request(45).fenced(claimed.fence.unwrap());
    assert!(store.end_handoff(&session, Some(claimed.claim), &HandoffEnd::Failed("no".into()), &end).await?);
    reader.sees("end_handoff", &[("moved", SESSION.and(OWNER))]).await;

    let key = RouteKey {
        platform: "telegram".into(),
        account: "1".into(),
        chat_type: "dm".into(),
        chat: "1".into(),
        thread: None,
        participant: None,
    };
    let ended = Some(Termination { reason: EndReason::from_stored("session_reset"), cause: None });
    let to = |expected: Option<i64>, to: SwitchTo| Switch {
        key: key.clone(),
        expected,
        to,
        end: ended.clone(),
        origin: None,
        notice: None,
    };
    store.switch(&to(None, SwitchTo::New(Box::new(new_session("routed")))), &request(46)).await?;
    reader.sees("switch to a new session", &[("routed", CREATED)]).await;
    store.end(&session, &EndReason::from_stored("cli_close"), &request(47)).await?;
    reader.sees("end", &[("moved", SESSION)]).await;
    store.switch(&to(Some(1), SwitchTo::Existing(session)), &request(48)).await?;
    reader.sees("switch to another session", &[("routed", SESSION), ("moved", SESSION)]).await;
    Ok(())
}

async fn arrivals_are_followed(setup: &Setup, store: &dyn Store, reader: &mut Reader) -> CaseResult {
    for name in ["gone", "kept", "old"] {
        let session = made(store, name, 50).await;
        store.append(&session, &[user("words")], &request(51)).await?;
    }
    store.end(&id("old"), &EndReason::from_stored("cli_close"), &request(52)).await?;
    reader.sees("create", &[("gone", CREATED), ("kept", CREATED), ("old", SESSION.and(MESSAGES))]).await;
    store.trash_chain(&id("gone"), at(1_000), &request(53)).await?;
    reader.sees("trash_chain", &[("gone", DELETED)]).await;
    store.restore(&id("gone"), &request(54)).await?;
    reader.sees("restore", &[("gone", CREATED)]).await;
    let policy = RetentionPolicy::new(1.0, None)?;
    let pruned = store.prune(&[id("old"), id("kept")], &policy, at(1_000_000)).await?;
    assert_eq!(pruned.sessions, 1);
    reader.sees("prune", &[("old", DELETED)]).await;
    let elsewhere = setup.store_named("elsewhere").await;
    let session = made(&*elsewhere, "imported", 0).await;
    elsewhere.append(&session, &[user("from elsewhere")], &request(1)).await?;
    imported(store, &exported(&*elsewhere).await?).await;
    reader.sees("import", &[("imported", CREATED)]).await;
    Ok(())
}

/// Reads, refused calls, repetitions, renewals, mail, and work on indexes are no changes of sessions.
pub async fn nothing_new_is_empty(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let (a, b) = (made(&*store, "a", 0).await, made(&*store, "b", 0).await);
    store.append(&a, &[user("hello")], &keyed(1, "k")).await?;
    let lease = taken(&*store, &a, 1).await.lease;
    let mut reader = Reader::of(setup.store().await).await;
    reader.is_quiet("at the start").await;
    store.append(&b, &[user("hello")], &request(2)).await?;
    reader.sees("append", &[("b", MESSAGES)]).await;
    reader.is_quiet("after a change").await;
    // A mark can be used again.
    let before = reader.mark.clone();
    store.end(&b, &EndReason::from_stored("cli_close"), &request(3)).await?;
    for _ in 0..2 {
        reader.mark = before.clone();
        reader.sees("end", &[("b", SESSION)]).await;
    }
    reader.is_quiet("after the same mark").await;

    store.append(&a, &[user("hello")], &keyed(9, "k")).await?;
    store.renew(&lease, Duration::from_secs(3_600), true, &request(4)).await?;
    let hold = Resource::Hold { session: a.clone(), name: "build".into() };
    granted(store.acquire(&hold, &holder(2), Terms::free(Duration::from_secs(60)), &request(4)).await?);
    assert_eq!(conflict(store.create(&new_session("a"), &request(5)).await), Conflict::Exists(a.clone()));
    assert_not_found(store.append(&id("nobody"), &[user("x")], &request(5)).await, &id("nobody"));
    let stranger = request(5).fenced(hermes_session::live::Fence(lease.fence.0.wrapping_add(1)));
    assert_eq!(conflict(store.append(&a, &[user("x")], &stranger).await), Conflict::Fenced(a.clone()));
    store.set_meta("key", Some("value")).await?;
    let account = hermes_session::live::Account::parse("telegram:1")?;
    store.receive(&account, &[], Some("7"), &request(6)).await?;
    while store.upkeep().await? {}
    crate::fixture::transcript(&*store, &a).await;
    reader.is_quiet("after calls that change nothing").await;
    Ok(())
}

/// A mark of another store, or a text that is none, starts again: the reader is told so and gets a mark that works.
pub async fn an_unknown_mark_starts_again(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let other = setup.store_named("other").await;
    made(&*other, "s", 0).await;
    let mut marks: Vec<ChangeMark> = vec![other.changes(None).await?.next];
    marks.extend(["", "0", "x", "-1", "18446744073709551616", "大:1"].map(|text| ChangeMark(text.to_owned())));
    for mark in marks {
        let answer = store.changes(Some(&mark)).await?;
        assert_eq!((answer.is_reset, answer.changed.len()), (true, 0), "{mark:?}");
        let mut reader = Reader { store: setup.store().await, mark: answer.next };
        store.append(&session, &[user("hello")], &request(1)).await?;
        reader.sees("append", &[("s", MESSAGES)]).await;
    }
    Ok(())
}
