//! The whole screen of a terminal, for as long as a command has it. Whatever ends the command, the terminal is given back as it was.

mod backend;

use crate::error::{CliError, Kind};
use backend::Ansi;
use crossterm::cursor::Show;
use crossterm::event::{self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use hermes_config::{Environment, env};
use ratatui_core::layout::{Rect, Size};
use ratatui_core::terminal::{Frame, Terminal};
use std::io::{self, BufWriter, IsTerminal as _, Stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// A picture is written at once, not line by line.
const BUFFER: usize = 64 * 1024;

/// Whether the terminal is ours. There is one terminal, whoever asks: also the hook that runs when something panics.
static IS_OURS: AtomicBool = AtomicBool::new(false);

/// The screen. Dropping it gives the terminal back.
pub(crate) struct Screen {
    terminal: Terminal<Ansi<BufWriter<Stdout>>>,
}

/// Whether somebody sits at a terminal: what they type comes from it, and what is shown goes there.
pub(crate) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

impl Screen {
    /// Takes the screen.
    pub(crate) fn open(environment: &Environment) -> Result<Self, CliError> {
        give_back_on_panic();
        let opened = take().and_then(|()| {
            let out = BufWriter::with_capacity(BUFFER, io::stdout());
            Terminal::new(Ansi { out, unknown: told_size(environment) })
        });
        opened.map(|terminal| Self { terminal }).map_err(|error| {
            give_back();
            failed(error)
        })
    }

    /// Columns and lines.
    pub(crate) fn size(&self) -> Result<(u16, u16), CliError> {
        self.terminal.size().map(|size| (size.width, size.height)).map_err(failed)
    }

    /// Draws a picture; what is as it was is not sent again.
    ///
    /// # Errors
    /// If the terminal can't be written to, or was given back because something panicked.
    pub(crate) fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> Result<(), CliError> {
        if !IS_OURS.load(Ordering::SeqCst) {
            return Err(failed(io::Error::other("something failed while it was in use")));
        }
        self.terminal.draw(picture).map(|_| ()).map_err(failed)
    }

    /// Stops the process as Ctrl-Z does, and takes the screen again once it goes on.
    pub(crate) fn suspend(&mut self) -> Result<(), CliError> {
        give_back();
        #[cfg(unix)]
        signal_hook::low_level::raise(signal_hook::consts::SIGTSTP).map_err(failed)?;
        take().map_err(failed)?;
        let (width, height) = self.size()?;
        // Nothing of what was drawn is there any more.
        self.terminal.resize(Rect::new(0, 0, width, height)).map_err(failed)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Whether the terminal has gone, though no signal told of it. Whoever waits for keys is not told either.
pub(crate) fn is_gone() -> bool {
    !io::stdin().is_terminal()
}

/// The size that the environment tells, or that of the oldest terminals.
fn told_size(environment: &Environment) -> Size {
    let told = |name, usual: u16| {
        let told = environment.text(name).ok().flatten().and_then(|text| text.parse().ok());
        told.filter(|number| *number > 0).unwrap_or(usual)
    };
    Size { width: told(env::COLUMNS, 80), height: told(env::LINES, 24) }
}

/// What is typed, clicked and pasted, one after another; `None` once the terminal is gone.
pub(crate) fn next_event() -> Option<event::Event> {
    event::read().ok()
}

fn take() -> io::Result<()> {
    IS_OURS.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste)
}

/// Gives the terminal back, if it is ours. Nobody is left to be told if that fails.
fn give_back() {
    if IS_OURS.swap(false, Ordering::SeqCst) {
        _ = execute!(io::stdout(), DisableBracketedPaste, DisableMouseCapture, LeaveAlternateScreen, Show);
        _ = disable_raw_mode();
    }
}

/// What a panic prints has to be seen where other errors are.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
    });
}

#[derive(Debug, thiserror::Error)]
#[error("could not use the terminal")]
struct ScreenError(#[source] io::Error);

fn failed(error: io::Error) -> CliError {
    CliError::new(Kind::User, ScreenError(error), "`hermes sessions list` needs no screen")
}
