//! `hermes sessions delete`

use crate::context::Context;
use crate::error::CliError;
use crate::resolve::resolve;
use crate::ui::{changes, json};
use crate::{chores, warnings};
use hermes_app::trash;

/// Deletes a conversation: its sessions, their messages, and the transcripts that the agent keeps of them
///
/// It goes to the trash, from which `hermes sessions restore` brings it back for 30 days (sessions.trash_days). A conversation goes as a whole: what was compressed, and delegates, go with it. A delegate that is named itself goes alone, with what it
/// sent out in turn. Branches stay, as conversations of their own.
#[derive(clap::Args)]
pub(crate) struct DeleteArgs {
    /// Its id, the start of its id, its title, @last, or the number of a row of the last list, such as @3
    #[arg(value_name = "SESSION")]
    session: String,
    /// Deletes it for good at once, past the trash
    #[arg(long, visible_alias = "now")]
    permanent: bool,
    /// Does not ask
    #[arg(short, long)]
    yes: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: DeleteArgs) -> Result<(), CliError> {
    let opened = context.open_for_writing().await?;
    let found = resolve(context, &*opened.store, &args.session).await?;
    let transcripts = opened.transcripts();
    let preview = trash::preview(&*opened.store, &found.asked, transcripts.as_ref()).await?;
    let days = if args.permanent { 0 } else { opened.settings.sessions.trash_days.value };
    let what = if preview.sent_from.is_some() { "delegate" } else { "conversation" };
    let question = if days == 0 { format!("Delete this {what} for good?") } else { format!("Delete this {what}?") };
    context.ui.consent(args.yes, changes::preview(&preview, &context.now), &question)?;
    let report = trash::delete(&*opened.store, &preview, days, transcripts.as_ref(), context.now.at).await?;
    warnings::left_behind(context, &report.transcripts);
    if args.json {
        context.ui.json(&json::changes::deleted(&preview, &report))?;
    } else {
        context.ui.print(changes::deleted(&preview, &report, &context.now, &context.place()))?;
    }
    chores::run(context, opened).await;
    Ok(())
}
