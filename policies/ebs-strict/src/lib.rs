//! The standard rules, but for three: ids that EC2 can't know are rejected, hints are not enough for labels, and a node whose
//! room for attachments nobody knows is refused. `tests/strict.rs` tests it natively.

use zonewarden_sdk::contract::identity::{VolumeIdentity, VolumeQuestion};
use zonewarden_sdk::contract::labelling::{LabellingAnswer, LabellingBasis, LabellingQuestion};
use zonewarden_sdk::contract::placement::{
    AttachHeadroom, ClassDecision, ClassVerdict, NodeClass, PodQuestion, RefusalOrigin,
};
use zonewarden_sdk::contract::types::{Problem, Reason, Topology};
use zonewarden_sdk::{Policy, Settings, export_policy, rules};

/// The stricter policy.
#[derive(Debug, Clone, Copy)]
pub struct EbsStrict;

impl Policy for EbsStrict {
    const NAME: &'static str = "ebs-strict";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
    const DEFAULTS: &'static [(&'static str, &'static str)] =
        &[("volume-ids", "strict"), ("unlabelled-nodes", "refuse")];

    fn identify_volume(settings: &Settings, question: &VolumeQuestion) -> VolumeIdentity {
        match rules::identity::identify_volume(settings, question) {
            VolumeIdentity::Identified(volume) if !volume.askable => VolumeIdentity::Rejected(Problem {
                subject: "volume id".to_owned(),
                message: format!("EC2 can't know a volume {:?}", volume.volume.aws_volume_id),
                text: volume.volume.aws_volume_id,
                rule: "not-askable".to_owned(),
                accepted: vec!["vol- and 8 or 17 hexadecimal digits".to_owned()],
            }),
            other => other,
        }
    }

    fn label_volume(settings: &Settings, topologies: &[Topology], question: &LabellingQuestion) -> LabellingAnswer {
        let answer = rules::labelling::label_volume(settings, topologies, question);
        match answer.basis {
            LabellingBasis::Hint => LabellingAnswer { labels: Vec::new(), affinity: None, ..answer },
            LabellingBasis::Ec2 | LabellingBasis::Nothing => answer,
        }
    }

    fn filter(settings: &Settings, pod: &PodQuestion, classes: &[NodeClass]) -> Vec<ClassVerdict> {
        let verdicts = rules::placement::filter(settings, pod, classes);
        let unknown = |class: &NodeClass| class.drivers.iter().any(|driver| driver.headroom == AttachHeadroom::Unknown);
        let stricter = |(verdict, class): (ClassVerdict, &NodeClass)| match verdict.decision {
            ClassDecision::Feasible if unknown(class) => ClassVerdict {
                decision: ClassDecision::Refused,
                origin: RefusalOrigin::Zonewarden,
                reasons: vec![Reason {
                    code: "headroom-unknown".to_owned(),
                    message: "nobody knows how many more volumes these nodes can attach".to_owned(),
                }],
            },
            _ => verdict,
        };
        verdicts.into_iter().zip(classes).map(stricter).collect()
    }
}

export_policy!(EbsStrict);
