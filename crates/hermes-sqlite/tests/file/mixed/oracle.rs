//! The conditions that must hold in the end.

use super::{Done, MAX_STEPS, World, wrong};
use crate::verify::told;
use hermes_session::{Maintenance as _, Optimizing};
use std::collections::BTreeSet;

impl World {
    pub(super) async fn settle(&self) -> Done {
        for _ in 0..MAX_STEPS {
            if !self.store().upkeep().await.map_err(|error| format!("upkeep: {error}"))? {
                return Ok(());
            }
        }
        Err("upkeep does not end".to_owned())
    }

    /// Returns the findings of verify, except those about counters, for which the foreign writer is responsible.
    pub(super) async fn findings(&self) -> Result<Vec<String>, String> {
        let mut found = told(&self.store().verify().await.map_err(wrong)?);
        found.retain(|line| !line.starts_with("counters: "));
        Ok(found)
    }

    pub(super) async fn end(&mut self) -> Done {
        self.settle().await?;
        self.are_there()?;
        let mut found = self.findings().await?;
        if self.is_broken && !found.is_empty() {
            self.store().rebuild_indexes().await.map_err(wrong)?;
            found.clear();
        }
        if !found.is_empty() {
            return Err(format!("before optimize: {found:#?}"));
        }
        let mut steps = 0;
        while self.store().optimize().await.map_err(|error| format!("optimize: {error}"))? != Optimizing::Done {
            steps += 1;
            if steps > MAX_STEPS {
                return Err("optimize does not end".to_owned());
            }
        }
        self.settle().await?;
        let found = self.findings().await?;
        if !found.is_empty() {
            return Err(format!("after optimize: {found:#?}"));
        }
        self.are_there()?;
        self.are_found().map_err(wrong)?
    }

    /// Checks that every message exists once, and no other.
    pub(super) fn are_there(&self) -> Done {
        let there = self.there()?;
        if there == self.messages { Ok(()) } else { Err(format!("{there:?}\nare there, not\n{:?}", self.messages)) }
    }

    /// Checks that the indexes find what they should, and that FTS5's own check passes.
    pub(super) fn are_found(&self) -> Result<Done, rusqlite::Error> {
        for table in ["messages_fts", "messages_fts_trigram"] {
            self.foreign.execute_batch(&format!("INSERT INTO {table}({table}, rank) VALUES('integrity-check', 1)"))?;
        }
        for table in ["hx_cjk", "hx_term_trigram"] {
            self.foreign.execute_batch(&format!("INSERT INTO {table}({table}) VALUES('integrity-check')"))?;
        }
        let ids = |sql: &str, term: &str| -> Result<BTreeSet<i64>, rusqlite::Error> {
            self.foreign.prepare(sql)?.query_map([term], |row| row.get(0))?.collect()
        };
        let text =
            "CAST(coalesce(content, '') || ' ' || coalesce(tool_name, '') || ' ' || coalesce(tool_calls, '') AS BLOB)";
        let having = format!("SELECT id FROM messages WHERE instr({text}, CAST(? AS BLOB)) > 0");
        for word in ["alpha", "beta", "gamma"] {
            let found = ids("SELECT rowid FROM messages_fts WHERE messages_fts MATCH ?", word)?;
            if found != ids(&having, word)? {
                return Ok(Err(format!("{word} is found in {found:?}")));
            }
        }
        // A NUL at the beginning is left out; a text with another one is not indexed.
        let taken = format!("{having} AND instr(substr({text}, 2), x'00') = 0");
        let found = ids("SELECT rowid FROM messages_fts_trigram WHERE messages_fts_trigram MATCH ?", "大别山")?;
        let expected = ids(&taken, "大别山")?;
        if found != expected {
            return Ok(Err(format!("大别山 is found in {found:?}, not {expected:?}")));
        }
        // Our own index may over-approximate.
        let ours = ids("SELECT rowid FROM hx_cjk WHERE hx_cjk MATCH ?", "\"大别\"")?;
        if let Some(lacking) = ids(&having, "大别")?.difference(&ours).next() {
            return Ok(Err(format!("hx_cjk does not have {lacking}")));
        }
        let pending: i64 = self.foreign.query_row("SELECT count(*) FROM hx_pending", [], |row| row.get(0))?;
        Ok(if pending == 0 { Ok(()) } else { Err(format!("{pending} ranges are pending")) })
    }
}
