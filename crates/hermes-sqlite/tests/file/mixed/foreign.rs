//! The foreign writer: plain SQL, as the agent writes it.

use super::step::{Foreign, text};
use super::{World, name};
use crate::inline::inline_indexes;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, TransactionBehavior, params};

impl World {
    pub(super) fn foreign(&mut self, step: &Foreign) -> Result<(), rusqlite::Error> {
        let nth = |place: usize| self.messages.keys().copied().nth(place % self.messages.len().max(1));
        match step {
            Foreign::Insert(session, kind) => {
                let session = name(*session);
                let hidden =
                    self.foreign.prepare("SELECT 1 FROM hx_hidden WHERE session_id = ?")?.exists([&session])?;
                if hidden {
                    return Ok(());
                }
                self.foreign.execute(
                    "INSERT OR IGNORE INTO sessions (id, source, started_at) VALUES (?, 'cli', 1.0)",
                    [&session],
                )?;
                let bytes = text(*kind);
                // Invalid UTF-8 comes as a blob or as text, in turn.
                let content = match kind % 2 {
                    0 if std::str::from_utf8(&bytes).is_err() => ValueRef::Blob(&bytes),
                    _ => ValueRef::Text(&bytes),
                };
                self.foreign.execute(
                    "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, 4.0)",
                    params![session, ToSqlOutput::Borrowed(content)],
                )?;
                self.messages.insert(self.foreign.last_insert_rowid(), session);
                Ok(())
            }
            Foreign::Change(place, kind) => {
                let Some(message) = nth(*place) else { return Ok(()) };
                self.foreign.execute(
                    "UPDATE messages SET content = ?, tool_name = NULL WHERE id = ?",
                    params![ToSqlOutput::Borrowed(ValueRef::Text(&text(*kind))), message],
                )?;
                Ok(())
            }
            Foreign::Touch(place) => {
                let Some(message) = nth(*place) else { return Ok(()) };
                self.foreign.execute("UPDATE messages SET token_count = 7 WHERE id = ?", [message])?;
                Ok(())
            }
            Foreign::Remove(place) => {
                let Some(message) = nth(*place) else { return Ok(()) };
                self.foreign.execute("DELETE FROM messages WHERE id = ?", [message])?;
                self.messages.remove(&message);
                Ok(())
            }
            Foreign::RemoveSession(session) => {
                let session = name(*session);
                let transaction = self.foreign.transaction_with_behavior(TransactionBehavior::Immediate)?;
                transaction
                    .execute("UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?", [&session])?;
                transaction.execute("DELETE FROM messages WHERE session_id = ?", [&session])?;
                transaction.execute("DELETE FROM sessions WHERE id = ?", [&session])?;
                transaction.commit()?;
                self.messages.retain(|_, of| *of != session);
                Ok(())
            }
            Foreign::Retrigger(which) => {
                self.is_retriggered = true;
                let all = inline_indexes();
                let statement = all.split_inclusive(" END;").nth(*which).unwrap();
                let statement = &statement[statement.find("CREATE TRIGGER").unwrap()..];
                let trigger = statement.split_whitespace().nth(2).unwrap().to_owned();
                let transaction = self.foreign.transaction_with_behavior(TransactionBehavior::Immediate)?;
                transaction.execute_batch(&format!("DROP TRIGGER IF EXISTS {trigger}; {statement}"))?;
                transaction.commit()
            }
            Foreign::Optimize => self.command("optimize"),
            Foreign::Rebuild => self.command("rebuild"),
            Foreign::Vacuum => match self.foreign.execute_batch("VACUUM") {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
                outcome => outcome,
            },
            Foreign::FillAnew => {
                self.is_broken = true;
                let transaction = self.foreign.transaction_with_behavior(TransactionBehavior::Immediate)?;
                for table in ["messages_fts", "messages_fts_trigram"] {
                    transaction.execute_batch(&format!(
                        "DELETE FROM {table}; INSERT INTO {table}(rowid, content) SELECT id, COALESCE(content, '') || ' ' || \
                         COALESCE(tool_name, '') || ' ' || COALESCE(tool_calls, '') FROM messages;"
                    ))?;
                }
                transaction.commit()
            }
        }
    }

    pub(super) fn command(&self, command: &str) -> Result<(), rusqlite::Error> {
        ["messages_fts", "messages_fts_trigram"].iter().try_for_each(|table| {
            self.foreign.execute_batch(&format!("INSERT INTO {table}({table}) VALUES('{command}')"))
        })
    }
}
