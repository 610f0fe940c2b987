//! The texts that the objects themselves have: what a policy says counts only where they say it too.

use zonewarden_contract::types::InstanceId;

/// What the objects themselves say of the pair's instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts<'a> {
    /// The VolumeAttachment's node id annotation.
    pub(crate) node_id: Option<&'a str>,
    /// The Node's provider id.
    pub(crate) provider_id: Option<&'a str>,
    /// The node ids that the CSINode has, one for each of the policy's drivers.
    pub(crate) csi_node_ids: Vec<&'a str>,
}

impl Texts<'_> {
    /// Whether every text that tells the Node's instance names this one, and there is any.
    pub(crate) fn all_name(&self, instance: &InstanceId) -> bool {
        let mut given = self.provider_id.iter().chain(&self.csi_node_ids).peekable();
        given.peek().is_some() && given.all(|text| names(text, &instance.instance_id))
    }
}

/// Whether a text names an id: literally, and not as a part of a longer word.
pub(crate) fn names(text: &str, id: &str) -> bool {
    let is_word = |char: char| char.is_ascii_alphanumeric();
    !id.is_empty()
        && text.match_indices(id).any(|(at, _)| {
            !text[..at].chars().next_back().is_some_and(is_word)
                && !text[at + id.len()..].chars().next().is_some_and(is_word)
        })
}
