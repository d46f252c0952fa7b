//! `hermes sessions pin` and `hermes sessions unpin`

use crate::chores;
use crate::context::Context;
use crate::error::CliError;
use crate::resolve::resolve;
use crate::ui::json;
use crate::ui::pins_and_tags::{self, Pinned};
use hermes_session::Request;

/// Pins conversations: they come first in lists, and pruning never takes them
///
/// A pin belongs to the conversation: it stays when its context is compressed. A branch starts without one.
#[derive(clap::Args)]
pub(crate) struct PinArgs {
    /// Its id, the start of its id, its title, @last, or the number of a row of the last list, such as @3
    #[arg(value_name = "SESSION", required = true)]
    sessions: Vec<String>,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: PinArgs, is_pinned: bool) -> Result<(), CliError> {
    let opened = context.open_for_writing().await?;
    let store = &opened.store;
    // Nothing is changed unless every one of them is found.
    let mut found = Vec::with_capacity(args.sessions.len());
    for text in &args.sessions {
        found.push(resolve(context, &**store, text).await?);
    }
    let mut done = Vec::with_capacity(found.len());
    for found in found {
        let is_changed = store.set_pinned(&found.session, is_pinned, &Request::at(context.now.at)).await?;
        let title = store.session(&found.session).await?.and_then(|session| session.title);
        done.push(Pinned { id: found.session, title, is_pinned, is_changed });
    }
    if args.json {
        context.ui.json(&json::pins_and_tags::pinned(&done))?;
    } else {
        context.ui.print(pins_and_tags::pinned(&done))?;
    }
    chores::run(context, opened).await;
    Ok(())
}
