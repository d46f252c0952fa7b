//! `hermes sessions verify`

use crate::context::{Context, Opened};
use crate::error::{CliError, Kind};
use crate::ui::{checks, json};
use hermes_session::{Maintenance, Report, SessionFilter, StoreError};
use std::path::Path;

/// The number of messages from which on verification takes noticeably long.
const MESSAGES_THAT_TAKE_LONG: u64 = 20_000;

/// Looks through the whole store and tells what is not as it should be; changes nothing
#[derive(clap::Args)]
pub(crate) struct VerifyArgs {
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: VerifyArgs) -> Result<(), CliError> {
    let Opened { store, url, .. } = context.open_for_reading().await?;
    announce(context, &*store).await;
    let report = store.verify().await?;
    drop(store);
    if args.json {
        context.ui.json(&json::report(&report))?;
    } else {
        context.ui.print(checks::report(&report, context.ui.width()))?;
    }
    // After the report: a folder that takes no marker must not hide it.
    if let Some(path) = url.file()
        && let Err(error) = note_damage(context, path, &report)
    {
        context.ui.warn(&error.to_string(), "the report above holds all the same");
    }
    if report.is_sound() { Ok(()) } else { Err(unsound(&report)) }
}

/// Notes damage of a file beside it, so that no command writes to the file, or removes that note if the file is sound.
fn note_damage(context: &Context, path: &Path, report: &Report) -> Result<(), StoreError> {
    match hermes_sqlite::note_damage(path, report, context.now.at)? {
        Some(marker) => context.ui.note(&format!("commands that write refuse while {} is there", marker.display())),
        None => {
            if hermes_sqlite::clear_damage(path)? {
                context.ui.note("the damage that was noted is gone; the file can be written again");
            }
        }
    }
    Ok(())
}

/// Tells a person who waits at a terminal why.
async fn announce(context: &Context, store: &dyn Maintenance) {
    if !context.ui.is_watched() {
        return;
    }
    // If this can't be read, the report says so.
    if let Ok(counts) = store.counts(&SessionFilter::default()).await
        && counts.messages >= MESSAGES_THAT_TAKE_LONG
    {
        context.ui.note(&format!("looking at {} messages; this may take a while", checks::number(counts.messages)));
    }
}

/// The exit code of a store that has problems, and what can be done.
fn unsound(report: &Report) -> CliError {
    let is_damaged = |name: &str| report.check(name).is_some_and(|check| check.problems > 0);
    let about_indexes = |name: &str| matches!(name, "indexes" | "index backlog");
    let only_indexes = report.checks.iter().all(|check| check.problems == 0 || about_indexes(check.name));
    let hint = if is_damaged("file") {
        "stop every agent, keep a copy of the file and its -wal, then restore a backup or run `hermes sessions repair FILE`"
    } else if only_indexes {
        "all messages are there: `hermes sessions optimize --rebuild` makes the search indexes anew from them"
    } else {
        "the file itself can be read: keep a copy with `hermes sessions backup FILE` before anybody mends it"
    };
    let problems = report.problems();
    let text = match problems {
        1 => "the store has a problem".to_owned(),
        many => format!("the store has {} problems", checks::number(many)),
    };
    CliError::new(Kind::Store, text, hint)
}
