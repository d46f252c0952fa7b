//! `hermes sessions show`

use crate::context::Context;
use crate::error::CliError;
use crate::resolve::resolve;
use crate::ui::output::{JsonOutput, Output};
use crate::ui::transcript::{Detail, Segments, Transcript};
use crate::ui::{Line, json, recap, transcript};
use hermes_session::recap::{RecapLimits, recap as recap_of};
use hermes_session::{
    ConversationStore, Extent, Maintenance, Message, MessageRequest, Session, SessionId, StateCounts, StoreError,
    export, replay,
};

/// How many messages are in memory at once. A page costs a look at all ids of the session, so that small ones cost more than they save.
const PAGE: u32 = 1_000;

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
    let pager = context.environment.raw(PAGER).map(ToOwned::to_owned);
    let mut output = if args.no_pager { Output::plain(&context.ui) } else { Output::paged(&context.ui, pager) };
    for (number, id) in sessions.iter().enumerate() {
        if number > 0 {
            output.lines(transcript::rule(context.ui.width()))?;
        }
        write(context, &*store, id, detail, args.all, &mut output).await?;
    }
    output.finish()
}

/// What a person reads long texts with.
const PAGER: &str = "PAGER";

/// Prints a session's head and transcript.
pub(crate) async fn show(
    context: &Context,
    store: &dyn Maintenance,
    id: &SessionId,
    detail: Detail,
) -> Result<(), CliError> {
    let mut output = Output::plain(&context.ui);
    write(context, store, id, detail, false, &mut output).await?;
    output.finish()
}

/// Prints the panel that tells where a session stopped.
pub(crate) async fn show_recap(context: &Context, store: &dyn Maintenance, id: &SessionId) -> Result<(), CliError> {
    let messages = replay::transcript(store, id).await?;
    context.ui.print(recap::panel(&recap_of(&messages, RecapLimits::default()), context.ui.width()))
}

async fn write(
    context: &Context,
    store: &dyn Maintenance,
    id: &SessionId,
    detail: Detail,
    is_every: bool,
    output: &mut Output,
) -> Result<(), CliError> {
    let (session, segments) = session(store, id).await?;
    let states = states(store, id).await?;
    output.lines(transcript::head(&session, states, &segments, &context.now, context.ui.width()))?;
    let mut transcript = Transcript::new(detail, context.ui.is_styled(), context.ui.width());
    let extent = if is_every { Extent::Every } else { Extent::Transcript };
    pages(store, id, extent, |messages| {
        messages.iter().try_for_each(|message| output.lines(transcript.message(message, &context.now)))
    })
    .await?;
    match transcript::not_shown(states).filter(|_| !is_every) {
        Some(line) => output.lines(vec![Line::default(), line]),
        None => Ok(()),
    }
}

/// Counts the messages of a session by state.
async fn states(store: &dyn ConversationStore, id: &SessionId) -> Result<StateCounts, CliError> {
    let mut states = StateCounts::default();
    pages(store, id, Extent::Every, |messages| {
        messages.iter().for_each(|message| states.add(message.state));
        Ok(())
    })
    .await?;
    Ok(states)
}

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
        output.piece(&text)
    })
    .await?;
    output.piece(behind)?;
    output.finish()
}

/// Goes through the messages of a session, a few at a time.
async fn pages(
    store: &dyn ConversationStore,
    id: &SessionId,
    extent: Extent,
    mut each: impl FnMut(&[Message]) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut request = MessageRequest { extent, ..MessageRequest::first(PAGE) };
    loop {
        let messages = store.messages(id, &request).await?;
        each(&messages)?;
        match messages.last().filter(|_| messages.len() == PAGE as usize) {
            Some(last) => request = MessageRequest { extent, ..MessageRequest::after(last.id, PAGE) },
            None => return Ok(()),
        }
    }
}

/// The session, and the others of its conversation.
async fn session(store: &dyn Maintenance, id: &SessionId) -> Result<(Session, Segments), CliError> {
    let session = store.session(id).await?.ok_or_else(|| StoreError::no_session(id))?;
    let lineage = store.lineage(id).await?;
    let continued_in = Some(lineage.tip(id)).filter(|tip| tip != id);
    Ok((session, Segments { compressed: lineage.compressed_into(id), continued_in }))
}
