//! Which volume a source names, and whether that volume is ours.

use crate::answer::{finding, reason};
use crate::selector::is_same;
use crate::settings::{Settings, VolumeIds};
use crate::volume_id::{self, ParsedVolumeId, Rejection};
use zonewarden_bindings::identity::{IdentifiedVolume, VolumeIdentity, VolumeQuestion};
use zonewarden_bindings::types::{Finding, Problem, Reason, Severity, VolumeSource, Zone};

/// Names that stand where an id will be once there is a volume (F-4, D-6).
const PLACEHOLDERS: [&str; 2] = ["placeholder-for-provisioning", "<volume-provisioned>"];
/// What the EBS CSI driver calls a volume that it makes of a node's own disks (B-16).
const NODE_LOCAL: &str = "local-ebs://";

/// What a source names, borrowed from it: what other rules ask for, without a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Canonical<'a> {
    /// A volume that the policy handles.
    Volume(ParsedVolumeId<'a>),
    /// Somebody else's volume.
    Foreign(Foreign<'a>),
    /// A source that the policy handles, whose id breaks a rule.
    Rejected(RejectedId<'a>),
}

/// An id that breaks a rule, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RejectedId<'a> {
    subject: &'static str,
    text: &'a str,
    rejection: Rejection,
}

impl RejectedId<'_> {
    /// The rule's code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.rejection.code()
    }

    /// The same as the contract's record.
    #[must_use]
    pub fn to_problem(&self) -> Problem {
        self.rejection.into_problem(self.subject, self.text)
    }
}

/// Why a volume is not the policy's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign<'a> {
    /// Another CSI driver's.
    OtherDriver(&'a str),
    /// Another in-tree plugin's.
    OtherPlugin(&'static str),
    /// Another kind of volume, by its field.
    OtherSource(&'a str),
    /// One that never leaves its node.
    NodeLocal(&'a str),
    /// None yet.
    Placeholder(&'a str),
}

impl Foreign<'_> {
    /// The code that such volumes are counted by.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::OtherDriver(_) => "other-driver",
            Self::OtherPlugin(_) => "other-plugin",
            Self::OtherSource(_) => "other-source",
            Self::NodeLocal(_) => "node-local-volume",
            Self::Placeholder(_) => "placeholder",
        }
    }

    /// The same as the contract's record.
    #[must_use]
    pub fn to_reason(self) -> Reason {
        let message = match self {
            Self::OtherDriver(driver) => format!("the CSI driver {driver:?} is not the one that this policy handles"),
            Self::OtherPlugin(field) => format!("{field} is not a kind of volume that this policy handles"),
            Self::OtherSource(field) => format!("{field:?} is not a kind of volume that this policy handles"),
            Self::NodeLocal(handle) => {
                format!("{handle:?} is a volume of its node's own disks, which EC2 does not know")
            }
            Self::Placeholder(text) => format!("{text:?} stands for a volume that is not there yet"),
        };
        reason(self.code(), message)
    }
}

/// What the source names, without a copy of it. Rules that need more than the id call [`identify_volume`].
#[must_use]
pub fn canonical<'a>(settings: &Settings, source: &'a VolumeSource) -> Canonical<'a> {
    let (subject, text) = match source {
        VolumeSource::AwsElasticBlockStore(id) => ("awsElasticBlockStore.volumeID", id.kubernetes_volume_id.as_str()),
        VolumeSource::Csi(csi) if is_same(&csi.driver, &settings.csi_driver) => {
            ("csi.volumeHandle", csi.volume_handle.kubernetes_volume_id.as_str())
        }
        VolumeSource::Csi(csi) => return Canonical::Foreign(Foreign::OtherDriver(&csi.driver)),
        VolumeSource::GcePersistentDisk(_) => return Canonical::Foreign(Foreign::OtherPlugin("gcePersistentDisk")),
        VolumeSource::Other(field) => return Canonical::Foreign(Foreign::OtherSource(field)),
    };
    if PLACEHOLDERS.contains(&text) {
        return Canonical::Foreign(Foreign::Placeholder(text));
    }
    if text.starts_with(NODE_LOCAL) {
        return Canonical::Foreign(Foreign::NodeLocal(text));
    }
    let rejected = |rejection| Canonical::Rejected(RejectedId { subject, text, rejection });
    match volume_id::read(text, settings.volume_ids) {
        Err(rejection) => rejected(rejection),
        Ok(id) if is_url_handle(source, &id) && settings.volume_ids == VolumeIds::Strict => {
            rejected(Rejection::UrlHandle)
        }
        Ok(id) => Canonical::Volume(id),
    }
}

/// Whether a CSI volume's handle is a URL. The driver sends it to EC2 as it stands, and EC2 knows no such volume (B-16).
fn is_url_handle(source: &VolumeSource, id: &ParsedVolumeId<'_>) -> bool {
    matches!(source, VolumeSource::Csi(_)) && id.is_url()
}

/// Identifies a volume.
#[must_use]
pub fn identify_volume(settings: &Settings, question: &VolumeQuestion) -> VolumeIdentity {
    match canonical(settings, &question.source) {
        Canonical::Foreign(foreign) => VolumeIdentity::Foreign(foreign.to_reason()),
        Canonical::Rejected(rejected) => VolumeIdentity::Rejected(rejected.to_problem()),
        Canonical::Volume(id) => {
            let mut warnings = id.warnings();
            if is_url_handle(&question.source, &id) {
                warnings.push(url_handle(&id));
            }
            warnings.extend(zone_mismatch(&id, question.ec2_zone.as_ref()));
            VolumeIdentity::Identified(IdentifiedVolume {
                volume: id.id().into(),
                zone_hint: id.to_zone(),
                askable: id.is_askable(),
                warnings,
            })
        }
    }
}

fn url_handle(id: &ParsedVolumeId<'_>) -> Finding {
    let message = format!(
        "the volume handle {:?} reaches EC2 as it stands and fails there: make the PersistentVolume anew with the handle {:?}",
        id.text(),
        id.id().as_str()
    );
    finding(Severity::Error, Rejection::UrlHandle.code(), message)
}

/// D-34: EC2 wins.
fn zone_mismatch(id: &ParsedVolumeId<'_>, ec2_zone: Option<&Zone>) -> Option<Finding> {
    let hint = id.zone_hint()?;
    let zone = ec2_zone.map(|zone| zone.zone.as_str()).filter(|zone| !zone.is_empty() && *zone != hint)?;
    let message =
        format!("volume id {:?} names the zone {hint}, but EC2 has the volume in {zone}, which counts", id.text());
    Some(finding(Severity::Warning, "zone-mismatch", message))
}
