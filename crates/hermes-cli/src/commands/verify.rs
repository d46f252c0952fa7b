//! `hermes sessions verify`

use crate::context::{Context, Opened};
use crate::error::{CliError, Kind};
use crate::hints;
use crate::ui::{checks, json};
use hermes_session::{Maintenance, Report, SessionFilter};
use hermes_store::StoreUrl;

/// Number of messages from which verification takes noticeably long.
const MESSAGES_THAT_TAKE_LONG: u64 = 20_000;

/// Check the whole store for errors; changes nothing
#[derive(clap::Args)]
pub(crate) struct VerifyArgs {
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: VerifyArgs) -> Result<(), CliError> {
    let Opened { store, url, .. } = context.open_for_reading().await?;
    announce(context, &*store).await;
    let report = store.verify().await?;
    let printed = match args.json {
        true => context.ui.json(&json::report(&report)),
        false => context.ui.print(checks::report(&report, context.ui.width())),
    };
    // Prints the notices of the store after the report: damage was recorded, or the record could not be written.
    drop(store);
    let outcome = if report.is_sound() { Ok(()) } else { Err(unsound(&report, &url)) };
    context.ui.found(printed, outcome)
}

/// Tells a person at a terminal why the command takes a while.
async fn announce(context: &Context, store: &dyn Maintenance) {
    if !context.ui.is_watched() {
        return;
    }
    // If this can't be read, the report says so.
    if let Ok(counts) = store.counts(&SessionFilter::default()).await
        && counts.messages >= MESSAGES_THAT_TAKE_LONG
    {
        context.ui.note(&format!("checking {} messages; this may take a while", checks::number(counts.messages)));
    }
}

/// Returns the error for a store with problems, with a hint.
fn unsound(report: &Report, url: &StoreUrl) -> CliError {
    let is_damaged = |name: &str| report.check(name).is_some_and(|check| check.problems > 0);
    let about_indexes = |name: &str| matches!(name, "indexes" | "index backlog");
    let only_indexes = report.checks.iter().all(|check| check.problems == 0 || about_indexes(check.name));
    let hint = match url.file().filter(|_| is_damaged("file")) {
        Some(path) => hints::of_damaged(path),
        None if only_indexes => {
            "no message is lost: `hermes sessions optimize --rebuild` rebuilds the search indexes".to_owned()
        }
        None => {
            "the file itself can be read: keep a copy with `hermes sessions backup FILE` before you change anything"
                .to_owned()
        }
    };
    let problems = report.problems();
    let text = match problems {
        1 => "the store has a problem".to_owned(),
        many => format!("the store has {} problems", checks::number(many)),
    };
    CliError::new(Kind::Store, text, hint)
}
