//! Does outside what the picker asks for: reads and changes the store while keys are taken. What comes of it is an event.

use super::event::{Effect, Event, Hit, Notice, Preview, Wanted};
use super::rows::Row;
use crate::clock;
use crate::commands::export::target::Target;
use crate::commands::{delete, export, rename};
use crate::context::Context;
use crate::error::CliError;
use crate::transcripts::Transcripts;
use crate::ui::changes;
use crate::ui::checks::{number, plural};
use hermes_session::search::{Query, SearchFilter, SearchRequest, matching::Matcher};
use hermes_session::{
    Content, ListRequest, Message, MessageId, MessageRequest, PageRequest, SessionFilter, SessionId, Store, StoreError,
    Title, Window,
};
use hermes_store::StoreUrl;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Sender;
use tokio::task::{AbortHandle, JoinHandle, spawn_local, yield_now};
use tokio::time::sleep;

/// The first page is on the screen at once.
const FIRST_PAGE: u32 = 200;
/// Reading a page keeps keys waiting, so it is short.
const PAGE: u32 = 500;
/// Who has typed nothing for so long wants to know.
const PAUSE: Duration = Duration::from_millis(250);
/// Who stays on a row for so long looks at it.
const LOOK: Duration = Duration::from_millis(40);
/// How many places are asked for; a conversation may have several of them.
const PLACES: u32 = 200;
/// How many messages a preview has before the place that is meant, and from there on or at the end.
const BEFORE: u32 = 4;
const SHOWN: u32 = 16;
/// After how many that are deleted it is told how far it is.
const SOME: usize = 20;
/// How much of a message a preview shows, in bytes.
const MOST: usize = 4_000;

/// What is needed to do anything.
pub(super) struct Desk {
    pub(super) context: Context,
    pub(super) store: Arc<dyn Store>,
    pub(super) url: StoreUrl,
    pub(super) transcripts: Option<Transcripts>,
    /// How long what is deleted can come back.
    pub(super) trash_days: u64,
    pub(super) filter: SessionFilter,
    /// How long a search may take.
    pub(super) timeout: Duration,
}

/// Everything that is going on.
pub(super) struct Work {
    desk: Rc<Desk>,
    events: Sender<Event>,
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
    pub(super) fn new(desk: Desk, events: Sender<Event>) -> Self {
        Self {
            desk: Rc::new(desk),
            events,
            list: None,
            search: None,
            text: String::new(),
            preview: None,
            changes: Vec::new(),
        }
    }

    /// Reads the list, page by page; at most so many rows.
    pub(super) fn list(&mut self, most: u64) {
        let (desk, events) = (Rc::clone(&self.desk), self.events.clone());
        self.list = Some(spawn_local(async move {
            let ended = list(&desk, &events, most).await.map_err(CliError::from);
            if let Err(error) = &ended {
                send(&events, Event::ListFailed(error.text())).await;
            }
            ended
        }));
    }

    /// Why the list could not be read to its end, if it is known by now.
    pub(super) async fn list_error(&mut self) -> Option<CliError> {
        let ended = self.list.take_if(|list| list.is_finished())?;
        // What panicked has said so.
        ended.await.ok()?.err()
    }

    /// Begins what an effect asks for. Leaving and stopping are not done here.
    pub(super) fn begin(&mut self, effect: Effect) {
        match effect {
            Effect::Search { question, text } => {
                self.stop_search();
                self.text.clone_from(&text);
                let work = self.spawn(async move |desk| {
                    sleep(PAUSE).await;
                    search(desk, question, &text).await
                });
                self.search = Some(work.abort_handle());
            }
            Effect::StopSearch => self.stop_search(),
            Effect::Preview(wanted) => {
                self.preview.take().inspect(AbortHandle::abort);
                let text = self.text.clone();
                let work = self.spawn(async move |desk| {
                    sleep(LOOK).await;
                    let preview = match preview(&*desk.store, &wanted, &text).await {
                        Ok(messages) => Preview::Messages(messages),
                        Err(error) => Preview::Failed(CliError::from(error).text()),
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
            // What panicked has said so.
            _ = change.await;
        }
    }
}

/// Nobody takes events any more once all that was begun is done, or somebody would not wait for it.
async fn send(events: &Sender<Event>, event: Event) {
    _ = events.send(event).await;
}

async fn list(desk: &Desk, events: &Sender<Event>, most: u64) -> Result<(), StoreError> {
    let mut request = ListRequest { filter: desk.filter.clone(), ..ListRequest::default() };
    let (mut left, mut page) = (most, FIRST_PAGE);
    loop {
        request.page = PageRequest::first(page.min(u32::try_from(left).unwrap_or(u32::MAX)));
        let listing = desk.store.list(&request).await?;
        if let Some(row) = listing.unreadable.first() {
            let first = format!("{} {:?}: {}", row.table, row.id, row.why);
            send(events, Event::Unreadable { count: listing.unreadable.len() as u64, first }).await;
        }
        left = left.saturating_sub(listing.rows.len() as u64);
        let rows: Vec<Row> = listing.rows.into_iter().map(Row::from).collect();
        request.after = listing.next.filter(|_| left > 0);
        let is_last = request.after.is_none();
        send(events, Event::Rows { rows, is_last }).await;
        if is_last {
            return Ok(());
        }
        page = PAGE;
        yield_now().await;
    }
}

async fn search(desk: &Desk, question: u64, text: &str) -> Event {
    let request = SearchRequest {
        filter: SearchFilter {
            sources: desk.filter.sources.clone(),
            exclude_sources: desk.filter.exclude_sources.clone(),
            ..SearchFilter::default()
        },
        page: PageRequest::first(PLACES),
        // Conversations with only some of the words are not what a filter shows.
        relax: false,
        timeout: desk.timeout,
        ..SearchRequest::new(Query::parse(text))
    };
    match desk.store.search(&request).await {
        Ok(answer) => {
            let mut hits: Vec<Hit> = Vec::new();
            for hit in &answer.hits {
                // The first place of a conversation is its best.
                if !hits.iter().any(|known| known.row.id == hit.conversation) {
                    hits.push(Hit { row: Row::from(hit), place: (hit.session.clone(), hit.message) });
                }
            }
            Event::Found { question, hits, is_partial: answer.served.is_partial }
        }
        Err(error) => Event::SearchFailed { question, why: CliError::from(error).text() },
    }
}

/// The end of a conversation, or what was said around a place in it.
async fn preview(store: &dyn Store, wanted: &Wanted, text: &str) -> Result<Vec<Message>, StoreError> {
    let messages = match &wanted.place {
        None => store.messages(&wanted.id, &MessageRequest::last(SHOWN)).await?,
        Some((session, message)) => {
            let request = MessageRequest { window: Window::Before(Some(*message)), limit: BEFORE };
            let mut messages = store.messages(session, &request).await?;
            let last = messages.last().map(|message| message.id);
            let request = MessageRequest { window: Window::After(last), limit: SHOWN };
            messages.extend(store.messages(session, &request).await?);
            messages
        }
    };
    let matcher = Matcher::new(&Query::parse(text));
    let meant = wanted.place.as_ref().map(|(_, message)| *message);
    Ok(messages.into_iter().map(|message| shortened(message, meant, &matcher)).collect())
}

/// A message as far as a preview shows it: one of megabytes is not laid out to show a screen of it. Of the message that is meant it is the
/// part with the match.
fn shortened(mut message: Message, meant: Option<MessageId>, matcher: &Matcher) -> Message {
    let text = message.body.plain_text();
    if text.len() > MOST {
        let mark = matcher.marks(&text).first().map_or(0, |mark| mark.start);
        let first = if meant == Some(message.id) { mark.saturating_sub(MOST / 4) } else { 0 };
        let (start, end) = (text.floor_char_boundary(first), text.floor_char_boundary(first + MOST));
        let (before, behind) = (if start > 0 { "… " } else { "" }, if end < text.len() { " …" } else { "" });
        message.body.content = Some(Content::Text(format!("{before}{}{behind}", &text[start..end])));
    }
    message
}

async fn renamed(desk: &Desk, id: SessionId, title: Title) -> Event {
    match rename::rename(&*desk.store, &id, &title, clock::now().at).await {
        Ok(()) => Event::Renamed { id, title },
        Err(error) => Event::Told(refused(&error)),
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
    let doomed = delete::look(&*desk.store, id).await?;
    let transcripts = desk.transcripts.as_ref();
    let (now, days) = (clock::now(), desk.trash_days);
    let (gone, removed) = delete::carry_out(&*desk.store, id, &doomed, days, transcripts, now.at).await?;
    let lines = changes::deleted(&doomed, &gone, &now, &desk.context.place());
    let left = removed.left.iter().map(|(file, error)| format!("{}: {error}", file.display())).collect();
    Ok((lines.iter().map(crate::ui::Line::plain).collect::<Vec<_>>().join(" "), left))
}

async fn exported(desk: &Desk, ids: Vec<SessionId>, file: PathBuf, is_overwriting: bool) -> Event {
    let target = match Target::of(&at_home(&file, desk.context.environment.user_home()), &desk.url) {
        Ok(target) if target.is_there() && !is_overwriting => return Event::Exists { ids, file },
        Ok(target) => target,
        Err(error) => return Event::Told(refused(&error)),
    };
    match export::conversations(&desk.context, &*desk.store, &target, &ids).await {
        Ok((written, unreadable)) if unreadable.is_empty() => {
            let what = changes::so_far(written.sessions, written.messages);
            Event::Told(Notice::of(format!("Wrote {what} to {}", written.path.display())))
        }
        Ok((written, unreadable)) => Event::Told(Notice::error(format!(
            "{} lacks {} that can't be read",
            written.path.display(),
            changes::sessions(unreadable.len() as u64)
        ))),
        Err(error) => Event::Told(refused(&error)),
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
    use hermes_session::{MessageBody, Role, Timestamp};

    #[test]
    fn a_long_message_is_shown_where_it_matches() {
        let text = format!("{}needle{}", "大".repeat(9_000), "x".repeat(9_000));
        let message = |text: &str| Message {
            id: MessageId(7),
            session_id: SessionId::parse("s").unwrap(),
            timestamp: Timestamp::from_seconds(1.0).unwrap(),
            body: MessageBody::new(Role::User, text),
            faults: Vec::new(),
        };
        let matcher = Matcher::new(&Query::parse("NEEDLE"));
        let shown = |meant| shortened(message(&text), meant, &matcher).body.plain_text().into_owned();
        let meant = shown(Some(MessageId(7)));
        assert!(meant.contains("needle") && meant.starts_with("… 大") && meant.ends_with("x …"));
        let other = shown(Some(MessageId(8)));
        assert!(!other.contains("needle") && other.starts_with('大'));
        assert!([meant, other].iter().all(|text| text.len() <= MOST + 12));
        assert_eq!(shortened(message("short"), None, &matcher).body.plain_text(), "short");
    }

    #[test]
    fn the_tilde_is_the_home_folder() {
        let home = Some(Path::new("/home/me"));
        assert_eq!(at_home(Path::new("~/a.jsonl"), home), Path::new("/home/me/a.jsonl"));
        assert_eq!(at_home(Path::new("~x/a"), home), Path::new("~x/a"));
        assert_eq!(at_home(Path::new("~/a"), None), Path::new("~/a"));
    }
}
