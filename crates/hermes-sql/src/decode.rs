//! Rows → domain values. A column with an invalid value is reported as a fault; the other columns are still read.

use crate::stored;
use hermes_session::{
    Content, EndReason, Extra, Fault, HandoffColumns, Json, Message, MessageBody, MessageId, Relation, Role, Session,
    SessionId, SessionSummary, Source, Timestamp, Unreadable, Usage,
};

/// One value of a row, borrowed from the driver.
#[derive(Debug, Clone, Copy)]
pub enum Cell<'a> {
    /// SQL NULL.
    Null,
    /// A whole number.
    Integer(i64),
    /// A double.
    Real(f64),
    /// Text. A foreign writer may have stored bytes that are not valid UTF-8.
    Text(&'a [u8]),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Content of a server: its kind and its text, see [`stored::recall`].
    Kept(&'a str, &'a str),
}

impl Cell<'_> {
    fn raw(self) -> Vec<u8> {
        match self {
            Cell::Null => Vec::new(),
            Cell::Integer(number) => number.to_string().into_bytes(),
            Cell::Real(number) => number.to_string().into_bytes(),
            Cell::Text(bytes) | Cell::Bytes(bytes) => bytes.to_vec(),
            Cell::Kept(_, text) => text.as_bytes().to_vec(),
        }
    }
}

/// A row of any driver.
pub trait SqlRow {
    /// Returns the value of a column by its index.
    fn cell(&self, index: usize) -> Cell<'_>;
}

/// Reads a row from left to right and collects the columns that could not be read.
struct Reader<'r> {
    row: &'r dyn SqlRow,
    at: usize,
    faults: Vec<Fault>,
}

impl<'r> Reader<'r> {
    fn new(row: &'r dyn SqlRow) -> Self {
        Self { row, at: 0, faults: Vec::new() }
    }

    fn next(&mut self) -> Cell<'r> {
        self.at += 1;
        self.row.cell(self.at - 1)
    }

    fn fault(&mut self, column: &'static str, why: &str, raw: Vec<u8>) {
        self.faults.push(Fault { column, why: why.to_owned(), raw });
    }

    fn text(&mut self, column: &'static str) -> Option<String> {
        match self.next() {
            Cell::Null => None,
            Cell::Text(bytes) | Cell::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Some(text.to_owned()),
                Err(_) => {
                    self.fault(column, "is not UTF-8", bytes.to_vec());
                    Some(String::from_utf8_lossy(bytes).into_owned())
                }
            },
            number => Some(String::from_utf8_lossy(&number.raw()).into_owned()),
        }
    }

    fn integer(&mut self, column: &'static str) -> Option<i64> {
        match self.next() {
            Cell::Null => None,
            Cell::Integer(number) => Some(number),
            Cell::Real(number) if number.fract() == 0.0 && number.abs() < 9e18 => Some(number as i64),
            other => {
                self.fault(column, "is not a whole number", other.raw());
                None
            }
        }
    }

    /// Reads a counter. NULL counts as zero, as in the agent.
    fn count(&mut self, column: &'static str) -> i64 {
        self.integer(column).unwrap_or(0)
    }

    fn double(&mut self, column: &'static str) -> Option<f64> {
        match self.next() {
            Cell::Null => None,
            Cell::Real(number) => Some(number),
            Cell::Integer(number) => Some(number as f64),
            other => {
                self.fault(column, "is not a number", other.raw());
                None
            }
        }
    }

    fn time(&mut self, column: &'static str) -> Option<Timestamp> {
        let seconds = self.double(column)?;
        Timestamp::from_seconds(seconds)
            .map_err(|_| self.fault(column, "is not a time", seconds.to_string().into_bytes()))
            .ok()
    }

    fn json(&mut self, column: &'static str) -> Option<Json> {
        let text = self.text(column)?;
        match Json::parse(&text) {
            Ok(json) => Some(json),
            Err(error) => {
                self.fault(column, &error.to_string(), text.into_bytes());
                None
            }
        }
    }

    fn content(&mut self) -> Option<Content> {
        match self.next() {
            Cell::Null => None,
            Cell::Text(bytes) => Some(match String::from_utf8(bytes.to_vec()) {
                Ok(text) => stored::decode(text),
                Err(error) => Content::Bytes(error.into_bytes()),
            }),
            Cell::Bytes(bytes) => Some(Content::Bytes(bytes.to_vec()).normalized()),
            Cell::Kept(kind, text) => Some(stored::recall(kind, text.to_owned())),
            number => Some(Content::Text(String::from_utf8_lossy(&number.raw()).into_owned())),
        }
    }

    fn role(&mut self) -> Role {
        match self.next() {
            Cell::Text(bytes) => Role::from_stored(&String::from_utf8_lossy(bytes)),
            other => Role::from_stored(&String::from_utf8_lossy(&other.raw())),
        }
    }

    fn id(&mut self, column: &'static str) -> Option<SessionId> {
        self.text(column).map(SessionId::from_stored)
    }

    fn usage(&mut self) -> Usage {
        Usage {
            input_tokens: self.count("input_tokens"),
            output_tokens: self.count("output_tokens"),
            cache_read_tokens: self.count("cache_read_tokens"),
            cache_write_tokens: self.count("cache_write_tokens"),
            reasoning_tokens: self.count("reasoning_tokens"),
            api_call_count: self.count("api_call_count"),
            estimated_cost_usd: self.double("estimated_cost_usd"),
            actual_cost_usd: self.double("actual_cost_usd"),
            cost_status: self.text("cost_status"),
            cost_source: self.text("cost_source"),
            pricing_version: self.text("pricing_version"),
            billing_provider: self.text("billing_provider"),
            billing_base_url: self.text("billing_base_url"),
            billing_mode: self.text("billing_mode"),
        }
    }

    /// Reads the relation of a session to its parent. A row that was never stamped is a delegate if it has a parent,
    /// otherwise a root.
    fn relation(&mut self, has_parent: bool) -> Relation {
        let unstamped = if has_parent { Relation::Delegate } else { Relation::Root };
        match self.text("relation") {
            None => unstamped,
            Some(text) => Relation::from_stored(&text).unwrap_or_else(|| {
                self.fault("relation", "is not a relation", text.into_bytes());
                unstamped
            }),
        }
    }
}

fn unreadable(table: &'static str, id: String, why: &str) -> Unreadable {
    Unreadable { table, id, why: why.to_owned() }
}

/// Decodes a session from [`crate::columns::SESSION`] and its relation.
///
/// # Errors
/// Fails if the row has no id or no start time: nothing can be said about such a row.
pub fn session(row: &dyn SqlRow) -> Result<Session, Unreadable> {
    let mut read = Reader::new(row);
    let Some(id) = read.id("id") else { return Err(unreadable("sessions", "NULL".into(), "the id is missing")) };
    let source = Source::from_stored(read.text("source").unwrap_or_default());
    let user_id = read.text("user_id");
    let model = read.text("model");
    let model_config = read.json("model_config");
    let system_prompt = read.text("system_prompt");
    let parent_session_id = read.id("parent_session_id");
    let Some(started_at) = read.time("started_at") else {
        return Err(unreadable("sessions", id.to_string(), "started_at is not a time"));
    };
    let ended_at = read.time("ended_at");
    let end_reason = read.text("end_reason").map(EndReason::from_stored);
    let message_count = read.count("message_count");
    let tool_call_count = read.count("tool_call_count");
    let usage = read.usage();
    let title = read.text("title");
    let handoff = HandoffColumns {
        state: read.text("handoff_state"),
        platform: read.text("handoff_platform"),
        error: read.text("handoff_error"),
    };
    let relation = read.relation(parent_session_id.is_some());
    Ok(Session {
        id,
        source,
        user_id,
        model,
        model_config,
        system_prompt,
        parent_session_id,
        relation,
        started_at,
        ended_at,
        end_reason,
        message_count,
        tool_call_count,
        usage,
        title,
        handoff,
        archived: false,
        extra: Extra::new(),
        faults: read.faults,
    })
}

/// Decodes the counters of a session from [`crate::columns::USAGE`].
pub fn usage(row: &dyn SqlRow) -> Usage {
    Reader::new(row).usage()
}

/// Decodes a row of a list from [`crate::columns::SUMMARY`], followed by its last activity, preview and number of
/// sessions.
///
/// # Errors
/// Fails if the row has no id or no times.
pub fn summary(row: &dyn SqlRow) -> Result<SessionSummary, Unreadable> {
    let mut read = Reader::new(row);
    let Some(id) = read.id("id") else { return Err(unreadable("sessions", "NULL".into(), "the id is missing")) };
    let conversation = read.id("root").unwrap_or_else(|| id.clone());
    let source = Source::from_stored(read.text("source").unwrap_or_default());
    let user_id = read.text("user_id");
    let model = read.text("model");
    let parent_session_id = read.id("parent_session_id");
    let relation = read.relation(parent_session_id.is_some());
    let Some(started_at) = read.time("started_at") else {
        return Err(unreadable("sessions", id.to_string(), "started_at is not a time"));
    };
    let mut summary = SessionSummary {
        id,
        conversation,
        source,
        user_id,
        model,
        parent_session_id,
        relation,
        started_at,
        ended_at: read.time("ended_at"),
        end_reason: read.text("end_reason").map(EndReason::from_stored),
        message_count: read.count("message_count"),
        tool_call_count: read.count("tool_call_count"),
        messages: 0,
        tool_calls: 0,
        usage: read.usage(),
        title: read.text("title"),
        last_active: read.time("last_active").unwrap_or(started_at),
        preview: read.text("preview").unwrap_or_default(),
        segments: u64::try_from(read.count("segments")).unwrap_or(1),
        pinned_at: None,
        tags: Vec::new(),
        is_archived: false,
    };
    // Correct for a row of one session whose messages are all active; for the others the caller counts.
    (summary.messages, summary.tool_calls) = (summary.message_count, summary.tool_call_count);
    Ok(summary)
}

/// Decodes a message of `session` from [`crate::columns::MESSAGE`]. An unreadable time is reported as a fault and
/// becomes zero.
pub fn message(row: &dyn SqlRow, session: &SessionId) -> Message {
    let mut read = Reader::new(row);
    let id = MessageId(read.count("id"));
    // Usually all messages of one session are read at once, so share the caller's id instead of allocating one per
    // message.
    let session_id = match read.next() {
        Cell::Text(bytes) if bytes == session.as_str().as_bytes() => session.clone(),
        other => SessionId::from_stored(String::from_utf8_lossy(&other.raw()).as_ref()),
    };
    let timestamp = read.time("timestamp").unwrap_or_else(|| {
        if read.faults.is_empty() {
            read.fault("timestamp", "is missing", Vec::new());
        }
        Timestamp::from_seconds(0.0).expect("zero is finite")
    });
    let body = MessageBody {
        role: read.role(),
        content: read.content(),
        tool_call_id: read.text("tool_call_id"),
        tool_calls: read.json("tool_calls"),
        tool_name: read.text("tool_name"),
        token_count: read.integer("token_count"),
        finish_reason: read.text("finish_reason"),
        reasoning: read.text("reasoning"),
        reasoning_content: read.text("reasoning_content"),
        reasoning_details: read.json("reasoning_details"),
        codex_reasoning_items: read.json("codex_reasoning_items"),
        codex_message_items: read.json("codex_message_items"),
    };
    Message { faults: read.faults, ..Message::new(id, session_id, timestamp, body) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row(Vec<Cell<'static>>);

    impl SqlRow for Row {
        fn cell(&self, index: usize) -> Cell<'_> {
            self.0[index]
        }
    }

    #[test]
    fn one_bad_column_hides_nothing_else() {
        let mut cells = vec![Cell::Null; 15];
        cells[0] = Cell::Integer(7);
        cells[1] = Cell::Text(b"s");
        cells[2] = Cell::Text(b"soon");
        cells[3] = Cell::Text(b"user");
        cells[4] = Cell::Text(b"a\xff");
        cells[6] = Cell::Text(b"{broken");
        let message = message(&Row(cells), &SessionId::from_stored("s"));
        assert_eq!(message.body.content, Some(Content::Bytes(b"a\xff".to_vec())));
        assert_eq!(message.faults.iter().map(|fault| fault.column).collect::<Vec<_>>(), ["timestamp", "tool_calls"]);
        assert_eq!(message.faults[1].raw, b"{broken");
    }

    #[test]
    fn a_session_needs_an_id_and_a_start() {
        let mut cells = vec![Cell::Null; 31];
        assert_eq!(session(&Row(cells.clone())).unwrap_err().why, "the id is missing");
        cells[0] = Cell::Text(b"x");
        cells[7] = Cell::Text(b"never");
        assert_eq!(session(&Row(cells.clone())).unwrap_err().id, "x");
        cells[7] = Cell::Integer(5);
        cells[10] = Cell::Text(b"many");
        let session = session(&Row(cells)).unwrap();
        assert_eq!((session.started_at.seconds(), session.message_count), (5.0, 0));
        assert_eq!(session.faults[0].column, "message_count");
    }
}
