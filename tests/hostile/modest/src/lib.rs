//! A policy that says it proposes nothing but events, and proposes what the standard rules do.

use zonewarden_sdk::contract::info::PolicyInfo;
use zonewarden_sdk::contract::types::Remedy;
use zonewarden_sdk::{Policy, Settings, export_policy};

/// The policy without announcements.
#[derive(Debug, Clone, Copy)]
pub struct Modest;

/// The standard rules' description.
struct Standard;

impl Policy for Standard {
    const NAME: &'static str = "modest";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
}

impl Policy for Modest {
    const NAME: &'static str = Standard::NAME;
    const VERSION: &'static str = Standard::VERSION;

    fn describe(settings: &Settings) -> PolicyInfo {
        PolicyInfo { remedies: vec![Remedy::Event], ..Standard::describe(settings) }
    }
}

export_policy!(Modest);
