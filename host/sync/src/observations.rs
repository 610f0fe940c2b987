//! What is observed about each pair of a volume and an instance.

use std::collections::HashSet;

use zonewarden_cluster::Index;
use zonewarden_cluster::records::{AttachedSource, Node, VolumeAttachment};
use zonewarden_contract::attachment::{
    self, AbsentNode, Ec2Attachment, Ec2Instance, Ec2Volume, Holder, InstanceReport, MissingVolume, NodeReport,
    Observation, OutOfServiceTaint, PresentNode, Usage, VolumeReport,
};
use zonewarden_contract::identity::IdentifiedVolume;
use zonewarden_contract::types::{AwsVolumeId, InstanceId, NodeName, VolumeSource};
use zonewarden_ec2::{self as ec2, Evidence};

use crate::Survey;
use crate::history::History;
use crate::identities::Identities;
use crate::occupancy::User;

/// The taint that tells Kubernetes that a machine is off.
pub(crate) const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";
/// A pair before it is judged.
#[derive(Debug)]
pub(crate) struct Pair<'a> {
    pub(crate) attachment: Option<&'a VolumeAttachment>,
    pub(crate) node: Option<NodeName>,
    pub(crate) observation: Observation,
}

impl Survey<'_> {
    /// A pair for each VolumeAttachment on some Nodes of a volume that the policy handles.
    pub(crate) fn pairs(&self, on: &dyn Fn(&NodeName) -> bool) -> Vec<Pair<'_>> {
        let attachments = self.cluster.attachments().filter(|attachment| on(&attachment.node));
        attachments.filter_map(|attachment| self.pair(attachment)).collect()
    }

    pub(crate) fn pair<'a>(&'a self, attachment: &'a VolumeAttachment) -> Option<Pair<'a>> {
        let source = source_of(self.cluster, attachment);
        let persistent_volume = match &attachment.source {
            AttachedSource::PersistentVolume(name) => Some(name.clone()),
            AttachedSource::Inline(_) => None,
        };
        let volume = identified(self.cluster, &self.identities, attachment).map(|volume| volume.volume.clone());
        let ours = self.policy.info().csi_drivers.iter().any(|driver| **driver == *attachment.attacher);
        if volume.is_none() && !(ours && source.is_none()) {
            return None;
        }
        let instance = self.instance_of(attachment).cloned();
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

    /// The instance that a VolumeAttachment was made for: by its node id, by its Node, or by what that Node was before it went.
    fn instance_of(&self, attachment: &VolumeAttachment) -> Option<&InstanceId> {
        self.identities.instance_of_attachment(attachment).or_else(|| match self.history {
            History::Settled => None,
            History::Live(watched, _) => watched.last_instance_of(&attachment.node),
        })
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
        let detach_error = attachment.detach_error.as_ref();
        attachment::VolumeAttachment {
            name: attachment.identity.name.name.to_string(),
            node: attachment.node.clone(),
            attached: attachment.attached,
            age_seconds: self.facts.age(attachment.identity.created),
            deleting_seconds: attachment.identity.deleted.map(|deleted| self.facts.age(Some(deleted))),
            attach_error: attachment.attach_error.as_deref().map(str::to_owned),
            detach_error: detach_error.map(|message| message.to_string()),
            // The object keeps the time of the last error only; the deletion is when the detaches began.
            detach_error_seconds: detach_error.map_or(0, |_| {
                self.history.detach_error_seconds(attachment, self.facts.age(attachment.identity.deleted))
            }),
            device: attachment.device.as_deref().map(str::to_owned),
        }
    }

    fn volume_report(&self, volume: &AwsVolumeId, instance: Option<&InstanceId>) -> VolumeReport {
        let Some(evidence) = self.facts.volume_evidence(volume) else { return VolumeReport::Unknown };
        let key = instance.map(|instance| (volume.clone(), instance.clone()));
        let Some(run) = self.history.volume_run(key.as_ref()) else { return VolumeReport::Unknown };
        let age_seconds = evidence.age_seconds(self.facts.now).unwrap_or_default();
        match evidence {
            Evidence::Unknown(_) => VolumeReport::Unknown,
            Evidence::Missing { absent_by_filter, .. } => VolumeReport::Missing(MissingVolume {
                age_seconds,
                reads: run.reads,
                consistent_seconds: run.seconds,
                absent_by_filter: *absent_by_filter,
            }),
            Evidence::Found { record, .. } => VolumeReport::Found(Ec2Volume {
                age_seconds,
                state: record.state.clone(),
                multi_attach: record.multi_attach,
                attachments: record
                    .attachments
                    .iter()
                    .map(|held| self.ec2_attachment(volume, held, instance))
                    .collect(),
                reads: run.reads,
                consistent_seconds: run.seconds,
            }),
        }
    }

    fn ec2_attachment(&self, volume: &AwsVolumeId, held: &ec2::Attachment, this: Option<&InstanceId>) -> Ec2Attachment {
        let holder = match &held.instance {
            None => Holder::Service(
                held.owning_service.clone().or_else(|| held.associated_resource.clone()).unwrap_or_default(),
            ),
            Some(instance) if Some(instance) == this => Holder::ThisInstance,
            Some(instance) => match self.node_of(instance) {
                Some(node) => Holder::ClusterNode(node.clone()),
                None => self.other_cluster(instance).map_or(Holder::ForeignInstance, Holder::OtherCluster),
            },
        };
        Ec2Attachment {
            instance: held.instance.clone(),
            holder,
            state: held.state.clone(),
            seconds: self.history.held_seconds(volume, held.instance.as_ref(), self.facts.age(held.attached)),
            device: held.device.clone(),
        }
    }

    /// One that a snapshot does not hold is unknown, never gone: a listing may be filtered.
    fn instance_report(&self, instance: Option<&InstanceId>, volume: &AwsVolumeId) -> InstanceReport {
        let Some(instance) = instance else { return InstanceReport::Unknown };
        let key = (volume.clone(), instance.clone());
        let Some((found, age_seconds)) = self.facts.instance(instance) else {
            let missing = self.history.missing_instance(Some(&key));
            return missing.map_or(InstanceReport::Unknown, InstanceReport::Missing);
        };
        let Some(run) = self.history.instance_run(Some(&key)) else { return InstanceReport::Unknown };
        InstanceReport::Found(Ec2Instance {
            age_seconds,
            state: found.state.clone(),
            mapping: found.mapping(volume).cloned(),
            reads: run.reads,
            consistent_seconds: run.seconds,
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
            let name_taken = self.history.is_name_taken(name, self.facts.is_name_taken(name));
            return NodeReport::Absent(AbsentNode { name_taken, seconds: self.history.absent_seconds(name) });
        };
        let names = self.unique_names(driver, volume, source);
        NodeReport::Present(PresentNode {
            age_seconds: self.facts.age(node.identity.created),
            instance: self.identities.instance_of(name).cloned(),
            ready: node.ready,
            lease: self.history.lease(self.cluster, name),
            taint: taint(node),
            volume_in_use: node.volumes_in_use.iter().any(|used| names.contains(used)),
            volume_attached: node.volumes_attached.iter().any(|attached| names.contains(attached)),
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
            unused_seconds: if users.is_empty() { self.history.unused_seconds(volume) } else { 0 },
            bound_to_node: self.occupancy.bound_to(node),
        }
    }
}

/// The taint is ours where our annotation names this very Node: one that was copied to another Node's manifest is not.
pub(crate) fn taint(node: &Node) -> OutOfServiceTaint {
    if !node.taints.iter().any(|taint| taint.key == OUT_OF_SERVICE) {
        return OutOfServiceTaint::Absent;
    }
    match &node.taint_annotation {
        Some(uid) if *uid == node.identity.uid => OutOfServiceTaint::Ours,
        Some(_) | None => OutOfServiceTaint::Other,
    }
}

/// The volume of a VolumeAttachment, where the policy handles it and the volume's own driver attaches it. What the attacher of
/// another driver does about the volume is between the two of them; in-tree volumes name no driver.
pub(crate) fn identified<'a>(
    cluster: &Index,
    identities: &'a Identities,
    attachment: &VolumeAttachment,
) -> Option<&'a IdentifiedVolume> {
    let source = source_of(cluster, attachment)?;
    let is_own = match source {
        VolumeSource::Csi(csi) => *csi.driver == *attachment.attacher,
        VolumeSource::AwsElasticBlockStore(_) | VolumeSource::GcePersistentDisk(_) | VolumeSource::Other(_) => true,
    };
    identities.identified(source).filter(|_| is_own)
}

/// What a VolumeAttachment attaches, where the cluster has it.
fn source_of<'a>(cluster: &'a Index, attachment: &'a VolumeAttachment) -> Option<&'a VolumeSource> {
    match &attachment.source {
        AttachedSource::PersistentVolume(name) => cluster.volume(name).map(|volume| &volume.source),
        AttachedSource::Inline(source) => Some(source),
    }
}
