//! `hermes sessions rename`

use crate::chores;
use crate::context::Context;
use crate::error::CliError;
use crate::resolve::resolve;
use crate::ui::{changes, json};
use hermes_session::{Request, Title};

/// Set the title of a session
#[derive(clap::Args)]
pub(crate) struct RenameArgs {
    /// Session id, start of an id, title, @last, or @N for row N of the last list
    #[arg(value_name = "SESSION")]
    session: String,
    /// New title; several words are joined with spaces
    #[arg(value_name = "TITLE", required = true)]
    title: Vec<String>,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: RenameArgs) -> Result<(), CliError> {
    let title = Title::parse(&args.title.join(" ")).map_err(CliError::usage)?;
    let opened = context.open_for_writing().await?;
    let found = resolve(context, &*opened.store, &args.session).await?;
    let id = found.meant();
    let before = opened.store.session(id).await?.and_then(|session| session.title);
    opened.store.set_title(id, Some(&title), &Request::at(context.now.at)).await?;
    if args.json {
        context.ui.json_done(&json::changes::renamed(id, &title))?;
    } else {
        context.ui.print_done(changes::renamed(id, before.as_deref(), &title))?;
    }
    chores::run(context, opened).await;
    Ok(())
}
