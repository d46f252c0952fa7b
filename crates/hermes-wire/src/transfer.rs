//! Copying a store to another, adopting a file, detaching from one.

use crate::changes::MessageStates;
use hermes_session::SessionId;
use hermes_session::transfer;
use schemars::JsonSchema;
use serde::Serialize;

/// The result of a copy. The exit code is 1 if messages or columns were not copied, or there are conflicts or
/// unreadable rows; 3 if the proof fails for another reason.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Migrated<'a> {
    /// Whether nothing was written.
    pub dry_run: bool,
    /// The source, without passwords.
    pub from: &'a str,
    /// The target, without passwords.
    pub to: &'a str,
    /// The session after which an interrupted copy was continued; `null` if it began at the start.
    pub resumed_after: Option<&'a str>,
    /// How many sessions were copied.
    pub sessions: u64,
    /// How many messages were copied.
    pub messages: u64,
    /// Those messages by state.
    pub states: MessageStates,
    /// Sessions that the target has already.
    pub skipped: u64,
    /// Sessions that the target had in an earlier state, and that were completed.
    pub caught_up: u64,
    /// Ids of sessions that the target has with other content; they stay as they are.
    pub conflicts: Vec<&'a str>,
    /// Rows of the source that can't be read, or that no store accepts.
    pub unreadable: u64,
    /// Values beside the sessions that were copied.
    pub values: u64,
    /// Rows about topics that were copied.
    pub topics: u64,
    /// Conversations that got a pin or tags.
    pub marks: u64,
    /// Records of live data that were copied: routes, cursors, open turns, mail, causes of resets.
    pub live: u64,
    /// Messages that the search indexes of the target hold.
    pub fts_entries: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// How many findings there are.
    pub found: u64,
    /// The first 1,000 findings.
    pub findings: Vec<TransferFinding<'a>>,
    /// The comparison of both stores; `null` after a dry run.
    pub proof: Option<Proof<'a>>,
}

/// A finding of a copy.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TransferFinding<'a> {
    /// `conflict`, `unreadable`, `column`, `title`, `parent`, `changed`, `value`, `topic` or `foreign`.
    pub kind: &'a str,
    /// The session, if it is about one.
    pub session_id: Option<&'a str>,
    /// A description of the finding.
    pub what: &'a str,
}

impl<'a> TransferFinding<'a> {
    /// Returns the findings of a report.
    pub fn all(report: &'a transfer::TransferReport) -> Vec<Self> {
        let finding = |finding: &'a transfer::Finding| Self {
            kind: finding.kind.as_str(),
            session_id: finding.session.as_ref().map(SessionId::as_str),
            what: &finding.what,
        };
        report.findings.iter().map(finding).collect()
    }
}

/// The comparison of two stores.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Proof<'a> {
    /// Whether the target holds everything that the source holds.
    pub holds: bool,
    /// How many sessions were compared.
    pub sessions: u64,
    /// How many messages were compared.
    pub messages: u64,
    /// The messages of the source by state.
    pub states_from: MessageStates,
    /// The messages of the target by state.
    pub states_to: MessageStates,
    /// Messages of the source that the target lacks.
    pub missing: u64,
    /// Sessions that are equal, including those counted by the next three keys.
    pub equal: u64,
    /// Sessions whose messages have other ids.
    pub renumbered: u64,
    /// Sessions that have another title.
    pub renamed: u64,
    /// Sessions that lost their parent.
    pub unlinked: u64,
    /// Sessions that were not compared: conflicts and unreadable ones.
    pub left_out: u64,
    /// Conversations whose pins and tags were compared.
    pub marks: u64,
    /// Records of live data of the source that were compared.
    pub live: u64,
    /// Those of them that are not in the target.
    pub live_missing: u64,
    /// The hash over the hashes of all sessions of the source.
    pub sha256_from: &'a str,
    /// The hash over the hashes of all sessions of the target.
    pub sha256_to: &'a str,
    /// How many sessions are different.
    pub mismatch_count: u64,
    /// The first 1,000 of them.
    pub mismatches: Vec<Mismatch<'a>>,
    /// Searches that were run on both stores.
    pub queries: Vec<ProofQuery<'a>>,
}

/// A session that differs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Mismatch<'a> {
    /// The session.
    pub session_id: &'a str,
    /// The difference.
    pub what: &'a str,
    /// Whether the source has more.
    pub behind: bool,
}

/// A search that was run on both stores.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProofQuery<'a> {
    /// The word.
    pub word: &'a str,
    /// Hits in the source.
    pub hits: u64,
    /// Hits that the target lacks.
    pub missing: u64,
    /// Hits that only the target has.
    pub extra: u64,
}

impl<'a> From<&'a transfer::Proof> for Proof<'a> {
    fn from(proof: &'a transfer::Proof) -> Self {
        let mismatches = proof.found.iter().map(|mismatch| Mismatch {
            session_id: mismatch.session.as_str(),
            what: &mismatch.what,
            behind: mismatch.is_behind,
        });
        let queries = proof.queries.iter().map(|query| ProofQuery {
            word: &query.word,
            hits: query.hits,
            missing: query.missing,
            extra: query.extra,
        });
        Self {
            holds: proof.holds(),
            sessions: proof.sessions,
            messages: proof.messages,
            states_from: proof.states.0.into(),
            states_to: proof.states.1.into(),
            missing: proof.missing,
            equal: proof.equal,
            renumbered: proof.renumbered,
            renamed: proof.renamed,
            unlinked: proof.unlinked,
            left_out: proof.left_out,
            marks: proof.pins_and_tags,
            live: proof.live,
            live_missing: proof.live_missing,
            sha256_from: &proof.hashes.0,
            sha256_to: &proof.hashes.1,
            mismatch_count: proof.mismatches,
            mismatches: mismatches.collect(),
            queries: queries.collect(),
        }
    }
}

/// The objects that were added to a store when it was adopted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Adopted<'a> {
    /// Location of the store, without passwords.
    pub location: &'a str,
    /// Whether there was nothing to do.
    pub was_adopted: bool,
    /// Names of the tables, indexes, views and triggers that were added; empty on a server.
    pub added: &'a [String],
    /// Texts for people, such as where a copy is kept.
    pub notices: &'a [String],
}

/// The objects that were removed from a store when it was detached.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Detached<'a> {
    /// The path of the store.
    pub store: String,
    /// Whether anything in it belonged to hermes.
    pub was_ours: bool,
    /// How many tables, indexes, views and triggers were removed.
    pub objects: u64,
    /// Conversations that were in the trash.
    pub trashed: u64,
    /// Conversations that were pinned.
    pub pins: u64,
    /// Conversations that had tags.
    pub tags: u64,
    /// Sessions whose archiving only hermes knew: the file has no column for it.
    pub archived: u64,
    /// Routes of chats.
    pub routes: u64,
    /// Accounts with a position up to which they have received messages.
    pub cursors: u64,
    /// Undone messages for which the agent's table has no column.
    pub undone: u64,
    /// Rows of the agent's other tables that were in the trash with their sessions.
    pub rows: Vec<TableRows<'a>>,
    /// The file that holds all of that now; `null` if there were none, or with
    /// `--discard`.
    pub kept: Option<String>,
    /// How many sessions got `_branched_from` or `_delegate_from` in their `model_config`.
    pub relations: u64,
    /// Ids of sessions whose `model_config` is not a JSON object.
    pub relations_left: Vec<&'a str>,
    /// Copies of the store that are left.
    pub backups: Vec<String>,
}

/// Rows of a table.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TableRows<'a> {
    /// The table.
    pub table: &'a str,
    /// Number of rows.
    pub rows: u64,
}
