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
use hermes_session::{Request, SessionId, Store, StoreError};
use hermes_sqlite::SqliteOptions;
use hermes_store::StoreUrl;
use hermes_terminal::shell::shell_word;
use std::path::{Path, PathBuf};

/// Erase a conversation for good from the store's files, and verify that no trace is left
///
/// Conversations in the trash can be erased too. The search indexes are rebuilt and the file is rewritten, which needs
/// exclusive access: stop your agents first. Backups that still contain the conversation are listed and not changed.
#[derive(clap::Args)]
pub(crate) struct EraseArgs {
    /// Session id, start of an id, title, @last, or @N for row N of the last list
    #[arg(value_name = "SESSION", required_unless_present = "finish")]
    session: Option<String>,
    /// Finish an erase that was interrupted, or that found the file in use
    #[arg(long, conflicts_with = "session")]
    finish: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Print one JSON object
    #[arg(short, long)]
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
                "an earlier erase was interrupted; to finish it, run: hermes sessions erase --finish{}",
                context.place()
            )));
        }
        found => found?,
    };
    let members: Vec<SessionId> = versions.members.iter().cloned().collect();
    let files = transcripts.as_ref().map_or(0, |transcripts| transcripts.everywhere(&members).len() as u64);
    let lines = shown::question(&doomed, &versions, files, &context.now, context.ui.width());
    context.ui.consent(args.yes, lines, "Erase this conversation for good?")?;
    let erase_transcripts = || {
        let Some(all) = &transcripts else { return Removed::default() };
        let mut removed = Removed::default();
        versions.trashed.iter().for_each(|entry| removed.add(all.forget(entry)));
        removed.add(all.erase(&members));
        removed
    };
    let (deleted, removed, erased) = match &url {
        StoreUrl::Sqlite(path) => {
            // At the end the file is read without SQLite, so this process must not have it open.
            drop(store);
            let mut removed = Removed::default();
            // Transcripts are removed as soon as the rows are gone: the rest takes long and may be interrupted.
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
        context.ui.json_done(&json::erase::erased(&outcome))?;
    } else {
        context.ui.print_done(shown::erased(&outcome))?;
    }
    for file in &outcome.elsewhere {
        let word = shell_word(&file.display().to_string());
        context
            .ui
            .warn(&format!("{} still contains some of it", file.display()), &format!("remove it with: rm {word}"));
    }
    proven(context, &outcome)
}

/// Resolves a text in the store or in the trash. Returns previews of the live sessions, and all versions.
async fn meant(context: &Context, store: &dyn Store, text: &str) -> Result<(Vec<DeletePreview>, Versions), CliError> {
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
        doomed.push(preview(store, live, None, context.now.at).await?);
    }
    if versions.is_empty() { Err(StoreError::no_session(&id).into()) } else { Ok((doomed, versions)) }
}

/// Returns the id and title to report for the erased session.
fn named(doomed: &[DeletePreview], versions: &Versions, asked: &str) -> (SessionId, Option<String>) {
    let live = doomed.first().map(|doomed| (doomed.id.clone(), doomed.title.clone()));
    let trashed = || versions.trashed.first().map(|entry| (entry.id.clone(), entry.title.clone()));
    live.or_else(trashed).unwrap_or_else(|| (SessionId::from_stored(asked), None))
}

/// Returns whether an earlier erasure was interrupted.
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
    let mut show_phase = show_phases(context);
    let mut show_phase = |phase: ErasePhase| {
        show_phase(phase);
        if phase == ErasePhase::Indexing {
            without_rows();
        }
    };
    Ok(hermes_rescue::erase(path, versions, context.now.at, &options, &mut show_phase).await?)
}

fn options(context: &Context) -> Result<SqliteOptions, CliError> {
    let options = context.workspace.open_options()?;
    Ok(SqliteOptions { wait: options.wait, synchronous: options.synchronous, ..SqliteOptions::default() })
}

/// Returns a callback that shows the progress.
fn show_phases(context: &Context) -> impl FnMut(ErasePhase) + Send {
    let bar = context.ui.progress();
    move |phase| {
        let what = match phase {
            ErasePhase::Deleting => "deleting",
            ErasePhase::Indexing => "rebuilding the indexes",
            ErasePhase::Rewriting => "rewriting the file",
            ErasePhase::Scanning => "searching for remains",
        };
        bar.show(what, 0, 0);
    }
}

/// Completes an erasure that was interrupted, or that ran while others had the file open.
async fn finish(
    context: &Context,
    store: OpenStore,
    url: &StoreUrl,
    transcripts: Option<Transcripts>,
    json: bool,
) -> Result<(), CliError> {
    let StoreUrl::Sqlite(path) = url else {
        let hint = "a server reuses free space by itself";
        return Err(CliError::new(Kind::User, "only a file can be rewritten", hint));
    };
    let gone = missing(&*store, erasing(path)?.unwrap_or_default()).await;
    drop(store);
    let removed = transcripts.map_or_else(Removed::default, |all| all.erase(&gone));
    warnings::left_behind(context, &removed);
    let options = options(context)?;
    let erased = finish_erasing(path, &options, &mut show_phases(context)).await?;
    if json {
        context.ui.json_done(&json::erase::finished(&erased, removed.files))?;
    } else if erased.is_clean() {
        context.ui.print_done(shown::finished(removed.files))?;
    }
    unproven(context, &erased)
}

/// Returns the error that sets the exit code, unless nothing is left.
fn proven(context: &Context, outcome: &EraseOutcome) -> Result<(), CliError> {
    let Some(erased) = &outcome.erased else {
        let text = "its rows were removed from the tables, the index and the trash; single words of it may stay in the server's vocabulary";
        context.ui.warn(text, "the server's logs, replicas and backups may still contain it; ask its operator");
        return Ok(());
    };
    unproven(context, erased)
}

/// Returns that error for a file.
fn unproven(context: &Context, erased: &Erased) -> Result<(), CliError> {
    if !erased.tables_left.is_empty() {
        let text = format!("some of it is left in the agent's tables: {}", erased.tables_left.join(", "));
        let hint =
            "those rows do not name their conversation; find and delete them with sqlite3 while no agent is running";
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
                "another program has the store open: some of it may be left in free pages of the file and in its WAL";
            Err(CliError::new(Kind::User, text, hint("stop your agents")))
        }
        Rewritten::NoRoom => {
            let text = "there is not enough disk space to rewrite the file: some of it may be left in its free pages";
            Err(CliError::new(Kind::User, text, hint("free as much disk space as the store takes")))
        }
    }
}
