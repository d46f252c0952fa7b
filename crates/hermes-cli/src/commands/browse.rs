//! `hermes sessions browse`

mod areas;
mod desk;
mod event;
#[cfg(test)]
mod figures;
mod help;
mod keys;
mod line_editor;
mod pins_and_tags;
mod plain;
mod read;
mod resume;
mod rows;
mod state;
mod view;
mod work;

use crate::clock;
use crate::context::Context;
use crate::error::{CliError, Kind};
use desk::Desk;
use event::{Effect, Event, Input, Notice};
use hermes_app::listing::source_filter;
use hermes_session::SessionId;
use hermes_terminal::Line;
use hermes_terminal::screen::{self, Screen};
use state::State;
use std::pin::pin;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, channel, unbounded_channel};
use tokio::task::LocalSet;
use tokio::time::sleep;
use view::Painter;
use work::Work;

/// Capacity of the channel for answers, such as pages of the list.
const WAITING: usize = 2;
/// Interval between checks whether the terminal is still there.
const LOOK: Duration = Duration::from_secs(1);

/// Text shown while a user who is leaving waits for pending changes.
const ENDING: &str = "Finishing what was begun … Ctrl-C does not wait";

/// Pick a conversation from a full-screen list and print the command that resumes it
///
/// Pinned conversations come first. Typing filters titles, previews, ids, sources and tags at once, then searches the
/// messages. F1 shows the keys. Without a terminal, a numbered list is printed.
#[derive(clap::Args, Debug)]
pub(crate) struct BrowseArgs {
    /// Only conversations from this source, such as cli or telegram; may be repeated
    #[arg(short, long, value_name = "SOURCE")]
    source: Vec<String>,
    /// Show at most N conversations, pinned ones first, then the most recently active; 0 for all [default: all, or 500
    /// without a terminal]
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u64>,
    /// Resume the conversation instead of printing the command
    #[arg(long)]
    run: bool,
}

pub(crate) async fn run(context: &Context, args: BrowseArgs) -> Result<(), CliError> {
    let filter = source_filter(&args.source, &[]).map_err(CliError::usage)?;
    let desk = Rc::new(Desk::new(context, context.open_for_reading().await?, filter));
    let is_dumb = context.environment().raw("TERM").is_some_and(|term| term == "dumb");
    let Left { chosen, failed } = if screen::is_there() && !is_dumb {
        let most = args.limit.filter(|most| *most > 0).unwrap_or(u64::MAX);
        LocalSet::new().run_until(pick(Rc::clone(&desk), most)).await?
    } else {
        Left { chosen: plain::pick(&desk, args.limit).await?, failed: None }
    };
    let Some(id) = chosen else { return failed.map_or(Ok(()), Err) };
    let id = read::tip(&**desk.store(), &id).await?;
    drop(desk);
    if args.run {
        failed.iter().for_each(|error| context.ui.error(error));
        return resume::run(context, &id);
    }
    context.ui.print([Line::plain_text(resume::command(context, &id)?)])?;
    failed.map_or(Ok(()), Err)
}

/// Outcome of the picker.
struct Left {
    chosen: Option<SessionId>,
    /// The changes that failed, unless the picker showed that.
    failed: Option<CliError>,
}

impl Left {
    fn new(chosen: Option<SessionId>, failures: impl IntoIterator<Item = String>) -> Self {
        let mut failures = failures.into_iter();
        let failed = failures.next().map(|first| {
            let others = failures.map(Line::plain_text).collect();
            CliError::new(Kind::User, first, "whatever else was begun is done; begin this again").with_details(others)
        });
        Self { chosen, failed }
    }
}

/// Shows the picker until a conversation is chosen or the user leaves.
async fn pick(desk: Rc<Desk>, most: u64) -> Result<Left, CliError> {
    let has_color = desk.context.ui.has_color();
    let (sender, mut answers) = channel(WAITING);
    let mut signals = Signals::watch().map_err(CliError::output)?;
    let mut screen = Screen::open(desk.context.environment())?;
    let mut inputs = inputs();
    let mut state = State::new(screen.size()?);
    state.deletes_for_good = desk.trash_days == 0;
    let mut painter = Painter::new(has_color);
    let mut work = Work::new(desk, sender);
    work.list(most);
    loop {
        let now = clock::now();
        screen.draw(|frame| painter.draw(&state, &now, frame))?;
        // Input takes precedence over answers.
        let event = tokio::select! {
            biased;
            signal = signals.next() => return Err(ended(signal)),
            event = inputs.recv() => event,
            event = answers.recv() => event,
            // Redrawing also updates the relative times.
            () = sleep(LOOK) => {
                if screen::is_gone() {
                    return Ok(Left::new(None, []));
                }
                continue;
            }
        };
        // The terminal is gone, so nobody can choose.
        let Some(event) = event else { return Ok(Left::new(None, [])) };
        let is_input = matches!(event, Event::Input(_));
        let mut effects = state.update(sized(event, &screen)?);
        while (is_input || state.asks_by_itself())
            && let Ok(event) = inputs.try_recv()
        {
            // A key pressed before the question was visible is not an answer to it.
            let is_early = state.asks_by_itself() && matches!(event, Event::Input(Input::Text(_)));
            if !is_early {
                effects.extend(state.update(sized(event, &screen)?));
            }
        }
        for effect in effects {
            match effect {
                Effect::Leave(chosen) => {
                    let mut failures: Vec<String> =
                        state.leave(Notice::of(ENDING)).filter_map(Event::failure).collect();
                    if work.is_changing() {
                        screen.draw(|frame| painter.draw(&state, &now, frame))?;
                    }
                    // If no row was ever drawn, the user has not seen the list error yet; report it on exit.
                    let list_error = if state.listed() == 0 { work.list_error().await } else { None };
                    failures.extend(finish(work, &mut answers, &mut inputs, &mut signals).await?);
                    let Left { chosen, failed } = Left::new(chosen, failures);
                    return Ok(Left { chosen, failed: failed.or(list_error) });
                }
                Effect::Suspend => {
                    screen.suspend()?;
                    let (width, height) = screen.size()?;
                    state.update(Event::Resized(width, height)).into_iter().for_each(|effect| work.begin(effect));
                }
                effect => work.begin(effect),
            }
        }
    }
}

/// Completes pending changes before leaving, such as a rename, and returns those that failed. Ctrl-C does not wait.
async fn finish(
    work: Work,
    answers: &mut Receiver<Event>,
    inputs: &mut UnboundedReceiver<Event>,
    signals: &mut Signals,
) -> Result<Vec<String>, CliError> {
    let (mut finish, mut failures) = (pin!(work.finish()), Vec::new());
    loop {
        tokio::select! {
            biased;
            Some(event) = answers.recv() => failures.extend(event.failure()),
            () = &mut finish => break,
            signal = signals.next() => return Err(ended(signal)),
            event = inputs.recv() => if matches!(event, None | Some(Event::Input(Input::Quit))) {
                failures.push("not all that was begun was done".to_owned());
                break;
            },
        }
    }
    while let Ok(event) = answers.try_recv() {
        failures.extend(event.failure());
    }
    Ok(failures)
}

fn ended(signal: u8) -> CliError {
    CliError::stopped(signal, "a signal ended browsing", "nothing was chosen")
}

/// Returns the event with the size that the screen reports.
fn sized(event: Event, screen: &Screen) -> Result<Event, CliError> {
    match event {
        Event::Resized(..) => {
            let (width, height) = screen.size()?;
            Ok(Event::Resized(width, height))
        }
        event => Ok(event),
    }
}

/// Reads input in its own thread, the only portable way to wait for it. The thread ends with the process.
fn inputs() -> UnboundedReceiver<Event> {
    let (sender, receiver) = unbounded_channel();
    let start = Instant::now();
    std::thread::spawn(move || {
        while let Some(raw) = screen::next_event() {
            let event = keys::event(raw, start.elapsed());
            if event.is_some_and(|event| sender.send(event).is_err()) {
                return;
            }
        }
    });
    receiver
}

/// The signals that ask a process to end.
struct Signals([Signal; 3]);

impl Signals {
    fn watch() -> std::io::Result<Self> {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let [interrupt, terminate, hangup] = kinds.map(signal);
        Ok(Self([interrupt?, terminate?, hangup?]))
    }

    /// Returns the number of the next signal.
    async fn next(&mut self) -> u8 {
        let [interrupt, terminate, hangup] = &mut self.0;
        let kind = tokio::select! {
            _ = interrupt.recv() => SignalKind::interrupt(),
            _ = terminate.recv() => SignalKind::terminate(),
            _ = hangup.recv() => SignalKind::hangup(),
        };
        u8::try_from(kind.as_raw_value()).unwrap_or(u8::MAX)
    }
}
