//! How EC2 is asked.

use std::fmt;
use std::time::Duration;

use super::connect::ConnectError;

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

impl Options {
    /// What is wrong with the numbers.
    pub(super) fn check(&self) -> Result<(), ConnectError> {
        let error = |name, given: &dyn fmt::Display, accepted| {
            Err(ConnectError::Option { name, given: given.to_string(), accepted })
        };
        if !(5..=1000).contains(&self.page_size) {
            return error("page_size", &self.page_size, "a number from 5 to 1000");
        }
        if !(self.calls_per_second.is_finite() && self.calls_per_second > 0.0) {
            return error("calls_per_second", &self.calls_per_second, "a number greater than 0");
        }
        if self.burst == 0 {
            return error("burst", &self.burst, "at least 1");
        }
        if self.attempts == 0 {
            return error("attempts", &self.attempts, "at least 1");
        }
        Ok(())
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
    fn a_number_that_ec2_would_refuse_or_that_asks_nothing_is_named() {
        let checked = |change: fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            options.check().map_err(|error| error.to_string())
        };
        assert_eq!(checked(|_| ()), Ok(()));
        assert_eq!(checked(|options| options.page_size = 5), Ok(()));
        for (change, text) in [
            ((|options| options.page_size = 4) as fn(&mut Options), "page_size is 4: give a number from 5 to 1000"),
            (|options| options.page_size = 1001, "page_size is 1001: give a number from 5 to 1000"),
            (|options| options.calls_per_second = 0.0, "calls_per_second is 0: give a number greater than 0"),
            (|options| options.calls_per_second = f64::NAN, "calls_per_second is NaN: give a number greater than 0"),
            (
                |options| options.calls_per_second = f64::INFINITY,
                "calls_per_second is inf: give a number greater than 0",
            ),
            (|options| options.burst = 0, "burst is 0: give at least 1"),
            (|options| options.attempts = 0, "attempts is 0: give at least 1"),
        ] {
            assert_eq!(checked(change), Err(format!("the option {text}")));
        }
    }

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
