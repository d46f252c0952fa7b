//! `hermes sessions pin` and `hermes sessions unpin`

use crate::chores;
use crate::context::Context;
use crate::error::CliError;
use crate::resolve::resolve_all;
use crate::ui::json;
use crate::ui::pins_and_tags::{self, Pinned};
use hermes_session::Request;

/// Pin conversations: list them first and never prune them
///
/// A pin belongs to the conversation and stays when its context is compressed. A branch starts without a pin.
#[derive(clap::Args)]
pub(crate) struct PinArgs {
    /// Session id, start of an id, title, @last, or @N for row N of the last list
    #[arg(value_name = "SESSION", required = true)]
    sessions: Vec<String>,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: PinArgs, is_pinned: bool) -> Result<(), CliError> {
    let opened = context.open_for_writing().await?;
    let store = &opened.store;
    // Nothing is changed unless all sessions are found.
    let found = resolve_all(context, &**store, &args.sessions).await?;
    let mut done = Vec::with_capacity(found.len());
    for found in found {
        let is_changed = store.set_pinned(&found.session, is_pinned, &Request::at(context.now.at)).await?;
        let title = store.session(&found.session).await?.and_then(|session| session.title);
        done.push(Pinned { id: found.session, title, is_pinned, is_changed });
    }
    if args.json {
        context.ui.json_done(&json::pins_and_tags::pinned(&done))?;
    } else {
        context.ui.print_done(pins_and_tags::pinned(&done))?;
    }
    chores::run(context, opened).await;
    Ok(())
}
