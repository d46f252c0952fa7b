//! From a question to the messages that may be meant.

use super::ids::Ids;
use super::leaf::{self, Leaf};
use crate::database::Database;
use crate::error::Failure;
use hermes_session::search::matching::Tier;
use hermes_session::search::query::{Node, Query, Term};
use hermes_session::search::rank;
use std::cmp::Reverse;
use std::time::Instant;

/// So many parts of a query that all have to hold are looked up; the texts are asked about the others.
const MAX_PARTS: usize = 32;

/// What is known before any text is read.
#[derive(Debug)]
pub(super) struct Plan<'q> {
    /// Messages that may match, as far as indexes know.
    pub(super) ids: Ids,
    /// The terms of which one is enough, with their messages: of these a message may have more or fewer.
    pub(super) choices: Vec<(&'q Term, Vec<i64>)>,
    /// Whether some part was left out because time ran out.
    pub(super) is_late: bool,
}

impl<'q> Plan<'q> {
    /// Asks the indexes.
    pub(super) fn new(database: &Database, query: &'q Query, tier: Tier, end: Instant) -> Result<Self, Failure> {
        let mut plan = Self { ids: Ids::All, choices: Vec::new(), is_late: false };
        let ids = plan.ids(database, query.root(), tier, end, false)?;
        plan.ids = ids;
        Ok(plan)
    }

    /// What each choice weighs, among so many messages.
    pub(super) fn weights(&self, all: u64) -> Vec<f64> {
        self.choices.iter().map(|(_, ids)| rank::weight(ids.len() as u64, all)).collect()
    }

    fn ids(
        &mut self,
        database: &Database,
        node: &'q Node,
        tier: Tier,
        end: Instant,
        is_choice: bool,
    ) -> Result<Ids, Failure> {
        match node {
            Node::Not(_) => Ok(Ids::All),
            Node::Term(term) => {
                if self.is_over(end) {
                    return Ok(Ids::All);
                }
                let ids = leaf::leaf(database, term, tier)?.ids(database)?;
                if is_choice
                    && tier == Tier::Words
                    && let Ids::Some(ids) = &ids
                {
                    self.choices.push((term, ids.clone()));
                }
                Ok(ids)
            }
            Node::Any(nodes) => {
                let mut any = Ids::Some(Vec::new());
                for node in nodes {
                    any = any.or(self.ids(database, node, tier, end, true)?);
                }
                Ok(any)
            }
            Node::All(nodes) if is_choice => {
                let mut all = Ids::All;
                for node in nodes.iter().take(MAX_PARTS) {
                    all = all.and(self.ids(database, node, tier, end, true)?);
                }
                Ok(all)
            }
            Node::All(nodes) => self.all(database, nodes, tier, end),
        }
    }

    /// Words that all have to be there are one question to FTS5, which does not look at what one of them excludes. Pieces of words are many
    /// questions each; they are asked for from the longest on, until so few messages are left that it is quicker to look at them.
    fn all(&mut self, database: &Database, nodes: &'q [Node], tier: Tier, end: Instant) -> Result<Ids, Failure> {
        const FEW: usize = 500;
        let (mut all, mut words) = (Ids::All, Vec::new());
        let mut telling: Vec<&Node> = nodes.iter().filter(|node| !matches!(node, Node::Not(_))).collect();
        if tier == Tier::Pieces {
            telling.sort_by_key(|node| Reverse(if let Node::Term(term) = node { term.text.len() } else { 0 }));
        }
        for node in telling.into_iter().take(MAX_PARTS) {
            let enough = if tier == Tier::Pieces { FEW } else { 0 };
            if matches!(&all, Ids::Some(ids) if ids.len() <= enough) || self.is_over(end) {
                break;
            }
            match node {
                Node::Term(term) => match leaf::leaf(database, term, tier)? {
                    Leaf::Words { fts, more } if more.is_empty() && tier == Tier::Words => {
                        words.push(format!("({fts})"))
                    }
                    other => all = all.and(other.ids(database)?),
                },
                other => all = all.and(self.ids(database, other, tier, end, false)?),
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
