//! Filters of a search.

use super::{MOMENTS, places, question};
use crate::fixture::{assistant, at, id, new_session, request, source, title, user};
use crate::{CaseResult, Setup};
use hermes_session::search::{SearchFilter, SearchRequest};
use hermes_session::{
    MessageBody, MessageId, MessageRequest, NewChild, NewMessage, NewSession, PageRequest, Relation, Role, Scope,
    Store, StoreError, Tag,
};

/// Creates three sessions of different kinds, each with a message of the user, the assistant and a tool, at different
/// times.
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

/// Each filter admits exactly what it names, and an empty list nothing.
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
            (model("M-"), &[0, 1, 2, 3, 4, 5]),
            (model("-2"), &[3, 4, 5]),
            (model("m-12"), &[]),
            (model("%"), &[]),
            (model("m_1"), &[]),
            (model(""), &[0, 1, 2, 3, 4, 5]),
            (called("GROSSE DES CAFE"), &[0, 1, 2]),
            (called("别山"), &[3, 4, 5]),
            (called("ize of"), &[3, 4, 5]),
            (called("absent"), &[]),
        ],
    )
    .await
}

/// A tag admits every session of the conversations that have it, several tags only those that have all, and an unknown
/// tag nothing.
pub async fn tags_admit_whole_conversations(setup: Setup) -> CaseResult {
    let store = setup.idle_store("s").await;
    let mut said = said(&*store).await?;
    let aside = new_session("helper").child_of(id("one"), Relation::Delegate);
    store.create(&aside, &request(2)).await?;
    said.extend(store.append(&id("helper"), &[user("a cat aside")], &request(2)).await?);
    store.split(&id("one"), &NewChild::new(id("tip")), &[user("the cat so far")], &request(100)).await?;
    said.extend(store.messages(&id("tip"), &MessageRequest::first(9)).await?.iter().map(|message| message.id));
    store.branch(&id("tip"), &NewChild::new(id("branch")), &request(101)).await?;
    said.extend(store.messages(&id("branch"), &MessageRequest::first(9)).await?.iter().map(|message| message.id));
    let all = SearchFilter::default;
    let tags = |texts: &[&str]| texts.iter().map(|text| Tag::parse(text).unwrap()).collect::<Vec<Tag>>();
    let tagged = |texts: &[&str]| SearchFilter { tags: tags(texts), ..all() };
    check(&*store, &said, &[(tagged(&["pets"]), &[]), (tagged(&[]), &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])]).await?;
    store.change_tags(&id("tip"), &tags(&["pets", "work"]), &[], &request(102)).await?;
    store.change_tags(&id("three"), &tags(&["pets"]), &[], &request(103)).await?;
    let scope = Scope::User { user_id: "anna".into(), source: None };
    check(
        &*store,
        &said,
        &[
            (tagged(&["pets"]), &[0, 1, 2, 6, 7, 8, 9, 10]),
            (tagged(&["work", "pets"]), &[0, 1, 2, 9, 10]),
            (tagged(&["pet"]), &[]),
            (tagged(&["pets", "absent"]), &[]),
            (SearchFilter { scope, ..tagged(&["pets"]) }, &[0, 1, 2, 9, 10]),
            (SearchFilter { sessions: Some(crate::fixture::ids(&["one", "two"])), ..tagged(&["pets"]) }, &[0, 1, 2]),
            (SearchFilter { exclude_sessions: crate::fixture::ids(&["one"]), ..tagged(&["work"]) }, &[9, 10]),
            (SearchFilter { roles: Some(vec![Role::User]), ..tagged(&["pets"]) }, &[0, 6, 9, 10]),
            (SearchFilter { title: Some("CAFE".into()), ..tagged(&["pets"]) }, &[0, 1, 2, 10]),
        ],
    )
    .await?;
    store.change_tags(&id("one"), &[], &tags(&["pets"]), &request(104)).await?;
    check(&*store, &said, &[(tagged(&["pets"]), &[6, 7, 8]), (tagged(&["work"]), &[0, 1, 2, 9, 10])]).await
}

/// A tag of many conversations admits all of them, and no other.
pub async fn a_tag_of_many_conversations(setup: Setup) -> CaseResult {
    const CONVERSATIONS: i32 = 150;
    let store = setup.idle_store("s").await;
    let tag = vec![Tag::parse("pets")?];
    let (mut said, mut expect) = (Vec::new(), Vec::new());
    for number in 0..CONVERSATIONS {
        let name = format!("s{number}");
        store.create(&new_session(&name), &request(number)).await?;
        said.extend(store.append(&id(&name), &[user("cat")], &request(number)).await?);
        if number % 3 > 0 {
            store.change_tags(&id(&name), &tag, &[], &request(number)).await?;
            expect.push(number as usize);
        }
    }
    for moment in MOMENTS {
        moment.come(&*store).await?;
        for query in ["cat", "\"\" NOT dog"] {
            let filter = SearchFilter { tags: tag.clone(), ..SearchFilter::default() };
            let page = PageRequest::first(1_000);
            let mut found = places(&*store, &SearchRequest { filter, page, ..question(query) }, &said).await?;
            found.sort_unstable();
            assert_eq!(found, expect, "{moment:?}, {query}");
        }
    }
    Ok(())
}

/// Filters are combined with AND.
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
