//! Conversations are deleted and restored with their transcripts.

use super::*;
use hermes_app::trash::{FindTrashedError, delete, empty_expired, entries, find, preview, restore};

const FILE: &str = "sessions/session_a.json";

#[tokio::test]
async fn a_conversation_takes_its_transcripts_to_the_trash_and_back() {
    let home = Home::new();
    let store = home.store().await;
    let transcripts = home.workspace().transcripts().unwrap();
    ended(&*store, "a", Some("kept")).await;
    home.write(FILE, "{}");
    let shown = preview(&*store, &id("a"), transcripts.as_ref(), at(NOW)).await.unwrap();
    assert_eq!((shown.title.as_deref(), shown.states.total(), shown.files), (Some("kept"), 1, 1));
    let report = delete(&*store, &shown, 30, transcripts.as_ref(), at(NOW)).await.unwrap();
    assert_eq!((report.deleted.messages, report.transcripts.files, report.until), (1, 1, Some(at(NOW + 30.0 * DAY))));
    assert!(!home.has(FILE));

    assert!(matches!(find(&*store, "other").await, Err(FindTrashedError::NotFound { .. })));
    let (entry, members) = find(&*store, "kept").await.unwrap();
    let report = restore(&*store, &entry, &members, transcripts.as_ref(), at(NOW)).await.unwrap();
    assert_eq!((report.restored.messages, report.transcripts.files), (1, 1));
    assert!(home.has(FILE) && entries(&*store).await.unwrap().is_empty());

    let report = delete(&*store, &shown, 0, transcripts.as_ref(), at(NOW)).await.unwrap();
    assert_eq!((report.transcripts.files, report.until), (1, None));
    assert!(!home.has(FILE) && entries(&*store).await.unwrap().is_empty());
}

#[tokio::test]
async fn only_expired_entries_are_emptied() {
    let home = Home::new();
    let store = home.store().await;
    let transcripts = home.workspace().transcripts().unwrap();
    for (name, days) in [("a", 1), ("b", 3)] {
        ended(&*store, name, None).await;
        home.write(&format!("sessions/session_{name}.json"), "{}");
        let shown = preview(&*store, &id(name), None, at(NOW)).await.unwrap();
        delete(&*store, &shown, days, transcripts.as_ref(), at(NOW)).await.unwrap();
    }
    let report = empty_expired(&*store, transcripts.as_ref(), at(NOW + 2.0 * DAY)).await.unwrap();
    assert_eq!((report.entries.len(), report.transcripts.files), (1, 1));
    let left: Vec<_> = entries(&*store).await.unwrap().into_iter().map(|entry| entry.id).collect();
    assert_eq!(left, [id("b")]);
}
