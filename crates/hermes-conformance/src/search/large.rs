//! Long texts, and many messages.

use super::{MOMENTS, asked, ids, places, question};
use crate::fixture::{made, request, user};
use crate::{CaseResult, Setup};

/// A message of ten megabytes is searched to its end.
pub async fn ten_megabytes(setup: Setup) -> CaseResult {
    let store = setup.idle_store("s").await;
    let session = made(&*store, "s", 0).await;
    let hay = "hay and straw, ".repeat(700_000);
    let said =
        store.append(&session, &[user(&format!("{hay}the needle-7 大别山")), user("straw")], &request(1)).await?;
    for moment in &MOMENTS[..2] {
        moment.come(&*store).await?;
        for query in ["needle-7", "eedl", "别山"] {
            assert_eq!(places(&*store, &question(query), &said).await?, [0], "{moment:?}: {query}");
        }
        assert_eq!(places(&*store, &question("straw NOT hay"), &said).await?, [1], "{moment:?}");
    }
    Ok(())
}

/// In a session of twenty thousand messages a single match is found, and many matches are paged.
pub async fn a_session_of_twenty_thousand(setup: Setup) -> CaseResult {
    const MESSAGES: usize = 20_000;
    let store = setup.idle_store("s").await;
    let session = made(&*store, "s", 0).await;
    let batch: Vec<_> = (0..MESSAGES).map(|n| user(&format!("common words 共通 {n} x{n}x"))).collect();
    let said = store.append(&session, &batch, &request(1)).await?;
    for moment in &MOMENTS[..2] {
        moment.come(&*store).await?;
        for (query, place) in [("x777x", 777), ("\"19999 x\"", 19_999), ("共通 12345", 12_345)] {
            assert_eq!(places(&*store, &question(query), &said).await?, [place], "{moment:?}: {query}");
        }
        let newest: Vec<_> = said.iter().rev().take(100).copied().collect();
        assert_eq!(ids(&asked(&*store, &question("ommo")).await?), newest, "{moment:?}");
        assert_eq!(ids(&asked(&*store, &question("\"\" NOT absent")).await?), newest, "{moment:?}");
        assert_eq!(asked(&*store, &question("common 共")).await?.len(), 100, "{moment:?}");
    }
    Ok(())
}
