//! `hermes sessions restore`

use crate::commands::trash::{find, nowhere};
use crate::context::{Context, Opened};
use crate::error::CliError;
use crate::transcripts::{Removed, Transcripts};
use crate::ui::{json, trash};
use hermes_session::{Maintenance, Request, SessionId, Trashed};
use std::path::PathBuf;

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
    let Opened { store, url, settings } = context.open_for_writing().await?;
    let (entry, members) = find(context, &*store, &args.session).await?;
    let transcripts = Transcripts::of(&settings, &url);
    // First, because whoever is interrupted asks again, and would not find in the trash what is back already.
    let moved =
        transcripts.as_ref().map_or_else(Removed::default, |transcripts| transcripts.bring_back(&members, &entry));
    let restored = match store.restore(&entry.id, &Request::at(context.now.at)).await {
        Ok(restored) => restored,
        Err(error) => {
            if let Some(transcripts) = &transcripts {
                undo(&*store, transcripts, moved.moved, &members, &entry).await;
            }
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

/// Does with transcripts that were brought back what became of their conversation: somebody else may have restored it, or emptied the trash.
async fn undo(
    store: &dyn Maintenance,
    transcripts: &Transcripts,
    moved: Vec<PathBuf>,
    members: &[SessionId],
    entry: &Trashed,
) {
    // Where it can't be told, they stay in everybody's sight. What fails is not what this command came for.
    match store.trashed(&entry.id).await {
        Ok(Some((there, _))) if there.number == entry.number => _ = transcripts.put_these_away(moved, entry),
        Ok(_) => _ = transcripts.remove(&nowhere(store, members.to_vec()).await),
        Err(_) => {}
    }
}
