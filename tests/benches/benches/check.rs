//! The main job on a large world: how long reading, deciding and the rest take, and how much memory.
//!
//! The most memory that a process ever held can't be forgotten, so each measurement is a process of its own: this program,
//! started again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use zonewarden_benches::memory::peak_mib;
use zonewarden_benches::tell;
use zonewarden_benches::world::{self, Notation, Size};
use zonewarden_engine::{ConfiguredPolicy, Engine, Options};
use zonewarden_sync::Survey;

const SIZE: Size = Size { volumes: 10_000, nodes: 2_000, pods: 20_000 };
/// What a process of its own is told apart by. The first is for the library's parts, the second for the program.
const PARTS: &str = "parts-of";
const PROGRAM: &str = "program-on";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [PARTS, folder] => parts(Path::new(folder)),
        [PROGRAM, folder, output] => program(folder, output),
        // Keeps the worlds, for other tools to look at.
        [folder] => all(Path::new(folder)),
        _ => all(tempfile::tempdir().expect("a temporary folder can be made").path()),
    }
}

fn all(folder: &Path) {
    for notation in [Notation::Json, Notation::Yaml] {
        let world = folder.join(notation.name());
        world::write(&world, SIZE, notation).expect("the world can be written");
        let bytes = |file: PathBuf| file.metadata().map_or(0, |metadata| metadata.len()) >> 20;
        let cluster = bytes(world.join("cluster").join(format!("all.{}", notation.name())));
        let ec2 = bytes(world.join("ec2/volumes.json")) + bytes(world.join("ec2/instances.json"));
        tell(&format!(
            "{} volumes, {} nodes, {} pods as {}: cluster {cluster} MiB, EC2 {ec2} MiB",
            SIZE.volumes,
            SIZE.nodes,
            SIZE.pods,
            notation.name()
        ));
        again(&[PARTS, &world.to_string_lossy()]);
        for output in ["table", "json", "yaml"] {
            again(&[PROGRAM, &world.to_string_lossy(), output]);
        }
        tell("");
    }
}

/// Starts this program again. Its figures come on standard error; standard output is the program's answer.
fn again(arguments: &[&str]) {
    let this = std::env::current_exe().expect("the system knows this program");
    let status = Command::new(this).args(arguments).stdout(Stdio::null()).status().expect("this program starts again");
    assert!(status.success(), "{arguments:?}: {status}");
}

fn figure(name: &str, time: Duration) {
    let peak = peak_mib().map_or_else(|| "?".to_owned(), |peak| peak.to_string());
    tell_on_stderr(&format!("  {name:<34} {:>8.3} s   peak so far {peak:>5} MiB", time.as_secs_f64()));
}

#[allow(clippy::print_stderr, reason = "standard output is the answer that nobody reads here")]
fn tell_on_stderr(line: &str) {
    eprintln!("{line}");
}

/// Does something and tells how long it took.
fn timed<T>(name: &str, total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    let time = start.elapsed();
    *total += time;
    figure(name, time);
    done
}

fn policy() -> ConfiguredPolicy {
    let engine = Engine::new(&Options::default()).expect("the engine starts");
    let policy = engine.load(zonewarden_artifacts::EBS_COMPONENT).expect("the policy loads");
    policy.with_settings(Vec::new()).expect("the policy accepts its defaults")
}

/// Reading and deciding, by the functions that the program itself calls.
fn parts(folder: &Path) {
    let (mut loading, mut reading, mut deciding) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let policy = timed("compile the policy, no cache", &mut loading, policy);
    let cluster =
        timed("read the cluster", &mut reading, || zonewarden_cluster::files::load_folder(&folder.join("cluster")));
    let ec2 = timed("read EC2", &mut reading, || {
        zonewarden_ec2::load(&[folder.join("ec2/volumes.json"), folder.join("ec2/instances.json")])
    });
    assert!(cluster.problems.is_empty() && ec2.problems.is_empty(), "the world is sound: {:?}", cluster.problems);
    let now = "2026-11-03T12:00:00Z".parse().expect("a time");
    let files = zonewarden_ec2::Files { loaded: ec2, observed_at: now };
    let survey = timed("decide: identify, join, group", &mut deciding, || {
        Survey::new(&cluster.index, &policy, now, |question| files.sweep(question)).expect("the policy answers")
    });
    let volumes =
        timed("decide: label the volumes", &mut deciding, || survey.volumes().expect("the policy answers").len());
    let placed = timed("decide: place the pods", &mut deciding, || {
        survey.pods().map(|pod| survey.place(pod).expect("the policy answers").classes.len()).collect::<Vec<_>>()
    });
    let judged = timed("decide: judge the attachments", &mut deciding, || {
        survey.attachments().expect("the policy answers").len()
    });
    figure("reading", reading);
    figure("deciding", deciding);
    let share = deciding.as_secs_f64() / (reading + deciding).as_secs_f64() * 100.0;
    let most = placed.iter().max().copied().unwrap_or_default();
    tell_on_stderr(&format!(
        "  deciding is {share:.1} % of both: {volumes} volumes, {} pods in up to {most} classes, {judged} attachments",
        placed.len()
    ));
}

/// The program as a whole, from its arguments to the last byte of its answer.
fn program(folder: &str, output: &str) {
    let start = Instant::now();
    let arguments = ["zonewarden", "check", "--world", folder, "--output", output, "--cache-dir", ""];
    zonewarden_cli::main(arguments.map(Into::into));
    figure(&format!("the program, -o {output}"), start.elapsed());
}
