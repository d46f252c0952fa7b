//! Writes conversations to a file or to stdout, for `export` and the picker.

mod book;
mod target;

pub(crate) use target::{Draft, Target};

use crate::context::Context;
use crate::error::CliError;
use crate::stop::Stop;
use crate::ui::changes;
use crate::ui::changes::{MaskedSecrets, Written};
use book::Book;
use hermes_session::export::Exporter;
use hermes_session::redact::{Masked, Redactor};
use hermes_session::{SessionFilter, SessionId, StateCounts, Store, StoreError, Unreadable};
use hermes_terminal::Progress;
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// One session per line, with all stored data; can be imported
    Jsonl,
    /// For reading; cannot be imported
    Markdown,
}

impl Format {
    /// Returns the format for a file of this name; JSON lines for `-`, which is stdout.
    pub(crate) fn of(path: &Path) -> Self {
        let is = |ending: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
        let is_markdown = is("md") || is("markdown");
        if is_markdown { Self::Markdown } else { Self::Jsonl }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Markdown => "markdown",
        }
    }
}

/// Writes the conversations of these sessions to a file and prints nothing. The file name determines the format. An
/// existing file is replaced. Returns the sessions that could not be read.
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

/// Writes an export to a file. Returns the sessions that could not be read.
pub(crate) async fn to_file(
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
        masked: pieces.masked(),
    };
    Ok((written, pieces.unreadable().to_vec()))
}

/// Stops an export on a signal, and shows its progress.
pub(crate) struct Watch {
    stop: Stop,
    bar: Progress,
}

impl Watch {
    /// Returns the watch for a command that a person runs.
    pub(crate) fn of(context: &Context) -> Self {
        Self { stop: Stop::watch(), bar: context.ui.progress() }
    }

    /// Returns a watch that never stops and shows nothing, because a progress bar would draw over a full-screen view.
    fn nobody() -> Self {
        Self { stop: Stop::default(), bar: Progress::hidden() }
    }
}

/// Adds the sessions of the conversation that a session belongs to.
pub(crate) async fn add_conversation(
    store: &dyn Store,
    id: &SessionId,
    ids: &mut Vec<SessionId>,
) -> Result<(), CliError> {
    for id in store.lineage(id).await?.conversation(id) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(())
}

/// Writes piece by piece, and stops between two pieces on a signal.
pub(crate) async fn write(
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
                "no incomplete file was left; run it again to export everything",
            ));
        }
    }
    Ok(())
}

/// An export, read piece by piece.
pub(crate) struct Pieces<'a> {
    form: Form<'a>,
    /// Whether the export holds everything in the store.
    is_all: bool,
}

enum Form<'a> {
    Lines(Box<Exporter<'a>>),
    Book(Box<Book<'a>>),
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(
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

    /// Masks secrets in everything that is written.
    pub(crate) fn redacted(mut self) -> Self {
        match &mut self.form {
            Form::Lines(lines) => lines.redact(),
            Form::Book(book) => book.redactor = Some(Redactor::default()),
        }
        self
    }

    /// Returns what was masked so far; `None` unless it was asked for.
    pub(crate) fn masked(&self) -> Option<Vec<MaskedSecrets>> {
        let redactor = match &self.form {
            Form::Lines(lines) => lines.redactor(),
            Form::Book(book) => book.redactor.as_ref(),
        };
        let owned = |found: Masked<'_>| MaskedSecrets {
            session: found.session.clone(),
            kind: found.kind.name(),
            count: found.count,
        };
        redactor.map(|redactor| redactor.found().map(owned).collect())
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

    pub(crate) fn unreadable(&self) -> &[Unreadable] {
        match &self.form {
            Form::Lines(lines) => lines.unreadable(),
            Form::Book(book) => &book.unreadable,
        }
    }
}
