//! `hermes`: parses, opens, dispatches and tells the exit code.

mod args;
mod chores;
mod clock;
mod commands;
mod context;
mod error;
mod exporting;
mod hints;
mod logging;
mod reports;
mod resolve;
mod searching;
mod serving;
mod showing;
mod stop;
mod ui;
mod warnings;
mod when;

use args::{Args, Command, SessiondbCommand, SessionsCommand};
use clap::{CommandFactory as _, Parser as _};
use context::Context;
use error::{CliError, Kind};
use hermes_app::Workspace;
use hermes_config::Environment;
use hermes_store::IndexAtClose;
use std::process::ExitCode;
use std::sync::Arc;
use ui::Ui;

fn main() -> ExitCode {
    let environment = Environment::of_process();
    let ui = Ui::new(&environment);
    match run(environment, &ui) {
        Ok(code) => code,
        Err(error) => {
            if error.kind() != Kind::Closed {
                ui.error(&error);
            }
            error.code()
        }
    }
}

fn run(environment: Environment, ui: &Ui) -> Result<ExitCode, CliError> {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            ui.usage(&error)?;
            return Ok(u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from));
        }
    };
    let Some(command) = args.command else {
        ui.help(&Args::command().render_help())?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(filter) = logging::filter(args.verbose, &environment)? {
        logging::start(filter, std::io::stderr);
    }
    let workspace = Arc::new(Workspace::new(args.place.flags(), environment).indexing_at_close(index_at_close(ui)));
    let context = Context { workspace, ui: ui.clone(), now: clock::now() };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::new(Kind::User, error, "free some memory and file descriptors, then try again"))?;
    runtime.block_on(dispatch(&context, command))?;
    Ok(ExitCode::SUCCESS)
}

/// Shows how far a store is with its backlog before the command ends; a signal ends the indexing too.
fn index_at_close(ui: &Ui) -> impl Fn() -> IndexAtClose + Send + Sync + 'static {
    let ui = ui.clone();
    move || {
        let bar = ui.progress();
        IndexAtClose::new(move |done, total| {
            bar.show("indexing messages", done, total);
            !stop::is_asked()
        })
    }
}

async fn dispatch(context: &Context, command: Command) -> Result<(), CliError> {
    match command {
        Command::Complete(args) => commands::complete::run(context, &args).await,
        Command::Completions(args) => commands::completions::run(context, &args),
        Command::Config(command) => commands::config::run(context, command),
        Command::Demo(args) => commands::demo::run(context, args).await,
        Command::Doctor(args) => commands::doctor::run(context, args).await,
        Command::Insights(args) => commands::insights::run(context, args).await,
        Command::Man(args) => commands::man::run(context, &args),
        Command::Mcp(args) => commands::mcp::run(context, args).await,
        Command::Sessions(SessionsCommand::List(args)) => commands::list::run(context, args).await,
        Command::Sessions(SessionsCommand::Browse(args)) => commands::browse::run(context, args).await,
        Command::Sessions(SessionsCommand::Search(args)) => commands::search::run(context, *args).await,
        Command::Sessions(SessionsCommand::Show(args)) => commands::show::run(context, args).await,
        Command::Sessions(SessionsCommand::Rename(args)) => commands::rename::run(context, args).await,
        Command::Sessions(SessionsCommand::Pin(args)) => commands::pin::run(context, args, true).await,
        Command::Sessions(SessionsCommand::Unpin(args)) => commands::pin::run(context, args, false).await,
        Command::Sessions(SessionsCommand::Tag(args)) => commands::tag::run(context, args).await,
        Command::Sessions(SessionsCommand::Delete(args)) => commands::delete::run(context, args).await,
        Command::Sessions(SessionsCommand::Restore(args)) => commands::restore::run(context, args).await,
        Command::Sessions(SessionsCommand::Trash(command)) => commands::trash::run(context, command).await,
        Command::Sessions(SessionsCommand::Erase(args)) => commands::erase::run(context, args).await,
        Command::Sessions(SessionsCommand::Prune(args)) => commands::prune::run(context, args).await,
        Command::Sessions(SessionsCommand::Export(args)) => commands::export::run(context, args).await,
        Command::Sessions(SessionsCommand::Import(args)) => commands::import::run(context, args).await,
        Command::Sessions(SessionsCommand::Stats(args)) => commands::stats::run(context, args).await,
        Command::Sessions(SessionsCommand::Verify(args)) => commands::verify::run(context, args).await,
        Command::Sessions(SessionsCommand::Backup(args)) => commands::backup::run(context, args).await,
        Command::Sessions(SessionsCommand::RestoreBackup(args)) => commands::restore_backup::run(context, args).await,
        Command::Sessions(SessionsCommand::Optimize(args)) => commands::optimize::run(context, args).await,
        Command::Sessions(SessionsCommand::Repair(args)) => commands::repair::run(context, args).await,
        Command::Sessiondb(SessiondbCommand::Adopt(args)) => commands::adopt::run(context, args).await,
        Command::Sessiondb(SessiondbCommand::Detach(args)) => commands::detach::run(context, args).await,
        Command::Sessiondb(SessiondbCommand::Migrate(args)) => commands::migrate::run(context, args).await,
        Command::Sessiondb(SessiondbCommand::Rpc(args)) => commands::rpc::run(context, args).await,
        Command::Sessiondb(SessiondbCommand::Status(args)) => commands::status::run(context, args).await,
    }
}

#[cfg(test)]
mod tests;
