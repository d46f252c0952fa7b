//! `hermes sessions delete`

use crate::context::Context;
use crate::error::CliError;
use crate::resolve::resolve;
use crate::transcripts::{Removed, Transcripts};
use crate::ui::{changes, json};
use hermes_session::{Deleted, Maintenance, Relation, Request, SessionId, Timestamp};

/// Deletes a conversation: its sessions, their messages, and the transcripts that the agent keeps of them
///
/// A conversation goes as a whole: what was compressed, and delegates, go with it. A delegate that is named itself goes alone, with what it
/// sent out in turn. Branches stay, as conversations of their own.
#[derive(clap::Args)]
pub(crate) struct DeleteArgs {
    /// Its id, the start of its id, its title, @last, or the number of a row of the last list, such as @3
    #[arg(value_name = "SESSION")]
    session: String,
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
    let settings = context.settings()?;
    let (store, url) = context.open_configured(&settings).await?;
    let found = resolve(context, &*store, &args.session).await?;
    let transcripts = Transcripts::of(&settings, &url);
    let mut doomed = look(&*store, &found.asked).await?;
    doomed.files = transcripts.as_ref().map_or(0, |transcripts| transcripts.files(&doomed.members).len() as u64);
    let question = if doomed.sent_from.is_some() { "Delete this delegate?" } else { "Delete this conversation?" };
    context.ui.consent(args.yes, changes::doomed(&doomed, &context.now), question)?;
    let (deleted, removed) = carry_out(&*store, &found.asked, &doomed, transcripts.as_ref(), context.now.at).await?;
    warn_left(context, &removed);
    if args.json {
        context.ui.json(&json::changes::deleted(&doomed, deleted, removed.files))
    } else {
        context.ui.print(changes::deleted(&doomed, deleted, removed.files))
    }
}

/// Deletes what a session stands for, and its transcripts. Nobody is asked.
pub(crate) async fn carry_out(
    store: &dyn Maintenance,
    id: &SessionId,
    doomed: &Doomed,
    transcripts: Option<&Transcripts>,
    now: Timestamp,
) -> Result<(Deleted, Removed), CliError> {
    let deleted = store.delete_chain(id, &Request::at(now)).await?;
    let removed = transcripts.map_or_else(Removed::default, |transcripts| transcripts.remove(&doomed.members));
    Ok((deleted, removed))
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
