//! What is refused before any of it runs.

use zonewarden_engine::Error;
use zonewarden_limits_tests::Guest;

use crate::{assert_fails, engine, small_limits};

#[test]
fn an_import_of_a_function_is_refused_by_its_name() {
    let component = wat::parse_str(r#"(component (import "read-secrets" (func)))"#).expect("the text is a component");
    let error = assert_fails(engine().load(&component), "import");
    assert_eq!(error.to_string(), "the policy imports `read-secrets`, and a policy may import nothing");
}

#[test]
fn an_import_of_types_alone_is_refused_by_its_name() {
    let guest = Guest::harmless().contract("  export types;\n", "");
    let error = assert_fails(engine().load(&guest.component()), "import");
    let text = "the policy imports `zonewarden:policy/types@0.1.0`, and a policy may import nothing";
    assert_eq!(error.to_string(), text);
}

#[test]
fn another_version_of_the_contract_is_refused_by_name() {
    let guest = Guest::harmless().contract("zonewarden:policy@0.1.0", "zonewarden:policy@0.2.0");
    let error = assert_fails(engine().load(&guest.component()), "version");
    let text = "the policy is made for `zonewarden:policy@0.2.0`, and this host runs `zonewarden:policy@0.1.0`";
    assert_eq!(error.to_string(), text);
    let inspection = engine().inspect(&guest.component()).expect("it is a component");
    assert_eq!(inspection.contract_versions, ["0.2.0"]);
    assert_eq!(inspection.refusal.map(|error| error.kind()), Some("version"));
}

#[test]
fn a_component_that_is_no_policy_is_refused() {
    let error = assert_fails(engine().load(b"\0asm\x0d\0\x01\0"), "contract");
    assert!(error.to_string().contains("it exports no interface of zonewarden:policy"), "{error}");
}

#[test]
fn an_interface_that_is_missing_is_named() {
    for (interface, export) in [("labelling", "  export labelling;\n"), ("json", "  export json;\n")] {
        let guest = Guest::harmless().contract(export, "");
        let error = assert_fails(engine().load(&guest.component()), "contract");
        let text = format!(
            "the policy breaks the contract: it does not export the interface zonewarden:policy/{interface}@0.1.0"
        );
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn a_function_of_another_name_or_type_is_named() {
    let renamed = Guest::harmless().contract("evaluate: func(", "assess: func(");
    let error = assert_fails(engine().load(&renamed.component()), "contract");
    assert_eq!(error.to_string(), "the policy breaks the contract: it lacks the function json.evaluate");
    let retyped = Guest::harmless().contract("    multi-attach: bool,", "    multi-attach: u8,");
    let error = assert_fails(engine().load(&retyped.component()), "contract");
    let text = "the policy breaks the contract: its labelling.label-volumes is of another type";
    assert_eq!(error.to_string(), text);
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn a_truncated_component_is_refused_wherever_it_ends() {
    let whole = Guest::harmless().component();
    for length in [9, whole.len() / 4, whole.len() / 2, whole.len() - 1] {
        assert_fails(engine().load(&whole[..length]), "load");
    }
    assert_fails(engine().load(&whole[..6]), "load");
}

#[test]
fn what_is_not_webassembly_is_refused() {
    for bytes in
        [b"".as_slice(), b"#!/bin/sh\nrm -rf /\n", b"(component)", &[0x7f, b'E', b'L', b'F', 2, 1, 1, 0], &[0xff; 4096]]
    {
        let error = assert_fails(engine().load(bytes), "load");
        assert_eq!(error.to_string(), "the policy can't be loaded: it is not WebAssembly");
    }
}

#[test]
fn a_core_module_is_refused_with_what_to_do() {
    let error = assert_fails(engine().load(&Guest::harmless().module()), "load");
    let text = "the policy can't be loaded: it is a core module, not a component: encode it with wit-component first";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_file_of_50_mb_is_refused_unread() {
    let mut huge = Guest::harmless().component();
    huge.resize(50_000_000, 0);
    let error = assert_fails(engine().load(&huge), "load");
    assert!(error.to_string().contains("it has 50000000 bytes"), "{error}");
    assert_fails(engine().inspect(&huge), "load");
}

#[test]
fn a_memory_that_starts_too_large_is_refused() {
    let pages = u32::try_from(small_limits().memory_bytes / 65_536).expect("the limit is small");
    assert!(engine().load(&Guest::harmless().pages(pages).component()).is_ok());
    let error = assert_fails(engine().load(&Guest::harmless().pages(pages + 1).component()), "memory");
    assert!(matches!(error, Error::Memory { function: "instantiation", .. }), "{error:?}");
}

#[test]
fn a_harmless_one_is_loaded_and_can_be_looked_at() {
    let component = Guest::harmless().component();
    let policy = engine().load(&component).expect("it keeps the contract");
    let inspection = engine().inspect(&component).expect("it is a component");
    assert_eq!(inspection.digest, policy.digest());
    assert_eq!(inspection.size, component.len());
    assert_eq!(inspection.imports, Vec::<String>::new());
    assert_eq!(inspection.contract_versions, ["0.1.0"]);
    assert!(inspection.refusal.is_none());
    let mut exports = inspection.exports;
    exports.sort();
    let names = ["admission", "attachment", "identity", "info", "json", "labelling", "placement", "types"];
    assert_eq!(exports, names.map(|name| format!("zonewarden:policy/{name}@0.1.0")));
}
