//! `hermes sessions tag`

use crate::chores;
use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::resolve::{FORMS, resolve};
use crate::ui::json;
use crate::ui::pins_and_tags::{self, Tagged};
use hermes_app::listing;
use hermes_session::{Request, Tag};
use hermes_terminal::shell::shell_word;

/// Show, add or remove tags of conversations; without a session, list all tags in use
///
/// A tag is one word; case is ignored. Tags belong to the conversation, like pins. `hermes sessions list --tag work`
/// lists the conversations with a tag.
#[derive(clap::Args)]
pub(crate) struct TagArgs {
    /// Session id, start of an id, title, @last, or @N for row N of the last list
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// Add this tag; may be repeated
    #[arg(long, value_name = "TAG")]
    add: Vec<String>,
    /// Remove this tag; may be repeated
    #[arg(long, value_name = "TAG")]
    remove: Vec<String>,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

pub(crate) async fn run(context: &Context, args: TagArgs) -> Result<(), CliError> {
    let (add, remove) =
        (listing::tags(&args.add).map_err(CliError::usage)?, listing::tags(&args.remove).map_err(CliError::usage)?);
    let is_change = !add.is_empty() || !remove.is_empty();
    if args.sessions.is_empty() && is_change {
        return Err(CliError::new(Kind::Usage, "no SESSION is given to be tagged", FORMS));
    }
    let opened = if is_change { context.open_for_writing().await? } else { context.open_for_reading().await? };
    let store = &opened.store;
    if args.sessions.is_empty() {
        let tags = store.tags().await?;
        return match args.json {
            true => context.ui.json(&json::pins_and_tags::tags(&tags)),
            false => context.ui.print(pins_and_tags::tags(&tags, context.ui.table_width())),
        };
    }
    // Nothing is changed unless all sessions are found.
    let mut found = Vec::with_capacity(args.sessions.len());
    for text in &args.sessions {
        found.push(resolve(context, &**store, text).await.map_err(|error| suggest_add(error, &args, text))?);
    }
    let mut done = Vec::with_capacity(found.len());
    for found in found {
        let tags = match is_change {
            true => store.change_tags(&found.session, &add, &remove, &Request::at(context.now.at)).await?,
            false => hermes_session::pins_and_tags::of(&**store, &found.session).await?.tags,
        };
        done.push(Tagged { id: found.session, tags });
    }
    if args.json {
        context.ui.json_done(&json::pins_and_tags::tagged(&done))?;
    } else if is_change {
        context.ui.print_done(pins_and_tags::tagged(&done))?;
    } else {
        context.ui.print(pins_and_tags::tagged(&done))?;
    }
    if is_change {
        chores::run(context, opened).await;
    }
    Ok(())
}

/// Adds the command with `--add` to the error for a word that may have been meant as a tag.
fn suggest_add(error: CliError, args: &TagArgs, text: &str) -> CliError {
    let is_tag =
        error.kind() == Kind::User && args.add.is_empty() && args.remove.is_empty() && Tag::parse(text).is_ok();
    match args.sessions.first() {
        Some(session) if is_tag && session != text => {
            let command = format!("hermes sessions tag {} --add {}", shell_word(session), shell_word(text));
            error.with_hint(format!("to add a tag, run: {command}"))
        }
        _ => error,
    }
}
