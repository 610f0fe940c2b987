//! The names and paths that Kubernetes makes of a volume id, and the way back (B-2 to B-5), without loss.
//!
//! Kubernetes builds them of the raw id, so that one disk spelled in two ways has two names (B-2), and its way back loses the
//! zone or mistakes one spelling for another. Here a unique name is made of the canonical id, and what stands in a path is
//! escaped where it would be read as something else, which no id of EC2 ever is.

use crate::keys;
use crate::settings::VolumeIds;
use crate::volume_id::{ParsedVolumeId, Rejection, VolumeId, read};
use zonewarden_bindings::types::KubernetesVolumeId;

/// The two kinds of volumes, by what their paths look like (B-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// `mounts/aws/us-east-1a/vol-1`
    Filesystem,
    /// `aws:/us-east-1a/vol-1`
    Block,
}

/// Why a path names no volume (B-5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoVolume {
    /// It does not consist of a volume id, or a zone and a volume id.
    Parts(usize),
    /// Its last part does not begin with `vol-`.
    NoVolPrefix,
}

/// What a path of ours is escaped by: what would end a part, and what escapes begin with.
const ESCAPES: [(char, &str); 3] = [('%', "%25"), ('/', "%2F"), ('\0', "%00")];

/// The unique name of a volume: one for all its spellings (B-2).
#[must_use]
pub fn unique_name(id: VolumeId<'_>) -> String {
    format!("{}/{id}", keys::EBS_PLUGIN)
}

/// The unique name under which a Node's status lists a CSI volume.
#[must_use]
pub fn csi_unique_name(driver: &str, id: VolumeId<'_>) -> String {
    format!("kubernetes.io/csi/{driver}^{id}")
}

/// Reads the id in a unique name, ours or Kubernetes'; `None` where the name is not of the in-tree plugin.
///
/// Kubernetes hands its detach only what stands behind the last slash (B-3), which loses the zone; here the whole id is read.
#[must_use]
pub fn of_unique_name(name: &str, mode: VolumeIds) -> Option<Result<ParsedVolumeId<'_>, Rejection>> {
    let id = name.strip_prefix(keys::EBS_PLUGIN)?.strip_prefix('/')?;
    Some(read(id, mode))
}

/// The path of a volume's mount or block device, below the plugin's folder (B-4).
#[must_use]
pub fn to_path(kind: PathKind, id: &ParsedVolumeId<'_>) -> String {
    let (folder, scheme) = match kind {
        PathKind::Filesystem => ("mounts/", "aws/"),
        PathKind::Block => ("", "aws:/"),
    };
    let part = escape(id.id().as_str());
    match (id.is_url(), id.zone_hint()) {
        (true, Some(zone)) => format!("{folder}{scheme}{zone}/{part}"),
        (true, None) => format!("{folder}{scheme}{part}"),
        (false, _) => format!("{folder}{part}"),
    }
}

/// The volume id that a path was made of (B-5): with its zone, where it had one.
///
/// # Errors
/// Why it names none.
pub fn from_path(path: &str) -> Result<KubernetesVolumeId, NoVolume> {
    let path = path.strip_prefix("mounts/").unwrap_or(path);
    let text = match path.strip_prefix("aws:/").or_else(|| path.strip_prefix("aws/")) {
        None => unescape(path),
        Some(rest) => {
            let (zone, id) = rest.split_once('/').unwrap_or(("", rest));
            if id.contains('/') {
                return Err(NoVolume::Parts(rest.split('/').count()));
            }
            if !id.starts_with("vol-") {
                return Err(NoVolume::NoVolPrefix);
            }
            format!("aws://{zone}/{}", unescape(id))
        }
    };
    Ok(KubernetesVolumeId { kubernetes_volume_id: text })
}

fn escape(id: &str) -> String {
    // The two names that every folder already has.
    if id == "." || id == ".." {
        return id.replace('.', "%2E");
    }
    let mut escaped = String::with_capacity(id.len());
    for character in id.chars() {
        match ESCAPES.iter().find(|(plain, _)| *plain == character) {
            Some((_, escape)) => escaped.push_str(escape),
            None => escaped.push(character),
        }
    }
    escaped
}

/// Undoes [`escape`], and leaves any other percent sign alone: Kubernetes escapes nothing.
fn unescape(part: &str) -> String {
    let mut plain = String::with_capacity(part.len());
    let mut rest = part;
    while let Some(next) = rest.chars().next() {
        let escape = ESCAPES.iter().chain(&[('.', "%2E")]).find(|(_, escape)| rest.starts_with(escape));
        let (character, length) = escape.map_or((next, next.len_utf8()), |(plain, escape)| (*plain, escape.len()));
        plain.push(character);
        rest = &rest[length..];
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> ParsedVolumeId<'_> {
        read(text, VolumeIds::Lenient).expect(text)
    }

    #[test]
    fn b_2_one_disk_has_one_unique_name() {
        for text in ["vol-1", "aws:///vol-1", "aws://us-east-1a/vol-1", "aws://unknown/vol-1/"] {
            assert_eq!(unique_name(parsed(text).id()), "kubernetes.io/aws-ebs/vol-1", "{text}");
            let csi = csi_unique_name("ebs.csi.aws.com", parsed(text).id());
            assert_eq!(csi, "kubernetes.io/csi/ebs.csi.aws.com^vol-1", "{text}");
        }
    }

    #[test]
    fn b_3_the_whole_id_of_a_unique_name_is_read() {
        let zone = Some("us-east-1a");
        for (name, id, zone) in [
            ("kubernetes.io/aws-ebs/vol-1", "vol-1", None),
            ("kubernetes.io/aws-ebs/aws:///vol-1", "vol-1", None),
            ("kubernetes.io/aws-ebs/aws://us-east-1a/vol-1", "vol-1", zone),
        ] {
            let found = of_unique_name(name, VolumeIds::Strict).expect(name).expect(name);
            assert_eq!((found.id().as_str(), found.zone_hint()), (id, zone), "{name}");
        }
        assert_eq!(of_unique_name("kubernetes.io/aws-ebs/", VolumeIds::Lenient), Some(Err(Rejection::Empty)));
        for name in ["vol-1", "kubernetes.io/aws-ebs", "kubernetes.io/aws-ebsvol-1", "kubernetes.io/gce-pd/vol-1"] {
            assert_eq!(of_unique_name(name, VolumeIds::Lenient), None, "{name}");
        }
    }

    #[test]
    fn b_4_b_5_paths_of_every_documented_spelling_and_back() {
        for (text, filesystem, block) in [
            ("vol-1", "mounts/vol-1", "vol-1"),
            ("aws:///vol-1", "mounts/aws/vol-1", "aws:/vol-1"),
            ("aws://us-east-1a/vol-1", "mounts/aws/us-east-1a/vol-1", "aws:/us-east-1a/vol-1"),
        ] {
            assert_eq!(to_path(PathKind::Filesystem, &parsed(text)), filesystem);
            assert_eq!(to_path(PathKind::Block, &parsed(text)), block);
            for path in [filesystem, block] {
                assert_eq!(from_path(path), Ok(KubernetesVolumeId { kubernetes_volume_id: text.to_owned() }), "{path}");
            }
        }
    }

    #[test]
    fn b_5_a_path_with_other_parts_names_no_volume() {
        for (path, wanted) in [
            ("aws/a/b/vol-1", Err(NoVolume::Parts(3))),
            ("aws:/a/b/c/vol-1", Err(NoVolume::Parts(4))),
            ("aws/us-east-1a/vol-1/", Err(NoVolume::Parts(3))),
            ("aws/us-east-1a/i-1", Err(NoVolume::NoVolPrefix)),
            ("aws/i-1", Err(NoVolume::NoVolPrefix)),
            ("aws/", Err(NoVolume::NoVolPrefix)),
            ("mounts/aws/vol-1", Ok("aws:///vol-1")),
            ("aws/z/vol-1", Ok("aws://z/vol-1")),
            ("aws", Ok("aws")),
            ("garbage/x", Ok("garbage/x")),
            ("", Ok("")),
        ] {
            let id = |text: &str| KubernetesVolumeId { kubernetes_volume_id: text.to_owned() };
            assert_eq!(from_path(path), wanted.map(id), "{path}");
        }
    }

    #[test]
    fn b_4_what_would_be_read_as_something_else_is_escaped() {
        for (id, path) in [
            ("aws:/vol-1", "mounts/aws:%2Fvol-1"),
            ("AWS://z/vol-1", "mounts/AWS:%2F%2Fz%2Fvol-1"),
            ("vol-%2F", "mounts/vol-%252F"),
            ("..", "mounts/%2E%2E"),
            (".", "mounts/%2E"),
            ("...", "mounts/..."),
            ("a\0b", "mounts/a%00b"),
        ] {
            assert_eq!(to_path(PathKind::Filesystem, &parsed(id)), path);
            assert_eq!(from_path(path), Ok(KubernetesVolumeId { kubernetes_volume_id: id.to_owned() }));
        }
        assert_eq!(from_path("vol-%31%"), Ok(KubernetesVolumeId { kubernetes_volume_id: "vol-%31%".to_owned() }));
    }

    proptest! {
        /// B3: for every accepted spelling s, canon(s) = canon(path_to_id(id_to_path(s))).
        #[test]
        fn b3_a_path_leads_back_to_the_same_volume(
            text in "\\PC*|.{0,4}|[ ]?(aws://?|aws/|mounts/){0,2}(us-east-1a|z)?/{0,3}(vol-){0,2}[0-9a-f%2F/ .]{0,9}[/?#]{0,2}",
            block: bool,
        ) {
            if let Ok(spelled) = read(&text, VolumeIds::Lenient) {
                let path = to_path(if block { PathKind::Block } else { PathKind::Filesystem }, &spelled);
                let back = from_path(&path).expect("a path of ours names a volume").kubernetes_volume_id;
                let back = read(&back, VolumeIds::Lenient).expect("its id is accepted");
                prop_assert_eq!(back.id(), spelled.id());
                prop_assert_eq!(back.zone_hint(), spelled.zone_hint());
            }
        }
    }
}
