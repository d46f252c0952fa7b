//! `hermes sessions trash`

use crate::context::{Context, Opened};
use crate::error::{CliError, Kind};
use crate::transcripts::{Removed, Transcripts};
use crate::ui::{json, trash};
use hermes_session::{Emptying, Maintenance, SessionId, StoreError, Title, Trashed};
use hermes_terminal::Line;
use std::collections::BTreeSet;

/// How much of the trash is read at once.
const PAGE: u32 = 500;

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
    let entries = all(&*store).await?;
    if args.json {
        context.ui.json(&json::trash::list(&entries))
    } else {
        context.ui.print(trash::list(&entries, &context.now, context.ui.width()))
    }
}

async fn empty(context: &Context, args: EmptyArgs) -> Result<(), CliError> {
    let Opened { store, url, settings } = context.open_for_writing().await?;
    let about = match &args.session {
        Some(text) => vec![find(context, &*store, text).await?.0],
        None => all(&*store).await?,
    };
    if !about.is_empty() {
        let lines = trash::list(&about, &context.now, context.ui.width());
        context.ui.consent(args.yes, lines, "Delete this for good?")?;
    }
    let (gone, removed) = carry_out(&*store, about, Transcripts::of(&settings, &url).as_ref()).await?;
    crate::commands::delete::warn_left(context, &removed);
    if args.json {
        context.ui.json(&json::trash::emptied(&gone, removed.files))
    } else {
        context.ui.print(trash::emptied(&gone, removed.files))
    }
}

/// Deletes these for good, as far as they are there as they were seen, with their transcripts; what went. Nobody is asked.
///
/// Somebody who was interrupted while they deleted has left transcripts where they were: those of sessions that are nowhere any more go as well.
pub(crate) async fn carry_out(
    store: &dyn Maintenance,
    seen: Vec<Trashed>,
    transcripts: Option<&Transcripts>,
) -> Result<(Vec<Trashed>, Removed), CliError> {
    let mut removed = Removed::default();
    if seen.is_empty() {
        return Ok((seen, removed));
    }
    let mut members: Vec<SessionId> = Vec::new();
    for entry in &seen {
        members.extend(store.trashed(&entry.id).await?.into_iter().flat_map(|(_, members)| members));
    }
    let gone = store.empty_trash(&Emptying::These(seen)).await?;
    let Some(transcripts) = transcripts else { return Ok((gone, removed)) };
    gone.iter().for_each(|entry| removed.add(transcripts.forget(entry)));
    removed.add(transcripts.remove(&nowhere(store, members).await));
    Ok((gone, removed))
}

/// Those of these sessions that are neither in the store nor in the trash.
pub(crate) async fn nowhere(store: &dyn Maintenance, sessions: Vec<SessionId>) -> Vec<SessionId> {
    let mut nowhere: Vec<SessionId> = Vec::new();
    for session in sessions {
        let is_gone = matches!(store.session(&session).await, Ok(None));
        if is_gone && matches!(store.trashed(&session).await, Ok(None)) {
            nowhere.push(session);
        }
    }
    nowhere
}

/// All that is in the trash, the newest first.
pub(crate) async fn all(store: &dyn Maintenance) -> Result<Vec<Trashed>, StoreError> {
    let mut entries: Vec<Trashed> = Vec::new();
    loop {
        let page = store.trash(entries.last(), PAGE).await?;
        if page.is_empty() {
            return Ok(entries);
        }
        entries.extend(page);
    }
}

/// What a text means in the trash, and the sessions it holds: the id of one of its sessions, its title, or the start of the id it is named by.
///
/// # Errors
/// If there is none; if it could be several, with all of them told.
pub(crate) async fn find(
    context: &Context,
    store: &dyn Maintenance,
    text: &str,
) -> Result<(Trashed, Vec<SessionId>), CliError> {
    if let Ok(id) = SessionId::parse(text)
        && let Some(found) = store.trashed(&id).await?
    {
        return Ok(found);
    }
    let entries = all(store).await?;
    let having = |has: &dyn Fn(&str) -> bool| -> Vec<&Trashed> {
        entries.iter().filter(|entry| entry.title.as_deref().is_some_and(has)).collect()
    };
    let mut candidates = having(&|title| title == text);
    if candidates.is_empty() {
        // It may have been deleted by the title of an earlier session: those that go on are numbered.
        candidates = having(&|title| Title::parse(title).is_ok_and(|title| title.base() == text));
    }
    if candidates.is_empty() && !text.is_empty() {
        candidates = entries.iter().filter(|entry| entry.id.as_str().starts_with(text)).collect();
    }
    // Of what was deleted twice the newest is meant, as by its id.
    let mut seen = BTreeSet::new();
    candidates.retain(|entry| seen.insert(entry.id.as_str()));
    match candidates[..] {
        [entry] => {
            let found = store.trashed(&entry.id).await?;
            found.ok_or_else(|| StoreError::no_session(&entry.id).into())
        }
        [] => {
            let hint = format!("`hermes sessions trash list{}` shows what can come back", context.place());
            Err(CliError::new(Kind::User, format!("nothing in the trash is {text:?}"), hint))
        }
        _ => {
            let lines: Vec<Line> = candidates.iter().map(|entry| trash::candidate(entry, &context.now)).collect();
            let text = format!("{text:?} could be several in the trash");
            Err(CliError::new(Kind::User, text, "give the whole id").with_details(lines))
        }
    }
}
