//! Prints the hits of a search.

use crate::context::Context;
use crate::error::CliError;
use crate::ui::hits::{self, Look};
use hermes_session::Store;
use hermes_session::search::{SearchAnswer, SearchRequest, Served};
use hermes_terminal::figures::number;
use hermes_terminal::highlight::Delimiters;
use std::time::Duration;

/// From this many messages on, scanning what is not indexed takes time that a person notices.
const LARGE_BACKLOG: u64 = 1_000;

/// Searches a store and prints the hits and how they were found.
///
/// # Errors
/// If the store fails, or the output can't be written.
pub(crate) async fn print_hits(
    context: &Context,
    store: &dyn Store,
    request: &SearchRequest,
    with_context: bool,
) -> Result<SearchAnswer, CliError> {
    let (columns, delimiters) = (context.ui.width(), Delimiters::random());
    let request = SearchRequest { snippet: delimiters.style(hits::snippet_length(columns)), ..request.clone() };
    let answer = store.search(&request).await?;
    let look = Look { with_context, is_styled: context.ui.is_styled(), columns };
    context.ui.print(hits::list(&answer.hits, &delimiters, look, &context.now))?;
    if !answer.hits.is_empty() {
        notes(&answer.served, request.timeout).iter().for_each(|note| context.ui.note(note));
    }
    Ok(answer)
}

/// Returns how an answer was found, as far as it matters to the person.
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
