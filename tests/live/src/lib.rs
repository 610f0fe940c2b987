//! Bulk verification by the AWS SDK against an EC2 double. The tests are in `tests/`; here is what they and the benchmark share.

use zonewarden_ec2::{Keys, Options};

/// Options for an endpoint at which any key will do, without a pace.
#[must_use]
pub fn unpaced(endpoint_url: String) -> Options {
    Options {
        region: Some("us-east-1".to_owned()),
        endpoint_url: Some(endpoint_url),
        keys: Some(Keys {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: "secret".to_owned(),
            session_token: None,
        }),
        calls_per_second: 1e6,
        burst: 1_000_000,
        ..Options::default()
    }
}
