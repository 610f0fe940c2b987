//! The table of the settings: which keys there are, what they accept, what they default to and where a value goes.

use super::{Settings, UnlabelledNodes, VolumeIds};
use crate::keys;
use crate::selector::is_same;

/// What a key accepts.
pub(super) enum Accepts {
    Choice(&'static [&'static str]),
    Seconds { least: u32, most: u32 },
    DriverName,
}

/// One row of the table.
pub(super) struct Spec {
    pub(super) key: &'static str,
    pub(super) accepts: Accepts,
    pub(super) default: &'static str,
    pub(super) about: &'static str,
    /// Stores a value that was found good; `seconds` is the parsed number of an `Accepts::Seconds`.
    store: fn(&mut Settings, &str, u32),
}

impl Spec {
    /// Stores a value that is accepted.
    pub(super) fn store_into(&self, settings: &mut Settings, value: &str) {
        (self.store)(settings, value, self.accepts.number(value).unwrap_or_default());
    }
}

const YES_NO: Accepts = Accepts::Choice(&["true", "false"]);

/// Every setting.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        key: "volume-ids",
        accepts: Accepts::Choice(&["lenient", "strict"]),
        default: "lenient",
        about: "Whether volume ids that Kubernetes lets pass are accepted with a warning, or only the documented spellings",
        store: |s, v, _| s.volume_ids = if v == "strict" { VolumeIds::Strict } else { VolumeIds::Lenient },
    },
    Spec {
        key: "csi-driver",
        accepts: Accepts::DriverName,
        default: keys::EBS_DRIVER,
        about: "The name under which the EBS CSI driver runs",
        store: |s, v, _| v.clone_into(&mut s.csi_driver),
    },
    Spec {
        key: "unlabelled-nodes",
        accepts: Accepts::Choice(&["auto", "pass", "refuse"]),
        default: "auto",
        about: "Whether a node without zone and region labels may take a pod whose volume has a zone; auto: not where nodes show two zones or more",
        store: |s, v, _| {
            s.unlabelled_nodes = match v {
                "pass" => UnlabelledNodes::Pass,
                "refuse" => UnlabelledNodes::Refuse,
                _ => UnlabelledNodes::Auto,
            };
        },
    },
    Spec {
        key: "set-affinity",
        accepts: YES_NO,
        default: "true",
        about: "Whether the node affinity of a PersistentVolume is set where it is unset",
        store: |s, v, _| s.set_affinity = v == "true",
    },
    Spec {
        key: "region-labels",
        accepts: YES_NO,
        default: "true",
        about: "Whether PersistentVolumes get a region label where the nodes carry one too",
        store: |s, v, _| s.region_labels = v == "true",
    },
    Spec {
        key: "zone-hints",
        accepts: YES_NO,
        default: "true",
        about: "Whether the zone in a volume's own id is used where EC2 said nothing",
        store: |s, v, _| s.zone_hints = v == "true",
    },
    Spec {
        key: "assume-bound",
        accepts: YES_NO,
        default: "false",
        about: "Whether a claim that names a volume counts as bound without the annotation pv.kubernetes.io/bind-completed",
        store: |s, v, _| s.assume_bound = v == "true",
    },
    Spec {
        key: "gate-undecided-pods",
        accepts: YES_NO,
        default: "false",
        about: "Whether a pod whose volume's zone is not known yet is held back by a scheduling gate",
        store: |s, v, _| s.gate_undecided_pods = v == "true",
    },
    seconds("quiet-seconds", "300", "Age below which a VolumeAttachment is not judged, but for a death", |s, _, n| {
        s.quiet_seconds = n;
    }),
    seconds("stuck-attaching-seconds", "90", "When an attach counts as stuck", |s, _, n| s.stuck_attaching_seconds = n),
    seconds("stuck-detaching-seconds", "300", "When a detach counts as stuck", |s, _, n| s.stuck_detaching_seconds = n),
    seconds("detach-failing-seconds", "600", "When a repeated detach error is reported", |s, _, n| {
        s.detach_failing_seconds = n;
    }),
    seconds("orphan-seconds", "600", "When an attachment that Kubernetes does not know is reported", |s, _, n| {
        s.orphan_seconds = n;
    }),
    seconds("leaked-seconds", "600", "When an attachment that no pod uses counts as leaked", |s, _, n| {
        s.leaked_seconds = n
    }),
    seconds("deleted-seconds", "120", "For how long EC2 must say that a volume does not exist", |s, _, n| {
        s.deleted_seconds = n;
    }),
    seconds("consistent-seconds", "10", "How far apart two reads that agree must lie", |s, _, n| {
        s.consistent_seconds = n
    }),
    seconds("lease-silent-seconds", "15", "For how long a dead kubelet's Lease must not have changed", |s, _, n| {
        s.lease_silent_seconds = n;
    }),
];

const fn seconds(
    key: &'static str,
    default: &'static str,
    about: &'static str,
    store: fn(&mut Settings, &str, u32),
) -> Spec {
    Spec { key, accepts: Accepts::Seconds { least: 1, most: 86_400 }, default, about, store }
}

impl Accepts {
    /// Whether a value is good.
    pub(super) fn accepts(&self, value: &str) -> bool {
        match self {
            Self::Choice(choices) => choices.iter().any(|choice| is_same(choice, value)),
            Self::Seconds { .. } => self.number(value).is_some(),
            Self::DriverName => is_driver_name(value),
        }
    }

    fn number(&self, value: &str) -> Option<u32> {
        match self {
            // `parse` alone would take a plus sign.
            Self::Seconds { least, most } if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                value.parse().ok().filter(|number| (least..=most).contains(&number))
            }
            Self::Seconds { .. } | Self::Choice(_) | Self::DriverName => None,
        }
    }

    /// The values that are good, for people.
    pub(super) fn forms(&self) -> Vec<String> {
        match self {
            Self::Choice(choices) => choices.iter().map(|choice| (*choice).to_owned()).collect(),
            Self::Seconds { least, most } => vec![format!("a whole number of seconds from {least} to {most}")],
            Self::DriverName => vec!["a CSI driver name: 1 to 63 letters, digits, dots and dashes".to_owned()],
        }
    }

    /// The same as a part of a JSON Schema.
    pub(super) fn schema(&self) -> String {
        match self {
            Self::Choice(choices) => format!("\"enum\":[\"{}\"]", choices.join("\",\"")),
            Self::Seconds { .. } => "\"pattern\":\"^[0-9]{1,5}$\"".to_owned(),
            Self::DriverName => "\"pattern\":\"^[A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$\"".to_owned(),
        }
    }
}

/// The CSI specification's form of a driver name.
fn is_driver_name(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-';
    let edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    text.len() <= 63 && text.bytes().all(inner) && edge(text.as_bytes().first()) && edge(text.as_bytes().last())
}
