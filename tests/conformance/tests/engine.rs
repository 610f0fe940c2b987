//! The Rust engine gives the corpus' answers, by the component's typed interfaces and by its `json`.

mod engine {
    pub(crate) mod typed;
}

use zonewarden_artifacts::EBS_COMPONENT;
use zonewarden_conformance_tests::{Answer, check, load};
use zonewarden_engine::{Engine, Options, Policy};

fn policy() -> Policy {
    let engine = Engine::new(&Options::default()).expect("the engine starts");
    engine.load(EBS_COMPONENT).expect("the default policy loads")
}

#[test]
fn the_component_answers_by_json() {
    let policy = policy();
    check("engine, json", &load(), |case| {
        let told =
            policy.evaluate(&case.request).unwrap_or_else(|error| panic!("{}, {}: {error}", case.function, case.name));
        Some(Answer::from(told))
    });
}

#[test]
fn the_component_answers_by_types() {
    let policy = policy();
    check("engine, types", &load(), |case| case.is_well_formed().then(|| engine::typed::ask(&policy, case)));
}
