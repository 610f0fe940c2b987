//! What the API server's refusals mean for whoever asked.

use kube::core::Status;

use crate::api::ApiError;

/// The API server's own word for an absent object. A proxy that knows no such path has no reason.
const NOT_FOUND: &str = "NotFound";

/// What a failure means where nothing but an answer will do.
pub(super) fn of(error: &kube::Error) -> ApiError {
    match error {
        kube::Error::Api(status) => of_status(status),
        kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) => ApiError::Unreadable(error.to_string()),
        kube::Error::BuildRequest(_) | kube::Error::HttpError(_) => ApiError::Invalid(error.to_string()),
        _ => ApiError::Unavailable(causes(error)),
    }
}

/// What a status of the API server means.
pub(super) fn of_status(status: &Status) -> ApiError {
    let text = if status.message.is_empty() { status.reason.clone() } else { status.message.clone() };
    match status.code {
        // Another field manager holds the field with another value, and will go on doing so: no newer object changes that.
        409 if has_cause(status, "FieldManagerConflict") => ApiError::Invalid(text),
        409 => ApiError::Conflict(text),
        404 if status.reason == NOT_FOUND => ApiError::Conflict(text),
        401 | 403 => ApiError::Forbidden(text),
        404 | 408 | 410 | 429 => ApiError::Unavailable(text),
        400..=499 => ApiError::Invalid(text),
        _ => ApiError::Unavailable(text),
    }
}

/// Whether the API server says that there is no such object.
pub(super) fn is_absent(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404 && status.reason == NOT_FOUND)
}

/// Whether an object of this name is there already.
pub(super) fn already_exists(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 409 && status.reason == "AlreadyExists")
}

fn has_cause(status: &Status, reason: &str) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes.into_iter().any(|cause| cause.reason == reason)
}

/// The chain of causes, each said once.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let cause = error.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]
mod tests {
    use super::*;

    fn status(code: u16, reason: &str, message: &str) -> Status {
        Status::failure(message, reason).with_code(code)
    }

    fn check(code: u16, reason: &str, expected: fn(String) -> ApiError) {
        let error = kube::Error::Api(status(code, reason, "why").boxed());
        assert_eq!(of(&error), expected("why".to_owned()), "{code} {reason}");
    }

    #[test]
    fn each_answer_has_its_meaning() {
        check(409, "Conflict", ApiError::Conflict);
        check(409, "AlreadyExists", ApiError::Conflict);
        check(404, "NotFound", ApiError::Conflict);
        check(404, "Failed to parse error data", ApiError::Unavailable);
        check(401, "Unauthorized", ApiError::Forbidden);
        check(403, "Forbidden", ApiError::Forbidden);
        check(400, "BadRequest", ApiError::Invalid);
        check(405, "MethodNotAllowed", ApiError::Invalid);
        check(415, "UnsupportedMediaType", ApiError::Invalid);
        check(422, "Invalid", ApiError::Invalid);
        check(408, "Timeout", ApiError::Unavailable);
        check(410, "Expired", ApiError::Unavailable);
        check(429, "TooManyRequests", ApiError::Unavailable);
        check(500, "InternalError", ApiError::Unavailable);
        check(503, "ServiceUnavailable", ApiError::Unavailable);
        check(504, "Timeout", ApiError::Unavailable);
        check(0, "", ApiError::Unavailable);
    }

    #[test]
    fn a_field_that_another_manager_holds_is_no_matter_of_a_newer_object() {
        let answer = r#"{"kind":"Status","status":"Failure","code":409,"reason":"Conflict","message":"Apply failed",
            "details":{"causes":[{"reason":"FieldManagerConflict","message":"conflict with kubectl","field":".metadata"}]}}"#;
        let status: Status = serde_json::from_str(answer).unwrap();
        assert_eq!(of_status(&status), ApiError::Invalid("Apply failed".to_owned()));
    }

    #[test]
    fn what_is_no_json_is_unreadable_and_no_connection_no_answer() {
        let error = serde_json::from_str::<serde_json::Value>("{").unwrap_err();
        assert_eq!(
            of(&kube::Error::SerdeError(error)),
            ApiError::Unreadable(
                "Error deserializing response: EOF while parsing an object at line 1 column 1".to_owned()
            )
        );
        let refused = std::io::Error::new(std::io::ErrorKind::ConnectionRefused, "connection refused");
        assert_eq!(
            of(&kube::Error::Service(refused.into())),
            ApiError::Unavailable("ServiceError: connection refused".to_owned())
        );
    }

    #[test]
    fn only_the_api_servers_own_word_says_that_an_object_is_absent() {
        let error = |code, reason| kube::Error::Api(status(code, reason, "why").boxed());
        assert!(is_absent(&error(404, "NotFound")));
        assert!(!is_absent(&error(404, "Failed to parse error data")));
        assert!(already_exists(&error(409, "AlreadyExists")));
        assert!(!already_exists(&error(409, "Conflict")));
    }
}
