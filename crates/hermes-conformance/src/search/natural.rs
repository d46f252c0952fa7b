//! Questions as people ask them.

use crate::questions::{self, Question};
use crate::{CaseResult, Setup};

/// Questions as people ask them find the conversation that answers them, without a model.
#[expect(clippy::print_stdout, reason = "the figures are what it is for")]
pub async fn natural_questions(setup: Setup) -> CaseResult {
    let store = setup.store().await;
    questions::fill(&*store).await?;
    while store.upkeep().await? {}
    for (is_held_out, least) in [(false, 0.89), (true, 0.85)] {
        let asked: Vec<Question> =
            questions::questions().into_iter().filter(|question| question.is_held_out == is_held_out).collect();
        let tallies = questions::ask(&*store, &asked).await?;
        for (language, tally) in &tallies {
            // Figures for information, visible with `--nocapture`.
            println!("{} {language}: {tally}", if is_held_out { "held out" } else { "tuned on" });
        }
        assert!(tallies["all"].share_in_three() >= least, "{}", tallies["all"]);
    }
    Ok(())
}
