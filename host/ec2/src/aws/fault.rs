//! Why a call gave no answer, told by EC2's codes and never by its texts.

use std::error::Error;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_ec2::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;

use crate::verify::UnknownCause;

const NOT_FOUND: &[&str] = &["InvalidVolume.NotFound", "InvalidInstanceID.NotFound"];
/// What EC2 says of an id that is none. Which one it uses depends on what is wrong with it.
const MALFORMED: &[&str] = &["InvalidVolumeID.Malformed", "InvalidInstanceID.Malformed", "InvalidParameterValue"];
/// Those that the SDK retries as throttles and that EC2 has.
const THROTTLES: &[&str] = &[
    "RequestLimitExceeded",
    "EC2ThrottledException",
    "Throttling",
    "ThrottlingException",
    "RequestThrottled",
    "SlowDown",
];
const DENIALS: &[&str] = &[
    "AccessDenied",
    "AccessDeniedException",
    "AuthFailure",
    "Blocked",
    "ExpiredToken",
    "ExpiredTokenException",
    "IncompleteSignature",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "MissingAuthenticationToken",
    "OptInRequired",
    "PendingVerification",
    "RequestExpired",
    "SignatureDoesNotMatch",
    "UnauthorizedOperation",
    "UnrecognizedClientException",
];
const OUTAGES: &[&str] = &["InternalError", "InternalFailure", "RequestTimeout", "ServiceUnavailable", "Unavailable"];

/// Why a call gave no answer, for people and for the ids that it was about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) cause: UnknownCause,
    /// What happened, in one line: EC2's code and words where it gave some.
    pub(super) detail: String,
}

impl Fault {
    pub(super) fn new(cause: UnknownCause, detail: impl Into<String>) -> Self {
        Self { cause, detail: detail.into() }
    }

    pub(super) fn out_of_time() -> Self {
        Self::new(UnknownCause::OutOfTime, "the time for the sweep was over")
    }
}

/// How EC2 rejects an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejection {
    /// There is none of that id.
    NotFound,
    /// That is no id.
    Malformed,
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Because of one id or several.
    Ids {
        /// What is wrong with them.
        rejection: Rejection,
        /// EC2's words, which name them.
        text: String,
    },
    /// Because of anything else.
    Fault(Fault),
}

/// What the SDK's error means.
pub(super) fn classify<E>(error: &SdkError<E, HttpResponse>) -> Failure
where
    E: ProvideErrorMetadata + Error + 'static,
{
    let status = error.raw_response().map(|response| response.status().as_u16());
    let (code, text) = match error.as_service_error() {
        Some(error) => (error.code(), error.message().unwrap_or_default()),
        None => (None, ""),
    };
    let cause = match code {
        Some(code) if NOT_FOUND.contains(&code) => {
            return Failure::Ids { rejection: Rejection::NotFound, text: text.to_owned() };
        }
        Some(code) if MALFORMED.contains(&code) => {
            return Failure::Ids { rejection: Rejection::Malformed, text: text.to_owned() };
        }
        Some(code) if THROTTLES.contains(&code) => UnknownCause::Throttled,
        Some(code) if DENIALS.contains(&code) => UnknownCause::Denied,
        Some(code) if OUTAGES.contains(&code) => UnknownCause::Unavailable,
        _ => match status {
            Some(401 | 403) => UnknownCause::Denied,
            Some(429) => UnknownCause::Throttled,
            Some(status) if status >= 500 => UnknownCause::Unavailable,
            Some(_) if code.is_some() => UnknownCause::ApiFault,
            None if lacks_credentials(error) => UnknownCause::Denied,
            _ => UnknownCause::Unavailable,
        },
    };
    Failure::Fault(Fault { cause, detail: detail(code, text, error) })
}

fn detail<E: Error + 'static>(code: Option<&str>, text: &str, error: &SdkError<E, HttpResponse>) -> String {
    match code {
        Some(code) if text.is_empty() => code.to_owned(),
        Some(code) => format!("{code}: {}", text.trim_end_matches('.')),
        None => DisplayErrorContext(error).to_string(),
    }
}

/// Whether the request never left because there was nothing to sign it with.
fn lacks_credentials<E: Error + 'static>(error: &SdkError<E, HttpResponse>) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<CredentialsError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// A code as a metric's label: one of those known here, so that the label's values are a closed set.
pub(super) fn label(code: &str) -> &'static str {
    let known = [NOT_FOUND, MALFORMED, THROTTLES, DENIALS, OUTAGES];
    known.into_iter().flatten().find(|known| **known == code).unwrap_or(&"other")
}

/// Whether EC2 asks to slow down.
pub(super) fn is_throttle(code: &str) -> bool {
    THROTTLES.contains(&code)
}

#[cfg(test)]
mod tests {
    use aws_sdk_ec2::error::ErrorMetadata;
    use aws_sdk_ec2::operation::describe_volumes::DescribeVolumesError;
    use aws_smithy_runtime_api::client::result::ConnectorError;
    use aws_smithy_types::body::SdkBody;

    use super::*;

    fn answer(status: u16, code: Option<&str>) -> Failure {
        let mut metadata = ErrorMetadata::builder().message("The words.");
        if let Some(code) = code {
            metadata = metadata.code(code);
        }
        let response = HttpResponse::new(status.try_into().expect("a valid status"), SdkBody::empty());
        classify(&SdkError::service_error(DescribeVolumesError::generic(metadata.build()), response))
    }

    #[track_caller]
    fn check(status: u16, code: &str, cause: UnknownCause) {
        let expected = Failure::Fault(Fault::new(cause, format!("{code}: The words")));
        assert_eq!(answer(status, Some(code)), expected);
    }

    #[test]
    fn ids_that_ec2_rejects() {
        let rejected = |rejection| Failure::Ids { rejection, text: "The words.".to_owned() };
        for (code, rejection) in [
            ("InvalidVolume.NotFound", Rejection::NotFound),
            ("InvalidInstanceID.NotFound", Rejection::NotFound),
            ("InvalidVolumeID.Malformed", Rejection::Malformed),
            ("InvalidInstanceID.Malformed", Rejection::Malformed),
            ("InvalidParameterValue", Rejection::Malformed),
        ] {
            assert_eq!(answer(400, Some(code)), rejected(rejection), "{code}");
        }
    }

    #[test]
    fn d_25_to_d_28_what_a_code_means() {
        check(503, "RequestLimitExceeded", UnknownCause::Throttled);
        check(400, "EC2ThrottledException", UnknownCause::Throttled);
        check(401, "AuthFailure", UnknownCause::Denied);
        check(403, "UnauthorizedOperation", UnknownCause::Denied);
        check(400, "ExpiredToken", UnknownCause::Denied);
        check(400, "RequestExpired", UnknownCause::Denied);
        check(403, "SomethingNew", UnknownCause::Denied);
        check(429, "SomethingNew", UnknownCause::Throttled);
        check(500, "InternalError", UnknownCause::Unavailable);
        check(503, "Unavailable", UnknownCause::Unavailable);
        check(502, "SomethingNew", UnknownCause::Unavailable);
        check(400, "InvalidNextToken", UnknownCause::ApiFault);
        check(400, "MalformedQueryString", UnknownCause::ApiFault);
    }

    #[test]
    fn d_28_an_answer_that_is_no_error_of_ec2() {
        for status in [200, 400, 502] {
            let Failure::Fault(fault) = answer(status, None) else { panic!("an error without a code is about no id") };
            assert_eq!(fault.cause, UnknownCause::Unavailable, "{status}");
        }
        let Failure::Fault(fault) = answer(403, None) else { panic!("an error without a code is about no id") };
        assert_eq!(fault.cause, UnknownCause::Denied);
    }

    #[test]
    fn d_27_no_credentials_are_not_an_outage() {
        let cause = |error: ConnectorError| match classify(
            &SdkError::<DescribeVolumesError, HttpResponse>::dispatch_failure(error),
        ) {
            Failure::Fault(fault) => fault.cause,
            failure @ Failure::Ids { .. } => panic!("{failure:?} is about no id"),
        };
        let none = CredentialsError::not_loaded("no providers in chain");
        assert_eq!(cause(ConnectorError::other(Box::new(none), None)), UnknownCause::Denied);
        assert_eq!(cause(ConnectorError::io("connection refused".into())), UnknownCause::Unavailable);
        let timeout = SdkError::<DescribeVolumesError, HttpResponse>::timeout_error("10 s");
        assert!(matches!(classify(&timeout), Failure::Fault(Fault { cause: UnknownCause::Unavailable, .. })));
    }

    #[test]
    fn labels_are_a_closed_set() {
        assert_eq!(label("RequestLimitExceeded"), "RequestLimitExceeded");
        assert_eq!(label("Whatever.Comes"), "other");
    }
}
