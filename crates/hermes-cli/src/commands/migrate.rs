//! `hermes sessiondb migrate`

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::stop::Stop;
use crate::ui::{checks, json, store};
use crate::warnings;
use hermes_app::migrate::{MigrateError, MigrateEvent, Migrated, migrate};
use hermes_session::transfer::{BATCH, FindingKind, Phase, TransferError, TransferOptions};
use hermes_store::StoreUrl;
use hermes_terminal::Progress as Bar;
use std::ops::ControlFlow;

/// Maximum number of differing sessions printed.
const SHOWN: usize = 20;

/// Copy everything from one store to another, of any kind, and verify the copy; the source is only read
#[derive(clap::Args)]
pub(crate) struct MigrateArgs {
    /// Store to read: a URL, a path, `config` for the configured store, or `env:NAME` for the value of a variable
    #[arg(long, value_name = "URL")]
    from: String,
    /// Store to write, in the same forms; a missing file is created
    #[arg(long, value_name = "URL")]
    to: String,
    /// Only report what would be copied
    #[arg(long)]
    dry_run: bool,
    /// Continue an interrupted migration
    #[arg(long)]
    resume: bool,
    /// Copy into a store that already has sessions; existing sessions are not changed
    #[arg(long)]
    merge: bool,
    /// Copy N messages at a time
    #[arg(long, value_name = "N", default_value_t = BATCH, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batch: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: MigrateArgs) -> Result<(), CliError> {
    let (from, to) = (context.named_url("--from", &args.from)?, context.named_url("--to", &args.to)?);
    let options = TransferOptions {
        batch: args.batch,
        is_rehearsal: args.dry_run,
        is_resumed: args.resume,
        is_merge: args.merge,
    };
    let stop = Stop::watch();
    let mut bars = Bars { context, stop: &stop, bar: None };
    let outcome = migrate(&context.workspace, &from, &to, options, &mut |event| bars.show(event)).await;
    bars.bar = None;
    let migrated = outcome.map_err(|error| failed(error, &stop, &to))?;
    if args.json {
        context.ui.json(&json::store::migrated(&migrated))?;
    } else {
        warnings::findings(context, &migrated.report);
        context.ui.print(store::migrated(&migrated))?;
    }
    outcome_of(&migrated)
}

/// Shows a bar for each phase, prints notes, and stops the migration on a signal.
struct Bars<'a> {
    context: &'a Context,
    stop: &'a Stop,
    bar: Option<(&'static str, Bar)>,
}

impl Bars<'_> {
    fn show(&mut self, event: MigrateEvent) -> ControlFlow<()> {
        match event {
            MigrateEvent::Transfer(progress) => {
                let what = match progress.phase {
                    Phase::Looking => "reading the target",
                    Phase::Copying => "copying",
                    Phase::Linking => "linking",
                    Phase::Proving => "comparing",
                    Phase::Searching => "comparing searches",
                };
                self.bar(what, progress.done, progress.total);
            }
            MigrateEvent::Indexing => self.bar("indexing", 0, 0),
            MigrateEvent::CatchingUp => {
                self.note("the source changed while it was copied; copying what is new");
            }
            MigrateEvent::Notice(notice) => self.note(&notice),
        }
        if self.stop.asked().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn note(&mut self, text: &str) {
        // A note must not be printed into a bar.
        self.bar = None;
        self.context.ui.note(text);
    }

    fn bar(&mut self, what: &'static str, done: u64, total: u64) {
        if self.bar.as_ref().is_none_or(|(shown, _)| *shown != what) {
            // The old bar is removed before the new one is drawn.
            self.bar = None;
            self.bar = Some((what, self.context.ui.progress()));
        }
        if let Some((_, bar)) = &self.bar {
            bar.show_rate(what, done, total);
        }
    }
}

fn failed(error: MigrateError, stop: &Stop, to: &StoreUrl) -> CliError {
    let signal = || stop.asked().unwrap_or(2);
    match error {
        MigrateError::SameStore(store) => {
            let text = format!("--from and --to name the same store, {store}");
            CliError::new(Kind::User, text, "name another store to copy to")
        }
        MigrateError::Open(error) => error.into(),
        MigrateError::StoppedIndexing => {
            let hint = "everything is copied; run it again to compare the copy with its source";
            CliError::stopped(signal(), error.to_string(), hint)
        }
        MigrateError::Transfer(TransferError::Stopped) => CliError::stopped(
            signal(),
            "stopped before everything was copied and compared",
            "what was copied stays; run the same command with --resume to continue",
        ),
        MigrateError::Transfer(TransferError::OtherData { count, example }) => CliError::new(
            Kind::User,
            format!(
                "{to} holds {} that the source does not have, such as {example}",
                checks::plural(count, "sessions")
            ),
            "use an empty store, or pass --merge to add to this one; --dry-run --merge shows what would happen",
        ),
        MigrateError::Transfer(TransferError::OtherSource { from }) => CliError::new(
            Kind::User,
            format!("the unfinished migration to {to} came from {from}"),
            "pass that as --from to continue it, or leave out --resume to start again",
        ),
        MigrateError::Transfer(TransferError::Store(error)) => error.into(),
    }
}

fn missing(messages: u64) -> String {
    format!("{} {}", checks::plural(messages, "messages"), if messages == 1 { "was" } else { "were" })
}

/// Returns the error that sets the exit code, unless everything was copied and is equal.
fn outcome_of(migrated: &Migrated) -> Result<(), CliError> {
    let report = &migrated.report;
    if let Some(proof) = migrated.proof.as_ref().filter(|proof| !proof.holds()) {
        let is_behind = proof.found.iter().all(|mismatch| mismatch.is_behind);
        let hint = match proof.mismatches > 0 && is_behind {
            true => "the source keeps changing: stop the agents that use it, then run it again",
            false => "the target differs from the source: do not use it before you know why",
        };
        let text = match proof.mismatches {
            0 => "searches in searches in the two stores do not find the same messages".to_owned(),
            1 => "1 session is not the same in both stores".to_owned(),
            many => format!("{} sessions are not the same in both stores", checks::number(many)),
        };
        if proof.missing > 0 {
            let text = format!("{} not carried to the target; {text}", missing(proof.missing));
            return Err(CliError::new(Kind::User, text, hint).with_details(store::mismatches(proof, SHOWN)));
        }
        // A column without a place in the target was reported above: the difference has a known cause.
        let has_lost_columns = report.findings.iter().any(|finding| finding.kind == FindingKind::Column);
        let kind = if has_lost_columns { Kind::User } else { Kind::Store };
        return Err(CliError::new(kind, text, hint).with_details(store::mismatches(proof, SHOWN)));
    }
    let conflicts = report.conflicts.len() as u64;
    if conflicts > 0 {
        let verb = if conflicts == 1 { "is" } else { "are" };
        let text = format!("{} {verb} in the target with other content", checks::plural(conflicts, "sessions"));
        let hint = "existing sessions are not changed; to copy them from the source, delete them in the target and run it again";
        return Err(CliError::new(Kind::User, text, hint));
    }
    let lost = report.findings.iter().filter(|finding| finding.kind == FindingKind::Unreadable).count();
    if lost > 0 {
        let text = format!("{} of the source could not be copied", checks::plural(report.unreadable, "rows"));
        return Err(CliError::new(Kind::User, text, "everything else was copied; the rows and reasons are above"));
    }
    Ok(())
}
