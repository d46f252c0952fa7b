//! Compares a session of the source with the one of its id in the target.

use super::pages::Pages;
use super::portable;
use crate::import::compare::{difference, is_renamed, is_same_message};
use crate::{ConversationStore, Message, Session, SessionId, SessionSummary, StoreError, Timestamp};
use std::collections::VecDeque;

/// Result of comparing two sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// They are equal, apart from parents and a title that had to change.
    Same,
    /// The target has it in an earlier state.
    Behind {
        /// Number of its messages in the target.
        messages: u64,
    },
    /// They differ in this respect.
    Other(String),
}

/// Returns whether all values that a list shows are equal. Messages are not compared; the proof does that.
pub(super) fn is_same_at_a_glance(row: &SessionSummary, there: &SessionSummary) -> bool {
    let bits = |time: Timestamp| time.seconds().to_bits();
    row.source == there.source
        && row.user_id == there.user_id
        && row.model == there.model
        && bits(row.started_at) == bits(there.started_at)
        && row.ended_at.map(bits) == there.ended_at.map(bits)
        && row.end_reason == there.end_reason
        && row.message_count == there.message_count
        && row.tool_call_count == there.tool_call_count
        && row.usage == there.usage
        && row.title == there.title
        && row.last_active == there.last_active
        && row.preview == there.preview
}

/// Compares a session of the source, in the form that any store can keep, with that of the target. The relation to the
/// parent is left to linking.
pub(super) async fn standing(
    from: &dyn ConversationStore,
    to: &dyn ConversationStore,
    session: &Session,
) -> Result<Standing, StoreError> {
    let there = match to.session(&session.id).await {
        Ok(Some(there)) => there,
        Ok(None) => return Ok(Standing::Other("it was removed from the target meanwhile".into())),
        Err(StoreError::Corrupt { what, .. }) => {
            return Ok(Standing::Other(format!("the existing one is damaged: {what}")));
        }
        Err(error) => return Err(error),
    };
    let is_titled = there.title == session.title || is_renamed(to, &there, session).await?;
    let column = if is_titled { difference(&there, session) } else { Some("title") };
    let may_be_earlier = is_earlier(&there, session, is_titled);
    if let Some(column) = column.filter(|_| !may_be_earlier) {
        return Ok(Standing::Other(format!("{column} differs")));
    }
    let (mut ours, mut theirs) = (Messages::new(from, &session.id), Messages::new(to, &session.id));
    let mut place = 0;
    loop {
        match (ours.next(&mut Vec::new()).await?, theirs.next(&mut Vec::new()).await?) {
            (Some(ours), Some(theirs)) if is_same_message(&theirs, &ours) => place += 1,
            (Some(_), Some(_)) => {
                let what = format!("message {} differs", place + 1);
                return Ok(Standing::Other(format!("{what}{}", lacking(from, to, &session.id).await?)));
            }
            (None, Some(_)) => return Ok(Standing::Other(format!("message {} is not in the source", place + 1))),
            (None, None) if column.is_none() => return Ok(Standing::Same),
            (Some(_), None) if !may_be_earlier => {
                let what = format!("message {} is missing", place + 1);
                return Ok(Standing::Other(format!("{what}{}", lacking(from, to, &session.id).await?)));
            }
            (Some(_) | None, None) => return Ok(Standing::Behind { messages: place }),
        }
    }
}

/// Returns how many messages of the source are not in the target, as the end of a sentence; empty if it has as many.
async fn lacking(
    from: &dyn ConversationStore,
    to: &dyn ConversationStore,
    id: &SessionId,
) -> Result<String, StoreError> {
    let mut counts = [0_u64; 2];
    for (count, store) in counts.iter_mut().zip([from, to]) {
        let mut messages = Messages::new(store, id);
        while messages.next(&mut Vec::new()).await?.is_some() {
            *count += 1;
        }
    }
    let [ours, theirs] = counts;
    Ok(match ours.saturating_sub(theirs) {
        0 => String::new(),
        missing => format!("; {missing} of {ours} messages are missing"),
    })
}

/// Returns whether the differences may be later changes: values where there were none, and counters that rose.
fn is_earlier(there: &Session, session: &Session, is_titled: bool) -> bool {
    fn came<T: PartialEq>(before: Option<&T>, now: Option<&T>) -> bool {
        before.is_none() || before == now
    }
    let (before, now) = (&there.usage, &session.usage);
    let counters = [
        (there.message_count, session.message_count),
        (there.tool_call_count, session.tool_call_count),
        (before.input_tokens, now.input_tokens),
        (before.output_tokens, now.output_tokens),
        (before.cache_read_tokens, now.cache_read_tokens),
        (before.cache_write_tokens, now.cache_write_tokens),
        (before.reasoning_tokens, now.reasoning_tokens),
        (before.api_call_count, now.api_call_count),
    ];
    there.source == session.source
        && there.started_at.seconds().to_bits() == session.started_at.seconds().to_bits()
        && there.handoff == session.handoff
        && there.archived == session.archived
        && there.extra == session.extra
        && came(there.user_id.as_ref(), session.user_id.as_ref())
        && came(there.model.as_ref(), session.model.as_ref())
        && came(there.model_config.as_ref(), session.model_config.as_ref())
        && came(there.system_prompt.as_ref(), session.system_prompt.as_ref())
        && came(there.ended_at.as_ref(), session.ended_at.as_ref())
        && came(there.end_reason.as_ref(), session.end_reason.as_ref())
        && (is_titled || there.title.is_none())
        && counters.iter().all(|(before, now)| before <= now)
}

/// Iterates over the messages of a session, in the form that any store can keep.
pub(super) struct Messages<'a> {
    pages: Pages<'a>,
    page: VecDeque<Message>,
}

impl<'a> Messages<'a> {
    pub(super) fn new(store: &'a dyn ConversationStore, session: &SessionId) -> Self {
        Self { pages: Pages::new(store, session), page: VecDeque::new() }
    }

    /// Returns the next message; `None` after the last one.
    pub(super) async fn next(&mut self, lost: &mut Vec<String>) -> Result<Option<Message>, StoreError> {
        if self.page.is_empty() {
            self.page = self.pages.next().await?.into();
        }
        Ok(self.page.pop_front().map(|message| portable::message(message, lost)))
    }
}
