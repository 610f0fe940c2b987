//! The live host: what turns the wheel.
//!
//! ```text
//! cluster (watches) ─ look ─┬─ volumes, every minute ───┐
//!                           ├─ instances, every 15 s ───┼─ take ─ judge ─ rails ─ remedies
//!                           └─ suspects and Leases, 1 s ┘
//! ```
//!
//! One task owns all state. EC2 is asked in tasks of their own, each kind of question at most once at a time, so that a slow answer
//! about ten thousand volumes holds up nobody who asks about a dying instance.

use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{mpsc, watch};
use zonewarden_cluster::{Api, Cluster};
use zonewarden_contract::attachment::Drift;
use zonewarden_ec2::{BulkVerify, Question, Sweep};
use zonewarden_engine::PolicySlot;

use crate::act::{Act, Deed};
use crate::clock::{Clock, Moment, Now};
use crate::leases::LeaseReads;
use crate::metering::{self, Ledger};
use crate::options::Options;
use crate::reconciler::{Plan, Reconciler, Scope};
use crate::remedies::{Fence, read_lease};
use crate::schedule::{Kind, Schedule};
use crate::status::Status;
use crate::telling::Told;

mod acts;
#[cfg(test)]
mod turns;

/// What the host works with.
pub struct Parts {
    /// The cluster as it is known now.
    pub cluster: Arc<Cluster>,
    /// The API server.
    pub api: Arc<dyn Api>,
    /// EC2.
    pub ec2: Arc<dyn BulkVerify>,
    /// The policy that decides.
    pub policy: Arc<PolicySlot>,
    /// Whether this replica may write.
    pub fence: Arc<dyn Fence>,
}

/// The live host.
pub struct Host {
    parts: Parts,
    reconciler: Reconciler,
    schedule: Schedule,
    told: Told,
    /// The clock that everything here is timed by.
    clock: Clock,
    plan: Plan,
    /// Acts that were begun and could not be ended: pods that are still to be deleted when the VolumeAttachment is gone.
    unfinished: Vec<(Act, Option<Drift>, Moment)>,
    /// What the API server did not do, and until when it is not tried again.
    resting: Vec<(Deed, Moment)>,
    status: watch::Sender<Status>,
    ledger: Ledger,
    /// So many stuck volumes are named at most.
    most_stuck: usize,
    /// How the policy failed last, where it has not answered since.
    complained: Option<&'static str>,
}

/// An answer of EC2, and when it was asked for.
struct Answered {
    kind: Kind,
    question: Question,
    sweep: Sweep,
    asked: Moment,
}

impl Host {
    /// A host that has seen nothing yet.
    #[must_use]
    pub fn new(parts: Parts, options: Options) -> Self {
        let reconciler = Reconciler::new(parts.policy.current(), options);
        Self {
            reconciler,
            schedule: Schedule::new(options.intervals),
            told: Told::default(),
            clock: Clock::start(),
            plan: Plan::default(),
            unfinished: Vec::new(),
            resting: Vec::new(),
            status: watch::Sender::default(),
            ledger: Ledger::default(),
            most_stuck: 0,
            complained: None,
            parts,
        }
    }

    /// The same, which also names volumes that are stuck, in its status: so many at most, the longest stuck first.
    #[must_use]
    pub fn naming_stuck_volumes(self, most: usize) -> Self {
        Self { most_stuck: most, ..self }
    }

    /// How the host fares, for whoever tells others.
    #[must_use]
    pub fn status(&self) -> watch::Receiver<Status> {
        self.status.subscribe()
    }

    /// Runs until it is told to stop.
    pub async fn run(mut self, stop: impl Future<Output = ()> + Send) {
        let mut stop = std::pin::pin!(stop);
        let (sender, mut answers) = mpsc::channel::<Answered>(8);
        let mut ticks = tokio::time::interval(self.reconciler.options.intervals.suspects);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = &mut stop => return,
                _ = ticks.tick() => self.tick(&sender).await,
                Some(answer) = answers.recv() => self.take(answer).await,
            }
        }
    }

    fn now(&self) -> Now {
        self.clock.now()
    }

    /// Looks at the cluster, asks EC2 what is due, and reads the suspects' Leases.
    async fn tick(&mut self, sender: &mpsc::Sender<Answered>) {
        let leads = self.parts.fence.holds();
        if !leads && self.status.borrow().leads {
            self.step_down();
        }
        self.status.send_modify(|status| (status.ticked, status.leads) = (Some(Instant::now()), leads));
        if !leads || !self.parts.cluster.all_synced() {
            return;
        }
        self.reconciler.set_policy(self.parts.policy.current());
        let cluster = self.parts.cluster.read();
        match self.reconciler.look(&cluster, self.now()) {
            Ok(plan) => self.plan = plan,
            Err(error) => return self.complain(&error),
        }
        for kind in self.schedule.due(self.clock.elapsed(), &self.plan) {
            self.ask(kind, sender);
        }
        let ages = self.reconciler.evidence_ages(self.now().moment);
        metering::observed(&ages);
        let oldest = ages.into_iter().collect::<Option<Vec<_>>>().map(|ages| ages.into_iter().max().unwrap_or(0));
        self.status.send_modify(|status| status.oldest_evidence = oldest);
        self.read_leases().await;
        self.finish().await;
    }

    /// Asks EC2 in a task of its own.
    fn ask(&mut self, kind: Kind, sender: &mpsc::Sender<Answered>) {
        let question = kind.question(&self.plan);
        let (ec2, sender, asked) = (Arc::clone(&self.parts.ec2), sender.clone(), self.now().moment);
        tokio::spawn(async move {
            let asking = Arc::new(question);
            let asked_for = Arc::clone(&asking);
            // What breaks off is an answer too, or this kind would never be asked again.
            let sweep = tokio::spawn(async move { ec2.verify(&asked_for).await }).await.unwrap_or_default();
            let question = Arc::unwrap_or_clone(asking);
            // Nobody listens any more where the host has stopped.
            drop(sender.send(Answered { kind, question, sweep, asked }).await);
        });
    }

    async fn take(&mut self, answer: Answered) {
        let Answered { kind, question, sweep, asked } = answer;
        self.schedule.answered(kind, self.clock.elapsed(), &sweep);
        if !self.status.borrow().leads {
            return;
        }
        let now = self.now().moment;
        let stale = self.reconciler.stale_volumes(&question, &sweep, now);
        metering::swept(kind, &question, &sweep, now - asked, stale);
        let cluster = self.parts.cluster.read();
        // A VolumeAttachment may have moved while EC2 was thinking: its generation moves before the answer is taken in.
        if let Err(error) = self.reconciler.look(&cluster, self.now()) {
            return self.complain(&error);
        }
        self.reconciler.take(&question, sweep, asked);
        let scope = match kind {
            Kind::Volumes => Scope::All,
            Kind::Instances => Scope::Pairs,
            Kind::Suspects => Scope::Suspects,
        };
        match self.reconciler.judge(&cluster, self.now(), scope) {
            Ok(judged) => {
                if self.complained.take().is_some() {
                    tracing::info!(policy = self.reconciler.policy().digest(), "the policy answers again");
                }
                self.dispose(judged, scope).await;
            }
            Err(error) => self.complain(&error),
        }
    }

    /// Somebody else leads from here on, and whoever leads again begins anew.
    fn step_down(&mut self) {
        self.reconciler.begin_anew();
        self.unfinished.clear();
        self.ledger.rest();
        self.status.send_modify(|status| status.stuck = Arc::default());
    }

    async fn read_leases(&mut self) {
        let mut reads = LeaseReads::new();
        let wanted = std::mem::take(&mut self.plan.leases);
        let all = futures::future::join_all(wanted.iter().map(|node| read_lease(&*self.parts.api, node))).await;
        for (node, read) in wanted.into_iter().zip(all) {
            match read {
                Ok(read) => drop(reads.insert(node, read)),
                Err(error) => {
                    tracing::warn!(node = node.node_name, %error, "the Lease of a suspect can't be read");
                    self.reconciler.take_leases(None, self.now().moment);
                    return;
                }
            }
        }
        self.reconciler.take_leases(Some(&reads), self.now().moment);
    }
}
