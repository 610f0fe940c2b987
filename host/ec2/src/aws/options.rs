//! How EC2 is asked.

use std::fmt;
use std::time::Duration;

/// How EC2 is asked. Everything that is `None` comes from the standard AWS environment: environment variables, profile,
/// IRSA, EKS Pod Identity, instance metadata.
#[derive(Clone, Debug)]
pub struct Options {
    /// The region.
    pub region: Option<String>,
    /// Where EC2 is, other than at the region's own endpoint.
    pub endpoint_url: Option<String>,
    /// The profile in the AWS configuration files.
    pub profile: Option<String>,
    /// Keys to sign with instead of those that the environment gives.
    pub keys: Option<Keys>,
    /// Calls per second, sustained, for everything that is asked together.
    pub calls_per_second: f64,
    /// Calls that may follow each other at once after a quiet while.
    pub burst: u32,
    /// Results in one page of a read by filter: 5 to 1,000.
    pub page_size: u16,
    /// Attempts of one call, the first included.
    pub attempts: u32,
    /// The longest wait before the second attempt; it doubles with each further one, and a random share of it is waited.
    pub backoff: Duration,
    /// The time for one attempt.
    pub attempt_timeout: Duration,
    /// The time for one call with all its attempts.
    pub call_timeout: Duration,
    /// The time for one sweep. What is not read by then is unknown, and among the first that are asked next time.
    pub sweep_timeout: Duration,
    /// After which time an id that EC2 rejected is asked by its id again, until it was rejected three times over two minutes.
    pub first_recheck: Duration,
    /// After which time it is from then on.
    pub recheck: Duration,
}

impl Default for Options {
    /// A tenth of what EC2 grants an account for calls of this kind, so that the CSI driver and people find enough left.
    fn default() -> Self {
        Self {
            region: None,
            endpoint_url: None,
            profile: None,
            keys: None,
            calls_per_second: 2.0,
            burst: 20,
            page_size: 1000,
            attempts: 3,
            backoff: Duration::from_secs(1),
            attempt_timeout: Duration::from_secs(10),
            call_timeout: Duration::from_secs(25),
            sweep_timeout: Duration::from_secs(60),
            first_recheck: Duration::from_secs(30),
            recheck: Duration::from_secs(3600),
        }
    }
}

/// An access key pair.
#[derive(Clone)]
pub struct Keys {
    /// The access key's id.
    pub access_key_id: String,
    /// The secret access key.
    pub secret_access_key: String,
    /// The token of a session, for keys that expire.
    pub session_token: Option<String>,
}

impl fmt::Debug for Keys {
    /// Without the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("access_key_id", &self.access_key_id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_printed() {
        let keys = Keys {
            access_key_id: "AKID".to_owned(),
            secret_access_key: "secret".to_owned(),
            session_token: Some("token".to_owned()),
        };
        assert_eq!(format!("{keys:?}"), r#"Keys { access_key_id: "AKID", .. }"#);
    }
}
