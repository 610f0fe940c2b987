//! The configuration file: defaults for flags, by their long names.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use clap::{Command, CommandFactory as _};
use serde_json::Value;
use zonewarden_contract::types::Setting;

use crate::args::Cli;
use crate::read;

/// The command line with the file's values as the flags' defaults. Flags and environment variables still win.
pub(crate) fn command(file: Option<&Path>) -> Result<Command> {
    let mut command = Cli::command();
    let Some(file) = file else { return Ok(command) };
    let Value::Object(map) = read::structured(file)? else {
        bail!("{}: a map of long flag names to values is meant", file.display());
    };
    for (name, value) in map {
        let text = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => {
                bail!("{}: {name}: one text is meant", file.display())
            }
        };
        let mut known = false;
        command = with_default(command, &name, &text, &mut known);
        if !known {
            bail!("{}: there is no flag --{name}", file.display());
        }
    }
    Ok(command)
}

/// Sets the default wherever the flag stands, in subcommands too.
fn with_default(command: Command, name: &str, value: &str, known: &mut bool) -> Command {
    let ids: Vec<_> =
        command.get_arguments().filter(|arg| arg.get_long() == Some(name)).map(|arg| arg.get_id().clone()).collect();
    let mut command = command;
    for id in ids {
        *known = true;
        let value = value.to_owned();
        command =
            command.mut_arg(id, |arg| arg.default_value(clap::builder::OsStr::from(clap::builder::Str::from(value))));
    }
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for sub in names {
        command = command.mut_subcommand(sub, |sub| with_default(sub, name, value, known));
    }
    command
}

/// Where `--config` points, before the command line can be read as a whole.
pub(crate) fn path(args: &[std::ffi::OsString]) -> Option<std::path::PathBuf> {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--config" {
            return args.next().map(Into::into);
        }
        if let Some(path) = arg.to_str().and_then(|arg| arg.strip_prefix("--config=")) {
            return Some(path.into());
        }
    }
    #[allow(clippy::disallowed_methods, reason = "this is where the environment is read")]
    std::env::var_os("ZONEWARDEN_CONFIG").map(Into::into)
}

/// Reads `--settings`.
pub(crate) fn settings(file: Option<&Path>) -> Result<Vec<Setting>> {
    let Some(file) = file else { return Ok(Vec::new()) };
    let value = read::structured(file).context("the settings can't be read")?;
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
