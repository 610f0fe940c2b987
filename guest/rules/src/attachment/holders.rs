//! Who else holds the volume (E4, E5, D-15, D-16, D-53, D-54, D-55).

use zonewarden_bindings::attachment::{Drift, Ec2Attachment, Holder, Judgement};
use zonewarden_bindings::types::Severity;

use super::evidence::Pair;
use super::verdict::{drift, in_progress, say, unknown, unstable};

/// An instance that is no Node of this cluster: people are told, and nothing is done.
pub(super) fn foreign(pair: &Pair<'_>) -> Option<Judgement> {
    let others = || pair.held().filter(|held| !pair.is_own(held));
    let severity = Severity::Error;
    let of_cluster = others().find_map(|held| match &held.holder {
        Holder::OtherCluster(cluster) => Some((held, cluster)),
        Holder::ThisInstance | Holder::ClusterNode(_) | Holder::ForeignInstance | Holder::Service(_) => None,
    });
    if let Some((held, cluster)) = of_cluster {
        let text = format!(
            "EC2 has the volume on {}, which belongs to the cluster {cluster:?}; release it there before this \
             cluster uses it",
            name(held)
        );
        let say = say("attached-to-other-cluster", text);
        return Some(drift(pair, Drift::AttachedToForeignInstance, severity, &say));
    }
    let held = others().find(|held| matches!(held.holder, Holder::ForeignInstance))?;
    let text = format!("EC2 has the volume on {}, which is no Node of this cluster; detach it there", name(held));
    Some(drift(pair, Drift::AttachedToForeignInstance, severity, &say("attached-to-foreign-instance", text)))
}

/// An attachment of a service: whose instance stands behind it can't be told.
pub(super) fn service(pair: &Pair<'_>) -> Option<Judgement> {
    let service = pair.held().find_map(|held| match &held.holder {
        Holder::Service(service) => Some(service),
        Holder::ThisInstance | Holder::ClusterNode(_) | Holder::ForeignInstance | Holder::OtherCluster(_) => None,
    })?;
    let text =
        format!("the service {service:?} holds the volume, and which instance that is can't be told; ask that service");
    Some(unknown(pair, &say("held-by-service", text)))
}

/// More holders than a volume without Multi-Attach can have.
pub(super) fn too_many(pair: &Pair<'_>) -> Option<Judgement> {
    let found = pair.found_volume()?;
    if found.multi_attach || pair.held().nth(1).is_none() {
        return None;
    }
    let names: Vec<&str> = pair.held().map(name).collect();
    let names = names.join(", ");
    if !pair.is_volume_confirmed() {
        let text = format!("EC2 lists {names} as holders of a volume without Multi-Attach; it is asked again");
        return Some(unstable(pair, &say("holders-unconfirmed", text)));
    }
    let text =
        format!("EC2 lists {names} as holders of a volume without Multi-Attach; find out in EC2 which of them has it");
    Some(drift(pair, Drift::TooManyHolders, Severity::Error, &say("too-many-holders", text)))
}

/// Another Node of this cluster has it, and the pair's instance has not.
pub(super) fn elsewhere(pair: &Pair<'_>) -> Option<Judgement> {
    let attachment = pair.attachment?;
    if pair.found_volume()?.multi_attach || pair.own().is_some() {
        return None;
    }
    let node = pair.held().find_map(|held| match &held.holder {
        Holder::ClusterNode(node) => Some(&node.node_name),
        Holder::ThisInstance | Holder::ForeignInstance | Holder::OtherCluster(_) | Holder::Service(_) => None,
    })?;
    let age = attachment.age_seconds;
    if pair.is_young() {
        let text =
            format!("EC2 has the volume on Node {node}; the VolumeAttachment is {age} s old, too young to judge");
        return Some(in_progress(pair, &say("elsewhere-young", text)));
    }
    if !pair.is_volume_confirmed() {
        let text = format!("EC2 has the volume on Node {node}, by one sweep; it is asked again");
        return Some(unstable(pair, &say("elsewhere-unconfirmed", text)));
    }
    let text =
        format!("EC2 has the volume on Node {node}; delete the pod that uses it there, or the one that waits here");
    Some(drift(pair, Drift::AttachedElsewhere, Severity::Error, &say("attached-elsewhere", text)))
}

/// What to call a holder.
fn name(held: &Ec2Attachment) -> &str {
    match (&held.instance, &held.holder) {
        (Some(instance), _) => &instance.instance_id,
        (None, Holder::ClusterNode(node)) => &node.node_name,
        (None, Holder::OtherCluster(text) | Holder::Service(text)) => text,
        (None, Holder::ThisInstance) => "this instance",
        (None, Holder::ForeignInstance) => "an unnamed instance",
    }
}
