//! The context of every command: the workspace, the time and the printer.

mod open;

pub(crate) use hermes_app::Access;
pub(crate) use open::{OpenStore, Opened};

use crate::error::CliError;
use crate::ui::Ui;
use hermes_app::{AppError, UrlOrigin, Workspace};
use hermes_config::{Environment, Flags, Secret, Settings, env};
use hermes_store::StoreUrl;
use hermes_terminal::output::Output;
use hermes_terminal::shell::shell_word;
use hermes_terminal::time::Now;
use std::sync::Arc;

/// The context that every command receives.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) ui: Ui,
    pub(crate) now: Now,
}

impl Context {
    /// Returns the flags of the command line that locate the store.
    pub(crate) fn flags(&self) -> &Flags {
        self.workspace.flags()
    }

    /// Returns the environment of the process.
    pub(crate) fn environment(&self) -> &Environment {
        self.workspace.environment()
    }

    /// Returns every setting, from the command line, the environment and the file.
    pub(crate) fn settings(&self) -> Result<Arc<Settings>, CliError> {
        Ok(self.workspace.settings()?)
    }

    /// Returns the URL of the configured store.
    pub(crate) fn url(&self) -> Result<StoreUrl, CliError> {
        Ok(self.workspace.url()?.clone())
    }

    /// Returns the same context with other flags about where sessions are.
    pub(crate) fn with_flags(&self, flags: Flags) -> Self {
        let workspace = Arc::new(self.workspace.with_flags(flags));
        Self { workspace, ui: self.ui.clone(), now: self.now.clone() }
    }

    /// Returns an output that is shown in `$PAGER` if it is longer than the screen.
    pub(crate) fn paged(&self) -> Output {
        Output::paged(&self.ui, self.environment().raw(env::PAGER).map(ToOwned::to_owned))
    }

    /// Returns the flags that locate the store as text, for repeating them in a suggested command.
    pub(crate) fn place(&self) -> String {
        let flags = self.flags();
        let home = flags.home.as_ref().map(|home| format!(" --home {}", shell_word(&home.display().to_string())));
        let url = flags.url.as_ref().map(|url| match self.url_to_repeat(url) {
            Some(url) => format!(" --url {}", shell_word(&url)),
            None => " --url …".to_owned(),
        });
        home.into_iter().chain(url).collect()
    }

    /// Returns a URL as it may be printed, or `None` if it holds a password.
    fn url_to_repeat(&self, url: &Secret) -> Option<String> {
        let parsed = StoreUrl::parse(url.reveal(), self.environment().user_home()).ok()?;
        (!parsed.holds_password()).then(|| url.reveal().to_owned())
    }

    /// Parses the store that an argument names (`config`, `env:NAME`, a URL or a path) and warns about a password in
    /// it.
    pub(crate) fn named_url(&self, flag: &str, text: &str) -> Result<StoreUrl, CliError> {
        let named = self.workspace.named_url(text).map_err(|error| match error {
            AppError::Unset { name } => CliError::unset_variable(&name, flag),
            AppError::Url { mut invalid, origin: UrlOrigin::Argument } => {
                invalid.hint = format!("{} ({flag})", invalid.hint).into();
                CliError::usage(invalid)
            }
            error => error.into(),
        })?;
        if named.is_typed && named.url.holds_password() {
            let hint = format!("put the URL into a variable and give {flag} env:NAME");
            self.ui.warn(&format!("others on this machine can see the password in {flag}"), &hint);
        }
        Ok(named.url)
    }

    /// Warns if `--url` holds a password, which others on this machine can see.
    pub(crate) fn warn_of_typed_password(&self) -> Result<(), CliError> {
        if self.workspace.is_password_typed()? {
            self.warn_of_password();
        }
        Ok(())
    }

    /// Warns about a password in `--url`.
    pub(crate) fn warn_of_password(&self) {
        let hint = format!("set {} instead", env::HERMES_SESSIONDB_URL);
        self.ui.warn("others on this machine can see the password in --url", &hint);
    }
}
