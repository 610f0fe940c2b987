//! A pair of a volume and an instance, and its generation.

use zonewarden_cluster::records::VolumeAttachment;

use super::claims::{InstanceClaim, Repeated, VolumeClaim};
use crate::clock::Moment;

/// The sides of a VolumeAttachment whose change moves the generation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Phase {
    pub(crate) uid: String,
    pub(crate) attached: bool,
    pub(crate) deleting: bool,
}

impl Phase {
    /// The phase of a VolumeAttachment.
    pub(crate) fn of(attachment: &VolumeAttachment) -> Self {
        let deleting = attachment.identity.is_deleting();
        Self { uid: attachment.identity.uid.clone(), attached: attachment.attached, deleting }
    }
}

/// What is known of a pair in its generation.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) phase: Option<Phase>,
    /// Moves when an attach or a detach starts or ends.
    pub(super) generation: u64,
    /// When it moved last. Evidence that was asked for earlier is not about this generation.
    pub(super) since: Moment,
    /// Whether EC2 ever took back what it said of the pair.
    pub(super) contradicted: bool,
    pub(super) volume: Option<Repeated<VolumeClaim>>,
    pub(super) instance: Option<Repeated<InstanceClaim>>,
}

impl Pair {
    pub(super) const fn new(phase: Option<Phase>, generation: u64, since: Moment) -> Self {
        Self { phase, generation, since, contradicted: false, volume: None, instance: None }
    }
}
