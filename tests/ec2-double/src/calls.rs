//! What was asked: for tests that count, and that look at the questions.

use jiff::Timestamp;

use crate::request::Parameters;

/// A call that came over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// When it came, by the double's clock.
    pub at: Timestamp,
    /// `Action`; empty where there was none.
    pub action: String,
    /// All parameters, `Action` and `Version` included.
    pub parameters: Parameters,
    /// The HTTP status of the answer; `None` where none was given.
    pub status: Option<u16>,
    /// The error's code.
    pub code: Option<String>,
}

impl Call {
    /// The ids asked for: `VolumeId.N` or `InstanceId.N`.
    pub fn ids(&self) -> Vec<String> {
        let mut ids = self.parameters.list("VolumeId");
        ids.extend(self.parameters.list("InstanceId"));
        ids
    }
}
