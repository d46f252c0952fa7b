//! `hermes completions`

use crate::context::Context;
use crate::error::CliError;
use hermes_terminal::shell::shell_word;

/// Print a shell completion script for commands, options, session ids and titles
///
/// bash: eval "$(hermes completions bash)" in ~/.bashrc. zsh: eval "$(hermes completions zsh)" in ~/.zshrc, after
/// compinit. fish: hermes completions fish | source
#[derive(clap::Args)]
pub(crate) struct CompletionsArgs {
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Placeholder for this program in a script.
const PROGRAM: &str = "@PROGRAM@";

pub(crate) fn run(context: &Context, args: &CompletionsArgs) -> Result<(), CliError> {
    let script = match args.shell {
        Shell::Bash => include_str!("completions/hermes.bash"),
        Shell::Zsh => include_str!("completions/hermes.zsh"),
        Shell::Fish => include_str!("completions/hermes.fish"),
    };
    // Uses the full path, because another program of this name may come first in `PATH`.
    let program = std::env::current_exe().map_or_else(|_| "hermes".into(), |path| path.display().to_string());
    context.ui.script(&script.replace(PROGRAM, &shell_word(&program)))
}
