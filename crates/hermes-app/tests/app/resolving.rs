//! From what a person types to a session.

use super::*;
use hermes_app::last_list::{LastList, NoRow};
use hermes_app::resolve::{ResolveError, resolve};

#[tokio::test]
async fn an_ambiguous_text_returns_candidates() {
    let home = Home::new();
    let (workspace, store) = (home.workspace(), home.store().await);
    ended(&*store, "ab1", Some("first")).await;
    ended(&*store, "ab2", None).await;
    let error = resolve(&workspace, &*store, "ab", at(NOW)).await.unwrap_err();
    let ResolveError::Ambiguous { candidates, .. } = error else { panic!("{error:?}") };
    let seen: Vec<_> = candidates.iter().map(|found| (found.id.as_str(), found.title.as_deref())).collect();
    assert_eq!(seen, [("ab1", Some("first")), ("ab2", None)]);
    assert_eq!(resolve(&workspace, &*store, "ab1", at(NOW)).await.unwrap().meant(), &id("ab1"));
    assert_eq!(resolve(&workspace, &*store, "first", at(NOW)).await.unwrap().asked, id("ab1"));
    assert!(matches!(resolve(&workspace, &*store, "x", at(NOW)).await, Err(ResolveError::NotFound { .. })));
}

#[tokio::test]
async fn a_number_names_a_row_of_the_last_list() {
    let home = Home::new();
    let (workspace, store) = (home.workspace(), home.store().await);
    ended(&*store, "a", None).await;
    let number = async |text: &str, now: f64| resolve(&workspace, &*store, text, at(now)).await;
    assert!(matches!(number("@1", NOW).await, Err(ResolveError::NoRow(NoRow::NoList))));
    LastList::new(1, true, [id("a"), id("gone")]).keep(&workspace, at(NOW));
    assert_eq!(number("@1", NOW).await.unwrap().meant(), &id("a"));
    assert!(matches!(number("#2", NOW).await, Err(ResolveError::RowGone { id, .. }) if id == "gone"));
    assert!(matches!(number("@3", NOW).await, Err(ResolveError::NoRow(NoRow::OutOfRange { .. }))));
    assert!(matches!(number("@1", NOW + 2.0 * DAY).await, Err(ResolveError::NoRow(NoRow::TooOld { .. }))));
}
