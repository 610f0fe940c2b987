//! The records of the policy contract as Rust types, generated once from `wit/`.
//!
//! One module an interface; the documentation of every item is the contract's own. The types carry serde's derives, which is
//! all there is behind the contract's `json` interface: fields by their names here, cases by their names here.
//!
//! This crate also holds the one macro that exports an implementation. Policies do not call it: `zonewarden_sdk::export_policy`
//! does.

mod generated {
    #![allow(missing_docs, unreachable_pub, clippy::all, reason = "generated")]
    wit_bindgen::generate!({
        world: "policy",
        path: "wit",
        pub_export_macro: true,
        export_macro_name: "export",
        default_bindings_module: "zonewarden_bindings",
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
    });
}

pub use generated::exports::zonewarden::policy::{admission, attachment, identity, info, json, labelling, placement, types};
