//! Summaries: concurrent, with a time limit, and with the window as a fallback.

use crate::{Place, session};
use async_trait::async_trait;
use hermes_recall::{Asked, Recall, RecallRequest, Recalled, Summarised, Summariser, Summarising, session_search};
use hermes_session::Scope;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Answers depending on the conversation.
#[derive(Default)]
struct Model {
    asked: AtomicUsize,
}

#[async_trait]
impl Summariser for Model {
    async fn summarise(&self, asked: Asked<'_>) -> Result<String, Box<dyn Error + Send + Sync>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        assert!(asked.window.text.contains("ferry") && asked.query == "ferry");
        match asked.conversation.id().as_str() {
            "fails" => Err("out of credit".into()),
            "blank" => Ok(" \n".into()),
            "hangs" => std::future::pending().await,
            name => Ok(format!("about {name}")),
        }
    }
}

async fn place(names: &[&str]) -> Place {
    let place = Place::new();
    for name in names {
        place.session(session(name, "cli"), 0.0).await;
        place.say(name, &["the ferry"]).await;
    }
    place
}

async fn recalled(place: &Place, summarising: Summarising<'_>) -> Vec<Recalled> {
    let request = RecallRequest { limit: 10, ..RecallRequest::new("ferry") };
    match session_search(&place.store, &Scope::All, &request, Some(summarising)).await.unwrap() {
        Recall::Found { results, .. } => results,
        Recall::Recent(_) => panic!("not asked for"),
    }
}

#[tokio::test]
async fn the_window_stands_in_for_a_summary_that_fails() {
    let place = place(&["fails", "blank", "hangs", "works"]).await;
    let model = Model::default();
    let summarising = Summarising { summariser: &model, at_once: 3, timeout: Duration::from_millis(20) };
    let results = recalled(&place, summarising).await;
    assert_eq!((results.len(), model.asked.into_inner()), (4, 4));
    for result in results {
        match (result.conversation.id().as_str(), &result.summary) {
            ("works", Summarised::Yes(text)) => {
                assert_eq!((text.as_str(), result.text()), ("about works", "about works"))
            }
            ("fails", Summarised::Failed(why)) => assert_eq!(why, "out of credit"),
            ("blank" | "hangs", Summarised::Failed(_)) => assert_eq!(result.text(), "[USER]: the ferry"),
            other => panic!("{other:?}"),
        }
    }
}

/// Counts how many summaries run concurrently.
#[derive(Default)]
struct Together {
    running: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl Summariser for Together {
    async fn summarise(&self, _: Asked<'_>) -> Result<String, Box<dyn Error + Send + Sync>> {
        let running = self.running.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(running, Ordering::Relaxed);
        // By then all that may run concurrently have started.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        self.running.fetch_sub(1, Ordering::Relaxed);
        Ok("together".into())
    }
}

#[tokio::test]
async fn as_many_at_once_as_are_allowed() {
    let place = place(&["a", "b", "c", "d"]).await;
    for (at_once, expect) in [(0, 1), (1, 1), (3, 3), (9, 4)] {
        let summariser = Together::default();
        let summarising = Summarising { summariser: &summariser, at_once, timeout: Duration::from_secs(60) };
        let results = recalled(&place, summarising).await;
        assert!(results.iter().all(|result| result.text() == "together"));
        assert_eq!(summariser.most.into_inner(), expect, "{at_once} at once");
    }
}
