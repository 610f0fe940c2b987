//! Arbitrary observations.
//!
//! An observation is read off a list of numbers. Strategies nested by value would do the same a hundred times slower.

use proptest::prelude::*;
use zonewarden_bindings::attachment::{
    AbsentNode, AttachmentState, Ec2Attachment, Ec2Instance, Ec2Volume, Holder, InstanceReport, InstanceState, Lease,
    MissingInstance, MissingVolume, NodeReport, Observation, OutOfServiceTaint, PresentNode, Usage, VolumeAttachment,
    VolumeReport,
};
use zonewarden_bindings::types::{AwsVolumeId, InstanceId, Label, NodeName, VolumeState};

use super::fixture::{mk_cluster_node, mk_instance_id};

/// The numbers that an observation is read off.
struct Dice<'a> {
    numbers: std::slice::Iter<'a, u32>,
}

impl Dice<'_> {
    fn number(&mut self) -> u32 {
        self.numbers.next().copied().unwrap_or_default()
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.number() % limit
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    /// True once in so many throws.
    fn once_in(&mut self, throws: u32) -> bool {
        self.below(throws) == 0
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        let length = u32::try_from(choices.len()).expect("a handful of choices");
        choices[self.below(length) as usize].clone()
    }

    /// Seconds, mostly near a limit.
    fn seconds(&mut self) -> u32 {
        let number = self.number();
        let (least, length) = self.pick(&[(0, 20), (85, 40), (295, 20), (610, 40), (3_000, 1_000), (0, u32::MAX)]);
        least + number % length
    }

    fn count(&mut self) -> u32 {
        let number = self.number();
        self.pick(&[0, 0, 0, number % 5, number % 5, number])
    }

    fn text(&mut self, choices: &[&str]) -> Option<String> {
        self.flag().then(|| self.pick(choices).to_owned())
    }

    fn instance_id(&mut self) -> Option<InstanceId> {
        (!self.once_in(10)).then(|| mk_instance_id(self.pick(&["i-0a", "i-0b", "i-0c"])))
    }

    fn attachment_state(&mut self) -> AttachmentState {
        self.pick(&[
            AttachmentState::Attaching,
            AttachmentState::Attached,
            AttachmentState::Detaching,
            AttachmentState::Detached,
            AttachmentState::Busy,
            AttachmentState::Other("parked".to_owned()),
        ])
    }

    fn held(&mut self) -> Ec2Attachment {
        let holder = self.pick(&[
            Holder::ThisInstance,
            mk_cluster_node("node-c"),
            Holder::OtherCluster("blue".to_owned()),
            Holder::ForeignInstance,
            Holder::Service("sagemaker".to_owned()),
        ]);
        Ec2Attachment {
            instance: self.instance_id(),
            holder,
            state: self.attachment_state(),
            seconds: self.seconds(),
            device: self.text(&["/dev/xvdba", "/dev/xvdbb"]),
        }
    }

    fn volume_report(&mut self) -> VolumeReport {
        match self.below(8) {
            0 => VolumeReport::Unknown,
            1 => VolumeReport::Missing(MissingVolume {
                age_seconds: self.seconds(),
                reads: self.below(5),
                consistent_seconds: self.seconds(),
                absent_by_filter: self.flag(),
            }),
            _ => VolumeReport::Found(self.volume()),
        }
    }

    fn volume(&mut self) -> Ec2Volume {
        let rare = self.pick(&[
            VolumeState::Creating,
            VolumeState::Deleting,
            VolumeState::Deleted,
            VolumeState::Error,
            VolumeState::Other("frozen".to_owned()),
        ]);
        Ec2Volume {
            age_seconds: self.seconds(),
            state: self.pick(&[VolumeState::Available, VolumeState::InUse, rare]),
            multi_attach: self.flag(),
            attachments: (0..self.below(3)).map(|_| self.held()).collect(),
            reads: self.below(5),
            consistent_seconds: self.seconds(),
        }
    }

    fn instance_report(&mut self) -> InstanceReport {
        match self.below(8) {
            0 => InstanceReport::Unknown,
            1 => InstanceReport::Missing(MissingInstance {
                known_before: self.flag(),
                reads: self.below(5),
                consistent_seconds: self.seconds(),
            }),
            _ => InstanceReport::Found(Ec2Instance {
                age_seconds: self.seconds(),
                state: self.pick(&[
                    InstanceState::Pending,
                    InstanceState::Running,
                    InstanceState::ShuttingDown,
                    InstanceState::Terminated,
                    InstanceState::Stopping,
                    InstanceState::Stopped,
                    InstanceState::Other("hibernated".to_owned()),
                ]),
                mapping: self.flag().then(|| self.attachment_state()),
                reads: self.below(5),
                consistent_seconds: self.seconds(),
            }),
        }
    }

    fn node_report(&mut self) -> NodeReport {
        match self.below(8) {
            0 => NodeReport::Unknown,
            1 | 2 => NodeReport::Absent(AbsentNode { name_taken: self.flag(), seconds: self.seconds() }),
            _ => {
                let silent = self.seconds();
                NodeReport::Present(PresentNode {
                    age_seconds: self.seconds(),
                    instance: self.instance_id(),
                    ready: self.flag(),
                    lease: self.pick(&[Lease::Unknown, Lease::Renewed, Lease::Silent(silent)]),
                    taint: self.pick(&[OutOfServiceTaint::Absent, OutOfServiceTaint::Ours, OutOfServiceTaint::Other]),
                    volume_in_use: self.flag(),
                    volume_attached: self.flag(),
                })
            }
        }
    }

    fn attachment(&mut self) -> VolumeAttachment {
        VolumeAttachment {
            name: "csi-0a".to_owned(),
            node: NodeName { node_name: "node-a".to_owned() },
            attached: self.flag(),
            age_seconds: self.seconds(),
            deleting_seconds: self.once_in(5).then(|| self.seconds()),
            attach_error: self.text(&["limit exceeded"]),
            detach_error: self.text(&["not found"]),
            detach_error_seconds: self.seconds(),
            device: self.text(&["/dev/xvdba"]),
        }
    }

    fn observation(&mut self) -> Observation {
        Observation {
            volume: AwsVolumeId { aws_volume_id: "vol-0a".to_owned() },
            instance: self.instance_id(),
            persistent_volume: self.text(&["pv-a"]),
            persistent_volume_missing: self.flag(),
            attach_required: self.flag(),
            attachment: (!self.once_in(10)).then(|| self.attachment()),
            volume_report: self.volume_report(),
            instance_report: self.instance_report(),
            node: self.node_report(),
            usage: Usage {
                pods_on_node: self.count(),
                started_on_node: self.count(),
                pods_elsewhere: self.count(),
                unused_seconds: self.seconds(),
                bound_to_node: self.count(),
            },
            attributes: self
                .text(&["eks.example", ""])
                .into_iter()
                .map(|value| Label { key: "operator".to_owned(), value })
                .collect(),
        }
    }
}

/// Any observation, contradictory ones too.
pub(super) fn observation() -> BoxedStrategy<Observation> {
    prop::collection::vec(any::<u32>(), 96).prop_map(|numbers| Dice { numbers: numbers.iter() }.observation()).boxed()
}
