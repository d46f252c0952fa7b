//! `hermes sessiondb detach`

use crate::commands::beside;
use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::stop::Stop;
use crate::ui::{detached as shown, json};
use hermes_app::last_list;
use hermes_app::workspace::must_exist;
use hermes_sqlite::{DetachPhase, Detached, Detaching, SqliteOptions, detach, holdings};
use hermes_store::StoreUrl;
use std::path::Path;

/// Remove everything that hermes added to a state.db, so that only the agent's own data is left
///
/// The agent's search indexes are restored. What only hermes holds (trash, pins, tags, archiving) is written to
/// state.db.detached-TIME.jsonl first; `hermes sessions import` takes it back. Agents can keep writing, but no other
/// process of hermes may have the store open. After an interruption the store still works; run the command again to
/// continue.
#[derive(clap::Args)]
pub(crate) struct DetachArgs {
    /// Do not keep the trash, pins, tags and archiving in a file
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
    let url = context.url()?;
    let StoreUrl::Sqlite(path) = &url else {
        let hint = "on a server all tables belong to hermes; `hermes sessiondb migrate` copies them to a file";
        return Err(CliError::new(Kind::User, "only a file can be detached", hint));
    };
    must_exist(path)?;
    context.workspace.check_writable(&url)?;
    let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let held = holdings(&path).map_err(CliError::refused)?;
    let kept = beside(&path, &format!(".detached-{}.jsonl", context.now.stamp()));
    if let Some(held) = &held {
        let about = shown::question(&path, held, Some(kept.as_path()).filter(|_| !args.discard));
        context.ui.consent(args.yes, about, "Remove everything that hermes added to this store?")?;
    }
    let options = context.workspace.open_options()?;
    let options = SqliteOptions { wait: options.wait, synchronous: options.synchronous, ..SqliteOptions::default() };
    let (stop, bar) = (Stop::watch(), context.ui.progress());
    let mut watch = |phase: DetachPhase| {
        let (what, done, total) = match phase {
            DetachPhase::Finishing => ("finishing interrupted work", 0, 0),
            DetachPhase::Keeping { done, total } => ("exporting trash, pins and tags", done, total),
            DetachPhase::Relating => ("writing relations", 0, 0),
            DetachPhase::Indexing { done, total } => ("restoring the agent's indexes", done, total),
            DetachPhase::Removing => ("removing tables", 0, 0),
        };
        bar.show(what, done, total);
        stop.asked().is_none()
    };
    let outcome = detach(&path, &options, Some(kept.as_path()).filter(|_| !args.discard), &mut watch).await;
    drop(bar);
    match outcome.map_err(CliError::refused)? {
        Detaching::NothingOfOurs => print_result(context, args.json, &path, None),
        Detaching::Done(detached) => {
            last_list::forget(&context.workspace);
            print_result(context, args.json, &path, Some(&detached))
        }
        Detaching::Stopped { kept } => {
            let kept = kept.map_or_else(String::new, |kept| format!("; {} was written", kept.display()));
            let text = format!("stopped before everything was removed{kept}");
            let hint = "the store can be used as it is; run detach again to continue";
            Err(stop.asked().map_or_else(
                || CliError::new(Kind::User, text.clone(), hint),
                |signal| CliError::stopped(signal, text.clone(), hint),
            ))
        }
    }
}

fn print_result(context: &Context, is_json: bool, path: &Path, detached: Option<&Detached>) -> Result<(), CliError> {
    if let Some(detached) = detached.filter(|detached| !detached.relations_left.is_empty()) {
        let ids = detached.relations_left.join(", ");
        let text =
            format!("the model_config of these sessions is not a JSON object, so their relation was not saved: {ids}");
        context.ui.warn(&text, "the agent may list them as delegates of their parent");
    }
    if is_json {
        context.ui.json(&json::detached::detached(path, detached))
    } else {
        context.ui.print_done(shown::detached(path, detached))
    }
}
