//! Pins, tags and archiving are salvaged too.

use crate::cases::repaired;
use crate::fixture::{at, id, idle};
use hermes_session::{ConversationStore as _, NewChild, NewSession, SessionStore as _, Source, Tag, pins_and_tags};
use hermes_sqlite::SqliteStore;

#[tokio::test]
async fn pins_and_tags_are_saved_with_their_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("state.db"), folder.path().join("new.db"));
    let expect = {
        let store = SqliteStore::open(&path, &idle()).unwrap();
        for name in ["a", "b", "c"] {
            store.create(&NewSession::new(id(name), Source::parse("cli").unwrap()), &at(1.0)).await.unwrap();
        }
        store.split(&id("a"), &NewChild::new(id("tip")), &[], &at(2.0)).await.unwrap();
        // A time without a fraction is stored as an integer.
        store.set_pinned(&id("tip"), true, &at(3.0)).await.unwrap();
        store.set_pinned(&id("b"), true, &at(3.25)).await.unwrap();
        let tags: Vec<Tag> = ["work", "大"].iter().map(|text| Tag::parse(text).unwrap()).collect();
        store.change_tags(&id("a"), &tags, &[], &at(4.0)).await.unwrap();
        pins_and_tags::all(&store).await.unwrap()
    };
    repaired(&path, &target).await;
    let store = SqliteStore::open(&target, &idle()).unwrap();
    assert_eq!(pins_and_tags::all(&store).await.unwrap(), expect);
    assert_eq!(expect.len(), 2);
}

/// Sessions that only our own table has as archived are archived in the repaired file.
#[tokio::test]
async fn archived_sessions_stay_archived() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("state.db"), folder.path().join("new.db"));
    {
        let store = SqliteStore::open(&path, &idle()).unwrap();
        for name in ["a", "b"] {
            store.create(&NewSession::new(id(name), Source::parse("cli").unwrap()), &at(1.0)).await.unwrap();
        }
        store.split(&id("a"), &NewChild::new(id("tip")), &[], &at(2.0)).await.unwrap();
        store.set_archived(&id("tip"), true, &at(3.0)).await.unwrap();
    }
    repaired(&path, &target).await;
    let store = SqliteStore::open(&target, &idle()).unwrap();
    for (name, expected) in [("a", true), ("tip", true), ("b", false)] {
        assert_eq!(store.session(&id(name)).await.unwrap().unwrap().archived, expected, "{name}");
    }
}
