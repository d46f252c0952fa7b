//! `hermes sessions export`

mod book;
pub(super) mod target;

use super::list::warn_unreadable;
use crate::context::{Context, Opened};
use crate::error::{CliError, Kind};
use crate::resolve::resolve;
use crate::stop::Stop;
use crate::ui::changes::Written;
use crate::ui::{changes, json};
use book::Book;
use hermes_session::export::Exporter;
use hermes_session::{Invalid, SessionFilter, SessionId, Source, StateCounts, Store, StoreError, Unreadable};
use hermes_terminal::Progress;
use std::path::{Path, PathBuf};
use target::{Draft, Target};

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

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One session per line, with everything that is stored of it
    Jsonl,
    /// For people to read; it can't be imported
    Markdown,
}

impl Format {
    /// What a file of this name holds.
    fn of(path: &Path) -> Self {
        let is_markdown = path.extension().is_some_and(|ending| ending == "md" || ending == "markdown");
        if is_markdown { Self::Markdown } else { Self::Jsonl }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Markdown => "markdown",
        }
    }
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

/// Writes conversations to a file without a word: those of these sessions, in the form that the file's name asks for. A file that is there
/// is replaced.
pub(crate) async fn conversations(
    context: &Context,
    store: &dyn Store,
    target: &Target,
    sessions: &[SessionId],
) -> Result<(Written, Vec<Unreadable>), CliError> {
    let format = Format::of(target.path());
    let mut ids = Vec::new();
    for session in sessions {
        add_conversation(store, session, &mut ids).await?;
    }
    let pieces = Pieces::new(context, store, format, SessionFilter::default(), Some(ids));
    to_file(store, target, format, pieces, &Watch::nobody()).await
}

async fn to_file(
    store: &dyn Store,
    target: &Target,
    format: Format,
    mut pieces: Pieces<'_>,
    watch: &Watch,
) -> Result<(Written, Vec<Unreadable>), CliError> {
    let mut draft = Draft::new(target)?;
    write(store, &mut pieces, &mut |piece| draft.write(piece), watch).await?;
    let bytes = draft.finish()?;
    let written = Written {
        path: target.path().to_owned(),
        format: format.name(),
        sessions: pieces.sessions(),
        messages: pieces.messages(),
        states: pieces.states(),
        bytes,
    };
    Ok((written, pieces.unreadable().to_vec()))
}

/// Who may stop an export, and who sees how far it is.
struct Watch {
    stop: Stop,
    bar: Progress,
}

impl Watch {
    /// Whoever started the command.
    fn of(context: &Context) -> Self {
        Self { stop: Stop::watch(), bar: context.ui.progress() }
    }

    /// Nobody: a screen is not to be drawn over.
    fn nobody() -> Self {
        Self { stop: Stop::default(), bar: Progress::hidden() }
    }
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

/// Adds the sessions of the conversation that one is part of.
async fn add_conversation(store: &dyn Store, id: &SessionId, ids: &mut Vec<SessionId>) -> Result<(), CliError> {
    for id in store.lineage(id).await?.conversation(id) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(())
}

/// Writes piece by piece, and stops between two of them if somebody asks for it.
async fn write(
    store: &dyn Store,
    pieces: &mut Pieces<'_>,
    sink: &mut (dyn FnMut(&str) -> Result<(), CliError> + Send),
    watch: &Watch,
) -> Result<(), CliError> {
    let total = store.counts(&SessionFilter::default()).await.map_or(0, |counts| counts.messages);
    while let Some(piece) = pieces.next_chunk().await? {
        sink(&piece)?;
        watch.bar.show("exporting", pieces.messages(), if pieces.is_all { total } else { 0 });
        if let Some(signal) = watch.stop.asked() {
            let text = format!("stopped after {}", changes::so_far(pieces.sessions(), pieces.messages()));
            return Err(CliError::stopped(
                signal,
                text,
                "no file is left half-written; run it again to export everything",
            ));
        }
    }
    Ok(())
}

/// An export that lacks something is told as one.
fn complete(context: &Context, unreadable: &[Unreadable]) -> Result<(), CliError> {
    warn_unreadable(context, unreadable);
    match unreadable.len() {
        0 => Ok(()),
        count => {
            let verb = if count == 1 { "is" } else { "are" };
            let text = format!("{} can't be read and {verb} not in the export", changes::sessions(count as u64));
            Err(CliError::new(Kind::Store, text, "`hermes sessions verify` tells what is wrong with the store"))
        }
    }
}

/// What is exported, a piece at a time.
struct Pieces<'a> {
    form: Form<'a>,
    /// Whether it is everything that the store holds.
    is_all: bool,
}

enum Form<'a> {
    Lines(Box<Exporter<'a>>),
    Book(Box<Book<'a>>),
}

impl<'a> Pieces<'a> {
    fn new(
        context: &'a Context,
        store: &'a dyn Store,
        format: Format,
        filter: SessionFilter,
        chosen: Option<Vec<SessionId>>,
    ) -> Self {
        let is_all = chosen.is_none() && filter == SessionFilter::default();
        let form = match (format, chosen) {
            (Format::Jsonl, Some(ids)) => Form::Lines(Box::new(Exporter::of(store, ids))),
            (Format::Jsonl, None) => Form::Lines(Box::new(Exporter::new(store, filter))),
            (Format::Markdown, chosen) => Form::Book(Box::new(Book::new(store, &context.now, filter, chosen))),
        };
        Self { form, is_all }
    }

    async fn next_chunk(&mut self) -> Result<Option<String>, StoreError> {
        match &mut self.form {
            Form::Lines(lines) => lines.next_chunk().await,
            Form::Book(book) => book.next_chunk().await,
        }
    }

    fn sessions(&self) -> u64 {
        match &self.form {
            Form::Lines(lines) => lines.sessions(),
            Form::Book(book) => book.sessions,
        }
    }

    fn messages(&self) -> u64 {
        self.states().total()
    }

    fn states(&self) -> StateCounts {
        match &self.form {
            Form::Lines(lines) => lines.states(),
            Form::Book(book) => book.states,
        }
    }

    fn unreadable(&self) -> &[Unreadable] {
        match &self.form {
            Form::Lines(lines) => lines.unreadable(),
            Form::Book(book) => &book.unreadable,
        }
    }
}
