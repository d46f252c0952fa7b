//! The order of hits.

use super::{MOMENTS, asked, ids, is_whole, places, question};
use crate::fixture::{at, made, request, user};
use crate::{CaseResult, Setup};
use hermes_session::search::SearchOrder;

/// Whole words come before parts of words. Among equally good matches of words, and among parts, the newest comes
/// first. A prefix search treats the beginning of a word as a whole word.
pub async fn whole_words_before_pieces(setup: Setup) -> CaseResult {
    const SAID: [&str; 8] =
        ["concatenate", "cat", "bobcats", "tie cat", "category", "tie cat", "a cat, it is", "tie cat"];
    let store = setup.idle_store("s").await;
    let session = made(&*store, "s", 0).await;
    let said = store.append(&session, &SAID.map(user), &request(1)).await?;
    for moment in MOMENTS {
        moment.come(&*store).await?;
        let hits = asked(&*store, &question("cat")).await?;
        let found = places(&*store, &question("cat"), &said).await?;
        let (mut words, pieces) = (found[..5].to_vec(), &found[5..]);
        assert_eq!(pieces, [4, 2, 0], "{moment:?}");
        assert!(hits[..5].iter().all(is_whole) && !hits[5..].iter().any(is_whole), "{moment:?}: {hits:?}");
        assert!(hits[..5].is_sorted_by(|left, right| left.score >= right.score), "{moment:?}: {hits:?}");
        words.sort_unstable();
        assert_eq!(words, [1, 3, 5, 6, 7], "{moment:?}");
        assert_eq!(places(&*store, &question("\"tie cat\""), &said).await?, [7, 5, 3], "{moment:?}");
        let mut found = places(&*store, &question("cat*"), &said).await?;
        assert_eq!(found.split_off(6), [2, 0], "{moment:?}");
        assert!(found.contains(&4), "{moment:?}: {found:?}");
        let upper = places(&*store, &question("CAT"), &said).await?;
        assert_eq!(upper, places(&*store, &question("cat"), &said).await?, "{moment:?}");
    }
    Ok(())
}

/// On request the last written message comes first, whatever its time is.
pub async fn newest_first(setup: Setup) -> CaseResult {
    let store = setup.idle_store("s").await;
    let (one, two) = (made(&*store, "one", 0).await, made(&*store, "two", 0).await);
    let mut said = Vec::new();
    for (n, text) in ["cat", "concat", "cats and cats", "大别山 cat", "dog", "cat"].into_iter().enumerate() {
        let session = if n % 2 == 0 { &one } else { &two };
        said.extend(store.append(session, &[user(text).said_at(at(-(n as i32)))], &request(1)).await?);
    }
    for moment in MOMENTS {
        moment.come(&*store).await?;
        let newest = |text: &str| super::SearchRequest { order: SearchOrder::Newest, ..question(text) };
        assert_eq!(places(&*store, &newest("cat"), &said).await?, [5, 3, 2, 1, 0], "{moment:?}");
        assert_eq!(places(&*store, &newest("cat NOT 大"), &said).await?, [5, 2, 1, 0], "{moment:?}");
        assert_eq!(places(&*store, &newest("大别 OR dog"), &said).await?, [4, 3], "{moment:?}");
    }
    Ok(())
}

/// A query that only excludes finds everything else, and an empty one everything, newest first.
pub async fn absence_is_reported_newest_first(setup: Setup) -> CaseResult {
    let store = setup.idle_store("s").await;
    let session = made(&*store, "s", 0).await;
    let said = store.append(&session, &["cat", "dog", "大别山", "cat dog", ""].map(user), &request(1)).await?;
    for moment in MOMENTS {
        moment.come(&*store).await?;
        for (query, expect) in [
            ("\"\" NOT cat", &[4, 2, 1][..]),
            ("\"\" NOT ca", &[4, 2, 1]),
            ("\"\" NOT 别", &[4, 3, 1, 0]),
            ("\"\" NOT cat NOT dog", &[4, 2]),
            ("\"\" NOT (cat dog)", &[4, 2, 1, 0]),
            ("\"\" NOT cat OR NOT dog", &[4, 2, 1, 0]),
            ("\"\" NOT nothing", &[4, 3, 2, 1, 0]),
            ("", &[4, 3, 2, 1, 0]),
            (" \0 ", &[4, 3, 2, 1, 0]),
        ] {
            assert_eq!(places(&*store, &question(query), &said).await?, expect, "{moment:?}: {query:?}");
        }
        let all = asked(&*store, &question("")).await?;
        assert_eq!(ids(&all).len(), 5);
    }
    Ok(())
}
