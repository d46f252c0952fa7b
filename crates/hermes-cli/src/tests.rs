//! A command reads the configuration once and opens the store once, also if chores follow it.

use super::*;
use crate::args::Args;
use clap::Parser as _;
use hermes_app::Access;
use hermes_app::workspace::Activity;
use hermes_session::{NewMessage, NewSession, Request, Role, SessionId, Source};
use std::path::Path;

/// Runs a command and returns how often it read `config.yaml` and opened a store.
async fn activity(home: &Path, line: &str) -> Activity {
    let args = Args::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{line}: {error}"));
    let environment = Environment::new([("HERMES_HOME", home), ("XDG_STATE_HOME", home)], None);
    let ui = Ui::new(&environment);
    let workspace = Arc::new(Workspace::new(args.place.flags(), environment));
    let context = Context { workspace, ui, now: clock::now() };
    dispatch(&context, args.command.unwrap()).await.unwrap_or_else(|error| panic!("{line}: {}", error.text()));
    context.workspace.activity()
}

#[tokio::test]
async fn a_command_reads_settings_once_and_opens_the_store_once() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("config.yaml"), "sessions:\n  auto_prune: true\n").unwrap();
    let environment = Environment::new([("HERMES_HOME", home.path())], None);
    let workspace = Workspace::new(hermes_config::Flags::default(), environment);
    let store = workspace.open(Access::Create).await.unwrap().store;
    let request = Request::at(clock::now().at);
    for name in ["first", "second"] {
        let new = NewSession::new(SessionId::parse(name).unwrap(), Source::parse("cli").unwrap());
        store.create(&new, &request).await.unwrap();
        store.append(&new.id, &[NewMessage::new(Role::User, "hello")], &request).await.unwrap();
    }
    drop(store);
    // `list` runs first: the other commands refer to its rows, and `search` prints another list.
    for line in [
        "hermes sessions list",
        "hermes sessions show --no-pager @1",
        "hermes sessions search hello",
        "hermes sessions rename @1 new",
        "hermes sessions pin @1",
        "hermes sessions tag @1 --add work",
        "hermes sessions delete --yes second",
        "hermes sessions trash list",
        "hermes sessions restore second",
        "hermes sessions prune --yes",
        "hermes sessions export - --session-id first",
        "hermes sessiondb status",
    ] {
        let expect = Activity { config_reads: 1, store_opens: 1 };
        assert_eq!(activity(home.path(), line).await, expect, "{line}");
    }
}
