//! The records of the policy contract as Rust types, generated once from `wit/`.
//!
//! One module an interface; the documentation of every item is the contract's own. The types carry serde's derives, which is
//! all there is behind the contract's `json` interface: fields by their names here, cases by their names here.
//!
//! Each module also holds the trait `Guest` of its interface. Policies implement none of them and call no macro of this crate:
//! `zonewarden_sdk` does both for them.

#[doc(hidden)]
pub mod generated {
    #![allow(missing_docs, clippy::all, reason = "generated from wit/, where the documentation stands")]
    wit_bindgen::generate!({
        world: "policy",
        path: "wit",
        pub_export_macro: true,
        export_macro_name: "export",
        default_bindings_module: "zonewarden_bindings::generated",
        additional_derives: [PartialEq, serde::Serialize, serde::Deserialize],
    });
}

pub use generated::exports::zonewarden::policy::{
    admission, attachment, identity, info, json, labelling, placement, types,
};
