//! `hermes sessions restore`

use crate::context::Context;
use crate::error::CliError;
use crate::resolve::find_trashed;
use crate::ui::{json, trash as shown};
use hermes_app::trash;
use hermes_session::{SessionId, Trashed};

/// Restore deleted conversations from the trash, with their messages, titles and transcripts
///
/// Nothing is restored unless every DELETED is found.
#[derive(clap::Args)]
pub(crate) struct RestoreArgs {
    /// Deleted conversation: id of one of its sessions, start of the id shown by `trash list`, or title
    #[arg(value_name = "DELETED", required = true)]
    sessions: Vec<String>,
    /// Print one JSON object for each conversation, one per line
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: RestoreArgs) -> Result<(), CliError> {
    let opened = context.open_for_writing().await?;
    let mut found: Vec<(Trashed, Vec<SessionId>)> = Vec::with_capacity(args.sessions.len());
    for text in &args.sessions {
        let (entry, members) = find_trashed(context, &*opened.store, text).await?;
        if found.iter().all(|(other, _)| other.number != entry.number) {
            found.push((entry, members));
        }
    }
    let transcripts = opened.transcripts();
    for (done, (entry, members)) in found.iter().enumerate() {
        let restored = trash::restore(&*opened.store, entry, members, transcripts.as_ref(), context.now.at).await;
        let report = restored.map_err(|error| stopped_at(error.into(), done, found.len()))?;
        for (file, error) in &report.transcripts.left {
            let text = format!("could not restore {}: {error}", file.display());
            context.ui.warn(&text, "the conversation was restored; move the file back by hand");
        }
        if args.json {
            context.ui.json_done(&json::trash::restored(entry, &report.restored, report.transcripts.files))?;
        } else {
            context.ui.print_done(shown::restored(entry, &report.restored, report.transcripts.files))?;
        }
    }
    Ok(())
}

/// Adds to an error how many conversations were restored before it.
fn stopped_at(error: CliError, done: usize, all: usize) -> CliError {
    match done {
        0 => error,
        _ => error.with_hint(format!(
            "{done} of {all} were restored before that; `hermes sessions trash list` shows the others"
        )),
    }
}
