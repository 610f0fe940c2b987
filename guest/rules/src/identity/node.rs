//! Which instance stands behind a node.
//!
//! Three things may name it: the provider id, the CSI driver's node id, and the Node's name. Where the first two differ the
//! CSI driver's counts: a kubelet that finds a Node of its own name adopts it with the old provider id, which never changes,
//! while the driver registers its instance anew at each start. A readable id of the CSI driver also outweighs a provider id of
//! another scheme: distributions without AWS's cloud controller write their own, and a node with our driver is in EC2. The
//! name is a last resort: names are chosen freely.
//!
//! Nothing is looked up. The cloud controller asks EC2 for a private DNS name (D-3); a name that misses says nothing, and
//! reading it as "gone" is what detached volumes of living nodes.

use crate::answer::{finding, problem, reason};
use crate::provider_id::{self, NoInstance, NodeLeniency, ParsedInstanceId};
use crate::settings::Settings;
use zonewarden_bindings::identity::{IdentifiedNode, NodeIdentity, NodeQuestion, NodeResolution};
use zonewarden_bindings::types::{Finding, InstanceId, Problem, Reason, Severity, Zone};

/// Two of the three things name different instances (D-39).
const CONTRADICTION: &str = "instance-contradiction";
/// A provider id that names no instance: a warning where something else does.
const PROVIDER_ID_UNREADABLE: &str = "provider-id-unreadable";
/// A CSI node id that names no instance: a warning where something else does.
const CSI_NODE_ID_UNREADABLE: &str = "csi-node-id-unreadable";
/// The forms that name an instance.
const ACCEPTED: [&str; 2] = ["aws:///us-east-1a/i-0123456789abcdef0", "i-0123456789abcdef0"];

/// Identifies a node's instance. Nothing given that names one means unknown, never gone.
#[must_use]
pub fn identify_node(_settings: &Settings, question: &NodeQuestion) -> NodeIdentity {
    let provider_text = question.provider_id.as_ref().map(|id| id.provider_id.as_str()).filter(|text| !text.is_empty());
    let csi_text = question.csi_node_id.as_deref().filter(|text| !text.is_empty());
    let name = question.node.node_name.as_str();
    let provider = provider_text.map(provider_id::parse);
    let csi = csi_text.map(provider_id::parse_bare);
    let by_name = provider_id::in_node_name(name);
    let (found, resolution) = match (provider, csi) {
        (Some(Ok(provider)), Some(Ok(csi))) if provider.instance == csi.instance => {
            (provider, NodeResolution::ByProviderId)
        }
        (_, Some(Ok(csi))) => (csi, NodeResolution::ByCsiNodeId),
        (Some(Ok(provider)), _) => (provider, NodeResolution::ByProviderId),
        _ => {
            let given = [(provider_text, provider), (csi_text, csi)];
            if let Some(reason) = given.into_iter().find_map(foreign) {
                return NodeIdentity::Foreign(reason);
            }
            let Some(instance) = by_name else {
                return NodeIdentity::Unresolved(unresolved(provider_text, csi_text, name));
            };
            (guessed(instance), NodeResolution::ByNodeName)
        }
    };
    let mut warnings = Vec::new();
    if let (Some(text), Some(provider)) = (provider_text, provider) {
        judge_provider_id(text, provider, &found, &mut warnings);
    }
    if let (Some(text), Some(Err(_))) = (csi_text, csi) {
        warnings.push(warning(CSI_NODE_ID_UNREADABLE, format!("the CSI node id {text:?} names no instance")));
    }
    judge_name(name, by_name, &found, resolution, &mut warnings);
    judge_found(&found, &mut warnings);
    NodeIdentity::Identified(IdentifiedNode {
        instance: InstanceId { instance_id: found.instance.to_owned() },
        resolution,
        zone_hint: found.zone_hint.map(|zone| Zone { zone: zone.to_owned() }),
        warnings,
    })
}

const fn guessed(instance: &str) -> ParsedInstanceId<'_> {
    ParsedInstanceId { instance, zone_hint: None, leniency: None, is_hyperpod: false }
}

fn warning(code: &str, message: String) -> Finding {
    finding(Severity::Warning, code, message)
}

fn judge_provider_id(
    text: &str,
    provider: Result<ParsedInstanceId<'_>, NoInstance<'_>>,
    found: &ParsedInstanceId<'_>,
    warnings: &mut Vec<Finding>,
) {
    match provider {
        Ok(provider) if provider.instance != found.instance => warnings.push(warning(
            CONTRADICTION,
            format!(
                "the provider id {text:?} names instance {}, but the CSI node id names {}, which counts as the newer",
                provider.instance, found.instance
            ),
        )),
        Ok(provider) => warnings.extend(provider.leniency.map(|leniency| tolerated(text, leniency))),
        Err(_) => warnings.push(warning(
            PROVIDER_ID_UNREADABLE,
            format!("the provider id {text:?} names no instance, so {} is taken from elsewhere", found.instance),
        )),
    }
}

fn tolerated(text: &str, leniency: NodeLeniency) -> Finding {
    let cause = match leniency {
        NodeLeniency::NoScheme => "does not begin with \"aws:///\"",
        NodeLeniency::ExtraPart => "has more parts than a zone and an instance id",
        NodeLeniency::Slashes => "does not have its slashes where they belong",
        NodeLeniency::Zone => "names no zone by its name before the instance id",
    };
    warning(leniency.code(), format!("the provider id {text:?} {cause}"))
}

fn judge_name(
    name: &str,
    by_name: Option<&str>,
    found: &ParsedInstanceId<'_>,
    resolution: NodeResolution,
    warnings: &mut Vec<Finding>,
) {
    let Some(instance) = by_name else { return };
    if resolution == NodeResolution::ByNodeName {
        let message =
            format!("only the name of node {name} says that its instance is {instance}, and names are chosen freely");
        warnings.push(warning("instance-guessed", message));
    } else if instance != found.instance {
        let message = format!("node {name} is named after instance {instance}, but its instance is {}", found.instance);
        warnings.push(warning(CONTRADICTION, message));
    }
}

fn judge_found(found: &ParsedInstanceId<'_>, warnings: &mut Vec<Finding>) {
    if !found.has_usual_length() {
        let message =
            format!("EC2's instance ids have 8 or 17 hexadecimal digits behind \"i-\", {:?} has not", found.instance);
        warnings.push(warning("unusual-instance-id", message));
    }
    if found.is_hyperpod {
        let message =
            format!("instance {} is a HyperPod node: EC2 may show its attachments without it", found.instance);
        warnings.push(finding(Severity::Info, "hyperpod", message));
    }
}

fn foreign((text, parsed): (Option<&str>, Option<Result<ParsedInstanceId<'_>, NoInstance<'_>>>)) -> Option<Reason> {
    let (text, no) = (text?, parsed?.err()?);
    match no {
        NoInstance::Fargate => {
            Some(reason("fargate", format!("{text:?} is a Fargate node, which attaches no EBS volume")))
        }
        NoInstance::Hybrid => Some(reason("hybrid", format!("{text:?} is an EKS hybrid node, which is not in EC2"))),
        NoInstance::Snow => {
            Some(reason("snow", format!("{text:?} is an instance of a Snow device, which is not in EC2")))
        }
        NoInstance::OtherProvider(scheme) => {
            Some(reason("other-provider", format!("{text:?} is a node of the provider {scheme:?}, not of AWS")))
        }
        NoInstance::Unreadable => None,
    }
}

/// The best of what was given and does not name an instance.
fn unresolved(provider: Option<&str>, csi: Option<&str>, name: &str) -> Problem {
    let (subject, text, rule) = match (provider, csi) {
        (Some(text), _) => ("spec.providerID", text, PROVIDER_ID_UNREADABLE),
        (None, Some(text)) => ("CSI node id", text, CSI_NODE_ID_UNREADABLE),
        (None, None) if !name.is_empty() => ("metadata.name", name, "node-name-no-instance"),
        (None, None) => ("node", "", "nothing-given"),
    };
    let message =
        format!("nothing given of node {name:?} names an EC2 instance: its instance is unknown, which is not gone");
    problem(subject, text, rule, message, &ACCEPTED)
}
