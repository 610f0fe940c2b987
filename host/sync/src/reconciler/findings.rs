//! What one look found, and which acts the rails permit.

use zonewarden_cluster::api::Reference;
use zonewarden_cluster::records::{Node, PersistentVolume, PodVolume, PodVolumeSource};
use zonewarden_cluster::{Index, Kind, ObjectName};
use zonewarden_contract::attachment::{Lease, NodeReport, OutOfServiceTaint, Verdict};
use zonewarden_contract::labelling::LabellingBasis;
use zonewarden_contract::types::{Label, Reason, Remedy, Severity, VolumeAffinity};
use zonewarden_engine::Error;

use super::Reconciler;
use crate::act::{Act, Deed, Finding};
use crate::attachments::JudgedAttachment;
use crate::clock::Now;
use crate::history::History;
use crate::memory::PairKey;
use crate::observations::taint;
use crate::rails::switch::Rail;
use crate::rails::{self, Case, Texts, Withheld};
use crate::survey::Survey;
use crate::volumes::LabelledVolume;

/// The pair that a judgement is about, where both sides of it are known.
pub(super) fn key_of(pair: &JudgedAttachment<'_>) -> Option<PairKey> {
    let volume = &pair.observation.volume;
    let key = (volume.clone(), pair.observation.instance.clone()?);
    (!volume.aws_volume_id.is_empty()).then_some(key)
}

/// Whether a finding counts for the breaker: a policy says that something is wrong, or something would be done about it, and no
/// proven death explains it. What a policy proposes in vain turns nothing bad: the other rails hold that back already, and a
/// policy that proposes about everything would keep the breaker open for ever.
pub(super) fn is_bad(finding: &Finding) -> bool {
    let drifts = matches!(finding.verdict, Some(Verdict::Drift(_)));
    !finding.death && (drifts || !finding.acts.is_empty())
}

impl Reconciler {
    /// What a Node and its CSINode say of its instance, as far as the policy's drivers registered it.
    pub(super) fn texts_of<'a>(&self, cluster: &'a Index, node: &'a Node) -> Texts<'a> {
        let drivers = &self.policy.info().csi_drivers;
        let registered = cluster.csi_node(&node.identity.name.name).into_iter().flat_map(|csi_node| &csi_node.drivers);
        let ours = registered.filter(|driver| drivers.contains(&driver.name));
        Texts {
            node_id: None,
            provider_id: node.provider_id.as_ref().map(|id| id.provider_id.as_str()),
            csi_node_ids: ours.map(|driver| driver.node_id.as_str()).collect(),
        }
    }

    /// The facts of a pair as the rails read them.
    pub(super) fn case<'a>(&'a self, cluster: &'a Index, pair: &'a JudgedAttachment<'_>, now: Now) -> Case<'a> {
        let node = pair.node.as_ref();
        let object = node.and_then(|node| cluster.node(&node.node_name));
        let node_texts = object.map_or(Texts::default(), |object| self.texts_of(cluster, object));
        Case {
            observation: &pair.observation,
            texts: Texts {
                node_id: pair.attachment.and_then(|attachment| attachment.node_id.as_deref()),
                ..node_texts
            },
            settled_seconds: key_of(pair).map_or(0, |key| self.watched.memory.settled_seconds(&key, now.moment)),
            silent: node.is_some_and(|node| self.watched.leases.is_silent(node, now.moment)),
            renewed_since: node.is_some_and(|node| {
                let since = key_of(pair).and_then(|key| self.watched.memory.volume_since(&key));
                since.is_some_and(|since| self.watched.leases.changed_after(node, since))
            }),
            node_has_volume: match &pair.observation.node {
                NodeReport::Present(node) => {
                    let instance = node.instance.as_ref();
                    instance.and_then(|instance| self.watched.memory.maps(instance, &pair.observation.volume))
                }
                NodeReport::Absent(_) | NodeReport::Unknown => None,
            },
            patience: self.options.patience,
            rails: &self.rails,
        }
    }
}

/// What was found about a pair.
pub(super) fn of_pair(reconciler: &Reconciler, survey: &Survey<'_>, pair: &JudgedAttachment<'_>, now: Now) -> Finding {
    let judgement = &pair.judgement;
    let case = reconciler.case(survey.cluster, pair, now);
    let regarding = regarding(survey, pair);
    let mut finding = Finding {
        subject: subject(pair),
        verdict: Some(judgement.verdict),
        severity: judgement.severity,
        reason: judgement.reason.clone(),
        death: pair.attachment.is_some() && rails::prove_death(&case).is_ok(),
        told: judgement.severity != Severity::Info || judgement.remedy == Remedy::Event,
        regarding,
        acts: Vec::new(),
        withheld: Vec::new(),
    };
    let announced = &reconciler.policy.info().remedies;
    for remedy in [Some(judgement.remedy), judgement.escalation].into_iter().flatten() {
        if matches!(remedy, Remedy::None | Remedy::Event) {
            continue;
        }
        let permitted = if reconciler.rails.holds(Rail::Announced) && !announced.contains(&remedy) {
            Err(Withheld("not-announced"))
        } else {
            // The taint and the pods of one recovery go together: the taint is in place when the pods are looked at.
            let taints = finding.acts.iter().any(|act: &Act| act.deed.remedy() == Remedy::AddOutOfServiceTaint);
            match rails::permit(&case, remedy) {
                Err(Withheld("taint-not-in-place")) if taints => Ok(()),
                other => other,
            }
        };
        let deed = permitted.and_then(|()| deed(survey.cluster, pair, remedy));
        match deed.and_then(|deed| reconciler.switched_on(remedy).map(|()| deed)) {
            Ok(deed) => {
                let (reason, regarding) = (finding.reason.clone(), finding.regarding.clone());
                finding.acts.push(Act { deed, reason, regarding });
            }
            Err(withheld) => finding.withheld.push((remedy, withheld)),
        }
    }
    finding
}

impl Reconciler {
    fn switched_on(&self, remedy: Remedy) -> Result<(), Withheld> {
        match remedy {
            Remedy::ForceDeletePods if !self.options.modes.delete_pods => Err(Withheld("switch-off")),
            Remedy::DeleteLeakedAttachment if !self.options.modes.delete_leaked => Err(Withheld("switch-off")),
            _ => Ok(()),
        }
    }
}

fn deed(cluster: &Index, pair: &JudgedAttachment<'_>, remedy: Remedy) -> Result<Deed, Withheld> {
    let Some(node) = &pair.node else { return Err(Withheld("node-unknown")) };
    let node_uid = cluster.node(&node.node_name).map(|node| node.identity.uid.clone());
    if remedy == Remedy::RemoveOutOfServiceTaint {
        return Ok(Deed::Untaint { node: node.clone(), uid: node_uid.ok_or(Withheld("node-absent"))? });
    }
    let attachment = pair.attachment.ok_or(Withheld("no-attachment"))?;
    Ok(Deed::Pair {
        remedy,
        attachment: attachment.identity.name.clone(),
        uid: attachment.identity.uid.clone(),
        pair: key_of(pair).ok_or(Withheld("instance-unknown"))?,
        node: node.clone(),
        node_uid,
    })
}

fn subject(pair: &JudgedAttachment<'_>) -> String {
    let volume = &pair.observation.volume.aws_volume_id;
    let instance = pair.observation.instance.as_ref().map_or("?", |instance| &instance.instance_id);
    match pair.attachment {
        Some(attachment) => format!("VolumeAttachment {}", attachment.identity.name),
        None => format!("volume {volume} on {instance}"),
    }
}

/// The claim and the volume, which people read, and beside them the Node. A volume that pods name themselves has neither claim nor
/// PersistentVolume: its pods are told of, and where nothing else is left, the VolumeAttachment.
fn regarding(survey: &Survey<'_>, pair: &JudgedAttachment<'_>) -> Vec<Reference> {
    let cluster = survey.cluster;
    let volume = pair.observation.persistent_volume.as_deref().and_then(|name| cluster.volume(name));
    let mut regarding = volume.map_or_else(|| regarding_pods(survey, pair), |volume| regarding_volume(cluster, volume));
    if let Some(node) = pair.node.as_ref().and_then(|node| cluster.node(&node.node_name)) {
        let (name, uid) = (node.identity.name.clone(), node.identity.uid.clone());
        regarding.push(Reference { kind: Kind::Node, name, uid });
    }
    if let Some(attachment) = pair.attachment.filter(|_| regarding.is_empty()) {
        let (name, uid) = (attachment.identity.name.clone(), attachment.identity.uid.clone());
        regarding.push(Reference { kind: Kind::VolumeAttachment, name, uid });
    }
    regarding
}

/// The pods on the pair's Node that name its volume themselves.
fn regarding_pods(survey: &Survey<'_>, pair: &JudgedAttachment<'_>) -> Vec<Reference> {
    let names = |volume: &PodVolume| match &volume.source {
        PodVolumeSource::Inline(source) => {
            let named = survey.identities.identified(source);
            named.is_some_and(|named| named.volume == pair.observation.volume)
        }
        PodVolumeSource::Claim(_) | PodVolumeSource::Ephemeral(_) => false,
    };
    let on_node = pair.node.iter().flat_map(|node| survey.cluster.pods_on_node(&node.node_name));
    let pods = on_node.filter(|pod| pod.volumes.iter().any(names));
    pods.map(|pod| Reference { kind: Kind::Pod, name: pod.identity.name.clone(), uid: pod.identity.uid.clone() })
        .collect()
}

fn regarding_volume(cluster: &Index, volume: &PersistentVolume) -> Vec<Reference> {
    let claim = volume.claim.as_ref().and_then(|reference| cluster.claim(&reference.name)).map(|claim| Reference {
        kind: Kind::PersistentVolumeClaim,
        name: claim.identity.name.clone(),
        uid: claim.identity.uid.clone(),
    });
    let (name, uid) = (volume.identity.name.clone(), volume.identity.uid.clone());
    claim.into_iter().chain([Reference { kind: Kind::PersistentVolume, name, uid }]).collect()
}

/// Our taint on a Node whose kubelet lives has to go, whatever a policy says and whether a VolumeAttachment is left or not.
pub(super) fn of_tainted_nodes(survey: &Survey<'_>) -> Vec<Finding> {
    let History::Live(watched, now) = survey.history else { return Vec::new() };
    let tainted = survey.cluster.nodes().filter(|node| taint(node) == OutOfServiceTaint::Ours);
    let outdated = tainted.filter(|node| watched.leases.lease(&node.node_name(), now.moment) == Lease::Renewed);
    let finding = |node: &Node| {
        let (name, uid) = (node.identity.name.clone(), node.identity.uid.clone());
        let reason = Reason {
            code: "taint-outdated".to_owned(),
            message: format!("the kubelet of Node {name} renews its Lease, so our out-of-service taint has to go"),
        };
        let regarding = vec![Reference { kind: Kind::Node, name: name.clone(), uid: uid.clone() }];
        let deed = Deed::Untaint { node: node.node_name(), uid };
        let act = Act { deed, reason: reason.clone(), regarding: regarding.clone() };
        Finding {
            subject: format!("Node {name}"),
            verdict: None,
            severity: Severity::Error,
            reason,
            death: false,
            told: true,
            regarding,
            acts: vec![act],
            withheld: Vec::new(),
        }
    };
    outdated.map(finding).collect()
}

/// What PersistentVolumes should carry and do not.
pub(super) fn of_volumes(survey: &Survey<'_>) -> Result<Vec<Finding>, Error> {
    let labelled = survey.volumes()?;
    let concerned = labelled.iter().filter(|volume| {
        let answer = &volume.answer;
        !answer.labels.is_empty() || answer.affinity.is_some() || !answer.findings.is_empty()
    });
    Ok(concerned.map(|volume| of_volume(survey.cluster, volume)).collect())
}

fn of_volume(cluster: &Index, labelled: &LabelledVolume<'_>) -> Finding {
    let LabelledVolume { volume, answer, .. } = labelled;
    let regarding = regarding_volume(cluster, volume);
    let worst = answer.findings.iter().max_by_key(|finding| finding.severity);
    let (severity, reason) = worst.map_or((Severity::Info, &answer.reason), |worst| (worst.severity, &worst.reason));
    let mut finding = Finding {
        subject: format!("PersistentVolume {}", volume.identity.name),
        verdict: None,
        severity,
        reason: reason.clone(),
        death: false,
        told: severity != Severity::Info,
        regarding: regarding.clone(),
        acts: Vec::new(),
        withheld: Vec::new(),
    };
    let (name, uid) = (volume.identity.name.clone(), volume.identity.uid.clone());
    let mut add = |deed: Deed, permitted: Result<(), Withheld>| match permitted {
        Ok(()) => {
            finding.acts.push(Act { deed, reason: answer.reason.clone(), regarding: regarding.clone() });
        }
        Err(withheld) => finding.withheld.push((deed.remedy(), withheld)),
    };
    // What nothing checked is not written: affinity can't be taken back.
    let checked = if answer.basis == LabellingBasis::Ec2 { Ok(()) } else { Err(Withheld("hint-only")) };
    if !answer.labels.is_empty() {
        let labels = ours(volume, &answer.labels);
        add(Deed::Label { volume: name.clone(), uid: uid.clone(), labels }, checked);
    }
    if let Some(terms) = &answer.affinity {
        let unset = matches!(volume.affinity, VolumeAffinity::Unset);
        let permitted = checked.and(if unset { Ok(()) } else { Err(Withheld("affinity-set-already")) });
        add(Deed::Affinity { volume: name, uid, terms: terms.clone() }, permitted);
    }
    finding
}

/// All labels that are to be ours: those that are already, and those to be set. An apply takes off what it does not list.
fn ours(volume: &PersistentVolume, set: &[Label]) -> Vec<Label> {
    let kept = volume
        .labels
        .iter()
        .filter(|label| volume.owned_labels.contains(&label.key) && set.iter().all(|new| new.key != label.key));
    let mut labels: Vec<Label> = kept.chain(set).cloned().collect();
    labels.sort_by(|one, other| one.key.cmp(&other.key));
    labels
}

/// The name of an object without a namespace.
pub(super) fn cluster_scoped(name: &str) -> ObjectName {
    ObjectName::new("", name)
}

#[cfg(test)]
mod tests;
