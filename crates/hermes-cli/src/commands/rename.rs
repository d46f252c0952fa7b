//! `hermes sessions rename`

use crate::context::Context;
use crate::error::CliError;
use crate::resolve::resolve;
use crate::ui::{changes, json};
use hermes_session::{ConversationStore, Request, SessionId, Timestamp, Title};

/// Gives a session a title
#[derive(clap::Args)]
pub(crate) struct RenameArgs {
    /// Its id, the start of its id, its title, @last, or the number of a row of the last list, such as @3
    #[arg(value_name = "SESSION")]
    session: String,
    /// The title; several words are joined by a blank
    #[arg(value_name = "TITLE", required = true)]
    title: Vec<String>,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: RenameArgs) -> Result<(), CliError> {
    let title = Title::parse(&args.title.join(" ")).map_err(CliError::usage)?;
    let store = context.open_for_writing().await?.store;
    let found = resolve(context, &*store, &args.session).await?;
    let id = found.meant();
    rename(&*store, id, &title, context.now.at).await?;
    if args.json {
        context.ui.json(&json::changes::renamed(id, &title))
    } else {
        context.ui.print(changes::renamed(id, &title))
    }
}

/// Gives a session a title.
pub(crate) async fn rename(
    store: &dyn ConversationStore,
    id: &SessionId,
    title: &Title,
    now: Timestamp,
) -> Result<(), CliError> {
    Ok(store.set_title(id, Some(title), &Request::at(now)).await?)
}
