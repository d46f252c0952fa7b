//! Lists: the order of rows, and paging.

use crate::fixture::{at, id, ids, made, request, row_ids, user};
use crate::listing::{family, sessions, used};
use crate::{CaseResult, Setup};
use hermes_session::{
    ListCursor, ListRequest, Listing, Maintenance, Order, PageRequest, SessionFilter, SessionId, StoreError,
    UsageUpdate, View,
};

const VIEWS: [View; 2] = [View::Conversations, View::Sessions];
pub(crate) const ORDERS: [Order; 6] =
    [Order::Active, Order::Started, Order::Messages, Order::Cost, Order::Id, Order::PinnedFirst];

/// Creates sessions with equal and different times, in an order that no column has by chance.
pub(crate) async fn crowd(store: &dyn Maintenance) -> Result<(), StoreError> {
    for (name, started, said) in [
        ("m", 5, Some(50)),
        ("c", 7, None),
        ("x", 5, Some(7)),
        ("B", 5, Some(50)),
        ("p", 9, Some(2)),
        ("é", 5, None),
        ("a", 1, Some(50)),
        ("z", 1, None),
        ("_", 3, Some(9)),
    ] {
        made(store, name, started).await;
        if let Some(said) = said {
            store.append(&id(name), &[user("x")], &request(said)).await?;
        }
    }
    Ok(())
}

/// Newest first, with ties by id in the same direction; by id, smallest first.
pub async fn orders(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    crowd(&*store).await?;
    for view in VIEWS {
        let listed = async |order| {
            let listing = store.list(&ListRequest { view, order, ..ListRequest::default() }).await.unwrap();
            assert_eq!(listing.next, None);
            listing.rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
        };
        assert_eq!(listed(Order::Active).await, ids(&["m", "a", "B", "p", "_", "x", "c", "é", "z"]), "{view:?}");
        assert_eq!(listed(Order::Started).await, ids(&["p", "c", "é", "x", "m", "B", "_", "z", "a"]), "{view:?}");
        assert_eq!(listed(Order::Id).await, ids(&["B", "_", "a", "c", "m", "p", "x", "z", "é"]), "{view:?}");
    }
    Ok(())
}

/// Order by the number of messages and by the cost of the row, with ties by id; an unknown cost counts as 0.
pub async fn orders_by_size(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    family(&*store).await?;
    for (name, messages, cost) in
        [("n", 3, Some(1.5)), ("o", 0, None), ("p", 3, Some(0.0)), ("q", 1, Some(1.75)), ("r", 2, None)]
    {
        made(&*store, name, 5).await;
        store.append(&id(name), &vec![user("x"); messages], &request(6)).await?;
        if let Some(cost) = cost {
            store.record_usage(&id(name), &used(1, cost, "a"), &request(7)).await?;
        }
    }
    let billed = UsageUpdate { actual_cost_usd: Some(0.125), estimated_cost_usd: Some(9.0), ..UsageUpdate::default() };
    store.record_usage(&id("r"), &billed, &request(8)).await?;
    let listed = async |view, order| {
        let listing = store.list(&ListRequest { view, order, ..ListRequest::default() }).await.unwrap();
        listing.rows.iter().map(|row| row.id.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(listed(View::Conversations, Order::Messages).await, "c2 p n r q b o");
    assert_eq!(listed(View::Conversations, Order::Cost).await, "q c2 n r p o b");
    assert_eq!(listed(View::Sessions, Order::Messages).await, "p n root r d1 c2 q c1 b o d2");
    assert_eq!(listed(View::Sessions, Order::Cost).await, "q n c1 d1 root r p o d2 c2 b");
    Ok(())
}

/// Pinned conversations come first, then the others, each part by activity. Filters apply, and a session follows its
/// conversation's pin.
pub async fn pinned_first(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    crowd(&*store).await?;
    let listed = async |view, filter: SessionFilter, after| {
        let request = ListRequest { view, filter, order: Order::PinnedFirst, after, ..ListRequest::default() };
        let listing = store.list(&request).await.unwrap();
        listing.rows.iter().map(|row| row.id.to_string()).collect::<Vec<_>>().join(" ")
    };
    let all = SessionFilter::default;
    for view in VIEWS {
        assert_eq!(listed(view, all(), None).await, "m a B p _ x c é z", "nothing is pinned: {view:?}");
    }
    // The time of pinning does not matter.
    for (name, seconds) in [("z", 60), ("p", 61), ("x", 59), ("a", 62)] {
        store.set_pinned(&id(name), true, &request(seconds)).await?;
    }
    store.set_pinned(&id("a"), false, &request(63)).await?;
    for view in VIEWS {
        assert_eq!(listed(view, all(), None).await, "p x z m a B _ c é", "{view:?}");
        let pinned = |pinned| SessionFilter { pinned: Some(pinned), ..all() };
        assert_eq!(listed(view, pinned(true), None).await, "p x z", "{view:?}");
        assert_eq!(listed(view, pinned(false), None).await, "m a B _ c é", "{view:?}");
        let since = SessionFilter { active_since: Some(at(7)), ..all() };
        assert_eq!(listed(view, since, None).await, "p x m a B _ c", "{view:?}");
        // A cursor is a position in either part, whether or not its row still exists.
        let cursor = |seconds, name, is_pinned| {
            Some(ListCursor { is_pinned, ..ListCursor::new(at(seconds).seconds(), id(name)) })
        };
        assert_eq!(listed(view, all(), cursor(8, "gone", true)).await, "x z m a B _ c é", "{view:?}");
        assert_eq!(listed(view, all(), cursor(0, "gone", true)).await, "m a B _ c é", "{view:?}");
        assert_eq!(listed(view, all(), cursor(8, "gone", false)).await, "c é", "{view:?}");
        // An offset may reach from one part into the other.
        for (limit, offset, expect) in [(2, 0, "p x"), (2, 2, "z m"), (3, 3, "m a B"), (9, 7, "c é"), (1, 9, "")] {
            let page = PageRequest::new(limit, offset)?;
            let request = ListRequest { view, order: Order::PinnedFirst, page, ..ListRequest::default() };
            assert_eq!(row_ids(&store.list(&request).await?).join(" "), expect, "{view:?} {limit} behind {offset}");
        }
    }
    family(&*store).await?;
    store.set_pinned(&id("d1"), true, &request(64)).await?;
    assert_eq!(listed(View::Conversations, all(), None).await, "c2 p x z m a B b _ c é");
    assert_eq!(listed(View::Sessions, all(), None).await, "d1 c2 d2 c1 p x z root m a B b _ c é");
    let titled = SessionFilter { title: Some("BUILD".into()), ..all() };
    assert_eq!(listed(View::Conversations, titled.clone(), None).await, "c2 b");
    assert_eq!(listed(View::Sessions, titled, None).await, "c2 c1 root b");
    Ok(())
}

/// Pages by cursor and pages by offset, of any size, give the whole list, each row once.
pub async fn pages_neither_skip_nor_repeat(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    crowd(&*store).await?;
    family(&*store).await?;
    for name in ["x", "z", "root"] {
        store.set_pinned(&id(name), true, &request(60)).await?;
    }
    for (view, order) in VIEWS.into_iter().flat_map(|view| ORDERS.map(|order| (view, order))) {
        let whole = store.list(&ListRequest { view, order, ..ListRequest::default() }).await?.rows;
        assert_eq!(whole.len(), if view == View::Sessions { 15 } else { 11 });
        for limit in [1, 2, 4, 10, 11, 15, 16] {
            let page = PageRequest::first(limit);
            let (mut paged, mut after) = (Vec::new(), None);
            loop {
                let listing = store
                    .list(&ListRequest { view, order, page: page.clone(), after, ..ListRequest::default() })
                    .await?;
                assert_eq!(listing.next.is_some(), listing.rows.len() == limit as usize);
                paged.extend(listing.rows);
                // Pages that repeat rows would never end.
                assert!(paged.len() <= whole.len(), "{view:?} {order:?} by {limit} repeats");
                after = listing.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(paged, whole, "{view:?} {order:?} by {limit}");
            let mut paged = Vec::new();
            for offset in (0..20).step_by(limit as usize) {
                let page = PageRequest::new(i64::from(limit), offset)?;
                paged.extend(store.list(&ListRequest { view, order, page, ..ListRequest::default() }).await?.rows);
            }
            assert_eq!(paged, whole, "{view:?} {order:?} by {limit}, by offset");
        }
    }
    Ok(())
}

/// Edge cases of paging: limit 0, past the end, more than there is, a row that is gone.
pub async fn edges_of_pages(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    assert_eq!(store.list(&ListRequest::default()).await?, Listing::default());
    crowd(&*store).await?;
    let by_id = |page, after: Option<&str>| ListRequest {
        order: Order::Id,
        page,
        after: after.map(|name| ListCursor::new(1e9, id(name))),
        ..ListRequest::default()
    };
    assert_eq!(store.list(&by_id(PageRequest::first(0), None)).await?, Listing::default());
    assert_eq!(store.list(&by_id(PageRequest::new(5, 9)?, None)).await?, Listing::default());
    assert_eq!(store.list(&by_id(PageRequest::new(5, i64::MAX)?, None)).await?, Listing::default());
    assert_eq!(row_ids(&store.list(&by_id(PageRequest::first(u32::MAX), None)).await?).len(), 9);
    // A cursor is a position: its row may be gone, or may never have existed. The offset counts from it.
    assert_eq!(row_ids(&store.list(&by_id(PageRequest::first(2), Some("n"))).await?), ["p", "x"]);
    assert_eq!(row_ids(&store.list(&by_id(PageRequest::new(2, 1)?, Some("c"))).await?), ["p", "x"]);
    let active = |seconds: i32, name: &str| ListRequest {
        after: Some(ListCursor::new(at(seconds).seconds(), id(name))),
        ..ListRequest::default()
    };
    assert_eq!(row_ids(&store.list(&active(9, "b")).await?), ["_", "x", "c", "é", "z"]);
    assert_eq!(row_ids(&store.list(&active(9, "Z")).await?), ["x", "c", "é", "z"]);
    assert_eq!(row_ids(&store.list(&active(0, "b")).await?), [] as [&str; 0]);
    for (limit, offset) in [(-1, 0), (0, -1), (i64::MIN, i64::MIN)] {
        assert!(PageRequest::new(limit, offset).is_err());
    }
    Ok(())
}

/// In the order of ids no row is skipped or repeated while others write.
pub async fn paging_while_others_write(setup: Setup) -> CaseResult {
    let (store, writer) = (setup.store().await, setup.store().await);
    for n in 0..20 {
        made(&*store, &format!("k{n:02}"), n).await;
    }
    let (mut seen, mut after, mut round) = (Vec::new(), None, 0);
    loop {
        let request = ListRequest { order: Order::Id, page: PageRequest::first(3), after, ..sessions() };
        let listing = store.list(&request).await?;
        seen.extend(listing.rows.into_iter().map(|row| row.id));
        after = listing.next;
        if after.is_none() {
            break;
        }
        round += 1;
        assert!(round < 40, "the pages do not end: {seen:?}");
        // Old rows become active, and rows are added before and after the reader's position.
        writer.append(&id("k19"), &[user("x")], &crate::fixture::request(1_000 + round)).await?;
        made(&*writer, &format!("a{round}"), 5_000 + round).await;
        made(&*writer, &format!("z{round}"), -round).await;
    }
    let old: Vec<SessionId> = seen.iter().filter(|id| id.as_str().starts_with('k')).cloned().collect();
    assert_eq!(old, (0..20).map(|n| id(&format!("k{n:02}"))).collect::<Vec<_>>());
    assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
    Ok(())
}
