//! What the observations of one pair say, with stale evidence already read as unknown (D-46).

use zonewarden_bindings::attachment::{
    AttachmentState, Ec2Attachment, Ec2Instance, Ec2Volume, Holder, InstanceReport, InstanceState, Lease,
    MissingInstance, MissingVolume, NodeReport, Observation, PresentNode, VolumeAttachment, VolumeReport,
};

use crate::settings::Settings;

/// An observation, and what it is read as.
pub(super) struct Pair<'a> {
    pub(super) settings: &'a Settings,
    pub(super) observation: &'a Observation,
    pub(super) attachment: Option<&'a VolumeAttachment>,
    pub(super) volume: Volume<'a>,
    pub(super) instance: Instance<'a>,
}

/// The volume at EC2.
pub(super) enum Volume<'a> {
    Unknown,
    /// The evidence has this age and is older than the VolumeAttachment.
    Stale(u32),
    Missing(&'a MissingVolume),
    Found(&'a Ec2Volume),
}

/// The instance at EC2.
pub(super) enum Instance<'a> {
    Unknown,
    /// The evidence has this age and is older than the VolumeAttachment.
    Stale(u32),
    Missing(&'a MissingInstance),
    Found(&'a Ec2Instance),
}

/// The Node of the VolumeAttachment's name, seen from the pair.
pub(super) enum Node<'a> {
    /// Nothing is known of it.
    Unknown,
    /// There is none; whether an instance bears its name.
    Absent { name_taken: bool },
    /// It is the pair's instance.
    Own(&'a PresentNode),
    /// It is another instance.
    Other(&'a PresentNode),
    /// Nobody knows which instance it is, or which the pair's is.
    Unidentified(&'a PresentNode),
}

impl<'a> Pair<'a> {
    pub(super) fn new(settings: &'a Settings, observation: &'a Observation) -> Self {
        let attachment = observation.attachment.as_ref();
        // A read that is older than the VolumeAttachment proves nothing about it (D-46).
        let stale = |age: u32| attachment.is_some_and(|attachment| age > attachment.age_seconds);
        let volume = match &observation.volume_report {
            VolumeReport::Unknown => Volume::Unknown,
            VolumeReport::Missing(missing) if stale(missing.age_seconds) => Volume::Stale(missing.age_seconds),
            VolumeReport::Found(found) if stale(found.age_seconds) => Volume::Stale(found.age_seconds),
            VolumeReport::Missing(missing) => Volume::Missing(missing),
            VolumeReport::Found(found) => Volume::Found(found),
        };
        let instance = match &observation.instance_report {
            InstanceReport::Unknown => Instance::Unknown,
            InstanceReport::Found(found) if stale(found.age_seconds) => Instance::Stale(found.age_seconds),
            InstanceReport::Missing(missing) => Instance::Missing(missing),
            InstanceReport::Found(found) => Instance::Found(found),
        };
        Self { settings, observation, attachment, volume, instance }
    }

    /// The volume, where EC2 described it.
    pub(super) const fn found_volume(&self) -> Option<&'a Ec2Volume> {
        match self.volume {
            Volume::Found(found) => Some(found),
            Volume::Unknown | Volume::Stale(_) | Volume::Missing(_) => None,
        }
    }

    /// The instance's state, where EC2 described it.
    pub(super) const fn instance_state(&self) -> Option<&'a InstanceState> {
        match self.instance {
            Instance::Found(found) => Some(&found.state),
            Instance::Unknown | Instance::Stale(_) | Instance::Missing(_) => None,
        }
    }

    /// Every attachment that DescribeVolumes lists, without those that are gone (D-13).
    pub(super) fn held(&self) -> impl Iterator<Item = &'a Ec2Attachment> + use<'a> {
        let attachments = self.found_volume().map_or(&[][..], |volume| &volume.attachments);
        attachments.iter().filter(|held| !matches!(held.state, AttachmentState::Detached))
    }

    /// The pair's own attachment at DescribeVolumes.
    pub(super) fn own(&self) -> Option<&'a Ec2Attachment> {
        self.held().find(|held| self.is_own(held))
    }

    /// Whether the attachment is that of the pair's instance. An id that is equal counts, whatever the holder is said to be.
    pub(super) fn is_own(&self, held: &Ec2Attachment) -> bool {
        matches!(held.holder, Holder::ThisInstance)
            || (held.instance.is_some() && held.instance == self.observation.instance)
    }

    /// The pair's own attachment at DescribeInstances.
    pub(super) fn mapping(&self) -> Option<&'a AttachmentState> {
        match self.instance {
            Instance::Found(found) => {
                found.mapping.as_ref().filter(|state| !matches!(state, AttachmentState::Detached))
            }
            Instance::Unknown | Instance::Stale(_) | Instance::Missing(_) => None,
        }
    }

    /// Whether two sweeps that lie apart said the same of the volume.
    pub(super) fn is_volume_confirmed(&self) -> bool {
        self.found_volume().is_some_and(|found| self.is_repeated(found.reads, found.consistent_seconds))
    }

    /// Whether two sweeps that lie apart said the same of the instance.
    pub(super) fn is_instance_confirmed(&self) -> bool {
        match self.instance {
            Instance::Found(found) => self.is_repeated(found.reads, found.consistent_seconds),
            Instance::Missing(missing) => self.is_repeated(missing.reads, missing.consistent_seconds),
            Instance::Unknown | Instance::Stale(_) => false,
        }
    }

    const fn is_repeated(&self, reads: u32, seconds: u32) -> bool {
        reads >= 2 && seconds >= self.settings.consistent_seconds
    }

    /// Whether the VolumeAttachment is too young for a negative verdict (D-47).
    pub(super) fn is_young(&self) -> bool {
        self.attachment.is_some_and(|attachment| attachment.age_seconds < self.settings.quiet_seconds)
    }

    pub(super) fn node(&self) -> Node<'a> {
        match &self.observation.node {
            NodeReport::Unknown => Node::Unknown,
            NodeReport::Absent(absent) => Node::Absent { name_taken: absent.name_taken },
            NodeReport::Present(node) => match (&node.instance, &self.observation.instance) {
                (Some(theirs), Some(ours)) if theirs == ours => Node::Own(node),
                (Some(_), Some(_)) => Node::Other(node),
                (None, _) | (_, None) => Node::Unidentified(node),
            },
        }
    }

    /// Pods of the claim on the Node. Counts that contradict each other are read as the greater one.
    pub(super) fn pods_on_node(&self) -> u32 {
        self.observation.usage.pods_on_node.max(self.observation.usage.started_on_node)
    }

    /// All pods bound to the Node's name, read in the same way.
    pub(super) fn bound_to_node(&self) -> u32 {
        self.observation.usage.bound_to_node.max(self.pods_on_node())
    }
}

/// Whether the kubelet can be believed to live and to tell the truth about its volumes: its Lease is renewed, or nobody had a
/// reason to look at it.
pub(super) const fn is_kubelet_alive(node: &PresentNode) -> bool {
    match node.lease {
        Lease::Renewed => true,
        Lease::Unknown => node.ready,
        Lease::Silent(_) => false,
    }
}
