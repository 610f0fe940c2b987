//! Nothing of a call is left for the next one, and calls do not get into each other's way.

use zonewarden_engine::{Engine, Limits, Options};
use zonewarden_limits_tests::{Guest, LOOP};

use crate::{assert_fails, configured, small_limits};

/// Counts its calls in a global and in the memory, and answers with both, as two digits.
fn counter() -> Guest {
    let body = "
        (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
        (i32.store8 (i32.const 4096) (i32.add (i32.load8_u (i32.const 4096)) (i32.const 1)))
        (i32.store8 (i32.const 4097) (i32.add (i32.const 48) (global.get $calls)))
        (i32.store8 (i32.const 4098) (i32.add (i32.const 48) (i32.load8_u (i32.const 4096))))
        (i32.store (i32.const 1028) (i32.const 4097))
        (i32.store (i32.const 1032) (i32.const 2))
        (i32.const 1024)";
    Guest::harmless().item("(global $calls (mut i32) (i32.const 0))").function("json.evaluate", body)
}

#[test]
fn a_counter_never_gets_beyond_one() {
    let policy = configured(&counter());
    for _ in 0..200 {
        assert_eq!(policy.evaluate("").expect("it answers"), Ok("11".to_owned()));
    }
}

#[test]
fn what_a_call_left_in_its_memory_is_gone() {
    // Fills all of its memory, grown to the limit, behind the answer; more than a slot keeps resident.
    let body = "
        (local $last i32)
        (local.set $last (i32.sub (i32.mul (i32.const 65536) (i32.add (memory.grow (i32.const 100)) (i32.const 100))) (i32.const 1)))
        (i32.store8 (i32.const 4096) (i32.add (i32.const 48) (i32.load8_u (local.get $last))))
        (i32.store8 (i32.const 4097) (i32.add (i32.const 48) (i32.load8_u (i32.const 200000))))
        (memory.fill (i32.const 100000) (i32.const 7) (i32.sub (local.get $last) (i32.const 99999)))
        (i32.store (i32.const 1028) (i32.const 4096))
        (i32.store (i32.const 1032) (i32.const 2))
        (i32.const 1024)";
    let policy = configured(&Guest::harmless().function("json.evaluate", body));
    for _ in 0..20 {
        assert_eq!(policy.evaluate("").expect("it answers"), Ok("00".to_owned()));
    }
}

#[test]
fn more_callers_than_slots_all_get_their_answer() {
    let limits = Limits { concurrency: 2, deadline: std::time::Duration::from_secs(60), ..small_limits() };
    let engine = Engine::new(&Options { limits, cache: None }).expect("the engine can be set up");
    let policy = engine.load(&counter().component()).expect("it keeps the contract");
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..16)
            .map(|_| scope.spawn(|| (0..25).map(|_| policy.evaluate("").expect("it answers")).collect::<Vec<_>>()))
            .collect();
        for caller in callers {
            let answers = caller.join().expect("no caller panics");
            assert_eq!(answers, vec![Ok("11".to_owned()); 25]);
        }
    });
}

#[test]
fn a_call_that_never_gets_a_slot_says_so_and_blames_the_host() {
    let limits = Limits { concurrency: 1, ..small_limits() };
    let engine = Engine::new(&Options { limits, cache: None }).expect("the engine can be set up");
    let stuck = engine.load(&Guest::harmless().function("json.evaluate", LOOP).component()).expect("it is a policy");
    let errors: Vec<_> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..3).map(|_| scope.spawn(|| stuck.evaluate("").expect_err("it never ends"))).collect();
        calls.into_iter().map(|call| call.join().expect("no caller panics")).collect()
    });
    assert!(errors.iter().all(|error| error.kind() == "deadline"), "{errors:?}");
    let waited = errors.iter().filter(|error| error.to_string().ends_with("and never got a free slot"));
    assert!(waited.clone().count() >= 1, "{errors:?}");
    assert!(waited.clone().all(|error| error.blame() == zonewarden_engine::Blame::Host));
    let good = engine.load(&counter().component()).expect("it keeps the contract");
    assert_eq!(good.evaluate("").expect("the slot is free again"), Ok("11".to_owned()));
}

#[test]
fn a_policy_outlives_its_engine() {
    let engine = Engine::new(&Options { limits: small_limits(), cache: None }).expect("the engine can be set up");
    let looping = engine.load(&Guest::harmless().function("json.evaluate", LOOP).component()).expect("it is a policy");
    drop(engine);
    assert_fails(looping.evaluate(""), "deadline");
}
