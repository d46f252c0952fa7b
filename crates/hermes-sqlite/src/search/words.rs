//! Finds the messages that have a form of a word of a relaxed query.

use super::ids::Ids;
use super::leaf::{Asked, candidates, quoted};
use crate::error::Failure;
use crate::index::vocabulary::{self, Pairs};
use crate::write::database::Database;
use hermes_session::search::relax::Word;

/// Maximum number of forms of a word that are looked up.
const MAX_FORMS: usize = 500;

/// Returns the messages that have a form of a word.
pub(super) fn having(database: &Database, word: &Word, asked: &mut Asked) -> Result<Vec<i64>, Failure> {
    if word.is_piece {
        return Pairs::of(&word.word).map_or(Ok(Vec::new()), |pairs| candidates(database, &pairs));
    }
    let (mut terms, mut ids) = (vocabulary::terms_of(database, &word.word)?, Vec::new());
    for beginning in word.beginnings() {
        terms.extend(vocabulary::terms_with_prefix(database, beginning, MAX_FORMS, |form| word.takes(form))?.terms);
        // Within a run of paired characters it is not a token of its own.
        ids.extend(asked.around(database, beginning)?);
    }
    terms.sort_unstable();
    terms.dedup();
    for term in &terms {
        ids.extend(asked.matching(database, &quoted(term))?);
    }
    let Ids::Some(ids) = Ids::of(ids) else { return Ok(Vec::new()) };
    Ok(ids)
}
