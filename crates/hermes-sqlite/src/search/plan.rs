//! Finds the candidate messages for a query.

use super::ids::Ids;
use super::leaf::{self, Asked, Leaf};
use super::short;
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::search::matching::Tier;
use hermes_session::search::query::{Node, Query, Term};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Instant;

/// Maximum number of parts of a conjunction that are looked up; the others are checked against the texts.
const MAX_PARTS: usize = 32;

/// Finds the candidates for the parts of a query.
pub(super) struct Plan<'a> {
    pub(super) database: &'a Database,
    pub(super) tier: Tier,
    /// After this time, parts are left out: more messages are candidates then.
    pub(super) end: Instant,
    pub(super) asked: &'a mut Asked,
    /// The candidates for terms that are optional alternatives, which are needed again to weigh them.
    pub(super) known: &'a mut HashMap<(Term, Tier), Ids>,
}

impl Plan<'_> {
    /// Returns the candidates for a query, as far as the indexes cover it.
    pub(super) fn of_query(&mut self, query: &Query) -> Result<Ids, Failure> {
        self.of_node(query.root(), false)
    }

    /// Returns the candidates for a term.
    pub(super) fn of_term(&mut self, term: &Term) -> Result<Ids, Failure> {
        let key = (term.clone(), self.tier);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let ids = leaf::leaf(self.database, term, self.tier, self.asked)?.ids(self.database, self.asked)?;
        self.known.insert(key, ids.clone());
        Ok(ids)
    }

    fn of_node(&mut self, node: &Node, is_choice: bool) -> Result<Ids, Failure> {
        match node {
            Node::Not(_) => Ok(Ids::All),
            Node::Term(_) if self.is_over() => Ok(Ids::All),
            Node::Term(term) if is_choice => self.of_term(term),
            Node::Term(term) => leaf::leaf(self.database, term, self.tier, self.asked)?.ids(self.database, self.asked),
            Node::Any(nodes) => {
                let mut any = Ids::Some(Vec::new());
                for node in nodes {
                    any = any.or(self.of_node(node, true)?);
                }
                Ok(any)
            }
            Node::All(nodes) if is_choice => {
                let mut all = Ids::All;
                for node in nodes.iter().take(MAX_PARTS) {
                    all = all.and(self.of_node(node, true)?);
                }
                Ok(all)
            }
            Node::All(nodes) => self.all(nodes),
        }
    }

    /// Finds candidates for a conjunction. Whole words become one FTS5 query, which skips what one of them excludes.
    /// Pieces of words take many queries each; the longest go first, until so few messages are left that checking them
    /// is faster.
    fn all(&mut self, nodes: &[Node]) -> Result<Ids, Failure> {
        const MAX_CHECKED: usize = 500;
        let (database, tier) = (self.database, self.tier);
        let (mut all, mut words) = (Ids::All, Vec::new());
        let mut telling: Vec<&Node> = nodes.iter().filter(|node| !matches!(node, Node::Not(_))).collect();
        if tier == Tier::Pieces {
            telling.sort_by_key(|node| Reverse(if let Node::Term(term) = node { term.text.len() } else { 0 }));
        }
        for node in telling.into_iter().take(MAX_PARTS) {
            let enough = if tier == Tier::Pieces { MAX_CHECKED } else { 0 };
            if matches!(&all, Ids::Some(ids) if ids.len() <= enough) || self.is_over() {
                break;
            }
            match node {
                Node::Term(term) => match leaf::leaf(database, term, tier, self.asked)? {
                    Leaf::Words { fts, more } if more.is_empty() && tier == Tier::Words => {
                        words.push(format!("({fts})"))
                    }
                    other => all = all.and(other.ids(database, self.asked)?),
                },
                other => all = all.and(self.of_node(other, false)?),
            }
        }
        if !words.is_empty() && all != Ids::Some(Vec::new()) {
            if let Some(longest) = words.iter().max_by_key(|word| word.len()) {
                short::admit_words(database, longest, self.asked)?;
            }
            all = all.and(Ids::Some(self.asked.matching(database, &words.join(" AND "))?));
        }
        Ok(all)
    }

    fn is_over(&self) -> bool {
        Instant::now() > self.end
    }
}
