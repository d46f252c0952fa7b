//! Counters of tokens and costs.

use crate::fixture::{id, made, new_session, request, stored};
use crate::{CaseResult, Setup};
use hermes_session::{NewSession, Session, Usage, UsageMode, UsageUpdate};

fn everything(factor: i64, word: &str) -> UsageUpdate {
    let word = || Some(word.to_owned());
    UsageUpdate {
        mode: UsageMode::Add,
        input_tokens: Some(factor),
        output_tokens: Some(10 * factor),
        cache_read_tokens: Some(100 * factor),
        cache_write_tokens: Some(1_000 * factor),
        reasoning_tokens: Some(10_000 * factor),
        api_call_count: Some(100_000 * factor),
        estimated_cost_usd: Some(factor as f64 * 0.25),
        actual_cost_usd: Some(factor as f64 * 0.5),
        cost_status: word(),
        cost_source: word(),
        pricing_version: word(),
        billing_provider: word(),
        billing_base_url: word(),
        billing_mode: word(),
        model: word(),
    }
}

/// Additions add up; the newest status and the first billing provider are kept.
pub async fn adds_up(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let before = stored(&*store, &session).await;
    store.record_usage(&session, &everything(3, "one"), &request(1)).await?;
    store.record_usage(&session, &everything(-1, "two"), &request(2)).await?;
    let (one, two) = (|| Some("one".to_owned()), || Some("two".to_owned()));
    let usage = Usage {
        input_tokens: 2,
        output_tokens: 20,
        cache_read_tokens: 200,
        cache_write_tokens: 2_000,
        reasoning_tokens: 20_000,
        api_call_count: 200_000,
        estimated_cost_usd: Some(0.5),
        actual_cost_usd: Some(1.0),
        cost_status: two(),
        cost_source: two(),
        pricing_version: two(),
        billing_provider: one(),
        billing_base_url: one(),
        billing_mode: one(),
    };
    assert_eq!(stored(&*store, &session).await, Session { usage, model: one(), ..before });
    Ok(())
}

/// Adding nothing makes the estimate a known zero and changes nothing else.
pub async fn adding_nothing_makes_the_estimate_known(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let before = stored(&*store, &session).await;
    store.record_usage(&session, &UsageUpdate::default(), &request(1)).await?;
    let usage = Usage { estimated_cost_usd: Some(0.0), ..Usage::default() };
    assert_eq!(stored(&*store, &session).await, Session { usage, ..before });
    Ok(())
}

/// Setting replaces the given values and leaves the rest, including costs.
pub async fn sets_only_what_is_given(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let set = |update| UsageUpdate { mode: UsageMode::Set, ..update };
    store
        .record_usage(&session, &set(UsageUpdate { output_tokens: Some(5), ..UsageUpdate::default() }), &request(1))
        .await?;
    assert_eq!(stored(&*store, &session).await.usage, Usage { output_tokens: 5, ..Usage::default() });
    store.record_usage(&session, &everything(3, "one"), &request(2)).await?;
    let before = stored(&*store, &session).await.usage;
    store.record_usage(&session, &set(UsageUpdate::default()), &request(3)).await?;
    assert_eq!(stored(&*store, &session).await.usage, before);
    let update = UsageUpdate { input_tokens: Some(0), actual_cost_usd: Some(9.5), ..UsageUpdate::default() };
    store.record_usage(&session, &set(update), &request(4)).await?;
    let expected = Usage { input_tokens: 0, actual_cost_usd: Some(9.5), ..before };
    assert_eq!(stored(&*store, &session).await.usage, expected);
    store.record_usage(&session, &set(everything(7, "two")), &request(5)).await?;
    let usage = stored(&*store, &session).await.usage;
    assert_eq!(usage, expected.after(&set(everything(7, "two"))));
    assert_eq!((usage.output_tokens, usage.billing_mode.as_deref()), (70, Some("one")));
    Ok(())
}

/// A model given with the usage is set on a session that has none, and only once.
pub async fn the_model_is_filled_once(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let update = |model: &str| UsageUpdate { model: Some(model.into()), ..UsageUpdate::default() };
    let session = made(&*store, "s", 0).await;
    for model in ["first", "second"] {
        store.record_usage(&session, &update(model), &request(1)).await?;
        assert_eq!(stored(&*store, &session).await.model.as_deref(), Some("first"));
    }
    for (name, model) in [("set", "given"), ("empty", "")] {
        store.create(&NewSession { model: Some(model.into()), ..new_session(name) }, &request(0)).await?;
        store.record_usage(&id(name), &update("other"), &request(1)).await?;
        assert_eq!(stored(&*store, &id(name)).await.model.as_deref(), Some(model));
    }
    Ok(())
}

/// Counters saturate at 64 bits, and costs that are not finite numbers are ignored.
pub async fn neither_wraps_nor_takes_nonsense(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    let session = made(&*store, "s", 0).await;
    let add = |tokens, cost| UsageUpdate {
        input_tokens: Some(tokens),
        output_tokens: Some(-tokens),
        estimated_cost_usd: Some(cost),
        actual_cost_usd: Some(cost),
        ..UsageUpdate::default()
    };
    store.record_usage(&session, &add(i64::MAX, f64::NAN), &request(1)).await?;
    store.record_usage(&session, &add(5, f64::INFINITY), &request(2)).await?;
    let expected =
        Usage { input_tokens: i64::MAX, output_tokens: i64::MIN, estimated_cost_usd: Some(0.0), ..Usage::default() };
    assert_eq!(stored(&*store, &session).await.usage, expected);
    Ok(())
}

/// Concurrent additions all count.
pub async fn concurrent_additions_all_count(setup: Setup) -> CaseResult {
    let handles = [setup.store().await, setup.store().await];
    let session = made(&*handles[0], "s", 0).await;
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..40 {
        let (store, session) = (handles[n % 2].clone(), session.clone());
        calls.spawn(async move { store.record_usage(&session, &everything(1, "x"), &request(1)).await });
    }
    for answer in calls.join_all().await {
        answer?;
    }
    let usage = stored(&*handles[1], &session).await.usage;
    assert_eq!((usage.input_tokens, usage.api_call_count, usage.actual_cost_usd), (40, 4_000_000, Some(20.0)));
    Ok(())
}
