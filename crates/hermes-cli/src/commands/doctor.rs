//! `hermes doctor`

mod fix;
mod place;
mod store;

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::reports::{Degree, Diagnosis, Fix, Item};
use crate::ui::{checks, doctor, json};
use hermes_config::{Looked, Settings};
use hermes_store::StoreUrl;

/// Check the home folder, the settings and the store, and say how to fix problems
#[derive(clap::Args)]
pub(crate) struct DoctorArgs {
    /// Fix what can be fixed without risk: permissions, search indexes, postponed work
    #[arg(long)]
    fix: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: DoctorArgs) -> Result<(), CliError> {
    if args.fix {
        check_writable(context)?;
    }
    let mut diagnosis = Diagnosis { items: diagnose(context).await, fixed: Vec::new() };
    if args.fix {
        let mut fixes: Vec<Fix> = diagnosis.items.iter().filter_map(|item| item.fix.clone()).collect();
        fixes.sort_unstable();
        fixes.dedup();
        if !fixes.is_empty() {
            let fixed = fix::all(context, fixes).await;
            diagnosis = Diagnosis { items: diagnose(context).await, fixed };
        }
    }
    let printed = match args.json {
        true => context.ui.json(&json::doctor::diagnosis(&diagnosis)),
        false => context.ui.print(doctor::lines(&diagnosis, context.ui.width())),
    };
    context.ui.found(printed, outcome(&diagnosis, &context.place()))
}

/// Refuses `--fix` if the store is read-only. Settings that can't be read are reported by the diagnosis.
fn check_writable(context: &Context) -> Result<(), CliError> {
    match context.workspace.url() {
        Ok(url) => Ok(context.workspace.check_writable(url)?),
        Err(_) => Ok(()),
    }
}

/// Checks everything, from the outside in. An unreachable object is reported, and the objects behind it are not
/// checked.
async fn diagnose(context: &Context) -> Vec<Item> {
    let mut items = look(context).await;
    leave_damaged_alone(&mut items);
    let place = context.place();
    for item in &mut items {
        if let (Some(remedy), Some(Fix::Upkeep | Fix::Rebuild | Fix::Recount)) = (&mut item.remedy, &item.fix) {
            remedy.push_str(&place);
        }
    }
    items
}

/// Removes fixes that write to a damaged file: a write may overwrite data that can still be saved.
fn leave_damaged_alone(items: &mut [Item]) {
    let is_damage = |item: &Item| item.degree == Degree::Problem && matches!(item.name, "file" | "store");
    if !items.iter().any(is_damage) {
        return;
    }
    for item in items {
        if matches!(item.fix, Some(Fix::Upkeep | Fix::Rebuild | Fix::Recount)) {
            (item.fix, item.remedy) = (None, Some("repair the file first (see the ✗ lines)".to_owned()));
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
    // Missing settings were reported already.
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
        let item = Item::new("config", Degree::Warning, format!("unknown setting {}; nothing reads it", unknown.key));
        items.push(match unknown.like {
            Some(like) => item.remedy(format!("did you mean {like}?")),
            None => item.remedy("remove it; `hermes config show` lists the settings"),
        });
    }
    if items.is_empty() {
        items.push(Item::fine(
            "config",
            if is_there { "all settings are valid" } else { "no config.yaml; using defaults" },
        ));
    }
    items
}

/// Returns the error that sets the exit code. Warnings are not failures.
fn outcome(diagnosis: &Diagnosis, place: &str) -> Result<(), CliError> {
    let problems = diagnosis.count(Degree::Problem);
    if problems == 0 {
        return Ok(());
    }
    let is_outside = |item: &&Item| matches!(item.name, "home" | "config");
    let is_mine = diagnosis.items.iter().filter(|item| item.degree == Degree::Problem).all(|item| is_outside(&item));
    let kind = if is_mine { Kind::User } else { Kind::Store };
    let hint = match diagnosis.items.iter().any(|item| item.fix.is_some()) {
        true => {
            format!("`hermes doctor --fix{place}` fixes what is marked with ⚒; for the rest see the → lines above")
        }
        false => "see the → lines above".to_owned(),
    };
    let verb = if problems == 1 { "needs" } else { "need" };
    Err(CliError::new(kind, format!("{} {verb} your attention", checks::plural(problems, "problems")), hint))
}
