//! Answers that are too large, too short, or no answers at all.

use zonewarden_contract::identity::{NodeIdentity, NodeQuestion, VolumeIdentity};
use zonewarden_contract::placement::{
    ClassDecision, ClassVerdict, NodeClasses, Place, PodQuestion, RefusalOrigin, Verdicts,
};
use zonewarden_contract::types::{NodeName, Problem, ProviderId, Reason};
use zonewarden_engine::{Engine, Limits, Options};
use zonewarden_limits_tests::{Guest, verdict};

use crate::{assert_fails, configured, engine, good_policy, small_limits, volume};

/// A body of `json.evaluate` that answers with the first `bytes` bytes of the memory, as a success.
fn answers_with(bytes: u32) -> Guest {
    let body = format!("(i32.store (i32.const 1032) (i32.const {bytes})) (i32.const 1024)");
    Guest::harmless().function("json.evaluate", &body).pages(64)
}

#[test]
fn a_huge_answer_is_not_read() {
    let policy = configured(&answers_with(3 << 20));
    let error = assert_fails(policy.evaluate("{}"), "oversized-answer");
    assert_eq!(error.to_string(), "the answer of json.evaluate takes more than 1048576 bytes");
    assert_eq!(policy.identify_nodes(&[]).expect("another call on the same policy works"), []);
}

#[test]
fn an_answer_at_the_limit_is_read_and_a_byte_more_is_not() {
    let limit = u32::try_from(small_limits().answer_bytes).expect("the limit is small");
    let answer = configured(&answers_with(limit)).evaluate("").expect("the limit itself is allowed");
    assert_eq!(answer.map(|text| text.len()), Ok(small_limits().answer_bytes));
    assert_fails(configured(&answers_with(limit + 1)).evaluate(""), "oversized-answer");
}

#[test]
fn a_million_times_the_same_text_counts_a_million_times() {
    // A description with a million drivers, each the same text of 1,024 bytes: 8 MiB in the guest, a gigabyte in the host.
    let body = "
        (local $at i32)
        (local.set $at (i32.const 65536))
        (loop $next
            (i32.store (local.get $at) (i32.const 4096))
            (i32.store offset=4 (local.get $at) (i32.const 1024))
            (local.set $at (i32.add (local.get $at) (i32.const 8)))
            (br_if $next (i32.lt_u (local.get $at) (i32.const 8454144))))
        (i32.store (i32.const 1044) (i32.const 65536))
        (i32.store (i32.const 1048) (i32.const 1048576))
        (i32.const 1024)";
    // Enough for the list itself, so that it is the texts that count.
    let limits = Limits { answer_bytes: 64 << 20, ..small_limits() };
    let engine = Engine::new(&Options { limits, cache: None }).expect("the engine can be set up");
    let guest = Guest::harmless().function("info.describe", body).pages(130);
    let policy = engine.load(&guest.component()).expect("it keeps the contract as far as types go");
    assert_fails(policy.with_settings(vec![]), "oversized-answer");
    assert_eq!(policy.evaluate("{}").expect("another call on the same policy works"), Ok("{}".to_owned()));
}

fn pod() -> PodQuestion {
    PodQuestion { pod: "default/p".to_owned(), volumes: vec![], topologies: vec![], required_drivers: vec![] }
}

/// This many classes of one place.
fn nodes(classes: usize) -> NodeClasses {
    let place = Place { labels: vec![], has_csi_node: false, drivers: vec![], migrated_plugins: vec![] };
    NodeClasses { places: vec![place], classes: vec![0; classes], headroom: vec![], ties: vec![] }
}

#[test]
fn a_list_of_another_length_is_no_answer() {
    let policy = configured(&Guest::harmless());
    let node = NodeQuestion { node: NodeName { node_name: String::new() }, provider_id: None, csi_node_id: None };
    let error = assert_fails(policy.identify_volumes(&[volume("vol-1")]), "contract");
    let text = "the policy breaks the contract: identity.identify-volumes answers 0 elements to 1";
    assert_eq!(error.to_string(), text);
    assert_fails(policy.identify_nodes(&[node]), "contract");
    assert_fails(policy.filter(&pod(), &nodes(1)), "contract");
    assert_fails(policy.score(&pod(), &nodes(1)), "contract");
    let nothing = policy.filter(&pod(), &nodes(0)).expect("nothing is the right answer to nothing");
    assert_eq!(nothing, Verdicts { reasons: vec![], classes: vec![] });
}

/// Answers with one verdict, which names the reasons at these positions, of which there is one.
fn names_reasons(positions: &[u32]) -> Guest {
    Guest::harmless().function("placement.filter", &verdict(positions))
}

#[test]
fn a_verdict_names_reasons_that_are_there() {
    let verdict =
        ClassVerdict { decision: ClassDecision::Feasible, origin: RefusalOrigin::Kubernetes, reasons: vec![0] };
    let reason = Reason { code: String::new(), message: String::new() };
    let policy = configured(&names_reasons(&[0]));
    let answer = policy.filter(&pod(), &nodes(1)).expect("the reason is there");
    assert_eq!(answer, Verdicts { reasons: vec![reason], classes: vec![verdict] });
    for (classes, what) in
        [(0, "placement.filter answers 1 elements to 0"), (2, "placement.filter answers 1 elements to 2")]
    {
        let error = assert_fails(policy.filter(&pod(), &nodes(classes)), "contract");
        assert_eq!(error.to_string(), format!("the policy breaks the contract: {what}"));
    }
    for (positions, what) in [
        (&[][..], "placement.filter names no reason for class 0"),
        (&[1], "placement.filter gives 1 reasons and names one at position 1 for class 0"),
        (&[0, u32::MAX], "placement.filter gives 1 reasons and names one at position 4294967295 for class 0"),
    ] {
        let policy = configured(&names_reasons(positions));
        let error = assert_fails(policy.filter(&pod(), &nodes(1)), "contract");
        assert_eq!(error.to_string(), format!("the policy breaks the contract: {what}"));
    }
}

#[test]
fn an_answer_outside_the_memory_is_no_answer() {
    for body in [
        "(i32.const -8)",
        "(i32.const 1025)",
        "(i32.store (i32.const 1028) (i32.const -16)) (i32.store (i32.const 1032) (i32.const 64)) (i32.const 1024)",
        "(i32.store8 (i32.const 1024) (i32.const 7)) (i32.const 1024)",
        "(i32.store8 (i32.const 4096) (i32.const 255)) (i32.store (i32.const 1028) (i32.const 4096))
            (i32.store (i32.const 1032) (i32.const 1)) (i32.const 1024)",
    ] {
        let policy = configured(&Guest::harmless().function("json.evaluate", body));
        assert_fails(policy.evaluate("{}"), "contract");
    }
}

#[test]
fn an_allocator_that_points_outside_the_memory_gets_no_question() {
    let policy = configured(&Guest::harmless().allocator("(i32.const -8)"));
    assert_fails(policy.evaluate("{}"), "contract");
}

#[test]
fn a_score_beyond_the_best_counts_as_the_best() {
    // One class with the score 200: an element has 20 bytes, the score first.
    let body = "
        (i32.store8 (i32.const 2048) (i32.const 200))
        (i32.store (i32.const 1028) (i32.const 2048))
        (i32.store (i32.const 1032) (i32.const 1))
        (i32.const 1024)";
    let policy = configured(&Guest::harmless().function("placement.score", body));
    let scores = policy.score(&pod(), &nodes(1)).expect("it answers");
    assert_eq!(scores.iter().map(|score| score.score).collect::<Vec<_>>(), [10]);
}

/// Answers one volume with the canonical id `vol-9`, whatever was asked.
const ALWAYS_VOL_9: &str = r#"
    (i32.store (i32.const 2052) (i32.const 3000))
    (i32.store (i32.const 2056) (i32.const 5))
    (i32.store (i32.const 1028) (i32.const 2048))
    (i32.store (i32.const 1032) (i32.const 1))
    (i32.const 1024)"#;

#[test]
fn a_canonical_id_that_is_not_in_its_text_is_not_accepted() {
    let guest = Guest::harmless()
        .item(r#"(data (i32.const 3000) "vol-9")"#)
        .function("identity.identify-volumes", ALWAYS_VOL_9);
    let policy = configured(&guest);
    let answer = policy.identify_volumes(&[volume("aws:///vol-9")]).expect("it answers");
    assert!(matches!(&answer[..], [VolumeIdentity::Identified(found)] if found.volume.aws_volume_id == "vol-9"));
    let answer = policy.identify_volumes(&[volume("aws:///vol-1")]).expect("one bad element is no error");
    let [VolumeIdentity::Rejected(Problem { rule, text, .. })] = &answer[..] else { panic!("{answer:?}") };
    assert_eq!((rule.as_str(), text.as_str()), ("canonical-not-in-text", "aws:///vol-1"));
}

/// Answers one node with the instance `i-9` by its provider id, whatever was asked. The instance is the variant's first field.
const ALWAYS_I_9: &str = r#"
    (i32.store (i32.const 2052) (i32.const 3000))
    (i32.store (i32.const 2056) (i32.const 3))
    (i32.store (i32.const 1028) (i32.const 2048))
    (i32.store (i32.const 1032) (i32.const 1))
    (i32.const 1024)"#;

#[test]
fn a_part_of_a_longer_id_is_not_accepted() {
    let guest = Guest::harmless()
        .item(r#"(data (i32.const 3000) "vol-9")"#)
        .function("identity.identify-volumes", ALWAYS_VOL_9);
    let policy = configured(&guest);
    let accepts = |text: &str| {
        let answer = policy.identify_volumes(&[volume(text)]).expect("one bad element is no error");
        match &answer[..] {
            [VolumeIdentity::Identified(found)] => found.volume.aws_volume_id == "vol-9",
            [VolumeIdentity::Rejected(problem)] => problem.rule != "canonical-not-in-text",
            other => panic!("{text:?}: {other:?}"),
        }
    };
    assert!(accepts("vol-9") && accepts("aws://us-east-1a/vol-9") && accepts("aws:///%2Fvol-9/"));
    assert!(!accepts("vol-90") && !accepts("aws:///vol-9f") && !accepts("xvol-9") && !accepts("aws:///vol-9%30"));
}

#[test]
fn an_instance_that_is_not_in_its_text_is_not_accepted() {
    let guest =
        Guest::harmless().item(r#"(data (i32.const 3000) "i-9")"#).function("identity.identify-nodes", ALWAYS_I_9);
    let policy = configured(&guest);
    let ask = |provider_id: &str, csi_node_id: &str| {
        let question = NodeQuestion {
            node: NodeName { node_name: "i-9".to_owned() },
            provider_id: Some(ProviderId { provider_id: provider_id.to_owned() }),
            csi_node_id: Some(csi_node_id.to_owned()),
        };
        policy.identify_nodes(&[question]).expect("one bad element is no error")
    };
    let answer = ask("aws:///us-east-1a/i-9", "i-1");
    assert!(matches!(&answer[..], [NodeIdentity::Identified(found)] if found.instance.instance_id == "i-9"));
    // Neither another instance, nor a longer one, nor one that another of the texts names.
    for text in ["aws:///us-east-1a/i-1", "aws:///us-east-1a/i-90", ""] {
        let answer = ask(text, "i-9");
        let [NodeIdentity::Unresolved(problem)] = &answer[..] else { panic!("{answer:?}") };
        let told = [&problem.subject, &problem.text, &problem.rule];
        assert_eq!(told, ["spec.providerID", text, "canonical-not-in-text"]);
    }
    crate::assert_next_call_works();
}

#[test]
fn json_that_is_nested_thousands_deep_is_answered_with_an_error() {
    let nested = |open: &str, close: &str| format!("{}{}", open.repeat(50_000), close.repeat(50_000));
    let arguments = |value: String| format!(r#"{{"function":"placement.filter","arguments":{value}}}"#);
    for request in [
        nested("[", "]"),
        nested(r#"{"a":"#, "}"),
        arguments(nested("[", "]")),
        arguments(format!(
            r#"{{"settings":[],"nodes":{{"places":[],"classes":[],"headroom":[],"ties":[]}},"pod":{}}}"#,
            nested("[", "]")
        )),
        "[".repeat(100_000),
    ] {
        let answer = good_policy().evaluate(&request).expect("the policy itself survives");
        assert!(answer.is_err(), "{answer:?}");
        crate::assert_next_call_works();
    }
}

#[test]
fn json_that_is_not_json_is_answered_with_an_error() {
    for request in ["", "{", "null", "\u{feff}{}", "\0", r#"{"function":"no.such","arguments":{}}"#] {
        let answer = good_policy().evaluate(request).expect("the policy itself survives");
        assert!(answer.is_err(), "{request:?}: {answer:?}");
    }
    let echo = engine().load(&Guest::harmless().component()).expect("it keeps the contract");
    assert_eq!(echo.evaluate("\u{1f4be}\0\u{feff}").expect("it answers"), Ok("\u{1f4be}\0\u{feff}".to_owned()));
}
