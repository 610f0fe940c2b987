//! The safety rails: what has to hold before a remedy is carried out, whatever the policy says.
//!
//! A policy proposes; this module looks at the facts for itself. It reads the same observation that the policy was shown, which
//! the host made and no policy can change, and beside it the texts that the objects have: an instance or a volume that a policy
//! named counts only where the objects' own texts name it. Nothing here asks the policy anything.

use std::fmt;

use zonewarden_contract::attachment::AttachmentState;
use zonewarden_contract::attachment::{
    Ec2Attachment, Holder, InstanceReport, InstanceState, Lease, NodeReport, Observation, OutOfServiceTaint,
    PresentNode, VolumeReport,
};
use zonewarden_contract::types::{Remedy, VolumeState};

pub(crate) mod breaker;
pub(crate) mod budget;
mod patience;
pub(crate) mod switch;
mod texts;

pub use patience::Patience;
use switch::{Rail, Rails};
pub(crate) use texts::Texts;
use texts::names;

/// Why a remedy was not carried out: a stable code, for metrics and logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Withheld(pub &'static str);

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// What a pair's facts are, and what the host knows beside them.
#[derive(Clone, Debug)]
pub(crate) struct Case<'a> {
    pub(crate) observation: &'a Observation,
    pub(crate) texts: Texts<'a>,
    /// For how long the pair has been in its generation.
    pub(crate) settled_seconds: u32,
    /// Whether the Lease was silent for as long as its own duration asks.
    pub(crate) silent: bool,
    /// Whether the Lease was renewed since EC2 was first seen to say what it says of the volume.
    pub(crate) renewed_since: bool,
    /// Whether the instance that the Node is now has the volume among its block devices, by DescribeInstances; `None` where
    /// nobody knows.
    pub(crate) node_has_volume: Option<bool>,
    pub(crate) patience: Patience,
    pub(crate) rails: &'a Rails,
}

/// Whether a remedy about a pair may be carried out, as far as its facts go.
pub(crate) fn permit(case: &Case<'_>, remedy: Remedy) -> Result<(), Withheld> {
    // Our own taint is taken off whoever holds the volume.
    if remedy != Remedy::RemoveOutOfServiceTaint {
        held_within(case)?;
    }
    match remedy {
        Remedy::AddOutOfServiceTaint => add_taint(case),
        Remedy::RemoveOutOfServiceTaint => remove_taint(case),
        Remedy::DeleteDeadAttachment => delete_dead(case),
        Remedy::DeleteDetachedAttachment => delete_detached(case),
        Remedy::DeleteLeakedAttachment => delete_leaked(case),
        Remedy::ForceDeletePods => delete_pods(case),
        Remedy::None | Remedy::Event | Remedy::SetLabels | Remedy::SetNodeAffinity => Err(Withheld("not-about-a-pair")),
    }
}

/// A volume that an instance outside this cluster holds is its holder's: a hard stop, whatever else is proven.
fn held_within(case: &Case<'_>) -> Result<(), Withheld> {
    let VolumeReport::Found(volume) = &case.observation.volume_report else { return Ok(()) };
    let holders = || volume.attachments.iter().filter(|held| holds(held)).map(|held| &held.holder);
    if holders().any(|holder| matches!(holder, Holder::OtherCluster(_))) {
        return Err(Withheld("held-by-another-cluster"));
    }
    if holders().any(|holder| matches!(holder, Holder::ForeignInstance)) {
        return Err(Withheld("held-outside-the-cluster"));
    }
    Ok(())
}

fn add_taint(case: &Case<'_>) -> Result<(), Withheld> {
    prove_death(case)?;
    let node = own_node(case)?;
    case.demand(Rail::TaintOnce, node.taint == OutOfServiceTaint::Absent, "taint-there-already")
}

fn remove_taint(case: &Case<'_>) -> Result<(), Withheld> {
    let NodeReport::Present(node) = &case.observation.node else { return Err(Withheld("node-absent")) };
    case.demand(Rail::OurTaint, node.taint == OutOfServiceTaint::Ours, "taint-not-ours")?;
    case.demand(Rail::Renewed, node.lease == Lease::Renewed, "lease-not-renewed")
}

fn delete_dead(case: &Case<'_>) -> Result<(), Withheld> {
    existing(case)?;
    prove_death(case)?;
    case.demand(Rail::NoPodBound, case.observation.usage.bound_to_node == 0, "pods-bound-to-the-name")?;
    match &case.observation.node {
        NodeReport::Present(node) => {
            case.demand(Rail::NotInUse, !node.volume_in_use || is_own(case, node), "volume-in-use")
        }
        NodeReport::Absent(_) | NodeReport::Unknown => Ok(()),
    }
}

fn delete_pods(case: &Case<'_>) -> Result<(), Withheld> {
    prove_death(case)?;
    match &case.observation.node {
        NodeReport::Present(node) => {
            own_node(case)?;
            case.demand(Rail::TaintFirst, node.taint != OutOfServiceTaint::Absent, "taint-not-in-place")
        }
        NodeReport::Absent(_) => Ok(()),
        NodeReport::Unknown => Err(Withheld("node-unknown")),
    }
}

fn delete_detached(case: &Case<'_>) -> Result<(), Withheld> {
    let attachment = existing(case)?;
    if !attachment.attached {
        return Err(Withheld("not-attached-for-kubernetes"));
    }
    named_by_texts(case)?;
    let age = attachment.age_seconds.min(case.settled_seconds);
    case.demand(Rail::Quiet, age >= case.patience.quiet_seconds, "too-young")?;
    let VolumeReport::Found(volume) = &case.observation.volume_report else { return Err(Withheld("volume-unknown")) };
    let free = volume.state == VolumeState::Available && !volume.attachments.iter().any(holds);
    case.demand(Rail::AttachedNowhere, free, "attached-somewhere")?;
    case.demand(Rail::TwoSweeps, is_repeated(case, volume.reads, volume.consistent_seconds), "not-seen-twice")?;
    let NodeReport::Present(node) = &case.observation.node else { return Err(Withheld("node-absent")) };
    if is_own(case, node) {
        own_node(case)?;
        let InstanceReport::Found(instance) = &case.observation.instance_report else {
            return Err(Withheld("instance-unknown"));
        };
        let mapped = instance.mapping.as_ref().is_some_and(|state| *state != AttachmentState::Detached);
        case.demand(Rail::BothApis, !mapped, "apis-disagree")?;
        case.demand(Rail::TwoSweeps, is_repeated(case, instance.reads, instance.consistent_seconds), "not-seen-twice")?;
    } else {
        // A new instance has the name, and its pods wait for what the attachment of the dead one holds up.
        prove_death(case)?;
        case.demand(Rail::BothApis, case.node_has_volume == Some(false), "apis-disagree")?;
    }
    // A kubelet that was cut off before that may have started a container of which nobody has heard.
    case.demand(Rail::KubeletAlive, node.ready && case.renewed_since, "kubelet-not-heard-since")?;
    let usage = &case.observation.usage;
    let waits = usage.started_on_node == 0 && usage.pods_on_node > 0;
    case.demand(Rail::PodsWait, waits, "pods-started-or-none")
}

fn delete_leaked(case: &Case<'_>) -> Result<(), Withheld> {
    let attachment = existing(case)?;
    let age = attachment.age_seconds.min(case.settled_seconds);
    case.demand(Rail::Quiet, age >= case.patience.quiet_seconds, "too-young")?;
    let usage = &case.observation.usage;
    let unused =
        usage.pods_on_node == 0 && usage.pods_elsewhere == 0 && usage.unused_seconds >= case.patience.leaked_seconds;
    case.demand(Rail::Unused, unused, "used-lately")?;
    match &case.observation.node {
        NodeReport::Present(node) => {
            case.demand(Rail::NotInUse, !node.volume_in_use && !node.volume_attached, "listed-by-the-node")
        }
        NodeReport::Absent(_) | NodeReport::Unknown => Err(Withheld("node-absent")),
    }
}

/// The proof of a death of exactly the pair's instance.
pub(crate) fn prove_death(case: &Case<'_>) -> Result<(), Withheld> {
    named_by_texts(case)?;
    let (dead, instance_reads, instance_seconds) = match &case.observation.instance_report {
        InstanceReport::Found(found) => {
            (found.state == InstanceState::Terminated, found.reads, found.consistent_seconds)
        }
        InstanceReport::Missing(missing) => (missing.known_before, missing.reads, missing.consistent_seconds),
        InstanceReport::Unknown => return Err(Withheld("instance-unknown")),
    };
    case.demand(Rail::Terminated, dead, "instance-not-terminated")?;
    // EC2 goes back in time: one answer alone is none.
    case.demand(Rail::ReadAgain, instance_reads >= 2, "not-seen-twice")?;
    let VolumeReport::Found(volume) = &case.observation.volume_report else { return Err(Withheld("volume-unknown")) };
    let instance = &case.observation.instance;
    let released = !volume.attachments.iter().any(|held| holds(held) && held.instance == *instance);
    case.demand(Rail::Released, released, "not-released")?;
    match &case.observation.node {
        NodeReport::Present(node) if is_own(case, node) => {
            case.demand(Rail::Silence, case.silent, "kubelet-not-silent")
        }
        NodeReport::Present(node) if node.instance.is_none() => Err(Withheld("node-instance-unknown")),
        NodeReport::Present(_) => {
            twice(case, (volume.reads, volume.consistent_seconds), (instance_reads, instance_seconds))
        }
        NodeReport::Absent(absent) => {
            case.demand(Rail::FreeName, !absent.name_taken, "name-taken")?;
            twice(case, (volume.reads, volume.consistent_seconds), (instance_reads, instance_seconds))
        }
        NodeReport::Unknown => Err(Withheld("node-unknown")),
    }
}

/// Without a Lease of the instance's own both of EC2's answers must have come twice.
fn twice(case: &Case<'_>, volume: (u32, u32), instance: (u32, u32)) -> Result<(), Withheld> {
    let twice = is_repeated(case, volume.0, volume.1) && is_repeated(case, instance.0, instance.1);
    case.demand(Rail::TwoSweeps, twice, "not-seen-twice")
}

const fn is_repeated(case: &Case<'_>, reads: u32, seconds: u32) -> bool {
    reads >= 2 && seconds >= case.patience.consistent_seconds
}

fn holds(held: &Ec2Attachment) -> bool {
    held.state != AttachmentState::Detached
}

fn is_own(case: &Case<'_>, node: &PresentNode) -> bool {
    node.instance.is_some() && node.instance == case.observation.instance
}

/// The Node, where it is the pair's instance and every text of it says so.
fn own_node<'a>(case: &Case<'a>) -> Result<&'a PresentNode, Withheld> {
    let NodeReport::Present(node) = &case.observation.node else { return Err(Withheld("node-absent")) };
    let named = case.observation.instance.as_ref().is_some_and(|instance| case.texts.all_name(instance));
    case.demand(Rail::SameInstance, is_own(case, node) && named, "other-instance")?;
    Ok(node)
}

/// The VolumeAttachment, where nobody is deleting it already.
fn existing<'a>(case: &Case<'a>) -> Result<&'a zonewarden_contract::attachment::VolumeAttachment, Withheld> {
    let attachment = case.observation.attachment.as_ref().ok_or(Withheld("no-attachment"))?;
    if attachment.deleting_seconds.is_some() {
        return Err(Withheld("deleting-already"));
    }
    Ok(attachment)
}

/// A policy says which instance a pair is about. It is believed only where the objects' own texts name that instance.
fn named_by_texts(case: &Case<'_>) -> Result<(), Withheld> {
    let Some(instance) = &case.observation.instance else { return Err(Withheld("instance-unknown")) };
    let named = match (case.texts.node_id, case.texts.provider_id) {
        (Some(node_id), _) => names(node_id, &instance.instance_id),
        (None, Some(provider_id)) => names(provider_id, &instance.instance_id),
        (None, None) => false,
    };
    case.demand(Rail::Named, named, "not-named-by-the-objects")
}

impl Case<'_> {
    fn demand(&self, rail: Rail, holds: bool, code: &'static str) -> Result<(), Withheld> {
        self.rails.demand(rail, holds, code)
    }
}

#[cfg(test)]
mod tests;
