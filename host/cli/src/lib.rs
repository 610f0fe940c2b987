//! The program: flags, wiring, output. `main.rs` only calls [`main`].
//!
//! Read `args` for what can be asked, `world` and `decider` for what an answer rests on, `report` for what `check`
//! answers, `output` for how it looks, and `run` for what surrounds the host while it serves.

mod args;
mod check;
mod config;
mod decider;
mod explain;
mod output;
mod policy;
mod read;
mod report;
mod run;
mod world;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches as _;

use args::{Cli, Command};

/// Nothing could be answered.
const NOTHING_ANSWERED: u8 = 2;

/// The program.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    run(&args).unwrap_or_else(|error| {
        output::complain(&format!("zonewarden: {}", output::chain(error.as_ref())));
        ExitCode::from(NOTHING_ANSWERED)
    })
}

fn run(args: &[OsString]) -> anyhow::Result<ExitCode> {
    let command = config::command(config::path(args).as_deref(), args)?;
    let matches = match command.try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => {
            // Help and version are answers; the rest are mistakes. clap knows which stream each belongs to.
            let code = u8::try_from(error.exit_code()).unwrap_or(NOTHING_ANSWERED);
            error.print()?;
            return Ok(ExitCode::from(code));
        }
    };
    let cli = Cli::from_arg_matches(&matches)?;
    match cli.command {
        Command::Check(args) => check::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Policy(args) => policy::run(&args),
    }
}
