//! How long an app is away after its machine's death: with the program under test, and with Kubernetes alone, side by side.
//!
//! `recovery [--runs N] [--baseline] [--script]`: without `--baseline` the slow half, Kubernetes alone, is left out; `--script`
//! adds the rescuer that believes everything, for comparison.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, Write as _};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use zonewarden_cluster_tests::binaries::Binaries;
use zonewarden_cluster_tests::progress;
use zonewarden_cluster_tests::rescuer::{Mode, Program, Rescuer};
use zonewarden_cluster_tests::scenarios::{Outcome, Scenario, deaths, detached, play_all};
use zonewarden_cluster_tests::stage::Stage;

/// How long is waited where Kubernetes is alone; after that it says "never".
const PATIENCE_ALONE: Duration = Duration::from_secs(900);
const PATIENCE: Duration = Duration::from_secs(240);

struct Wanted {
    runs: usize,
    rescuers: Vec<(&'static str, Rescuer, Duration)>,
}

#[tokio::main]
async fn main() -> Result<()> {
    progress::tell();
    let wanted = arguments(env::args().skip(1))?;
    let Some(binaries) = Binaries::find("the recovery times") else { return Ok(()) };
    let scenarios: Vec<Scenario> = deaths::ALL.iter().chain(&detached::ALL[1..]).copied().collect();
    let mut times: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for _ in 0..wanted.runs {
        for (name, rescuer, patience) in &wanted.rescuers {
            let stage = Stage::start(binaries.clone(), rescuer, *patience).await?;
            for played in play_all(&stage, &scenarios).await? {
                times.entry((played.name, name)).or_default().push(told(played.outcome));
            }
        }
    }
    print(&wanted, &scenarios, &times)
}

fn arguments(arguments: impl Iterator<Item = String>) -> Result<Wanted> {
    let with_pods = Rescuer::Program(Program::new(Mode::Enforce, true));
    let without_pods = Rescuer::Program(Program::new(Mode::Enforce, false));
    let mut rescuers = vec![("pods deleted", with_pods, PATIENCE), ("pods left", without_pods, PATIENCE)];
    let (mut runs, mut arguments) = (3, arguments);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--runs" => runs = arguments.next().context("--runs takes a number")?.parse().context("--runs")?,
            "--baseline" => rescuers.push(("Kubernetes alone", Rescuer::None, PATIENCE_ALONE)),
            "--script" => rescuers.push(("a script", Rescuer::Script, PATIENCE)),
            other => bail!("{other}: known are --runs N, --baseline, --script"),
        }
    }
    Ok(Wanted { runs, rescuers })
}

fn told(outcome: Outcome) -> String {
    match outcome {
        Outcome::RanAgain(away) => format!("{:.1}", away.as_secs_f32()),
        Outcome::StayedAway => "never".to_owned(),
        Outcome::Unharmed => "unharmed".to_owned(),
    }
}

/// A table in Markdown, as `docs/benchmarks.md` holds it.
fn print(wanted: &Wanted, scenarios: &[Scenario], times: &BTreeMap<(&str, &str), Vec<String>>) -> Result<()> {
    let mut out = io::stdout().lock();
    let names: Vec<&str> = wanted.rescuers.iter().map(|(name, ..)| *name).collect();
    writeln!(out, "| seconds from `terminated` until the pod runs | {} |", names.join(" | "))?;
    writeln!(out, "|---|{}", "---|".repeat(names.len()))?;
    for scenario in scenarios {
        let of = |name: &&str| times.get(&(scenario.name, *name)).map(|runs| runs.join(", ")).unwrap_or_default();
        writeln!(out, "| {} | {} |", scenario.about, names.iter().map(of).collect::<Vec<_>>().join(" | "))?;
    }
    Ok(())
}
