//! `zonewarden policy test`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};
use zonewarden_contract::types::Setting;
use zonewarden_engine::Policy;

use super::cases::{self, Case, File, Question, Section};
use super::difference;
use crate::args::DeciderArgs;
use crate::output::print;
use crate::{config, decider, report, world};

/// Runs the cases and prints a line for each, and what differs for those that fail.
pub(super) fn run(path: &Path, args: &DeciderArgs) -> Result<ExitCode> {
    let policy = decider::policy(args)?;
    let settings = config::settings(args.settings.as_deref())?;
    let (mut passed, mut failed) = (0, 0);
    for (path, file) in cases::load(path)? {
        for case in &file.cases {
            let name = format!("{}: {}", path.display(), case.name);
            match outcome(&policy, &settings, &path, &file, case) {
                Ok(differences) if differences.is_empty() => {
                    passed += 1;
                    print(&format!("ok      {name}\n"));
                }
                Ok(differences) => {
                    failed += 1;
                    print(&format!("FAILED  {name}\n"));
                    for difference in differences {
                        print(&format!("        {difference}\n"));
                    }
                }
                Err(error) => {
                    failed += 1;
                    print(&format!("FAILED  {name}\n        {error:#}\n"));
                }
            }
        }
    }
    if passed + failed == 0 {
        bail!("{}: there are no cases", path.display());
    }
    print(&format!("{passed} passed, {failed} failed\n"));
    Ok(ExitCode::from(u8::from(failed > 0)))
}

fn outcome(policy: &Policy, given: &[Setting], path: &Path, file: &File, case: &Case) -> Result<Vec<String>> {
    let settings = settings(given, file, case)?;
    let answer = match case.question()? {
        Question::Function(function) => evaluate(policy, &settings, function, &case.arguments)?,
        Question::World { folder, section, name } => {
            let folder = path.parent().unwrap_or(Path::new(".")).join(folder);
            object(policy, settings, &folder, section, name)?
        }
    };
    Ok(difference::between(&case.expect, &answer))
}

/// The settings of the command line, of the file and of the case; the last one given of a key holds.
fn settings(given: &[Setting], file: &File, case: &Case) -> Result<Vec<Setting>> {
    let mut all: Map<String, Value> =
        given.iter().map(|setting| (setting.key.clone(), Value::from(setting.value.clone()))).collect();
    all.extend(file.settings.clone());
    all.extend(case.settings.clone());
    config::settings_of(all).context("settings")
}

/// Asks by the contract's `json` interface.
fn evaluate(policy: &Policy, settings: &[Setting], function: &str, arguments: &Map<String, Value>) -> Result<Value> {
    let mut arguments = arguments.clone();
    arguments.insert("settings".to_owned(), serde_json::to_value(settings)?);
    let request = json!({"function": function, "arguments": arguments}).to_string();
    // The settings go with the request: bad ones are an answer here, not an error.
    let answer = match policy.evaluate(&request)? {
        Ok(ok) => json!({"ok": serde_json::from_str::<Value>(&ok).context("the answer is no JSON")?}),
        Err(err) => json!({"err": serde_json::from_str::<Value>(&err).context("the error is no JSON")?}),
    };
    Ok(answer)
}

/// Asks about one object of a world, as `check` does.
fn object(policy: &Policy, settings: Vec<Setting>, folder: &Path, section: Section, name: &str) -> Result<Value> {
    let policy = policy.with_settings(settings)?;
    let world = world::of_folder(folder)?;
    let report = serde_json::to_value(report::of(&world, &policy, true)?)?;
    let (section, is_it): (_, fn(&Value, &str) -> bool) = match section {
        Section::Pods => ("pods", |pod, name| {
            let text = |key: &str| pod[key].as_str().unwrap_or_default().to_owned();
            format!("{}/{}", text("namespace"), text("name")) == name
        }),
        Section::Volumes => ("volumes", |volume, name| volume["persistentVolume"] == name),
        Section::Attachments => ("attachments", |attachment, name| attachment["volumeAttachment"] == name),
    };
    let objects = report[section].as_array().context("the report lacks a section")?;
    let found = objects.iter().find(|object| is_it(object, name));
    found.cloned().with_context(|| format!("{}: there is no {name} among the {section}", folder.display()))
}
