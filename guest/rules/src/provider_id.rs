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
    } else if !host.is_empty() || path.ends_with('/') || path.starts_with('/') {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id<'a>(instance: &'a str, zone_hint: Option<&'a str>, leniency: Option<NodeLeniency>) -> ParsedInstanceId<'a> {
        ParsedInstanceId { instance, zone_hint, leniency, is_hyperpod: false }
    }

    #[test]
    fn d1_every_spelling_of_a_provider_id() {
        let zone = Some("us-east-1a");
        let hyperpod = |instance| ParsedInstanceId { instance, zone_hint: None, leniency: None, is_hyperpod: true };
        for (text, wanted) in [
            // The table's rows.
            ("aws:///us-east-1a/i-123", Ok(id("i-123", zone, None))),
            ("aws:////i-123", Ok(id("i-123", None, Some(NodeLeniency::Slashes)))),
            ("i-123", Ok(id("i-123", None, Some(NodeLeniency::NoScheme)))),
            ("aws:///a/b/i-123", Ok(id("i-123", None, Some(NodeLeniency::ExtraPart)))),
            ("aws://acct/z/vol-1", Err(NoInstance::Unreadable)),
            ("vol-1", Err(NoInstance::Unreadable)),
            ("", Err(NoInstance::Unreadable)),
            ("aws:///z/i-123/suffix", Err(NoInstance::Unreadable)),
            ("aws:///z/fargate-ip-10-0-0-1.ec2.internal", Err(NoInstance::Fargate)),
            ("i-", Err(NoInstance::Unreadable)),
            ("aws:///us-east-1a/i-", Err(NoInstance::Unreadable)),
            // What stands around the id.
            ("aws:///i-123", Ok(id("i-123", None, None))),
            ("aws:///us-east-1a/b/i-123", Ok(id("i-123", zone, Some(NodeLeniency::ExtraPart)))),
            ("aws:///z/i-123", Ok(id("i-123", None, Some(NodeLeniency::Zone)))),
            ("aws:///use1-az6/i-123", Ok(id("i-123", None, Some(NodeLeniency::Zone)))),
            ("aws://us-east-1a/i-123", Ok(id("i-123", None, Some(NodeLeniency::Slashes)))),
            ("aws:///us-east-1a/i-123/", Ok(id("i-123", zone, Some(NodeLeniency::Slashes)))),
            ("aws:////us-east-1a/i-123", Ok(id("i-123", zone, Some(NodeLeniency::Slashes)))),
            ("aws:///us-west-2-lax-1a/i-0f", Ok(id("i-0f", Some("us-west-2-lax-1a"), None))),
            ("aws://i-123", Err(NoInstance::Unreadable)),
            ("aws://", Err(NoInstance::Unreadable)),
            ("aws:///us-east-1a/i-12G", Err(NoInstance::Unreadable)),
            ("aws:///us-east-1a/i-12F", Err(NoInstance::Unreadable)),
            ("aws:///us-east-1a/I-123", Err(NoInstance::Unreadable)),
            ("aws:///us-east-1a/i-123?x", Err(NoInstance::Unreadable)),
            ("aws:///us-east-1a/i-123\n", Err(NoInstance::Unreadable)),
            // B-17
            ("aws:///usw2-az2/sagemaker/cluster/hyperpod-abc-i-0123", Ok(hyperpod("i-0123"))),
            ("aws:///usw2-az2/hyperpod-i-0123", Ok(hyperpod("i-0123"))),
            ("aws:///usw2-az2/hyperpod-abc", Err(NoInstance::Unreadable)),
            ("aws:///usw2-az2/hyperpod-abc-i-", Err(NoInstance::Unreadable)),
            ("aws:///snow/s.i-8a1b", Err(NoInstance::Snow)),
            // D-41
            ("eks-hybrid:///us-west-2/cluster/mi-0123", Err(NoInstance::Hybrid)),
            ("gce://project/us-central1-a/i-123", Err(NoInstance::OtherProvider("gce"))),
            ("kind://docker/kind/i-123", Err(NoInstance::OtherProvider("kind"))),
            ("AWS:///us-east-1a/i-123", Err(NoInstance::Unreadable)),
            ("://i-123", Err(NoInstance::Unreadable)),
        ] {
            assert_eq!(parse(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn b_17_the_csi_drivers_node_id_stands_alone() {
        for (text, wanted) in [
            ("i-0123456789abcdef0", Ok("i-0123456789abcdef0")),
            ("hyperpod-abc-i-0123", Ok("i-0123")),
            ("hyperpod-a-i-b-i-0123", Ok("i-0123")),
            ("i-", Err(NoInstance::Unreadable)),
            ("", Err(NoInstance::Unreadable)),
            (" i-0123", Err(NoInstance::Unreadable)),
            ("aws:///us-east-1a/i-0123", Err(NoInstance::Unreadable)),
            ("fargate-ip-10-0-0-1", Err(NoInstance::Fargate)),
            ("s.i-0123", Err(NoInstance::Snow)),
        ] {
            assert_eq!(parse_bare(text).map(|id| id.instance), wanted, "{text:?}");
        }
    }

    #[test]
    fn d_6_a_resource_name_holds_the_id_before_its_first_dot() {
        for (name, wanted) in [
            ("i-0abc", Some("i-0abc")),
            ("i-0abc.ec2.internal", Some("i-0abc")),
            ("i-", None),
            ("i-.ec2.internal", None),
            ("i-love-nodes.example.com", None),
            ("ip-10-0-144-157", None),
            ("ip-10-0-144-157.ec2.internal", None),
            ("node.i-0abc", None),
            ("", None),
        ] {
            assert_eq!(in_node_name(name), wanted, "{name:?}");
        }
    }

    #[test]
    fn only_8_and_17_digits_are_usual() {
        for (digits, usual) in [(1, false), (7, false), (8, true), (9, false), (16, false), (17, true), (18, false)] {
            let text = format!("i-{}", "0".repeat(digits));
            assert_eq!(parse_bare(&text).map(|id| id.has_usual_length()), Ok(usual), "{digits}");
        }
    }

    proptest! {
        #[test]
        fn an_instance_id_occurs_in_its_text_and_is_its_own(text in "\\PC*|(aws://[a-z]{0,2}/){0,1}[a-z0-9/-]{0,12}/?(hyperpod-)?-?i-[0-9a-g]{0,4}/?") {
            if let Ok(parsed) = parse(&text) {
                prop_assert!(text.contains(parsed.instance));
                prop_assert_eq!(parse_bare(parsed.instance).map(|id| id.instance), Ok(parsed.instance));
                prop_assert_eq!(in_node_name(parsed.instance), Some(parsed.instance));
            }
        }
    }
}
