//! Summaries: several at once, within their time, and the window where there is none.

use crate::{Place, session};
use async_trait::async_trait;
use hermes_recall::{Asked, Recall, RecallRequest, Recalled, Summarised, Summariser, Summarising, session_search};
use hermes_session::Scope;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Barrier;

/// Answers by the conversation that it is asked about.
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

/// Goes on only when three are at it.
struct Together(Barrier);

#[async_trait]
impl Summariser for Together {
    async fn summarise(&self, _: Asked<'_>) -> Result<String, Box<dyn Error + Send + Sync>> {
        self.0.wait().await;
        Ok("together".into())
    }
}

#[tokio::test]
async fn as_many_at_once_as_are_allowed() {
    let place = place(&["a", "b", "c"]).await;
    for (at_once, expect) in [(3, 3), (2, 0)] {
        let summariser = Together(Barrier::new(3));
        let summarising = Summarising { summariser: &summariser, at_once, timeout: Duration::from_millis(500) };
        let results = recalled(&place, summarising).await;
        let made = results.iter().filter(|result| matches!(result.summary, Summarised::Yes(_))).count();
        assert_eq!(made, expect, "{at_once} at once");
    }
}
