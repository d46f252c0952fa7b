//! Which messages are searched.

use super::{MOMENTS, places, question};
use crate::fixture::{assistant, at, id, new_session, request, source, title, user};
use crate::{CaseResult, Setup};
use hermes_session::search::{SearchFilter, SearchRequest};
use hermes_session::{MessageBody, MessageId, NewMessage, NewSession, Role, Store, StoreError};

/// Three sessions of different kinds, each with a word of a person, of the model and of a tool, at different times.
async fn said(store: &dyn Store) -> Result<Vec<MessageId>, StoreError> {
    let mut said = Vec::new();
    for (name, tag, user_id, model) in [
        ("one", "cli", Some("anna"), Some("m-1")),
        ("two", "telegram", Some("Anna"), Some("m-2")),
        ("three", "cron", None, None),
    ] {
        let (user_id, model) = (user_id.map(str::to_owned), model.map(str::to_owned));
        let session = NewSession { source: source(tag), user_id, model, ..new_session(name) };
        store.create(&session, &request(0)).await?;
        let start = 10 * said.len() as i32;
        let tool = NewMessage::from(MessageBody::new(Role::Tool, "concatenate"));
        let batch =
            [user("cat").said_at(at(start)), assistant("a cat").said_at(at(start + 10)), tool.said_at(at(start + 20))];
        said.extend(store.append(&id(name), &batch, &request(1)).await?);
    }
    store.set_title(&id("one"), Some(&title("Größe des Café")), &request(1)).await?;
    store.set_title(&id("two"), Some(&title("size of 大别山")), &request(1)).await?;
    Ok(said)
}

async fn check(store: &dyn Store, said: &[MessageId], table: &[(SearchFilter, &[usize])]) -> CaseResult {
    for moment in MOMENTS {
        moment.come(store).await?;
        for (filter, expect) in table {
            for query in ["cat", "cat OR 猫", "\"\" NOT dog"] {
                let request = SearchRequest { filter: filter.clone(), ..question(query) };
                let mut found = places(store, &request, said).await?;
                found.sort_unstable();
                assert_eq!(found, *expect, "{moment:?}, {query}: {filter:?}");
            }
        }
    }
    Ok(())
}

const ALL: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7, 8];

/// Each filter admits what it says, and an empty list nothing.
pub async fn every_filter_by_itself(setup: Setup) -> CaseResult {
    let store = setup.idle_store("s").await;
    let said = said(&*store).await?;
    let all = SearchFilter::default;
    let sources = |tags: &[&str]| SearchFilter { sources: Some(tags.iter().copied().map(source).collect()), ..all() };
    let without = |tags: &[&str]| SearchFilter { exclude_sources: tags.iter().copied().map(source).collect(), ..all() };
    let roles = |roles: &[Role]| SearchFilter { roles: Some(roles.to_vec()), ..all() };
    let sessions = |names: &[&str]| SearchFilter { sessions: Some(crate::fixture::ids(names)), ..all() };
    let besides = |names: &[&str]| SearchFilter { exclude_sessions: crate::fixture::ids(names), ..all() };
    let called = |piece: &str| SearchFilter { title: Some(piece.into()), ..all() };
    let users = |user: &str| SearchFilter { user_id: Some(user.into()), ..all() };
    let model = |model: &str| SearchFilter { model: Some(model.into()), ..all() };
    check(
        &*store,
        &said,
        &[
            (all(), ALL),
            (sources(&["cli"]), &[0, 1, 2]),
            (sources(&["cli", "cron"]), &[0, 1, 2, 6, 7, 8]),
            (sources(&["slack"]), &[]),
            (sources(&[]), &[]),
            (without(&["cli"]), &[3, 4, 5, 6, 7, 8]),
            (without(&["cli", "telegram", "cron"]), &[]),
            (without(&[]), ALL),
            (roles(&[Role::User]), &[0, 3, 6]),
            (roles(&[Role::User, Role::Tool]), &[0, 2, 3, 5, 6, 8]),
            (roles(&[]), &[]),
            (SearchFilter { since: Some(at(50)), ..all() }, &[5, 6, 7, 8]),
            (SearchFilter { before: Some(at(20)), ..all() }, &[0, 1]),
            (SearchFilter { before: Some(at(0)), ..all() }, &[]),
            (users("anna"), &[0, 1, 2]),
            (users("Anna"), &[3, 4, 5]),
            (users(""), &[]),
            (sessions(&["two"]), &[3, 4, 5]),
            (sessions(&["two", "one", "two", "nobody"]), &[0, 1, 2, 3, 4, 5]),
            (sessions(&[]), &[]),
            (besides(&["two", "nobody"]), &[0, 1, 2, 6, 7, 8]),
            (besides(&["Two"]), ALL),
            (besides(&["one", "two", "three"]), &[]),
            (SearchFilter { exclude_sessions: crate::fixture::ids(&["one"]), ..sessions(&["one", "two"]) }, &[3, 4, 5]),
            (model("m-1"), &[0, 1, 2]),
            (model("M-1"), &[]),
            (called("GROSSE DES CAFE"), &[0, 1, 2]),
            (called("别山"), &[3, 4, 5]),
            (called("ize of"), &[3, 4, 5]),
            (called("absent"), &[]),
        ],
    )
    .await
}

/// Filters narrow each other.
pub async fn filters_together(setup: Setup) -> CaseResult {
    let store = setup.idle_store("s").await;
    let said = said(&*store).await?;
    let all = SearchFilter::default;
    check(
        &*store,
        &said,
        &[
            (SearchFilter { since: Some(at(30)), before: Some(at(50)), ..all() }, &[3, 4]),
            (SearchFilter { since: Some(at(60)), before: Some(at(60)), ..all() }, &[]),
            (SearchFilter { sources: Some(vec![source("cli")]), exclude_sources: vec![source("cli")], ..all() }, &[]),
            (
                SearchFilter {
                    exclude_sources: vec![source("cron")],
                    roles: Some(vec![Role::Assistant]),
                    since: Some(at(10)),
                    ..all()
                },
                &[1, 4],
            ),
            (SearchFilter { user_id: Some("anna".into()), title: Some("size".into()), ..all() }, &[]),
            (
                SearchFilter {
                    sources: Some(vec![source("telegram"), source("cli")]),
                    roles: Some(vec![Role::User]),
                    model: Some("m-2".into()),
                    sessions: Some(crate::fixture::ids(&["two", "three"])),
                    title: Some("大".into()),
                    before: Some(at(1_000)),
                    ..all()
                },
                &[3],
            ),
        ],
    )
    .await
}
