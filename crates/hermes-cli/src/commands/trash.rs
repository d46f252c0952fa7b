//! `hermes sessions trash`

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::transcripts::{Removed, Transcripts};
use crate::ui::{Line, json, trash};
use hermes_session::{Emptying, Maintenance, SessionId, StoreError, Trashed};

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
    let store = context.open_existing().await?;
    let entries = all(&*store).await?;
    if args.json {
        context.ui.json(&json::trash::list(&entries))
    } else {
        context.ui.print(trash::list(&entries, &context.now, context.ui.width()))
    }
}

async fn empty(context: &Context, args: EmptyArgs) -> Result<(), CliError> {
    let settings = context.settings()?;
    let (store, url) = context.open_configured(&settings).await?;
    let (which, about) = match &args.session {
        Some(text) => {
            let (entry, _) = find(context, &*store, text).await?;
            (Emptying::One(entry.id.clone()), vec![entry])
        }
        None => (Emptying::All, all(&*store).await?),
    };
    let mut gone = Vec::new();
    if !about.is_empty() {
        let lines = trash::list(&about, &context.now, context.ui.width());
        context.ui.consent(args.yes, lines, "Delete this for good?")?;
        gone = store.empty_trash(&which).await?;
    }
    let mut removed = Removed::default();
    if let Some(transcripts) = Transcripts::of(&settings, &url) {
        for entry in &gone {
            let Removed { files, left } = transcripts.forget(entry);
            removed.files += files;
            removed.left.extend(left);
        }
    }
    crate::commands::delete::warn_left(context, &removed);
    if args.json {
        context.ui.json(&json::trash::emptied(&gone, removed.files))
    } else {
        context.ui.print(trash::emptied(&gone, removed.files))
    }
}

/// All that is in the trash, the newest first.
async fn all(store: &dyn Maintenance) -> Result<Vec<Trashed>, StoreError> {
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
    let mut candidates: Vec<&Trashed> = entries.iter().filter(|entry| entry.title.as_deref() == Some(text)).collect();
    if candidates.is_empty() && !text.is_empty() {
        candidates = entries.iter().filter(|entry| entry.id.as_str().starts_with(text)).collect();
    }
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
