//! Reads the data that the picker shows: the list, search hits and previews.

use super::desk::Desk;
use super::event::{Event, Hit, Wanted};
use super::rows::Row;
use super::work::send;
use hermes_session::search::{Query, SearchFilter, SearchRequest, matching::Matcher};
use hermes_session::{
    Content, ListRequest, Message, MessageId, MessageRequest, Order, PageRequest, Relation, SessionId, Store,
    StoreError, Window,
};
use std::cell::RefCell;
use std::collections::HashSet;
use tokio::sync::mpsc::Sender;
use tokio::task::yield_now;

/// Rows of the first page, few enough to appear at once.
const FIRST_PAGE: u32 = 200;
/// Rows of the other pages. Reading a page delays keys, so it is short.
const PAGE: u32 = 500;
/// Maximum number of hits requested; a conversation may have several.
const PLACES: u32 = 200;
/// Messages of a preview before the hit, and from the hit on or at the end of the conversation.
const BEFORE: u32 = 4;
const SHOWN: u32 = 16;
/// The longest part of a message that a preview shows, in bytes.
const MAX_PREVIEW_BYTES: usize = 4_000;

/// Reads the list page by page, at most `most` rows.
pub(super) async fn list(
    desk: &Desk,
    events: &Sender<Event>,
    listed: &RefCell<HashSet<SessionId>>,
    most: u64,
) -> Result<(), StoreError> {
    let mut request = ListRequest { filter: desk.filter.clone(), order: Order::PinnedFirst, ..ListRequest::default() };
    let (mut left, mut page) = (most, FIRST_PAGE);
    loop {
        request.page = PageRequest::first(page.min(u32::try_from(left).unwrap_or(u32::MAX)));
        let listing = desk.store().list(&request).await?;
        if let Some(row) = listing.unreadable.first() {
            let first = format!("{} {:?}: {}", row.table, row.id, row.why);
            send(events, Event::Unreadable { count: listing.unreadable.len() as u64, first }).await;
        }
        left = left.saturating_sub(listing.rows.len() as u64);
        let rows: Vec<Row> = listing.rows.into_iter().map(Row::from).collect();
        listed.borrow_mut().extend(rows.iter().map(|row| row.id.clone()));
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

/// Searches the messages. Returns the matching conversations, and whether there may be more.
pub(super) async fn search(
    desk: &Desk,
    listed: &RefCell<HashSet<SessionId>>,
    text: &str,
) -> Result<(Vec<Hit>, bool), StoreError> {
    let request = SearchRequest {
        filter: SearchFilter {
            sources: desk.filter.sources.clone(),
            exclude_sources: desk.filter.exclude_sources.clone(),
            ..SearchFilter::default()
        },
        page: PageRequest::first(PLACES),
        // A filter must not show conversations that have only some of the words.
        relax: false,
        with_neighbours: false,
        timeout: desk.timeout,
        ..SearchRequest::new(Query::parse(text))
    };
    let answer = desk.store().search(&request).await?;
    let mut hits: Vec<Hit> = Vec::new();
    for hit in &answer.hits {
        // The first hit of a conversation is its best.
        if !hits.iter().any(|known| known.row.id == hit.conversation) {
            hits.push(Hit { row: Row::from(hit), place: (hit.session.clone(), hit.message) });
        }
    }
    name_as_listed(&**desk.store(), listed, &mut hits).await?;
    Ok((hits, answer.served.is_partial))
}

/// Replaces ids by those in the list. A conversation may continue in another session since it was listed, and must not
/// be shown twice.
async fn name_as_listed(
    store: &dyn Store,
    listed: &RefCell<HashSet<SessionId>>,
    hits: &mut [Hit],
) -> Result<(), StoreError> {
    let ids = hits.iter().map(|hit| hit.row.id.clone());
    let unknown: Vec<SessionId> = ids.filter(|id| !listed.borrow().contains(id)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let sessions = store.sessions(&unknown).await?;
    for session in sessions.iter().filter(|session| session.relation == Relation::Continuation) {
        let before = match store.lineage(&session.id).await {
            Ok(lineage) => lineage.compressed_into(&session.id),
            // Deleted by somebody else in the meantime.
            Err(StoreError::NotFound(_)) => continue,
            Err(error) => return Err(error),
        };
        let known = before.into_iter().find(|id| listed.borrow().contains(id));
        let hit = hits.iter_mut().find(|hit| hit.row.id == session.id);
        if let (Some(known), Some(hit)) = (known, hit) {
            hit.row.id = known;
        }
    }
    Ok(())
}

/// Returns the session that a conversation continues in now: the agent may have compressed it since it was listed.
///
/// # Errors
/// `NotFound` if it was deleted in the meantime.
pub(super) async fn tip(store: &dyn Store, id: &SessionId) -> Result<SessionId, StoreError> {
    Ok(store.lineage(id).await?.tip(id))
}

/// Returns the last messages of a conversation, or the messages around a search hit, of every state.
pub(super) async fn preview(store: &dyn Store, wanted: &Wanted, text: &str) -> Result<Vec<Message>, StoreError> {
    let messages = match &wanted.place {
        None => store.messages(&wanted.id, &MessageRequest::last(SHOWN).every()).await?,
        Some((session, message)) => {
            let request = MessageRequest::new(Window::Before(Some(*message)), BEFORE).every();
            let mut messages = store.messages(session, &request).await?;
            let last = messages.last().map(|message| message.id);
            let request = MessageRequest::new(Window::After(last), SHOWN).every();
            messages.extend(store.messages(session, &request).await?);
            messages
        }
    };
    let matcher = Matcher::new(&Query::parse(text));
    let meant = wanted.place.as_ref().map(|(_, message)| *message);
    Ok(messages.into_iter().map(|message| shortened(message, meant, &matcher)).collect())
}

/// Shortens a message for the preview, so that megabytes are not laid out to show one screen. Of the hit, the part
/// around the match is kept.
fn shortened(mut message: Message, meant: Option<MessageId>, matcher: &Matcher) -> Message {
    let text = message.body.plain_text();
    if text.len() > MAX_PREVIEW_BYTES {
        let mark = matcher.marks(&text).first().map_or(0, |mark| mark.start);
        let first = if meant == Some(message.id) { mark.saturating_sub(MAX_PREVIEW_BYTES / 4) } else { 0 };
        let (start, end) = (text.floor_char_boundary(first), text.floor_char_boundary(first + MAX_PREVIEW_BYTES));
        let (before, behind) = (if start > 0 { "… " } else { "" }, if end < text.len() { " …" } else { "" });
        message.body.content = Some(Content::Text(format!("{before}{}{behind}", &text[start..end])));
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_session::{MessageBody, Role, Timestamp};

    #[test]
    fn a_long_message_is_shown_where_it_matches() {
        let text = format!("{}needle{}", "大".repeat(9_000), "x".repeat(9_000));
        let message = |text: &str| {
            Message::new(
                MessageId(7),
                SessionId::parse("s").unwrap(),
                Timestamp::from_seconds(1.0).unwrap(),
                MessageBody::new(Role::User, text),
            )
        };
        let matcher = Matcher::new(&Query::parse("NEEDLE"));
        let shown = |meant| shortened(message(&text), meant, &matcher).body.plain_text().into_owned();
        let meant = shown(Some(MessageId(7)));
        assert!(meant.contains("needle") && meant.starts_with("… 大") && meant.ends_with("x …"));
        let other = shown(Some(MessageId(8)));
        assert!(!other.contains("needle") && other.starts_with('大'));
        assert!([meant, other].iter().all(|text| text.len() <= MAX_PREVIEW_BYTES + 12));
        assert_eq!(shortened(message("short"), None, &matcher).body.plain_text(), "short");
    }
}
