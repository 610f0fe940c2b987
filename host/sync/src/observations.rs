//! What is observed about each pair of a volume and an instance.

use std::collections::HashSet;

use zonewarden_cluster::records::{AttachedSource, AttachmentError, Node, VolumeAttachment};
use zonewarden_contract::attachment::{
    self, AbsentNode, Ec2Attachment, Ec2Instance, Ec2Volume, Holder, InstanceReport, InstanceState, Lease,
    MissingVolume, NodeReport, Observation, OutOfServiceTaint, PresentNode, Usage, VolumeReport,
};
use zonewarden_contract::types::{AwsVolumeId, InstanceId, NodeName, VolumeSource};
use zonewarden_ec2::{self as ec2, Evidence};

use crate::Survey;
use crate::occupancy::User;

/// The taint that tells Kubernetes that a machine is off.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";
/// The duration of a kubelet's Lease where it names none, and the least time that counts as silence.
const LEASE_SECONDS: u32 = 40;
const LEAST_SILENCE_SECONDS: u32 = 15;

/// Files do not change while they are looked at: what they say was said before and will be said again.
const SETTLED_READS: u32 = 3;
const SETTLED_SECONDS: u32 = 3_600;

/// A pair before it is judged.
#[derive(Debug)]
pub(crate) struct Pair<'a> {
    pub(crate) attachment: Option<&'a VolumeAttachment>,
    pub(crate) node: Option<NodeName>,
    pub(crate) observation: Observation,
}

impl Survey<'_> {
    /// A pair for each VolumeAttachment of a volume that the policy handles.
    pub(crate) fn pairs(&self) -> Vec<Pair<'_>> {
        self.cluster.attachments().filter_map(|attachment| self.pair(attachment)).collect()
    }

    fn pair<'a>(&'a self, attachment: &'a VolumeAttachment) -> Option<Pair<'a>> {
        let (source, persistent_volume) = match &attachment.source {
            AttachedSource::PersistentVolume(name) => {
                (self.cluster.volume(name).map(|volume| &volume.source), Some(name.clone()))
            }
            AttachedSource::Inline(source) => (Some(source), None),
        };
        let volume = source.and_then(|source| self.identities.identified(source)).map(|volume| volume.volume.clone());
        let ours = self.policy.info().csi_drivers.contains(&attachment.attacher);
        if volume.is_none() && !(ours && source.is_none()) {
            return None;
        }
        let instance = attachment
            .node_id
            .as_deref()
            .and_then(|node_id| self.identities.instance_of_node_id(node_id))
            .or_else(|| self.identities.instance_of(&attachment.node))
            .cloned();
        let driver = self.cluster.csi_driver(&attachment.attacher);
        // Without the PersistentVolume nobody knows the volume; what Kubernetes believes can still be told.
        let volume = volume.unwrap_or(AwsVolumeId { aws_volume_id: String::new() });
        let observation = Observation {
            volume_report: self.volume_report(&volume, instance.as_ref()),
            instance_report: self.instance_report(instance.as_ref(), &volume),
            node: self.node_report(&attachment.node, &attachment.attacher, &volume, source),
            usage: self.usage(&attachment.node, &volume),
            persistent_volume_missing: persistent_volume.is_some() && source.is_none(),
            attach_required: driver.is_none_or(|driver| driver.attach_required),
            attachment: Some(self.volume_attachment(attachment)),
            attributes: Vec::new(),
            volume,
            instance,
            persistent_volume,
        };
        Some(Pair { attachment: Some(attachment), node: Some(attachment.node.clone()), observation })
    }

    /// A pair for each attachment that EC2 knows, of a volume that the cluster names, on an instance that is a Node, and for
    /// which there is no VolumeAttachment. An instance's own disks are named by no object of the cluster, and left alone.
    pub(crate) fn orphans<'a>(&'a self, known: &[Pair<'_>]) -> Vec<Pair<'a>> {
        let known: HashSet<(&AwsVolumeId, &InstanceId)> = known
            .iter()
            .filter_map(|pair| Some((&pair.observation.volume, pair.observation.instance.as_ref()?)))
            .collect();
        let mut seen = HashSet::new();
        let mut orphans = Vec::new();
        for pv in self.cluster.volumes() {
            let Some(volume) = self.identities.identified(&pv.source) else { continue };
            let Some((found, _)) = self.facts.volume(&volume.volume) else { continue };
            for instance in found.holders().filter_map(|holder| holder.instance.as_ref()) {
                let pair = (&volume.volume, instance);
                let Some(node) = self.identities.node_of(instance) else { continue };
                if !known.contains(&pair) && seen.insert(pair) {
                    orphans.push(self.orphan(&pv.identity.name.name, &pv.source, pair, node));
                }
            }
        }
        orphans
    }

    fn orphan(
        &self,
        persistent_volume: &str,
        source: &VolumeSource,
        (volume, instance): (&AwsVolumeId, &InstanceId),
        node: &NodeName,
    ) -> Pair<'_> {
        let driver = self.policy.info().csi_drivers.first().cloned().unwrap_or_default();
        let attach_required = self.cluster.csi_driver(&driver).is_none_or(|driver| driver.attach_required);
        let observation = Observation {
            volume: volume.clone(),
            instance: Some(instance.clone()),
            persistent_volume: Some(persistent_volume.to_owned()),
            persistent_volume_missing: false,
            attach_required,
            attachment: None,
            volume_report: self.volume_report(volume, Some(instance)),
            instance_report: self.instance_report(Some(instance), volume),
            node: self.node_report(node, &driver, volume, Some(source)),
            usage: self.usage(node, volume),
            attributes: Vec::new(),
        };
        Pair { attachment: None, node: Some(node.clone()), observation }
    }

    fn volume_attachment(&self, attachment: &VolumeAttachment) -> attachment::VolumeAttachment {
        let message = |error: &Option<AttachmentError>| error.as_ref().map(|error| error.message.clone());
        let detach_error = attachment.detach_error.as_ref();
        attachment::VolumeAttachment {
            name: attachment.identity.name.name.to_string(),
            node: attachment.node.clone(),
            attached: attachment.attached,
            age_seconds: self.facts.age(attachment.identity.created),
            deleting_seconds: attachment.identity.deleted.map(|deleted| self.facts.age(Some(deleted))),
            attach_error: message(&attachment.attach_error),
            detach_error: message(&attachment.detach_error),
            // The object keeps the time of the last error only; the deletion is when the detaches began.
            detach_error_seconds: detach_error.map_or(0, |_| self.facts.age(attachment.identity.deleted)),
            device: attachment.device.clone(),
        }
    }

    fn volume_report(&self, volume: &AwsVolumeId, instance: Option<&InstanceId>) -> VolumeReport {
        match self.facts.volume_evidence(volume) {
            None | Some(Evidence::Unknown(_)) => VolumeReport::Unknown,
            Some(missing @ Evidence::Missing { absent_by_filter, .. }) => VolumeReport::Missing(MissingVolume {
                age_seconds: missing.age_seconds(self.facts.now).unwrap_or_default(),
                reads: SETTLED_READS,
                consistent_seconds: SETTLED_SECONDS,
                absent_by_filter: *absent_by_filter,
            }),
            Some(found @ Evidence::Found { record, .. }) => VolumeReport::Found(Ec2Volume {
                age_seconds: found.age_seconds(self.facts.now).unwrap_or_default(),
                state: record.state.clone(),
                multi_attach: record.multi_attach,
                attachments: record.attachments.iter().map(|held| self.ec2_attachment(held, instance)).collect(),
                reads: SETTLED_READS,
                consistent_seconds: SETTLED_SECONDS,
            }),
        }
    }

    fn ec2_attachment(&self, held: &ec2::Attachment, this: Option<&InstanceId>) -> Ec2Attachment {
        let holder = match &held.instance {
            None => Holder::Service(
                held.owning_service.clone().or_else(|| held.associated_resource.clone()).unwrap_or_default(),
            ),
            Some(instance) if Some(instance) == this => Holder::ThisInstance,
            Some(instance) => match self.identities.node_of(instance) {
                Some(node) => Holder::ClusterNode(node.clone()),
                None => Holder::ForeignInstance,
            },
        };
        Ec2Attachment {
            instance: held.instance.clone(),
            holder,
            state: held.state.clone(),
            seconds: self.facts.age(held.attached),
            device: held.device.clone(),
        }
    }

    /// One that a snapshot does not hold is unknown, never gone: a listing may be filtered.
    fn instance_report(&self, instance: Option<&InstanceId>, volume: &AwsVolumeId) -> InstanceReport {
        let Some((found, age_seconds)) = instance.and_then(|instance| self.facts.instance(instance)) else {
            return InstanceReport::Unknown;
        };
        InstanceReport::Found(Ec2Instance {
            age_seconds,
            state: found.state.clone(),
            mapping: found.mapping(volume).cloned(),
            reads: SETTLED_READS,
            consistent_seconds: SETTLED_SECONDS,
        })
    }

    fn node_report(
        &self,
        name: &NodeName,
        driver: &str,
        volume: &AwsVolumeId,
        source: Option<&VolumeSource>,
    ) -> NodeReport {
        let Some(node) = self.cluster.node(&name.node_name) else {
            let bears_name = |instance: &&ec2::Instance| {
                matches!(instance.state, InstanceState::Pending | InstanceState::Running)
                    && instance.private_dns_name.as_deref() == Some(name.node_name.as_str())
            };
            let name_taken = self.facts.instances().any(|instance| bears_name(&instance));
            return NodeReport::Absent(AbsentNode { name_taken, seconds: SETTLED_SECONDS });
        };
        let names = self.unique_names(driver, volume, source);
        NodeReport::Present(PresentNode {
            age_seconds: self.facts.age(node.identity.created),
            instance: self.identities.instance_of(name).cloned(),
            ready: node.ready,
            lease: self.lease(name),
            taint: taint(node),
            volume_in_use: node.volumes_in_use.iter().any(|used| names.contains(used)),
            volume_attached: node.volumes_attached.iter().any(|attached| names.contains(&attached.name)),
        })
    }

    /// The names under which a Node's status can list a volume: by the CSI driver, or by the in-tree plugin.
    fn unique_names(&self, driver: &str, volume: &AwsVolumeId, source: Option<&VolumeSource>) -> Vec<String> {
        let raw = match source {
            Some(VolumeSource::Csi(csi)) => Some(&csi.volume_handle),
            Some(VolumeSource::AwsElasticBlockStore(id) | VolumeSource::GcePersistentDisk(id)) => Some(id),
            Some(VolumeSource::Other(_)) | None => None,
        };
        let mut names = vec![format!("kubernetes.io/csi/{driver}^{}", volume.aws_volume_id)];
        if let Some(raw) = raw.map(|raw| &raw.kubernetes_volume_id) {
            names.push(format!("kubernetes.io/csi/{driver}^{raw}"));
            names.extend(self.policy.info().in_tree_plugins.iter().map(|plugin| format!("{plugin}/{raw}")));
        }
        names
    }

    /// What the Leases of a world on files tell: how far a Node's lies behind the newest of the others. Nobody knows when the
    /// files were written, so a Lease alone tells nothing.
    fn lease(&self, node: &NodeName) -> Lease {
        let own = self.cluster.lease(&node.node_name);
        let others = self.cluster.leases().filter(|lease| *lease.identity.name.name != *node.node_name);
        let newest = others.filter_map(|lease| lease.renewed).max();
        let (Some(own), Some(newest)) = (own, newest) else { return Lease::Unknown };
        let Some(renewed) = own.renewed else { return Lease::Unknown };
        let silent = newest.as_second().saturating_sub(renewed.as_second()).max(0);
        let silent = u32::try_from(silent).unwrap_or(u32::MAX);
        // A kubelet renews every quarter of the duration; three of eight parts without a renewal are silence.
        let duration = own.duration_seconds.unwrap_or(LEASE_SECONDS);
        if silent >= (duration.saturating_mul(3) / 8).max(LEAST_SILENCE_SECONDS) {
            Lease::Silent(silent)
        } else {
            Lease::Renewed
        }
    }

    fn usage(&self, node: &NodeName, volume: &AwsVolumeId) -> Usage {
        let users = self.occupancy.users(volume);
        let count = |counts: &dyn Fn(&User) -> bool| {
            u32::try_from(users.iter().filter(|user| counts(user)).count()).unwrap_or(u32::MAX)
        };
        let here = |user: &User| user.node.as_ref() == Some(node);
        Usage {
            pods_on_node: count(&here),
            started_on_node: count(&|user| here(user) && user.started),
            pods_elsewhere: count(&|user| !here(user)),
            unused_seconds: if users.is_empty() { SETTLED_SECONDS } else { 0 },
            bound_to_node: self.occupancy.bound_to(node),
        }
    }
}

/// A projected Node does not say who put the taint there, so it counts as somebody else's, which nobody takes off.
fn taint(node: &Node) -> OutOfServiceTaint {
    let tainted = node.taints.iter().any(|taint| taint.key == OUT_OF_SERVICE);
    if tainted { OutOfServiceTaint::Other } else { OutOfServiceTaint::Absent }
}
