//! The state that is carried from look to look, and what is made of each look. Nothing here waits or writes.

use std::collections::{BTreeMap, BTreeSet};

use zonewarden_cluster::Index;
use zonewarden_contract::types::{AwsVolumeId, NodeName};
use zonewarden_ec2::{Evidence, Question, Sweep};
use zonewarden_engine::{ConfiguredPolicy, Error};

use crate::act::{Act, Deed, Finding};
use crate::attachments::JudgedAttachment;
use crate::clock::{Moment, Now};
use crate::facts::Facts;
use crate::history::History;
use crate::identities::Identities;
use crate::leases::LeaseReads;
use crate::memory::PairKey;
use crate::options::{Mode, Options};
use crate::rails::Withheld;
use crate::rails::breaker::{Breaker, Standing, Turn};
use crate::rails::budget::Budget;
use crate::rails::switch::{Rail, Rails};
use crate::stuck::{self, StuckVolume};
use crate::survey::Survey;
use crate::watch::Watched;

mod findings;
mod recheck;
mod suspects;

pub(crate) use suspects::Suspects;

/// Reconciles what Kubernetes believes with what EC2 says.
#[derive(Debug)]
pub struct Reconciler {
    pub(crate) options: Options,
    pub(crate) rails: Rails,
    pub(crate) budget: Budget,
    pub(crate) watched: Watched,
    policy: ConfiguredPolicy,
    identities: Identities,
    question: Question,
    breaker: Breaker,
}

/// What has to be asked after a look at the cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Everything that the cluster names.
    pub all: Question,
    /// What has to be asked each second.
    pub suspects: Question,
    /// The Nodes whose Leases have to be read: the suspects', and a few others' to hold them against.
    pub leases: BTreeSet<NodeName>,
}

/// How much of the cluster is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of it.
    All,
    /// All pairs, and not what PersistentVolumes should carry: a volume's zone never changes.
    Pairs,
    /// The pairs of the suspects.
    Suspects,
}

/// What was judged.
#[derive(Debug)]
pub struct Judged {
    /// What was found, one for each pair and each PersistentVolume that was looked at.
    pub findings: Vec<Finding>,
    /// Whether the breaker opened: over so many volumes.
    pub opened: Option<usize>,
    /// Whether the breaker is open, so that no act may be carried out but those about a proven death.
    pub breaker_open: bool,
    /// The volumes that are stuck, among those that were looked at, the longest stuck first.
    pub stuck: Vec<StuckVolume>,
}

impl Reconciler {
    /// One that has seen nothing yet.
    #[must_use]
    pub fn new(policy: ConfiguredPolicy, options: Options) -> Self {
        Self {
            options,
            rails: Rails::default(),
            budget: Budget::default(),
            watched: Watched::new(options.intervals.stale_seconds().1),
            policy,
            identities: Identities::default(),
            question: Question::default(),
            breaker: Breaker::default(),
        }
    }

    /// The policy that decides from now on. What the former one said that ids mean is forgotten.
    pub fn set_policy(&mut self, policy: ConfiguredPolicy) {
        if policy.digest() != self.policy.digest() || policy.settings() != self.policy.settings() {
            self.identities = Identities::default();
        }
        self.policy = policy;
    }

    /// Begins anew, as after a restart: while somebody else led, nobody looked here, and what was seen before that proves nothing
    /// about the time between. Only which instances EC2 once showed stays true.
    pub fn begin_anew(&mut self) {
        self.watched = std::mem::take(&mut self.watched).anew();
        self.breaker = Breaker::default();
    }

    /// The policy that decides.
    #[must_use]
    pub fn policy(&self) -> &ConfiguredPolicy {
        &self.policy
    }

    /// Looks at the cluster: which ids are new, which pairs have moved, what has to be asked.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn look(&mut self, cluster: &Index, now: Now) -> Result<Plan, Error> {
        self.identities.learn(cluster, &self.policy)?;
        self.question = self.watched.look(cluster, &self.identities, now);
        let suspects = Suspects::of(cluster, &self.identities, &self.watched, &self.question);
        Ok(Plan { all: self.question.clone(), leases: suspects.leases(cluster), suspects: suspects.question() })
    }

    /// Takes in what EC2 answered to a question that was asked at a moment.
    pub fn take(&mut self, question: &Question, sweep: Sweep, asked: Moment) {
        self.watched.memory.take(question, sweep, asked);
    }

    /// Takes in the Leases that were read; `None` where the API server did not answer.
    pub fn take_leases(&mut self, reads: Option<&LeaseReads>, now: Moment) {
        match reads {
            Some(reads) => self.watched.leases.take(reads, now),
            None => self.watched.leases.interrupt(),
        }
    }

    /// Judges what is known.
    ///
    /// # Errors
    /// Those of the engine. Nothing is decided then.
    pub fn judge(&mut self, cluster: &Index, now: Now, scope: Scope) -> Result<Judged, Error> {
        let identities = std::mem::take(&mut self.identities);
        let survey = self.survey(cluster, identities, now)?;
        let suspects = Suspects::of(cluster, survey.identities(), &self.watched, &self.question);
        let judged = match scope {
            Scope::All | Scope::Pairs => survey.attachments()?,
            Scope::Suspects => survey.attachments_of(&|node| suspects.has(node))?,
        };
        let mut found: Vec<Finding> = judged.iter().map(|pair| findings::of_pair(self, &survey, pair, now)).collect();
        let mut bad: BTreeMap<AwsVolumeId, Standing> = BTreeMap::new();
        for (pair, _) in judged.iter().zip(&found).filter(|(_, finding)| findings::is_bad(finding)) {
            let (volume, standing) = (pair.observation.volume.clone(), self.standing(pair));
            bad.entry(volume).and_modify(|worst| *worst = standing.max(*worst)).or_insert(standing);
        }
        let looked_at: BTreeSet<AwsVolumeId> = judged.iter().map(|pair| pair.observation.volume.clone()).collect();
        let orphans: Vec<PairKey> =
            judged.iter().filter(|pair| pair.attachment.is_none()).filter_map(findings::key_of).collect();
        if scope == Scope::All {
            found.extend(findings::of_volumes(&survey)?);
        }
        found.extend(findings::of_tainted_nodes(&survey));
        let stuck = stuck::of(&judged);
        drop(judged);
        let (identities, occupancy) = survey.into_parts();
        self.identities = identities;
        self.watched.note_usage(&self.question, &occupancy, now.moment);
        for key in orphans {
            self.watched.memory.watch(&key, None, now.moment);
        }
        let opened = match self.breaker.take(&looked_at, &bad, self.question.volumes.len()) {
            Turn::Opened(volumes) => Some(volumes),
            Turn::Same | Turn::Closed => None,
        };
        Ok(Judged { findings: found, opened, breaker_open: self.breaker.is_open(), stuck })
    }

    /// Whether an act may be carried out now, as far as mode, breaker and budget go. What it costs is spent.
    ///
    /// # Errors
    /// Why not.
    pub fn allow(&mut self, act: &Act, death: bool, now: Moment) -> Result<(), Withheld> {
        let modes = &self.options.modes;
        let mode = match act.deed {
            Deed::Label { .. } | Deed::Affinity { .. } => modes.label,
            Deed::Pair { .. } | Deed::Untaint { .. } => modes.reconcile,
        };
        if mode == Mode::Observe {
            return Err(Withheld("observe-mode"));
        }
        // Taking our own taint off a living Node is never wrong.
        if matches!(act.deed, Deed::Untaint { .. }) {
            return Ok(());
        }
        self.rails.demand(Rail::Breaker, death || !self.breaker.is_open(), "breaker-open")?;
        let granted = match &act.deed {
            Deed::Pair { pair, .. } if death => self.budget.recover(&pair.1, now),
            Deed::Pair { .. } | Deed::Untaint { .. } => self.budget.other(now),
            Deed::Label { .. } | Deed::Affinity { .. } => self.budget.label(now),
        };
        self.rails.demand(Rail::Budget, granted, "budget-spent")
    }

    /// Takes note that an act which was allowed was not done after all: it has cost nothing.
    pub fn refund(&mut self, act: &Act, death: bool) {
        if matches!(act.deed, Deed::Pair { .. }) && !death {
            self.budget.refund_other();
        }
    }

    /// The age of what is known of each volume, in seconds; `None` for one that was never answered.
    #[must_use]
    pub fn evidence_ages(&self, now: Moment) -> Vec<Option<u32>> {
        self.watched.memory.volume_ages(&self.question, now)
    }

    /// How many of the volumes that a sweep told nothing about are known well enough from before.
    pub(crate) fn stale_volumes(&self, question: &Question, sweep: &Sweep, now: Moment) -> u32 {
        let untold =
            question.volumes.iter().zip(&sweep.volumes).filter(|(_, told)| matches!(told, Evidence::Unknown(_)));
        let untold = Question { volumes: untold.map(|(id, _)| id.clone()).collect(), ..Question::default() };
        let limit = self.options.intervals.stale_seconds().0;
        let ages = self.watched.memory.volume_ages(&untold, now).into_iter().flatten();
        u32::try_from(ages.filter(|age| *age <= limit).count()).unwrap_or(u32::MAX)
    }

    /// Whether a pair is as the host found it when it began.
    fn standing(&self, pair: &JudgedAttachment<'_>) -> Standing {
        /// Fewer reads are no long time, however far apart they are.
        const READS: u32 = 3;
        let settle = self.options.patience.settle_seconds();
        let run = findings::key_of(pair).and_then(|key| self.watched.memory.run_from_the_beginning(&key, settle));
        run.map_or(Standing::Turned, |run| {
            if run.reads >= READS && run.seconds >= settle { Standing::Settled } else { Standing::Found }
        })
    }

    /// A look at a cluster with everything that is remembered.
    fn survey<'a>(&'a self, cluster: &'a Index, identities: Identities, now: Now) -> Result<Survey<'a>, Error> {
        let sweep = self.watched.memory.recall(&self.question, &now, self.options.intervals.stale_seconds());
        let facts = Facts::new(self.question.clone(), sweep, now.calendar);
        Survey::with(cluster, &self.policy, identities, facts, History::Live(&self.watched, now))
    }
}
