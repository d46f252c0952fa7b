//! The data of the cases: a family of sessions, and everything that a store shows of it.

use crate::fixture::{at, calls, id, made, new_session, request, structured, title, user};
use hermes_session::search::{Query, SearchRequest};
use hermes_session::{
    ListRequest, MessageBody, MessageRequest, NewChild, NewSession, Relation, Role, SessionFilter, SessionId, Store,
    StoreError, TopicChange, UsageUpdate, View,
};

/// Creates a conversation of two titled sessions with a delegate of a delegate, a branch of it, and an unrelated
/// session.
pub(super) async fn family(store: &dyn Store) -> Result<(), StoreError> {
    made(store, "stranger", 0).await;
    store.append(&id("stranger"), &[user("unrelated words")], &request(1)).await?;
    let root = NewSession {
        model: Some("model-x".into()),
        user_id: Some("ada".into()),
        system_prompt: Some("be brief".into()),
        ..new_session("root")
    };
    store.create(&root, &request(0)).await?;
    store.set_title(&id("root"), Some(&title("plan")), &request(1)).await?;
    let odd = MessageBody {
        content: Some(structured(r#"[{"type": "text", "text": "kilimanjaro 大别山"}]"#)),
        reasoning: Some("because".into()),
        ..MessageBody::empty(Role::User)
    };
    let said = [
        user("hello kilimanjaro"),
        calls(r#"[{"id": "x", "function": {"name": "f", "arguments": "{}"}}]"#),
        odd.into(),
        user("a\0b"),
        user("said before").said_at(at(-50)),
    ];
    store.append(&id("root"), &said, &request(1)).await?;
    let usage = UsageUpdate { input_tokens: Some(7), estimated_cost_usd: Some(0.25), ..UsageUpdate::default() };
    store.record_usage(&id("root"), &usage, &request(1)).await?;
    store.create(&new_session("helper").child_of(id("root"), Relation::Delegate), &request(2)).await?;
    store.append(&id("helper"), &[user("kilimanjaro, helper")], &request(2)).await?;
    store.create(&new_session("deep").child_of(id("helper"), Relation::Delegate), &request(2)).await?;
    store.branch(&id("helper"), &NewChild::new(id("branch")), &request(3)).await?;
    store.split(&id("root"), &NewChild::new(id("tip")), &[user("tip")], &request(4)).await?;
    Ok(())
}

pub(super) const MEMBERS: [&str; 4] = ["root", "tip", "helper", "deep"];

/// Returns everything that a store shows, except the parent of the branch, which is removed.
pub(super) async fn picture(store: &dyn Store) -> Result<Vec<String>, StoreError> {
    let mut told = Vec::new();
    for name in MEMBERS.into_iter().chain(["stranger"]) {
        told.push(format!("{:?}", store.session(&id(name)).await?));
        told.push(format!("{:?}", store.messages(&id(name), &MessageRequest::first(9_999)).await.ok()));
    }
    let lineage = store.lineage(&id("root")).await?;
    told.push(format!("{:?} {:?}", lineage.conversation(&id("deep")), lineage.tip(&id("root"))));
    for view in [View::Conversations, View::Sessions] {
        let listing = store.list(&ListRequest { view, ..ListRequest::default() }).await?;
        let rows = listing.rows.iter().filter(|row| row.id != id("branch"));
        told.push(format!("{:?}", rows.collect::<Vec<_>>()));
    }
    told.push(format!("{:?}", store.counts(&SessionFilter::default()).await?));
    told.push(format!("{:?}", store.statistics().await?));
    told.push(format!("{:?}", found(store, "kilimanjaro").await?));
    told.push(format!("{:?}", found(store, "别山").await?));
    Ok(told)
}

/// Returns the sessions and messages that a query finds, in their order.
pub(super) async fn found(store: &dyn Store, query: &str) -> Result<Vec<(SessionId, i64)>, StoreError> {
    let answer = store.search(&SearchRequest { relax: false, ..SearchRequest::new(Query::parse(query)) }).await?;
    let mut hits: Vec<(SessionId, i64)> = answer.hits.iter().map(|hit| (hit.session.clone(), hit.message.0)).collect();
    hits.sort();
    Ok(hits)
}

pub(super) fn topic(session: &str) -> TopicChange {
    TopicChange::Bind {
        chat_id: "c".into(),
        thread_id: "t".into(),
        user_id: "u".into(),
        session_key: "k".into(),
        session_id: id(session),
        managed_mode: "auto".into(),
    }
}
