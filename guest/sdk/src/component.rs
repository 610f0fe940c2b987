//! A policy as the implementation of every interface of the contract.

use std::marker::PhantomData;

use zonewarden_bindings::admission::{self, AdmissionAnswer, ConcernedVolume};
use zonewarden_bindings::attachment::{self, Judgement, Observation};
use zonewarden_bindings::identity::{self, NodeIdentity, NodeQuestion, VolumeIdentity, VolumeQuestion};
use zonewarden_bindings::info::{self, PolicyInfo};
use zonewarden_bindings::json;
use zonewarden_bindings::labelling::{self, LabellingAnswer, LabellingQuestion};
use zonewarden_bindings::placement::{self, ClassScore, Injection, NodeClasses, PodQuestion, Verdicts};
use zonewarden_bindings::types::{Error, Problem, SelectorTerm, Setting, Topology, VolumeEvidence};

use crate::Policy;
use crate::rules::placement::{Nodes, problem_of};

/// What [`export_policy!`](crate::export_policy) exports: it parses the settings once and takes batches apart.
///
/// Usable natively too: its methods (those of the traits `Guest` of [`contract`](crate::contract)) are the contract's
/// functions.
#[derive(Debug, Clone, Copy)]
pub struct Component<P>(PhantomData<P>);

impl<P: Policy> info::Guest for Component<P> {
    fn describe(settings: Vec<Setting>) -> Result<PolicyInfo, Error> {
        Ok(P::describe(&P::settings(&settings)?))
    }

    fn validate_settings(settings: Vec<Setting>) -> Vec<Problem> {
        P::validate_settings(&settings)
    }
}

impl<P: Policy> identity::Guest for Component<P> {
    fn identify_volumes(settings: Vec<Setting>, volumes: Vec<VolumeQuestion>) -> Result<Vec<VolumeIdentity>, Error> {
        let settings = P::settings(&settings)?;
        Ok(volumes.iter().map(|volume| P::identify_volume(&settings, volume)).collect())
    }

    fn identify_nodes(settings: Vec<Setting>, nodes: Vec<NodeQuestion>) -> Result<Vec<NodeIdentity>, Error> {
        let settings = P::settings(&settings)?;
        Ok(nodes.iter().map(|node| P::identify_node(&settings, node)).collect())
    }
}

impl<P: Policy> labelling::Guest for Component<P> {
    fn label_volumes(
        settings: Vec<Setting>,
        topologies: Vec<Topology>,
        volumes: Vec<LabellingQuestion>,
    ) -> Result<Vec<LabellingAnswer>, Error> {
        let settings = P::settings(&settings)?;
        Ok(volumes.iter().map(|volume| P::label_volume(&settings, &topologies, volume)).collect())
    }
}

impl<P: Policy> placement::Guest for Component<P> {
    fn filter(settings: Vec<Setting>, pod: PodQuestion, nodes: NodeClasses) -> Result<Verdicts, Error> {
        let settings = P::settings(&settings)?;
        check(&pod)?;
        Ok(P::filter(&settings, &pod, &Nodes::new(&nodes).map_err(Error::Question)?))
    }

    fn score(settings: Vec<Setting>, pod: PodQuestion, nodes: NodeClasses) -> Result<Vec<ClassScore>, Error> {
        let settings = P::settings(&settings)?;
        check(&pod)?;
        Ok(P::score(&settings, &pod, &Nodes::new(&nodes).map_err(Error::Question)?))
    }

    fn inject(settings: Vec<Setting>, pod: PodQuestion, terms: Option<Vec<SelectorTerm>>) -> Result<Injection, Error> {
        let settings = P::settings(&settings)?;
        check(&pod)?;
        Ok(P::inject(&settings, &pod, terms.as_deref()))
    }
}

/// Refuses a pod with a volume whose topology is not there.
fn check(pod: &PodQuestion) -> Result<(), Error> {
    problem_of(pod).map_or(Ok(()), |problem| Err(Error::Question(problem)))
}

impl<P: Policy> attachment::Guest for Component<P> {
    fn judge(settings: Vec<Setting>, observations: Vec<Observation>) -> Result<Vec<Judgement>, Error> {
        let settings = P::settings(&settings)?;
        Ok(observations.iter().map(|observation| P::judge(&settings, observation)).collect())
    }
}

impl<P: Policy> admission::Guest for Component<P> {
    fn concerns(settings: Vec<Setting>, review: String) -> Result<Vec<ConcernedVolume>, Error> {
        P::concerns(&P::settings(&settings)?, &review)
    }

    fn answer(
        settings: Vec<Setting>,
        review: String,
        evidence: Vec<VolumeEvidence>,
        topologies: Vec<Topology>,
    ) -> Result<AdmissionAnswer, Error> {
        P::answer(&P::settings(&settings)?, &review, &evidence, &topologies)
    }
}

impl<P: Policy> json::Guest for Component<P> {
    fn evaluate(request: String) -> Result<String, String> {
        crate::evaluate::<P>(&request)
    }
}
