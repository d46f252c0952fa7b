//! `hermes sessions show`

use crate::context::Context;
use crate::error::CliError;
use crate::resolve::resolve;
use crate::showing::{pages, session, show_recap, states, write};
use crate::ui::json;
use hermes_session::{Extent, Maintenance, SessionId, export};
use hermes_terminal::output::{JsonOutput, Output};
use hermes_terminal::transcript;
use hermes_terminal::transcript::Detail;

/// Shows a session: what it is and what was said in it
///
/// At a terminal, Markdown is drawn, and what is longer than the screen goes through $PAGER, or less.
#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// Its id, the start of its id, its title, @last, or the number of a row of the last list, such as @3
    #[arg(value_name = "SESSION")]
    session: String,
    /// Shows tool calls and results in full
    #[arg(long)]
    full: bool,
    /// Show everything: the sessions that were compressed, delegates, and messages that were compacted or undone, marked as such
    #[arg(long, conflicts_with_all = ["recap", "json"])]
    all: bool,
    /// Shows only where it stopped, as resuming it would
    #[arg(long, conflicts_with_all = ["full", "json"])]
    recap: bool,
    /// Prints all of it at once
    #[arg(long)]
    no_pager: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: ShowArgs) -> Result<(), CliError> {
    let store = context.open_for_reading().await?.store;
    let found = resolve(context, &*store, &args.session).await?;
    if args.recap {
        return show_recap(context, &*store, &found.session).await;
    }
    let meant = found.meant();
    if args.json {
        return write_json(context, &*store, meant).await;
    }
    let detail = if args.full { Detail::Full } else { Detail::Folded };
    let sessions = if args.all { store.lineage(meant).await?.conversation(meant) } else { vec![meant.clone()] };
    let pager = context.environment().raw(PAGER).map(ToOwned::to_owned);
    let mut output = if args.no_pager { Output::plain(&context.ui) } else { Output::paged(&context.ui, pager) };
    for (number, id) in sessions.iter().enumerate() {
        if number > 0 {
            output.lines(transcript::rule(context.ui.width()))?;
        }
        write(context, &*store, id, detail, args.all, &mut output).await?;
    }
    Ok(output.finish()?)
}

/// What a person reads long texts with.
const PAGER: &str = "PAGER";

async fn write_json(context: &Context, store: &dyn Maintenance, id: &SessionId) -> Result<(), CliError> {
    let (session, segments) = session(store, id).await?;
    let mut output = JsonOutput::new(&context.ui);
    let (before, behind) = json::around_messages(&session, states(store, id).await?, &segments);
    output.piece(&before)?;
    let mut is_first = true;
    pages(store, id, Extent::Every, |messages| {
        let mut text = String::new();
        for message in messages {
            text.push_str(if std::mem::take(&mut is_first) { "" } else { ", " });
            text.push_str(&export::message_object(message));
        }
        Ok(output.piece(&text)?)
    })
    .await?;
    output.piece(behind)?;
    Ok(output.finish()?)
}
