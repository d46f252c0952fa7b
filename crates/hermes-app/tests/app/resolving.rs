//! From a text that a person types to a session.

use super::*;
use hermes_app::Terminal;
use hermes_app::last_list::{self, LastList, Lists, NoRow};
use hermes_app::resolve::{ResolveError, resolve};

#[tokio::test]
async fn an_ambiguous_text_returns_candidates() {
    let home = Home::new();
    let (workspace, store) = (home.workspace(), home.store().await);
    ended(&*store, "ab1", Some("first")).await;
    ended(&*store, "ab2", None).await;
    let error = resolve(&workspace, &*store, "ab", Lists::Own, at(NOW)).await.unwrap_err();
    let ResolveError::Ambiguous { candidates, .. } = error else { panic!("{error:?}") };
    let seen: Vec<_> = candidates.iter().map(|found| (found.id.as_str(), found.title.as_deref())).collect();
    assert_eq!(seen, [("ab1", Some("first")), ("ab2", None)]);
    assert_eq!(resolve(&workspace, &*store, "ab1", Lists::Own, at(NOW)).await.unwrap().meant(), &id("ab1"));
    assert_eq!(resolve(&workspace, &*store, "first", Lists::Own, at(NOW)).await.unwrap().asked, id("ab1"));
    assert!(matches!(resolve(&workspace, &*store, "x", Lists::Own, at(NOW)).await, Err(ResolveError::NotFound { .. })));
}

#[tokio::test]
async fn a_number_names_a_row_of_the_last_list() {
    let home = Home::new();
    let (workspace, store) = (home.workspace(), home.store().await);
    ended(&*store, "a", None).await;
    let number = async |text: &str, now: f64| resolve(&workspace, &*store, text, Lists::Own, at(now)).await;
    assert!(matches!(number("@1", NOW).await, Err(ResolveError::NoRow(NoRow::NoList))));
    LastList::new(1, true, [id("a"), id("gone")]).keep(&workspace, at(NOW));
    assert_eq!(number("@1", NOW).await.unwrap().meant(), &id("a"));
    assert!(matches!(number("#2", NOW).await, Err(ResolveError::RowGone { id, .. }) if id == "gone"));
    assert!(matches!(number("@3", NOW).await, Err(ResolveError::NoRow(NoRow::OutOfRange { .. }))));
    assert!(matches!(number("@1", NOW + 2.0 * DAY).await, Err(ResolveError::NoRow(NoRow::TooOld { .. }))));
}

#[tokio::test]
async fn each_terminal_has_its_own_numbers() {
    let home = Home::new();
    let store = home.store().await;
    ended(&*store, "a", None).await;
    ended(&*store, "b", None).await;
    let at_terminal = |name: &str| home.workspace().at_terminal(Terminal::named(name));
    let first = async |workspace: &Workspace, lists: Lists| {
        let found = resolve(workspace, &*store, "@1", lists, at(NOW + 2.0)).await;
        found.map(|found| (found.asked, found.list_elsewhere))
    };
    let (one, two, three) = (at_terminal("1"), at_terminal("2"), at_terminal("3"));
    LastList::new(1, false, [id("a")]).keep(&one, at(NOW));
    LastList::new(1, false, [id("b")]).keep(&two, at(NOW + 1.0));
    for lists in [Lists::Own, Lists::Any] {
        assert_eq!(first(&one, lists).await.unwrap(), (id("a"), None));
        assert_eq!(first(&two, lists).await.unwrap(), (id("b"), None));
    }
    assert!(matches!(first(&three, Lists::Own).await, Err(ResolveError::NoRow(NoRow::OtherTerminal))));
    assert_eq!(first(&three, Lists::Any).await.unwrap(), (id("b"), Some(at(NOW + 1.0))), "the newest");
    last_list::forget(&one);
    assert!(matches!(first(&two, Lists::Any).await, Err(ResolveError::NoRow(NoRow::NoList))));
}
