//! Values that are stored beside the sessions.

use crate::fixture::assert_invalid;
use crate::{CaseResult, Setup};
use hermes_session::DeleteExtent;

/// The last value is kept; keys match exactly.
pub async fn kept_and_overwritten(setup: Setup) -> CaseResult {
    let (store, other) = (setup.store().await, setup.store().await);
    assert_eq!(store.meta("key").await?, None);
    let long = "大".repeat(100_000);
    for value in ["one", "", "  two \r\n", "🚀 'quoted\" %_", &long] {
        store.set_meta("key", Some(value)).await?;
        assert_eq!(other.meta("key").await?.as_deref(), Some(value));
    }
    for (key, value) in
        [("KEY", "upper"), ("key ", "space"), ("ké", "accent"), ("ke\u{301}", "combined"), ("k%", "sign")]
    {
        store.set_meta(key, Some(value)).await?;
    }
    assert_eq!(store.meta("key").await?, Some(long));
    for (key, value) in
        [("KEY", "upper"), ("key ", "space"), ("ké", "accent"), ("ke\u{301}", "combined"), ("k%", "sign")]
    {
        assert_eq!(store.meta(key).await?.as_deref(), Some(value), "{key:?}");
    }
    store.set_meta("key", None).await?;
    store.set_meta("never there", None).await?;
    assert_eq!(other.meta("key").await?, None);
    assert_eq!(other.meta("KEY").await?.as_deref(), Some("upper"));
    Ok(())
}

/// A value is swapped only if it is the expected one.
pub async fn of_two_that_expect_the_same_one_wins(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    assert!(!store.swap_meta("key", Some("x"), Some("y")).await?);
    assert!(store.swap_meta("key", None, Some("1")).await?);
    assert!(!store.swap_meta("key", None, Some("2")).await?);
    assert!(store.swap_meta("key", Some("1"), Some("")).await?);
    assert!(store.swap_meta("key", Some(""), None).await?);
    assert_eq!(store.meta("key").await?, None);
    let stores = [setup.store().await, setup.store().await, setup.store().await, setup.store().await];
    // A key with a value, and keys without one, where there is no row to lock.
    for round in 0..25 {
        let key = if round < 5 { "key".to_owned() } else { format!("key {round}") };
        let expected = store.meta(&key).await?;
        let mut all = Vec::new();
        for (number, store) in stores.iter().enumerate() {
            let (store, key, expected) = (store.clone(), key.clone(), expected.clone());
            let value = format!("{round} {number}");
            all.push(tokio::spawn(async move { store.swap_meta(&key, expected.as_deref(), Some(&value)).await }));
        }
        let mut winners = 0;
        for one in all {
            winners += u32::from(one.await.unwrap()?);
        }
        assert_eq!(winners, 1, "round {round}");
    }
    assert_invalid(store.swap_meta("", None, Some("x")).await, "meta key");
    Ok(())
}

/// A key is 1 to 255 bytes long.
pub async fn keys_are_checked(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    for key in ["", &"x".repeat(256), &"é".repeat(128)] {
        assert_invalid(store.set_meta(key, Some("x")).await, "meta key");
        assert_invalid(store.set_meta(key, None).await, "meta key");
        assert_eq!(store.meta(key).await?, None);
    }
    let longest = "x".repeat(255);
    store.set_meta(&longest, Some("fits")).await?;
    assert_eq!(store.meta(&longest).await?.as_deref(), Some("fits"));
    Ok(())
}

/// Meta values do not affect sessions, nor sessions them.
pub async fn apart_from_sessions(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = crate::fixture::made(&*store, "s", 0).await;
    store.set_meta("s", Some("value")).await?;
    store.delete(&session, DeleteExtent::Conversation, &crate::fixture::request(1)).await?;
    assert_eq!(store.meta("s").await?.as_deref(), Some("value"));
    Ok(())
}

/// Pages are in the order of the keys' bytes, and neither skip nor repeat.
pub async fn pages_in_the_order_of_bytes(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    assert_eq!(store.meta_page(None, 10).await?, []);
    let keys = ["", "A", "B", "a", "a ", "a%", "b", "k\u{301}", "ké", "z", "Ä", "é", "大", "\u{ffff}", "🚀"];
    for key in keys.iter().skip(1).rev() {
        store.set_meta(key, Some(&format!("value of {key}"))).await?;
    }
    store.set_meta("empty", Some("")).await?;
    store.set_meta("gone", Some("x")).await?;
    store.set_meta("gone", None).await?;
    let all = store.meta_page(None, 1_000).await?;
    let mut expected: Vec<&str> = keys.iter().skip(1).copied().chain(["empty"]).collect();
    expected.sort_unstable();
    assert_eq!(all.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), expected);
    assert!(
        all.iter().all(|(key, value)| *value == if key == "empty" { String::new() } else { format!("value of {key}") })
    );
    for limit in [1, 2, 4, 15] {
        let (mut paged, mut after) = (Vec::new(), None);
        loop {
            let page = store.meta_page(after.as_deref(), limit).await?;
            assert!(page.len() <= limit as usize);
            let Some((last, _)) = page.last() else { break };
            after = Some(last.clone());
            paged.extend(page);
            assert!(paged.len() <= all.len(), "something comes twice");
        }
        assert_eq!(paged, all, "by {limit}");
    }
    assert_eq!(store.meta_page(None, 0).await?, []);
    assert_eq!(store.meta_page(Some("a!"), 1).await?[0].0, "a%", "a key that is not there has its place as well");
    Ok(())
}
