//! Search by scanning every message.

use super::State;
use hermes_session::search::matching::{Matcher, Tier};
use hermes_session::search::query::Term;
use hermes_session::search::rank::{self, Found};
use hermes_session::search::relax::{self, Word};
use hermes_session::search::{
    Hit, Neighbour, SearchAnswer, SearchCursor, SearchOrder, SearchRequest, Served, SessionFacts, Way, fold, snippet,
    tokens,
};
use hermes_session::{Lineage, Message, MessageBody, MessageId, Session, search_text};
use std::cmp::Ordering;
use std::ops::Range;

/// A message that may match.
struct Said<'s> {
    session: &'s Session,
    message: &'s Message,
    text: String,
}

/// How a message matched.
#[derive(Clone, Copy)]
struct Place {
    /// The tier in which it is ranked.
    tier: Tier,
    /// The tier of the match.
    found: Tier,
    score: f64,
    id: MessageId,
}

impl Place {
    /// Compares two hits by their order in the answer.
    fn order(&self, other: &Self) -> Ordering {
        self.tier.cmp(&other.tier).then(other.score.total_cmp(&self.score)).then(other.id.cmp(&self.id))
    }
}

impl State {
    pub(super) fn search(&self, request: &SearchRequest) -> SearchAnswer {
        let newest = request.after.as_ref().map_or(MessageId(self.last_message_id), |cursor| cursor.newest);
        let said: Vec<Said<'_>> = self.said(request).filter(|said| said.message.id <= newest).collect();
        let average = match &request.after {
            Some(cursor) => cursor.weights[0],
            None => said.iter().map(|said| f64::from(length(&said.text))).sum::<f64>() / said.len().max(1) as f64,
        };
        let average = average.max(1.0);
        let is_relaxed = request.after.as_ref().is_some_and(|cursor| cursor.is_relaxed);
        let (mut places, mut weights) = exact(request, &said, average);
        let mut words = Vec::new();
        if is_relaxed || (request.relax && places.is_empty() && request.after.is_none()) {
            words = relax::words(&request.query);
            (places, weights) = relaxed(request, &said, &words, &self.links(), average);
        }
        let is_relaxed = !words.is_empty();
        let place = |place: &Place| SearchCursor {
            newest,
            is_relaxed,
            tier: place.tier,
            score: place.score,
            message: place.id,
            weights: [average].into_iter().chain(weights.iter().copied()).collect(),
        };
        if let Some(after) = &request.after {
            // The hit of the cursor may be deleted by now.
            let after = Place { tier: after.tier, found: after.tier, score: after.score, id: after.message };
            places.retain(|place| place.order(&after).is_gt());
        }
        let (offset, limit) = (usize::try_from(request.page.offset()).unwrap_or(usize::MAX), request.page.limit());
        let places: Vec<Place> = places.into_iter().skip(offset).collect();
        let matcher = Matcher::new(&request.query);
        let marks = |text: &str| if is_relaxed { relax::marks(text, &words) } else { matcher.marks(text) };
        let shown = &places[..places.len().min(limit as usize)];
        SearchAnswer {
            hits: shown.iter().filter_map(|place| self.hit(place, &said, request, marks)).collect(),
            next: shown.last().filter(|_| places.len() > shown.len()).map(place),
            served: Served {
                way: Way::Scan,
                is_relaxed,
                is_partial: false,
                unindexed: said.len() as u64,
                needs_adoption: false,
            },
        }
    }

    /// Returns the messages that the filter admits, in order.
    fn said<'s>(&'s self, request: &'s SearchRequest) -> impl Iterator<Item = Said<'s>> {
        let links = self.links();
        let admits = move |session: &Session| {
            request.filter.admits_session(SessionFacts {
                id: &session.id,
                source: &session.source,
                user_id: session.user_id.as_deref(),
                model: session.model.as_deref(),
                title: session.title.as_deref(),
                has_admitted_conversation: self.is_within(&request.filter.scope, &links, &session.id)
                    && self.has_tags(&request.filter.tags, &links.conversation_root(&session.id)),
            })
        };
        let sessions = self.sessions.values().filter(move |session| admits(session));
        let mut all: Vec<Said<'s>> = sessions
            .flat_map(|session| {
                self.transcripts.get(&session.id).into_iter().flatten().map(move |said| (session, said))
            })
            .filter(|(_, message)| {
                message.state.is_said() && request.filter.admits_message(&message.body.role, message.timestamp)
            })
            .map(|(session, message)| Said { session, message, text: search_text::of_body(&message.body).into_owned() })
            .collect();
        all.sort_by_key(|said| said.message.id);
        all.into_iter()
    }

    fn hit(
        &self,
        place: &Place,
        said: &[Said<'_>],
        request: &SearchRequest,
        marks: impl Fn(&str) -> Vec<Range<usize>>,
    ) -> Option<Hit> {
        let Said { session, message, text } = said.iter().find(|said| said.message.id == place.id)?;
        let links = self.links();
        let conversation = links.tip(&links.conversation_root(&session.id));
        let transcript: Vec<&Message> =
            self.transcripts[&session.id].iter().filter(|message| message.state.is_said()).collect();
        let at = transcript.iter().position(|other| other.id == message.id)?;
        let neighbour = |message: &Message| Neighbour {
            role: message.body.role.clone(),
            text: snippet::head(
                &search_text::of_body(&MessageBody { tool_name: None, ..message.body.clone() }),
                snippet::NEIGHBOUR,
            ),
        };
        Some(Hit {
            message: message.id,
            session: session.id.clone(),
            title: self.sessions[&conversation].title.clone().or_else(|| session.title.clone()),
            conversation,
            role: message.body.role.clone(),
            said_at: message.timestamp,
            tool_name: message.body.tool_name.clone(),
            source: session.source.clone(),
            model: session.model.clone(),
            started_at: session.started_at,
            tier: place.found,
            score: place.score,
            snippet: snippet::snippet(text, &marks(text), &request.snippet),
            before: at.checked_sub(1).filter(|_| request.with_neighbours).map(|before| neighbour(transcript[before])),
            after: transcript.get(at + 1).filter(|_| request.with_neighbours).map(|message| neighbour(message)),
            is_archived: self.is_archived(&links.conversation_root(&session.id)),
        })
    }
}

fn length(text: &str) -> u32 {
    tokens::words(&fold::fold(text)).count() as u32
}

/// Returns the messages that match the query exactly, in order, and the weights of its terms.
fn exact(request: &SearchRequest, said: &[Said<'_>], average: f64) -> (Vec<Place>, Vec<f64>) {
    let matcher = Matcher::new(&request.query);
    let terms = request.query.terms();
    let has = |text: &str, term: &Term| fold::fold(text).contains(fold::fold(&term.text).as_ref());
    let weights: Vec<f64> = match &request.after {
        Some(cursor) => cursor.weights[1..].to_vec(),
        None => {
            let having = |term: &Term| said.iter().filter(|said| has(&said.text, term)).count() as u64;
            terms.iter().map(|term| rank::weight(having(term), said.len() as u64)).collect()
        }
    };
    let by_time = request.order == SearchOrder::Newest || request.query.is_negative();
    let mut places = Vec::new();
    for said in said {
        let Some(tier) = matcher.tier(&said.text) else { continue };
        let mut place = Place { tier: Tier::Pieces, found: tier, score: 0.0, id: said.message.id };
        if tier == Tier::Words && !by_time {
            let found = terms.iter().zip(&weights).filter(|(term, _)| has(&said.text, term));
            place.tier = Tier::Words;
            place.score = found.map(|(_, weight)| weight).sum::<f64>() * rank::brevity(length(&said.text), average);
        }
        places.push(place);
    }
    places.sort_by(Place::order);
    (places, weights)
}

/// Returns the messages that contain any of the words, in order, and the weight of each word.
fn relaxed(
    request: &SearchRequest,
    said: &[Said<'_>],
    words: &[Word],
    links: &Lineage,
    average: f64,
) -> (Vec<Place>, Vec<f64>) {
    let excluded = Matcher::new(&relax::exclusions(&request.query));
    let mut roots = Vec::new();
    let mut found = Vec::new();
    for said in said {
        let words = relax::words_in(&said.text, words);
        if words != 0 && excluded.tier(&said.text).is_some() {
            let root = links.conversation_root(&said.session.id);
            let conversation = roots.iter().position(|other| *other == root).unwrap_or(roots.len());
            if conversation == roots.len() {
                roots.push(root);
            }
            let (message, length) = (said.message.id, length(&said.text));
            found.push(Found { message, conversation: conversation as u32, words, length });
        }
    }
    let weights: Vec<f64> = match &request.after {
        Some(cursor) => cursor.weights[1..].to_vec(),
        None => {
            let having = |word: usize| found.iter().filter(|found| found.words >> word & 1 == 1).count() as u64;
            (0..words.len()).map(|word| rank::weight(having(word), said.len() as u64)).collect()
        }
    };
    let order = rank::relaxed(&found, &weights, average);
    (
        order.into_iter().map(|(id, score)| Place { tier: Tier::Pieces, found: Tier::Pieces, score, id }).collect(),
        weights,
    )
}
