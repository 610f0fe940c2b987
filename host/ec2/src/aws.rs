//! EC2 by the AWS SDK: many ids in few calls, at a pace that leaves room for others.
//!
//! ```text
//! Question ── bulk ── batches of 500 by id ── asking (pace, pages) ── DescribeVolumes, DescribeInstances
//!              │         bad ids named in the error are dropped, and parked
//!              └────── parked ids by filter: absent there too? ── Evidence for each id
//! ```
//!
//! - The SDK's types stop here: `convert` turns each page into records before the next is asked for.
//! - Nothing is concluded from what is not said: an id that an answer leaves out is unknown. `Missing` takes EC2's own word,
//!   for exactly that id.
//! - A sweep costs one call for each 500 ids, one for each time that EC2 names a bad id, and one by filter. No failure makes
//!   it ask one by one.
//! - What is remembered from sweep to sweep: parked ids, the pace, and where a sweep ended early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aws_sdk_ec2::operation::describe_instances::DescribeInstancesError;
use aws_sdk_ec2::operation::describe_volumes::DescribeVolumesError;
use tokio::time::Instant;
use zonewarden_contract::types::NodeName;
use zonewarden_documents::{Place, Problem};

use crate::records::Instance;
use crate::verify::{Answer, BulkVerify, Question, Sweep};

mod asking;
mod batch;
mod bulk;
mod connect;
mod convert;
mod describe;
mod fault;
mod ids;
mod learnt;
mod meter;
mod named;
mod names;
mod options;
mod pace;
mod parked;
mod problems;
mod proxy;

use asking::Asking;
use bulk::{Asked, Bulk};
use connect::Environment;
use describe::{Describe, Instances, Volumes};
use fault::Fault;
use pace::Limiter;
use parked::Rechecks;

pub use connect::ConnectError;
pub use options::{Keys, Options};
pub use pace::Pace;

/// EC2 in one region, as one account sees it.
#[derive(Debug)]
pub struct Ec2 {
    volumes: Bulk<Volumes>,
    instances: Bulk<Instances>,
    limiter: Arc<Limiter>,
    region: String,
    options: Options,
    /// Whether anything that was asked was ever described.
    is_known_place: AtomicBool,
}

impl Ec2 {
    /// Gets ready to ask. Nothing is asked yet, and credentials are looked for with the first question, so that a service
    /// that starts while they can't be had recovers by itself.
    ///
    /// # Errors
    /// If no region is known.
    pub async fn connect(options: &Options) -> Result<Self, ConnectError> {
        options.check()?;
        let environment = Environment::load(options).await;
        let limiter = Arc::new(Limiter::new(options.calls_per_second, options.burst));
        let rechecks = Rechecks { first: options.first_recheck, later: options.recheck };
        let volumes = Volumes {
            client: environment.client::<DescribeVolumesError>(Volumes::OPERATION, &limiter),
            page_size: options.page_size,
        };
        let instances = Instances {
            client: environment.client::<DescribeInstancesError>(Instances::OPERATION, &limiter),
            page_size: options.page_size,
        };
        Ok(Self {
            volumes: Bulk::new(volumes, rechecks),
            instances: Bulk::new(instances, rechecks),
            limiter,
            region: environment.region()?,
            options: options.clone(),
            is_known_place: AtomicBool::new(false),
        })
    }

    /// The region that is asked about.
    pub fn region(&self) -> &str {
        &self.region
    }

    /// How fast EC2 is asked at the moment. Whoever plans sweeps stretches their interval by it.
    pub fn pace(&self) -> Pace {
        self.limiter.pace()
    }

    /// Asks for everything in the question.
    pub async fn sweep(&self, question: &Question) -> Sweep {
        let deadline = Instant::now() + self.options.sweep_timeout;
        let volumes = question.volumes.iter().map(|id| &*id.aws_volume_id);
        let instances = question.instances.iter().map(|id| &*id.instance_id);
        let (volumes, (instances, names, fault)) = tokio::join!(
            self.volumes.ask(volumes, &self.limiter, deadline),
            self.ask_instances_and_names(instances, &question.names, deadline),
        );
        if volumes.has_found() || instances.has_found() {
            self.is_known_place.store(true, Ordering::Relaxed);
        }
        let is_known_place = self.is_known_place.load(Ordering::Relaxed);
        let volumes = self.volumes.conclude(volumes, is_known_place);
        let instances = self.instances.conclude(instances, is_known_place);
        let place = Place::file(format!("EC2 in {}", self.region));
        let mut problems: Vec<Problem> = problems::of_sweep::<Volumes>(&volumes, &place);
        problems.extend(problems::of_sweep::<Instances>(&instances, &place));
        problems.extend(fault.map(|fault| problems::of_names(&fault, &place)));
        for problem in &problems {
            tracing::debug!(code = problem.code.as_str(), "{problem}");
        }
        let volumes = volumes.ids.in_order(volumes.evidence);
        Sweep { volumes, instances: instances.ids.in_order(instances.evidence), names, problems }
    }

    /// One after the other: what stops the one question stops the other.
    async fn ask_instances_and_names<'q>(
        &self,
        ids: impl Iterator<Item = &'q str>,
        names: &[NodeName],
        deadline: Instant,
    ) -> (Asked<'q, Instance>, Vec<Option<bool>>, Option<Fault>) {
        let instances = self.instances.ask(ids, &self.limiter, deadline).await;
        if instances.has_stopped() {
            return (instances, vec![None; names.len()], None);
        }
        let asking = Asking { describe: &self.instances.describe, limiter: &self.limiter, deadline };
        let (known, fault) = names::look_up(names, &asking).await;
        (instances, names.iter().map(|name| known.get(name).copied()).collect(), fault)
    }
}

impl BulkVerify for Ec2 {
    fn verify<'a>(&'a self, question: &'a Question) -> Answer<'a> {
        Box::pin(self.sweep(question))
    }
}
