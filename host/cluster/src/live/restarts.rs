//! Why watches begin anew, for people and for the metric `zonewarden_watch_restarts_total`.

use kube::runtime::watcher::Error;

use super::errors;
use crate::objects::Kind;

/// The watch ended without an error, as the API server lets every one end after some minutes.
pub(super) const CLOSED: &str = "closed";
/// The resource version is too old: everything is listed anew.
const GONE: &str = "gone";
/// The account may not list or watch the kind.
const FORBIDDEN: &str = "forbidden";
/// The list was refused, or came in part.
const LIST: &str = "list-failed";
/// The watch was refused, or there is no connection.
const WATCH: &str = "watch-failed";
/// The watch broke off, or held what is no event.
const BROKEN: &str = "broken";
/// The watch held an error of the API server.
const ERROR: &str = "error";

/// Counts one restart.
pub(super) fn count(kind: Kind, reason: &'static str) {
    metrics::counter!("zonewarden_watch_restarts_total", "kind" => kind.as_str(), "reason" => reason).increment(1);
}

/// The reason that a failure is counted under.
pub(super) fn reason(error: &Error) -> &'static str {
    match (code(error), error) {
        (Some(401 | 403), _) => FORBIDDEN,
        (Some(410), _) => GONE,
        (_, Error::InitialListFailed(_)) => LIST,
        (_, Error::WatchStartFailed(_)) => WATCH,
        (_, Error::WatchFailed(_) | Error::NoResourceVersion) => BROKEN,
        (_, Error::WatchError(_)) => ERROR,
    }
}

/// Whether the watch has to be begun from nothing, since kube's watcher would go on after what it could not read, or would
/// ask again and again for a version that the API server does not have.
pub(super) fn is_lost(error: &Error) -> bool {
    match error {
        Error::WatchFailed(kube::Error::SerdeError(_) | kube::Error::FromUtf8(_)) => true,
        Error::WatchStartFailed(_) => matches!(code(error), Some(400 | 410 | 504)),
        Error::WatchError(status) => status.code != 410,
        _ => false,
    }
}

/// The failure in words.
pub(super) fn describe(error: &Error) -> String {
    match error {
        Error::InitialListFailed(error) => format!("can't be listed: {}", errors::of(error)),
        Error::WatchStartFailed(error) => format!("can't be watched: {}", errors::of(error)),
        Error::WatchFailed(error) => format!("the watch broke off: {}", errors::of(error)),
        Error::WatchError(status) => format!("the watch was ended: {}", errors::of_status(status)),
        Error::NoResourceVersion => "the list has no resourceVersion".to_owned(),
    }
}

fn code(error: &Error) -> Option<u16> {
    match error {
        Error::InitialListFailed(kube::Error::Api(status)) | Error::WatchStartFailed(kube::Error::Api(status)) => {
            Some(status.code)
        }
        Error::WatchFailed(kube::Error::Api(status)) | Error::WatchError(status) => Some(status.code),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]
mod tests {
    use kube::core::Status;

    use super::*;

    fn api(code: u16) -> kube::Error {
        kube::Error::Api(Status::failure("why", "Reason").with_code(code).boxed())
    }

    fn unreadable() -> kube::Error {
        kube::Error::SerdeError(serde_json::from_str::<u8>("{").unwrap_err())
    }

    fn check(error: &Error, expected: (&str, bool)) {
        assert_eq!((reason(error), is_lost(error)), expected, "{error}");
    }

    #[test]
    fn each_failure_has_its_reason_and_its_cure() {
        check(&Error::InitialListFailed(api(403)), (FORBIDDEN, false));
        check(&Error::InitialListFailed(api(410)), (GONE, false));
        check(&Error::InitialListFailed(unreadable()), (LIST, false));
        check(&Error::WatchStartFailed(api(503)), (WATCH, false));
        check(&Error::WatchStartFailed(api(410)), (GONE, true));
        check(&Error::WatchStartFailed(api(504)), (WATCH, true));
        check(&Error::WatchFailed(unreadable()), (BROKEN, true));
        check(&Error::WatchFailed(kube::Error::LinesCodecMaxLineLengthExceeded), (BROKEN, false));
        check(&Error::WatchError(Status::failure("old", "Expired").with_code(410).boxed()), (GONE, false));
        check(&Error::WatchError(Status::failure("why", "InternalError").with_code(500).boxed()), (ERROR, true));
        check(&Error::NoResourceVersion, (BROKEN, false));
    }

    #[test]
    fn a_failure_is_told_in_the_words_of_the_api_server() {
        let unauthorized = Status::failure("Unauthorized", "Unauthorized").with_code(401).boxed();
        let told = describe(&Error::InitialListFailed(kube::Error::Api(unauthorized)));
        assert_eq!(told, "can't be listed: not allowed: Unauthorized");
        assert_eq!(describe(&Error::WatchStartFailed(api(503))), "can't be watched: no answer: why");
        let status = Status::failure("too old resource version", "Expired").with_code(410).boxed();
        assert_eq!(describe(&Error::WatchError(status)), "the watch was ended: no answer: too old resource version");
        assert_eq!(describe(&Error::NoResourceVersion), "the list has no resourceVersion");
    }
}
