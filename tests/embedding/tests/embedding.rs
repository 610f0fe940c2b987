//! The policy's core module and component give the corpus' answers, byte for byte, in other languages.

use zonewarden_artifacts::{EBS_COMPONENT_PATH, EBS_CORE_PATH};
use zonewarden_embedding_tests::{languages, run};

#[test]
fn the_core_module_answers_in_node() {
    if languages::NODE.is_there() {
        run("Node.js, core module", languages::node("conformance.mjs"), EBS_CORE_PATH);
    }
}

#[test]
fn the_core_module_answers_in_wazero() {
    if languages::GO.is_there() {
        run("wazero, core module", languages::go(), EBS_CORE_PATH);
    }
}

#[test]
fn the_core_module_answers_in_python() {
    if languages::PYTHON.is_there() {
        run("Python, core module", languages::python("core_module.py"), EBS_CORE_PATH);
    }
}

#[test]
fn the_component_answers_by_types_in_python() {
    if languages::PYTHON.is_there() {
        run("Python, component", languages::python("component.py"), EBS_COMPONENT_PATH);
    }
}
