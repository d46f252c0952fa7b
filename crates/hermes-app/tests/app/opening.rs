//! Settings are read once, and a store is opened only with the access that is allowed.

use super::*;
use hermes_app::AppError;
use hermes_app::last_list::{LastList, Lists};
use hermes_app::workspace::Activity;
use hermes_config::Secret;

async fn opened(workspace: &Workspace, access: Access) -> Result<(), AppError> {
    workspace.open(access).await.map(drop)
}

#[tokio::test]
async fn the_configuration_is_read_once() {
    let home = Home::new();
    home.write("config.yaml", "sessions:\n  trash_days: 7\n");
    drop(home.store().await);
    let workspace = home.workspace();
    let opened = workspace.open(Access::Read).await.unwrap();
    LastList::new(1, false, [id("a")]).keep(&workspace, at(NOW));
    assert_eq!(LastList::read(&workspace, Lists::Own, at(NOW)).unwrap().list.row(1).unwrap(), &id("a"));
    assert_eq!(workspace.settings().unwrap().sessions.trash_days.value, 7);
    assert!(workspace.url().unwrap() == &opened.url && workspace.transcripts().unwrap().is_some());
    assert_eq!(workspace.activity(), Activity { config_reads: 1, store_opens: 1 });
}

#[tokio::test]
async fn only_what_creates_stores_creates_one() {
    let home = Home::new();
    for access in [Access::Read, Access::Write] {
        let error = opened(&home.workspace(), access).await.unwrap_err();
        assert!(matches!(&error, AppError::NoStore { path } if path.ends_with("state.db")), "{error:?}");
        assert!(!home.has("state.db"));
    }
    opened(&home.workspace(), Access::Create).await.unwrap();
    opened(&home.workspace(), Access::Write).await.unwrap();
}

#[tokio::test]
async fn what_is_read_only_is_not_written() {
    let home = Home::new();
    drop(home.store().await);
    let by_flag = || home.workspace_with(Flags { read_only: true, ..Flags::default() });
    home.write("config.yaml", "sessiondb:\n  sqlite:\n    read_only: true\n");
    for workspace in [by_flag(), home.workspace()] {
        opened(&workspace, Access::Read).await.unwrap();
        for access in [Access::Write, Access::Create] {
            let error = opened(&workspace, access).await.unwrap_err();
            assert!(matches!(error, AppError::ReadOnly { .. }), "{error:?}");
        }
    }
}

#[tokio::test]
async fn transcripts_of_the_home_belong_to_its_store_alone() {
    let (home, other) = (Home::new(), Home::new());
    drop(other.store().await);
    let url = Secret::new(other.path().join("state.db").to_str().unwrap());
    let workspace = home.workspace_with(Flags { url: Some(url), ..Flags::default() });
    assert!(workspace.transcripts().unwrap().is_none() && home.workspace().transcripts().unwrap().is_some());
}

#[test]
fn an_argument_names_a_store() {
    let environment = Environment::new([("STORE", " sqlite:/x/state.db "), ("EMPTY", " ")], None);
    let workspace = Workspace::new(Flags { home: Some("/h".into()), ..Flags::default() }, environment);
    let url = |text: &str| workspace.named_url(text).map(|named| (named.url.to_string(), named.is_typed));
    assert_eq!(url("config").unwrap(), ("sqlite:/h/state.db".to_owned(), false));
    assert_eq!(url("env:STORE").unwrap(), ("sqlite:/x/state.db".to_owned(), false));
    assert_eq!(url(" /y/state.db").unwrap(), ("sqlite:/y/state.db".to_owned(), true));
    assert!(matches!(url("env:EMPTY"), Err(AppError::Unset { name }) if name == "EMPTY"));
    assert!(matches!(url("ftp://x"), Err(AppError::Url { .. })));
}
