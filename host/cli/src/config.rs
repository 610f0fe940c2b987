//! The configuration file: defaults for flags, by their long names.

use std::error::Error as _;
use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::builder::{OsStr, Resettable, Str};
use clap::{Arg, ArgAction, Command, CommandFactory as _};
use serde_json::Value;
use zonewarden_contract::types::Setting;

use crate::args::Cli;
use crate::read;

/// The forms in which a world is named. Naming one puts the others out of force where a weaker source names them.
const FORMS: [&[&str]; 3] =
    [&["world"], &["cluster", "volumes", "instances"], &["kubeconfig", "context", "region", "endpoint-url", "profile"]];

/// The command line with the file's values as the flags' defaults. Flags and environment variables still win.
pub(crate) fn command(file: Option<&Path>, args: &[OsString]) -> Result<Command> {
    applied(Cli::command(), file, args)
}

/// A command line with the file's values as the flags' defaults.
pub(crate) fn applied(mut command: Command, file: Option<&Path>, args: &[OsString]) -> Result<Command> {
    let by_flag = FORMS.map(|form| form.iter().any(|name| is_given(args, name)));
    let by_environment = FORMS.map(|form| form.iter().any(|name| std::env::var_os(variable(name)).is_some()));
    let another =
        |given: [bool; FORMS.len()], own: usize| given.iter().enumerate().any(|(at, given)| *given && at != own);
    for (own, form) in FORMS.iter().enumerate() {
        if another(by_flag, own) {
            command = without_environment(command, form);
        }
    }
    let Some(file) = file else { return Ok(command) };
    let Value::Object(map) = read::structured(file)? else {
        bail!("{}: a map of long flag names to values is meant", file.display());
    };
    for (name, value) in map {
        let values = texts(value).with_context(|| format!("{}: {name}", file.display()))?;
        let own = FORMS.iter().position(|form| form.contains(&name.as_str()));
        if own.is_some_and(|own| another(by_flag, own) || another(by_environment, own)) {
            continue;
        }
        let mut known = false;
        command =
            with_default(command, &name, &values, &mut known).with_context(|| format!("{}: {name}", file.display()))?;
        if !known {
            bail!("{}: there is no flag --{name}", file.display());
        }
    }
    Ok(command)
}

fn texts(value: Value) -> Result<Vec<String>> {
    match value {
        Value::String(text) => Ok(vec![text]),
        Value::Number(number) => Ok(vec![number.to_string()]),
        Value::Bool(flag) => Ok(vec![flag.to_string()]),
        Value::Array(values) => Ok(values.into_iter().map(texts).collect::<Result<Vec<_>>>()?.concat()),
        Value::Null | Value::Object(_) => bail!("one text is meant, or a list of texts"),
    }
}

/// The environment variable of a flag.
fn variable(name: &str) -> String {
    format!("ZONEWARDEN_{}", name.to_uppercase().replace('-', "_"))
}

/// Whether a flag stands on the command line.
fn is_given(args: &[OsString], name: &str) -> bool {
    let flag = format!("--{name}");
    args.iter()
        .filter_map(|arg| arg.to_str())
        .any(|arg| arg.strip_prefix(&flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
}

/// The ids of the arguments of a long name.
fn ids(command: &Command, name: &str) -> Vec<clap::Id> {
    command.get_arguments().filter(|arg| arg.get_long() == Some(name)).map(|arg| arg.get_id().clone()).collect()
}

fn subcommands(command: &Command) -> Vec<String> {
    command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect()
}

/// Takes the environment variables of some flags out of force, in subcommands too.
fn without_environment(mut command: Command, names: &[&str]) -> Command {
    for id in names.iter().flat_map(|name| ids(&command, name)).collect::<Vec<_>>() {
        command = command.mut_arg(id, |arg| arg.env(Resettable::Reset));
    }
    for sub in subcommands(&command) {
        command = command.mut_subcommand(sub, |sub| without_environment(sub, names));
    }
    command
}

/// Sets the default wherever the flag stands, in subcommands too.
fn with_default(mut command: Command, name: &str, values: &[String], known: &mut bool) -> Result<Command> {
    for id in ids(&command, name) {
        *known = true;
        let arg = command.get_arguments().find(|arg| *arg.get_id() == id).expect("its id was just read");
        if values.len() > 1 && !matches!(arg.get_action(), ArgAction::Append) {
            bail!("one text is meant");
        }
        for value in values {
            check(arg, name, value)?;
        }
        let defaults: Vec<OsStr> = values.iter().map(|value| OsStr::from(Str::from(value.clone()))).collect();
        command = command.mut_arg(id, |arg| arg.default_values(defaults));
    }
    let mut failed = None;
    for sub in subcommands(&command) {
        command = command.mut_subcommand(sub, |sub| match with_default(sub.clone(), name, values, known) {
            Ok(changed) => changed,
            Err(error) => {
                failed = Some(error);
                sub
            }
        });
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(command),
    }
}

/// Whether a flag takes this value: what clap would find out later, when the file can't be named any more.
fn check(arg: &Arg, name: &str, value: &str) -> Result<()> {
    let accepted: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if !accepted.is_empty() {
        let is_one = accepted.iter().any(|accepted| accepted == value);
        return if is_one { Ok(()) } else { Err(anyhow!("{value:?} is none of {}", accepted.join(", "))) };
    }
    let alone = Arg::new("value").long(name.to_owned()).value_parser(arg.get_value_parser().clone());
    let parsed = Command::new("").no_binary_name(true).arg(alone).try_get_matches_from([format!("--{name}={value}")]);
    let Err(error) = parsed else { return Ok(()) };
    // What the parser of the value says is the source; the rest speaks of the command line.
    Err(anyhow!("{value:?}: {}", error.source().map_or_else(|| error.to_string(), ToString::to_string)))
}

/// Where `--config` points, before the command line can be read as a whole.
pub(crate) fn path(args: &[OsString]) -> Option<std::path::PathBuf> {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--config" {
            return args.next().map(Into::into);
        }
        if let Some(path) = arg.to_str().and_then(|arg| arg.strip_prefix("--config=")) {
            return Some(path.into());
        }
    }
    std::env::var_os("ZONEWARDEN_CONFIG").map(Into::into)
}

/// Reads `--settings`.
pub(crate) fn settings(file: Option<&Path>) -> Result<Vec<Setting>> {
    let Some(file) = file else { return Ok(Vec::new()) };
    settings_in(file, read::structured(file).context("the settings can't be read")?)
}

/// What `--settings` holds, read from its bytes.
pub(crate) fn settings_of_bytes(file: &Path, bytes: &[u8]) -> Result<Vec<Setting>> {
    settings_in(file, read::structured_bytes(file, bytes).context("the settings can't be read")?)
}

fn settings_in(file: &Path, value: Value) -> Result<Vec<Setting>> {
    let Value::Object(map) = value else {
        bail!("{}: a map of settings to texts is meant, as `volume-ids: strict`", file.display());
    };
    settings_of(map).with_context(|| file.display().to_string())
}

/// A map of settings as the contract has them.
pub(crate) fn settings_of(map: serde_json::Map<String, Value>) -> Result<Vec<Setting>> {
    map.into_iter()
        .map(|(key, value)| {
            let value = match value {
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                Value::Bool(flag) => flag.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => {
                    bail!("{key}: one text, number, true or false is meant")
                }
            };
            Ok(Setting { key, value })
        })
        .collect()
}
