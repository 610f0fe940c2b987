//! What a Zonewarden policy is written with.
//!
//! A policy implements [`Policy`] and names only what differs from the standard rules; [`export_policy!`] turns it into the
//! component that the host loads. Every method is a plain function over the contract's records, so `cargo test` on a policy
//! needs no cluster, no host and no wasm.
//!
//! ```
//! use zonewarden_sdk::contract::identity::{VolumeIdentity, VolumeQuestion};
//! use zonewarden_sdk::contract::types::{Reason, VolumeSource};
//! use zonewarden_sdk::{Policy, Settings, export_policy, rules};
//!
//! /// The standard policy, which leaves GCE's volumes alone in words of its own.
//! struct Example;
//!
//! impl Policy for Example {
//!     const NAME: &'static str = "example";
//!     const VERSION: &'static str = "1.0.0";
//!
//!     fn identify_volume(settings: &Settings, question: &VolumeQuestion) -> VolumeIdentity {
//!         match question.source {
//!             VolumeSource::GcePersistentDisk(_) => VolumeIdentity::Foreign(Reason {
//!                 code: "not-here".to_owned(),
//!                 message: "this cluster has no GCE volumes".to_owned(),
//!             }),
//!             _ => rules::identity::identify_volume(settings, question),
//!         }
//!     }
//! }
//!
//! export_policy!(Example);
//!
//! let question = VolumeQuestion {
//!     source: VolumeSource::GcePersistentDisk(zonewarden_sdk::contract::types::KubernetesVolumeId {
//!         kubernetes_volume_id: "pd-1".to_owned(),
//!     }),
//!     ec2_zone: None,
//! };
//! let VolumeIdentity::Foreign(reason) = Example::identify_volume(&Settings::default(), &question) else { panic!() };
//! assert_eq!(reason.code, "not-here");
//! ```
//!
//! The package needs `crate-type = ["cdylib", "rlib"]`: the one for the component, the other for its tests.

mod component;
mod json;
mod policy;

/// An instance answers one question and is gone, and its memory with it. So nothing is ever given back within a call, and
/// taking memory is an addition. The memory that the instance starts with is used first: to grow it is a system call.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: mini_alloc::MiniAlloc = mini_alloc::MiniAlloc::INIT;

pub use component::Component;
pub use json::evaluate;
pub use policy::Policy;
pub use zonewarden_bindings as contract;
pub use zonewarden_rules as rules;
pub use zonewarden_rules::settings::Settings;

/// Exports a type that implements [`Policy`] as this package's component.
///
/// It expands to nothing but on wasm32, so that two policies link into one native test.
#[macro_export]
macro_rules! export_policy {
    ($policy:ty) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            type Exported = $crate::Component<$policy>;
    $crate::contract::generated::export!(Exported with_types_in $crate::contract::generated);
        };
    };
}
