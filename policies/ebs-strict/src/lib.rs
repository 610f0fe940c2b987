//! The standard rules, but for three: ids that EC2 can't know are rejected, hints are not enough for labels, and a node whose
//! room for attachments nobody knows is refused. `tests/strict.rs` tests it natively.

use zonewarden_sdk::contract::identity::{VolumeIdentity, VolumeQuestion};
use zonewarden_sdk::contract::labelling::{LabellingAnswer, LabellingBasis, LabellingQuestion};
use zonewarden_sdk::contract::placement::{AttachHeadroom, ClassDecision, PodQuestion, RefusalOrigin, Verdicts};
use zonewarden_sdk::contract::types::{Problem, Reason, Topology};
use zonewarden_sdk::rules::placement::{Class, Nodes};
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

    fn filter(settings: &Settings, pod: &PodQuestion, nodes: &Nodes<'_>) -> Verdicts {
        let mut verdicts = rules::placement::filter(settings, pod, nodes);
        let is_unknown = |class: &Class<'_>| class.headroom().any(|(_, left)| left == AttachHeadroom::Unknown);
        for (verdict, class) in verdicts.classes.iter_mut().zip(nodes.classes()) {
            if verdict.decision == ClassDecision::Feasible && is_unknown(class) {
                verdict.decision = ClassDecision::Refused;
                verdict.origin = RefusalOrigin::Zonewarden;
                let message = "nobody knows how many more volumes these nodes can attach".to_owned();
                let reason = Reason { code: "headroom-unknown".to_owned(), message };
                verdict.reasons = vec![rules::placement::give(&mut verdicts.reasons, reason)];
            }
        }
        verdicts
    }
}

export_policy!(EbsStrict);
