//! Progress of long work, on stderr. Nothing is drawn unless stderr is a terminal.

use crate::Ui;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A progress bar. It is removed from the screen when it is dropped.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Returns a bar that is never drawn.
    pub fn hidden() -> Self {
        Self { bar: ProgressBar::hidden() }
    }

    /// Shows the current work, and how much of it is done if `total` is known (not 0).
    pub fn show(&self, what: &'static str, done: u64, total: u64) {
        self.show_as("{msg} [{bar:30}] {percent}% ({eta} left)", what, done, total);
    }

    /// Shows the same with the rate per second, for units that a person knows.
    pub fn show_rate(&self, what: &'static str, done: u64, total: u64) {
        self.show_as("{msg} [{bar:30}] {percent}% ({per_sec}, {eta} left)", what, done, total);
    }

    fn show_as(&self, of_known: &str, what: &'static str, done: u64, total: u64) {
        let template = if total == 0 { "{spinner} {msg} ({elapsed})" } else { of_known };
        // The templates are constants; an invalid one fails the first test that draws a bar.
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self.bar.set_message(what);
        self.bar.set_length(total);
        self.bar.set_position(done.min(total));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Ui {
    /// Returns a bar for work that takes a while. It is never drawn if the printer is quiet.
    pub fn progress(&self) -> Progress {
        if self.is_quiet() {
            return Progress::hidden();
        }
        // Few enough frames per second for a slow connection; none without a terminal.
        Progress { bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10)) }
    }

    /// Runs work of unknown length, and shows that it is still running.
    pub async fn wait<T>(&self, what: &'static str, work: impl Future<Output = T>) -> T {
        let progress = self.progress();
        progress.show(what, 0, 0);
        progress.bar.enable_steady_tick(Duration::from_millis(100));
        work.await
    }
}
