//! Messages that were stored again when a context was compressed.

use super::super::row::{self, given};
use super::super::{Fields as _, LIST, Sql, among};
use super::{PAGE, groups, sizes};
use crate::{columns, values};
use hermes_session::insights::{SessionFacts, Trace, repeats};
use hermes_session::{InsightsRequest, MessageId, SessionId};
use std::collections::{HashMap, HashSet};

/// Messages that do not count where they are, because they are repetitions.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    messages: HashSet<MessageId>,
    /// Number of tool results among them, by the name of the tool.
    results: HashMap<String, u64>,
}

impl Repeated {
    /// Finds the repetitions in chains of sessions and subtracts them from the counts.
    pub(super) async fn of<T: Sql>(
        transaction: &T,
        chains: Vec<Vec<SessionId>>,
        places: &HashMap<SessionId, usize>,
        sessions: &mut [SessionFacts],
    ) -> Result<Self, T::Failure> {
        let mut found = Self::default();
        for chain in chains {
            let mut before = Vec::new();
            for id in chain {
                let (said, compacted) = traces(transaction, &id).await?;
                let repeated = repeats(&before, &said, compacted);
                if let Some(place) = places.get(&id) {
                    found.add(transaction, repeated, &mut sessions[*place]).await?;
                }
                before = if said.is_empty() { before } else { said };
            }
        }
        Ok(found)
    }

    async fn add<T: Sql>(
        &mut self,
        transaction: &T,
        mut repeated: Vec<MessageId>,
        facts: &mut SessionFacts,
    ) -> Result<(), T::Failure> {
        // Two chains made by a foreign writer may share a session.
        repeated.retain(|id| self.messages.insert(*id));
        for some in repeated.chunks(LIST) {
            let (among, values) = among("id", 1, some.iter().map(|id| id.0));
            let sql = format!("SELECT role, tool_name FROM messages WHERE {among}");
            for row in transaction.rows(&sql, values).await? {
                let role: String = row.try_get(0)?;
                facts.messages.discount(&role, 1);
                if let Some(tool) = given(&row, 1).filter(|_| role == "tool") {
                    *self.results.entry(tool).or_default() += 1;
                }
            }
        }
        Ok(())
    }

    pub(super) fn contains(&self, id: i64) -> bool {
        self.messages.contains(&MessageId(id))
    }

    /// Returns the number of results of this tool among them.
    pub(super) fn results(&self, tool: &str) -> u64 {
        self.results.get(tool).copied().unwrap_or(0)
    }
}

/// Adds the sessions of the span that were compacted in place, each as its own chain.
pub(super) async fn add_compacted<T: Sql>(
    transaction: &T,
    request: &InsightsRequest,
    chains: &mut Vec<Vec<SessionId>>,
) -> Result<(), T::Failure> {
    let (span, values) = super::span(transaction, request, "");
    let sql = format!(
        "SELECT s.id {span} AND EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id AND m.compacted = 1 AND m.active = 0) \
         ORDER BY s.id"
    );
    let there: HashSet<SessionId> = chains.iter().flatten().cloned().collect();
    for row in transaction.rows(&sql, values).await? {
        let id = row.id(0)?;
        if !there.contains(&id) {
            chains.push(vec![id]);
        }
    }
    Ok(())
}

/// Returns the traces of a session's messages in order, and the number of its compacted messages.
async fn traces<T: Sql>(transaction: &T, id: &SessionId) -> Result<(Vec<Trace>, usize), T::Failure> {
    let sql = format!(
        "SELECT id, coalesce(octet_length(content), 0) + coalesce(octet_length(tool_calls), 0) FROM messages \
         WHERE session_id = $1 AND id > $2 AND {} ORDER BY id LIMIT $3",
        row::WAS_SAID
    );
    let compacted = "SELECT count(*) FROM messages WHERE session_id = $1 AND active = 0 AND compacted = 1";
    let compacted = transaction.one(compacted, values![id.as_str()]).await?.try_get::<i64>(0)?.unsigned_abs() as usize;
    let (mut said, mut last) = (Vec::new(), i64::MIN);
    loop {
        let sizes = sizes(transaction, &sql, values![id.as_str(), last, PAGE]).await?;
        for some in groups(&sizes) {
            let (among, values) = among("id", 1, some);
            let sql = format!("SELECT {}, content_kind FROM messages WHERE {among} ORDER BY id", columns::COMPARED);
            let rows = transaction.rows(&sql, values).await?;
            said.extend(rows.iter().map(|row| Trace::of(&row::compared(row, id))));
        }
        let Some((end, _)) = sizes.last().filter(|_| sizes.len() == PAGE) else { return Ok((said, compacted)) };
        last = *end;
    }
}
