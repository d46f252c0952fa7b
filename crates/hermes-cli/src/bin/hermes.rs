//! `hermes`: this program under the name of the Python agent, for machines without that agent.

use std::process::ExitCode;

fn main() -> ExitCode {
    hermes_cli::main("hermes")
}
