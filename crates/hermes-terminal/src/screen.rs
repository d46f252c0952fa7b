//! The whole screen of a terminal. However the program ends, the terminal is restored.

mod backend;

use crate::TerminalError;
use backend::Ansi;
use crossterm::cursor::Show;
use crossterm::event::{self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use crossterm::execute;
use crossterm::terminal::{
    DisableLineWrap, EnableLineWrap, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use hermes_config::{Environment, env};
use ratatui_core::layout::{Rect, Size};
use ratatui_core::terminal::{Frame, Terminal};
use std::io::{self, BufWriter, IsTerminal as _, Stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes buffered per frame, so that a frame is written at once.
const BUFFER: usize = 64 * 1024;

/// Whether the terminal is taken. Global, because there is one terminal and the panic hook restores it too.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The screen. Dropping it restores the terminal.
pub struct Screen {
    terminal: Terminal<Ansi<BufWriter<Stdout>>>,
}

/// Returns whether stdin and stdout are a terminal.
pub fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

impl Screen {
    /// Takes the screen.
    ///
    /// # Errors
    /// If the terminal can't be used.
    pub fn open(environment: &Environment) -> Result<Self, TerminalError> {
        restore_on_panic();
        let opened = take().and_then(|()| {
            let out = BufWriter::with_capacity(BUFFER, io::stdout());
            Terminal::new(Ansi::new(out, size_in_environment(environment)))
        });
        opened.map(|terminal| Self { terminal }).map_err(|error| {
            restore();
            TerminalError::Screen(error)
        })
    }

    /// Returns columns and lines.
    ///
    /// # Errors
    /// If the terminal can't be used.
    pub fn size(&self) -> Result<(u16, u16), TerminalError> {
        self.terminal.size().map(|size| (size.width, size.height)).map_err(TerminalError::Screen)
    }

    /// Draws a frame. Unchanged cells are not sent again.
    ///
    /// # Errors
    /// If the terminal can't be written to, or was restored because of a panic.
    pub fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> Result<(), TerminalError> {
        if !IS_TAKEN.load(Ordering::SeqCst) {
            return Err(TerminalError::Screen(io::Error::other("something failed while it was in use")));
        }
        self.terminal.draw(picture).map(|_| ()).map_err(TerminalError::Screen)
    }

    /// Stops the process as Ctrl-Z does, and takes the screen again once it is continued.
    ///
    /// # Errors
    /// If the terminal can't be used.
    pub fn suspend(&mut self) -> Result<(), TerminalError> {
        restore();
        #[cfg(unix)]
        signal_hook::low_level::raise(signal_hook::consts::SIGTSTP).map_err(TerminalError::Screen)?;
        take().map_err(TerminalError::Screen)?;
        let (width, height) = self.size()?;
        // The shell has drawn over the last frame, so all of the next is sent.
        self.terminal.resize(Rect::new(0, 0, width, height)).map_err(TerminalError::Screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

/// Returns whether the terminal is gone. Neither a signal nor [`next_event`] reports that on every system.
pub fn is_gone() -> bool {
    !io::stdin().is_terminal()
}

/// Returns the size in the environment, or 80 by 24.
fn size_in_environment(environment: &Environment) -> Size {
    let number = |name, default: u16| {
        let number = environment.text(name).ok().flatten().and_then(|text| text.parse().ok());
        number.filter(|number| *number > 0).unwrap_or(default)
    };
    Size { width: number(env::COLUMNS, 80), height: number(env::LINES, 24) }
}

/// Waits for the next key, click or paste. Returns `None` once the terminal is gone.
pub fn next_event() -> Option<event::Event> {
    event::read().inspect_err(|error| tracing::debug!(%error, "no more input from the terminal")).ok()
}

fn take() -> io::Result<()> {
    IS_TAKEN.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    // A character that the terminal draws wider than expected must not run over into the next line.
    execute!(io::stdout(), EnterAlternateScreen, DisableLineWrap, EnableMouseCapture, EnableBracketedPaste)
}

/// Restores the terminal if it is taken.
///
/// Errors are ignored and not logged: this runs within the panic hook, and a terminal that can't be restored is usually
/// gone.
fn restore() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        _ = execute!(
            io::stdout(),
            DisableBracketedPaste,
            DisableMouseCapture,
            EnableLineWrap,
            LeaveAlternateScreen,
            Show
        );
        _ = disable_raw_mode();
    }
}

/// Restores the terminal before a panic is printed.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
    });
}
