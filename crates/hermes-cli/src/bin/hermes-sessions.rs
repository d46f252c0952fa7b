//! `hermes-sessions`: this program under a name that no other program has.

use std::process::ExitCode;

fn main() -> ExitCode {
    hermes_cli::main("hermes-sessions")
}
