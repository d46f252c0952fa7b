//! Pages neither skip nor repeat hits.

use super::{MOMENTS, Moment, asked, ids, question};
use crate::fixture::{id, made, request, user};
use crate::{CaseResult, Setup, oracle};
use hermes_session::search::{SearchOrder, SearchRequest};
use hermes_session::{DeleteExtent, MessageId, PageRequest, Store, StoreError};
use std::collections::BTreeSet;

/// Appends thirty messages in three sessions: words, parts of words, some with more words than others, other scripts.
async fn say(store: &dyn Store) -> Result<Vec<MessageId>, StoreError> {
    let mut said = Vec::new();
    for name in ["a", "b", "c"] {
        made(store, name, 0).await;
        for n in 0..10 {
            let text = match n % 5 {
                0 => "a cat".to_owned(),
                1 => "concatenate".to_owned(),
                2 => format!("cat {}", "and more words ".repeat(n)),
                3 => "dog 大别山 cat".to_owned(),
                _ => "a dog, hotdog".to_owned(),
            };
            said.extend(store.append(&id(name), &[user(&text)], &request(1)).await?);
        }
    }
    Ok(said)
}

const QUERIES: [&str; 6] = ["cat", "cat OR dog", "大别", "\"\" NOT 大", "at", "cat NOT (more OR 大)"];

fn requests(limit: u32) -> Vec<SearchRequest> {
    let orders = [SearchOrder::Best, SearchOrder::Newest];
    let pages = |(query, order)| SearchRequest { order, page: PageRequest::first(limit), ..question(query) };
    QUERIES.into_iter().flat_map(|query| orders.map(|order| (query, order))).map(pages).collect()
}

/// All pages together are the whole answer, by cursor and by offset.
pub async fn by_cursor_and_by_offset(setup: Setup) -> CaseResult {
    let store = setup.idle_store("s").await;
    say(&*store).await?;
    for moment in MOMENTS {
        moment.come(&*store).await?;
        for request in requests(4) {
            let whole =
                ids(&asked(&*store, &SearchRequest { page: PageRequest::first(100), ..request.clone() }).await?);
            assert!(whole.len() > 5, "{request:?}");
            assert_eq!(ids(&oracle::every_page(&*store, &request).await?), whole, "{moment:?}: {request:?}");
            for offset in 0..=whole.len() + 1 {
                let page = PageRequest::new(4, offset as i64)?;
                let answer = store.search(&SearchRequest { page, ..request.clone() }).await?;
                let expect: Vec<MessageId> = whole.iter().skip(offset).take(4).copied().collect();
                assert_eq!(ids(&answer.hits), expect, "{moment:?}: {offset}, {request:?}");
                assert_eq!(answer.next.is_some(), offset + 4 < whole.len(), "{moment:?}: {offset}, {request:?}");
            }
        }
    }
    Ok(())
}

/// Reads a page, runs something, and reads the other pages.
async fn around(
    store: &dyn Store,
    request: &SearchRequest,
    between: impl Future<Output = CaseResult> + Send,
) -> Result<Vec<MessageId>, StoreError> {
    let first = store.search(request).await?;
    between.await?;
    let mut all = ids(&first.hits);
    if let Some(next) = first.next {
        all.extend(ids(&oracle::every_page(store, &SearchRequest { after: Some(next), ..request.clone() }).await?));
    }
    Ok(all)
}

/// Messages appended meanwhile are left out, deleted ones disappear; all others are returned once.
pub async fn while_others_write(setup: Setup) -> CaseResult {
    for (number, is_indexed) in [(0, false), (1, true)] {
        for (n, request) in requests(3).into_iter().enumerate() {
            let name = format!("s{number}-{n}");
            let (store, other) = (setup.idle_store(&name).await, setup.idle_store(&name).await);
            let said = say(&*store).await?;
            if is_indexed {
                Moment::Indexed.come(&*store).await?;
            }
            let whole =
                ids(&asked(&*store, &SearchRequest { page: PageRequest::first(100), ..request.clone() }).await?);
            let found = around(&*store, &request, async {
                other
                    .append(&id("a"), &[user("a cat"), user("dog 大别山 at")], &super::super::fixture::request(2))
                    .await?;
                other.delete(&id("b"), DeleteExtent::Conversation, &super::super::fixture::request(2)).await?;
                Ok(())
            });
            let found = found.await?;
            let gone: BTreeSet<MessageId> = said[10..20].iter().copied().collect();
            let expect: Vec<MessageId> = whole[3..].iter().copied().filter(|id| !gone.contains(id)).collect();
            assert_eq!(found[..3], whole[..3], "{request:?}");
            assert_eq!(found[3..], expect, "{request:?}");
        }
    }
    Ok(())
}

/// Indexing messages between two pages changes nothing.
pub async fn while_indexes_catch_up(setup: Setup) -> CaseResult {
    let relaxed = SearchRequest { relax: true, page: PageRequest::first(4), ..question("concatenate hotdog") };
    for (n, request) in requests(3).into_iter().chain([relaxed]).enumerate() {
        let store = setup.idle_store(&format!("s{n}")).await;
        say(&*store).await?;
        let whole = ids(&asked(&*store, &SearchRequest { page: PageRequest::first(100), ..request.clone() }).await?);
        let found = around(&*store, &request, Moment::Indexed.come(&*store)).await?;
        assert_eq!(found.len(), whole.len(), "{request:?}: {found:?} of {whole:?}");
        assert_eq!(BTreeSet::from_iter(found), BTreeSet::from_iter(whole), "{request:?}");
    }
    Ok(())
}

/// The pages of a relaxed answer stay relaxed, even if a message arrives that matches the whole query.
pub async fn relaxed_pages(setup: Setup) -> CaseResult {
    let store = setup.idle_store("s").await;
    say(&*store).await?;
    for moment in [Moment::Unindexed, Moment::Indexed] {
        moment.come(&*store).await?;
        let request = SearchRequest { relax: true, page: PageRequest::first(4), ..question("concatenate hotdog") };
        let all = store.search(&SearchRequest { page: PageRequest::first(100), ..request.clone() }).await?;
        assert!(all.served.is_relaxed, "{:?}", all.served);
        let whole = ids(&all.hits);
        assert_eq!(whole.len(), 12, "{moment:?}");
        assert_eq!(ids(&oracle::every_page(&*store, &request).await?), whole, "{moment:?}");
        let found = around(&*store, &request, async {
            let extra = made(&*store, &format!("{moment:?}"), 3).await;
            store.append(&extra, &[user("concatenate hotdog")], &super::super::fixture::request(4)).await?;
            Ok(())
        });
        assert_eq!(found.await?, whole, "{moment:?}");
        store
            .delete(&id(&format!("{moment:?}")), DeleteExtent::Conversation, &super::super::fixture::request(5))
            .await?;
    }
    // The last hit of a page may be deleted when the next page is requested.
    let request = SearchRequest { relax: true, page: PageRequest::first(4), ..question("concatenate hotdog") };
    let all = asked(&*store, &SearchRequest { page: PageRequest::first(100), ..request.clone() }).await?;
    let gone = all[3].session.clone();
    let found = around(&*store, &request, async {
        store.delete(&gone, DeleteExtent::Conversation, &super::super::fixture::request(6)).await?;
        Ok(())
    });
    let left = all[4..].iter().filter(|hit| hit.session != gone);
    let expect: Vec<MessageId> = all[..4].iter().chain(left).map(|hit| hit.message).collect();
    assert_eq!(found.await?, expect);
    Ok(())
}
