//! `hermes sessions repair`

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::reports::RepairOutcome;
use crate::stop::Stop;
use crate::ui::{json, repaired, store};
use crate::warnings;
use hermes_rescue::{RepairPhase, Repaired, repair};
use hermes_session::StoreError;
use hermes_session::transfer::TransferError;
use hermes_terminal::Progress as Bar;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Maximum number of differing sessions printed.
const SHOWN: usize = 20;

/// Recover the readable data of a damaged SQLite file into a new store; the damaged file is only read
#[derive(clap::Args)]
pub(crate) struct RepairArgs {
    /// Damaged file; its write-ahead log (FILE-wal) is read too if it exists
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Store to create; an existing file is never overwritten [default: FILE.repaired]
    #[arg(long, value_name = "NEW_FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: RepairArgs) -> Result<(), CliError> {
    let start = Instant::now();
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    let from = absolute(args.file);
    let to = args.out.map_or_else(|| beside(&from), absolute);
    let stop = Stop::watch();
    let mut bars = Bars { context, bar: None };
    let outcome = repair(&from, &to, &mut |phase, done, total| {
        bars.show(phase, done, total);
        if stop.asked().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .await;
    bars.bar = None;
    let repaired = outcome.map_err(|error| failed(error, &stop))?;
    let marker = hermes_sqlite::damage_marker(&from);
    let outcome = RepairOutcome { from, to, repaired, marker, took: start.elapsed() };
    if args.json {
        context.ui.json(&json::repaired::repaired(&outcome))?;
    } else {
        context.ui.print(repaired::lines(&outcome))?;
    }
    if !args.json {
        warnings::findings(context, &outcome.repaired.report);
    }
    warn(context, &outcome.repaired);
    proven(&outcome)
}

/// Returns the default name of the new store.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".repaired");
    name.into()
}

/// Prints warnings to read before the new store is used.
fn warn(context: &Context, repaired: &Repaired) {
    let salvage = &repaired.salvage;
    if salvage.has_changed {
        let hint = "stop every agent that uses it, then repair it again into another file";
        context.ui.warn("the file changed while it was read: the newest messages may be missing", hint);
    }
    if salvage.may_revive {
        let hint = "check the new store and delete what should be gone";
        context.ui.warn("the list of free pages is damaged: messages that had been deleted may be back", hint);
    }
    if salvage.has_guessed {
        let hint = "if a newer agent wrote the file, columns that only it knows are missing";
        context.ui.warn("the list of tables is damaged: rows were assigned to tables by their shape", hint);
    }
    if salvage.has_journal {
        let hint = "the last write may have been saved only in part";
        context.ui.warn("there is a journal beside the file: a transaction was not finished", hint);
    }
}

/// Returns the error that sets the exit code, unless the new store holds everything that was read.
fn proven(outcome: &RepairOutcome) -> Result<(), CliError> {
    let proof = &outcome.repaired.proof;
    if proof.holds() {
        return Ok(());
    }
    let hint = "the rest can be used; keep the damaged file";
    Err(CliError::new(Kind::Store, "some of what was read is missing in the new store", hint)
        .with_details(store::mismatches(proof, SHOWN)))
}

fn failed(error: TransferError, stop: &Stop) -> CliError {
    match error {
        TransferError::Stopped => CliError::stopped(
            stop.asked().unwrap_or(2),
            "stopped before everything was saved",
            "no store was created; run the same command to start again",
        ),
        TransferError::Store(error @ StoreError::Refused { .. }) => {
            let hint = crate::hints::of_store(&error).into_owned();
            CliError::new(Kind::User, error, hint)
        }
        TransferError::Store(error) => error.into(),
        other => CliError::new(Kind::Store, other, "keep the damaged file, and report this"),
    }
}

/// Shows a bar for each phase.
struct Bars<'a> {
    context: &'a Context,
    bar: Option<(RepairPhase, Bar)>,
}

impl Bars<'_> {
    fn show(&mut self, phase: RepairPhase, done: u64, total: u64) {
        if self.bar.as_ref().is_none_or(|(shown, _)| *shown != phase) {
            // The old bar is removed before the new one is drawn.
            self.bar = None;
            self.bar = Some((phase, self.context.ui.progress()));
        }
        let what = match phase {
            RepairPhase::Reading => "reading pages",
            RepairPhase::Filling => "filling the new store",
            RepairPhase::Indexing => "indexing",
            RepairPhase::Proving => "comparing",
        };
        if let Some((_, bar)) = &self.bar {
            bar.show(what, done, total);
        }
    }
}
