//! The settings of the standard rules: one table says which keys there are, what they accept and what they default to; the
//! parser, the problems and the JSON Schema all come from it.

use crate::keys;
use zonewarden_bindings::types::{Error, Problem, Setting};

/// How volume ids are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VolumeIds {
    /// Whatever Kubernetes lets pass is accepted, with a warning for each leniency.
    Lenient,
    /// Only the documented spellings are accepted.
    Strict,
}

/// What a node without any zone or region label means for a volume that has a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnlabelledNodes {
    /// It is refused where the classes show two or more zones, else it passes.
    Auto,
    /// It passes, as in Kubernetes (F-40).
    Pass,
    /// It is refused.
    Refuse,
}

/// The settings, parsed once a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `volume-ids`
    pub volume_ids: VolumeIds,
    /// `csi-driver`
    pub csi_driver: String,
    /// `unlabelled-nodes`
    pub unlabelled_nodes: UnlabelledNodes,
    /// `set-affinity`: whether an affinity that is unset is set (E13).
    pub set_affinity: bool,
    /// `region-labels`: whether a region label is written where it harms no pod (D-31).
    pub region_labels: bool,
    /// `zone-hints`: whether the zone in a volume's own id is used where EC2 said nothing.
    pub zone_hints: bool,
    /// `assume-bound`: whether a claim with a volumeName but without the bind-completed annotation counts as bound (F-50).
    pub assume_bound: bool,
    /// `gate-undecided-pods`: whether a pod whose volume's zone is not known yet gets a scheduling gate.
    pub gate_undecided_pods: bool,
    /// `quiet-seconds`: no negative verdict about a VolumeAttachment younger than this, but for a death (D-47).
    pub quiet_seconds: u32,
    /// `stuck-attaching-seconds` (E6, D-12).
    pub stuck_attaching_seconds: u32,
    /// `stuck-detaching-seconds` (E7).
    pub stuck_detaching_seconds: u32,
    /// `detach-failing-seconds` (E3).
    pub detach_failing_seconds: u32,
    /// `orphan-seconds` (E10).
    pub orphan_seconds: u32,
    /// `leaked-seconds` (E12).
    pub leaked_seconds: u32,
    /// `deleted-seconds` (E8).
    pub deleted_seconds: u32,
    /// `consistent-seconds`: how far apart two reads that agree must lie.
    pub consistent_seconds: u32,
    /// `lease-silent-seconds`: for how long a dead kubelet's Lease did not change.
    pub lease_silent_seconds: u32,
}

/// What a key accepts.
enum Accepts {
    Choice(&'static [&'static str]),
    Seconds { least: u32, most: u32 },
    DriverName,
}

/// One row of the table.
struct Spec {
    key: &'static str,
    accepts: Accepts,
    default: &'static str,
    about: &'static str,
    /// Stores a value that was found good; `seconds` is the parsed number of an `Accepts::Seconds`.
    store: fn(&mut Settings, &str, u32),
}

impl Spec {
    /// Stores a value that is accepted.
    fn store_into(&self, settings: &mut Settings, value: &str) {
        (self.store)(settings, value, self.accepts.number(value).unwrap_or_default());
    }
}

const YES_NO: Accepts = Accepts::Choice(&["true", "false"]);

const SPECS: &[Spec] = &[
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

impl Default for Settings {
    fn default() -> Self {
        let mut settings = Self {
            volume_ids: VolumeIds::Lenient,
            csi_driver: String::new(),
            unlabelled_nodes: UnlabelledNodes::Auto,
            set_affinity: false,
            region_labels: false,
            zone_hints: false,
            assume_bound: false,
            gate_undecided_pods: false,
            quiet_seconds: 0,
            stuck_attaching_seconds: 0,
            stuck_detaching_seconds: 0,
            detach_failing_seconds: 0,
            orphan_seconds: 0,
            leaked_seconds: 0,
            deleted_seconds: 0,
            consistent_seconds: 0,
            lease_silent_seconds: 0,
        };
        for spec in SPECS {
            spec.store_into(&mut settings, spec.default);
        }
        settings
    }
}

impl Settings {
    /// Reads settings over the defaults.
    ///
    /// # Errors
    /// `Error::Settings` with every problem there is.
    pub fn parse(given: &[Setting]) -> Result<Self, Error> {
        Self::parse_over(&[], given)
    }

    /// Reads settings over those that a policy itself chose as its defaults, as pairs of key and value.
    ///
    /// # Errors
    /// `Error::Settings` with every problem there is in what was given. A default that is not good is left out: the policy's
    /// own tests hold its defaults against [`Settings::problems`].
    pub fn parse_over(defaults: &[(&str, &str)], given: &[Setting]) -> Result<Self, Error> {
        let mut settings = Self::default();
        for (key, value) in defaults {
            if let Some(spec) = SPECS.iter().find(|spec| spec.key == *key && spec.accepts.accepts(value)) {
                spec.store_into(&mut settings, value);
            }
        }
        let mut problems = Vec::new();
        for (position, setting) in given.iter().enumerate() {
            if given[..position].iter().any(|earlier| earlier.key == setting.key) {
                problems.push(twice(setting));
                continue;
            }
            match SPECS.iter().find(|spec| spec.key == setting.key) {
                None => problems.push(unknown(setting)),
                Some(spec) if spec.accepts.accepts(&setting.value) => spec.store_into(&mut settings, &setting.value),
                Some(spec) => problems.push(not_accepted(spec, setting)),
            }
        }
        if problems.is_empty() { Ok(settings) } else { Err(Error::Settings(problems)) }
    }

    /// What is wrong with these settings.
    #[must_use]
    pub fn problems(given: &[Setting]) -> Vec<Problem> {
        match Self::parse(given) {
            Err(Error::Settings(problems)) => problems,
            Ok(_) | Err(Error::Question(_)) => Vec::new(),
        }
    }
}

impl Accepts {
    fn accepts(&self, value: &str) -> bool {
        match self {
            Self::Choice(choices) => choices.contains(&value),
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

    fn forms(&self) -> Vec<String> {
        match self {
            Self::Choice(choices) => choices.iter().map(|choice| (*choice).to_owned()).collect(),
            Self::Seconds { least, most } => vec![format!("a whole number of seconds from {least} to {most}")],
            Self::DriverName => vec!["a CSI driver name: 1 to 63 letters, digits, dots and dashes".to_owned()],
        }
    }

    fn schema(&self) -> String {
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

fn unknown(setting: &Setting) -> Problem {
    Problem {
        subject: "settings".to_owned(),
        text: setting.key.clone(),
        rule: "unknown-setting".to_owned(),
        message: format!("there is no setting {:?}", setting.key),
        accepted: SPECS.iter().map(|spec| spec.key.to_owned()).collect(),
    }
}

fn twice(setting: &Setting) -> Problem {
    Problem {
        subject: format!("settings.{}", setting.key),
        text: setting.value.clone(),
        rule: "setting-twice".to_owned(),
        message: format!("the setting {:?} is given twice", setting.key),
        accepted: vec!["one value".to_owned()],
    }
}

fn not_accepted(spec: &Spec, setting: &Setting) -> Problem {
    let forms = spec.accepts.forms();
    Problem {
        subject: format!("settings.{}", spec.key),
        text: setting.value.clone(),
        rule: "setting-value".to_owned(),
        message: format!("{:?} is no value of the setting {}: give {}", setting.value, spec.key, forms.join(", ")),
        accepted: forms,
    }
}

/// The JSON Schema (draft 2020-12) of the settings of a policy with these defaults of its own.
#[must_use]
pub fn schema(defaults: &[(&str, &str)]) -> String {
    let property = |spec: &Spec| {
        let Spec { key, about, accepts, .. } = spec;
        let default = defaults.iter().find(|(own, _)| own == key).map_or(spec.default, |(_, value)| *value);
        format!(
            "\"{key}\":{{\"type\":\"string\",\"default\":\"{default}\",\"description\":\"{about}\",{}}}",
            accepts.schema()
        )
    };
    let properties: Vec<String> = SPECS.iter().map(property).collect();
    format!(
        "{{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\",\"additionalProperties\":false,\"properties\":{{{}}}}}",
        properties.join(",")
    )
}

#[cfg(test)]
mod tests;
