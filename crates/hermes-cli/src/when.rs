//! The options `--since` and `--until`. [`hermes_recall::when`] parses the times.

use hermes_recall::when::Reference;
use hermes_session::{Invalid, Timestamp};
use hermes_terminal::time::Now;

/// Returns the half-open range that the two options name together.
///
/// # Errors
/// If one is not a time, or the range is empty.
pub(crate) fn range(
    since_text: Option<&str>,
    until_text: Option<&str>,
    now: &Now,
) -> Result<(Option<Timestamp>, Option<Timestamp>), Invalid> {
    let reference = Reference { at: now.at, zone: &now.zone };
    let from = since_text.map(|text| reference.since("--since", text)).transpose()?;
    let to = until_text.map(|text| reference.until("--until", text)).transpose()?;
    if from.zip(to).is_some_and(|(from, to)| from >= to) {
        return Err(Invalid::new("--since", "is later than --until", "swap them"));
    }
    Ok((from, to))
}
