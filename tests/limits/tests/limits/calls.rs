//! What a call does not survive: time, stack, memory and traps, wherever in the guest they run out.

use zonewarden_contract::identity::{VolumeIdentity, VolumeQuestion};
use zonewarden_contract::types::Setting;
use zonewarden_engine::Error;
use zonewarden_limits_tests::{Guest, LOOP};

use crate::{assert_fails, configured, engine, volume};

/// Asserts that `json.evaluate` fails, and that the same policy then answers something else.
#[track_caller]
fn evaluate_fails(guest: &Guest, kind: &str) -> Error {
    let policy = configured(guest);
    let error = assert_fails(policy.evaluate("{}"), kind);
    assert_eq!(policy.identify_nodes(&[]).expect("another call on the same policy works"), []);
    error
}

#[test]
fn an_endless_loop_in_a_function_ends_at_the_deadline() {
    let error = evaluate_fails(&Guest::harmless().function("json.evaluate", LOOP), "deadline");
    assert_eq!(error.to_string(), "json.evaluate did not end within 1s");
}

#[test]
fn an_endless_loop_in_the_allocator_ends_at_the_deadline() {
    evaluate_fails(&Guest::harmless().allocator(LOOP), "deadline");
}

#[test]
fn an_endless_loop_in_the_clean_up_ends_at_the_deadline() {
    evaluate_fails(&Guest::harmless().clean_up("json.evaluate", LOOP), "deadline");
}

#[test]
fn an_endless_loop_in_the_start_function_ends_at_the_deadline() {
    let policy = engine().load(&Guest::harmless().start(LOOP).component()).expect("loading runs nothing");
    assert_fails(policy.with_settings(vec![]), "deadline");
    assert_fails(policy.evaluate("{}"), "deadline");
}

#[test]
fn an_endless_loop_in_info_ends_at_the_deadline() {
    for name in ["info.describe", "info.validate-settings"] {
        let guest = Guest::harmless().function(name, LOOP);
        let policy = engine().load(&guest.component()).expect("loading runs nothing");
        let error = assert_fails(policy.with_settings(vec![]), "deadline");
        assert_eq!(error.to_string(), format!("{name} did not end within 1s"));
        assert_eq!(policy.evaluate("{}").expect("another call on the same policy works"), Ok("{}".to_owned()));
    }
}

#[test]
fn a_loop_that_catches_its_breath_ends_at_the_deadline_too() {
    // Calls instead of branches: both are places where a guest can be stopped.
    let guest = Guest::harmless()
        .item("(func $nothing)")
        .function("json.evaluate", "(loop $again (call $nothing) (br $again)) (unreachable)");
    evaluate_fails(&guest, "deadline");
}

#[test]
fn recursion_ends_at_the_end_of_the_stack() {
    let guest = Guest::harmless()
        .item("(func $deeper (param i32) (result i32) (i32.add (call $deeper (local.get 0)) (i32.const 1)))")
        .function("json.evaluate", "(call $deeper (i32.const 0))");
    let error = evaluate_fails(&guest, "trap");
    assert!(causes(&error).contains("call stack exhausted"), "{}", causes(&error));
}

#[test]
fn a_memory_hog_is_stopped_at_the_limit() {
    let hog = "(loop $again (drop (memory.grow (i32.const 1))) (br $again)) (unreachable)";
    let error = evaluate_fails(&Guest::harmless().function("json.evaluate", hog), "memory");
    assert_eq!(error.to_string(), "json.evaluate needs more memory than 16777216 bytes");
    evaluate_fails(&Guest::harmless().allocator(hog), "memory");
}

#[test]
fn a_memory_hog_in_one_gulp_is_stopped_too() {
    let gulp = "(drop (memory.grow (i32.const 60000))) (i32.const 1024)";
    evaluate_fails(&Guest::harmless().function("json.evaluate", gulp), "memory");
}

#[test]
fn a_table_hog_is_stopped() {
    let guest = Guest::harmless()
        .item("(table $t 1 funcref)")
        .function("json.evaluate", "(drop (table.grow $t (ref.null func) (i32.const 30000))) (i32.const 1024)");
    evaluate_fails(&guest, "memory");
}

#[test]
fn a_trap_at_once_is_a_trap() {
    let error = evaluate_fails(&Guest::harmless().function("json.evaluate", "(unreachable)"), "trap");
    assert_eq!(error.to_string(), "json.evaluate trapped");
    assert!(causes(&error).contains("wasm `unreachable` instruction executed"), "{}", causes(&error));
}

#[test]
fn a_trap_in_the_start_function_is_a_trap() {
    let policy = engine().load(&Guest::harmless().start("(unreachable)").component()).expect("loading runs nothing");
    assert_fails(policy.with_settings(vec![]), "trap");
}

#[test]
fn a_read_beyond_the_memory_is_a_trap() {
    let guest = Guest::harmless().function("json.evaluate", "(i32.load (i32.const -4))");
    evaluate_fails(&guest, "trap");
}

/// Calls every volume foreign, and breaks off at the third. An element of the answer has 44 bytes, the case first.
const TRAP_AT_THE_THIRD: &str = "
    (local $i i32)
    (block $done
        (loop $next
            (br_if $done (i32.eq (local.get $i) (local.get $p3)))
            (if (i32.eq (local.get $i) (i32.const 2)) (then (unreachable)))
            (i32.store8 (i32.add (i32.const 2048) (i32.mul (local.get $i) (i32.const 44))) (i32.const 1))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br $next)))
    (i32.store (i32.const 1028) (i32.const 2048))
    (i32.store (i32.const 1032) (local.get $p3))
    (i32.const 1024)";

#[test]
fn a_trap_on_the_third_element_spoils_that_call_only() {
    let policy = configured(&Guest::harmless().function("identity.identify-volumes", TRAP_AT_THE_THIRD));
    let volumes: Vec<VolumeQuestion> = ["a", "b", "c"].into_iter().map(volume).collect();
    assert_fails(policy.identify_volumes(&volumes), "trap");
    let answer = policy.identify_volumes(&volumes[..2]).expect("two volumes are no problem");
    assert_eq!(answer.len(), 2);
    assert!(answer.iter().all(|identity| matches!(identity, VolumeIdentity::Foreign(_))), "{answer:?}");
}

#[test]
fn settings_that_a_policy_does_not_accept_are_an_error_of_their_own() {
    let setting = Setting { key: "no-such-setting".to_owned(), value: "x".to_owned() };
    let policy = engine().load(zonewarden_artifacts::EBS_COMPONENT).expect("the default policy can be loaded");
    let error = policy.with_settings(vec![setting]).expect_err("there is no such setting");
    let Error::Settings { problems } = error else { panic!("{error}") };
    let texts: Vec<_> = problems.iter().map(|problem| problem.text.as_str()).collect();
    assert_eq!(texts, ["no-such-setting"]);
}

/// Everything that an error and its causes say.
fn causes(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(&format!("\n{error}"));
        cause = error.source();
    }
    text
}
