//! `hermes sessions trash`

use crate::context::Context;
use crate::error::CliError;
use crate::resolve::find_trashed;
use crate::ui::{json, trash as shown};
use crate::warnings;
use hermes_app::trash;

#[derive(clap::Subcommand)]
pub(crate) enum TrashCommand {
    List(ListArgs),
    Empty(EmptyArgs),
}

/// Lists what was deleted and can come back, the newest first
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// Deletes what is in the trash for good
#[derive(clap::Args)]
pub(crate) struct EmptyArgs {
    /// Only this conversation: the id of one of its sessions, the start of the id it was named by, or its title
    #[arg(value_name = "DELETED")]
    session: Option<String>,
    /// Does not ask
    #[arg(short, long)]
    yes: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, command: TrashCommand) -> Result<(), CliError> {
    match command {
        TrashCommand::List(args) => list(context, &args).await,
        TrashCommand::Empty(args) => empty(context, args).await,
    }
}

async fn list(context: &Context, args: &ListArgs) -> Result<(), CliError> {
    let store = context.open_for_reading().await?.store;
    let entries = trash::entries(&*store).await?;
    if args.json {
        context.ui.json(&json::trash::list(&entries))
    } else {
        context.ui.print(shown::list(&entries, &context.now, context.ui.width()))
    }
}

async fn empty(context: &Context, args: EmptyArgs) -> Result<(), CliError> {
    let opened = context.open_for_writing().await?;
    let about = match &args.session {
        Some(text) => vec![find_trashed(context, &*opened.store, text).await?.0],
        None => trash::entries(&*opened.store).await?,
    };
    if !about.is_empty() {
        let lines = shown::list(&about, &context.now, context.ui.width());
        context.ui.consent(args.yes, lines, "Delete this for good?")?;
    }
    let report = trash::empty(&*opened.store, about, opened.transcripts().as_ref()).await?;
    warnings::left_behind(context, &report.transcripts);
    if args.json {
        context.ui.json(&json::trash::emptied(&report.entries, report.transcripts.files))
    } else {
        context.ui.print(shown::emptied(&report.entries, report.transcripts.files))
    }
}
