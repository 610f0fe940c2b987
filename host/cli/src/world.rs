//! The world on files: what the cluster's dump and EC2's answer hold.

use std::path::{Path, PathBuf};

#[cfg(all(feature = "aws", feature = "live"))]
use anyhow::Context as _;
use anyhow::{Result, bail};
use jiff::Timestamp;
use zonewarden_cluster::{self as cluster, Index};
use zonewarden_contract::types::AwsVolumeId;
use zonewarden_documents::Severity;
use zonewarden_ec2 as ec2;
use zonewarden_engine::ConfiguredPolicy;
use zonewarden_sync::Survey;

use crate::args::WorldArgs;
use crate::report::Problem;

#[cfg(all(feature = "aws", feature = "live"))]
mod live;

/// How a world on files is named.
const ON_FILES: &str = "--world DIR, or --cluster FILE with --volumes FILE and --instances FILE";

/// Where EC2's facts come from.
#[derive(Debug)]
pub(crate) enum Ec2 {
    /// From files.
    Files(ec2::Files),
    /// From EC2.
    #[cfg(all(feature = "aws", feature = "live"))]
    Live(Box<live::Ec2>),
}

/// What was read, and what could not be.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) cluster: Index,
    pub(crate) ec2: Ec2,
    pub(crate) problems: Vec<Problem>,
}

impl World {
    /// Whether EC2's facts come from files.
    pub(crate) const fn is_on_files(&self) -> bool {
        matches!(self.ec2, Ec2::Files(_))
    }

    /// What EC2 says of a volume, whether the cluster names it or not.
    pub(crate) fn volume_at_ec2(&self, id: &AwsVolumeId) -> Option<ec2::Volume> {
        match &self.ec2 {
            Ec2::Files(files) => files.loaded.volumes.get(&id.aws_volume_id).cloned(),
            #[cfg(all(feature = "aws", feature = "live"))]
            Ec2::Live(live) => {
                let question = ec2::Question { volumes: vec![id.clone()], ..ec2::Question::default() };
                live.sweep(&question).volumes.first().and_then(ec2::Evidence::record).cloned()
            }
        }
    }

    /// Asks the policy what the ids of this world mean.
    pub(crate) fn survey<'a>(&'a self, policy: &'a ConfiguredPolicy) -> Result<Survey<'a>, zonewarden_engine::Error> {
        match &self.ec2 {
            Ec2::Files(files) => {
                Survey::new(&self.cluster, policy, files.observed_at, |question| files.sweep(question))
            }
            #[cfg(all(feature = "aws", feature = "live"))]
            Ec2::Live(live) => Survey::new(&self.cluster, policy, Timestamp::now(), |question| live.sweep(question)),
        }
    }
}

/// Reads the world that the flags name.
pub(crate) fn of(args: &WorldArgs) -> Result<World> {
    if let Some(folder) = &args.world {
        return of_folder(folder);
    }
    if args.cluster.is_empty() {
        #[cfg(all(feature = "aws", feature = "live"))]
        return live::of(&args.live)
            .with_context(|| format!("no world on files is named ({ON_FILES}), and the live one can't be read"));
        #[cfg(not(all(feature = "aws", feature = "live")))]
        return Err(lacking());
    }
    let ec2: Vec<PathBuf> = args.volumes.iter().chain(&args.instances).cloned().collect();
    let stdin = |paths: &[PathBuf]| paths.iter().filter(|path| path.as_os_str() == "-").count();
    if stdin(&args.cluster) + stdin(&ec2) > 1 {
        bail!("standard input (-) is named twice, and can be read once");
    }
    let read: Vec<String> = args.cluster.iter().map(|file| file.display().to_string()).collect();
    let mut world = new(cluster::load(&args.cluster), ec2::load(&ec2), &read.join(", "))?;
    for (flag, given) in [("--volumes", &args.volumes), ("--instances", &args.instances)] {
        if given.is_none() {
            world.problems.push(not_asked(flag, "was not given"));
        }
    }
    Ok(world)
}

/// What a build says that can't read a live world.
#[cfg(not(all(feature = "aws", feature = "live")))]
pub(crate) fn lacking() -> anyhow::Error {
    let lack = lack(cfg!(feature = "live"), cfg!(feature = "aws"));
    anyhow::Error::msg(lack.unwrap_or_default())
}

/// What keeps a build from reading a live world, by the features that it has; `None` where nothing does.
#[cfg(any(test, not(all(feature = "aws", feature = "live"))))]
fn lack(live: bool, aws: bool) -> Option<String> {
    let (missing, what) = match (live, aws) {
        (true, true) => return None,
        (false, true) => ("the feature `live`", "watches no cluster"),
        (true, false) => ("the feature `aws`", "asks no EC2"),
        (false, false) => ("the features `live` and `aws`", "watches no cluster and asks no EC2"),
    };
    Some(format!(
        "this zonewarden is built without {missing}, so that it {what}: build it with the default features, or give {ON_FILES}"
    ))
}

/// Reads `DIR/cluster/*.{yaml,yml,json}` and `DIR/ec2/{volumes,instances}.json`.
pub(crate) fn of_folder(folder: &Path) -> Result<World> {
    let files = ["volumes", "instances"].map(|name| folder.join("ec2").join(format!("{name}.json")));
    let present: Vec<PathBuf> = files.iter().filter(|file| file.exists()).cloned().collect();
    let cluster = folder.join("cluster");
    let loaded = cluster::files::load_folder(&cluster);
    let mut world = new(loaded, ec2::load(&present), &cluster.to_string_lossy())?;
    for missing in files.iter().filter(|file| !file.exists()) {
        world.problems.push(not_asked(&missing.to_string_lossy(), "is not there"));
    }
    Ok(world)
}

/// Without EC2's facts everything still runs; what could not be known is said.
fn not_asked(place: &str, what: &str) -> Problem {
    Problem {
        severity: "info".to_owned(),
        code: "ec2-not-asked".to_owned(),
        place: place.to_owned(),
        message: format!("{place} {what}: what EC2 says is unknown, and nothing that rests on it is decided"),
    }
}

/// `read` names what the cluster was read from.
fn new(cluster: cluster::Loaded, ec2: ec2::Loaded, read: &str) -> Result<World> {
    let problems: Vec<Problem> = cluster.problems.iter().chain(&ec2.problems).map(Problem::new).collect();
    if cluster.counts.values().sum::<usize>() == 0 {
        let problems = &cluster.problems;
        let first = problems.iter().find(|problem| problem.severity == Severity::Error).or(problems.first());
        let why = first.map_or_else(|| format!("there is none in {read}"), ToString::to_string);
        bail!("no object of the cluster could be read: {why}");
    }
    // What files say is taken as of now, however old they are: a dump is judged as it was.
    let ec2 = ec2::Files { loaded: ec2, observed_at: Timestamp::now() };
    let ec2 = Ec2::Files(ec2);
    Ok(World { cluster: cluster.index, ec2, problems })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_that_can_not_read_a_live_world_names_the_feature_that_it_lacks() {
        assert_eq!(lack(true, true), None);
        for (live, aws, text) in [
            (false, true, "without the feature `live`, so that it watches no cluster:"),
            (true, false, "without the feature `aws`, so that it asks no EC2:"),
            (false, false, "without the features `live` and `aws`, so that it watches no cluster and asks no EC2:"),
        ] {
            let lack = lack(live, aws).expect("a feature is missing");
            assert!(lack.contains(text) && lack.contains("--world DIR"), "{lack}");
        }
    }
}
