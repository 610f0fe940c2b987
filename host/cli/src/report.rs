//! What `check` answers: the shape of its JSON, which `docs/check.schema.json` describes.

mod attachments;
mod pods;
mod volumes;

use std::collections::BTreeMap;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use zonewarden_contract::types::{self, Severity};
use zonewarden_engine::ConfiguredPolicy;

pub(crate) use attachments::Attachment;
pub(crate) use pods::{NodeGroup, Pod};
pub(crate) use volumes::Volume;

use crate::output::kebab;
use crate::world::World;

/// The answer of `zonewarden check`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// Who decided.
    pub(crate) policy: Decider,
    /// The counts.
    pub(crate) summary: Summary,
    /// Every PersistentVolume, those of other drivers too.
    pub(crate) volumes: Vec<Volume>,
    /// Every pod that uses a volume which the policy handles.
    pub(crate) pods: Vec<Pod>,
    /// Every VolumeAttachment of a driver that the policy handles, and every attachment that only EC2 knows.
    pub(crate) attachments: Vec<Attachment>,
    /// What could not be read or not be known.
    pub(crate) problems: Vec<Problem>,
}

/// The policy that decided.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Decider {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// The SHA-256 of its component.
    pub(crate) digest: String,
}

/// The counts of an answer.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    /// PersistentVolumes.
    pub(crate) volumes: usize,
    /// Those with something to tell or to set.
    pub(crate) volumes_with_findings: usize,
    /// Pods that use volumes which the policy handles.
    pub(crate) pods: usize,
    /// Those that fit no node, or run where they should not.
    pub(crate) pods_with_findings: usize,
    /// Attachments.
    pub(crate) attachments: usize,
    /// Those with something to tell or to do.
    pub(crate) attachments_with_findings: usize,
    /// What could not be read or not be known, but for notes.
    pub(crate) problems: usize,
}

/// Something worth telling.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Finding {
    /// info, warning or error.
    pub(crate) severity: String,
    /// A stable code.
    pub(crate) code: String,
    /// A sentence.
    pub(crate) message: String,
}

/// Something that could not be read or not be known.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Problem {
    /// info: a note, which is no finding; warning or error: it is one.
    pub(crate) severity: String,
    /// A stable code.
    pub(crate) code: String,
    /// Where: a file, with document, object and field where they are known.
    pub(crate) place: String,
    /// A sentence.
    pub(crate) message: String,
}

/// One requirement of a node affinity, as Kubernetes writes it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Requirement {
    /// The node label's key.
    pub(crate) key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`.
    pub(crate) operator: String,
    /// The values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) values: Vec<String>,
}

/// Labels by key.
pub(crate) type Labels = BTreeMap<String, String>;

/// Asks the policy about everything.
pub(crate) fn of(world: &World, policy: &ConfiguredPolicy, all_nodes: bool) -> Result<Report> {
    let survey = world.survey(policy)?;
    let info = policy.info();
    let mut report = Report {
        policy: Decider { name: info.name.clone(), version: info.version.clone(), digest: policy.digest().to_owned() },
        summary: Summary::default(),
        volumes: volumes::of(&survey)?,
        pods: pods::of(&survey, all_nodes)?,
        attachments: attachments::of(&survey)?,
        problems: world.problems.clone(),
    };
    // What is wrong with files was found when they were read.
    if !world.is_on_files() {
        report.problems.extend(survey.problems().iter().map(Problem::new));
    }
    report.summary = summary(&report);
    Ok(report)
}

fn summary(report: &Report) -> Summary {
    Summary {
        volumes: report.volumes.len(),
        volumes_with_findings: report.volumes.iter().filter(|volume| volume.tells()).count(),
        pods: report.pods.len(),
        pods_with_findings: report.pods.iter().filter(|pod| pod.tells()).count(),
        attachments: report.attachments.len(),
        attachments_with_findings: report.attachments.iter().filter(|attachment| attachment.tells()).count(),
        problems: report.problems.iter().filter(|problem| problem.severity != "info").count(),
    }
}

impl Summary {
    /// Whether anything was found.
    pub(crate) fn tells(&self) -> bool {
        self.volumes_with_findings + self.pods_with_findings + self.attachments_with_findings + self.problems > 0
    }
}

impl Problem {
    /// What a reader could not read.
    pub(crate) fn new(problem: &zonewarden_documents::Problem) -> Self {
        Self {
            severity: match (problem.severity, problem.code) {
                // Objects of other kinds are no finding, however many a dump holds.
                (_, zonewarden_documents::Code::UnknownKind) => "info",
                (zonewarden_documents::Severity::Warning, _) => "warning",
                (zonewarden_documents::Severity::Error, _) => "error",
            }
            .to_owned(),
            code: problem.code.as_str().to_owned(),
            place: problem.place.to_string(),
            message: problem.to_string(),
        }
    }
}

impl Finding {
    /// The contract's finding.
    pub(crate) fn new(finding: &types::Finding) -> Self {
        Self::of(finding.severity, &finding.reason)
    }

    /// A reason and how grave it is.
    pub(crate) fn of(severity: Severity, reason: &types::Reason) -> Self {
        Self { severity: kebab(&severity), code: reason.code.clone(), message: reason.message.clone() }
    }

    /// Whether it is more than a note.
    pub(crate) fn tells(&self) -> bool {
        self.severity != "info"
    }
}

/// Terms as Kubernetes writes them.
pub(crate) fn terms(terms: &[types::SelectorTerm]) -> Vec<Vec<Requirement>> {
    let requirement = |requirement: &types::Requirement| Requirement {
        key: requirement.key.clone(),
        operator: match &requirement.operator {
            types::SelectorOperator::Other(text) => text.clone(),
            known => {
                serde_json::to_value(known).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
            }
        },
        values: requirement.values.clone(),
    };
    terms.iter().map(|term| term.requirements.iter().map(requirement).collect()).collect()
}

/// Labels by key.
pub(crate) fn labels(labels: &[types::Label]) -> Labels {
    labels.iter().map(|label| (label.key.clone(), label.value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::Report;

    /// Where the schema stands, for people and for programs, seen from the package's folder, where cargo runs tests.
    const SCHEMA: &str = "../../docs/check.schema.json";

    /// `ZONEWARDEN_UPDATE=1 cargo test -p zonewarden-cli schema` writes it anew.
    #[test]
    fn the_documented_schema_is_that_of_the_report() -> anyhow::Result<()> {
        let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<Report>();
        let schema = format!("{}\n", serde_json::to_string_pretty(&schema)?);
        if std::env::var_os("ZONEWARDEN_UPDATE").is_some() {
            std::fs::write(SCHEMA, &schema)?;
        }
        let documented = std::fs::read_to_string(SCHEMA).unwrap_or_default();
        assert!(
            documented == schema,
            "docs/check.schema.json is not that of the report: ZONEWARDEN_UPDATE=1 writes it"
        );
        Ok(())
    }
}
