//! The last look before a write, at objects that were read afresh.

use std::collections::BTreeSet;

use jiff::Timestamp;
use zonewarden_cluster::records::{Node, Pod, Taint};
use zonewarden_cluster::{Index, ObjectName, Precondition, Write};
use zonewarden_contract::attachment::{Judgement, Lease, OutOfServiceTaint, Verdict};
use zonewarden_contract::types::{InstanceId, NodeName, Reason, Remedy, Severity, VolumeAffinity};

use super::Reconciler;
use super::findings::cluster_scoped;
use crate::act::{Act, Deed};
use crate::attachments::JudgedAttachment;
use crate::clock::Now;
use crate::facts::Facts;
use crate::history::History;
use crate::identities::Identities;
use crate::memory::Phase;
use crate::observations::{OUT_OF_SERVICE, taint};
use crate::rails::switch::Rail;
use crate::rails::{self, Withheld};
use crate::survey::Survey;

/// The value and the effect of the taint, by Kubernetes' own documentation of it.
const TAINT_VALUE: &str = "nodeshutdown";
const TAINT_EFFECT: &str = "NoExecute";

impl Reconciler {
    /// What has to be written now, by objects that were read afresh: one write at a time, `None` where nothing is left to do.
    /// `done` are the pods that were deleted already and may still be there, for a finalizer's sake.
    ///
    /// # Errors
    /// Why the act is no longer permitted.
    pub fn next_write(
        &self,
        fresh: &Index,
        act: &Act,
        done: &BTreeSet<ObjectName>,
        now: Now,
    ) -> Result<Option<Write>, Withheld> {
        match &act.deed {
            Deed::Pair { remedy: Remedy::ForceDeletePods, pair, node, node_uid, .. } => {
                let bound = self.pods_of_dead(fresh, (&pair.1, node, node_uid.as_deref()), now)?;
                Ok(bound.into_iter().find(|pod| !done.contains(&pod.identity.name)).map(deleted))
            }
            Deed::Pair { .. } => self.write_of_pair(fresh, act, now).map(Some),
            Deed::Untaint { node, uid } => self.untaint(fresh, node, uid, now).map(Some),
            Deed::Label { volume, uid, labels } => {
                let found = fresh.volume(&volume.name).filter(|found| found.identity.uid == *uid);
                let found = found.ok_or(Withheld("replaced"))?;
                let precondition = Precondition::from(&found.identity);
                Ok(Some(Write::SetLabels { volume: volume.clone(), precondition, labels: labels.clone() }))
            }
            Deed::Affinity { volume, uid, terms } => {
                let found = fresh.volume(&volume.name).filter(|found| found.identity.uid == *uid);
                let found = found.ok_or(Withheld("replaced"))?;
                if !matches!(found.affinity, VolumeAffinity::Unset) {
                    return Err(Withheld("affinity-set-already"));
                }
                let precondition = Precondition::from(&found.identity);
                Ok(Some(Write::SetAffinity { volume: volume.clone(), precondition, terms: terms.clone() }))
            }
        }
    }

    fn write_of_pair(&self, fresh: &Index, act: &Act, now: Now) -> Result<Write, Withheld> {
        let Deed::Pair { remedy, attachment, uid, pair: key, node, node_uid } = &act.deed else {
            return Err(Withheld("not-about-a-pair"));
        };
        let found = fresh.attachment(&attachment.name).ok_or(Withheld("gone-already"))?;
        let phase = Phase::of(found);
        if found.identity.uid != *uid || self.watched.memory.phase(key).is_some_and(|known| *known != phase) {
            return Err(Withheld("moved"));
        }
        let present = fresh.node(&node.node_name);
        if present.map(|node| &node.identity.uid) != node_uid.as_ref() {
            return Err(Withheld("node-replaced"));
        }
        let mut identities = Identities::default();
        let engine_failed = |_| Withheld("policy-failed");
        identities.learn(fresh, &self.policy).map_err(engine_failed)?;
        let sweep = self.watched.memory.recall(&self.question, &now, self.options.intervals.stale_seconds());
        let facts = Facts::new(self.question.clone(), sweep, now.calendar);
        let history = History::Live(&self.watched, now);
        let survey = Survey::with(fresh, &self.policy, identities, facts, history).map_err(engine_failed)?;
        let pair = survey.pair(found).ok_or(Withheld("not-ours-any-more"))?;
        let judged = JudgedAttachment {
            attachment: pair.attachment,
            node: pair.node,
            observation: pair.observation,
            // The rails look at facts alone.
            judgement: unjudged(),
        };
        if super::findings::key_of(&judged).as_ref() != Some(key) {
            return Err(Withheld("another-pair"));
        }
        rails::permit(&self.case(fresh, &judged, now), *remedy)?;
        if *remedy == Remedy::AddOutOfServiceTaint {
            return Ok(tainted(present.ok_or(Withheld("node-absent"))?, now.calendar));
        }
        let precondition = Precondition::from(&found.identity);
        Ok(Write::DeleteAttachment { attachment: attachment.clone(), precondition })
    }

    /// The pods of a dead instance. The death was proven when the act was permitted, and death is for ever; what can change
    /// is who bears the name.
    fn pods_of_dead<'a>(
        &self,
        fresh: &'a Index,
        (instance, node, node_uid): (&InstanceId, &NodeName, Option<&str>),
        now: Now,
    ) -> Result<Vec<&'a Pod>, Withheld> {
        let present = fresh.node(&node.node_name);
        if present.map(|node| node.identity.uid.as_str()) != node_uid {
            return Err(Withheld("node-replaced"));
        }
        match present {
            Some(object) => {
                let is_same = self.texts_of(fresh, object).all_name(instance);
                let is_tainted = taint(object) != OutOfServiceTaint::Absent;
                let silent = self.watched.leases.is_silent(node, now.moment);
                self.rails.demand(Rail::SameInstance, is_same, "other-instance")?;
                self.rails.demand(Rail::TaintFirst, is_tainted, "taint-not-in-place")?;
                self.rails.demand(Rail::Silence, silent, "kubelet-not-silent")?;
            }
            None => self.rails.demand(Rail::FreeName, !self.watched.is_name_taken(node, now.moment), "name-taken")?,
        }
        Ok(fresh.pods_on_node(&node.node_name).filter(|pod| !pod.has_ended()).collect())
    }

    fn untaint(&self, fresh: &Index, node: &NodeName, uid: &str, now: Now) -> Result<Write, Withheld> {
        let object = fresh.node(&node.node_name).filter(|object| object.identity.uid == uid);
        let object = object.ok_or(Withheld("replaced"))?;
        self.rails.demand(Rail::OurTaint, taint(object) == OutOfServiceTaint::Ours, "taint-not-ours")?;
        let renewed = self.watched.leases.lease(node, now.moment) == Lease::Renewed;
        self.rails.demand(Rail::Renewed, renewed, "lease-not-renewed")?;
        let taints = object.taints.iter().filter(|taint| taint.key != OUT_OF_SERVICE);
        Ok(Write::SetTaints {
            node: cluster_scoped(&node.node_name),
            precondition: Precondition::from(&object.identity),
            taints: taints.cloned().collect(),
            annotation: None,
        })
    }
}

fn tainted(node: &Node, now: Timestamp) -> Write {
    let ours = Taint {
        key: OUT_OF_SERVICE.to_owned(),
        value: TAINT_VALUE.to_owned(),
        effect: TAINT_EFFECT.to_owned(),
        added: Some(now),
    };
    Write::SetTaints {
        node: node.identity.name.clone(),
        precondition: Precondition::from(&node.identity),
        taints: node.taints.iter().cloned().chain([ours]).collect(),
        annotation: Some(node.identity.uid.clone()),
    }
}

fn deleted(pod: &Pod) -> Write {
    Write::DeletePod { pod: pod.identity.name.clone(), precondition: Precondition::from(&pod.identity) }
}

fn unjudged() -> Judgement {
    Judgement {
        verdict: Verdict::Unknown,
        remedy: Remedy::None,
        escalation: None,
        severity: Severity::Info,
        reason: Reason { code: String::new(), message: String::new() },
    }
}

#[cfg(test)]
mod tests;
