//! `hermes sessions restore`

use crate::context::Context;
use crate::error::CliError;
use crate::resolve::find_trashed;
use crate::ui::{json, trash as shown};
use hermes_app::trash;

/// Brings a deleted conversation back from the trash, with its messages, its title and its transcripts
#[derive(clap::Args)]
pub(crate) struct RestoreArgs {
    /// The id of one of its sessions, the start of the id it was named by, or its title
    #[arg(value_name = "DELETED")]
    session: String,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: RestoreArgs) -> Result<(), CliError> {
    let opened = context.open_for_writing().await?;
    let (entry, members) = find_trashed(context, &*opened.store, &args.session).await?;
    let transcripts = opened.transcripts();
    let report = trash::restore(&*opened.store, &entry, &members, transcripts.as_ref(), context.now.at).await?;
    for (file, error) in &report.transcripts.left {
        let text = format!("could not bring back {}: {error}", file.display());
        context.ui.warn(&text, "the conversation is there; move the file to where it was by hand");
    }
    if args.json {
        context.ui.json(&json::trash::restored(&entry, &report.restored, report.transcripts.files))
    } else {
        context.ui.print(shown::restored(&entry, &report.restored, report.transcripts.files))
    }
}
