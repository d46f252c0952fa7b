//! The documents of `erase`.

use crate::reports::EraseOutcome;
use hermes_rescue::{Erased, Rewritten};
use hermes_wire::{document, erase as wire};
use std::path::Path;

const fn rewritten(rewritten: Rewritten) -> &'static str {
    match rewritten {
        Rewritten::Done => "done",
        Rewritten::InUse => "in use",
        Rewritten::NoRoom => "no room",
    }
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

/// Returns what was erased, and what was proven.
pub(crate) fn erased(outcome: &EraseOutcome) -> String {
    let proof = outcome.erased.as_ref().map(|erased| wire::ErasureProof {
        rewritten: rewritten(erased.rewritten),
        needles: erased.needles,
        words: erased.words,
        scanned_bytes: erased.scanned,
        left: erased.left.iter().map(|left| path(&left.path)).collect(),
        words_left: erased.words_left,
        tables_left: erased.tables_left.iter().map(AsRef::as_ref).collect(),
    });
    document(&wire::Erased {
        id: outcome.id.as_str(),
        sessions: outcome.deleted.sessions,
        messages: outcome.deleted.messages,
        files: outcome.files,
        elsewhere: outcome.elsewhere.iter().map(|file| path(file)).collect(),
        clean: outcome.erased.as_ref().map(Erased::is_clean),
        proof,
    })
}

/// Returns the result of an erasure that was interrupted and is done now.
pub(crate) fn finished(erased: &Erased, files: u64) -> String {
    document(&wire::Finished { files, rewritten: rewritten(erased.rewritten), clean: erased.is_clean() })
}
