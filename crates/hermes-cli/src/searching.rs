//! Prints the hits of a search.

use crate::context::Context;
use crate::error::CliError;
use crate::ui::hits::{self, Look, PER_CONVERSATION, Page};
use anstyle::Style;
use hermes_session::search::{SearchAnswer, SearchRequest, Served};
use hermes_session::{PageRequest, SessionId, Store};
use hermes_terminal::Line;
use hermes_terminal::figures::number;
use hermes_terminal::highlight::Delimiters;
use std::time::{Duration, Instant};

/// Size of the backlog, in messages, from which scanning it takes noticeable time.
const LARGE_BACKLOG: u64 = 1_000;

/// Maximum number of times a page continues behind hits that were folded.
const LOOK_AHEAD: usize = 5;

/// A page of hits that was printed.
pub(crate) struct Printed {
    /// The answer of the store. It may have more hits than the page covers.
    pub(crate) answer: SearchAnswer,
    /// Number of hits on the page, shown or folded.
    pub(crate) covered: usize,
    /// Whether hits follow on another page.
    pub(crate) has_more: bool,
    /// The conversations, in the order of their numbers.
    pub(crate) conversations: Vec<SessionId>,
}

/// Searches a store and prints the hits and how they were found. Of each conversation at most [`PER_CONVERSATION`] hits
/// are shown, unless the request names the sessions. `rest` returns the command that shows all hits of a conversation.
///
/// # Errors
/// If the store fails, or the output can't be written.
pub(crate) async fn print_hits(
    context: &Context,
    store: &dyn Store,
    request: &SearchRequest,
    with_context: bool,
    rest: impl Fn(&SessionId) -> String,
) -> Result<Printed, CliError> {
    let (columns, delimiters) = (context.ui.width(), Delimiters::random());
    let cap = if request.filter.sessions.is_some() { usize::MAX } else { PER_CONVERSATION };
    let request = SearchRequest { snippet: delimiters.style(hits::snippet_length(columns)), ..request.clone() };
    let answer = read_page(store, &request, cap).await?;
    let page = Page::new(&answer.hits, request.page.limit() as usize, cap);
    let look =
        Look { with_context, is_styled: context.ui.is_styled(), columns, title_columns: context.ui.table_width() };
    context.ui.print(hits::list(&page, &delimiters, look, rest, &context.now))?;
    if !answer.hits.is_empty() {
        let totals = Line::styled(page.totals(&request, &answer), Style::new().dimmed());
        context.ui.print([Line::default()].into_iter().chain(context.ui.sentences([totals])))?;
        notes(&answer.served, request.timeout).iter().for_each(|note| context.ui.note(note));
    }
    let has_more = page.covered < answer.hits.len() || answer.next.is_some();
    let (covered, conversations) = (page.covered, page.ids().collect());
    Ok(Printed { answer, covered, has_more, conversations })
}

/// Reads the hits of a page: as many as it shows, and more while some of them are folded.
async fn read_page(store: &dyn Store, request: &SearchRequest, cap: usize) -> Result<SearchAnswer, CliError> {
    let (start, limit) = (Instant::now(), request.page.limit() as usize);
    let mut answer = store.search(request).await?;
    for _ in 0..LOOK_AHEAD {
        let page = Page::new(&answer.hits, limit, cap);
        let shown = page.shown().count();
        let is_short = shown < limit && shown < page.covered;
        let timeout = request.timeout.saturating_sub(start.elapsed());
        let Some(after) = answer.next.clone().filter(|_| is_short && !answer.served.is_partial) else { break };
        if timeout.is_zero() {
            break;
        }
        // The page after a cursor can only start where an answer of the store ended, so none of its hits may be left
        // over.
        let count = if request.after.is_some() { limit - shown } else { limit };
        let page = PageRequest::new(count as i64, 0).map_err(CliError::usage)?;
        let more = store.search(&SearchRequest { page, after: Some(after), timeout, ..request.clone() }).await?;
        answer.served.is_partial |= more.served.is_partial;
        answer.served.unindexed = answer.served.unindexed.max(more.served.unindexed);
        if more.served.is_partial {
            // Hits are missing among these, so they are left to the next page.
            break;
        }
        answer.hits.extend(more.hits);
        answer.next = more.next;
    }
    Ok(answer)
}

/// Returns notes about how the answer was found, as far as they matter to the person.
fn notes(served: &Served, timeout: Duration) -> Vec<String> {
    let mut notes = Vec::new();
    if served.is_relaxed {
        notes.push("no message has all of this; these have some of the words (--exact leaves them out)".into());
    }
    if served.unindexed >= LARGE_BACKLOG || (served.is_partial && served.unindexed > 0) {
        notes.push(format!("looked through {} messages that are not indexed yet", number(served.unindexed)));
    }
    if served.is_partial {
        notes.push(format!(
            "stopped after {} s; there may be more (search.timeout_ms in config.yaml)",
            timeout.as_secs_f64()
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_session::search::Way;

    #[test]
    fn what_matters_about_an_answer_is_told() {
        let served = Served {
            way: Way::Index,
            is_relaxed: false,
            is_partial: false,
            unindexed: LARGE_BACKLOG - 1,
            needs_adoption: false,
        };
        let told = |served: Served| notes(&served, Duration::from_millis(1500)).join("\n");
        assert_eq!(told(served), "");
        assert_eq!(
            told(Served { unindexed: 12_345, ..served }),
            "looked through 12,345 messages that are not indexed yet"
        );
        assert_eq!(
            told(Served { is_relaxed: true, is_partial: true, unindexed: 7, ..served }),
            "no message has all of this; these have some of the words (--exact leaves them out)\n\
             looked through 7 messages that are not indexed yet\n\
             stopped after 1.5 s; there may be more (search.timeout_ms in config.yaml)"
        );
    }
}
