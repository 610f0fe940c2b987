//! What an answer is held to before anybody sees it, whatever the policy says. What its ids are held to is in `texts`.

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
    let what = format!("{function} answers {} elements to {questions}", answers.len());
    Err(Error::Contract { what, source: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zonewarden_contract::types::Problem;

    #[test]
    fn a_list_has_the_length_of_its_question() {
        assert_eq!(same_length(vec![1, 2], 2, "placement.filter").expect("the lengths fit"), [1, 2]);
        let error = same_length(vec![1], 2, "placement.filter").expect_err("one is missing");
        assert_eq!(error.kind(), "contract");
        assert_eq!(error.to_string(), "the policy breaks the contract: placement.filter answers 1 elements to 2");
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
