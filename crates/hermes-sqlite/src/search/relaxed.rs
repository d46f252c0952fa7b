//! What a query finds that matches nothing as a whole: messages with any of its words, by their stems.

use super::Search;
use super::hits::Page;
use super::ids::Ids;
use super::leaf::{around, matching, quoted};
use crate::error::Failure;
use crate::private::{self, Pairs};
use hermes_session::MessageId;
use hermes_session::search::Way;
use hermes_session::search::matching::{Matcher, Tier};
use hermes_session::search::rank::{self, Found};
use hermes_session::search::relax::{self, Word};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

/// The most forms of a word that are looked for.
const MAX_FORMS: usize = 500;
/// So many of the best messages are ordered by their conversations; the others follow by themselves.
const MAX_RANKED: usize = 4_000;

/// Fills a page with messages that have any of the words.
pub(super) fn relaxed(search: &mut Search<'_>, page: &mut Page<'_>) -> Result<(), Failure> {
    let words = relax::words(&search.request.query);
    if words.is_empty() {
        return Ok(());
    }
    search.served.is_relaxed = true;
    let found = found(search, &words)?;
    let (order, weights) = order(search, &found, words.len())?;
    page.weigh(search.average, &weights);
    // The order is the same as that of the page before, without what came since. If the last hit is gone, its score tells where it was.
    let start = search.request.after.as_ref().map_or(0, |cursor| {
        let is_behind =
            |(id, score): &(MessageId, f64)| score.total_cmp(&cursor.score).then(id.cmp(&cursor.message)).is_lt();
        match order.iter().position(|(id, _)| *id == cursor.message) {
            Some(place) => place + 1,
            None => order.iter().position(is_behind).unwrap_or(order.len()),
        }
    });
    let excluded = Matcher::new(&relax::exclusions(&search.request.query));
    for (id, score) in &order[start..] {
        if search.is_late() {
            break;
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
            break;
        }
    }
    Ok(())
}

/// The messages that may have words, and which.
fn found(search: &mut Search<'_>, words: &[Word]) -> Result<BTreeMap<i64, u64>, Failure> {
    let mut found: BTreeMap<i64, u64> = BTreeMap::new();
    let Some(unknown) = search.coverage.unknown() else {
        search.served.way = Way::Scan;
        let (end, newest, mut is_partial) = (search.end, search.newest, false);
        let mut aside = HashMap::new();
        search.rows.all(newest, |said| {
            is_partial = std::time::Instant::now() > end;
            if is_partial {
                return Ok(ControlFlow::Break(()));
            }
            let has = relax::words_in(&said.text()?, words);
            if has != 0 {
                found.insert(said.id, has);
                aside.insert(said.id, said.length()?);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        search.served.is_partial |= is_partial;
        search.aside = aside;
        return Ok(found);
    };
    search.served.way = Way::Index;
    for (place, word) in words.iter().enumerate() {
        for id in having(search, word)? {
            *found.entry(id).or_default() |= 1 << place;
        }
    }
    for id in unknown {
        if search.is_late() {
            break;
        }
        if let Some((has, length)) =
            search.rows.one(*id, |said| Ok((relax::words_in(&said.text()?, words), said.length()?)))?
        {
            found.insert(*id, has);
            search.aside.insert(*id, length);
        }
    }
    found.retain(|id, has| *has != 0 && *id <= search.newest);
    if let Some(admitted) = &search.admitted {
        found.retain(|id, _| admitted.binary_search(id).is_ok());
    }
    Ok(found)
}

/// The messages that have a form of a word.
fn having(search: &Search<'_>, word: &Word) -> Result<Vec<i64>, Failure> {
    let database = search.database;
    if word.is_piece {
        let mut ids = Vec::new();
        if let Some(pairs) = Pairs::of(&word.word) {
            pairs.candidates(database, None, |id| {
                ids.push(id);
                Ok(ControlFlow::Continue(()))
            })?;
        }
        return Ok(ids);
    }
    let (mut terms, mut ids) = (vec![word.word.clone()], Vec::new());
    for beginning in word.beginnings() {
        terms.extend(private::terms_with_prefix(database, beginning, MAX_FORMS, |form| word.takes(form))?.terms);
        // Within a run of paired characters it is no token of its own.
        ids.extend(around(database, &[beginning])?);
    }
    terms.sort_unstable();
    terms.dedup();
    for term in &terms {
        ids.extend(matching(database, &quoted(term))?);
    }
    let Ids::Some(ids) = Ids::of(ids) else { return Ok(Vec::new()) };
    Ok(ids)
}

/// Messages with their scores, the best first.
type Order = Vec<(MessageId, f64)>;

/// The messages in the order of the answer, and what each word weighs.
fn order(search: &mut Search<'_>, found: &BTreeMap<i64, u64>, words: usize) -> Result<(Order, Vec<f64>), Failure> {
    let weights: Vec<f64> = match &search.request.after {
        Some(cursor) => cursor.weights.iter().skip(1).copied().collect(),
        None => {
            let all = search.all.max(found.len() as u64);
            let having = |word: usize| found.values().filter(|has| *has >> word & 1 == 1).count() as u64;
            (0..words).map(|word| rank::weight(having(word), all)).collect()
        }
    };
    search.learn_lengths(&found.keys().copied().collect::<Vec<_>>())?;
    let weight = |has: u64| -> f64 {
        weights.iter().enumerate().filter(|(word, _)| has >> word & 1 == 1).map(|(_, weight)| weight).sum()
    };
    let mut scored: Vec<(i64, f64)> =
        found.iter().map(|(id, has)| (*id, search.score(*id, None, weight(*has)))).collect();
    scored.sort_unstable_by(|left, right| right.1.total_cmp(&left.1).then(right.0.cmp(&left.0)));
    let rest = scored.split_off(scored.len().min(MAX_RANKED));
    let mut conversations: HashMap<String, u32> = HashMap::new();
    let mut best = Vec::with_capacity(scored.len());
    for (id, _) in scored {
        let Some(name) = conversation(search, id)? else { continue };
        let next = conversations.len() as u32;
        let conversation = *conversations.entry(name).or_insert(next);
        let length = search.length(id);
        best.push(Found { message: MessageId(id), conversation, words: found[&id], length });
    }
    let mut order = rank::relaxed(&best, &weights, search.average);
    order.extend(rest.into_iter().map(|(id, score)| (MessageId(id), score)));
    Ok((order, weights))
}

/// The conversation of a message, by the session that it starts with.
fn conversation(search: &Search<'_>, id: i64) -> Result<Option<String>, Failure> {
    use rusqlite::OptionalExtension as _;
    let mut statement = search.database.prepare_cached(
        "SELECT coalesce(h.root, m.session_id) FROM messages m LEFT JOIN hx_session h ON h.session_id = m.session_id WHERE m.id = ?",
    )?;
    Ok(statement.query_row([id], |row| row.get(0)).optional()?)
}
