//! `hermes sessions trash`

use crate::context::Context;
use crate::error::CliError;
use crate::resolve::find_trashed;
use crate::ui::{json, trash as shown};
use crate::warnings;
use hermes_app::trash;
use hermes_terminal::figures::plural;

#[derive(clap::Subcommand)]
pub(crate) enum TrashCommand {
    List(ListArgs),
    Empty(EmptyArgs),
}

/// List deleted conversations that can be restored, newest first
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

/// Delete the conversations in the trash for good
#[derive(clap::Args)]
pub(crate) struct EmptyArgs {
    /// Only this conversation: id of one of its sessions, start of the id shown by `trash list`, or title
    #[arg(value_name = "DELETED")]
    session: Option<String>,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Print one JSON object
    #[arg(short, long)]
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
        context.ui.print(shown::list(&entries, &context.now, context.ui.table_width()))
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
        let what = match about.len() {
            1 => "this conversation".to_owned(),
            count => format!("these {}", plural(count as u64, "conversations")),
        };
        context.ui.consent(args.yes, lines, &format!("Delete {what} for good?"))?;
    }
    let report = trash::empty(&*opened.store, about, opened.transcripts().as_ref()).await?;
    warnings::left_behind(context, &report.transcripts);
    if args.json {
        context.ui.json_done(&json::trash::emptied(&report.entries, report.transcripts.files))
    } else {
        context.ui.print_done(shown::emptied(&report.entries, report.transcripts.files))
    }
}
