//! Diagnostic output: `-v`, `HERMES_LOG`, and the subscriber that writes events of our crates. It also shows a person
//! that the store waits for a lock.
//!
//! Events hold ids, counts, durations and names of objects; never message text, titles, queries or secrets. Stdout
//! belongs to the commands.

use crate::clock;
use crate::error::{CliError, Kind};
use crate::ui::Ui;
use hermes_config::{Environment, env};
use hermes_sqlite::LONG_WAIT;
use std::fmt;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::{Context as LayerContext, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// The start of the names of our crates. Libraries are never logged: their events may quote the data they carry.
const OURS: &str = "hermes";

/// Returns the filter for events, or `None` if nothing is logged. The flag takes precedence over the variable.
///
/// # Errors
/// If `HERMES_LOG` is neither a level nor a list of `target=level`.
pub(crate) fn filter(verbose: u8, environment: &Environment) -> Result<Option<Targets>, CliError> {
    let level = match verbose {
        0 => return of_variable(environment.text(env::HERMES_LOG)?),
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    Ok(Some(Targets::new().with_target(OURS, level)))
}

fn of_variable(text: Option<&str>) -> Result<Option<Targets>, CliError> {
    let Some(text) = text else { return Ok(None) };
    let asked: Targets = text.parse().map_err(|error| {
        let hint =
            "write a level (error, warn, info, debug, trace) or pairs such as hermes_sqlite=debug,hermes_sql=info";
        CliError::new(Kind::User, format!("{} can't be read: {error}", env::HERMES_LOG), hint)
    })?;
    let of_ours =
        asked.iter().filter(|(target, _)| target.starts_with(OURS)).map(|(target, level)| (target.to_owned(), level));
    let default = asked.default_level().unwrap_or(LevelFilter::OFF);
    Ok(Some(Targets::new().with_target(OURS, default).with_targets(of_ours)))
}

/// From now on, writes events that pass the filter to stderr, one line each, and long waits as notes to `waits`.
pub(crate) fn start(filter: Option<Targets>, waits: Option<Ui>) {
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false).with_timer(Clock);
    let lines = filter.map(|filter| lines.with_filter(filter));
    let of_waits = Targets::new().with_target(LONG_WAIT, LevelFilter::DEBUG);
    let notes = waits.map(|ui| WaitNotes(ui).with_filter(of_waits));
    if lines.is_some() || notes.is_some() {
        tracing_subscriber::registry().with(lines).with(notes).init();
    }
}

/// Prints a note when the store has waited for a lock for a while.
struct WaitNotes(Ui);

impl<S: Subscriber> Layer<S> for WaitNotes {
    fn on_event(&self, event: &Event<'_>, _: LayerContext<'_, S>) {
        let mut holder = HolderField(None);
        event.record(&mut holder);
        let holder = holder.0.as_deref().unwrap_or("another process");
        self.0.note(&format!("waiting for a lock on the store, held by {holder}"));
    }
}

/// Reads the field `holder` of an event.
struct HolderField(Option<String>);

impl Visit for HolderField {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "holder" {
            self.0 = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

/// The binary's clock, in UTC.
struct Clock;

impl FormatTime for Clock {
    fn format_time(&self, line: &mut Writer<'_>) -> fmt::Result {
        write!(line, "{:.3}", clock::log_time())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing_subscriber::filter::LevelFilter as Level;

    fn would(filter: &Targets, target: &str, level: tracing::Level) -> bool {
        filter.would_enable(target, &level)
    }

    #[test]
    fn each_v_logs_more_of_our_crates_and_nothing_of_others() {
        let environment = Environment::new([("HERMES_LOG", "trace")], None);
        for (count, most) in [(1, tracing::Level::INFO), (2, tracing::Level::DEBUG), (3, tracing::Level::TRACE)] {
            let filter = filter(count, &environment).unwrap().unwrap();
            assert!(would(&filter, "hermes_sqlite::writer", most));
            assert_eq!(would(&filter, "hermes_sqlite::writer", tracing::Level::TRACE), most == tracing::Level::TRACE);
            assert!(!would(&filter, "rmcp::service", tracing::Level::ERROR));
        }
    }

    #[test]
    fn the_variable_names_a_level_or_targets() {
        assert!(of_variable(None).unwrap().is_none());
        let all = of_variable(Some("debug")).unwrap().unwrap();
        assert!(
            would(&all, "hermes_sql::server", tracing::Level::DEBUG) && !would(&all, "hyper", tracing::Level::ERROR)
        );
        let some = of_variable(Some("hermes_sqlite=trace,rmcp=trace")).unwrap().unwrap();
        assert!(would(&some, "hermes_sqlite::queue", tracing::Level::TRACE));
        assert!(!would(&some, "hermes_rescue", tracing::Level::ERROR) && !would(&some, "rmcp", tracing::Level::ERROR));
        assert_eq!(some.default_level(), None::<Level>);
        assert!(of_variable(Some("hermes=loud")).is_err());
    }
}
