//! `hermes sessions archive` and `hermes sessions unarchive`

use crate::chores;
use crate::context::Context;
use crate::error::CliError;
use crate::resolve::resolve_all;
use crate::ui::archive::{self, Archived};
use crate::ui::json;
use hermes_session::Request;

/// Archive conversations: leave them out of lists, but keep and find them
///
/// `list --archived` lists them, `search` still finds their messages, and `unarchive` puts them back. Archiving belongs
/// to the conversation: it holds for its compressed sessions and for those that continue it. A branch is not archived
/// with it.
#[derive(clap::Args)]
pub(crate) struct ArchiveArgs {
    /// Session id, start of an id, title, @last, or @N for row N of the last list
    #[arg(value_name = "SESSION", required = true)]
    sessions: Vec<String>,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: ArchiveArgs, is_archived: bool) -> Result<(), CliError> {
    let opened = context.open_for_writing().await?;
    let store = &opened.store;
    // Nothing is changed unless all sessions are found.
    let found = resolve_all(context, &**store, &args.sessions).await?;
    let mut done = Vec::with_capacity(found.len());
    for found in found {
        let is_changed = store.set_archived(&found.session, is_archived, &Request::at(context.now.at)).await?;
        let title = store.session(&found.session).await?.and_then(|session| session.title);
        done.push(Archived { id: found.session, title, is_archived, is_changed });
    }
    if args.json {
        context.ui.json_done(&json::archive::archived(&done))?;
    } else {
        context.ui.print_done(archive::archived(&done))?;
    }
    chores::run(context, opened).await;
    Ok(())
}
