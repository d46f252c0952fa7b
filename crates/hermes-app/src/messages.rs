//! Messages of a session: read a page at a time, and counted by state.

use hermes_session::{Extent, Message, MessageRequest, SessionId, SessionStore, StateCounts, StoreError};

/// Messages held in memory at once. Each page reads all ids of the session, so small pages cost more than they save.
const PAGE: u32 = 1_000;

/// Calls `each` with the messages of a session, a page at a time.
///
/// # Errors
/// If `each` fails, there is no such session, or the store fails.
pub async fn pages<E: From<StoreError>>(
    store: &dyn SessionStore,
    id: &SessionId,
    extent: Extent,
    mut each: impl FnMut(&[Message]) -> Result<(), E>,
) -> Result<(), E> {
    let mut request = MessageRequest { extent, ..MessageRequest::first(PAGE) };
    loop {
        let messages = store.messages(id, &request).await?;
        each(&messages)?;
        match messages.last().filter(|_| messages.len() == PAGE as usize) {
            Some(last) => request = MessageRequest { extent, ..MessageRequest::after(last.id, PAGE) },
            None => return Ok(()),
        }
    }
}

/// Counts the messages of a session by state.
///
/// # Errors
/// If there is no such session, or the store fails.
pub async fn states(store: &dyn SessionStore, id: &SessionId) -> Result<StateCounts, StoreError> {
    let mut states = StateCounts::default();
    pages(store, id, Extent::Every, |messages| {
        messages.iter().for_each(|message| states.add(message.state));
        Ok::<(), StoreError>(())
    })
    .await?;
    Ok(states)
}
