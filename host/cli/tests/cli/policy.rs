//! `zonewarden policy test`: declarative cases on a component.

use zonewarden_artifacts::EBS_STRICT_COMPONENT_PATH;

use crate::{Folder, Run, zonewarden};

fn test(text: &str) -> Run {
    Folder::new(&[("cases.yaml", text.as_bytes())]).run(&["policy", "test", "cases.yaml"])
}

/// Nothing but this is printed, with this exit status.
#[track_caller]
fn prints(run: &Run, code: i32, lines: &[&str]) {
    assert_eq!((run.code, &*run.err), (code, ""), "{}", run.out);
    assert_eq!(run.out.lines().map(str::trim_start).collect::<Vec<_>>(), lines);
}

#[test]
fn the_cases_of_the_examples_pass() {
    for path in ["examples/policy-tests", "examples/policy-tests/ebs.yaml"] {
        let run = zonewarden(&["policy", "test", path]);
        assert_eq!((run.code, &*run.err), (0, ""), "{}", run.out);
        let (cases, last) = run.out.trim_end().rsplit_once('\n').expect("there are several lines");
        assert!(cases.lines().all(|line| line.starts_with("ok      examples/policy-tests/ebs.yaml: ")), "{cases}");
        assert_eq!(last, format!("{} passed, 0 failed", cases.lines().count()));
    }
}

/// ebs-strict differs in what its own defaults say, and in nothing else that the examples show.
#[test]
fn the_same_cases_tell_another_policy_from_the_default() {
    let run = zonewarden(&["policy", "test", "examples/policy-tests", "--policy", EBS_STRICT_COMPONENT_PATH]);
    assert_eq!((run.code, &*run.err), (1, ""), "{}", run.out);
    let failed: Vec<&str> = run.out.lines().filter(|line| line.starts_with("FAILED")).collect();
    assert_eq!(failed, ["FAILED  examples/policy-tests/ebs.yaml: whitespace behind an id is accepted with a warning"]);
    assert!(run.out.contains("answer.ok[0].Identified: expected "), "{}", run.out);
}

const FOREIGN: &str = "function: identity.identify-volumes
  arguments: {volumes: [{source: {Other: hostPath}}]}";

#[test]
fn a_failing_case_names_the_path_of_each_difference() {
    let text = format!(
        "cases:\n- name: right\n  {FOREIGN}\n  expect: {{ok: [{{Foreign: {{code: other-source}}}}]}}\n- name: wrong\n  \
         {FOREIGN}\n  expect: {{ok: [{{Foreign: {{code: nope, rule: x}}}}]}}\n"
    );
    prints(
        &test(&text),
        1,
        &[
            "ok      cases.yaml: right",
            "FAILED  cases.yaml: wrong",
            r#"answer.ok[0].Foreign.code: expected "nope", got "other-source""#,
            r#"answer.ok[0].Foreign.rule: expected "x", is not there"#,
            "1 passed, 1 failed",
        ],
    );
}

#[test]
fn an_object_of_a_world_that_is_not_there_fails_its_case_only() {
    let world = "world: world\n  volume";
    let text = format!(
        "cases:\n- name: gone\n  {world}: nobody\n  expect: {{zone: null}}\n- name: there\n\
        \x20 {world}: a\n  expect: {{zone: null}}\n"
    );
    let folder = Folder::new(&[
        ("tests/cases.yaml", text.as_bytes()),
        ("tests/world/cluster/pv.yaml", crate::pv("a", crate::VOLUME).as_bytes()),
    ]);
    prints(
        &folder.run(&["policy", "test", "tests"]),
        1,
        &[
            "FAILED  tests/cases.yaml: gone",
            "tests/world: there is no nobody among the volumes",
            "ok      tests/cases.yaml: there",
            "1 passed, 1 failed",
        ],
    );
}

#[test]
fn settings_of_the_case_win_over_those_of_the_file_and_these_over_the_flag() {
    let case = |name: &str, settings: &str, expected: &str| {
        format!(
            "- name: {name}\n  {settings}\n  function: identity.identify-volumes\n  arguments: {{volumes: [{{source: \
             {{AwsElasticBlockStore: {{kubernetes_volume_id: \"vol-0a1b2c3d4e5f60718 \"}}}}}}]}}\n  expect: {{ok: \
             [{{{expected}: {{}}}}]}}\n"
        )
    };
    let case_settings = |value: &str| format!("settings: {{volume-ids: {value}}}");
    let of_case = case("case", &case_settings("lenient"), "Identified");
    let with = format!("settings: {{volume-ids: strict}}\ncases:\n{}{of_case}", case("file", "", "Rejected"));
    let without = format!("cases:\n{}{of_case}", case("flag", "", "Rejected"));
    let folder = Folder::new(&[
        ("with.yaml", with.as_bytes()),
        ("without.yaml", without.as_bytes()),
        ("lenient.yaml", b"volume-ids: lenient\n"),
        ("strict.yaml", b"volume-ids: strict\n"),
    ]);
    for args in [["with.yaml", "lenient.yaml"], ["without.yaml", "strict.yaml"]] {
        let run = folder.run(&["policy", "test", args[0], "--settings", args[1]]);
        assert_eq!((run.code, run.out.lines().last()), (0, Some("2 passed, 0 failed")), "{}", run.out);
    }
}

#[test]
fn files_of_cases_that_can_not_be_read_are_refused() {
    for (text, named) in [
        ("", &["cases.yaml", "nothing in it"][..]),
        ("cases: []\n", &["cases.yaml: there are no cases"]),
        ("case: []\n", &["cases.yaml", "`case`"]),
        ("cases: [\n", &["cases.yaml, document 1, line 1"]),
        ("- name: a\n", &["cases.yaml"]),
        ("cases: []\n---\ncases: []\n", &["cases.yaml", "one document is meant"]),
        ("cases: [{function: info.describe, expect: {ok: {}}}]\n", &["cases.yaml", "`name`"]),
        ("cases: [{name: a, function: info.describe}]\n", &["cases.yaml", "`expect`"]),
        ("cases: [{name: a, function: info.describe, expect: {ok: {}}, pods: 1}]\n", &["cases.yaml", "`pods`"]),
        // Nothing is asked, or two things at once.
        ("cases: [{name: a, expect: {ok: {}}}]\n", &["cases.yaml: a: ", "give either function"]),
        (
            "cases: [{name: a, function: info.describe, world: w, pod: a/b, expect: {ok: {}}}]\n",
            &["cases.yaml: a: ", "give either function"],
        ),
        (
            "cases: [{name: a, world: w, pod: a/b, volume: c, expect: {}}]\n",
            &["cases.yaml: a: ", "give either function"],
        ),
    ] {
        test(text).refuses(named);
    }
    let folder = Folder::new(&[("empty/notes.txt", b"")]);
    folder.run(&["policy", "test", "gone.yaml"]).refuses(&["gone.yaml: there is no such file"]);
    folder.run(&["policy", "test", "empty"]).refuses(&["empty: there are no cases"]);
}

#[test]
fn a_fault_is_told_with_its_file_once() {
    let run = test("cases: [\n");
    assert_eq!(run.err.matches("cases.yaml").count(), 1, "{}", run.err);
}
