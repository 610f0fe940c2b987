//! The program as its users run it: arguments, files and standard input in, text and an exit status out.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

mod cli {
    mod bad_input;
    mod check;
    mod config;
    mod demo;
    mod encodings;
    mod explain;
    mod inspect;
    mod policy;
    pub(crate) mod schema;
}

/// A volume that the default policy handles.
const VOLUME: &str = "vol-0a1b2c3d4e5f60718";

/// The workspace's root, seen from the package's folder, where cargo runs tests: the folder that the program is run in where a
/// test does not make its own.
fn root() -> PathBuf {
    Path::new("../..").canonicalize().expect("the workspace's root exists")
}

/// What one run of the program gave.
#[derive(Debug)]
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Run {
    /// The answer of `check -o json`, held against its documented schema.
    #[track_caller]
    fn report(&self) -> Value {
        let report = serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        assert_eq!(cli::schema::faults(&report), Vec::<String>::new());
        report
    }

    /// Nothing was answered, and the one line that says why holds all of these.
    #[track_caller]
    fn refuses(&self, named: &[&str]) {
        assert_eq!((self.code, &*self.out), (2, ""), "{self:?}");
        assert_eq!(self.err.lines().count(), 1, "{self:?}");
        for text in named {
            assert!(self.err.contains(text), "{text:?} is not in {self:?}");
        }
    }
}

/// One run, with no environment variable of the program's but those that the test gives.
struct Program {
    command: Command,
    input: Vec<u8>,
}

impl Program {
    fn new(folder: &Path, args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zonewarden"));
        command.current_dir(folder).args(args);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("ZONEWARDEN_") {
                command.env_remove(name);
            }
        }
        // All runs share the compiled policy.
        command.env("ZONEWARDEN_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-cache"));
        Self { command, input: Vec::new() }
    }

    fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    fn input(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.input = bytes.as_ref().to_vec();
        self
    }

    fn run(mut self) -> Run {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("the program starts");
        // A program that does not read its input may be gone before it is written.
        let _ = child.stdin.take().expect("the input is a pipe").write_all(&self.input);
        let output = child.wait_with_output().expect("the program ends");
        let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
        let code = output.status.code().expect("the program is not killed by a signal");
        Run { code, out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Runs the program at the workspace's root.
fn zonewarden(args: &[&str]) -> Run {
    Program::new(&root(), args).run()
}

/// A folder with files, which the program is run in.
struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = Self(TempDir::new().expect("there is room for a folder"));
        for (name, bytes) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder can be made");
            std::fs::write(path, bytes).expect("a file can be written");
        }
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn program(&self, args: &[&str]) -> Program {
        Program::new(self.path(), args)
    }

    fn run(&self, args: &[&str]) -> Run {
        self.program(args).run()
    }
}

/// A PersistentVolume of the EBS CSI driver, in YAML.
fn pv(name: &str, id: &str) -> String {
    format!(
        "apiVersion: v1\nkind: PersistentVolume\nmetadata:\n  name: {name}\nspec:\n  csi:\n\
        \x20   driver: ebs.csi.aws.com\n    volumeHandle: {}\n",
        serde_json::to_string(id).expect("a text is JSON")
    )
}

/// The names of a report's volumes.
fn volumes(report: &Value) -> Vec<&str> {
    let volumes = report["volumes"].as_array().expect("the report has volumes");
    volumes.iter().map(|volume| volume["persistentVolume"].as_str().expect("a volume has a name")).collect()
}

/// A report's problems but for its notes: severity, code and message.
fn problems(report: &Value) -> Vec<[&str; 3]> {
    let problems = report["problems"].as_array().expect("the report has problems");
    let told = problems.iter().filter(|problem| problem["severity"] != "info");
    told.map(|problem| ["severity", "code", "message"].map(|key| problem[key].as_str().expect("a text"))).collect()
}
