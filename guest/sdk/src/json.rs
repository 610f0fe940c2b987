//! The contract's `json` interface, once for every policy: each function of the contract by its name.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use zonewarden_bindings::attachment::Observation;
use zonewarden_bindings::identity::{NodeQuestion, VolumeQuestion};
use zonewarden_bindings::labelling::LabellingQuestion;
use zonewarden_bindings::placement::{NodeClasses, PodQuestion};
use zonewarden_bindings::types::{Error, Problem, SelectorTerm, Setting, Topology, VolumeEvidence};
use zonewarden_bindings::{admission, attachment, identity, info, labelling, placement};

use crate::{Component, Policy};

/// How much of an offending request an error repeats.
const EXCERPT_BYTES: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request<'a> {
    function: String,
    #[serde(borrow)]
    arguments: &'a RawValue,
}

/// Declares a function's arguments: a struct with the parameters' names.
macro_rules! arguments {
    ($($name:ident { $($field:ident: $type:ty),+ })+) => {
        $(#[derive(Deserialize)] struct $name { settings: Vec<Setting>, $($field: $type),+ })+
    };
}

arguments! {
    Volumes { volumes: Vec<VolumeQuestion> }
    Nodes { nodes: Vec<NodeQuestion> }
    Labelling { topologies: Vec<Topology>, volumes: Vec<LabellingQuestion> }
    Placement { pod: PodQuestion, nodes: NodeClasses }
    Inject { pod: PodQuestion, terms: Option<Vec<SelectorTerm>> }
    Judge { observations: Vec<Observation> }
    Concerns { review: String }
    Answer { review: String, evidence: Vec<VolumeEvidence>, topologies: Vec<Topology> }
}

#[derive(Deserialize)]
struct SettingsOnly {
    settings: Vec<Setting>,
}

/// Answers one question of the contract, as JSON in and out.
///
/// # Errors
/// The JSON of `types.error`.
pub fn evaluate<P: Policy>(request: &str) -> Result<String, String> {
    answer::<P>(request).map_err(|error| to_json(&error))
}

fn answer<P: Policy>(request: &str) -> Result<String, Error> {
    use admission::Guest as _;
    use attachment::Guest as _;
    use identity::Guest as _;
    use info::Guest as _;
    use labelling::Guest as _;
    use placement::Guest as _;
    type C<P> = Component<P>;

    let unreadable = |why: &str| {
        let message = format!("the request can't be read: {why}");
        problem("request", request, "request", &message, &[FORM])
    };
    if is_list(request) {
        return Err(unreadable(LIST));
    }
    let Request { function, arguments } =
        serde_json::from_str(request).map_err(|error| unreadable(&error.to_string()))?;
    let at = Arguments { function: &function, text: arguments.get() };
    match function.as_str() {
        "info.describe" => at.ask(|a: SettingsOnly| C::<P>::describe(a.settings)),
        "info.validate-settings" => at.ask(|a: SettingsOnly| Ok(C::<P>::validate_settings(a.settings))),
        "identity.identify-volumes" => at.ask(|a: Volumes| C::<P>::identify_volumes(a.settings, a.volumes)),
        "identity.identify-nodes" => at.ask(|a: Nodes| C::<P>::identify_nodes(a.settings, a.nodes)),
        "labelling.label-volumes" => at.ask(|a: Labelling| C::<P>::label_volumes(a.settings, a.topologies, a.volumes)),
        "placement.filter" => at.ask(|a: Placement| C::<P>::filter(a.settings, a.pod, a.nodes)),
        "placement.score" => at.ask(|a: Placement| C::<P>::score(a.settings, a.pod, a.nodes)),
        "placement.inject" => at.ask(|a: Inject| C::<P>::inject(a.settings, a.pod, a.terms)),
        "attachment.judge" => at.ask(|a: Judge| C::<P>::judge(a.settings, a.observations)),
        "admission.concerns" => at.ask(|a: Concerns| C::<P>::concerns(a.settings, a.review)),
        "admission.answer" => at.ask(|a: Answer| C::<P>::answer(a.settings, a.review, a.evidence, a.topologies)),
        _ => Err(problem(
            "request.function",
            &function,
            "unknown-function",
            &format!("the contract has no function {function:?}"),
            FUNCTIONS,
        )),
    }
}

/// What is wrong with a list where an object belongs: serde would read a record's fields from it by their order, which the
/// contract promises nowhere.
const LIST: &str = "a list stands where an object must";

fn is_list(json: &str) -> bool {
    json.trim_start_matches([' ', '\n', '\r', '\t']).starts_with('[')
}

const FORM: &str = r#"{"function": "placement.filter", "arguments": {"settings": [], "pod": {}, "nodes": {}}}"#;

const FUNCTIONS: &[&str] = &[
    "info.describe",
    "info.validate-settings",
    "identity.identify-volumes",
    "identity.identify-nodes",
    "labelling.label-volumes",
    "placement.filter",
    "placement.score",
    "placement.inject",
    "attachment.judge",
    "admission.concerns",
    "admission.answer",
];

struct Arguments<'a> {
    function: &'a str,
    text: &'a str,
}

impl Arguments<'_> {
    /// Reads the arguments, asks, and writes the answer.
    fn ask<A, T: Serialize>(&self, ask: impl FnOnce(A) -> Result<T, Error>) -> Result<String, Error>
    where
        A: for<'de> Deserialize<'de>,
    {
        if is_list(self.text) {
            return Err(self.refused("argument", LIST));
        }
        let mut unknown = None;
        let mut deserializer = serde_json::Deserializer::from_str(self.text);
        // As `dyn`, or every function would get a copy of the whole parser of its own: ten times the code.
        let notice: &mut dyn FnMut(serde_ignored::Path<'_>) = &mut |path| {
            unknown.get_or_insert_with(|| path.to_string());
        };
        let read = serde_ignored::deserialize(&mut deserializer, notice);
        let arguments: A = read.map_err(|error| self.refused("argument", &error.to_string()))?;
        if let Some(path) = unknown {
            return Err(self.refused("unknown-field", &format!("there is no field {path}")));
        }
        Ok(to_json(&ask(arguments)?))
    }

    fn refused(&self, rule: &str, message: &str) -> Error {
        let subject = format!("request.arguments of {}", self.function);
        problem(
            &subject,
            self.text,
            rule,
            &format!("the arguments can't be read: {message}"),
            &["the function's parameters in the contract"],
        )
    }
}

fn problem(subject: &str, text: &str, rule: &str, message: &str, accepted: &[&str]) -> Error {
    let mut end = text.len().min(EXCERPT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Error::Question(Problem {
        subject: subject.to_owned(),
        text: text[..end].to_owned(),
        rule: rule.to_owned(),
        message: message.to_owned(),
        accepted: accepted.iter().map(|form| (*form).to_owned()).collect(),
    })
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("records of texts and numbers always have a JSON form")
}
