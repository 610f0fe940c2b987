//! Instance ids: in a Node's `spec.providerID`, as the CSI driver's node id, and at the front of a resource name (D1, B-17).
//!
//! What the cloud controller accepts is accepted, with a warning for what it tolerates. We differ where it is wrong: `i-` alone
//! is no id, a name with another provider's scheme is not cut at its last slash, and what EC2 could never have given out (a
//! digit that is not hexadecimal) names no instance, since one such id would cost a whole request its answer.

use crate::region;

/// What makes the cloud controller read a provider id as a URL.
const PREFIX: &str = "aws://";
/// What the nodes of `SageMaker` HyperPod are called, before their instance id.
const HYPERPOD: &str = "hyperpod-";

/// An instance id and what stood around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedInstanceId<'a> {
    /// The instance id.
    pub instance: &'a str,
    /// The zone in a provider id, where it is a zone's name.
    pub zone_hint: Option<&'a str>,
    /// What was tolerated.
    pub leniency: Option<NodeLeniency>,
    /// Whether it is a node of `SageMaker` HyperPod, whose attachments EC2 may show without their instance.
    pub is_hyperpod: bool,
}

impl ParsedInstanceId<'_> {
    /// Whether the id has one of the two lengths that EC2 uses.
    #[must_use]
    pub const fn has_usual_length(&self) -> bool {
        matches!(self.instance.len(), 10 | 19)
    }
}

/// What is tolerated in a provider id, the gravest first where several things are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeLeniency {
    /// `i-123`
    NoScheme,
    /// `aws:///a/b/i-123`: only the last part counts. HyperPod writes its ids so.
    ExtraPart,
    /// `aws:////i-123/`, `aws://us-east-1a/i-123`: slashes that are too many, too few or behind the id.
    Slashes,
    /// `aws:///z/i-123`
    Zone,
}

impl NodeLeniency {
    /// The warning's code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NoScheme => "provider-id-without-scheme",
            Self::ExtraPart => "provider-id-extra-part",
            Self::Slashes => "provider-id-slashes",
            Self::Zone => "provider-id-zone",
        }
    }
}

/// Why a text names no EC2 instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoInstance<'a> {
    /// A pod's own machine at Fargate.
    Fargate,
    /// EKS Hybrid Nodes.
    Hybrid,
    /// An instance of a Snow device, which is not EC2's.
    Snow,
    /// Another provider, by its scheme.
    OtherProvider(&'a str),
    /// Nothing of these.
    Unreadable,
}

/// Reads a provider id.
///
/// # Errors
/// What stands behind the node instead, or that nobody can tell.
pub fn parse(text: &str) -> Result<ParsedInstanceId<'_>, NoInstance<'_>> {
    let Some(rest) = text.strip_prefix(PREFIX) else {
        return match text.split_once("://") {
            Some(("eks-hybrid", _)) => Err(NoInstance::Hybrid),
            Some((scheme, _)) if !scheme.is_empty() && !scheme.eq_ignore_ascii_case("aws") => {
                Err(NoInstance::OtherProvider(scheme))
            }
            Some(_) => Err(NoInstance::Unreadable),
            None => parse_bare(text).map(|id| ParsedInstanceId { leniency: Some(NodeLeniency::NoScheme), ..id }),
        };
    };
    // Before the first slash a URL has its host, which is not looked at.
    let (host, path) = rest.split_once('/').ok_or(NoInstance::Unreadable)?;
    let trimmed = path.trim_matches('/');
    let (before, last) = trimmed.rsplit_once('/').unwrap_or(("", trimmed));
    let id = parse_bare(last)?;
    let has_extra_part = before.contains('/');
    let zone_hint = before.split('/').next().filter(|zone| region::is_zone(zone));
    let leniency = if has_extra_part && !id.is_hyperpod {
        Some(NodeLeniency::ExtraPart)
    } else if !host.is_empty() || path.ends_with('/') || path.starts_with("//") {
        Some(NodeLeniency::Slashes)
    } else if zone_hint.is_none() && !before.is_empty() && !id.is_hyperpod {
        Some(NodeLeniency::Zone)
    } else {
        None
    };
    Ok(ParsedInstanceId { zone_hint, leniency, ..id })
}

/// Reads an id that stands alone: the CSI driver's node id, or the last part of a provider id.
///
/// # Errors
/// What stands behind the node instead, or that nobody can tell.
pub fn parse_bare(text: &str) -> Result<ParsedInstanceId<'_>, NoInstance<'_>> {
    if text.starts_with("fargate-") {
        return Err(NoInstance::Fargate);
    }
    if text.starts_with("s.i-") {
        return Err(NoInstance::Snow);
    }
    let is_hyperpod = text.starts_with(HYPERPOD);
    let instance = if is_hyperpod { &text[text.rfind("-i-").map_or(text.len(), |at| at + 1)..] } else { text };
    if !is_instance_id(instance) {
        return Err(NoInstance::Unreadable);
    }
    Ok(ParsedInstanceId { instance, zone_hint: None, leniency: None, is_hyperpod })
}

/// The instance id in a Node's name, where the name is a resource name (D-6): all before the first dot.
#[must_use]
pub fn in_node_name(name: &str) -> Option<&str> {
    let first = name.split_once('.').map_or(name, |(first, _)| first);
    is_instance_id(first).then_some(first)
}

/// `i-` and lower case hexadecimal digits.
fn is_instance_id(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.strip_prefix("i-").is_some_and(|digits| !digits.is_empty() && digits.bytes().all(is_digit))
}
