//! `hermes sessiondb detach`

use crate::context::{Context, must_be_there};
use crate::error::{CliError, Kind};
use crate::resolve::last_list;
use crate::stop::Stop;
use crate::ui::{detached as shown, json};
use hermes_session::StoreError;
use hermes_sqlite::{DetachPhase, Detached, Detaching, SqliteOptions, detach, holdings};
use hermes_store::StoreUrl;
use std::path::{Path, PathBuf};

/// Remove everything that hermes added to a state.db, so that only the agent's own data is left
///
/// The agent's search indexes are restored. What only hermes holds (trash, pins, tags) is written to state.db.detached-TIME.jsonl first; `hermes
/// sessions import` takes it back. Agents may go on writing, but no other process of hermes may have the store open. Interrupted, the store can
/// be used, and the next run goes on.
#[derive(clap::Args)]
pub(crate) struct DetachArgs {
    /// Do not keep the trash, pins and tags in a file
    #[arg(long)]
    discard: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: DetachArgs) -> Result<(), CliError> {
    let settings = context.settings()?;
    let url = context.configured_url(&settings)?;
    let StoreUrl::Sqlite(path) = &url else {
        let hint = "on a server the tables are hermes's own; `hermes sessiondb migrate` copies them to a file";
        return Err(CliError::new(Kind::User, "only a file can be detached", hint));
    };
    must_be_there(path)?;
    context.check_writable(&settings, &url)?;
    let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let held = holdings(&path).map_err(refused)?;
    let kept = kept_name(&path, &context.now.stamp());
    if let Some(held) = &held {
        if !held.not_kept.is_empty() {
            let text = format!("rows of other tables that are in the trash would be lost: {}", shown::not_kept(held));
            context.ui.warn(&text, "to keep them, run `hermes sessions restore` for these conversations first");
        }
        let about = shown::question(&path, held, Some(kept.as_path()).filter(|_| !args.discard));
        context.ui.consent(args.yes, about, "Remove everything of hermes from this store?")?;
    }
    let options = context.open_options(&settings)?;
    let options = SqliteOptions { wait: options.wait, synchronous: options.synchronous, ..SqliteOptions::default() };
    let (stop, bar) = (Stop::watch(), context.ui.progress());
    let mut watch = |phase: DetachPhase| {
        let (what, done, total) = match phase {
            DetachPhase::Finishing => ("finishing what is under way", 0, 0),
            DetachPhase::Keeping { done, total } => ("keeping the trash", done, total),
            DetachPhase::Relating => ("writing relations", 0, 0),
            DetachPhase::Indexing { done, total } => ("restoring the agent's indexes", done, total),
            DetachPhase::Removing => ("removing tables", 0, 0),
        };
        bar.show(what, done, total);
        stop.asked().is_none()
    };
    let outcome = detach(&path, &options, Some(kept.as_path()).filter(|_| !args.discard), &mut watch).await;
    drop(bar);
    match outcome.map_err(refused)? {
        Detaching::NothingOfOurs => tell(context, args.json, &path, None),
        Detaching::Done(detached) => {
            last_list::forget(context);
            tell(context, args.json, &path, Some(&detached))
        }
        Detaching::Stopped { kept } => {
            let kept = kept.map_or_else(String::new, |kept| format!("; {} was written", kept.display()));
            let text = format!("stopped before everything was removed{kept}");
            let hint = "the store can be used as it is; detach goes on from here when it is run again";
            Err(stop.asked().map_or_else(
                || CliError::new(Kind::User, text.clone(), hint),
                |signal| CliError::stopped(signal, text.clone(), hint),
            ))
        }
    }
}

fn tell(context: &Context, is_json: bool, path: &Path, detached: Option<&Detached>) -> Result<(), CliError> {
    if let Some(detached) = detached.filter(|detached| !detached.relations_left.is_empty()) {
        let ids = detached.relations_left.join(", ");
        let text =
            format!("the model_config of these sessions is no JSON object, so their relation was not noted: {ids}");
        context.ui.warn(&text, "the agent may list them as delegates of their parent");
    }
    if is_json {
        context.ui.json(&json::detached::detached(path, detached))
    } else {
        context.ui.print(shown::detached(path, detached))
    }
}

/// The name of the file that keeps what only we hold.
fn kept_name(path: &Path, stamp: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".detached-{stamp}.jsonl"));
    name.into()
}

/// What is refused is a matter of who has the store open, or of what has to be done first.
fn refused(error: StoreError) -> CliError {
    match error {
        StoreError::Refused { .. } => {
            let hint = crate::hints::of_store(&error).into_owned();
            CliError::new(Kind::User, error, hint)
        }
        other => other.into(),
    }
}
