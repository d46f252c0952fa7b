//! `hermes sessions delete`

use crate::commands::trash::nowhere;
use crate::context::{Context, Opened};
use crate::error::CliError;
use crate::resolve::resolve;
use crate::transcripts::{Removed, Transcripts};
use crate::ui::{changes, json};
use hermes_session::{DeleteExtent, Deleted, Maintenance, Relation, Request, SessionId, Timestamp};

const DAY: f64 = 86_400.0;

/// Deletes a conversation: its sessions, their messages, and the transcripts that the agent keeps of them
///
/// It goes to the trash, from which `hermes sessions restore` brings it back for 30 days (sessions.trash_days). A conversation goes as a whole: what was compressed, and delegates, go with it. A delegate that is named itself goes alone, with what it
/// sent out in turn. Branches stay, as conversations of their own.
#[derive(clap::Args)]
pub(crate) struct DeleteArgs {
    /// Its id, the start of its id, its title, @last, or the number of a row of the last list, such as @3
    #[arg(value_name = "SESSION")]
    session: String,
    /// Deletes it for good at once, past the trash
    #[arg(long, visible_alias = "now")]
    permanent: bool,
    /// Does not ask
    #[arg(short, long)]
    yes: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// A conversation, or a delegate, as a person is shown it before it goes.
#[derive(Debug)]
pub(crate) struct Doomed {
    /// The session it goes on in today.
    pub(crate) id: SessionId,
    pub(crate) title: Option<String>,
    pub(crate) source: Option<String>,
    /// All its sessions.
    pub(crate) members: Vec<SessionId>,
    pub(crate) messages: u64,
    pub(crate) started_at: Option<Timestamp>,
    /// The conversation that it was sent from and that stays, if it is a delegate.
    pub(crate) sent_from: Option<SessionId>,
    /// Conversations that branched from it.
    pub(crate) branches: u64,
    /// Files with transcripts of it.
    pub(crate) files: u64,
}

pub(crate) async fn run(context: &Context, args: DeleteArgs) -> Result<(), CliError> {
    let Opened { store, url, settings } = context.open_for_writing().await?;
    let found = resolve(context, &*store, &args.session).await?;
    let transcripts = Transcripts::of(&settings, &url);
    let mut doomed = look(&*store, &found.asked).await?;
    doomed.files = transcripts.as_ref().map_or(0, |transcripts| transcripts.files(&doomed.members).len() as u64);
    let days = if args.permanent { 0 } else { settings.sessions.trash_days.value };
    let what = if doomed.sent_from.is_some() { "delegate" } else { "conversation" };
    let question = if days == 0 { format!("Delete this {what} for good?") } else { format!("Delete this {what}?") };
    context.ui.consent(args.yes, changes::doomed(&doomed, &context.now), &question)?;
    let now = context.now.at;
    let (gone, removed) = carry_out(&*store, &found.asked, &doomed, days, transcripts.as_ref(), now).await?;
    warn_left(context, &removed);
    if args.json {
        context.ui.json(&json::changes::deleted(&doomed, &gone))
    } else {
        context.ui.print(changes::deleted(&doomed, &gone, &context.now, &context.place()))
    }
}

/// What became of what was deleted.
#[derive(Debug)]
pub(crate) struct Gone {
    pub(crate) deleted: Deleted,
    /// How many files with transcripts went.
    pub(crate) files: u64,
    /// Up to when it can come back; nothing if it can't.
    pub(crate) until: Option<Timestamp>,
}

/// Deletes what a session stands for, and its transcripts, for so many days or, with none, for good. Nobody is asked.
pub(crate) async fn carry_out(
    store: &dyn Maintenance,
    id: &SessionId,
    doomed: &Doomed,
    days: u64,
    transcripts: Option<&Transcripts>,
    now: Timestamp,
) -> Result<(Gone, Removed), CliError> {
    let request = Request::at(now);
    if days == 0 {
        let deleted = store.delete(id, DeleteExtent::Chain, &request).await?;
        let removed = transcripts.map_or_else(Removed::default, |transcripts| transcripts.remove(&doomed.members));
        return Ok((Gone { deleted, files: removed.files, until: None }, removed));
    }
    let until = now.plus(days as f64 * DAY);
    let deleted = store.trash_chain(id, until, &request).await?;
    let moved = match (transcripts, store.trashed(id).await?) {
        (Some(transcripts), Some((entry, members))) => transcripts.put_away(&members, &entry),
        // Somebody has emptied the trash since, or brought it back.
        (Some(transcripts), None) => transcripts.remove(&nowhere(store, doomed.members.clone()).await),
        (None, _) => Removed::default(),
    };
    Ok((Gone { deleted, files: moved.files, until: Some(until) }, moved))
}

/// What goes with a session: its conversation, or the delegate that it is. A session in it that can't be read goes with it all the same.
pub(crate) async fn look(store: &dyn Maintenance, id: &SessionId) -> Result<Doomed, CliError> {
    let lineage = store.lineage(id).await?;
    let members = lineage.chain(id);
    let first = members.first().unwrap_or(id);
    let tip = lineage.tip(first);
    let root = lineage.conversation_root(id);
    let sent_from = (!members.contains(&root)).then(|| lineage.tip(&root));
    let is_branch = |link: &&hermes_session::Link| {
        link.relation == Relation::Branch && link.parent.as_ref().is_some_and(|parent| members.contains(parent))
    };
    let branches = lineage.links().filter(is_branch).count() as u64;
    let (mut messages, mut title, mut source, mut started_at) = (0, None, None, None);
    for member in &members {
        let Ok(Some(session)) = store.session(member).await else { continue };
        messages += u64::try_from(session.message_count).unwrap_or(0);
        if *member == tip {
            title = session.title;
        }
        if member == first {
            (source, started_at) = (Some(session.source.to_string()), Some(session.started_at));
        }
    }
    Ok(Doomed { id: tip, title, source, members, messages, started_at, sent_from, branches, files: 0 })
}

/// Tells which transcripts are still there.
pub(crate) fn warn_left(context: &Context, removed: &Removed) {
    for (file, error) in &removed.left {
        let text = format!("could not remove {}: {error}", file.display());
        context.ui.warn(&text, "it holds what was said in a session that is deleted; remove it by hand");
    }
}
