//! `hermes sessions export`

use crate::context::{Context, Opened};
use crate::error::{CliError, Kind};
use crate::exporting::{Format, Pieces, Target, Watch, add_conversation, to_file, write};
use crate::narrowing::note_missing_source;
use crate::resolve::resolve_to_read;
use crate::ui::changes::MaskedSecrets;
use crate::ui::{changes, json};
use crate::warnings;
use hermes_session::{Invalid, SessionFilter, SessionId, Source, Store, Unreadable};
use std::path::PathBuf;

/// Export sessions to a file that can be imported again, or as Markdown
///
/// The file is readable only by you and appears only when it is complete. Agents can keep writing meanwhile.
#[derive(clap::Args)]
pub(crate) struct ExportArgs {
    /// File to write, or - for stdout
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only the conversation of this session (id, title or @N, as in `show`); may be repeated
    #[arg(long, alias = "session-id", value_name = "SESSION")]
    session: Vec<String>,
    /// Only conversations from this source, such as cli or telegram; may be repeated
    #[arg(short, long, value_name = "SOURCE", conflicts_with = "session")]
    source: Vec<String>,
    /// Format of the export [default: markdown for a FILE that ends in .md or .markdown, otherwise jsonl]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Replace secrets of well-known forms (keys, tokens, passwords) by a note, and print how many were found
    #[arg(long)]
    redact: bool,
    /// Overwrite an existing file without asking
    #[arg(short, long, alias = "force")]
    yes: bool,
    /// Print one JSON object about the export
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: ExportArgs) -> Result<(), CliError> {
    let filter = filter(&args.source).map_err(CliError::usage)?;
    let format = args.format.unwrap_or_else(|| Format::of(&args.file));
    let Opened { store, url, .. } = context.open_for_reading().await?;
    if args.file.as_os_str() == "-" {
        if args.json {
            let hint = "leave --json out, or give the name of a file";
            return Err(CliError::new(Kind::Usage, "--json describes a file, but the export goes to stdout", hint));
        }
        let chosen = chosen(context, &*store, &args.session).await?;
        let mut pieces = Pieces::new(context, &*store, format, filter, chosen);
        if args.redact {
            pieces = pieces.redacted();
        }
        write(&*store, &mut pieces, &mut |piece| context.ui.export(piece), &Watch::of(context)).await?;
        note_masked(context, pieces.masked().as_deref());
        note_missing_source(context, &*store, &args.source).await?;
        return complete(context, pieces.unreadable());
    }
    let target = Target::of(&args.file, &url)?;
    if target.is_there() {
        context.ui.consent(
            args.yes,
            Vec::new(),
            &format!("{} already exists. Overwrite it?", target.path().display()),
        )?;
    }
    let chosen = chosen(context, &*store, &args.session).await?;
    let mut pieces = Pieces::new(context, &*store, format, filter, chosen);
    if args.redact {
        pieces = pieces.redacted();
    }
    let (written, unreadable) = to_file(&*store, &target, format, pieces, &Watch::of(context)).await?;
    if args.json {
        context.ui.json(&json::changes::exported(&written))?;
    } else {
        context.ui.print_done(changes::exported(&written))?;
        note_masked(context, written.masked.as_deref());
        note_missing_source(context, &*store, &args.source).await?;
    }
    complete(context, &unreadable)
}

/// Notes on stderr what was masked.
fn note_masked(context: &Context, masked: Option<&[MaskedSecrets]>) {
    masked.map(changes::masked).iter().flatten().for_each(|note| context.ui.note(note));
}

fn filter(sources: &[String]) -> Result<SessionFilter, Invalid> {
    let sources = sources.iter().map(Source::parse).collect::<Result<Vec<_>, _>>()?;
    Ok(SessionFilter { sources: Some(sources).filter(|sources| !sources.is_empty()), ..SessionFilter::default() })
}

/// Returns the sessions of the conversations asked for, or `None` if all are exported.
async fn chosen(context: &Context, store: &dyn Store, texts: &[String]) -> Result<Option<Vec<SessionId>>, CliError> {
    let mut ids: Vec<SessionId> = Vec::new();
    for text in texts {
        let found = resolve_to_read(context, store, text).await?;
        add_conversation(store, &found.asked, &mut ids).await?;
    }
    Ok(Some(ids).filter(|_| !texts.is_empty()))
}

/// Reports an incomplete export as an error.
fn complete(context: &Context, unreadable: &[Unreadable]) -> Result<(), CliError> {
    warnings::unreadable(context, unreadable);
    match unreadable.len() {
        0 => Ok(()),
        count => {
            let verb = if count == 1 { "is" } else { "are" };
            let text = format!("{} can't be read and {verb} not in the export", changes::sessions(count as u64));
            Err(CliError::new(Kind::Store, text, "`hermes sessions verify` shows what is wrong with the store"))
        }
    }
}
