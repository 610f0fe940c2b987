//! One look at a live world: the API server's objects are read once, and EC2 is asked what the policy wants to know.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use tokio::runtime::Runtime;
use zonewarden_cluster::Cluster;
use zonewarden_ec2::{BulkVerify as _, Question, Sweep, aws};

use super::{Ec2 as Source, World};
use crate::args::LiveArgs;
use crate::report::Problem;
use crate::run::sources::live::{client, ec2};

/// However large the cluster, it is read in this time.
const PATIENCE: Duration = Duration::from_secs(60);

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
        let filled = tokio::time::timeout(PATIENCE, cluster.filled());
        let filled = tokio::select! {
            () = client.watch(&cluster) => false,
            filled = filled => filled.is_ok(),
        };
        if !filled {
            let why: Vec<String> =
                cluster.interruptions().into_iter().map(|(kind, why)| format!("{kind}: {why}")).collect();
            bail!("the cluster can't be read: {}", why.join("; "));
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
