//! Pods at admission that name EBS volumes directly, and pod templates that do.

use zonewarden_bindings::admission::{AdmissionAnswer, ConcernedVolume, PatchOperation};
use zonewarden_bindings::identity::{VolumeIdentity, VolumeQuestion};
use zonewarden_bindings::placement::{Injection, InlineVolume, PodQuestion, PodVolume, PodVolumeSource};
use zonewarden_bindings::types::{KubernetesVolumeId, Reason, SelectorTerm, VolumeEvidence, VolumeSource};

use super::object::{Field, Malformed};
use super::persistent_volume::name;
use super::warnings::Warnings;
use super::{Rules, allow, deny};
use crate::answer::reason;
use crate::keys;
use crate::labelling::ec2_zone;
use crate::settings::{Settings, VolumeIds};

/// An EBS volume that a pod's spec names directly.
pub(super) struct Direct {
    /// `spec.volumes[].name`.
    name: String,
    /// Where the volume stands: `spec.volumes[0]`.
    path: String,
    id: KubernetesVolumeId,
}

impl Direct {
    /// Reads the volumes of a pod's spec.
    pub(super) fn read_all(spec: &Field<'_>) -> Result<Vec<Self>, Malformed> {
        let mut found = Vec::new();
        for volume in spec.get("volumes")?.list()? {
            let source = volume.get("awsElasticBlockStore")?;
            if source.is_absent() {
                continue;
            }
            let id = KubernetesVolumeId { kubernetes_volume_id: source.get("volumeID")?.text()?.to_owned() };
            found.push(Self { name: volume.get("name")?.text()?.to_owned(), path: volume.path, id });
        }
        Ok(found)
    }

    pub(super) fn concerned(&self) -> ConcernedVolume {
        ConcernedVolume { field: format!("{}.awsElasticBlockStore.volumeID", self.path), source: self.source() }
    }

    fn source(&self) -> VolumeSource {
        VolumeSource::AwsElasticBlockStore(self.id.clone())
    }
}

/// What the rules need of a pod.
pub(super) struct Pod {
    name: String,
    pub(super) volumes: Vec<Direct>,
    terms: Option<Vec<SelectorTerm>>,
    node_name: String,
    /// Whether some term names its node by `matchFields`, as those of a DaemonSet's pods do.
    names_its_node: bool,
    gates: Vec<String>,
}

impl Pod {
    pub(super) fn read(object: &Field<'_>, namespace: &str) -> Result<Self, Malformed> {
        let spec = object.get("spec")?;
        let required = spec.at(&["affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"])?;
        let terms = required.get("nodeSelectorTerms")?;
        let gates = spec.get("schedulingGates")?.list()?;
        let gate = |gate: &Field<'_>| gate.get("name")?.text().map(str::to_owned);
        Ok(Self {
            name: format!("{namespace}/{}", name(&object.get("metadata")?)?),
            volumes: Direct::read_all(&spec)?,
            names_its_node: names_node(&terms)?,
            terms: if required.is_absent() { None } else { Some(terms.terms()?) },
            node_name: spec.get("nodeName")?.text()?.to_owned(),
            gates: gates.iter().map(gate).collect::<Result<_, _>>()?,
        })
    }

    /// Why the pod's node is not the scheduler's to choose, if so (h2).
    pub(super) fn placed_by_others(&self) -> Option<Reason> {
        let name = &self.name;
        if !self.node_name.is_empty() {
            let message = format!("pod {name} names its node {} itself", self.node_name);
            return Some(reason("node-name-set", message));
        }
        self.names_its_node.then(|| {
            let message = format!("pod {name} is bound to one node by matchFields, as the pods of a DaemonSet are");
            reason("bound-to-node", message)
        })
    }

    pub(super) fn answer(
        self,
        settings: &Settings,
        evidence: &[VolumeEvidence],
        rules: &impl Rules,
    ) -> AdmissionAnswer {
        let mut warnings = Warnings::default();
        for (position, volume) in self.volumes.iter().enumerate() {
            let evidence = evidence.get(position).unwrap_or(&VolumeEvidence::Unknown);
            match super::rejection(rules, &volume.source(), evidence) {
                Some(problem) if settings.volume_ids == VolumeIds::Strict => return deny(problem),
                Some(problem) => warnings.add(&problem.message),
                None => {}
            }
        }
        if let Some(reason) = self.placed_by_others() {
            return allow(reason, warnings, Vec::new());
        }
        if self.volumes.is_empty() {
            let reason = reason("no-direct-volume", format!("pod {} names no EBS volume directly", self.name));
            return allow(reason, warnings, Vec::new());
        }
        let injection = rules.inject(&self.question(evidence), self.terms.as_deref());
        self.carry_out(settings, injection, warnings)
    }

    fn question(&self, evidence: &[VolumeEvidence]) -> PodQuestion {
        let volume = |(volume, evidence): (&Direct, &VolumeEvidence)| PodVolume {
            name: volume.name.clone(),
            source: PodVolumeSource::Inline(InlineVolume { source: volume.source(), evidence: evidence.clone() }),
        };
        PodQuestion {
            pod: self.name.clone(),
            volumes: self.volumes.iter().zip(evidence).map(volume).collect(),
            topologies: Vec::new(),
            required_drivers: Vec::new(),
        }
    }

    fn carry_out(self, settings: &Settings, injection: Injection, mut warnings: Warnings) -> AdmissionAnswer {
        match injection {
            Injection::Nothing(reason) => allow(reason, warnings, Vec::new()),
            Injection::Inject(injected) => {
                warnings.add_findings(&injected.findings);
                let changed = self.terms.as_ref() != Some(&injected.terms);
                let operations = changed.then_some(PatchOperation::SetPodAffinity(injected.terms));
                allow(injected.reason, warnings, operations.into_iter().collect())
            }
            Injection::Contradiction(reason) => {
                AdmissionAnswer { allowed: false, reason, warnings: warnings.into_list(), operations: Vec::new() }
            }
            Injection::Undecided(reason) => {
                warnings.add(&reason.message);
                let gate = settings.gate_undecided_pods && !self.gates.iter().any(|gate| gate == keys::SCHEDULING_GATE);
                let operations = gate.then(|| PatchOperation::AddSchedulingGate(keys::SCHEDULING_GATE.to_owned()));
                allow(reason, warnings, operations.into_iter().collect())
            }
        }
    }
}

fn names_node(terms: &Field<'_>) -> Result<bool, Malformed> {
    for term in terms.list()? {
        for field in term.get("matchFields")?.list()? {
            if field.get("key")?.text()? == "metadata.name" {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// A controller's template is never changed, only warned about: its pods are completed when they are created.
pub(super) fn answer_template(volumes: &[Direct], evidence: &[VolumeEvidence], rules: &impl Rules) -> AdmissionAnswer {
    let mut warnings = Warnings::default();
    for (volume, evidence) in volumes.iter().zip(evidence) {
        match rules.identify(&VolumeQuestion { source: volume.source(), ec2_zone: ec2_zone(evidence) }) {
            VolumeIdentity::Identified(identified) => {
                let id = &identified.volume.aws_volume_id;
                let zone = ec2_zone(evidence).map_or_else(String::new, |zone| format!(" ({})", zone.zone));
                let name = &volume.name;
                warnings.add(&format!("volume {name} names {id}{zone} directly: use a PersistentVolumeClaim"));
                warnings.add_findings(&identified.warnings);
            }
            VolumeIdentity::Rejected(problem) => warnings.add(&problem.message),
            VolumeIdentity::Foreign(_) => {}
        }
    }
    let message = "a pod template is let in unchanged: its pods are looked at when they are created";
    allow(reason("pod-template", message), warnings, Vec::new())
}
