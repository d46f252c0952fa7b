//! Names what a store has where options narrowed a list or a search to nothing: sources, models, tags and roles.

use crate::context::Context;
use crate::error::{CliError, Kind};
use hermes_session::search::fold::contains;
use hermes_session::search::{Query, SearchFilter, SearchOrder, SearchRequest};
use hermes_session::{PageRequest, Role, Source, Statistics, Store, StoreError, Tag, quoted};
use hermes_terminal::shell::shell_word;
use std::time::Duration;

/// The hint that names the roles every agent uses.
const ROLES: &str = "--role takes user, assistant, tool or system";
/// Matches every message: none has this character, which Unicode assigns to nothing.
const ANY_MESSAGE: &str = "\"\" NOT \u{10ffff}";
/// Maximum number of names in a hint.
const MAX_NAMES: usize = 20;

/// The options that name something a store may not have.
pub(crate) struct Asked<'a> {
    /// The values of `--source`.
    pub(crate) sources: &'a [String],
    /// The values of `--tag`.
    pub(crate) tags: &'a [String],
    /// The value of `--model`.
    pub(crate) model: Option<&'a str>,
    /// Whether `--role` was given.
    pub(crate) has_roles: bool,
}

/// Names that a store has, as sentences.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Existing {
    pub(crate) hints: Vec<String>,
    /// Whether one of them names the reason why nothing was found.
    pub(crate) is_cause_named: bool,
}

impl Existing {
    fn add(&mut self, problem: Option<String>, what: &str, names: &[&str], all: &str) {
        self.is_cause_named |= problem.is_some();
        self.hints.push(existing(problem, what, names, all));
    }
}

impl Asked<'_> {
    /// Returns a sentence for each of the options about what the store has, to be shown if nothing was found.
    pub(crate) async fn existing(&self, store: &dyn Store) -> Result<Existing, StoreError> {
        let mut hints = Existing::default();
        hints.hints.extend(self.has_roles.then(|| ROLES.to_owned()));
        if !self.sources.is_empty() || self.model.is_some() {
            self.of(&store.statistics().await?, &mut hints);
        }
        if !self.tags.is_empty() {
            let tags: Vec<Tag> = store.tags().await?.into_iter().map(|(tag, _)| tag).collect();
            self.of_tags(&tags, &mut hints);
        }
        Ok(hints)
    }

    fn of_tags(&self, tags: &[Tag], hints: &mut Existing) {
        let missing = self.tags.iter().find(|text| !Tag::parse(text).is_ok_and(|tag| tags.contains(&tag)));
        let problem = missing.map(|text| format!("no conversation has the tag {}", quoted(text)));
        let mut names: Vec<&str> = tags.iter().map(Tag::as_str).collect();
        names.sort_unstable();
        hints.add(problem, "tags", &names, "hermes sessions tag");
    }

    fn of(&self, statistics: &Statistics, hints: &mut Existing) {
        if !self.sources.is_empty() {
            let is_there =
                |text: &str| Source::parse(text).is_ok_and(|source| statistics.sources.contains_key(&source));
            let missing = self.sources.iter().find(|text| !is_there(text));
            let problem = missing.map(|text| format!("no session has the source {}", quoted(text)));
            let names: Vec<&str> = statistics.sources.keys().map(Source::as_str).collect();
            hints.add(problem, "sources", &names, "hermes sessions stats");
            hints.hints.extend(missing.and_then(|text| separated(text)));
        }
        if let Some(asked) = self.model {
            let models = || statistics.models.keys().filter_map(Option::as_deref);
            let problem = format!("no session has a model with {} in its name", quoted(asked));
            let problem = Some(problem).filter(|_| !models().any(|model| contains(model, asked)));
            hints.add(problem, "models", &models().collect::<Vec<_>>(), "hermes sessions stats");
        }
    }
}

/// Returns a hint for a value of `--source` that looks like several: the options to give instead.
fn separated(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let options: Vec<String> = parts.iter().map(|part| format!("--source {}", shell_word(part))).collect();
    (parts.len() > 1).then(|| format!("repeat the option for several sources: {}", options.join(" ")))
}

/// Returns a sentence with a problem, if there is one, and the names that the store has. `all` is the command that
/// lists all of them.
fn existing(problem: Option<String>, what: &str, names: &[&str], all: &str) -> String {
    let listed = match names.len().checked_sub(MAX_NAMES) {
        _ if names.is_empty() => "none".to_owned(),
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more (`{all}`)", names[..MAX_NAMES].join(", ")),
    };
    let problem = problem.map(|problem| format!("{problem}; ")).unwrap_or_default();
    format!("{problem}{what} in this store: {listed}")
}

/// Notes a value of `--source` that no session has, with the sources that the store has.
pub(crate) async fn note_missing_source(
    context: &Context,
    store: &dyn Store,
    sources: &[String],
) -> Result<(), StoreError> {
    if !sources.is_empty() {
        let existing = Asked { sources, tags: &[], model: None, has_roles: false }.existing(store).await?;
        let hints = existing.hints.iter().filter(|_| existing.is_cause_named);
        hints.for_each(|hint| context.ui.note(hint));
    }
    Ok(())
}

/// Refuses a role that no message of the store has. The four roles of every agent are always accepted.
///
/// # Errors
/// If there is such a role, or the store fails.
pub(crate) async fn check_roles(
    store: &dyn Store,
    roles: impl Iterator<Item = &Role>,
    timeout: Duration,
) -> Result<(), CliError> {
    for role in roles.filter(|role| matches!(role, Role::Other(_))) {
        let request = SearchRequest {
            filter: SearchFilter { roles: Some(vec![role.clone()]), ..SearchFilter::default() },
            order: SearchOrder::Newest,
            page: PageRequest::first(1),
            relax: false,
            with_neighbours: false,
            timeout,
            ..SearchRequest::new(Query::parse(ANY_MESSAGE))
        };
        let answer = store.search(&request).await?;
        // If time ran out, the role may be in a message that was not looked at.
        if answer.hits.is_empty() && !answer.served.is_partial {
            let text = format!("no message in this store has the role {}", quoted(role.as_str()));
            return Err(CliError::new(Kind::User, text, ROLES));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics(models: usize) -> Statistics {
        let sources = ["cli", "telegram"].map(|source| (Source::from_stored(source), Default::default()));
        let models = (0..models).map(|number| (Some(format!("Vendor/m-{number:02}")), Default::default()));
        Statistics { sources: sources.into(), models: models.collect(), ..Statistics::default() }
    }

    fn hints(sources: &[&str], model: Option<&str>, models: usize) -> Vec<String> {
        let sources: Vec<String> = sources.iter().map(ToString::to_string).collect();
        let mut found = Existing::default();
        Asked { sources: &sources, tags: &[], model, has_roles: false }.of(&statistics(models), &mut found);
        let is_missing = found.hints.iter().any(|hint| hint.starts_with("no session"));
        assert_eq!(found.is_cause_named, is_missing);
        found.hints
    }

    #[test]
    fn a_source_that_is_not_there_is_named_with_those_that_are() {
        let there = "sources in this store: cli, telegram";
        assert_eq!(hints(&["cli"], None, 0), [there]);
        assert_eq!(hints(&["cli", "CLI"], None, 0), [format!("no session has the source \"CLI\"; {there}")]);
        assert_eq!(
            hints(&["cli, it's"], None, 0),
            [
                format!("no session has the source \"cli, it's\"; {there}"),
                "repeat the option for several sources: --source cli --source \"it's\"".to_owned(),
            ]
        );
    }

    #[test]
    fn models_are_named_but_not_all_of_many() {
        assert_eq!(hints(&[], Some("VENDOR"), 1), ["models in this store: Vendor/m-00"]);
        assert_eq!(
            hints(&[], Some("x"), 0),
            ["no session has a model with \"x\" in its name; models in this store: none"]
        );
        assert!(hints(&[], Some("m-"), 20).concat().ends_with("Vendor/m-19"));
        let many = hints(&[], Some("m-"), 30).concat();
        assert!(many.ends_with("Vendor/m-19 and 10 more (`hermes sessions stats`)"), "{many}");
    }
}
