//! The default policy: the standard rules under the standard settings.

use zonewarden_sdk::{Policy, export_policy};

/// The default policy for EBS volumes.
#[derive(Debug, Clone, Copy)]
pub struct Ebs;

impl Policy for Ebs {
    const NAME: &'static str = "ebs";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
}

export_policy!(Ebs);
