//! Summaries by a model, for who has one. Nothing needs them: without one, or when it fails, the window itself is the answer.

use crate::conversation::Conversation;
use crate::window::Window;
use async_trait::async_trait;
use futures_util::StreamExt as _;
use std::error::Error;
use std::time::Duration;

/// What a summary is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// What was looked for.
    pub query: &'a str,
    /// The conversation.
    pub conversation: &'a Conversation,
    /// The part of it that is to be summarised.
    pub window: &'a Window,
}

/// Something that summarises a part of a conversation, such as a model.
#[async_trait]
pub trait Summariser: Send + Sync {
    /// Tells in a few sentences what was said about what was looked for. A blank answer is none.
    ///
    /// # Errors
    /// Whatever kept it from doing so; the window stands in then.
    async fn summarise(&self, asked: Asked<'_>) -> Result<String, Box<dyn Error + Send + Sync>>;
}

/// How summaries are made.
#[derive(Clone, Copy)]
pub struct Summarising<'a> {
    /// By whom.
    pub summariser: &'a dyn Summariser,
    /// How many at once; at least one.
    pub at_once: usize,
    /// How long one may take.
    pub timeout: Duration,
}

/// What became of a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Summarised {
    /// Nobody asked for one: the window is the answer.
    No,
    /// Here it is.
    Yes(String),
    /// It could not be made, and why: the window is the answer.
    Failed(String),
}

/// Makes summaries of windows, in their order.
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

/// Makes one summary, within its time.
async fn summary(summariser: &dyn Summariser, timeout: Duration, asked: Asked<'_>) -> Summarised {
    match tokio::time::timeout(timeout, summariser.summarise(asked)).await {
        Ok(Ok(text)) if text.trim().is_empty() => Summarised::Failed("the summary is blank".to_owned()),
        Ok(Ok(text)) => Summarised::Yes(text),
        Ok(Err(error)) => Summarised::Failed(error.to_string()),
        Err(_) => Summarised::Failed(format!("it took longer than {} s", timeout.as_secs_f64())),
    }
}
