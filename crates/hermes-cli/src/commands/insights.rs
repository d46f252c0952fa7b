//! `hermes insights`

use crate::context::{Context, Opened};
use crate::error::CliError;
use crate::exporting::{Draft, Target};
use crate::narrowing::note_missing_source;
use crate::ui::insights::{Report, lines, page};
use crate::ui::json;
use hermes_app::listing::source_filter;
use hermes_session::{InsightsRequest, Invalid, SessionFilter, Source};
use hermes_terminal::Line;
use hermes_terminal::figures::size;
use hermes_terminal::time::Now;
use std::path::PathBuf;

/// A hundred years, in days.
const MAX_DAYS: u32 = 36_500;
const DAY: f64 = 86_400.0;

/// Show usage statistics: conversations, models, cost, tools, skills and times of day
#[derive(clap::Args)]
pub(crate) struct InsightsArgs {
    /// Only conversations started in the last N days
    #[arg(long, value_name = "N", default_value_t = 30, allow_negative_numbers = true)]
    days: i64,
    /// Only conversations from this source, such as cli or telegram; those of tools are counted only with --source tool
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write an HTML page with charts to FILE, or - for stdout
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
    /// Overwrite an existing file without asking
    #[arg(short, long, requires = "html")]
    yes: bool,
}

impl InsightsArgs {
    /// Returns the number of days and the request to the store.
    fn request(&self, now: &Now) -> Result<(u32, InsightsRequest), Invalid> {
        let days = u32::try_from(self.days).ok().filter(|days| (1..=MAX_DAYS).contains(days)).ok_or_else(|| {
            Invalid::new("--days", format!("{} is out of range", self.days), "give 1 to 36500, such as 7 or 365")
        })?;
        let SessionFilter { sources, exclude_sources, .. } = source_filter(self.source.as_slice(), &[])?;
        let (since, source) =
            (now.at.plus(-f64::from(days) * DAY), sources.and_then(|sources| sources.into_iter().next()));
        Ok((days, InsightsRequest { since, source, exclude_sources }))
    }
}

pub(crate) async fn run(context: &Context, args: InsightsArgs) -> Result<(), CliError> {
    let (days, request) = args.request(&context.now).map_err(CliError::usage)?;
    let Opened { store, url, .. } = context.open_for_reading().await?;
    // Checks the target first, so that nobody waits for a report that can't be written.
    let is_stdout = args.html.as_ref().is_some_and(|file| file.as_os_str() == "-");
    let file = args.html.as_ref().filter(|_| !is_stdout);
    let target = file.map(|file| Target::of(file, &url)).transpose()?;
    if let Some(target) = target.as_ref().filter(|target| target.is_there()) {
        let question = format!("{} already exists. Overwrite it?", target.path().display());
        context.ui.consent(args.yes, Vec::new(), &question)?;
    }
    let told = store.insights(&request).await?;
    let source = request.source.as_ref().map(Source::as_str);
    let report = Report::new(days, source, &told, &context.now);
    if args.json {
        return context.ui.json(&json::insights::insights(&report));
    }
    if report.is_empty() {
        note_missing_source(context, &*store, args.source.as_slice()).await?;
    }
    if is_stdout {
        return context.ui.script(&page(&report));
    }
    let Some(target) = target else { return context.ui.print(lines(&report, context.ui.width())) };
    let mut draft = Draft::new(&target)?;
    draft.write(&page(&report))?;
    let bytes = draft.finish()?;
    context.ui.print_done([Line::plain_text(format!("Wrote {} ({}).", target.path().display(), size(bytes)))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_session::Timestamp;
    use jiff::tz::TimeZone;

    fn args(days: i64, source: Option<&str>) -> InsightsArgs {
        InsightsArgs { days, source: source.map(str::to_owned), json: false, html: None, yes: false }
    }

    #[test]
    fn a_span_ends_now() {
        let now = Now { at: Timestamp::from_seconds(1_741_166_123.0).unwrap(), zone: TimeZone::UTC };
        let (days, request) = args(7, Some("api-server")).request(&now).unwrap();
        assert_eq!((days, request.since), (7, now.at.plus(-604_800.0)));
        assert_eq!(request.source.as_ref().map(Source::as_str), Some("api_server"));
        assert_eq!(request.exclude_sources, []);
        let (_, request) = args(7, None).request(&now).unwrap();
        assert_eq!((request.source, request.exclude_sources), (None, vec![Source::from_stored("tool")]));
        for bad in [0, -1, 36_501, i64::MAX, i64::MIN] {
            assert_eq!(args(bad, None).request(&now).unwrap_err().what, "--days", "{bad}");
        }
        assert_eq!(args(7, Some("")).request(&now).unwrap_err().what, "source");
    }
}
