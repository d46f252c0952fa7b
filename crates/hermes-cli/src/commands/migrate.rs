//! `hermes sessiondb migrate`

pub(super) mod place;

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::stop::Stop;
use crate::ui::{checks, json, store};
use hermes_session::transfer::{
    BATCH, FindingKind, MAX_FINDINGS, Phase, Progress, Proof, Proving, TransferError, TransferOptions, TransferReport,
    copy, prove,
};
use hermes_session::{IndexHealth, SessionFilter, Store};
use hermes_terminal::Progress as Bar;
use place::Ends;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How many findings, and sessions that differ, are shown to a person.
const SHOWN: usize = 20;
/// How often what came meanwhile is copied after all.
const ROUNDS: u32 = 3;

/// Copies everything from one store to another, of whatever kind, and proves that it is there. The first one is only read
#[derive(clap::Args)]
pub(crate) struct MigrateArgs {
    /// The store to be read: a URL, a path, `config` for the configured one, or `env:NAME` for what a variable holds
    #[arg(long, value_name = "URL")]
    from: String,
    /// The store to be filled, named in the same ways; a file that is not there is made
    #[arg(long, value_name = "URL")]
    to: String,
    /// Only tells what would happen
    #[arg(long)]
    dry_run: bool,
    /// Goes on where a migration that was stopped or killed had come to
    #[arg(long)]
    resume: bool,
    /// Also fills a store that holds other sessions; what is there stays as it is
    #[arg(long)]
    merge: bool,
    /// How many messages are handed over at once
    #[arg(long, value_name = "N", default_value_t = BATCH, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    batch: u32,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// What a migration came to.
pub(crate) struct Migrated {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) is_rehearsal: bool,
    pub(crate) report: TransferReport,
    /// Nothing where nothing was copied.
    pub(crate) proof: Option<Proof>,
    /// Messages that the search indexes of the target hold.
    pub(crate) fts_entries: u64,
    pub(crate) took: Duration,
}

pub(crate) async fn run(context: &Context, args: MigrateArgs) -> Result<(), CliError> {
    let start = Instant::now();
    let ends = Ends::read(context, &args.from, &args.to)?;
    let stop = Stop::watch();
    let (from, mut to) = (ends.open_source(context).await?, ends.open_target(context, args.dry_run).await?);
    let options = TransferOptions {
        batch: args.batch,
        is_rehearsal: args.dry_run,
        is_resumed: args.resume,
        is_merge: args.merge,
    };
    let mut bars = Bars { context, stop: &stop, bar: None };
    let mut report = copy(&*from, &*to.store, &options, &mut |progress| bars.show(progress))
        .await
        .map_err(|error| failed(error, &stop, &ends))?;
    drop(from);
    let proof = if args.dry_run {
        None
    } else {
        index(&*to.store, &mut bars).await?;
        Some(prove_all(context, &ends, &*to.store, options, &mut report, &mut bars).await?)
    };
    bars.bar = None;
    to.store.report();
    let migrated = Migrated {
        from: ends.from.to_string(),
        to: ends.to.to_string(),
        is_rehearsal: args.dry_run,
        fts_entries: indexed(&*to.store).await?,
        report,
        proof,
        took: start.elapsed(),
    };
    if args.json {
        context.ui.json(&json::store::migrated(&migrated))?;
    } else {
        tell(context, &migrated.report);
        context.ui.print(store::migrated(&migrated))?;
    }
    outcome(&migrated)
}

/// Proves what was copied. Where the source went on meanwhile, what came since is copied too.
async fn prove_all(
    context: &Context,
    ends: &Ends,
    to: &dyn Store,
    options: TransferOptions,
    report: &mut TransferReport,
    bars: &mut Bars<'_>,
) -> Result<Proof, CliError> {
    let mut round = 1;
    loop {
        // A file that nobody brought into use is told as it is when it is opened.
        let from = ends.open_source(context).await?;
        let proof = prove(&*from, to, Proving::but(&report.conflicts), &mut |progress| bars.show(progress))
            .await
            .map_err(|error| failed(error, bars.stop, ends))?;
        let is_behind = proof.found.iter().any(|mismatch| mismatch.is_behind);
        if !is_behind || round == ROUNDS {
            return Ok(proof);
        }
        round += 1;
        bars.bar = None;
        context.ui.note("the source changed while it was copied; what came since is copied now");
        let more = TransferOptions { is_resumed: false, is_merge: true, ..options };
        let since = copy(&*from, to, &more, &mut |progress| bars.show(progress))
            .await
            .map_err(|error| failed(error, bars.stop, ends))?;
        report.sessions += since.sessions;
        report.messages += since.messages;
        report.states.add_all(since.states);
        report.caught_up += since.caught_up;
        report.conflicts.extend(since.conflicts);
        index(to, bars).await?;
    }
}

/// Puts what was copied into the search indexes.
async fn index(store: &dyn Store, bars: &mut Bars<'_>) -> Result<(), CliError> {
    while store.upkeep().await? {
        bars.bar("indexing", 0, 0);
        if let Some(signal) = bars.stop.asked() {
            let hint = "everything is copied; run it again to have it proven";
            return Err(CliError::stopped(signal, "stopped before it was proven", hint));
        }
    }
    Ok(())
}

async fn indexed(store: &dyn Store) -> Result<u64, CliError> {
    let messages = store.counts(&SessionFilter::default()).await?.messages;
    Ok(match store.status().await?.indexes {
        IndexHealth::Whole => messages,
        IndexHealth::Behind { messages: behind } => messages.saturating_sub(behind),
        IndexHealth::Broken { .. } => 0,
    })
}

/// A bar for each phase, and the end of all if somebody asks for it.
struct Bars<'a> {
    context: &'a Context,
    stop: &'a Stop,
    bar: Option<(&'static str, Bar)>,
}

impl Bars<'_> {
    fn show(&mut self, progress: Progress) -> ControlFlow<()> {
        let what = match progress.phase {
            Phase::Looking => "looking at the target",
            Phase::Copying => "copying",
            Phase::Linking => "linking",
            Phase::Proving => "proving",
            Phase::Searching => "searching both",
        };
        self.bar(what, progress.done, progress.total);
        if self.stop.asked().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn bar(&mut self, what: &'static str, done: u64, total: u64) {
        if self.bar.as_ref().is_none_or(|(shown, _)| *shown != what) {
            // The old one goes before the new one comes.
            self.bar = None;
            self.bar = Some((what, self.context.ui.progress()));
        }
        if let Some((_, bar)) = &self.bar {
            bar.show_rate(what, done, total);
        }
    }
}

fn failed(error: TransferError, stop: &Stop, ends: &Ends) -> CliError {
    match error {
        TransferError::Stopped => CliError::stopped(
            stop.asked().unwrap_or(2),
            "stopped before everything was copied and proven",
            "what was copied stays; the same command with --resume goes on from there",
        ),
        TransferError::OtherData { count, example } => CliError::new(
            Kind::User,
            format!(
                "{} holds {} that the source does not have, such as {example}",
                ends.to,
                checks::plural(count, "sessions")
            ),
            "give a store that is empty, or --merge to add to what is there; --dry-run --merge tells what would happen",
        ),
        TransferError::OtherSource { from } => CliError::new(
            Kind::User,
            format!("the migration to {} that was not finished came from {from}", ends.to),
            "give that as --from to go on with it, or leave --resume out to begin anew",
        ),
        TransferError::Store(error) => error.into(),
    }
}

/// Tells what a person should know, the first of it.
pub(crate) fn tell(context: &Context, report: &TransferReport) {
    for finding in report.findings.iter().take(SHOWN) {
        let whose = finding.session.as_ref().map_or_else(|| "store".to_owned(), |id| format!("session {id}"));
        context.ui.finding(&whose, &finding.what);
    }
    let hidden = report.found.saturating_sub(SHOWN as u64);
    if hidden > 0 {
        let more = format!("{} more were found (--json lists the first {MAX_FINDINGS})", checks::number(hidden));
        context.ui.note(&more);
    }
}

fn missing(messages: u64) -> String {
    format!("{} {}", checks::plural(messages, "messages"), if messages == 1 { "was" } else { "were" })
}

/// The exit code: whether all is there and the same.
fn outcome(migrated: &Migrated) -> Result<(), CliError> {
    let report = &migrated.report;
    if let Some(proof) = migrated.proof.as_ref().filter(|proof| !proof.holds()) {
        let is_behind = proof.found.iter().all(|mismatch| mismatch.is_behind);
        let hint = match proof.mismatches > 0 && is_behind {
            true => "the source goes on changing: stop the agents that use it, then run it again",
            false => "the target is not what the source is: do not use it before you know why",
        };
        let text = match proof.mismatches {
            0 => "the two stores do not find the same messages".to_owned(),
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
        let hint = "what is there stays as it is; delete it there, then run it again, to have the one of the source";
        return Err(CliError::new(Kind::User, text, hint));
    }
    let lost = report.findings.iter().filter(|finding| finding.kind == FindingKind::Unreadable).count();
    if lost > 0 {
        let text = format!("{} of the source could not be carried", checks::plural(report.unreadable, "rows"));
        return Err(CliError::new(Kind::User, text, "everything else is there; see above which rows and why"));
    }
    Ok(())
}
