//! `hermes sessions erase`

use crate::commands::delete::{Doomed, look, warn_left};
use crate::commands::trash::find;
use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::resolve::resolve;
use crate::transcripts::{Removed, Transcripts};
use crate::ui::shell::shell_word;
use crate::ui::{changes, erase as shown, json};
use hermes_session::{Deleted, Emptying, Maintenance, Request, SessionId, Store, Trashed};
use hermes_sqlite::{ErasePhase, Erased, Rewritten, SqliteOptions, finish_erasing, look_through};
use hermes_store::StoreUrl;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Deletes a conversation so that nothing of it is left in the store's files, and proves it by looking for it
///
/// What is in the trash can be erased too. The search indexes are made anew and the file is rewritten, which needs it for itself: stop your agents
/// first. Backups are named if they hold some of it, and left alone.
#[derive(clap::Args)]
pub(crate) struct EraseArgs {
    /// Its id, the start of its id, its title, @last, or the number of a row of the last list, such as @3
    #[arg(value_name = "SESSION", required_unless_present = "finish")]
    session: Option<String>,
    /// Only rewrites the file, after something was erased while others had it open
    #[arg(long, conflicts_with = "session")]
    finish: bool,
    /// Does not ask
    #[arg(short, long)]
    yes: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// What erasing came to.
pub(crate) struct Outcome {
    pub(crate) id: SessionId,
    pub(crate) title: Option<String>,
    pub(crate) deleted: Deleted,
    /// How many files with transcripts went.
    pub(crate) files: u64,
    /// What was proven of a file; nothing of a server.
    pub(crate) erased: Option<Erased>,
    /// Other files that hold some of it.
    pub(crate) elsewhere: Vec<PathBuf>,
}

pub(crate) async fn run(context: &Context, args: EraseArgs) -> Result<(), CliError> {
    let settings = context.settings()?;
    let (store, url) = context.open_configured(&settings).await?;
    let Some(session) = &args.session else {
        drop(store);
        return finish(context, &url, args.json);
    };
    let transcripts = Transcripts::of(&settings, &url);
    let (asked, mut doomed) = meant(context, &*store, session).await?;
    doomed.files = transcripts.as_ref().map_or(0, |transcripts| transcripts.everywhere(&doomed.members).len() as u64);
    context.ui.consent(args.yes, changes::doomed(&doomed, &context.now), "Erase this for good?")?;
    let (deleted, erased) = match &url {
        StoreUrl::Sqlite(path) => {
            // The file is read past SQLite in the end: nobody here may have it open then.
            drop(store);
            let erased = on_file(context, path, &asked).await?;
            (erased.deleted, Some(erased))
        }
        StoreUrl::Postgresql(_) | StoreUrl::Mysql(_) => (on_server(context, store, &asked).await?, None),
    };
    let removed = transcripts.as_ref().map_or_else(Removed::default, |all| all.erase(&doomed.members));
    warn_left(context, &removed);
    let mut elsewhere: Vec<PathBuf> = Vec::new();
    if let Some(erased) = &erased {
        elsewhere.extend(erased.beside.iter().map(|left| left.path.clone()));
        let files = transcripts.iter().flat_map(Transcripts::all);
        elsewhere.extend(files.filter(|file| look_through(file, &erased.signs).is_ok_and(|(_, at)| at.is_some())));
    }
    let outcome = Outcome { id: doomed.id, title: doomed.title, deleted, files: removed.files, erased, elsewhere };
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

/// What a text means, in the store or in the trash.
async fn meant(context: &Context, store: &dyn Maintenance, text: &str) -> Result<(SessionId, Doomed), CliError> {
    match resolve(context, store, text).await {
        Ok(found) => {
            let doomed = look(store, &found.asked).await?;
            Ok((found.asked, doomed))
        }
        Err(error) => match find(context, store, text).await {
            Ok((entry, members)) => Ok((entry.id.clone(), in_trash(entry, members))),
            Err(_) => Err(error),
        },
    }
}

fn in_trash(entry: Trashed, members: Vec<SessionId>) -> Doomed {
    Doomed {
        id: entry.id,
        title: entry.title,
        source: Some(entry.source),
        members,
        messages: entry.messages,
        started_at: None,
        sent_from: None,
        branches: 0,
        files: 0,
    }
}

async fn on_file(context: &Context, path: &Path, id: &SessionId) -> Result<Erased, CliError> {
    let options = context.open_options(&context.settings()?)?;
    let options = SqliteOptions { wait: options.wait, synchronous: options.synchronous, ..SqliteOptions::default() };
    let bar = context.ui.progress();
    let mut tell = |phase: ErasePhase| {
        let what = match phase {
            ErasePhase::Deleting => "deleting",
            ErasePhase::Indexing => "making the indexes anew",
            ErasePhase::Rewriting => "rewriting the file",
            ErasePhase::Scanning => "looking for what is left",
        };
        bar.show(what, 0, 0);
    };
    Ok(hermes_sqlite::erase(path, id, context.now.at, &options, &mut tell).await?)
}

/// Takes rows away, in the store and in the trash. What a server keeps besides is not within reach from here.
async fn on_server(context: &Context, store: Arc<dyn Store>, id: &SessionId) -> Result<Deleted, CliError> {
    let mut sum = Deleted { sessions: 0, messages: 0 };
    if store.session(id).await?.is_some() {
        sum = store.delete_chain(id, &Request::at(context.now.at)).await?;
    }
    while store.trashed(id).await?.is_some() {
        for gone in store.empty_trash(&Emptying::One(id.clone())).await? {
            sum.sessions += gone.sessions;
            sum.messages += gone.messages;
        }
    }
    Ok(sum)
}

/// Rewrites a file that others had open.
fn finish(context: &Context, url: &StoreUrl, json: bool) -> Result<(), CliError> {
    let StoreUrl::Sqlite(path) = url else {
        let hint = "a server gives its room back by itself";
        return Err(CliError::new(Kind::User, "only a file can be rewritten", hint));
    };
    let rewritten = finish_erasing(path)?;
    if json {
        context.ui.json(&json::erase::finished(rewritten))?;
    } else if rewritten == Rewritten::Done {
        context.ui.print(shown::finished())?;
    }
    unfinished(context, rewritten)
}

/// The exit code: whether nothing is left.
fn proven(context: &Context, outcome: &Outcome) -> Result<(), CliError> {
    let Some(erased) = &outcome.erased else {
        let text = "its rows are gone from the tables, the index and the trash; single words of it may stay in the server's vocabulary";
        context.ui.warn(text, "the server's log, its replicas and its backups are its operator's matter");
        return Ok(());
    };
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
