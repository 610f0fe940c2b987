//! The languages: whether a machine has them, and how a program in them is started.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program;

/// A language that a machine may lack.
#[derive(Debug, Clone, Copy)]
pub struct Language {
    name: &'static str,
    /// A command that succeeds where the language is there.
    probe: &'static [&'static str],
    /// The command that brings it.
    brought_by: &'static str,
}

/// Node.js.
pub const NODE: Language =
    Language { name: "Node.js", probe: &["node", "--version"], brought_by: "apt-get install nodejs" };
/// Go.
pub const GO: Language = Language { name: "Go", probe: &["go", "version"], brought_by: "apt-get install golang-go" };
/// Python with what makes a virtual environment; Debian keeps the latter in a package of its own.
pub const PYTHON: Language = Language {
    name: "Python 3 with venv",
    probe: &["python3", "-c", "import ensurepip, venv"],
    brought_by: "apt-get install python3-venv",
};

impl Language {
    /// Whether the machine has the language. Where it lacks it, says so with the command that brings it, for the caller to
    /// skip what needs it.
    ///
    /// # Panics
    /// Where it is missing and the environment says `CI=true`: there, nothing is skipped.
    #[must_use]
    pub fn is_there(&self) -> bool {
        let in_ci = env::var("CI").is_ok_and(|value| value == "true");
        let missing = self.missing();
        if let Some(message) = &missing {
            assert!(!in_ci, "{message}");
            // Not by `eprintln!`, which a test that passes swallows.
            writeln!(io::stderr(), "skipped: {message}").expect("standard error takes a line");
        }
        missing.is_none()
    }

    /// What to tell where the machine lacks the language.
    fn missing(&self) -> Option<String> {
        let (program, arguments) = self.probe.split_first().expect("a probe is a command");
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let there = command.status().is_ok_and(|status| status.success());
        (!there).then(|| format!("{} is missing: {}", self.name, self.brought_by))
    }
}

/// The command that runs a program of the folder `node`.
#[must_use]
pub fn node(script: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(program("node").join(script));
    command
}

/// The command that builds and runs the program of the folder `go`. Go fetches what `go.sum` pins and keeps it.
#[must_use]
pub fn go() -> Command {
    let mut command = Command::new("go");
    command.args(["run", "-mod=readonly", "."]).current_dir(program("go"));
    command
}

/// The command that runs a program of the folder `python`, in an environment with the packages that `requirements.txt` pins.
///
/// # Panics
/// Where the environment can't be made.
#[must_use]
pub fn python(script: &str) -> Command {
    let folder = program("python");
    let mut command = Command::new(python_environment(&folder.join("requirements.txt")).join("bin/python"));
    command.arg("-B").arg(folder.join(script));
    command
}

/// Makes the environment once and keeps it in the cache folder. A lock lets only one test make it; the pins are copied into it
/// last, so that one that was interrupted is made again.
fn python_environment(requirements: &Path) -> PathBuf {
    let environment = cache().join("python-embedding");
    let pins = fs::read(requirements).expect("the pins are beside this crate");
    let made_for = environment.join("requirements.txt");
    fs::create_dir_all(cache()).expect("the cache folder can be made");
    let lock = File::create(cache().join("python-embedding.lock")).expect("the cache folder can be written to");
    lock.lock().expect("a lock is waited for");
    if fs::read(&made_for).is_ok_and(|made| made == pins) {
        return environment;
    }
    finish(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment));
    finish(Command::new(environment.join("bin/pip")).args(["install", "--quiet", "--requirement"]).arg(requirements));
    fs::copy(requirements, made_for).expect("the environment can be written to");
    environment
}

/// Where what is fetched once stays.
fn cache() -> PathBuf {
    let folder = |variable: &str| env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder("ZONEWARDEN_CACHE")
        .or_else(|| folder("XDG_CACHE_HOME").map(|cache| cache.join("zonewarden")))
        .or_else(|| folder("HOME").map(|home| home.join(".cache/zonewarden")))
        .unwrap_or_else(|| env::temp_dir().join("zonewarden"))
}

fn finish(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{complaint}", output.status);
}

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn a_language_that_is_missing_is_named_with_the_command_that_brings_it() {
        let language =
            Language { name: "Elvish", probe: &["zonewarden-no-such-program"], brought_by: "apt-get install elvish" };
        assert_eq!(language.missing().as_deref(), Some("Elvish is missing: apt-get install elvish"));
        let broken = Language { probe: &["false"], ..language };
        assert!(broken.missing().is_some());
        let there = Language { probe: &["true"], ..language };
        assert_eq!(there.missing(), None);
    }
}
