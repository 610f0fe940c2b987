//! Puts a case's question to the engine by the function's own types.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use zonewarden_conformance_tests::{Answer, Case};
use zonewarden_contract::attachment::Observation;
use zonewarden_contract::identity::{NodeQuestion, VolumeQuestion};
use zonewarden_contract::labelling::LabellingQuestion;
use zonewarden_contract::placement::{NodeClasses, PodQuestion};
use zonewarden_contract::types::{self, Problem, SelectorTerm, Setting, Topology, VolumeEvidence};
use zonewarden_engine::{ConfiguredPolicy, Error, Policy};

/// Declares a function's parameters beside the settings.
macro_rules! parameters {
    ($($name:ident { $($field:ident: $type:ty),+ })+) => {
        $(#[derive(Deserialize)] struct $name { $($field: $type),+ })+
    };
}

parameters! {
    Volumes { volumes: Vec<VolumeQuestion> }
    Nodes { nodes: Vec<NodeQuestion> }
    Labelling { topologies: Vec<Topology>, volumes: Vec<LabellingQuestion> }
    Placement { pod: PodQuestion, nodes: NodeClasses }
    Inject { pod: PodQuestion, terms: Option<Vec<SelectorTerm>> }
    Judge { observations: Vec<Observation> }
    Concerns { review: String }
    Reviewed { review: String, evidence: Vec<VolumeEvidence>, topologies: Vec<Topology> }
    Settings { settings: Vec<Setting> }
}

#[derive(Deserialize)]
struct Request<A> {
    arguments: A,
}

/// The answer to a case's question.
pub(crate) fn ask(policy: &Policy, case: &Case) -> Answer {
    let Settings { settings } = arguments(case);
    match policy.with_settings(settings) {
        Ok(configured) => ask_configured(&configured, case),
        // The engine asks `validate-settings` first of all, so its answer is what bad settings are refused with.
        Err(Error::Settings { problems }) if case.function == "info.validate-settings" => success(&problems),
        Err(error) => failure(case, error),
    }
}

fn ask_configured(policy: &ConfiguredPolicy, case: &Case) -> Answer {
    match case.function.as_str() {
        "info.describe" => success(policy.info()),
        "info.validate-settings" => success(&Vec::<Problem>::new()),
        "identity.identify-volumes" => with(case, |a: Volumes| policy.identify_volumes(&a.volumes)),
        "identity.identify-nodes" => with(case, |a: Nodes| policy.identify_nodes(&a.nodes)),
        "labelling.label-volumes" => with(case, |a: Labelling| policy.label_volumes(&a.topologies, &a.volumes)),
        "placement.filter" => with(case, |a: Placement| policy.filter(&a.pod, &a.nodes)),
        "placement.score" => with(case, |a: Placement| policy.score(&a.pod, &a.nodes)),
        "placement.inject" => with(case, |a: Inject| policy.inject(&a.pod, a.terms.as_deref())),
        "attachment.judge" => with(case, |a: Judge| policy.judge(&a.observations)),
        "admission.concerns" => with(case, |a: Concerns| policy.concerns(&a.review)),
        "admission.answer" => with(case, |a: Reviewed| policy.answer(&a.review, &a.evidence, &a.topologies)),
        other => panic!("{other} is no function of the contract"),
    }
}

fn with<A: DeserializeOwned, T: Serialize>(case: &Case, ask: impl FnOnce(A) -> Result<T, Error>) -> Answer {
    match ask(arguments(case)) {
        Ok(answer) => success(&answer),
        Err(error) => failure(case, error),
    }
}

fn arguments<A: DeserializeOwned>(case: &Case) -> A {
    let request: Request<A> = serde_json::from_str(&case.request)
        .unwrap_or_else(|error| panic!("{}, {}: the question is not of its types: {error}", case.function, case.name));
    request.arguments
}

fn success(answer: &impl Serialize) -> Answer {
    Answer::Ok(json(answer))
}

/// What the policy itself said; any other error is the engine's, and no answer.
fn failure(case: &Case, error: Error) -> Answer {
    let said = match error {
        Error::Settings { problems } => types::Error::Settings(problems),
        Error::Question { problem } => types::Error::Question(problem),
        other => panic!("{}, {}: {other}", case.function, case.name),
    };
    Answer::Err(json(&said))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("records of texts and numbers always have a JSON form")
}
