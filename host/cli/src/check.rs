//! `zonewarden check`: one look at a world.

mod rows;

use std::process::ExitCode;

use anyhow::Result;

use crate::args::{CheckArgs, Output};
use crate::output::{print, yaml};
use crate::report::{self, Report};
use crate::{decider, world};

/// Reads the world, asks the policy, prints the answer.
pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode> {
    let world = world::of(&args.world)?;
    let policy = decider::configured(&args.decider)?;
    let report = report::of(&world, &policy, args.all_nodes)?;
    print(&text(&report, args.output)?);
    Ok(ExitCode::from(u8::from(report.summary.tells())))
}

fn text(report: &Report, output: Output) -> Result<String> {
    match output {
        Output::Json => Ok(format!("{}\n", serde_json::to_string_pretty(report)?)),
        Output::Yaml => yaml(report),
        Output::Table => rows::text(report, false),
        Output::Wide => rows::text(report, true),
    }
}
