//! What a PersistentVolume should carry, so that the scheduler places its pods without asking the cloud.
//!
//! EC2's zone decides; without EC2 the object's own hints are used and marked as such. Nothing that somebody else wrote is
//! changed on an object that exists, an affinity is never changed at all, and a label that would keep the pod from every
//! node is not written. The annotation `pv.kubernetes.io/provisioned-by` is not read: anybody may set it (F-2).

mod affinity;
mod labels;
mod names;
mod nodes;
mod origin;
#[cfg(test)]
mod tests;

use zonewarden_bindings::identity::{VolumeIdentity, VolumeQuestion};
use zonewarden_bindings::labelling::{LabellingAnswer, LabellingBasis, LabellingQuestion};
use zonewarden_bindings::types::{Finding, Problem, Reason, Region, Severity, Topology, VolumeEvidence, Zone};

use self::nodes::Nodes;
use self::origin::{Origin, Placed};
use crate::answer::{finding, reason};
use crate::identity::identify_volume;
use crate::settings::Settings;

/// Says what one PersistentVolume should carry. `topologies` are the distinct label sets of the cluster's nodes.
///
/// Asked again about the changed object, it sets nothing more.
#[must_use]
pub fn label_volume(settings: &Settings, topologies: &[Topology], question: &LabellingQuestion) -> LabellingAnswer {
    let asked = VolumeQuestion { source: question.source.clone(), ec2_zone: ec2_zone(&question.evidence) };
    let identified = match identify_volume(settings, &asked) {
        VolumeIdentity::Identified(identified) => identified,
        VolumeIdentity::Foreign(reason) => return nothing(reason, Vec::new()),
        VolumeIdentity::Rejected(problem) => return rejected(&problem),
    };
    let mut findings = identified.warnings.clone();
    match origin::find(settings, question, &identified, &mut findings) {
        Origin::Gone(gone) => {
            let reason = gone.reason.clone();
            findings.push(gone);
            nothing(reason, findings)
        }
        Origin::Unknown(reason) => {
            let nodes = Nodes { all: topologies, zone: "" };
            findings.extend(labels::judge(settings, nodes, question, None).findings);
            findings.extend(affinity::zone_id(question, None));
            nothing(reason, findings)
        }
        Origin::Known(placed) => place(settings, topologies, question, placed, findings),
    }
}

/// What an object should carry whose volume's zone is known.
fn place(
    settings: &Settings,
    topologies: &[Topology],
    question: &LabellingQuestion,
    placed: Placed,
    mut findings: Vec<Finding>,
) -> LabellingAnswer {
    let nodes = Nodes { all: topologies, zone: &placed.zone };
    let mut labels = labels::judge(settings, nodes, question, Some(&placed));
    let writable = settings.set_affinity && !labels.contradict;
    let mut affinity = affinity::judge(&affinity::Asked { nodes, question, placed: &placed, writable });
    if !placed.is_proven() && (labels.contradict || affinity.contradicts) {
        // Hints that contradict each other are not worth writing.
        labels.to_set.clear();
        affinity.to_set = None;
    }
    findings.append(&mut labels.findings);
    findings.extend(affinity::zone_id(question, Some(&placed)));
    findings.append(&mut affinity.findings);
    let region = placed.region().map(|region| Region { region: region.to_owned() });
    let Placed { basis, reason, zone, .. } = placed;
    let zone = Some(Zone { zone });
    LabellingAnswer { basis, zone, region, labels: labels.to_set, affinity: affinity.to_set, findings, reason }
}

/// The zone that EC2 names.
pub(crate) fn ec2_zone(evidence: &VolumeEvidence) -> Option<Zone> {
    match evidence {
        VolumeEvidence::Found(facts) => facts.zone.clone(),
        VolumeEvidence::Unknown | VolumeEvidence::Missing(_) => None,
    }
}

fn rejected(problem: &Problem) -> LabellingAnswer {
    let why = reason(&problem.rule, problem.message.clone());
    nothing(why, vec![finding(Severity::Error, &problem.rule, problem.message.clone())])
}

fn nothing(reason: Reason, findings: Vec<Finding>) -> LabellingAnswer {
    let (basis, zone, region) = (LabellingBasis::Nothing, None, None);
    LabellingAnswer { basis, zone, region, labels: Vec::new(), affinity: None, findings, reason }
}
