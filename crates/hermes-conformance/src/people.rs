//! People on one store, and what each of them may see.
//!
//! Some have nearly the same name, or the same name on two platforms. One conversation continued in a session without a
//! user, and has a delegate that names another user. A query within a scope never returns anything of another
//! conversation.

use crate::fixture::{assistant, at, id, ids, new_session, request, source, title, user};
use hermes_session::{ConversationStore, NewSession, Relation, Scope, StoreError};

/// A session: its id, source and user, and its parent.
struct Person {
    id: &'static str,
    source: &'static str,
    user_id: Option<&'static str>,
    kin: Option<(&'static str, Relation)>,
}

const fn person(id: &'static str, source: &'static str, user_id: Option<&'static str>) -> Person {
    Person { id, source, user_id, kin: None }
}

const PEOPLE: [Person; 11] = [
    person("t1", "telegram", Some("anna")),
    // The agent that compressed it recorded no user and another source.
    Person { id: "t1b", source: "cli", user_id: None, kin: Some(("t1", Relation::Continuation)) },
    Person { id: "t1d", source: "cron", user_id: Some("bob"), kin: Some(("t1", Relation::Delegate)) },
    Person { id: "x1", source: "telegram", user_id: Some("bob"), kin: Some(("t1", Relation::Branch)) },
    person("d1", "discord", Some("anna")),
    person("t2", "telegram", Some("bob")),
    person("t3", "telegram", Some("Anna")),
    person("t4", "telegram", Some("anna ")),
    person("c1", "cli", None),
    person("c2", "cli", Some("")),
    person("k1", "cron", Some("anna")),
];

/// Returns a word that only one session contains.
pub fn secret(session: &str) -> String {
    format!("word{session}end")
}

/// Returns every session, with the first session of its conversation.
pub fn sessions() -> Vec<(&'static str, &'static str)> {
    let root = |person: &Person| match person.kin {
        Some((parent, Relation::Continuation | Relation::Delegate)) => parent,
        _ => person.id,
    };
    PEOPLE.iter().map(|person| (person.id, root(person))).collect()
}

/// Fills a store. All sessions contain `common` and `commonly`, and each its [`secret`].
///
/// # Errors
/// If the store fails.
pub async fn fill(store: &dyn ConversationStore) -> Result<(), StoreError> {
    for (place, person) in PEOPLE.iter().enumerate() {
        let seconds = 100 * place as i32;
        let session = NewSession {
            source: source(person.source),
            user_id: person.user_id.map(str::to_owned),
            started_at: Some(at(seconds)),
            ..new_session(person.id)
        };
        let session = match person.kin {
            Some((parent, relation)) => session.child_of(id(parent), relation),
            None => session,
        };
        store.create(&session, &request(seconds)).await?;
        let said = [
            user(&format!("common question of {}", secret(person.id))).said_at(at(seconds + 1)),
            assistant(&format!("they commonly say {}", secret(person.id))).said_at(at(seconds + 2)),
        ];
        store.append(&id(person.id), &said, &request(seconds + 3)).await?;
        store.set_title(&id(person.id), Some(&title(&format!("talk {}", person.id))), &request(seconds + 3)).await?;
    }
    Ok(())
}

/// Returns scopes, each with the first sessions of the conversations within it.
pub fn scopes() -> Vec<(Scope, &'static [&'static str])> {
    let user = |user_id: &str, tag: Option<&str>| Scope::User { user_id: user_id.into(), source: tag.map(source) };
    vec![
        (Scope::All, &["c1", "c2", "d1", "k1", "t1", "t2", "t3", "t4", "x1"]),
        (Scope::Source(source("telegram")), &["t1", "t2", "t3", "t4", "x1"]),
        (Scope::Source(source("cli")), &["c1", "c2"]),
        (Scope::Source(source("Telegram")), &[]),
        (user("anna", None), &["d1", "k1", "t1"]),
        (user("anna", Some("telegram")), &["t1"]),
        (user("anna", Some("cli")), &[]),
        (user("bob", None), &["t2", "x1"]),
        (user("Anna", None), &["t3"]),
        (user("anna ", None), &["t4"]),
        (user("", None), &["c2"]),
        (user("nobody", None), &[]),
        (user("a\0b", None), &[]),
        (Scope::Chat(ids(&["t1b"])), &["t1"]),
        (Scope::Chat(ids(&["t1d", "d1", "absent"])), &["d1", "t1"]),
        (Scope::Chat(ids(&["absent"])), &[]),
        (Scope::Chat(Vec::new()), &[]),
    ]
}
