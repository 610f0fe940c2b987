//! What EC2 answers where it does not answer the question: a code, a sentence and an HTTP status.
//!
//! The sentences are EC2's own where they are publicly known, since programs search them for ids.

use std::fmt;

/// An error of EC2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ec2Error {
    /// The HTTP status.
    pub status: u16,
    /// `Code`, such as `InvalidVolume.NotFound`.
    pub code: String,
    /// `Message`.
    pub message: String,
}

impl fmt::Display for Ec2Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Ec2Error {}

impl Ec2Error {
    /// An error.
    pub fn new(status: u16, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { status, code: code.into(), message: message.into() }
    }

    /// An error of the client's: status 400.
    pub fn client(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(400, code, message)
    }

    /// `RequestLimitExceeded`.
    pub fn throttled() -> Self {
        Self::new(503, "RequestLimitExceeded", "Request limit exceeded.")
    }

    pub(crate) fn no_volume(id: &str) -> Self {
        Self::client("InvalidVolume.NotFound", format!("The volume '{id}' does not exist."))
    }

    pub(crate) fn no_instance(id: &str) -> Self {
        Self::client("InvalidInstanceID.NotFound", format!("The instance ID '{id}' does not exist"))
    }

    pub(crate) fn not_attached(volume: &str, instance: &str) -> Self {
        let text = format!("The attachment between volume '{volume}' and instance '{instance}' does not exist.");
        Self::client("InvalidAttachment.NotFound", text)
    }

    pub(crate) fn incorrect_state(message: impl Into<String>) -> Self {
        Self::client("IncorrectState", message)
    }

    pub(crate) fn invalid_value(message: impl Into<String>) -> Self {
        Self::client("InvalidParameterValue", message)
    }

    pub(crate) fn missing_parameter(name: &str) -> Self {
        Self::client("MissingParameter", format!("The request must contain the parameter {name}"))
    }
}
