//! Which nodes fit each pod.

use std::sync::Arc;

use zonewarden_cluster::records::{Pod, PodVolumeSource};
use zonewarden_contract::placement::{ClassDecision, ClassVerdict, Injection, Place, Verdicts};
use zonewarden_contract::types::{NodeName, Reason};
use zonewarden_engine::Error;

use crate::Survey;
use crate::classes::{Class, table};
use crate::occupancy::source;

/// A pod and what the policy says of the nodes.
#[derive(Debug)]
pub struct PlacedPod<'a> {
    /// The object.
    pub pod: &'a Pod,
    /// The classes of nodes, each with its verdict.
    pub classes: Vec<(Class<'a>, ClassVerdict)>,
    /// The affinity that the pod needs, where it names a volume directly that the policy handles.
    pub injection: Option<Injection>,
    places: Arc<[Place]>,
    reasons: Vec<Reason>,
}

impl PlacedPod<'_> {
    /// Whether any node fits.
    #[must_use]
    pub fn is_placeable(&self) -> bool {
        self.classes.iter().any(|(_, verdict)| verdict.decision == ClassDecision::Feasible)
    }

    /// The verdict about a node.
    #[must_use]
    pub fn verdict_of(&self, node: &NodeName) -> Option<&ClassVerdict> {
        let holds =
            |class: &Class<'_>| class.nodes.binary_search_by(|known| known.node_name.cmp(&node.node_name)).is_ok();
        self.classes.iter().find(|(class, _)| holds(class)).map(|(_, verdict)| verdict)
    }

    /// Where the nodes of one of its classes are.
    #[must_use]
    pub fn place_of(&self, class: &Class<'_>) -> &Place {
        &self.places[class.class.place as usize]
    }

    /// Why a verdict of its classes is what it is, the decisive reason first.
    pub fn reasons(&self, verdict: &ClassVerdict) -> impl Iterator<Item = &Reason> {
        // The engine takes no verdict that names a reason which is not there.
        verdict.reasons.iter().map(|position| &self.reasons[*position as usize])
    }
}

impl Survey<'_> {
    /// Every pod that is not over and uses a volume which the policy handles, or a claim which leads to no volume yet.
    pub fn pods(&self) -> impl Iterator<Item = &Pod> {
        self.cluster.pods().filter(|pod| !pod.has_ended() && self.concerns(pod))
    }

    /// Whether a pod is the policy's business.
    fn concerns(&self, pod: &Pod) -> bool {
        pod.volumes.iter().any(|volume| match (source(self.cluster, pod, volume), &volume.source) {
            (Some(source), _) => self.handles(source),
            (None, PodVolumeSource::Claim(_) | PodVolumeSource::Ephemeral(_)) => true,
            (None, PodVolumeSource::Inline(_)) => false,
        })
    }

    /// Asks where a pod may go.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn place<'a>(&'a self, pod: &'a Pod) -> Result<PlacedPod<'a>, Error> {
        let question = self.pod_question(pod);
        let (places, classes) = self.groups().classes(&self.needs(&question));
        let nodes = table(&places, &classes);
        let Verdicts { reasons, classes: verdicts } = self.policy.filter(&question, &nodes)?;
        let names_directly = pod
            .volumes
            .iter()
            .any(|volume| matches!(&volume.source, PodVolumeSource::Inline(source) if self.handles(source)));
        let injection =
            names_directly.then(|| self.policy.inject(&question, pod.required_terms.as_deref())).transpose()?;
        Ok(PlacedPod { pod, classes: classes.into_iter().zip(verdicts).collect(), injection, places, reasons })
    }
}
