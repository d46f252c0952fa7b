//! The program of the binaries `hermes` and `hermes-sessions`: parses, opens, dispatches and sets the exit code.

mod agent;
mod args;
mod chores;
mod clock;
mod commands;
mod context;
mod error;
mod exporting;
mod help;
mod hints;
mod logging;
mod narrowing;
mod program;
mod reports;
mod resolve;
mod searching;
mod serving;
mod showing;
mod stop;
mod typos;
mod ui;
mod warnings;
mod when;

use args::{Args, Command, SessiondbCommand, SessionsCommand};
use context::Context;
use error::{CliError, Kind};
use hermes_app::{Terminal, Workspace};
use hermes_config::Environment;
use hermes_store::IndexAtClose;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use ui::Ui;

/// Runs the command line of this process. `binary` is the name of the program if the process does not know how it was
/// called.
pub fn main(binary: &'static str) -> ExitCode {
    let environment = Environment::of_process();
    program::set_name(&environment, binary);
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mut ui = Ui::new(&environment).with_color(args::typed_color(&words));
    let outcome = match args::parse(&words, ui.width()) {
        Ok(args) => {
            ui = ui.with_color(args.output.color).with_quiet(args.output.quiet);
            run(environment, args, &ui)
        }
        Err(mut error) => {
            typos::explain(&mut error, &args::command(), &words, &environment);
            let code = u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
            ui.usage(&error).map(|()| code)
        }
    };
    outcome.unwrap_or_else(|error| {
        match error.kind() {
            Kind::Closed => {}
            Kind::Declined => ui.declined(),
            _ => ui.error(&error),
        }
        error.code()
    })
}

fn run(environment: Environment, args: Args, ui: &Ui) -> Result<ExitCode, CliError> {
    let Some(command) = args.command else {
        ui.help(&args::with_groups(ui.width()).render_help())?;
        return Ok(ExitCode::SUCCESS);
    };
    let waits = Some(ui.clone()).filter(|ui| ui.is_watched() && may_show_waits(&command));
    logging::start(logging::filter(args.verbose, &environment)?, waits);
    let workspace = Workspace::new(args.place.flags(), environment)
        .at_terminal(Terminal::of_process())
        .indexing_at_close(index_at_close(ui));
    let context = Context { workspace: Arc::new(workspace), ui: ui.clone(), now: clock::now() };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::new(Kind::User, error, "free some memory and file descriptors, then try again"))?;
    runtime.block_on(dispatch(&context, command))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns whether notes about waits may be printed while a command runs. They would spoil the screen of the picker,
/// and that of a program that is served and lets its own stderr be used.
const fn may_show_waits(command: &Command) -> bool {
    !matches!(
        command,
        Command::Browse(_)
            | Command::Sessions(SessionsCommand::Browse(_))
            | Command::Complete(_)
            | Command::Mcp(_)
            | Command::Sessiondb(SessiondbCommand::Rpc(_))
    )
}

/// Shows the progress of indexing the backlog when a store is closed. A signal stops the indexing too.
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
        Command::List(args) | Command::Sessions(SessionsCommand::List(args)) => {
            commands::list::run(context, args).await
        }
        Command::Browse(args) | Command::Sessions(SessionsCommand::Browse(args)) => {
            commands::browse::run(context, args).await
        }
        Command::Search(args) | Command::Sessions(SessionsCommand::Search(args)) => {
            commands::search::run(context, *args).await
        }
        Command::Show(args) | Command::Sessions(SessionsCommand::Show(args)) => {
            commands::show::run(context, args).await
        }
        Command::Sessions(SessionsCommand::Rename(args)) => commands::rename::run(context, args).await,
        Command::Sessions(SessionsCommand::Pin(args)) => commands::pin::run(context, args, true).await,
        Command::Sessions(SessionsCommand::Unpin(args)) => commands::pin::run(context, args, false).await,
        Command::Sessions(SessionsCommand::Tag(args)) => commands::tag::run(context, args).await,
        Command::Sessions(SessionsCommand::Archive(args)) => commands::archive::run(context, args, true).await,
        Command::Sessions(SessionsCommand::Unarchive(args)) => commands::archive::run(context, args, false).await,
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
        Command::Sessiondb(SessiondbCommand::Owners(args)) => commands::owners::run(context, args).await,
        Command::Sessiondb(SessiondbCommand::Status(args)) => commands::status::run(context, args).await,
    }
}

#[cfg(test)]
mod tests;
