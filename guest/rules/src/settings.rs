//! The settings of the standard rules: one table says which keys there are, what they accept and what they default to; the
//! parser, the problems and the JSON Schema all come from it.

mod table;

use crate::selector::is_same;
use table::{SPECS, Spec};
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
            if given[..position].iter().any(|earlier| is_same(&earlier.key, &setting.key)) {
                problems.push(twice(setting));
                continue;
            }
            match SPECS.iter().find(|spec| is_same(spec.key, &setting.key)) {
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
