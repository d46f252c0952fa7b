//! Values kept beside the sessions.

use crate::fixture::assert_invalid;
use crate::{CaseResult, Setup};

/// The last value given is the one that is kept; keys are exact.
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

/// Nothing of the sessions is touched by meta values, nor they by the sessions.
pub async fn apart_from_sessions(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = crate::fixture::made(&*store, "s", 0).await;
    store.set_meta("s", Some("value")).await?;
    store.delete_conversation(&session, &crate::fixture::request(1)).await?;
    assert_eq!(store.meta("s").await?.as_deref(), Some("value"));
    Ok(())
}
