//! The host's side of the policy contract: the records of `wit/`, generated once, as everybody's vocabulary.
//!
//! Each module below is one interface of the contract and holds its records. The comments on them are those of `wit/`, which
//! are the contract's manual: read them there, or here.
//!
//! A record is plain data with public fields and carries no rule. Its JSON is the JSON of the contract's `json` interface:
//! names in snake_case, cases in CamelCase (`"InUse"` without a payload, `{"Found": {}}` with one), an `option` as the value or
//! `null`. So what a policy is asked and answers can be written to a file, compared and replayed.
//!
//! ```
//! use zonewarden_contract::types::{Label, Topology, VolumeState};
//!
//! let nodes = Topology { labels: vec![Label { key: "topology.kubernetes.io/zone".into(), value: "us-east-1a".into() }] };
//! assert_eq!(nodes.labels[0].value, "us-east-1a");
//! assert_ne!(VolumeState::InUse, VolumeState::Other("in-use".into()));
//! ```
//!
//! Nothing here calls a policy: that is the engine's work. `Guest` and `GuestIndices` in each module are wasmtime's own
//! handles, for hosts that want to do it without the engine, and then without its limits.

mod generated {
    #![allow(missing_docs, unreachable_pub, clippy::all, reason = "generated from wit/, where the comments are")]
    wasmtime::component::bindgen!({
        world: "policy",
        path: "wit",
        additional_derives: [PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize],
    });
}

pub use generated::exports::zonewarden::policy::{
    admission, attachment, identity, info, json, labelling, placement, types,
};

/// The package of the contract, as it stands before the `/` in the name of a policy's exports.
pub const PACKAGE: &str = "zonewarden:policy";

/// The version of the contract that these records are.
pub const CONTRACT_VERSION: &str = "0.1.0";

/// The versions of the contract that a host built on these records can run. A policy of another version is refused, and
/// told these.
pub const SUPPORTED_VERSIONS: &[&str] = &[CONTRACT_VERSION];

#[cfg(test)]
mod tests {
    use super::types::{Label, VolumeEvidence, VolumeFacts, VolumeState, Zone};
    use super::*;

    #[test]
    fn the_version_is_the_one_of_the_wit_package() {
        let world = include_str!("../wit/world.wit");
        assert_eq!(world.lines().next(), Some(format!("package {PACKAGE}@{CONTRACT_VERSION};").as_str()));
        assert!(SUPPORTED_VERSIONS.contains(&CONTRACT_VERSION));
    }

    #[test]
    fn the_json_of_a_record_is_that_of_the_contract() {
        let evidence = VolumeEvidence::Found(VolumeFacts {
            age_seconds: 12,
            state: VolumeState::InUse,
            zone: Some(Zone { zone: "us-east-1a".to_owned() }),
            multi_attach: false,
            attributes: vec![Label { key: "volume-type".to_owned(), value: "gp3".to_owned() }],
        });
        let json = r#"{"Found":{"age_seconds":12,"state":"InUse","zone":{"zone":"us-east-1a"},"multi_attach":false,"attributes":[{"key":"volume-type","value":"gp3"}]}}"#;
        assert_eq!(serde_json::to_string(&evidence).expect("a record can be written"), json);
        assert_eq!(serde_json::from_str::<VolumeEvidence>(json).expect("the JSON is a record"), evidence);
    }

    #[test]
    fn an_option_may_be_null_or_left_out() {
        for text in [
            r#"{"age_seconds":1,"state":{"Other":"x"},"zone":null,"multi_attach":true,"attributes":[]}"#,
            r#"{"age_seconds":1,"state":{"Other":"x"},"multi_attach":true,"attributes":[]}"#,
        ] {
            let facts: VolumeFacts = serde_json::from_str(text).expect("the JSON is a record");
            assert_eq!(facts.zone, None);
            assert_eq!(facts.state, VolumeState::Other("x".to_owned()));
        }
    }
}
