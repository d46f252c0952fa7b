//! `hermes config`

use crate::context::Context;
use crate::error::CliError;
use crate::ui::settings::{self, Row};
use hermes_config::{Provider, ResumeDisplay, Secret, Setting, Settings, Synchronous};
use hermes_store::StoreUrl;

/// What is configured, and where
#[derive(clap::Subcommand)]
pub(crate) enum ConfigCommand {
    Show(ShowArgs),
}

/// Shows every setting: its value and who set it. Passwords are not shown
#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(context: &Context, command: ConfigCommand) -> Result<(), CliError> {
    let ConfigCommand::Show(args) = command;
    let settings = context.settings()?;
    let rows = rows(context, &settings);
    if args.json { context.ui.json(&settings::json(&rows)) } else { context.ui.print(settings::lines(&rows)) }
}

/// Every setting in the order of the documentation; of those that have no default only what is set.
fn rows(context: &Context, settings: &Settings) -> Vec<Row> {
    let db = &settings.sessiondb;
    let (sqlite, postgresql, mysql) = (&db.sqlite, &db.postgresql, &db.mysql);
    let url = |secret: &Setting<Secret>| secret.clone().map(|secret| shown(context, &secret));
    let dsn = |secret: &Setting<Secret>| secret.clone().map(|secret| server(context, &secret));
    let rows = [
        Some(row("home", &settings.home, |path| path.display().to_string())),
        Some(row("color", &settings.color, bool::to_string)),
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

fn row<T>(key: &'static str, setting: &Setting<T>, text: impl FnOnce(&T) -> String) -> Row {
    Row { key, value: text(&setting.value), origin: setting.origin.clone() }
}

/// A URL without its password. A text that is no URL is not shown at all: nobody knows where in it the password is.
fn shown(context: &Context, url: &Secret) -> String {
    let parsed = StoreUrl::parse(url.reveal(), context.environment().user_home()).ok();
    parsed.map_or_else(|| url.to_string(), |url| url.to_string())
}

/// The same where only a server can be meant: what reads as a file is a mistake, and may hold anything.
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
