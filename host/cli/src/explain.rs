//! `zonewarden explain`: one object's story in words.

mod node;
mod pod;
mod volume;

use std::process::ExitCode;

use anyhow::Result;

use crate::args::{ExplainArgs, Subject, SubjectArgs};
use crate::output::{one_line, print};
use crate::{decider, world};

/// A story: what is told, and whether any of it is a finding.
#[derive(Debug, Default)]
pub(crate) struct Story {
    lines: Vec<String>,
    tells: bool,
}

impl Story {
    /// A sentence.
    fn say(&mut self, line: impl AsRef<str>) {
        self.lines.push(one_line(line.as_ref()));
    }

    /// A sentence that belongs to the one before.
    fn add(&mut self, line: impl AsRef<str>) {
        self.lines.push(format!("  {}", one_line(line.as_ref())));
    }

    /// A sentence that tells of something wrong.
    fn warn(&mut self, line: impl AsRef<str>) {
        self.tells = true;
        self.add(line);
    }
}

/// Tells the story that was asked for.
pub(crate) fn run(args: &ExplainArgs) -> Result<ExitCode> {
    let SubjectArgs { world, decider } = match &args.subject {
        Subject::Pod { subject, .. } | Subject::Volume { subject, .. } | Subject::Node { subject, .. } => subject,
    };
    let world = world::of(world)?;
    let policy = decider::configured(decider)?;
    let survey = world.survey(&policy)?;
    let mut story = match &args.subject {
        Subject::Pod { pod, .. } => pod::story(&survey, pod)?,
        Subject::Volume { id, .. } => volume::story(&survey, id)?,
        Subject::Node { node, .. } => node::story(&survey, node)?,
    };
    for problem in &world.problems {
        story.say(format!("Not read or not known: {}", problem.message));
    }
    print(&format!("{}\n", story.lines.join("\n")));
    Ok(ExitCode::from(u8::from(story.tells)))
}

/// A list in words.
fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
