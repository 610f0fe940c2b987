//! EC2 as the host is shown it: late, from an older time, in part, or not as it is.

use zonewarden_contract::attachment::{AttachmentState, InstanceState};
use zonewarden_contract::types::{AwsVolumeId, InstanceId, VolumeState};
use zonewarden_ec2::{Attachment, BlockDevice, Evidence, Instance, Question, Sweep, UnknownCause, Volume};

use super::world::{Ec2, World};

/// How one read is distorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lens {
    /// So many seconds old.
    pub(super) behind: usize,
    /// Nothing is answered.
    pub(super) throttled: bool,
    /// This instance is said to be terminated and to have let go of everything.
    pub(super) lie: Option<String>,
    /// Only DescribeVolumes says so.
    pub(super) volumes_only: bool,
    /// Only DescribeInstances says so.
    pub(super) instances_only: bool,
    /// Everything is said not to exist.
    pub(super) nonsense: bool,
    /// Every volume is said to be free, on instances that run.
    pub(super) all_free: bool,
}

impl World {
    /// What a sweep answers through a lens.
    pub(super) fn sweep(&self, question: &Question, lens: &Lens) -> Sweep {
        let past = &self.ec2_past;
        let ec2 = &past[past.len().saturating_sub(1 + lens.behind)];
        let observed_at = self.calendar();
        let missing = || (true, observed_at);
        let volume = |id: &AwsVolumeId| {
            if lens.throttled {
                return Evidence::Unknown(UnknownCause::NotListed);
            }
            match (ec2.holders.get(&id.aws_volume_id), lens.nonsense) {
                (Some(holder), false) => {
                    Evidence::Found { observed_at, record: described(id, holder.as_deref(), lens) }
                }
                (None, _) | (_, true) => {
                    let (absent_by_filter, observed_at) = missing();
                    Evidence::Missing { observed_at, absent_by_filter }
                }
            }
        };
        let instance = |id: &InstanceId| {
            if lens.throttled {
                return Evidence::Unknown(UnknownCause::NotListed);
            }
            match (ec2.instances.get(&id.instance_id), lens.nonsense) {
                (Some(known), false) => Evidence::Found { observed_at, record: shown(id, known, ec2, lens) },
                (None, _) | (_, true) => Evidence::Missing { observed_at, absent_by_filter: true },
            }
        };
        let names = question.names.iter().map(|name| {
            let bears = |(instance, (state, node)): (&String, &(InstanceState, String))| {
                *node == name.node_name && *state == InstanceState::Running && lens.lie.as_ref() != Some(instance)
            };
            (!lens.throttled).then(|| !lens.nonsense && ec2.instances.iter().any(bears))
        });
        Sweep {
            volumes: question.volumes.iter().map(volume).collect(),
            instances: question.instances.iter().map(instance).collect(),
            names: names.collect(),
            problems: Vec::new(),
        }
    }
}

fn described(id: &AwsVolumeId, holder: Option<&str>, lens: &Lens) -> Volume {
    let lets_go = |holder: &str| !lens.instances_only && lens.lie.as_deref() == Some(holder);
    let holder = holder.filter(|holder| !lens.all_free && !lets_go(holder));
    let attachments = holder.map(|instance| Attachment {
        instance: Some(InstanceId { instance_id: instance.to_owned() }),
        state: AttachmentState::Attached,
        device: None,
        attached: None,
        associated_resource: None,
        owning_service: None,
    });
    Volume {
        id: id.clone(),
        zone: None,
        state: if holder.is_some() { VolumeState::InUse } else { VolumeState::Available },
        multi_attach: false,
        attachments: attachments.into_iter().collect(),
        attributes: Vec::new(),
        tags: Vec::new(),
    }
}

fn shown(id: &InstanceId, (state, node): &(InstanceState, String), ec2: &Ec2, lens: &Lens) -> Instance {
    let is_lie = lens.lie.as_ref() == Some(&id.instance_id) && !lens.volumes_only;
    let held = ec2.holders.iter().filter(|(_, holder)| holder.as_ref() == Some(&id.instance_id));
    let block_devices = held.filter(|_| !is_lie && !lens.all_free).map(|(volume, _)| BlockDevice {
        device: None,
        volume: AwsVolumeId { aws_volume_id: volume.clone() },
        state: AttachmentState::Attached,
    });
    Instance {
        id: id.clone(),
        state: if is_lie { InstanceState::Terminated } else { state.clone() },
        zone: None,
        private_dns_name: (*state != InstanceState::Terminated).then(|| node.clone()),
        tags: Vec::new(),
        block_devices: block_devices.collect(),
    }
}
