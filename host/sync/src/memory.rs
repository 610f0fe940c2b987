//! What was seen of EC2 over time: the actual state of the world, keyed by volume and instance and never by a Node's name.
//!
//! Each pair has a generation, which moves when an attach or a detach starts or ends. Evidence that was asked for before that is
//! dropped for the pair, however late it arrives: it may tell of the time before.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use zonewarden_contract::attachment::{AttachmentState, InstanceState, MissingInstance};
use zonewarden_contract::types::{AwsVolumeId, InstanceId, NodeName};
use zonewarden_ec2::{Evidence, Instance, Question, Sweep, Volume};

use crate::clock::{Moment, Now};

mod claims;
mod pair;

pub(crate) use claims::Run;
use claims::{Repeated, instance_claim, volume_claim};
use pair::Pair;
pub(crate) use pair::Phase;

/// For how long an instance that nobody asks about stays known as one that was shown. EC2 purges what is terminated within an
/// hour or so, and what still names it then is asked about all the time.
const KNOWN_FOR: Duration = Duration::from_secs(24 * 3600);

/// A volume and an instance.
pub(crate) type PairKey = (AwsVolumeId, InstanceId);

/// Everything that was seen.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    volumes: HashMap<AwsVolumeId, Seen<Volume>>,
    instances: HashMap<InstanceId, Seen<Instance>>,
    pairs: HashMap<PairKey, Pair>,
    /// When the first look began.
    began: Option<Moment>,
    /// The instances that hold each volume, and since when the attachment is in its state.
    held: HashMap<AwsVolumeId, HashMap<InstanceId, (AttachmentState, Moment)>>,
    /// The instances that this account and region showed before, and when each was last asked about: one that is missing now was
    /// purged.
    shown: HashMap<InstanceId, Moment>,
    /// Which names of absent Nodes a pending or running instance bears.
    names: HashMap<NodeName, (Moment, bool)>,
}

#[derive(Debug)]
struct Seen<T> {
    evidence: Evidence<T>,
    /// When EC2 was asked.
    asked: Moment,
}

impl Memory {
    /// Forgets everything but which instances were shown.
    pub(crate) fn anew(self) -> Self {
        Self { shown: self.shown, ..Self::default() }
    }

    /// A look begins.
    pub(crate) fn begin(&mut self, now: Moment) {
        self.began.get_or_insert(now);
    }

    /// Makes a pair known, or moves its generation where its VolumeAttachment did.
    pub(crate) fn watch(&mut self, key: &PairKey, phase: Option<Phase>, now: Moment) {
        match self.pairs.get_mut(key) {
            Some(pair) if pair.phase == phase => {}
            Some(pair) => {
                *pair = Pair::new(phase, pair.generation + 1, now);
            }
            None => drop(self.pairs.insert(key.clone(), Pair::new(phase, 0, now))),
        }
    }

    /// Forgets the pairs, volumes and instances that nothing names any more. Which instances were shown is kept for a day.
    pub(crate) fn keep(&mut self, question: &Question, pairs: &HashSet<PairKey>) {
        let volumes: HashSet<&AwsVolumeId> = question.volumes.iter().collect();
        let instances: HashSet<&InstanceId> = question.instances.iter().collect();
        self.volumes.retain(|id, _| volumes.contains(id));
        self.instances.retain(|id, _| instances.contains(id));
        self.held.retain(|id, _| volumes.contains(id));
        let held = &self.held;
        let is_held = |(volume, instance): &PairKey| held.get(volume).is_some_and(|held| held.contains_key(instance));
        self.pairs.retain(|key, pair| pairs.contains(key) || (pair.phase.is_none() && is_held(key)));
        self.names.retain(|name, _| question.names.contains(name));
    }

    /// Takes in the answers to a question that was asked at a moment. What an answer does not tell changes nothing: the last
    /// evidence grows old.
    pub(crate) fn take(&mut self, question: &Question, sweep: Sweep, asked: Moment) {
        for (id, evidence) in question.volumes.iter().zip(sweep.volumes) {
            if let Evidence::Found { record, .. } = &evidence {
                self.note_holders(id, record, asked);
            }
            keep_newer(&mut self.volumes, id, evidence, asked);
        }
        for (id, evidence) in question.instances.iter().zip(sweep.instances) {
            if matches!(evidence, Evidence::Found { .. }) || self.shown.contains_key(id) {
                self.shown.insert(id.clone(), asked);
            }
            keep_newer(&mut self.instances, id, evidence, asked);
        }
        self.shown.retain(|_, last| asked - *last < KNOWN_FOR);
        for (name, taken) in question.names.iter().zip(sweep.names) {
            if let Some(taken) = taken {
                self.names.insert(name.clone(), (asked, taken));
            }
        }
        self.count(asked);
    }

    fn note_holders(&mut self, id: &AwsVolumeId, record: &Volume, asked: Moment) {
        let before = self.held.remove(id).unwrap_or_default();
        let mut held = HashMap::new();
        for holder in record.holders() {
            let Some(instance) = &holder.instance else { continue };
            let known = before.get(instance).filter(|(state, _)| *state == holder.state);
            held.insert(instance.clone(), known.cloned().unwrap_or_else(|| (holder.state.clone(), asked)));
        }
        if !held.is_empty() {
            self.held.insert(id.clone(), held);
        }
    }

    /// Counts what was just read for every pair that it is about.
    fn count(&mut self, asked: Moment) {
        for ((volume, instance), pair) in &mut self.pairs {
            if asked <= pair.since {
                continue;
            }
            if let Some(seen) = self.volumes.get(volume).filter(|seen| seen.asked == asked)
                && let Some(claim) = volume_claim(&seen.evidence, instance)
            {
                pair.contradicted |= pair.volume.as_ref().is_some_and(|before| before.is_taken_back(&claim, asked));
                pair.volume = Repeated::take(pair.volume.take(), claim, asked);
            }
            if let Some(seen) = self.instances.get(instance).filter(|seen| seen.asked == asked)
                && let Some(claim) = instance_claim(&seen.evidence, volume)
            {
                pair.contradicted |= pair.instance.as_ref().is_some_and(|before| before.is_taken_back(&claim, asked));
                pair.instance = Repeated::take(pair.instance.take(), claim, asked);
            }
        }
    }

    /// Everything that is known, as one sweep that was made just now: the ages are those of our own clock. What is older than
    /// `volumes` or `instances` seconds is unknown.
    pub(crate) fn recall(&self, question: &Question, now: &Now, limits: (u32, u32)) -> Sweep {
        let volume = |id: &AwsVolumeId| recall(self.volumes.get(id), now, limits.0);
        let instance = |id: &InstanceId| recall(self.instances.get(id), now, limits.1);
        Sweep {
            volumes: question.volumes.iter().map(volume).collect(),
            instances: question.instances.iter().map(instance).collect(),
            names: question.names.iter().map(|name| self.names.get(name).map(|(_, taken)| *taken)).collect(),
            problems: Vec::new(),
        }
    }

    /// The age of what is known of each volume, in seconds; `None` for one that was never answered.
    pub(crate) fn volume_ages(&self, question: &Question, now: Moment) -> Vec<Option<u32>> {
        let age = |id: &AwsVolumeId| self.volumes.get(id).map(|seen| now.seconds_since(seen.asked));
        question.volumes.iter().map(age).collect()
    }

    /// The instances that hold volumes, as they were last described.
    pub(crate) fn holders(&self) -> impl Iterator<Item = &InstanceId> {
        self.held.values().flat_map(HashMap::keys)
    }

    /// An instance as it was last described, however long ago.
    pub(crate) fn described(&self, instance: &InstanceId) -> Option<&Instance> {
        self.instances.get(instance)?.evidence.record()
    }

    /// The state that an instance was last seen in.
    pub(crate) fn instance_state(&self, instance: &InstanceId) -> Option<&InstanceState> {
        self.instances.get(instance)?.evidence.record().map(|record| &record.state)
    }

    /// Whether DescribeVolumes showed the volume, in the pair's generation, and not on its instance.
    pub(crate) fn has_left(&self, key: &PairKey) -> bool {
        self.pairs.get(key).and_then(|pair| pair.volume.as_ref()).is_some_and(Repeated::has_left)
    }

    /// Whether an instance has a volume among its block devices; `None` where it was never described.
    pub(crate) fn maps(&self, instance: &InstanceId, volume: &AwsVolumeId) -> Option<bool> {
        let record = self.instances.get(instance)?.evidence.record()?;
        Some(record.mapping(volume).is_some_and(|state| *state != AttachmentState::Detached))
    }

    /// Whether EC2 says that it does not know an instance.
    pub(crate) fn is_missing(&self, instance: &InstanceId) -> bool {
        self.instances.get(instance).is_some_and(|seen| matches!(seen.evidence, Evidence::Missing { .. }))
    }

    /// How often the volume's description said the same of the pair, in this generation; `None` where it said nothing in it.
    pub(crate) fn volume_run(&self, key: &PairKey) -> Option<Run> {
        self.pairs.get(key)?.volume.as_ref().map(Repeated::run)
    }

    /// Since when the volume's description says of the pair what it says.
    pub(crate) fn volume_since(&self, key: &PairKey) -> Option<Moment> {
        self.pairs.get(key)?.volume.as_ref().map(|volume| volume.first)
    }

    /// How often the instance's description said the same of the pair, in this generation; `None` where it said nothing in it.
    pub(crate) fn instance_run(&self, key: &PairKey) -> Option<Run> {
        self.pairs.get(key)?.instance.as_ref().map(Repeated::run)
    }

    /// How often EC2 said of a pair what it says, where the host found the pair so when it began: known for no more than
    /// `seconds` after the first look, and neither EC2 nor the VolumeAttachment has told anything else since.
    pub(crate) fn run_from_the_beginning(&self, key: &PairKey, seconds: u32) -> Option<Run> {
        let pair = self.pairs.get(key)?;
        let was_there = pair.since.seconds_since(self.began?) <= seconds;
        let volume = pair.volume.as_ref().map(Repeated::run);
        let run = volume.or_else(|| pair.instance.as_ref().map(Repeated::run)).unwrap_or_default();
        (was_there && pair.generation == 0 && !pair.contradicted).then_some(run)
    }

    /// For how long the pair is in its generation, in seconds; 0 for one that is not known.
    pub(crate) fn settled_seconds(&self, key: &PairKey, now: Moment) -> u32 {
        self.pairs.get(key).map_or(0, |pair| now.seconds_since(pair.since))
    }

    /// The phase that the pair's VolumeAttachment was last seen in.
    pub(crate) fn phase(&self, key: &PairKey) -> Option<&Phase> {
        self.pairs.get(key)?.phase.as_ref()
    }

    /// For how long an attachment is in the state that it was last seen in, in seconds.
    pub(crate) fn held_seconds(&self, key: &PairKey, now: Moment) -> u32 {
        let held = self.held.get(&key.0).and_then(|held| held.get(&key.1));
        held.map_or(0, |(_, since)| now.seconds_since(*since))
    }

    /// An instance that EC2 says it does not know.
    pub(crate) fn missing_instance(&self, key: &PairKey) -> Option<MissingInstance> {
        let seen = self.instances.get(&key.1)?;
        let run = self.instance_run(key)?;
        matches!(seen.evidence, Evidence::Missing { .. }).then(|| MissingInstance {
            known_before: self.shown.contains_key(&key.1),
            reads: run.reads,
            consistent_seconds: run.seconds,
        })
    }

    /// Whether a pending or running instance bears the name of a Node that is gone. What nobody answered since a moment counts
    /// as yes: the Node may have been there then, and a name that was free can be given to a new instance.
    pub(crate) fn is_name_taken(&self, name: &NodeName, since: Moment) -> bool {
        self.names.get(name).is_none_or(|(asked, taken)| *taken || *asked < since)
    }
}

fn keep_newer<K: Clone + Eq + std::hash::Hash, T>(
    kept: &mut HashMap<K, Seen<T>>,
    id: &K,
    evidence: Evidence<T>,
    asked: Moment,
) {
    let is_older = kept.get(id).is_some_and(|seen| seen.asked > asked);
    if !is_older && !matches!(evidence, Evidence::Unknown(_)) {
        kept.insert(id.clone(), Seen { evidence, asked });
    }
}

fn recall<T: Clone>(seen: Option<&Seen<T>>, now: &Now, limit: u32) -> Evidence<T> {
    use zonewarden_ec2::UnknownCause::{NotAsked, TooOld};
    let Some(seen) = seen else { return Evidence::Unknown(NotAsked) };
    if now.moment.seconds_since(seen.asked) > limit {
        return Evidence::Unknown(TooOld);
    }
    let observed_at = now.calendar_at(seen.asked);
    match &seen.evidence {
        Evidence::Unknown(cause) => Evidence::Unknown(*cause),
        Evidence::Missing { absent_by_filter, .. } => {
            Evidence::Missing { observed_at, absent_by_filter: *absent_by_filter }
        }
        Evidence::Found { record, .. } => Evidence::Found { observed_at, record: record.clone() },
    }
}

#[cfg(test)]
mod tests;
