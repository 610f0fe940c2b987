//! The host's side of the policy contract.

mod generated {
    #![allow(missing_docs, unreachable_pub, clippy::all, reason = "generated")]
    wasmtime::component::bindgen!({
        world: "policy",
        path: "wit",
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
    });
}

pub use generated::exports::zonewarden::policy::{
    admission, attachment, identity, info, json, labelling, placement, types,
};
pub use generated::{Policy, PolicyPre};
