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
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use zonewarden_cluster::{Api, ApiError, Cluster, Write};
use zonewarden_contract::attachment::Drift;
use zonewarden_contract::types::Remedy;
use zonewarden_ec2::{BulkVerify, Question, Sweep};
use zonewarden_engine::PolicySlot;

use crate::act::{Act, Deed, Finding};
use crate::clock::{Clock, Moment, Now};
use crate::leases::LeaseReads;
use crate::metering::{self, Ledger};
use crate::options::Options;
use crate::rails::Withheld;
use crate::reconciler::{Judged, Plan, Reconciler, Scope};
use crate::remedies::{Fence, Hand, Outcome, read_lease};
use crate::schedule::{Kind, Schedule};
use crate::status::Status;
use crate::telling::{self, Decision, Told};

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
    started: Clock,
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

/// What the API server did not do is tried again after so long: it may be away, or may not allow it.
const REST: Duration = Duration::from_secs(10);

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
            started: Clock::start(),
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
        self.started.now()
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
        for kind in self.schedule.due(self.started.elapsed(), &self.plan) {
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
        self.schedule.answered(kind, self.started.elapsed(), &sweep);
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

    /// Tells what was found, and does what is permitted.
    async fn dispose(&mut self, judged: Judged, scope: Scope) {
        if scope == Scope::All {
            self.told.keep(&judged.findings);
        }
        self.ledger.looked(scope, &judged.findings, self.now().moment);
        if scope != Scope::Suspects {
            let stuck = judged.stuck.into_iter().take(self.most_stuck).collect();
            self.status.send_modify(|status| status.stuck = stuck);
        }
        metering::breaker(judged.breaker_open);
        if let Some(volumes) = judged.opened {
            tracing::error!(volumes, "so many volumes are bad at once that nothing is done about any of them");
        }
        for finding in &judged.findings {
            self.tell(finding).await;
            let drift = metering::drift_of(finding);
            for (remedy, withheld) in &finding.withheld {
                if self.told.is_new_decision(Decision::of_finding(finding, *remedy, withheld.0)) {
                    self.count_withheld(drift, *remedy, *withheld);
                }
            }
            for act in &finding.acts {
                self.act(act, drift, finding.death).await;
            }
        }
    }

    async fn tell(&mut self, finding: &Finding) {
        let now = self.now();
        if !self.told.is_news(finding, now.moment) {
            return;
        }
        let Finding { subject, severity, reason, .. } = finding;
        let digest = self.reconciler.policy().digest();
        let remedies: Vec<_> = finding.acts.iter().map(|act| act.deed.remedy()).collect();
        tracing::info!(subject, code = reason.code, ?severity, ?remedies, policy = digest, "{}", reason.message);
        for event in telling::of_finding(finding, now.calendar) {
            self.write_event(event).await;
        }
    }

    /// Carries out an act, where mode, breaker and budget allow it.
    async fn act(&mut self, act: &Act, drift: Option<Drift>, death: bool) {
        let remedy = act.deed.remedy();
        let now = self.now().moment;
        self.resting.retain(|(_, until)| now < *until);
        if self.resting.iter().any(|(deed, _)| *deed == act.deed) {
            return;
        }
        if let Err(withheld) = self.reconciler.allow(act, death, self.now().moment) {
            if self.told.is_new_decision(Decision::of_act(act, withheld.0)) {
                self.count_withheld(drift, remedy, withheld);
            }
            return;
        }
        let cached = self.parts.cluster.read();
        let started = self.started.clone();
        let clock = move || started.now();
        let hand = Hand { api: &*self.parts.api, fence: &*self.parts.fence, clock: &clock, cached: &cached };
        let outcome = hand.carry_out(&mut self.reconciler, act).await;
        if matches!(outcome, Outcome::Withheld(_)) {
            self.reconciler.refund(act, death);
        }
        self.note(act, drift, &outcome).await;
    }

    fn count_withheld(&self, drift: Option<Drift>, remedy: Remedy, withheld: Withheld) {
        metering::remedy(drift, remedy, withheld.0, self.reconciler.options.modes.only_tell(remedy));
    }

    async fn note(&mut self, act: &Act, drift: Option<Drift>, outcome: &Outcome) {
        let remedy = act.deed.remedy();
        if self.told.is_to_be_counted(act, outcome) {
            metering::outcome(drift, remedy, outcome);
            tracing::info!(?remedy, ?outcome, code = act.reason.code, deed = ?act.deed, "remedy");
        }
        let now = self.now().moment;
        if let Outcome::Failed(_) = outcome {
            self.resting.push((act.deed.clone(), Moment(now.0 + REST)));
        }
        if remedy == Remedy::ForceDeletePods {
            let failed = matches!(outcome, Outcome::Failed(_));
            self.unfinished.retain(|(begun, _, _)| failed || begun != act);
            if failed && !self.unfinished.iter().any(|(begun, _, _)| begun == act) {
                self.unfinished.push((act.clone(), drift, now));
            }
        }
        if !self.told.is_news_of_act(act, outcome, now) {
            return;
        }
        for event in telling::of_act(act, outcome, self.now().calendar) {
            self.write_event(event).await;
        }
    }

    /// Goes on with what was begun: the pods of a dead instance, whose VolumeAttachment may be gone by now.
    async fn finish(&mut self) {
        /// What could not be done in so long is left to Kubernetes.
        const PATIENCE: Duration = Duration::from_secs(600);
        let now = self.now().moment;
        self.unfinished.retain(|(_, _, begun)| now - *begun < PATIENCE);
        for (act, drift, _) in self.unfinished.clone() {
            self.act(&act, drift, true).await;
        }
    }

    async fn write_event(&self, event: zonewarden_cluster::api::Event) {
        if !self.parts.fence.holds() {
            return;
        }
        match self.parts.api.write(&Write::Event(event)).await {
            Ok(()) => {}
            // A world of files takes none, and an operator may give no right to write them: the log has it all.
            Err(error @ ApiError::Forbidden(_)) => tracing::debug!(%error, "an event can't be written"),
            Err(error) => tracing::warn!(%error, "an event can't be written"),
        }
    }

    /// The policy does not answer. The call was counted where it failed; people are told once, until it answers again.
    fn complain(&mut self, error: &zonewarden_engine::Error) {
        if self.complained.replace(error.kind()) != Some(error.kind()) {
            tracing::error!(kind = error.kind(), %error, "the policy does not answer, so nothing is decided");
        }
    }
}
