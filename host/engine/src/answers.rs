//! What an answer is held to before anybody sees it, whatever the policy says. What its ids are held to is in `texts`.

use zonewarden_contract::placement::Verdicts;
use zonewarden_contract::types;

use crate::error::Error;

/// Turns the contract's own error into ours: the policy could not decide.
pub(crate) fn decided<T>(answer: Result<T, types::Error>) -> Result<T, Error> {
    answer.map_err(|error| match error {
        types::Error::Settings(problems) => Error::Settings { problems },
        types::Error::Question(problem) => Error::Question { problem },
    })
}

/// A list that answers a list has the same length; which element answers which can't be told otherwise.
pub(crate) fn same_length<T>(answers: Vec<T>, questions: usize, function: &'static str) -> Result<Vec<T>, Error> {
    if answers.len() == questions {
        return Ok(answers);
    }
    Err(broken(format!("{function} answers {} elements to {questions}", answers.len())))
}

/// There is a verdict for each class, and it names its reasons, so that whoever reads it finds them. A reason takes its bytes
/// of the limit each time that it is named: who writes the verdicts down writes it so often.
pub(crate) fn reasoned(
    answer: Verdicts,
    questions: usize,
    function: &'static str,
    limit: usize,
) -> Result<Verdicts, Error> {
    let Verdicts { reasons, classes } = answer;
    let classes = same_length(classes, questions, function)?;
    let mut bytes: usize = 0;
    for (class, verdict) in classes.iter().enumerate() {
        if verdict.reasons.is_empty() {
            return Err(broken(format!("{function} names no reason for class {class}")));
        }
        for position in &verdict.reasons {
            let Some(reason) = reasons.get(*position as usize) else {
                let given = reasons.len();
                let what =
                    format!("{function} gives {given} reasons and names one at position {position} for class {class}");
                return Err(broken(what));
            };
            bytes = bytes.saturating_add(reason.code.len() + reason.message.len());
        }
    }
    if bytes > limit {
        return Err(Error::OversizedAnswer { function, limit, source: None });
    }
    Ok(Verdicts { reasons, classes })
}

fn broken(what: String) -> Error {
    Error::Contract { what, source: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zonewarden_contract::placement::{ClassDecision, ClassVerdict, RefusalOrigin};
    use zonewarden_contract::types::{Problem, Reason};

    #[test]
    fn a_list_has_the_length_of_its_question() {
        assert_eq!(same_length(vec![1, 2], 2, "placement.filter").expect("the lengths fit"), [1, 2]);
        let error = same_length(vec![1], 2, "placement.filter").expect_err("one is missing");
        assert_eq!(error.kind(), "contract");
        assert_eq!(error.to_string(), "the policy breaks the contract: placement.filter answers 1 elements to 2");
    }

    /// As many reasons as said, and a verdict for each list of positions.
    fn mk_verdicts(reasons: usize, named: &[&[u32]]) -> Verdicts {
        let reason = |number| Reason { code: format!("reason-{number}"), message: String::new() };
        let verdict = |reasons: &&[u32]| ClassVerdict {
            decision: ClassDecision::Refused,
            origin: RefusalOrigin::Kubernetes,
            reasons: reasons.to_vec(),
        };
        Verdicts { reasons: (0..reasons).map(reason).collect(), classes: named.iter().map(verdict).collect() }
    }

    #[test]
    fn verdicts_that_name_reasons_which_are_there_are_an_answer() {
        for answer in [
            mk_verdicts(0, &[]),
            mk_verdicts(1, &[&[0]]),
            mk_verdicts(2, &[&[1, 0], &[0]]),
            mk_verdicts(3, &[&[2], &[2], &[2, 2]]),
            mk_verdicts(2, &[]),
        ] {
            let classes = answer.classes.len();
            assert_eq!(
                reasoned(answer.clone(), classes, "placement.filter", 1000).expect("it keeps the contract"),
                answer
            );
        }
    }

    #[test]
    fn verdicts_that_lack_a_class_or_a_reason_are_no_answer() {
        for (answer, classes, what) in [
            (mk_verdicts(1, &[]), 1, "answers 0 elements to 1"),
            (mk_verdicts(1, &[&[0]]), 0, "answers 1 elements to 0"),
            (mk_verdicts(1, &[&[0], &[0]]), 1, "answers 2 elements to 1"),
            (mk_verdicts(1, &[&[]]), 1, "names no reason for class 0"),
            (mk_verdicts(2, &[&[0], &[1], &[]]), 3, "names no reason for class 2"),
            (mk_verdicts(0, &[&[0]]), 1, "gives 0 reasons and names one at position 0 for class 0"),
            (mk_verdicts(2, &[&[0], &[1, 2]]), 2, "gives 2 reasons and names one at position 2 for class 1"),
            (mk_verdicts(1, &[&[u32::MAX]]), 1, "gives 1 reasons and names one at position 4294967295 for class 0"),
        ] {
            let error = reasoned(answer, classes, "placement.filter", 1000).expect_err(what);
            assert_eq!(error.kind(), "contract");
            assert_eq!(error.to_string(), format!("the policy breaks the contract: placement.filter {what}"));
        }
    }

    #[test]
    fn a_reason_takes_its_bytes_each_time_that_it_is_named() {
        // `reason-0` and its empty message are eight bytes.
        let twice_each = mk_verdicts(1, &[&[0, 0], &[0, 0]]);
        assert_eq!(reasoned(twice_each.clone(), 2, "placement.filter", 32).expect("they fit"), twice_each);
        let error = reasoned(twice_each, 2, "placement.filter", 31).expect_err("they are a byte too many");
        assert_eq!(error.kind(), "oversized-answer");
        assert_eq!(error.to_string(), "the answer of placement.filter takes more than 31 bytes");
        assert!(std::error::Error::source(&error).is_none());
    }

    #[test]
    fn an_error_of_the_contract_keeps_its_problems() {
        let problem = Problem {
            subject: "review".to_owned(),
            text: "{".to_owned(),
            rule: "not-json".to_owned(),
            message: "it is not JSON".to_owned(),
            accepted: Vec::new(),
        };
        let Err(Error::Question { problem: kept }) = decided::<()>(Err(types::Error::Question(problem.clone()))) else {
            panic!("a question that can't be read stays one");
        };
        assert_eq!(kept, problem);
        let Err(Error::Settings { problems }) = decided::<()>(Err(types::Error::Settings(vec![problem.clone()])))
        else {
            panic!("settings that are not good stay so");
        };
        assert_eq!(problems, [problem]);
    }
}
