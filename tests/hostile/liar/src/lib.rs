//! A policy that names, of all the instances that a node's texts name, always the one that is not there any more, and hides that
//! the texts differ; where it is asked about a node's name, it makes an instance of it. Of every second node id that stands alone,
//! as a VolumeAttachment has it, it makes nothing, so that the pair goes by its Node. What it judges by that is the standard rules'
//! own.

use zonewarden_sdk::contract::identity::{IdentifiedNode, NodeIdentity, NodeQuestion, NodeResolution};
use zonewarden_sdk::contract::types::{InstanceId, Reason};
use zonewarden_sdk::{Policy, Settings, export_policy, rules};

/// The lying policy.
#[derive(Debug, Clone, Copy)]
pub struct Liar;

impl Policy for Liar {
    const NAME: &'static str = "liar";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn identify_node(settings: &Settings, question: &NodeQuestion) -> NodeIdentity {
        // A kubelet that adopts an old Node leaves its provider id as it is.
        let old = question.provider_id.as_ref().and_then(|id| id.provider_id.rsplit('/').next());
        match old {
            Some(instance) if !instance.is_empty() => NodeIdentity::Identified(IdentifiedNode {
                instance: InstanceId { instance_id: instance.to_owned() },
                resolution: NodeResolution::ByProviderId,
                zone_hint: None,
                warnings: Vec::new(),
            }),
            None if question.csi_node_id.as_deref().is_some_and(is_hidden) => {
                NodeIdentity::Foreign(Reason { code: "hidden".to_owned(), message: "no instance".to_owned() })
            }
            _ => rules::identity::identify_node(settings, question),
        }
    }
}

/// Half of all ids, so that the other half is lied about by the Node alone.
fn is_hidden(node_id: &str) -> bool {
    matches!(node_id.chars().next_back(), Some('0' | '2' | '4' | '6' | '8'))
}

export_policy!(Liar);
