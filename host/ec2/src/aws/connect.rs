//! From the AWS environment to a client for each operation.
//!
//! One client each, since the SDK keeps what it knows about throttles in a retry partition: a throttle of the one operation
//! shall not use up the other's retries.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use aws_config::{AppName, BehaviorVersion, Region, SdkConfig};
use aws_sdk_ec2::Client;
use aws_sdk_ec2::config::retry::{RetryConfig, RetryPartition};
use aws_sdk_ec2::config::timeout::TimeoutConfig;
use aws_sdk_ec2::config::{Builder, Credentials};
use aws_sdk_ec2::error::ProvideErrorMetadata;

use super::meter::Meter;
use super::options::Options;
use super::pace::Limiter;
use super::proxy;

/// Why EC2 can't be asked at all.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectError {
    /// Nothing names a region.
    NoRegion,
    /// An option has a value that EC2 would refuse, or that nothing could ever be asked with.
    Option {
        /// The option's name.
        name: &'static str,
        /// Its value.
        given: String,
        /// The values that are good.
        accepted: &'static str,
    },
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRegion => f.write_str(
                "no AWS region: nothing given names one, nor does AWS_REGION, the profile or the instance's metadata",
            ),
            Self::Option { name, given, accepted } => write!(f, "the option {name} is {given}: give {accepted}"),
        }
    }
}

impl Error for ConnectError {}

/// What the environment and the options say together.
pub(super) struct Environment {
    config: SdkConfig,
    options: Options,
}

impl Environment {
    /// Reads it. Credentials are looked for when they are needed first, not here.
    pub(super) async fn load(options: &Options) -> Self {
        let mut loader = aws_config::defaults(BehaviorVersion::latest()).http_client(proxy::http_client());
        if let Some(region) = &options.region {
            loader = loader.region(Region::new(region.clone()));
        }
        if let Some(profile) = &options.profile {
            loader = loader.profile_name(profile);
        }
        if let Some(keys) = options.keys.clone() {
            let token = keys.session_token;
            let credentials = Credentials::new(keys.access_key_id, keys.secret_access_key, token, None, "zonewarden");
            loader = loader.credentials_provider(credentials);
        }
        Self { config: loader.load().await, options: options.clone() }
    }

    pub(super) fn region(&self) -> Result<String, ConnectError> {
        self.config.region().map(ToString::to_string).ok_or(ConnectError::NoRegion)
    }

    /// A client for one operation, whose error type is `E`.
    pub(super) fn client<E>(&self, operation: &'static str, limiter: &Arc<Limiter>) -> Client
    where
        E: ProvideErrorMetadata + Error + Send + Sync + 'static,
    {
        let options = &self.options;
        let retries = RetryConfig::standard()
            .with_max_attempts(options.attempts)
            .with_initial_backoff(options.backoff)
            .with_max_backoff(options.backoff.saturating_mul(8));
        let timeouts = TimeoutConfig::builder()
            .operation_attempt_timeout(options.attempt_timeout)
            .operation_timeout(options.call_timeout)
            .build();
        let mut builder = Builder::from(&self.config)
            .retry_config(retries)
            .retry_partition(RetryPartition::custom(format!("zonewarden-{operation}")).build())
            .timeout_config(timeouts)
            .interceptor(Meter::<E>::new(operation, Arc::clone(limiter)));
        builder.set_app_name(AppName::new("zonewarden").ok());
        if let Some(url) = &options.endpoint_url {
            builder = builder.endpoint_url(url);
        }
        Client::from_conf(builder.build())
    }
}
