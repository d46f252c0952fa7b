//! How far a long piece of work is, on stderr, for whoever watches; nothing for a pipe or a file.

use super::Ui;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A bar that goes away when it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// One that nobody sees.
    pub(crate) fn hidden() -> Self {
        Self { bar: ProgressBar::hidden() }
    }

    /// Shows what is being done, and how far it is if `total` is known (not 0).
    pub(crate) fn show(&self, what: &'static str, done: u64, total: u64) {
        self.show_as("{msg} [{bar:30}] {percent}% ({eta} left)", what, done, total);
    }

    /// The same with how quick it is, where what is counted are things that a person knows.
    pub(crate) fn show_rate(&self, what: &'static str, done: u64, total: u64) {
        self.show_as("{msg} [{bar:30}] {percent}% ({per_sec}, {eta} left)", what, done, total);
    }

    fn show_as(&self, of_known: &str, what: &'static str, done: u64, total: u64) {
        let template = if total == 0 { "{spinner} {msg} ({elapsed})" } else { of_known };
        // The templates are constants; one that can't be read would show in the first test that watches.
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
    /// A bar for work that takes a while.
    pub(crate) fn progress(&self) -> Progress {
        // Few enough frames for a slow line; none where nobody watches.
        Progress { bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10)) }
    }

    /// Does work that can't tell how far it is, and shows that it goes on.
    pub(crate) async fn wait<T>(&self, what: &'static str, work: impl Future<Output = T>) -> T {
        let progress = self.progress();
        progress.show(what, 0, 0);
        progress.bar.enable_steady_tick(Duration::from_millis(100));
        work.await
    }
}
