//! Requests that `evaluate` refuses, and what it says of them.

use zonewarden_sdk::contract::types::{Error, Problem};
use zonewarden_sdk::{Policy, evaluate};

struct Standard;

impl Policy for Standard {
    const NAME: &'static str = "standard";
    const VERSION: &'static str = "0.0.1";
}

/// What a request is refused for.
fn refused(request: &str) -> Problem {
    let error = evaluate::<Standard>(request).expect_err(request);
    match serde_json::from_str(&error).expect("the JSON of an error") {
        Error::Question(problem) => problem,
        Error::Settings(problems) => panic!("{problems:?}"),
    }
}

/// Holds a refusal against subject, rule and the end of its message.
fn check(request: &str, (subject, rule): (&str, &str), message: &str) {
    let problem = refused(request);
    assert_eq!((problem.subject.as_str(), problem.rule.as_str()), (subject, rule), "{request}");
    assert!(problem.message.contains(message), "{request}: {}", problem.message);
    assert!(!problem.accepted.is_empty(), "{request}");
}

#[test]
fn an_unknown_function_is_told_all_that_there_are() {
    for name in ["placement.rate", "identity.identify_volumes", "Info.Describe", "describe", "json.evaluate", ""] {
        let problem = refused(&format!(r#"{{"function":"{name}","arguments":{{}}}}"#));
        assert_eq!((problem.subject.as_str(), problem.rule.as_str()), ("request.function", "unknown-function"));
        assert_eq!(problem.text, name);
        assert_eq!(problem.message, format!("the contract has no function {name:?}"));
        assert_eq!(problem.accepted.len(), 11);
        for function in problem.accepted {
            // Each of them is known: it asks for its settings.
            let request = format!(r#"{{"function":"{function}","arguments":{{}}}}"#);
            let subject = format!("request.arguments of {function}");
            check(&request, (&subject, "argument"), "missing field `settings`");
        }
    }
}

#[test]
fn every_argument_but_an_option_must_be_there() {
    const POD: &str = r#""pod":{"pod":"p","volumes":[],"topologies":[],"required_drivers":[]}"#;
    const NODES: &str = r#","nodes":{"places":[],"classes":[],"headroom":[],"ties":[]}"#;
    for (function, arguments, missing) in [
        ("identity.identify-volumes", String::new(), "volumes"),
        ("identity.identify-nodes", String::new(), "nodes"),
        ("labelling.label-volumes", r#","volumes":[]"#.to_owned(), "topologies"),
        ("labelling.label-volumes", r#","topologies":[]"#.to_owned(), "volumes"),
        ("placement.filter", NODES.to_owned(), "pod"),
        ("placement.filter", format!(r#",{POD}"#), "nodes"),
        ("placement.score", NODES.to_owned(), "pod"),
        ("placement.score", format!(r#",{POD}"#), "nodes"),
        ("placement.inject", String::new(), "pod"),
        ("attachment.judge", String::new(), "observations"),
        ("admission.concerns", String::new(), "review"),
        ("admission.answer", r#","review":"","topologies":[]"#.to_owned(), "evidence"),
        ("admission.answer", r#","review":"","evidence":[]"#.to_owned(), "topologies"),
    ] {
        let request = format!(r#"{{"function":"{function}","arguments":{{"settings":[]{arguments}}}}}"#);
        let subject = format!("request.arguments of {function}");
        check(&request, (&subject, "argument"), &format!("missing field `{missing}`"));
    }
    let without_terms = format!(r#"{{"function":"placement.inject","arguments":{{"settings":[],{POD}}}}}"#);
    let with_none = format!(r#"{{"function":"placement.inject","arguments":{{"settings":[],{POD},"terms":null}}}}"#);
    let answer = evaluate::<Standard>(&without_terms).expect("an option may be left out");
    assert_eq!(evaluate::<Standard>(&with_none), Ok(answer));
}

#[test]
fn an_unknown_field_is_named_however_deep_it_is() {
    for (arguments, path) in [
        (r#""volumes":[],"speed":1"#, "speed"),
        (r#""volumes":[{"source":{"Other":"nfs"},"zone":"a"}]"#, "volumes.0.zone"),
        (
            r#""volumes":[{"source":{"Other":"nfs"}},{"source":{"Csi":{"driver":"d","volume_handle":{"kubernetes_volume_id":"v"},"fs":1}}}]"#,
            "volumes.1.source.?.fs",
        ),
    ] {
        let request =
            format!(r#"{{"function":"identity.identify-volumes","arguments":{{"settings":[],{arguments}}}}}"#);
        let problem = refused(&request);
        assert_eq!(problem.rule, "unknown-field", "{arguments}");
        assert_eq!(problem.subject, "request.arguments of identity.identify-volumes");
        assert!(problem.message.starts_with("the arguments can't be read: there is no field "), "{}", problem.message);
        assert!(problem.message.ends_with(&format!(" {path}")), "{}", problem.message);
    }
}

#[test]
fn the_request_is_an_object_of_a_function_and_its_arguments() {
    for (request, message) in [
        ("", "EOF while parsing"),
        ("7", "invalid type"),
        (r#"{"arguments":{}}"#, "missing field `function`"),
        (r#"{"function":"info.describe"}"#, "missing field `arguments`"),
        (r#"{"function":"info.describe","arguments":{"settings":[]},"id":1}"#, "unknown field `id`"),
        (r#"{"function":"info.describe","arguments":{"settings":[]}} x"#, "trailing characters"),
    ] {
        check(request, ("request", "request"), message);
    }
}

#[test]
fn a_list_is_no_object() {
    let list = "a list stands where an object must";
    for request in ["[]", r#"["info.describe",{"settings":[]}]"#, " \n\r\t[\"info.describe\",{\"settings\":[]}]"] {
        check(request, ("request", "request"), list);
    }
    for (function, arguments) in [
        ("info.describe", "[[]]"),
        ("info.validate-settings", "[[]]"),
        ("identity.identify-volumes", "[[],[]]"),
        ("identity.identify-nodes", " \n[[],[]]"),
        ("attachment.judge", "[]"),
    ] {
        let request = format!(r#"{{"function":"{function}","arguments":{arguments}}}"#);
        let subject = format!("request.arguments of {function}");
        check(&request, (&subject, "argument"), list);
    }
}

#[test]
fn an_error_repeats_no_more_than_the_beginning_of_a_long_request() {
    let request = format!("x{}", "ü".repeat(300));
    let problem = refused(&request);
    // 200 bytes would end within a letter.
    assert_eq!(problem.text, format!("x{}", "ü".repeat(99)));
}
