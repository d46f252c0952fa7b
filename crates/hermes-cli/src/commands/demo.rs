//! `hermes demo`

mod samples;

use crate::context::{Access, Context};
use crate::error::{CliError, Kind};
use crate::program;
use crate::searching::print_hits;
use crate::showing;
use crate::ui::sessions;
use crate::warnings;
use anstyle::{AnsiColor, Style};
use hermes_app::UrlOrigin;
use hermes_app::listing::default_filter;
use hermes_config::Origin;
use hermes_session::search::{Query, SearchFilter, SearchRequest};
use hermes_session::{ListRequest, SessionId, Store};
use hermes_store::{OpenOptions, StoreUrl};
use hermes_terminal::shell::shell_word;
use hermes_terminal::transcript::Detail;
use hermes_terminal::{Line, Visible};
use samples::Stored;
use std::path::{Path, PathBuf};

/// Try hermes on sample conversations in a separate folder
///
/// Your own sessions are not changed, unless --url names their store.
#[derive(clap::Args)]
pub(crate) struct DemoArgs {
    /// Create the samples in this folder instead of a new temporary one
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    keep_in: Option<PathBuf>,
}

/// The queries of the tour: a name with punctuation, in two sessions of one conversation; and a word of a script
/// without spaces.
const SEARCHES: [&str; 2] = ["billing.new_queue", "羽绒服"];

/// The location of the samples, and how the next command finds them.
struct Place {
    url: StoreUrl,
    /// The folder created for them.
    folder: Option<PathBuf>,
}

pub(crate) async fn run(context: &Context, args: DemoArgs) -> Result<(), CliError> {
    let place = place(context, args)?;
    if context.flags().url.is_some() {
        context.workspace.check_writable(&place.url)?;
    }
    let store = context.open_with(&place.url, Access::Create, OpenOptions::default()).await?;
    store.notices().iter().for_each(|notice| context.ui.note(notice));
    let stored = samples::store(&*store, &context.now).await?;
    introduce(context, &place)?;
    tour(context, &*store, &stored).await?;
    context.ui.print(farewell(&place, &stored))
}

/// Returns the store that the command line names, else one in a new folder. Stores named by the environment or the
/// configuration file hold real data and are not used.
fn place(context: &Context, args: DemoArgs) -> Result<Place, CliError> {
    if let Some(url) = &context.flags().url {
        let url = context.workspace.parse_url(url.reveal(), UrlOrigin::Setting(Origin::Flag))?;
        if url.holds_password() {
            context.warn_of_password();
        }
        return Ok(Place { url, folder: None });
    }
    if context.flags().home.is_some() {
        let hint = "--keep-in DIR puts the samples into a folder of your choice";
        return Err(CliError::new(Kind::Usage, "the demo leaves your home folder alone, so it takes no --home", hint));
    }
    let folder = match args.keep_in {
        Some(folder) => private_folder(&folder).map(|()| folder),
        None => temporary_folder(),
    };
    let folder = folder.and_then(std::path::absolute).map_err(|error| {
        let hint = "name a folder you may write to with --keep-in";
        CliError::new(Kind::User, format!("could not make a folder for the samples: {error}"), hint)
    })?;
    let file = folder.join("state.db");
    if file.try_exists().unwrap_or(true) {
        let hint = format!("name another folder, or add the samples to that store with --url {}", file.display());
        return Err(CliError::new(Kind::User, format!("{} already exists", file.display()), hint));
    }
    Ok(Place { url: StoreUrl::Sqlite(file), folder: Some(folder) })
}

/// Creates a new, permanent folder that only its owner can access.
fn temporary_folder() -> std::io::Result<PathBuf> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("hermes-demo-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    Ok(builder.tempdir()?.keep())
}

/// Creates a folder that only its owner can access. An existing folder stays as it is.
fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn introduce(context: &Context, place: &Place) -> Result<(), CliError> {
    let at = place.folder.as_ref().map_or_else(|| place.url.to_string(), |folder| folder.display().to_string());
    context.ui.print([Line::plain_text(format!("Sample conversations are in {at}"))])
}

async fn tour(context: &Context, store: &dyn Store, stored: &Stored) -> Result<(), CliError> {
    step(context, &format!("{} sessions list", program::name()))?;
    let request = ListRequest { filter: default_filter(), ..ListRequest::default() };
    let listing = store.list(&request).await?;
    warnings::unreadable(context, &listing.unreadable);
    let look = sessions::Look { first: 1, with_cost: false, columns: context.ui.table_width() };
    context.ui.print(sessions::list(&listing.rows, &context.now, look))?;

    for query in SEARCHES {
        step(context, &format!("{} sessions search {}", program::name(), shell_word(query)))?;
        let request = SearchRequest {
            filter: SearchFilter { exclude_sources: default_filter().exclude_sources, ..SearchFilter::default() },
            with_neighbours: false,
            ..SearchRequest::new(Query::parse(query))
        };
        let rest = |id: &SessionId| {
            let (name, id) = (program::name(), shell_word(id.as_str()));
            format!("{name} sessions search --session {id} {}", shell_word(query))
        };
        print_hits(context, store, &request, false, rest).await?;
    }

    step(context, &command("show", &stored.coding, ""))?;
    showing::show(context, store, &stored.coding.id, Detail::Folded).await?;

    step(context, &command("show --recap", &stored.compressed, ""))?;
    showing::show_recap(context, store, &stored.compressed.id).await
}

fn step(context: &Context, command: &str) -> Result<(), CliError> {
    let prompt = Line::styled("$ ", Style::new().dimmed()).with(command, Style::new().bold());
    context.ui.print([Line::default(), prompt])
}

fn command(verb: &str, sample: &Named, behind: &str) -> String {
    format!("{} sessions {verb} {}{behind}", program::name(), shell_word(&sample.title))
}

/// A stored sample, with the title it can be found by.
struct Named {
    id: SessionId,
    title: String,
}

fn farewell(place: &Place, stored: &Stored) -> Vec<Line> {
    // The store is named in each command: with an exported variable, an agent started in this shell would use it too.
    let (first, behind) = match &place.folder {
        Some(folder) => (None, format!(" --home {}", shell_word(&folder.display().to_string()))),
        // The password is not printed, so the URL can't be pasted.
        None if place.url.holds_password() => (Some("export HERMES_SESSIONDB_URL=…".into()), String::new()),
        None => (None, format!(" --url {}", shell_word(&place.url.to_string()))),
    };
    let name = program::name();
    let commands = alias().into_iter().chain(first).chain([
        format!("{name} sessions list --source telegram{behind}"),
        format!("{name} sessions browse{behind}"),
        format!("{name} sessions search 'token OR 期限' --since 7d{behind}"),
        format!("{name} sessions show @last{behind}"),
        command("show --full", &stored.coding, &behind),
        format!("{name} sessions list --all --json{behind}"),
    ]);
    let style = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
    let mut lines = vec![Line::default(), Line::styled("What to try next", Style::new().bold())];
    lines.extend(commands.map(|command| Line::plain_text("  ").with(Visible::line(&command), style)));
    if let Some(folder) = &place.folder {
        lines.push(Line::default());
        lines.push(Line::plain_text("The folder stays until you remove it:"));
        lines.push(Line::plain_text("  ").with(format!("rm -r {}", shell_word(&folder.display().to_string())), style));
    }
    lines
}

/// Returns the alias that makes the shell run this program by its name. `None` if the shell finds it anyway.
fn alias() -> Option<String> {
    // If the path of this program is unknown, the commands are shown without an alias.
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).find_map(|folder| folder.join(program::name()).canonicalize().ok());
    (found.as_ref() != Some(&program))
        .then(|| format!("alias {}={}", program::name(), shell_word(&program.display().to_string())))
}
