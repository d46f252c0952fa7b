//! `hermes sessions show`

use crate::context::Context;
use crate::error::CliError;
use crate::resolve::resolve_to_read;
use crate::showing::around::Place;
use crate::showing::{pages, session, show_recap, states, write};
use crate::ui::json;
use hermes_session::{Extent, Maintenance, Message, MessageId, SessionId, export};
use hermes_terminal::output::{JsonOutput, Output};
use hermes_terminal::transcript;
use hermes_terminal::transcript::Detail;

/// Show a session: its details and messages
///
/// At a terminal, Markdown is rendered, and output longer than the screen is shown in $PAGER, or less. With --around,
/// less opens at the message.
#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// Session id, start of an id, title, @last, or @N for row N of the last list
    #[arg(value_name = "SESSION")]
    session: String,
    /// Show tool calls and results in full
    #[arg(long)]
    full: bool,
    /// Show the whole conversation: compressed sessions, delegates, and compacted or undone messages, labelled as such
    #[arg(long, conflicts_with_all = ["recap", "json"])]
    all: bool,
    /// Show only the last exchanges, as resuming does
    #[arg(long, conflicts_with_all = ["full", "json"])]
    recap: bool,
    /// Show the messages before and after this one, whatever its state; search prints message ids after #
    #[arg(long, value_name = "MESSAGE", value_parser = message_id, allow_hyphen_values = true, conflicts_with_all = ["recap", "all"])]
    around: Option<MessageId>,
    /// Do not use a pager
    #[arg(long)]
    no_pager: bool,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: ShowArgs) -> Result<(), CliError> {
    let store = context.open_for_reading().await?.store;
    let found = resolve_to_read(context, &*store, &args.session).await?;
    if args.recap {
        return show_recap(context, &*store, &found.session).await;
    }
    let meant = found.meant();
    let detail = if args.full { Detail::Full } else { Detail::Folded };
    if let Some(message) = args.around {
        let place = Place::find(&*store, meant, message).await?;
        if args.json {
            return write_json(context, &*store, &place.session, Some(&place.messages)).await;
        }
        let output = if args.no_pager { Output::plain(&context.ui) } else { context.paged() };
        return place.write(context, &*store, detail, output).await;
    }
    if args.json {
        return write_json(context, &*store, meant, None).await;
    }
    let sessions = if args.all { store.lineage(meant).await?.conversation(meant) } else { vec![meant.clone()] };
    let mut output = if args.no_pager { Output::plain(&context.ui) } else { context.paged() };
    for (number, id) in sessions.iter().enumerate() {
        if number > 0 {
            output.lines(transcript::rule(context.ui.width()))?;
        }
        write(context, &*store, id, detail, args.all, &mut output).await?;
    }
    Ok(output.finish()?)
}

/// Parses the id of a message, also as search prints it.
fn message_id(text: &str) -> Result<MessageId, String> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    digits.parse().map(MessageId).map_err(|_| "not a message id; `sessions search` prints them after #".to_owned())
}

/// Writes a session with these messages, or with all of its messages, as one JSON object.
async fn write_json(
    context: &Context,
    store: &dyn Maintenance,
    id: &SessionId,
    some: Option<&[Message]>,
) -> Result<(), CliError> {
    let (session, segments) = session(store, id).await?;
    let mut output = JsonOutput::new(&context.ui);
    let (before, behind) = json::around_messages(&session, states(store, id).await?, &segments);
    output.piece(&before)?;
    let mut is_first = true;
    let mut write = |messages: &[Message]| {
        let mut text = String::new();
        for message in messages {
            text.push_str(if std::mem::take(&mut is_first) { "" } else { ", " });
            text.push_str(&export::message_object(message));
        }
        Ok(output.piece(&text)?)
    };
    match some {
        Some(messages) => write(messages)?,
        None => pages(store, id, Extent::Every, write).await?,
    }
    output.piece(behind)?;
    Ok(output.finish()?)
}
