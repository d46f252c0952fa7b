//! Optional summaries by a model. Without a model, or when it fails, the window itself is the answer.

use crate::conversation::Conversation;
use crate::window::Window;
use async_trait::async_trait;
use futures_util::StreamExt as _;
use std::error::Error;
use std::time::Duration;

/// Input of a summary.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The query.
    pub query: &'a str,
    /// The conversation.
    pub conversation: &'a Conversation,
    /// The part to summarise.
    pub window: &'a Window,
}

/// Something that summarises a part of a conversation, such as a model.
#[async_trait]
pub trait Summariser: Send + Sync {
    /// Summarises in a few sentences what the window says about the query. A blank answer counts as a failure.
    ///
    /// # Errors
    /// Any error; the window is used instead.
    async fn summarise(&self, asked: Asked<'_>) -> Result<String, Box<dyn Error + Send + Sync>>;
}

/// How summaries are produced.
#[derive(Clone, Copy)]
pub struct Summarising<'a> {
    /// The summariser.
    pub summariser: &'a dyn Summariser,
    /// Maximum number of concurrent summaries; 0 counts as 1.
    pub at_once: usize,
    /// Time limit for one summary.
    pub timeout: Duration,
}

/// Outcome of a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Summarised {
    /// None was requested: the window is the answer.
    No,
    /// The summary.
    Yes(String),
    /// It failed for this reason: the window is the answer.
    Failed(String),
}

/// Summarises windows. The results are in the same order.
pub(crate) async fn summaries(
    summarising: Option<Summarising<'_>>,
    query: &str,
    windows: &[(&Conversation, &Window)],
) -> Vec<Summarised> {
    let Some(Summarising { summariser, at_once, timeout }) = summarising else {
        return vec![Summarised::No; windows.len()];
    };
    let ask = |(conversation, window)| summary(summariser, timeout, Asked { query, conversation, window });
    let work: Vec<_> = windows.iter().copied().map(ask).collect();
    futures_util::stream::iter(work).buffered(at_once.max(1)).collect().await
}

/// Produces one summary within the time limit.
async fn summary(summariser: &dyn Summariser, timeout: Duration, asked: Asked<'_>) -> Summarised {
    match tokio::time::timeout(timeout, summariser.summarise(asked)).await {
        Ok(Ok(text)) if text.trim().is_empty() => Summarised::Failed("the summary is blank".to_owned()),
        Ok(Ok(text)) => Summarised::Yes(text),
        Ok(Err(error)) => Summarised::Failed(error.to_string()),
        Err(_) => Summarised::Failed(format!("it took longer than {} s", timeout.as_secs_f64())),
    }
}
