//! One look at a live world: the API server's objects are read once, and EC2 is asked what the policy wants to know.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::runtime::Runtime;
use zonewarden_cluster::{Cluster, Kind};
use zonewarden_ec2::{BulkVerify as _, Question, Sweep, aws};

use super::{Ec2 as Source, World};
use crate::args::LiveArgs;
use crate::report::Problem;
use crate::run::sources::live::{client, ec2};

/// However large the cluster, it is read in this time.
const PATIENCE: Duration = Duration::from_secs(60);
/// What fails is tried again for so long, while other kinds of objects can be read.
const PATIENCE_WITH_FAILURES: Duration = Duration::from_secs(5);
/// How often it is looked at how far the reading is.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// EC2, and what waits for it.
pub(crate) struct Ec2 {
    ec2: aws::Ec2,
    runtime: Runtime,
}

impl fmt::Debug for Ec2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ec2").finish_non_exhaustive()
    }
}

impl Ec2 {
    /// Asks once.
    pub(crate) fn sweep(&self, question: &Question) -> Sweep {
        self.runtime.block_on(self.ec2.verify(question))
    }
}

/// Reads the cluster and makes EC2 ready to be asked.
pub(super) fn of(args: &LiveArgs) -> Result<World> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (cluster, ec2) = runtime.block_on(async {
        let (client, ec2) = (client(args).await?, ec2(args).await?);
        let cluster = Arc::new(Cluster::new());
        let filled = tokio::select! {
            () = client.watch(&cluster) => false,
            filled = filled(&cluster) => filled,
        };
        if !filled {
            bail!("the cluster can't be read: {}", why(&cluster.interruptions()));
        }
        Ok((cluster, ec2))
    })?;
    let (problems, more) = cluster.problems();
    let mut problems: Vec<Problem> = problems.iter().map(Problem::new).collect();
    if more > 0 {
        problems.push(Problem {
            severity: "error".to_owned(),
            code: "unreadable".to_owned(),
            place: "API server".to_owned(),
            message: format!("{more} more objects can't be read"),
        });
    }
    Ok(World { cluster: (*cluster.read()).clone(), ec2: Source::Live(Box::new(Ec2 { ec2, runtime })), problems })
}

/// Waits until all kinds of objects are read; whether they are. Where each of them fails at once there is no use in waiting: the
/// API server can't be reached, or does not let us in.
async fn filled(cluster: &Cluster) -> bool {
    let began = Instant::now();
    let mut failing_since = None;
    while began.elapsed() < PATIENCE {
        let (filling, failing) = (cluster.filling(), cluster.interruptions());
        if filling.is_empty() {
            return true;
        }
        if filling.iter().all(|kind| failing.contains_key(kind)) {
            let since = *failing_since.get_or_insert_with(Instant::now);
            if filling.len() == Kind::WATCHED.len() || since.elapsed() >= PATIENCE_WITH_FAILURES {
                return false;
            }
        } else {
            failing_since = None;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    false
}

/// Each reason once, with the kinds that it keeps from being read.
fn why(interruptions: &BTreeMap<Kind, String>) -> String {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (kind, why) in interruptions {
        reasons.entry(why).or_default().push(kind.as_str());
    }
    if reasons.is_empty() {
        return format!("it did not answer within {} s", PATIENCE.as_secs());
    }
    let told = reasons.into_iter().map(|(why, kinds)| {
        if kinds.len() == Kind::WATCHED.len() { why.to_owned() } else { format!("{}: {why}", kinds.join(", ")) }
    });
    told.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_told_once_and_with_its_kinds_where_it_is_not_that_of_all() {
        let all = |text: &str| Kind::WATCHED.map(|kind| (kind, text.to_owned()));
        assert_eq!(why(&BTreeMap::from(all("Unauthorized"))), "Unauthorized");
        let mut some = BTreeMap::from(all("connection refused"));
        some.retain(|kind, _| matches!(kind, Kind::Node | Kind::Pod));
        some.insert(Kind::CsiDriver, "forbidden".to_owned());
        assert_eq!(why(&some), "Pod, Node: connection refused; CSIDriver: forbidden");
        assert_eq!(why(&BTreeMap::new()), "it did not answer within 60 s");
    }
}
