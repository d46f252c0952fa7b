//! `hermes sessions erase`

use crate::context::{Context, OpenStore, Opened};
use crate::error::{CliError, Kind};
use crate::reports::EraseOutcome;
use crate::resolve::{find_trashed, resolve};
use crate::ui::{erase as shown, json};
use crate::warnings;
use hermes_app::Transcripts;
use hermes_app::transcripts::Removed;
use hermes_app::trash::{DeletePreview, missing, preview};
use hermes_rescue::{ErasePhase, Erased, Rewritten, erasing, finish_erasing, look_through};
use hermes_session::versions::{Versions, versions};
use hermes_session::{Maintenance, Request, SessionId, StoreError};
use hermes_sqlite::SqliteOptions;
use hermes_store::StoreUrl;
use hermes_terminal::shell::shell_word;
use std::path::{Path, PathBuf};

/// Deletes a conversation so that nothing of it is left in the store's files, and proves it by looking for it
///
/// What is in the trash can be erased too. The search indexes are made anew and the file is rewritten, which needs it for itself: stop your agents
/// first. Backups are named if they hold some of it, and left alone.
#[derive(clap::Args)]
pub(crate) struct EraseArgs {
    /// Its id, the start of its id, its title, @last, or the number of a row of the last list, such as @3
    #[arg(value_name = "SESSION", required_unless_present = "finish")]
    session: Option<String>,
    /// Does what is left, after something was erased while others had the file open, or when erasing was interrupted
    #[arg(long, conflicts_with = "session")]
    finish: bool,
    /// Does not ask
    #[arg(short, long)]
    yes: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: EraseArgs) -> Result<(), CliError> {
    let opened = context.open_for_writing().await?;
    let transcripts = opened.transcripts();
    let Opened { store, url, .. } = opened;
    let Some(session) = &args.session else { return finish(context, store, &url, transcripts, args.json).await };
    let (doomed, versions) = match meant(context, &*store, session).await {
        Err(error) if is_interrupted(&url) => {
            return Err(error.with_hint(format!(
                "somebody was interrupted while they erased something; to end that, run: hermes sessions erase --finish{}",
                context.place()
            )));
        }
        found => found?,
    };
    let members: Vec<SessionId> = versions.members.iter().cloned().collect();
    let files = transcripts.as_ref().map_or(0, |transcripts| transcripts.everywhere(&members).len() as u64);
    let lines = shown::question(&doomed, &versions, files, &context.now, context.ui.width());
    context.ui.consent(args.yes, lines, "Erase this for good?")?;
    let erase_transcripts = || {
        let Some(all) = &transcripts else { return Removed::default() };
        let mut removed = Removed::default();
        versions.trashed.iter().for_each(|entry| removed.add(all.forget(entry)));
        removed.add(all.erase(&members));
        removed
    };
    let (deleted, removed, erased) = match &url {
        StoreUrl::Sqlite(path) => {
            // The file is read past SQLite in the end: nobody here may have it open then.
            drop(store);
            let mut removed = Removed::default();
            // As soon as the rows are gone: all that follows takes long, and may be interrupted.
            let erased = on_file(context, path, &versions, &mut || removed = erase_transcripts()).await?;
            (erased.deleted, removed, Some(erased))
        }
        StoreUrl::Postgresql(_) | StoreUrl::Mysql(_) => {
            let deleted = versions.delete(&*store, &Request::at(context.now.at)).await?;
            (deleted, erase_transcripts(), None)
        }
    };
    warnings::left_behind(context, &removed);
    let mut elsewhere: Vec<PathBuf> = Vec::new();
    if let Some(erased) = &erased {
        elsewhere.extend(erased.beside.iter().map(|left| left.path.clone()));
        let files = transcripts.iter().flat_map(Transcripts::all);
        elsewhere.extend(files.filter(|file| look_through(file, &erased.signs).is_ok_and(|(_, at)| at.is_some())));
    }
    let (id, title) = named(&doomed, &versions, session);
    let outcome = EraseOutcome { id, title, deleted, files: removed.files, erased, elsewhere };
    if args.json {
        context.ui.json(&json::erase::erased(&outcome))?;
    } else {
        context.ui.print(shown::erased(&outcome))?;
    }
    for file in &outcome.elsewhere {
        let word = shell_word(&file.display().to_string());
        context.ui.warn(&format!("{} holds some of it still", file.display()), &format!("remove it with: rm {word}"));
    }
    proven(context, &outcome)
}

/// What a text means, in the store or in the trash: what the store has, as it is shown, and every version there is.
async fn meant(
    context: &Context,
    store: &dyn Maintenance,
    text: &str,
) -> Result<(Vec<DeletePreview>, Versions), CliError> {
    let id = match resolve(context, store, text).await {
        Ok(found) => found.asked,
        Err(error) => match find_trashed(context, store, text).await {
            Ok((entry, _)) => entry.id,
            // Both searches failed: the error about the store's own sessions has the candidates and hints.
            Err(_) => return Err(error),
        },
    };
    let versions = versions(store, &id).await?;
    let mut doomed = Vec::with_capacity(versions.live.len());
    for live in &versions.live {
        doomed.push(preview(store, live, None).await?);
    }
    if versions.is_empty() { Err(StoreError::no_session(&id).into()) } else { Ok((doomed, versions)) }
}

/// What to call what was erased.
fn named(doomed: &[DeletePreview], versions: &Versions, asked: &str) -> (SessionId, Option<String>) {
    let live = doomed.first().map(|doomed| (doomed.id.clone(), doomed.title.clone()));
    let trashed = || versions.trashed.first().map(|entry| (entry.id.clone(), entry.title.clone()));
    live.or_else(trashed).unwrap_or_else(|| (SessionId::from_stored(asked), None))
}

/// Whether somebody was interrupted while they erased something.
fn is_interrupted(url: &StoreUrl) -> bool {
    url.file().is_some_and(|path| matches!(erasing(path), Ok(Some(_))))
}

async fn on_file(
    context: &Context,
    path: &Path,
    versions: &Versions,
    without_rows: &mut (dyn FnMut() + Send),
) -> Result<Erased, CliError> {
    let options = options(context)?;
    let mut tell = telling(context);
    let mut tell = |phase: ErasePhase| {
        tell(phase);
        if phase == ErasePhase::Indexing {
            without_rows();
        }
    };
    Ok(hermes_rescue::erase(path, versions, context.now.at, &options, &mut tell).await?)
}

fn options(context: &Context) -> Result<SqliteOptions, CliError> {
    let options = context.workspace.open_options()?;
    Ok(SqliteOptions { wait: options.wait, synchronous: options.synchronous, ..SqliteOptions::default() })
}

/// Shows how far it is.
fn telling(context: &Context) -> impl FnMut(ErasePhase) + Send {
    let bar = context.ui.progress();
    move |phase| {
        let what = match phase {
            ErasePhase::Deleting => "deleting",
            ErasePhase::Indexing => "making the indexes anew",
            ErasePhase::Rewriting => "rewriting the file",
            ErasePhase::Scanning => "looking for what is left",
        };
        bar.show(what, 0, 0);
    }
}

/// Does what is left after something was erased while others had the file open, or by somebody who was interrupted.
async fn finish(
    context: &Context,
    store: OpenStore,
    url: &StoreUrl,
    transcripts: Option<Transcripts>,
    json: bool,
) -> Result<(), CliError> {
    let StoreUrl::Sqlite(path) = url else {
        let hint = "a server gives its room back by itself";
        return Err(CliError::new(Kind::User, "only a file can be rewritten", hint));
    };
    let gone = missing(&*store, erasing(path)?.unwrap_or_default()).await;
    drop(store);
    let removed = transcripts.map_or_else(Removed::default, |all| all.erase(&gone));
    warnings::left_behind(context, &removed);
    let options = options(context)?;
    let erased = finish_erasing(path, &options, &mut telling(context)).await?;
    if json {
        context.ui.json(&json::erase::finished(&erased, removed.files))?;
    } else if erased.is_clean() {
        context.ui.print(shown::finished(removed.files))?;
    }
    unproven(context, &erased)
}

/// The exit code: whether nothing is left.
fn proven(context: &Context, outcome: &EraseOutcome) -> Result<(), CliError> {
    let Some(erased) = &outcome.erased else {
        let text = "its rows are gone from the tables, the index and the trash; single words of it may stay in the server's vocabulary";
        context.ui.warn(text, "the server's log, its replicas and its backups are its operator's matter");
        return Ok(());
    };
    unproven(context, erased)
}

/// The same for a file.
fn unproven(context: &Context, erased: &Erased) -> Result<(), CliError> {
    if !erased.tables_left.is_empty() {
        let text = format!("some of it is left in the agent's tables: {}", erased.tables_left.join(", "));
        let hint = "nothing tells which conversation those rows belong to; look at them with sqlite3 and delete them there, while no agent runs";
        return Err(CliError::new(Kind::User, text, hint));
    }
    if erased.rewritten == Rewritten::Done && !erased.is_clean() {
        let files = erased.left.iter().map(|left| format!("{} at byte {}", left.path.display(), left.at));
        let text = format!(
            "some of it is left: {} words in the indexes, {}",
            erased.words_left,
            if erased.left.is_empty() { "no bytes".to_owned() } else { files.collect::<Vec<_>>().join(", ") }
        );
        let hint = "run `hermes sessions optimize --rebuild`, then `hermes sessions erase --finish`, and report this";
        return Err(CliError::new(Kind::User, text, hint));
    }
    unfinished(context, erased.rewritten)
}

fn unfinished(context: &Context, rewritten: Rewritten) -> Result<(), CliError> {
    let hint = |first: &str| format!("{first}, then run: hermes sessions erase --finish{}", context.place());
    match rewritten {
        Rewritten::Done => Ok(()),
        Rewritten::InUse => {
            let text =
                "another program has the store open: some of it may be left in the file's free room and in its log";
            Err(CliError::new(Kind::User, text, hint("stop your agents")))
        }
        Rewritten::NoRoom => {
            let text = "the disk has no room to rewrite the file: some of it may be left in its free room";
            Err(CliError::new(Kind::User, text, hint("free as much room as the store takes")))
        }
    }
}
