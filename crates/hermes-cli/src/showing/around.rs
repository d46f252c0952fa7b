//! Prints the messages around one message of a conversation.

use super::{pages, session};
use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::program;
use anstyle::Style;
use hermes_session::{
    Extent, Maintenance, Message, MessageId, MessageRequest, SessionId, StateCounts, StoreError, Window,
};
use hermes_terminal::figures::number;
use hermes_terminal::layout::wrap;
use hermes_terminal::output::Output;
use hermes_terminal::shell::shell_word;
use hermes_terminal::transcript::{Detail, Transcript};
use hermes_terminal::{Line, Visible, transcript};
use std::collections::VecDeque;

/// Number of messages shown on either side of the message.
const BESIDE: usize = 5;

/// A message in its session, with its neighbours. Messages of every state count.
pub(crate) struct Place {
    pub(crate) session: SessionId,
    /// The message and its neighbours, oldest first.
    pub(crate) messages: Vec<Message>,
    message: MessageId,
    /// Number of messages of the session before and after those.
    earlier: u64,
    later: u64,
    states: StateCounts,
}

impl Place {
    /// Looks up a message in all sessions of the conversation of `id`.
    ///
    /// # Errors
    /// If it is not in that conversation, or the store fails.
    pub(crate) async fn find(store: &dyn Maintenance, id: &SessionId, message: MessageId) -> Result<Self, CliError> {
        for session in store.lineage(id).await?.conversation(id) {
            let before = MessageId(message.0.saturating_sub(1));
            let request = MessageRequest::new(Window::After(Some(before)), 1).every();
            let found = match store.messages(&session, &request).await {
                // A session that was deleted in the meantime has no messages.
                Err(StoreError::NotFound { .. }) => continue,
                found => found?,
            };
            if found.iter().any(|found| found.id == message) {
                return Self::read(store, session, message).await;
            }
        }
        let text = format!("message {message} is not in the conversation {id}");
        let hint = format!(
            "`hermes sessions search --session {} WORD` finds messages with their ids",
            shell_word(id.as_str())
        );
        Err(CliError::new(Kind::User, text, hint))
    }

    async fn read(store: &dyn Maintenance, session: SessionId, message: MessageId) -> Result<Self, CliError> {
        let (mut before, mut rest) = (VecDeque::new(), Vec::new());
        let (mut earlier, mut later, mut states) = (0, 0, StateCounts::default());
        pages(store, &session, Extent::Every, |messages| {
            for one in messages {
                states.add(one.state);
                if one.id < message {
                    before.push_back(one.clone());
                    if before.len() > BESIDE {
                        before.pop_front();
                        earlier += 1;
                    }
                } else if rest.len() <= BESIDE {
                    rest.push(one.clone());
                } else {
                    later += 1;
                }
            }
            Ok(())
        })
        .await?;
        let messages = before.into_iter().chain(rest).collect();
        Ok(Self { session, messages, message, earlier, later, states })
    }

    /// Writes the head of the session, the messages with the one marked, and how to see the others. A pager opens at
    /// the message.
    pub(crate) async fn write(
        &self,
        context: &Context,
        store: &dyn Maintenance,
        detail: Detail,
        mut output: Output,
    ) -> Result<(), CliError> {
        let (session, segments) = session(store, &self.session).await?;
        let (now, columns) = (&context.now, context.ui.width());
        let mut lines = transcript::head(&session, self.states, &segments, now, columns);
        let mut transcript = Transcript::new(detail, context.ui.is_styled(), columns);
        for message in &self.messages {
            if message.id == self.message {
                // Line numbers count from 1, and the first line of a message is blank.
                output.open_at(lines.len() + 2);
                lines.extend(transcript.marked(message, now));
            } else {
                lines.extend(transcript.message(message, now));
            }
        }
        let name =
            format!("{} sessions show{} {}", program::name(), context.place(), shell_word(self.session.as_str()));
        let text = Visible::line(&format!("{} The whole conversation:", not_shown(self.earlier, self.later)));
        let dim = Style::new().dimmed();
        lines.push(Line::default());
        lines.extend(wrap(&text, columns).into_iter().map(|line| Line::styled(line, dim)));
        lines.push(Line::styled(format!("  {name} --all"), dim));
        output.lines(lines)?;
        Ok(output.finish()?)
    }
}

/// Returns how many messages before and after the shown ones there are.
fn not_shown(earlier: u64, later: u64) -> String {
    let (count, which) = match (earlier, later) {
        (0, 0) => return "All messages of this session are shown.".to_owned(),
        (count, 0) => (count, format!("{} earlier", number(count))),
        (0, count) => (count, format!("{} later", number(count))),
        _ => (earlier + later, format!("{} earlier and {} later", number(earlier), number(later))),
    };
    let what = if count == 1 { "message of this session is" } else { "messages of this session are" };
    format!("{which} {what} not shown.")
}

#[cfg(test)]
mod tests {
    use super::not_shown;

    #[test]
    fn messages_that_are_not_shown_are_counted_where_there_are_some() {
        for (earlier, later, expect) in [
            (0, 0, "All messages of this session are shown."),
            (0, 20, "20 later messages of this session are not shown."),
            (1, 0, "1 earlier message of this session is not shown."),
            (1, 1, "1 earlier and 1 later messages of this session are not shown."),
        ] {
            assert_eq!(not_shown(earlier, later), expect);
        }
    }
}
