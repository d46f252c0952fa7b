//! `hermes sessions export`

use crate::context::{Context, Opened};
use crate::error::{CliError, Kind};
use crate::exporting::{Format, Pieces, Target, Watch, add_conversation, to_file, write};
use crate::resolve::resolve;
use crate::ui::{changes, json};
use crate::warnings;
use hermes_session::{Invalid, SessionFilter, SessionId, Source, Store, Unreadable};
use std::path::PathBuf;

/// Writes sessions to a file, from which they can be imported
///
/// The file is its owner's alone and is there when it is whole. Agents go on writing meanwhile.
#[derive(clap::Args)]
pub(crate) struct ExportArgs {
    /// The file to write, or - for stdout
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only the conversation of this session, as in `show`; may be given several times
    #[arg(long, value_name = "SESSION")]
    session_id: Vec<String>,
    /// Only this source, such as cli or telegram; may be given several times
    #[arg(long, value_name = "SOURCE", conflicts_with = "session_id")]
    source: Vec<String>,
    /// What is written
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// Overwrites a file without asking
    #[arg(short, long, alias = "force")]
    yes: bool,
    /// Prints one JSON object about the export
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: ExportArgs) -> Result<(), CliError> {
    let filter = filter(&args.source).map_err(CliError::usage)?;
    let Opened { store, url, .. } = context.open_for_reading().await?;
    if args.file.as_os_str() == "-" {
        if args.json {
            let hint = "leave --json out, or give the name of a file";
            return Err(CliError::new(Kind::Usage, "--json tells about a file, and the export goes to stdout", hint));
        }
        let chosen = chosen(context, &*store, &args.session_id).await?;
        let mut pieces = Pieces::new(context, &*store, args.format, filter, chosen);
        write(&*store, &mut pieces, &mut |piece| context.ui.export(piece), &Watch::of(context)).await?;
        return complete(context, pieces.unreadable());
    }
    let target = Target::of(&args.file, &url)?;
    if target.is_there() {
        context.ui.consent(
            args.yes,
            Vec::new(),
            &format!("{} is there already. Overwrite it?", target.path().display()),
        )?;
    }
    let chosen = chosen(context, &*store, &args.session_id).await?;
    let pieces = Pieces::new(context, &*store, args.format, filter, chosen);
    let (written, unreadable) = to_file(&*store, &target, args.format, pieces, &Watch::of(context)).await?;
    if args.json {
        context.ui.json(&json::changes::exported(&written))?;
    } else {
        context.ui.print(changes::exported(&written))?;
    }
    complete(context, &unreadable)
}

fn filter(sources: &[String]) -> Result<SessionFilter, Invalid> {
    let sources = sources.iter().map(Source::parse).collect::<Result<Vec<_>, _>>()?;
    Ok(SessionFilter { sources: Some(sources).filter(|sources| !sources.is_empty()), ..SessionFilter::default() })
}

/// The sessions of the conversations that were asked for; nothing if all are meant.
async fn chosen(context: &Context, store: &dyn Store, texts: &[String]) -> Result<Option<Vec<SessionId>>, CliError> {
    let mut ids: Vec<SessionId> = Vec::new();
    for text in texts {
        let found = resolve(context, store, text).await?;
        add_conversation(store, &found.asked, &mut ids).await?;
    }
    Ok(Some(ids).filter(|_| !texts.is_empty()))
}

/// An export that lacks something is told as one.
fn complete(context: &Context, unreadable: &[Unreadable]) -> Result<(), CliError> {
    warnings::unreadable(context, unreadable);
    match unreadable.len() {
        0 => Ok(()),
        count => {
            let verb = if count == 1 { "is" } else { "are" };
            let text = format!("{} can't be read and {verb} not in the export", changes::sessions(count as u64));
            Err(CliError::new(Kind::Store, text, "`hermes sessions verify` tells what is wrong with the store"))
        }
    }
}
