//! A program that a test started: its log, its end, and that nothing of it outlives the test.
//!
//! Who holds a [`Process`] ends it by dropping it, which a panic does too. A test process that is itself killed drops nothing:
//! for that there is one keeper, a shell that reads the ids of what runs from a pipe and kills them when the pipe closes.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// How long a program may take to end by itself once it is asked to.
const PATIENCE: Duration = Duration::from_secs(20);
/// How much of a log is shown when something fails.
const TAIL_LINES: usize = 25;

/// A running program whose output goes into a file.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a program; what it prints is added to the file.
    ///
    /// # Errors
    /// Where it can't be started.
    pub fn start(name: &str, command: &mut Command, log: &Path) -> Result<Self> {
        let output = File::options().create(true).append(true).open(log);
        let output = output.with_context(|| format!("{} can't be written to", log.display()))?;
        let errors = output.try_clone().context("a file has two handles")?;
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let child = command.spawn().with_context(|| format!("{name} does not start: {command:?}"))?;
        tell_keeper('+', child.id());
        Ok(Self { name: name.to_owned(), child, log: log.to_owned() })
    }

    /// Fails where the program has ended, with the end of its log.
    ///
    /// # Errors
    /// Where it has ended.
    pub fn still_runs(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait().context("a child can be asked after")? {
            bail!("{} ended: {status}\n{}", self.name, self.tail());
        }
        Ok(())
    }

    /// Asks it to end, as a person or a cluster does, and waits for that.
    ///
    /// # Errors
    /// Where it takes too long.
    pub fn terminate(mut self) -> Result<ExitStatus> {
        Command::new("kill").arg(self.child.id().to_string()).status().context("kill runs")?;
        let asked_at = Instant::now();
        while asked_at.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().context("a child can be asked after")? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        bail!("{} did not end within {} s\n{}", self.name, PATIENCE.as_secs(), self.tail())
    }

    /// The last lines of what it printed, with the name of the file.
    #[must_use]
    pub fn tail(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<_> = text.lines().collect();
        let last = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
        format!("--- {} ({})\n{last}\n", self.name, self.log.display())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself; there is nobody to tell either way.
        let _ = self.child.kill();
        let _ = self.child.wait();
        tell_keeper('-', self.child.id());
    }
}

/// Reads `+ID` and `-ID`, and kills what is left when nobody can write any more.
const KEEPER: &str = r#"
trap '' INT TERM HUP
running=
while read -r sign id; do
  if [ "$sign" = + ]; then running="$running $id"; continue; fi
  rest=
  for other in $running; do [ "$other" = "$id" ] || rest="$rest $other"; done
  running=$rest
done
[ -z "$running" ] || kill -KILL $running
"#;

fn tell_keeper(sign: char, id: u32) {
    static RUNNING: OnceLock<Mutex<Child>> = OnceLock::new();
    let keeper = RUNNING.get_or_init(|| {
        let mut command = Command::new("sh");
        command.args(["-c", KEEPER]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Mutex::new(command.spawn().expect("sh starts"))
    });
    let mut keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
    let input = keeper.stdin.as_mut().expect("its input is a pipe");
    writeln!(input, "{sign} {id}").expect("the keeper reads until this process ends");
}
