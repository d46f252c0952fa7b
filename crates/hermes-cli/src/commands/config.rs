//! `hermes config`

use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::ui::settings::{self, Row};
use hermes_config::{ConfigError, Origin, Provider, ResumeDisplay, Secret, Setting, Settings, Synchronous, env};
use hermes_store::StoreUrl;
use hermes_terminal::Color;

/// Show the configuration
#[derive(clap::Subcommand)]
pub(crate) enum ConfigCommand {
    Show(ShowArgs),
}

/// Show every setting, its value and where it was set; passwords are masked
///
/// A setting that can't be used is marked with the reason, and the exit code is 1.
#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(context: &Context, command: ConfigCommand) -> Result<(), CliError> {
    let ConfigCommand::Show(args) = command;
    let looked = hermes_config::look(context.flags(), context.environment(), context.workspace.config_file()?);
    let mut rows = looked.settings.map(|settings| rows(context, &settings)).unwrap_or_default();
    for problem in looked.errors.iter().filter_map(problem) {
        match rows.iter_mut().find(|row| row.key == problem.key) {
            Some(row) => *row = problem,
            None => rows.push(problem),
        }
    }
    if args.json {
        context.ui.json(&settings::json(&rows))?
    } else {
        context.ui.print(settings::lines(&rows, context.ui.table_width()))?
    }
    failed(looked.errors)
}

/// Returns the row of a setting that can't be used. `None` if the error is not about a single setting.
fn problem(error: &ConfigError) -> Option<Row> {
    let (key, value, origin) = match error {
        ConfigError::Value { key, value, origin, .. } => (*key, value.clone(), origin.clone()),
        ConfigError::Unset { key, name, origin } => (*key, format!("{{{{ env.{name} }}}}"), origin.clone()),
        ConfigError::Missing { key, .. } => (*key, "(missing)".to_owned(), Origin::Default),
        ConfigError::NotText { name } => (*name, "(not UTF-8 text)".to_owned(), Origin::Environment(name)),
        _ => return None,
    };
    let reason = match error {
        ConfigError::Unset { name, .. } => format!("{name} is not set"),
        ConfigError::Value { hint, .. } => format!("can't be used: {hint}"),
        error => error.hint(),
    };
    Some(Row { key, value, origin, problem: Some(reason) })
}

/// Returns the error that sets the exit code if there are errors.
fn failed(mut errors: Vec<ConfigError>) -> Result<(), CliError> {
    match errors.len() {
        0 => Ok(()),
        1 => Err(errors.remove(0).into()),
        count => {
            let text = format!("{count} settings can't be used");
            Err(CliError::new(Kind::User, text, "correct those that are marked with ✗"))
        }
    }
}

/// Returns every setting in the order of the documentation. Settings without a default are listed only if they are set.
fn rows(context: &Context, settings: &Settings) -> Vec<Row> {
    let db = &settings.sessiondb;
    let (sqlite, postgresql, mysql) = (&db.sqlite, &db.postgresql, &db.mysql);
    let url = |secret: &Setting<Secret>| secret.clone().map(|secret| shown(context, &secret));
    let dsn = |secret: &Setting<Secret>| secret.clone().map(|secret| server(context, &secret));
    let rows = [
        Some(row("home", &settings.home, |path| path.display().to_string())),
        Some(color(context)),
        db.url.as_ref().map(|secret| row("sessiondb.url", &url(secret), Clone::clone)),
        Some(row("sessiondb.provider", &db.provider, |provider| provider_name(*provider).into())),
        Some(row("sessiondb.sqlite.db_path", &sqlite.db_path, |path| path.display().to_string())),
        Some(row("sessiondb.sqlite.synchronous", &sqlite.synchronous, |level| level_name(*level).into())),
        Some(row("sessiondb.sqlite.wait_seconds", &sqlite.wait_seconds, |wait| wait.as_secs_f64().to_string())),
        Some(row("sessiondb.sqlite.read_only", &sqlite.read_only, bool::to_string)),
        postgresql.dsn.as_ref().map(|secret| row("sessiondb.postgresql.dsn", &dsn(secret), Clone::clone)),
        postgresql
            .replica_dsn
            .as_ref()
            .map(|secret| row("sessiondb.postgresql.replica_dsn", &dsn(secret), Clone::clone)),
        Some(row("sessiondb.postgresql.pool_size", &postgresql.pool_size, u64::to_string)),
        Some(row("sessiondb.postgresql.max_overflow", &postgresql.max_overflow, u64::to_string)),
        Some(row("sessiondb.postgresql.statement_timeout", &postgresql.statement_timeout, u64::to_string)),
        postgresql.schema.as_ref().map(|schema| row("sessiondb.postgresql.schema", schema, Clone::clone)),
        mysql.host.as_ref().map(|host| row("sessiondb.mysql.host", host, Clone::clone)),
        Some(row("sessiondb.mysql.port", &mysql.port, u64::to_string)),
        mysql.database.as_ref().map(|database| row("sessiondb.mysql.database", database, Clone::clone)),
        mysql.user.as_ref().map(|user| row("sessiondb.mysql.user", user, Clone::clone)),
        mysql.password.as_ref().map(|password| row("sessiondb.mysql.password", password, Secret::to_string)),
        Some(row("sessiondb.mysql.pool_size", &mysql.pool_size, u64::to_string)),
        Some(row("sessions.auto_prune", &settings.sessions.auto_prune, bool::to_string)),
        Some(row("sessions.retention_days", &settings.sessions.retention_days, u64::to_string)),
        Some(row("sessions.vacuum_after_prune", &settings.sessions.vacuum_after_prune, bool::to_string)),
        Some(row("sessions.min_interval_hours", &settings.sessions.min_interval_hours, u64::to_string)),
        Some(row("sessions.trash_days", &settings.sessions.trash_days, u64::to_string)),
        Some(row("display.resume_display", &settings.display.resume_display, |display| display_name(*display).into())),
        Some(row("search.timeout_ms", &settings.search.timeout_ms, u64::to_string)),
    ];
    rows.into_iter().flatten().collect()
}

/// Returns the row of the colours, in the words of `--color`.
fn color(context: &Context) -> Row {
    let color = context.ui.color();
    let (value, variable) = match color {
        Color::Auto => ("auto", None),
        Color::Always => ("always", Some(env::FORCE_COLOR)),
        Color::Never => ("never", Some(env::NO_COLOR)),
    };
    let origin = match variable {
        _ if color != Color::of(context.environment()) => Origin::Flag,
        Some(variable) => Origin::Environment(variable),
        None => Origin::Default,
    };
    Row { key: "color", value: value.to_owned(), origin, problem: None }
}

fn row<T>(key: &'static str, setting: &Setting<T>, text: impl FnOnce(&T) -> String) -> Row {
    Row { key, value: text(&setting.value), origin: setting.origin.clone(), problem: None }
}

/// Returns a URL without its password. A text that is not a URL is hidden completely, because the password may be
/// anywhere in it.
fn shown(context: &Context, url: &Secret) -> String {
    let parsed = StoreUrl::parse(url.reveal(), context.environment().user_home()).ok();
    parsed.map_or_else(|| url.to_string(), |url| url.to_string())
}

/// Returns the URL of a server without its password. A text that parses as a file is a mistake, may hold anything, and
/// is hidden.
fn server(context: &Context, dsn: &Secret) -> String {
    let parsed = StoreUrl::parse(dsn.reveal(), context.environment().user_home()).ok();
    parsed.filter(|url| url.file().is_none()).map_or_else(|| dsn.to_string(), |url| url.to_string())
}

const fn provider_name(provider: Provider) -> &'static str {
    match provider {
        Provider::Sqlite => "sqlite",
        Provider::Postgresql => "postgresql",
        Provider::Mysql => "mysql",
    }
}

const fn level_name(level: Synchronous) -> &'static str {
    match level {
        Synchronous::Extra => "extra",
        Synchronous::Full => "full",
        Synchronous::Normal => "normal",
    }
}

const fn display_name(display: ResumeDisplay) -> &'static str {
    match display {
        ResumeDisplay::Full => "full",
        ResumeDisplay::Minimal => "minimal",
    }
}
