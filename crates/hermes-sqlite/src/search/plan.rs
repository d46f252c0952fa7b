//! Finds the candidate messages for a query.

use super::ids::Ids;
use super::leaf::{self, Around, Leaf};
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::search::matching::Tier;
use hermes_session::search::query::{Node, Query, Term};
use hermes_session::search::rank;
use std::cmp::Reverse;
use std::time::Instant;

/// Maximum number of parts of a conjunction that are looked up; the others are checked against the texts.
const MAX_PARTS: usize = 32;

/// Result of the indexes, before any text is read.
#[derive(Debug)]
pub(super) struct Plan<'q> {
    /// Candidates, as far as the indexes cover the query.
    pub(super) ids: Ids,
    /// The alternatives of the query with their messages; a message may have more or fewer of them.
    pub(super) choices: Vec<(&'q Term, Vec<i64>)>,
    /// Whether some part was left out because time ran out.
    pub(super) is_late: bool,
}

/// Parameters for all terms.
struct Asking<'a> {
    tier: Tier,
    end: Instant,
    around: &'a mut Around,
}

impl<'q> Plan<'q> {
    /// Queries the indexes.
    pub(super) fn new(
        database: &Database,
        query: &'q Query,
        tier: Tier,
        end: Instant,
        around: &mut Around,
    ) -> Result<Self, Failure> {
        let mut plan = Self { ids: Ids::All, choices: Vec::new(), is_late: false };
        let ids = plan.ids(database, query.root(), &mut Asking { tier, end, around }, false)?;
        plan.ids = ids;
        Ok(plan)
    }

    /// Returns the weight of each choice, among `all` messages.
    pub(super) fn weights(&self, all: u64) -> Vec<f64> {
        self.choices.iter().map(|(_, ids)| rank::weight(ids.len() as u64, all)).collect()
    }

    fn ids(
        &mut self,
        database: &Database,
        node: &'q Node,
        asking: &mut Asking<'_>,
        is_choice: bool,
    ) -> Result<Ids, Failure> {
        match node {
            Node::Not(_) => Ok(Ids::All),
            Node::Term(term) => {
                if self.is_over(asking.end) {
                    return Ok(Ids::All);
                }
                let ids = leaf::leaf(database, term, asking.tier, asking.around)?.ids(database)?;
                if is_choice
                    && asking.tier == Tier::Words
                    && let Ids::Some(ids) = &ids
                {
                    self.choices.push((term, ids.clone()));
                }
                Ok(ids)
            }
            Node::Any(nodes) => {
                let mut any = Ids::Some(Vec::new());
                for node in nodes {
                    any = any.or(self.ids(database, node, asking, true)?);
                }
                Ok(any)
            }
            Node::All(nodes) if is_choice => {
                let mut all = Ids::All;
                for node in nodes.iter().take(MAX_PARTS) {
                    all = all.and(self.ids(database, node, asking, true)?);
                }
                Ok(all)
            }
            Node::All(nodes) => self.all(database, nodes, asking),
        }
    }

    /// Finds candidates for a conjunction. Whole words become one FTS5 query, which skips what one of them excludes.
    /// Pieces of words take many queries each; the longest go first, until so few messages are left that checking them
    /// is faster.
    fn all(&mut self, database: &Database, nodes: &'q [Node], asking: &mut Asking<'_>) -> Result<Ids, Failure> {
        const MAX_CHECKED: usize = 500;
        let tier = asking.tier;
        let (mut all, mut words) = (Ids::All, Vec::new());
        let mut telling: Vec<&Node> = nodes.iter().filter(|node| !matches!(node, Node::Not(_))).collect();
        if tier == Tier::Pieces {
            telling.sort_by_key(|node| Reverse(if let Node::Term(term) = node { term.text.len() } else { 0 }));
        }
        for node in telling.into_iter().take(MAX_PARTS) {
            let enough = if tier == Tier::Pieces { MAX_CHECKED } else { 0 };
            if matches!(&all, Ids::Some(ids) if ids.len() <= enough) || self.is_over(asking.end) {
                break;
            }
            match node {
                Node::Term(term) => match leaf::leaf(database, term, asking.tier, asking.around)? {
                    Leaf::Words { fts, more } if more.is_empty() && tier == Tier::Words => {
                        words.push(format!("({fts})"))
                    }
                    other => all = all.and(other.ids(database)?),
                },
                other => all = all.and(self.ids(database, other, asking, false)?),
            }
        }
        if !words.is_empty() && all != Ids::Some(Vec::new()) {
            all = all.and(Ids::Some(leaf::matching(database, &words.join(" AND "))?));
        }
        Ok(all)
    }

    fn is_over(&mut self, end: Instant) -> bool {
        self.is_late |= Instant::now() > end;
        self.is_late
    }
}
