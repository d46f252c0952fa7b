//! `hermes sessions delete`

use crate::context::{Context, Opened};
use crate::error::CliError;
use crate::resolve::resolve;
use crate::ui::changes::DeletePlan;
use crate::ui::{changes, json};
use crate::{chores, warnings};
use hermes_app::trash::{self, DeletePreview};
use hermes_session::SessionId;
use hermes_terminal::Line;

/// Move conversations to the trash: their sessions, messages and transcript files
///
/// `hermes sessions restore` brings them back for 30 days (sessions.trash_days); --permanent deletes them for good.
/// Whole conversations are deleted, with their compressed sessions and delegates. If SESSION is a delegate, only it and
/// its own delegates are deleted. Branches are kept as separate conversations. Nothing is deleted unless every SESSION
/// is found.
#[derive(clap::Args)]
pub(crate) struct DeleteArgs {
    /// Session id, start of an id, title, @last, or @N for row N of the last list
    #[arg(value_name = "SESSION", required = true)]
    sessions: Vec<String>,
    /// Delete for good, without the trash
    #[arg(long, visible_alias = "now")]
    permanent: bool,
    /// Only show what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Print one JSON object for each conversation, one per line
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: DeleteArgs) -> Result<(), CliError> {
    let opened = if args.dry_run { context.open_for_reading().await? } else { context.open_for_writing().await? };
    let doomed = doomed(context, &opened, &args.sessions).await?;
    let days = if args.permanent { 0 } else { opened.settings.sessions.trash_days.value };
    let plan = DeletePlan { doomed: &doomed, until: trash::until(context.now.at, days) };
    if args.dry_run {
        return match args.json {
            true => doomed.iter().try_for_each(|one| context.ui.json(&json::changes::to_delete(one, plan.until))),
            false => {
                let total = [Line::default()].into_iter().chain(context.ui.sentences([plan.total(&context.now)]));
                context.ui.print(plan.described(doomed.len(), &context.now).into_iter().chain(total))
            }
        };
    }
    context.ui.consent(args.yes, plan.about(&context.now), &plan.question())?;
    let transcripts = opened.transcripts();
    for (done, preview) in doomed.iter().enumerate() {
        let deleted = trash::delete(&*opened.store, preview, days, transcripts.as_ref(), context.now.at).await;
        let report = deleted.map_err(|error| stopped_at(error.into(), done, doomed.len()))?;
        warnings::left_behind(context, &report.transcripts);
        let printed = match args.json {
            true => context.ui.json_done(&json::changes::deleted(preview, &report)),
            false => context.ui.print_done(context.ui.sentences([changes::deleted(preview, &report)])),
        };
        printed
            .map_err(|error| if done + 1 < doomed.len() { stopped_at(error, done + 1, doomed.len()) } else { error })?;
    }
    if !args.json {
        context.ui.print_done(plan.way_back(&context.now, &context.place()))?;
    }
    chores::run(context, opened).await;
    Ok(())
}

/// Resolves all sessions, and returns what would be deleted with them.
async fn doomed(context: &Context, opened: &Opened, sessions: &[String]) -> Result<Vec<DeletePreview>, CliError> {
    let transcripts = opened.transcripts();
    let mut doomed = Vec::with_capacity(sessions.len());
    for text in sessions {
        let found = resolve(context, &*opened.store, text).await?;
        doomed.push(trash::preview(&*opened.store, &found.asked, transcripts.as_ref(), context.now.at).await?);
    }
    Ok(distinct(doomed, |preview| &preview.members))
}

/// Leaves out what is deleted with another: a conversation named twice, and a delegate whose conversation is named.
fn distinct<T>(all: Vec<T>, members: impl Fn(&T) -> &[SessionId]) -> Vec<T> {
    let is_within = |one: &T, other: &T| members(one).iter().all(|member| members(other).contains(member));
    let mut kept: Vec<T> = Vec::with_capacity(all.len());
    for one in all {
        if !kept.iter().any(|other| is_within(&one, other)) {
            kept.retain(|other| !is_within(other, &one));
            kept.push(one);
        }
    }
    kept
}

/// Adds to an error how many conversations were deleted before it.
fn stopped_at(error: CliError, done: usize, all: usize) -> CliError {
    match done {
        0 => error,
        _ => error
            .with_hint(format!("{done} of {all} were deleted before that; `hermes sessions list` shows the others")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_with_another_is_left_out() {
        let ids = |names: &str| names.split(' ').map(SessionId::from_stored).collect::<Vec<_>>();
        let check = |all: &[&str], expect: &[&str]| {
            let all = all.iter().map(|names| ids(names)).collect();
            assert_eq!(distinct(all, Vec::as_slice), expect.iter().map(|names| ids(names)).collect::<Vec<_>>());
        };
        check(&["a b", "c"], &["a b", "c"]);
        check(&["a b", "a b", "c"], &["a b", "c"]);
        check(&["b", "c", "a b"], &["c", "a b"]);
        check(&["a b", "b"], &["a b"]);
    }
}
