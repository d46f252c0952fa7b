//! Does outside what the picker asks for: reads and changes the store while keys are taken. What comes of it is an event.

use super::desk::Desk;
use super::event::{Effect, Event, Notice, Preview};
use super::read::{list, preview, search, tip};
use crate::clock;
use crate::error::CliError;
use crate::exporting::{self, Target};
use crate::ui::changes;
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

/// Who has typed nothing for so long wants to know.
const PAUSE: Duration = Duration::from_millis(250);
/// Who stays on a row for so long looks at it.
const LOOK: Duration = Duration::from_millis(40);
/// After how many that are deleted it is told how far it is.
const SOME: usize = 20;

/// Everything that is going on.
pub(super) struct Work {
    desk: Rc<Desk>,
    events: Sender<Event>,
    /// Every conversation of the list, by the session that it went on in then.
    listed: Rc<RefCell<HashSet<SessionId>>>,
    list: Option<JoinHandle<Result<(), CliError>>>,
    search: Option<AbortHandle>,
    /// What was searched for last.
    text: String,
    preview: Option<AbortHandle>,
    /// What changes something.
    changes: Vec<JoinHandle<()>>,
}

impl Work {
    /// Nothing yet. What comes is sent to `events`.
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

    /// Reads the list, page by page; at most so many rows.
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

    /// Why the list could not be read to its end, if it is known by now.
    pub(super) async fn list_error(&mut self) -> Option<CliError> {
        let ended = self.list.take_if(|list| list.is_finished())?;
        // A task that panicked has printed that.
        ended.await.ok()?.err()
    }

    /// Begins what an effect asks for. Leaving and stopping are not done here.
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

    /// Whether something that changes something is not done yet.
    pub(super) fn is_changing(&self) -> bool {
        self.changes.iter().any(|change| !change.is_finished())
    }

    /// Waits until all that changes something is done, and its events are sent. What only reads is not wanted any more.
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
fn log_failure(work: &'static str, error: &CliError) {
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

/// Deletes one conversation after another, and tells how far it is. What is gone when something fails is told as gone, and so is what somebody
/// else deleted meanwhile. Whatever else there is to tell, transcripts that are still there are told.
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
            let told = Notice::of(format!("Deleted {} of {}…", number(count), number(all as u64)));
            send(events, Event::Deleted { ids: std::mem::take(&mut gone), told }).await;
        }
    }
    let told = match (all, told) {
        (1, Some(told)) => told,
        _ => Notice::of(format!("Deleted {}.", plural(count, "conversations"))),
    };
    Event::Deleted { ids: gone, told: with_left(told, &left) }
}

/// The same notice with the files that should be gone and are not: they hold what was said.
fn with_left(told: Notice, left: &[String]) -> Notice {
    match left {
        [] => told,
        left => Notice::error(format!("{} Still there: {}", told.text, left.join("; "))),
    }
}

/// Deletes a conversation: what is told of that, and which files are still there.
async fn delete_one(desk: &Desk, id: &SessionId) -> Result<(String, Vec<String>), CliError> {
    let store = desk.for_writing().await?;
    let preview = trash::preview(&**store, id, None).await?;
    let now = clock::now();
    let report = trash::delete(&**store, &preview, desk.trash_days, desk.transcripts.as_ref(), now.at).await?;
    let lines = changes::deleted(&preview, &report, &now, &desk.context.place());
    let left = report.transcripts.left.iter().map(|(file, error)| format!("{}: {error}", file.display())).collect();
    Ok((lines.iter().map(hermes_terminal::Line::plain).collect::<Vec<_>>().join(" "), left))
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

/// A path with `~` as a shell takes it.
fn at_home(path: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

fn refused(error: &CliError) -> Notice {
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
