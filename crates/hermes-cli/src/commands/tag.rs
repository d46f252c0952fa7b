//! `hermes sessions tag`

use crate::chores;
use crate::context::Context;
use crate::error::{CliError, Kind};
use crate::resolve::{FORMS, resolve};
use crate::ui::json;
use crate::ui::pins_and_tags::{self, Tagged};
use hermes_app::listing;
use hermes_session::Request;

/// Shows the tags of conversations, adds some and removes others. Without a session: every tag in use
///
/// A tag is one word, whatever its case: Work is work. Tags belong to the conversation, as pins do. `hermes sessions list --tag work` lists
/// what has one.
#[derive(clap::Args)]
pub(crate) struct TagArgs {
    /// Its id, the start of its id, its title, @last, or the number of a row of the last list, such as @3
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// Adds this tag; may be given several times
    #[arg(long, value_name = "TAG")]
    add: Vec<String>,
    /// Removes this tag; may be given several times
    #[arg(long, value_name = "TAG")]
    remove: Vec<String>,
    /// Prints one JSON object
    #[arg(long)]
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
            false => context.ui.print(pins_and_tags::tags(&tags, context.ui.width())),
        };
    }
    // Nothing is changed unless every one of them is found.
    let mut found = Vec::with_capacity(args.sessions.len());
    for text in &args.sessions {
        found.push(resolve(context, &**store, text).await?);
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
        context.ui.json(&json::pins_and_tags::tagged(&done))?;
    } else {
        context.ui.print(pins_and_tags::tagged(&done))?;
    }
    if is_change {
        chores::run(context, opened).await;
    }
    Ok(())
}
