//! A canonical id stands in the text that it was made from.
//!
//! A policy may say what a text means, and not that it means something else: an id is accepted only where it occurs literally
//! in its text, and as a whole token. `vol-01234567` is no part of `vol-0123456789abcdef0`, and whoever reads it out of that
//! turns one volume into another. An element that breaks this becomes one that names nothing; the others stand.

use zonewarden_contract::identity::{NodeIdentity, NodeQuestion, NodeResolution, VolumeIdentity, VolumeQuestion};
use zonewarden_contract::types::{Problem, VolumeSource};

/// The rule of a canonical id that does not occur in the text it was made from.
const CANONICAL_NOT_IN_TEXT: &str = "canonical-not-in-text";

/// Rejects every volume whose canonical id is not in its source's text.
pub(crate) fn hold_volumes(identities: &mut [VolumeIdentity], questions: &[VolumeQuestion]) {
    for (identity, question) in identities.iter_mut().zip(questions) {
        let VolumeIdentity::Identified(identified) = identity else { continue };
        let (subject, text) = named_by(&question.source);
        let canonical = &identified.volume.aws_volume_id;
        if !is_token_of(canonical, text) {
            *identity = VolumeIdentity::Rejected(problem(subject, text, "volume", canonical));
        }
    }
}

/// Leaves every node unresolved whose instance is not in the text that the policy says it was found by.
pub(crate) fn hold_nodes(identities: &mut [NodeIdentity], questions: &[NodeQuestion]) {
    for (identity, question) in identities.iter_mut().zip(questions) {
        let NodeIdentity::Identified(identified) = identity else { continue };
        let (subject, text) = found_by(identified.resolution, question);
        let canonical = &identified.instance.instance_id;
        if !is_token_of(canonical, text) {
            *identity = NodeIdentity::Unresolved(problem(subject, text, "instance", canonical));
        }
    }
}

/// The field and the text of a source that name the volume.
fn named_by(source: &VolumeSource) -> (&'static str, &str) {
    match source {
        VolumeSource::AwsElasticBlockStore(id) => ("awsElasticBlockStore.volumeID", &id.kubernetes_volume_id),
        VolumeSource::GcePersistentDisk(id) => ("gcePersistentDisk.pdName", &id.kubernetes_volume_id),
        VolumeSource::Csi(csi) => ("csi.volumeHandle", &csi.volume_handle.kubernetes_volume_id),
        // No text names a volume here, so that none can be identified.
        VolumeSource::Other(_) => ("source", ""),
    }
}

/// The field and the text that a node was resolved by; a text that was not given is empty.
fn found_by(resolution: NodeResolution, question: &NodeQuestion) -> (&'static str, &str) {
    match resolution {
        NodeResolution::ByProviderId => {
            ("spec.providerID", question.provider_id.as_ref().map_or("", |id| &id.provider_id))
        }
        NodeResolution::ByCsiNodeId => ("csi.nodeID", question.csi_node_id.as_deref().unwrap_or_default()),
        NodeResolution::ByNodeName => ("metadata.name", &question.node.node_name),
    }
}

fn problem(subject: &str, text: &str, what: &str, canonical: &str) -> Problem {
    let message = format!(
        "the policy reads {text:?} as the {what} {canonical:?}, which does not occur in it as a whole, so the host does not \
         accept it"
    );
    Problem {
        subject: subject.to_owned(),
        text: text.to_owned(),
        rule: CANONICAL_NOT_IN_TEXT.to_owned(),
        message,
        accepted: Vec::new(),
    }
}

/// Whether an id occurs in a text with no letter or digit beside it. The empty id occurs in every text, and names nothing.
fn is_token_of(id: &str, text: &str) -> bool {
    let is_whole = |at: usize| {
        let (before, rest) = text.split_at(at);
        rest.strip_prefix(id).is_some_and(|after| !continues(last_of(before)) && !continues(first_of(after)))
    };
    !id.is_empty() && text.char_indices().any(|(at, _)| is_whole(at))
}

/// Whether a neighbour makes an id a part of something longer.
fn continues(neighbour: Option<char>) -> bool {
    neighbour.is_some_and(char::is_alphanumeric)
}

/// The first character. Texts may be URLs: where it is percent-encoded, what it stands for.
fn first_of(text: &str) -> Option<char> {
    escaped(text.get(..3)).or_else(|| text.chars().next())
}

/// The last character, likewise: the `F` of `%2F` is a slash.
fn last_of(text: &str) -> Option<char> {
    let from = text.len().checked_sub(3);
    escaped(from.and_then(|from| text.get(from..))).or_else(|| text.chars().next_back())
}

/// What `%2F` stands for. A byte of a longer character counts as a letter.
fn escaped(text: Option<&str>) -> Option<char> {
    let digits = text?.strip_prefix('%').filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok().map(|byte| if byte.is_ascii() { char::from(byte) } else { 'x' })
}

#[cfg(test)]
mod tests;
