//! `zonewarden policy`: look into a component, run its cases.

mod cases;
mod difference;
mod inspect;
mod test;

use std::process::ExitCode;

use anyhow::Result;

use crate::args::{PolicyArgs, PolicyCommand};

/// Runs the subcommand.
pub(crate) fn run(args: &PolicyArgs) -> Result<ExitCode> {
    match &args.command {
        PolicyCommand::Inspect { file, decider, output } => inspect::run(file, decider, *output),
        PolicyCommand::Test { path, decider } => test::run(path, decider),
    }
}
