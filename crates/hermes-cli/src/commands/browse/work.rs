//! Carries out the effects of the picker: reads and changes the store while the picker handles keys. Results are sent
//! as events.

use super::desk::Desk;
use super::event::{Effect, Event, Notice, Preview};
use super::pins_and_tags;
use super::read::{list, preview, search, tip};
use crate::clock;
use crate::error::CliError;
use crate::exporting::{self, Target};
use crate::program;
use crate::ui::changes::{self, DeletePlan};
use hermes_app::trash;
use hermes_session::{Request, SessionId, StoreError, Title};
use hermes_terminal::figures::{number, plural};
use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::mpsc::Sender;
use tokio::task::{AbortHandle, JoinHandle, spawn_local};
use tokio::time::sleep;

/// Pause in typing before a search starts.
const PAUSE: Duration = Duration::from_millis(250);
/// Time on a row before its preview is read.
const LOOK: Duration = Duration::from_millis(40);
/// Number of deletions between two progress notices.
const SOME: usize = 20;

/// The background work of the picker.
pub(super) struct Work {
    desk: Rc<Desk>,
    events: Sender<Event>,
    /// The conversations of the list, by the sessions they continued in when they were listed.
    listed: Rc<RefCell<HashSet<SessionId>>>,
    list: Option<JoinHandle<Result<(), CliError>>>,
    search: Option<AbortHandle>,
    /// The text of the last search.
    text: String,
    preview: Option<AbortHandle>,
    /// The tasks that change the store.
    changes: Vec<JoinHandle<()>>,
}

impl Work {
    /// Returns an idle worker that sends its results to `events`.
    pub(super) fn new(desk: Rc<Desk>, events: Sender<Event>) -> Self {
        Self {
            desk,
            events,
            listed: Rc::default(),
            list: None,
            search: None,
            text: String::new(),
            preview: None,
            changes: Vec::new(),
        }
    }

    /// Reads the list page by page, at most `most` rows.
    pub(super) fn list(&mut self, most: u64) {
        let (desk, events, listed) = (Rc::clone(&self.desk), self.events.clone(), Rc::clone(&self.listed));
        self.list = Some(spawn_local(async move {
            let ended = list(&desk, &events, &listed, most).await.map_err(CliError::from);
            if let Err(error) = &ended {
                log_failure("list", error);
                send(&events, Event::ListFailed(error.text())).await;
            }
            ended
        }));
    }

    /// Returns the error that ended the list, if it is known by now.
    pub(super) async fn list_error(&mut self) -> Option<CliError> {
        let ended = self.list.take_if(|list| list.is_finished())?;
        // A task that panicked has printed its panic already.
        ended.await.ok()?.err()
    }

    /// Starts an effect. Leaving and suspending are not handled here.
    pub(super) fn begin(&mut self, effect: Effect) {
        match effect {
            Effect::Search { question, text } => {
                self.stop_search();
                self.text.clone_from(&text);
                let listed = Rc::clone(&self.listed);
                let work = self.spawn(async move |desk| {
                    sleep(PAUSE).await;
                    match search(desk, &listed, &text).await {
                        Ok((hits, is_partial)) => Event::Found { question, hits, is_partial },
                        Err(error) => {
                            let error = CliError::from(error);
                            log_failure("search", &error);
                            Event::SearchFailed { question, why: error.text() }
                        }
                    }
                });
                self.search = Some(work.abort_handle());
            }
            Effect::StopSearch => self.stop_search(),
            Effect::Preview(wanted) => {
                self.preview.take().inspect(AbortHandle::abort);
                let text = self.text.clone();
                let work = self.spawn(async move |desk| {
                    sleep(LOOK).await;
                    let preview = match preview(&**desk.store(), &wanted, &text).await {
                        Ok(messages) => Preview::Messages(messages),
                        Err(error) => {
                            let error = CliError::from(error);
                            log_failure("preview", &error);
                            Preview::Failed(error.text())
                        }
                    };
                    Event::Previewed { wanted, preview }
                });
                self.preview = Some(work.abort_handle());
            }
            Effect::Rename { id, title } => self.change(async move |desk| renamed(desk, id, title).await),
            Effect::Pin { ids, is_pinned } => {
                self.change(async move |desk| pins_and_tags::pinned(desk, ids, is_pinned).await);
            }
            Effect::Tag { ids, add, remove } => {
                self.change(async move |desk| pins_and_tags::tagged(desk, ids, &add, &remove).await);
            }
            Effect::Delete(ids) => {
                let events = self.events.clone();
                self.change(async move |desk| deleted(desk, ids, &events).await);
            }
            Effect::Export { ids, file, is_overwriting } => {
                self.change(async move |desk| exported(desk, ids, file, is_overwriting).await);
            }
            Effect::Suspend | Effect::Leave(_) => {}
        }
    }

    fn stop_search(&mut self) {
        self.search.take().inspect(AbortHandle::abort);
    }

    fn change(&mut self, work: impl AsyncFnOnce(&Desk) -> Event + 'static) {
        let work = self.spawn(work);
        self.changes.push(work);
    }

    fn spawn(&self, work: impl AsyncFnOnce(&Desk) -> Event + 'static) -> JoinHandle<()> {
        let (desk, events) = (Rc::clone(&self.desk), self.events.clone());
        spawn_local(async move { send(&events, work(&desk).await).await })
    }

    /// Returns whether a change is still running.
    pub(super) fn is_changing(&self) -> bool {
        self.changes.iter().any(|change| !change.is_finished())
    }

    /// Waits until all changes are done and their events are sent. Reads are aborted.
    pub(super) async fn finish(self) {
        self.list.iter().for_each(JoinHandle::abort);
        self.search.iter().chain(&self.preview).for_each(AbortHandle::abort);
        for change in self.changes {
            if let Err(error) = change.await {
                tracing::error!(is_panic = error.is_panic(), "a change begun in the picker did not end");
            }
        }
    }
}

/// Sends an event to the picker. After the picker has ended it is dropped: a person who left does not wait for it.
pub(super) async fn send(events: &Sender<Event>, event: Event) {
    if events.send(event).await.is_err() {
        tracing::debug!("event dropped: the picker has ended");
    }
}

/// Logs that background work failed. The text of the error may quote titles, so only its kind is logged.
pub(super) fn log_failure(work: &'static str, error: &CliError) {
    tracing::warn!(work, error = error.of_store().map(StoreError::kind), "background work failed");
}

async fn renamed(desk: &Desk, id: SessionId, title: Title) -> Event {
    let renamed = async {
        let store = desk.for_writing().await?;
        let tip = tip(&**store, &id).await?;
        store.set_title(&tip, Some(&title), &Request::at(clock::now().at)).await?;
        Ok::<(), CliError>(())
    };
    match renamed.await {
        Ok(()) => Event::Renamed { id, title },
        Err(error) => {
            log_failure("rename", &error);
            Event::Told(refused(&error))
        }
    }
}

/// Deletes conversations one by one and reports the progress. If one fails, those deleted before are reported as
/// deleted, and so are those that somebody else deleted in the meantime. Transcripts that could not be removed are
/// always reported.
async fn deleted(desk: &Desk, ids: Vec<SessionId>, events: &Sender<Event>) -> Event {
    let (all, mut count) = (ids.len(), 0);
    let (mut gone, mut told, mut left) = (Vec::new(), None, Vec::new());
    for id in ids {
        match delete_one(desk, &id).await {
            Ok((line, still_there)) => {
                (count, told) = (count + 1, Some(Notice::of(line)));
                left.extend(still_there);
                gone.push(id);
            }
            Err(error) if matches!(error.of_store(), Some(StoreError::NotFound(_))) => {
                told = Some(refused(&error));
                gone.push(id);
            }
            Err(error) => {
                log_failure("delete", &error);
                return Event::Deleted { ids: gone, told: with_left(refused(&error), &left) };
            }
        }
        if gone.len() == SOME {
            let told = Notice::of(deleted_so_far(count, all as u64, desk.trash_days));
            send(events, Event::Deleted { ids: std::mem::take(&mut gone), told }).await;
        }
    }
    let told = match (count, told) {
        (_, Some(told)) if all == 1 || count == 0 => told,
        _ => Notice::of(all_deleted(count, desk)),
    };
    Event::Deleted { ids: gone, told: with_left(told, &left) }
}

/// Returns the text about a deletion that has not ended.
fn deleted_so_far(count: u64, all: u64, trash_days: u64) -> String {
    let (count, all) = (number(count), number(all));
    match trash_days {
        0 => format!("Deleted {count} of {all} for good…"),
        _ => format!("Moved {count} of {all} to the trash…"),
    }
}

/// Returns the text about deleted conversations: where they went, and the command that restores them.
fn all_deleted(count: u64, desk: &Desk) -> String {
    let (what, them) = (plural(count, "conversations"), if count == 1 { "it" } else { "them" });
    let command = format!("{} sessions restore ID{}", program::name(), desk.context.place());
    match desk.trash_days {
        0 => format!("Deleted {what} for good."),
        _ => format!("Moved {what} to the trash; \"{command}\" brings {them} back."),
    }
}

/// Adds the files that could not be removed to a notice, because they hold message text.
fn with_left(told: Notice, left: &[String]) -> Notice {
    match left {
        [] => told,
        left => Notice::error(format!("{} Still there: {}", told.text, left.join("; "))),
    }
}

/// Deletes a conversation. Returns the text to report, and the files that could not be removed.
async fn delete_one(desk: &Desk, id: &SessionId) -> Result<(String, Vec<String>), CliError> {
    let store = desk.for_writing().await?;
    let now = clock::now();
    let preview = trash::preview(&**store, id, None, now.at).await?;
    let report = trash::delete(&**store, &preview, desk.trash_days, desk.transcripts.as_ref(), now.at).await?;
    let doomed = [preview];
    let way_back = DeletePlan { doomed: &doomed, until: report.until }.way_back(&now, &desk.context.place());
    let lines = doomed.iter().map(|preview| changes::deleted(preview, &report)).chain(way_back);
    let left = report.transcripts.left.iter().map(|(file, error)| format!("{}: {error}", file.display())).collect();
    Ok((lines.map(|line| line.plain()).collect::<Vec<_>>().join(" "), left))
}

async fn exported(desk: &Desk, ids: Vec<SessionId>, file: PathBuf, is_overwriting: bool) -> Event {
    let target = match Target::of(&at_home(&file, desk.context.environment().user_home()), &desk.url) {
        Ok(target) if target.is_there() && !is_overwriting => return Event::Exists { ids, file },
        Ok(target) => target,
        Err(error) => return Event::Told(refused(&error)),
    };
    match exporting::conversations(&desk.context, &**desk.store(), &target, &ids).await {
        Ok((written, unreadable)) if unreadable.is_empty() => {
            let what = changes::so_far(written.sessions, written.messages);
            Event::Told(Notice::of(format!("Wrote {what} to {}", written.path.display())))
        }
        Ok((written, unreadable)) => Event::Told(Notice::error(format!(
            "{} lacks {} that can't be read",
            written.path.display(),
            changes::sessions(unreadable.len() as u64)
        ))),
        Err(error) => {
            log_failure("export", &error);
            Event::Told(refused(&error))
        }
    }
}

/// Expands a leading `~`, as a shell does.
fn at_home(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

/// Returns the notice of an error, with its first hint.
pub(super) fn refused(error: &CliError) -> Notice {
    let hint = error.hints().first().map_or(String::new(), |hint| format!("; {hint}"));
    Notice::error(format!("{}{hint}", error.text()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tilde_is_the_home_folder() {
        let home = Some(Path::new("/home/me"));
        assert_eq!(at_home(Path::new("~/a.jsonl"), home), Path::new("/home/me/a.jsonl"));
        assert_eq!(at_home(Path::new("~x/a"), home), Path::new("~x/a"));
        assert_eq!(at_home(Path::new("~/a"), None), Path::new("~/a"));
    }
}
