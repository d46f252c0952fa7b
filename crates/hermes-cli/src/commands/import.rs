//! `hermes sessions import`

mod input;
mod kind;

use crate::context::{Context, OpenStore};
use crate::error::{CliError, Kind};
use crate::stop::Stop;
use crate::ui::changes::Imported;
use crate::ui::{changes, checks, json};
use hermes_session::import::{FindingKind, ImportError, ImportOptions, MAX_FINDINGS, Progress, import};
use input::Input;
use std::path::PathBuf;

/// How many findings a person is shown.
const SHOWN: usize = 20;

/// Import sessions from files written by `export` of hermes or of the Python agent
///
/// Sessions that exist already are skipped, so an import can be repeated. An existing session with different content is
/// not changed. The store is created if there is none.
#[derive(clap::Args)]
pub(crate) struct ImportArgs {
    /// Files to read, or - for stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Only report what would be imported
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: ImportArgs) -> Result<(), CliError> {
    let stop = Stop::watch();
    // Every file is looked at before anything is imported.
    let mut input = Input::open(&args.files, &stop)?;
    let mut store = open(context, args.dry_run).await?;
    let (bar, size) = (context.ui.progress(), input.size());
    let mut progress = |done: Progress| bar.show("importing", done.bytes, size);
    let options = ImportOptions { is_rehearsal: args.dry_run, ..ImportOptions::default() };
    let report = import(&*store, &mut input, options, &mut progress).await.map_err(|error| failed(error, &input));
    drop(bar);
    let mut report = report?;
    if stop.asked().is_some() {
        // The lines that were not read may hold them.
        report.findings.retain(|finding| finding.kind != FindingKind::Parent);
    }
    let places = report.findings.iter().map(|finding| input.place(finding.line)).collect();
    let imported = Imported { report, places, is_rehearsal: args.dry_run };
    if args.json {
        context.ui.json(&json::changes::imported(&imported))?;
    } else {
        print_findings(context, &imported);
        store.report();
        let lines = changes::imported(&imported);
        if args.dry_run { context.ui.print(lines)? } else { context.ui.print_done(lines)? }
    }
    if let Some(signal) = stop.asked() {
        let place = input.last();
        let text = format!("stopped after line {} of {}", place.line, place.file);
        return Err(CliError::stopped(signal, text, "run it again; existing sessions are skipped"));
    }
    complete(&imported, &args.files)
}

/// Opens the store, or creates it. For a rehearsal, an empty one elsewhere takes the place of one that does not exist.
async fn open(context: &Context, is_rehearsal: bool) -> Result<OpenStore, CliError> {
    let url = context.url()?;
    context.warn_of_typed_password()?;
    let target = context.workspace.open_target(&url, is_rehearsal).await?;
    let store = OpenStore::quiet(target.store);
    if target.is_new && is_rehearsal {
        return Ok(store);
    }
    let mut store = store.reporting_when_closed(&context.ui);
    store.report();
    if target.is_new {
        context.ui.note(&format!("there was no session store; created a new one: {url}"));
    }
    Ok(store)
}

fn print_findings(context: &Context, imported: &Imported) {
    for (place, finding) in imported.findings().take(SHOWN) {
        let whose = finding.session.as_ref().map_or_else(String::new, |id| format!("session {id}: "));
        context.ui.finding(&format!("{}:{}", place.file, place.line), &format!("{whose}{}", finding.what));
    }
    let hidden = imported.report.findings.len().saturating_sub(SHOWN) as u64;
    if hidden > 0 {
        let more = format!("{} more were found (--json lists the first {MAX_FINDINGS})", checks::number(hidden));
        context.ui.note(&more);
    }
}

/// The end of an import that left something out.
fn complete(imported: &Imported, files: &[PathBuf]) -> Result<(), CliError> {
    let report = &imported.report;
    let refused = report.bad + report.conflicts;
    if refused == 0 {
        return Ok(());
    }
    if report.bad > 0 && report.sessions + report.skipped + report.conflicts == 0 {
        let what = if files.len() == 1 { "the file" } else { "these files" };
        let hint = "import reads what `hermes sessions export` writes, one session per line";
        return Err(CliError::new(Kind::User, format!("no line of {what} is a session"), hint));
    }
    let verb = match (imported.is_rehearsal, refused) {
        (true, _) => "would not be imported",
        (false, 1) => "was not imported",
        (false, _) => "were not imported",
    };
    let text = format!("{} {verb}", checks::plural(refused, "lines"));
    let hint = match (report.conflicts, imported.is_rehearsal) {
        (0, true) => "the others would be imported; the reasons are above",
        (0, false) => "the others were imported; fix these lines and import them again",
        _ => "existing sessions are not changed; to import one of these, delete the existing one first",
    };
    Err(CliError::new(Kind::User, text, hint))
}

fn failed(error: ImportError, input: &Input) -> CliError {
    let again = "imported sessions stay; run it again, existing sessions are skipped";
    match error {
        ImportError::Read { line, source } => {
            let place = input.place(line);
            let text = format!("could not read {} from line {} on: {source}", place.file, place.line);
            CliError::new(Kind::User, text, again)
        }
        ImportError::Store(error) => error.into(),
        bad @ ImportError::Bad { .. } => CliError::new(Kind::User, bad, again),
    }
}
