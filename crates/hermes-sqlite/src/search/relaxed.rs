//! The relaxed search, for a query that matches nothing as a whole: messages with any of its words, by their stems.

use super::Search;
use super::hits::Page;
use super::ids::Ids;
use super::leaf::{candidates, matching, quoted};
use crate::error::Failure;
use crate::index::vocabulary::{self, Pairs};
use hermes_session::MessageId;
use hermes_session::search::matching::{Matcher, Tier};
use hermes_session::search::rank::{self, Found};
use hermes_session::search::relax::{self, Word};
use hermes_session::search::{SearchCursor, Way};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::time::Instant;

/// Maximum number of forms of a word that are looked up.
const MAX_FORMS: usize = 500;
/// Maximum number of messages that are ranked together with their conversations; the others follow, ranked singly.
const MAX_RANKED: usize = 2_000;

/// Fills a page with messages that have any of the words.
pub(super) fn relaxed(search: &mut Search<'_>, page: &mut Page<'_>) -> Result<(), Failure> {
    let words = relax::words(&search.request.query);
    if words.is_empty() {
        return Ok(());
    }
    search.served.is_relaxed = true;
    let found = found(search, &words)?;
    if search.is_late() {
        search.leave_time();
    }
    let Ranking { best, mut rest, weights } = ranking(search, &found, words.len())?;
    page.weigh(search.average, &weights);
    let excluded = Matcher::new(&relax::exclusions(&search.request.query));
    let mut after = search.request.after.as_ref();
    for is_rest in [false, true] {
        if is_rest {
            rest.sort_unstable_by(|left, right| right.1.total_cmp(&left.1).then(right.0.cmp(&left.0)));
        }
        let part = if is_rest { &rest } else { &best };
        let start = after.map_or(0, |cursor| place_after(part, cursor));
        if start < part.len() {
            after = None;
        }
        for (id, score) in &part[start..] {
            if search.is_late() {
                return Ok(());
            }
            let flow = search.rows.one(id.0, |said| {
                let text = said.text()?;
                let marks = relax::marks(&text, &words);
                if marks.is_empty() || excluded.tier(&text).is_none() {
                    return Ok(ControlFlow::Continue(()));
                }
                page.push(said, &text, (Tier::Pieces, Tier::Pieces, *score), |_| marks)
            })?;
            if flow.is_some_and(|flow| flow.is_break()) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Returns where a part of the answer continues after the last hit of the previous page. The order is the same as then,
/// without newer messages; if that hit is gone, its score gives its position.
fn place_after(part: &[Ranked], cursor: &SearchCursor) -> usize {
    let is_behind = |(id, score): &Ranked| score.total_cmp(&cursor.score).then(id.cmp(&cursor.message)).is_lt();
    match part.iter().position(|(id, _)| *id == cursor.message) {
        Some(place) => place + 1,
        None => part.iter().position(is_behind).unwrap_or(part.len()),
    }
}

/// Returns the candidates, sorted by id, with a bit for each word.
fn found(search: &mut Search<'_>, words: &[Word]) -> Result<Vec<(i64, u64)>, Failure> {
    let mut found: Vec<(i64, u64)> = Vec::new();
    let Some(unknown) = search.coverage.unknown() else {
        search.served.way = Way::Scan;
        let (end, newest, mut is_partial) = (search.end, search.newest, false);
        let mut aside = HashMap::new();
        search.rows.all(newest, |said| {
            is_partial = Instant::now() > end;
            if is_partial {
                return Ok(ControlFlow::Break(()));
            }
            let has = relax::words_in(&said.text()?, words);
            if has != 0 {
                found.push((said.id, has));
                aside.insert(said.id, said.length()?);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        search.served.is_partial |= is_partial;
        search.aside = aside;
        found.reverse();
        return Ok(found);
    };
    search.served.way = Way::Index;
    for (place, word) in words.iter().enumerate() {
        found.extend(having(search, word)?.into_iter().map(|id| (id, 1 << place)));
    }
    found.retain(|(id, _)| *id <= search.newest && (unknown.is_empty() || unknown.binary_search(id).is_err()));
    for id in unknown.iter().copied().filter(|id| *id <= search.newest) {
        if Instant::now() > search.end {
            search.served.is_partial = true;
            break;
        }
        let look = search.rows.one(id, |said| Ok((relax::words_in(&said.text()?, words), said.length()?)))?;
        if let Some((has, length)) = look.filter(|(has, _)| *has != 0) {
            found.push((id, has));
            search.aside.insert(id, length);
        }
    }
    if let Some(admitted) = &search.admitted {
        found.retain(|(id, _)| admitted.binary_search(id).is_ok());
    }
    found.sort_unstable_by_key(|(id, _)| *id);
    found.dedup_by(|later, before| {
        let is_same = later.0 == before.0;
        if is_same {
            before.1 |= later.1;
        }
        is_same
    });
    Ok(found)
}

/// Returns the messages that have a form of a word.
fn having(search: &mut Search<'_>, word: &Word) -> Result<Vec<i64>, Failure> {
    let database = search.database;
    if word.is_piece {
        return Pairs::of(&word.word).map_or(Ok(Vec::new()), |pairs| candidates(database, &pairs));
    }
    let (mut terms, mut ids) = (vec![word.word.clone()], Vec::new());
    for beginning in word.beginnings() {
        terms.extend(vocabulary::terms_with_prefix(database, beginning, MAX_FORMS, |form| word.takes(form))?.terms);
        // Within a run of paired characters it is not a token of its own.
        ids.extend(search.around.of(database, beginning)?);
    }
    terms.sort_unstable();
    terms.dedup();
    for term in &terms {
        ids.extend(matching(database, &quoted(term))?);
    }
    let Ids::Some(ids) = Ids::of(ids) else { return Ok(Vec::new()) };
    Ok(ids)
}

/// A message with its score.
type Ranked = (MessageId, f64);

/// The ranked messages of an answer.
struct Ranking {
    /// The best messages, ranked with their conversations, in order.
    best: Vec<Ranked>,
    /// The messages after them, with lower scores. They are sorted only if a page gets there, which is rare.
    rest: Vec<Ranked>,
    /// The weight of each word.
    weights: Vec<f64>,
}

/// Ranks the messages of an answer.
fn ranking(search: &mut Search<'_>, found: &[(i64, u64)], words: usize) -> Result<Ranking, Failure> {
    let weights: Vec<f64> = match &search.request.after {
        Some(cursor) => cursor.weights.iter().skip(1).copied().collect(),
        None => {
            let all = search.all.max(found.len() as u64);
            let having = |word: usize| found.iter().filter(|(_, has)| *has >> word & 1 == 1).count() as u64;
            (0..words).map(|word| rank::weight(having(word), all)).collect()
        }
    };
    search.learn_lengths(&found.iter().map(|(id, _)| *id).collect::<Vec<_>>())?;
    let weight = |has: u64| -> f64 {
        weights.iter().enumerate().filter(|(word, _)| has >> word & 1 == 1).map(|(_, weight)| weight).sum()
    };
    let mut scored: Vec<(f64, i64, u64)> =
        found.iter().map(|(id, has)| (search.score(*id, None, weight(*has)), *id, *has)).collect();
    let mut rest = Vec::new();
    if scored.len() > MAX_RANKED {
        scored.select_nth_unstable_by(MAX_RANKED, |left, right| right.0.total_cmp(&left.0).then(right.1.cmp(&left.1)));
        // Scores of the best are between 0 and 1; these are below 0, so that scores order the whole answer.
        let below = |(score, id, _)| (MessageId(id), score / (1.0 + score) - 1.0);
        rest = scored.split_off(MAX_RANKED).into_iter().map(below).collect();
    }
    let mut conversations: HashMap<String, u32> = HashMap::new();
    let mut best = Vec::with_capacity(scored.len());
    for (_, id, has) in scored {
        let Some(name) = conversation(search, id)? else { continue };
        let next = conversations.len() as u32;
        let conversation = *conversations.entry(name).or_insert(next);
        best.push(Found { message: MessageId(id), conversation, words: has, length: search.length(id) });
    }
    Ok(Ranking { best: rank::relaxed(&best, &weights, search.average), rest, weights })
}

/// Returns the conversation of a message, by its first session.
fn conversation(search: &Search<'_>, id: i64) -> Result<Option<String>, Failure> {
    use rusqlite::OptionalExtension as _;
    let mut statement = search.database.prepare_cached(
        "SELECT coalesce(h.root, m.session_id) FROM messages m LEFT JOIN hx_session h ON h.session_id = m.session_id WHERE m.id = ?",
    )?;
    Ok(statement.query_row([id], |row| row.get(0)).optional()?)
}
