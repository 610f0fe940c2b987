//! Every kind of error, with what it is called, whose it is and what it says.

use super::*;

fn problem(message: &str) -> Problem {
    Problem {
        subject: "settings.mode".to_owned(),
        text: "x".to_owned(),
        rule: "unknown-value".to_owned(),
        message: message.to_owned(),
        accepted: Vec::new(),
    }
}

fn cause() -> Cause {
    "the cause".into()
}

/// One error of each kind, with the blame and the text that it should have.
fn all() -> Vec<(Error, &'static str, Blame, &'static str)> {
    let limit = Duration::from_millis(200);
    vec![
        (
            Error::Engine { what: "start its clock", source: cause() },
            "engine",
            Blame::Host,
            "the policy engine can't work: start its clock",
        ),
        (
            Error::Load { what: "it is empty".to_owned(), source: None },
            "load",
            Blame::Guest,
            "the policy can't be loaded: it is empty",
        ),
        (
            Error::Import { imports: vec!["a:b/c".to_owned(), "d".to_owned()] },
            "import",
            Blame::Guest,
            "the policy imports `a:b/c`, `d`, and a policy may import nothing",
        ),
        (
            Error::Version { found: vec!["0.2.0".to_owned()], runs: vec!["0.1.0".to_owned()] },
            "version",
            Blame::Guest,
            "the policy is made for `0.2.0`, and this host runs `0.1.0`",
        ),
        (
            Error::Contract { what: "it lacks json.evaluate".to_owned(), source: Some(cause()) },
            "contract",
            Blame::Guest,
            "the policy breaks the contract: it lacks json.evaluate",
        ),
        (
            Error::Settings { problems: vec![problem("this is bad"), problem("that too")] },
            "settings",
            Blame::Host,
            "the policy does not accept its settings: this is bad (and 1 more)",
        ),
        (
            Error::Question { problem: problem("it is not JSON") },
            "question",
            Blame::Host,
            "the policy can't read the question: it is not JSON",
        ),
        (
            Error::Deadline { function: "placement.filter", limit, started: true },
            "deadline",
            Blame::Guest,
            "placement.filter did not end within 200ms",
        ),
        (
            Error::Deadline { function: "placement.filter", limit, started: false },
            "deadline",
            Blame::Host,
            "placement.filter did not end within 200ms, and never got a free slot",
        ),
        (
            Error::Memory { function: "info.describe", limit: 65_536, source: cause() },
            "memory",
            Blame::Guest,
            "info.describe needs more memory than 65536 bytes",
        ),
        (Error::Trap { function: "info.describe", source: cause() }, "trap", Blame::Guest, "info.describe trapped"),
        (
            Error::OversizedAnswer { function: "json.evaluate", limit: 1, source: Some(cause()) },
            "oversized-answer",
            Blame::Guest,
            "the answer of json.evaluate takes more than 1 bytes",
        ),
    ]
}

#[test]
fn every_kind_has_its_name_its_blame_and_its_text() {
    for (error, kind, blame, text) in all() {
        assert_eq!(error.kind(), kind);
        assert_eq!(error.blame(), blame, "{kind}");
        assert_eq!(error.to_string(), text, "{kind}");
    }
}

#[test]
fn a_cause_is_the_source_and_not_part_of_the_text() {
    for (error, kind, ..) in all() {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        assert!(!error.to_string().contains("the cause"), "{kind}");
        let has_cause = matches!(kind, "engine" | "contract" | "memory" | "trap" | "oversized-answer");
        assert_eq!(source, has_cause.then(|| "the cause".to_owned()), "{kind}");
    }
}

#[test]
fn a_long_list_of_imports_is_cut() {
    let imports: Vec<String> = (0..1000).map(|n| format!("{}{n}", "i".repeat(10_000))).collect();
    let text = Error::Import { imports }.to_string();
    assert!(text.len() < 2_000, "{}", text.len());
    assert!(text.ends_with("and 992 more, and a policy may import nothing"));
}

#[test]
fn settings_without_a_problem_still_say_something() {
    let text = Error::Settings { problems: Vec::new() }.to_string();
    assert_eq!(text, "the policy does not accept its settings: it does not say why");
}
