//! `hermes sessions restore`

use crate::commands::trash::find;
use crate::context::Context;
use crate::error::CliError;
use crate::transcripts::{Removed, Transcripts};
use crate::ui::{json, trash};
use hermes_session::Request;

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
    let settings = context.settings()?;
    let (store, url) = context.open_configured(&settings).await?;
    let (entry, members) = find(context, &*store, &args.session).await?;
    let transcripts = Transcripts::of(&settings, &url);
    // First, because whoever is interrupted asks again, and would not find in the trash what is back already.
    let moved =
        transcripts.as_ref().map_or_else(Removed::default, |transcripts| transcripts.bring_back(&members, &entry));
    let restored = match store.restore(&entry.id, &Request::at(context.now.at)).await {
        Ok(restored) => restored,
        Err(error) => {
            transcripts.iter().for_each(|transcripts| _ = transcripts.put_away(&members, &entry));
            return Err(error.into());
        }
    };
    for (file, error) in &moved.left {
        let text = format!("could not bring back {}: {error}", file.display());
        context.ui.warn(&text, "the conversation is there; move the file to where it was by hand");
    }
    if args.json {
        context.ui.json(&json::trash::restored(&entry, &restored, moved.files))
    } else {
        context.ui.print(trash::restored(&entry, &restored, moved.files))
    }
}
