//! `hermes doctor`

mod mend;
mod place;
mod store;

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::reports::{Degree, Diagnosis, Item, Mend};
use crate::ui::{checks, doctor, json};
use hermes_config::{Looked, Settings};
use hermes_store::StoreUrl;

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
    match context.workspace.url() {
        Ok(url) => Ok(context.workspace.check_writable(url)?),
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
    let home = match hermes_config::home(context.flags(), context.environment()) {
        Ok(home) => home.value,
        Err(error) => return vec![Item::new("home", Degree::Problem, error.to_string()).remedy(error.hint())],
    };
    let mut items = vec![place::home(&home)];
    let file = match context.workspace.config_file() {
        Ok(file) => file,
        Err(error) => {
            items.push(Item::new("config", Degree::Problem, error.to_string()).remedy(error.hint()));
            return items;
        }
    };
    let looked = hermes_config::look(context.flags(), context.environment(), file);
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
    match context.workspace.url_of(settings) {
        Ok(url) => Some(url),
        Err(error) => {
            let error = CliError::from(error);
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
