//! `hermes doctor`

mod mend;
mod place;
mod store;

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::ui::{checks, doctor, json};
use hermes_config::{ConfigFile, Looked, Settings};
use hermes_store::StoreUrl;
use hermes_terminal::shell::shell_word;
use std::path::PathBuf;

/// Tells what is wrong with the home folder, the settings and the store, and what mends it
#[derive(clap::Args)]
pub(crate) struct DoctorArgs {
    /// Mends what can be mended without any risk: permissions, search indexes, what was put off
    #[arg(long)]
    fix: bool,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Degree {
    /// As it should be.
    Fine,
    /// Worth knowing.
    Note,
    /// It works, and should be mended.
    Warning,
    /// Something does not work, or may be lost.
    Problem,
}

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// What: `home`, `config`, `permissions`, …
    pub(crate) name: &'static str,
    pub(crate) degree: Degree,
    /// What is so, as a sentence.
    pub(crate) what: String,
    /// What the person can do, or the command that does it.
    pub(crate) remedy: Option<String>,
    /// What `--fix` does about it.
    pub(crate) mend: Option<Mend>,
}

/// What `--fix` does. Each only touches what is derived, or who may read a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mend {
    /// Takes a file or folder from others.
    Mode(PathBuf, u32),
    /// Removes what a copy that was not finished left behind.
    Remove(PathBuf),
    /// Does what was put off: indexing, what foreign writers left, folding the log.
    Upkeep,
    /// Makes the search indexes anew.
    Rebuild,
    /// Counts the messages of sessions anew.
    Recount,
}

impl Item {
    fn new(name: &'static str, degree: Degree, what: impl Into<String>) -> Self {
        Self { name, degree, what: what.into(), remedy: None, mend: None }
    }

    fn fine(name: &'static str, what: impl Into<String>) -> Self {
        Self::new(name, Degree::Fine, what)
    }

    fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// The same, mended by `--fix`, or by the command that does the same.
    fn mended_by(self, mend: Mend) -> Self {
        let remedy = match &mend {
            Mend::Mode(path, mode) => format!("chmod {mode:o} {}", shell_word(&path.display().to_string())),
            Mend::Remove(path) => format!("rm -r {}", shell_word(&path.display().to_string())),
            Mend::Upkeep => "hermes sessions optimize".to_owned(),
            Mend::Rebuild => "hermes sessions optimize --rebuild".to_owned(),
            Mend::Recount => "hermes doctor --fix".to_owned(),
        };
        Self { remedy: Some(remedy), mend: Some(mend), ..self }
    }
}

/// What was found, and what was mended before that.
#[derive(Debug, Default)]
pub(crate) struct Diagnosis {
    pub(crate) items: Vec<Item>,
    /// What `--fix` did, in words, each with why it did not work out if it did not.
    pub(crate) mended: Vec<(String, Option<String>)>,
}

impl Diagnosis {
    pub(crate) fn count(&self, degree: Degree) -> u64 {
        self.items.iter().filter(|item| item.degree == degree).count() as u64
    }
}

pub(crate) async fn run(context: &Context, args: DoctorArgs) -> Result<(), CliError> {
    if args.fix {
        check_writable(context)?;
    }
    let mut diagnosis = Diagnosis { items: diagnose(context).await, mended: Vec::new() };
    if args.fix {
        let mut mends: Vec<Mend> = diagnosis.items.iter().filter_map(|item| item.mend.clone()).collect();
        mends.sort_unstable();
        mends.dedup();
        if !mends.is_empty() {
            let mended = mend::all(context, mends).await;
            diagnosis = Diagnosis { items: diagnose(context).await, mended };
        }
    }
    if args.json {
        context.ui.json(&json::doctor::diagnosis(&diagnosis))?;
    } else {
        context.ui.print(doctor::lines(&diagnosis, context.ui.width()))?;
    }
    outcome(&diagnosis, &context.place())
}

/// Refuses `--fix` if the store is only to be read. Settings that can't be read are reported by the diagnosis.
fn check_writable(context: &Context) -> Result<(), CliError> {
    match context.settings().and_then(|settings| Ok((context.configured_url(&settings)?, settings))) {
        Ok((url, settings)) => context.check_writable(&settings, &url),
        Err(_) => Ok(()),
    }
}

/// Looks at everything, from the outside in. What can't be reached is told, and what lies behind it is not looked at.
async fn diagnose(context: &Context) -> Vec<Item> {
    let mut items = look(context).await;
    leave_damaged_alone(&mut items);
    let place = context.place();
    for item in &mut items {
        if let (Some(remedy), Some(Mend::Upkeep | Mend::Rebuild | Mend::Recount)) = (&mut item.remedy, &item.mend) {
            remedy.push_str(&place);
        }
    }
    items
}

/// Takes back what would write to a file that is damaged: whatever is written to it may take the place of what can still be saved.
fn leave_damaged_alone(items: &mut [Item]) {
    let is_damage = |item: &Item| item.degree == Degree::Problem && matches!(item.name, "file" | "store");
    if !items.iter().any(is_damage) {
        return;
    }
    for item in items {
        if matches!(item.mend, Some(Mend::Upkeep | Mend::Rebuild | Mend::Recount)) {
            (item.mend, item.remedy) = (None, Some("mend the store first, see there".to_owned()));
        }
    }
}

async fn look(context: &Context) -> Vec<Item> {
    let home = match hermes_config::home(&context.flags, &context.environment) {
        Ok(home) => home.value,
        Err(error) => return vec![Item::new("home", Degree::Problem, error.to_string()).remedy(error.hint())],
    };
    let mut items = vec![place::home(&home)];
    let file = match ConfigFile::read(&home) {
        Ok(file) => file,
        Err(error) => {
            items.push(Item::new("config", Degree::Problem, error.to_string()).remedy(error.hint()));
            return items;
        }
    };
    let looked = hermes_config::look(&context.flags, &context.environment, file.as_ref());
    items.extend(config(&looked, file.is_some()));
    let Some(settings) = looked.settings else { return items };
    items.extend(place::secrets(&home, &settings));
    let Some(url) = url(context, &settings, &mut items) else { return items };
    store::look(context, &settings, &url, &mut items).await;
    items
}

fn url(context: &Context, settings: &Settings, items: &mut Vec<Item>) -> Option<StoreUrl> {
    // What is missing in the settings has been told.
    settings.store().ok()?;
    match context.configured_url(settings) {
        Ok(url) => Some(url),
        Err(error) => {
            let remedy = error.hints().first().cloned().unwrap_or_default();
            items.push(Item::new("config", Degree::Problem, error.text()).remedy(remedy));
            None
        }
    }
}

fn config(looked: &Looked, is_there: bool) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for error in &looked.errors {
        items.push(Item::new("config", Degree::Problem, error.to_string()).remedy(error.hint()));
    }
    for unknown in &looked.unknown {
        let item = Item::new("config", Degree::Warning, format!("{} is no setting; nobody reads it", unknown.key));
        items.push(match unknown.like {
            Some(like) => item.remedy(format!("write {like}, if that is meant")),
            None => item.remedy("take it out; `hermes config show` lists the settings"),
        });
    }
    if items.is_empty() {
        items.push(Item::fine(
            "config",
            if is_there { "every setting can be taken" } else { "there is none; defaults hold" },
        ));
    }
    items
}

/// The exit code. What is only a warning is no failure.
fn outcome(diagnosis: &Diagnosis, place: &str) -> Result<(), CliError> {
    let problems = diagnosis.count(Degree::Problem);
    if problems == 0 {
        return Ok(());
    }
    let is_outside = |item: &&Item| matches!(item.name, "home" | "config");
    let is_mine = diagnosis.items.iter().filter(|item| item.degree == Degree::Problem).all(|item| is_outside(&item));
    let kind = if is_mine { Kind::User } else { Kind::Store };
    let hint = match diagnosis.items.iter().any(|item| item.mend.is_some()) {
        true => {
            format!(
                "`hermes doctor --fix{place}` mends what is marked with ⚒; the lines above tell what mends the rest"
            )
        }
        false => "the lines above tell what mends it".to_owned(),
    };
    let verb = if problems == 1 { "needs" } else { "need" };
    Err(CliError::new(kind, format!("{} {verb} your attention", checks::plural(problems, "problems")), hint))
}
