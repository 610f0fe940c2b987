//! Zonewarden's rules: what a volume id means, which labels, which node fits, what a difference means.
//!
//! Plain functions over plain data: no I/O, no clock, no async, no state. The records are the contract's own
//! (`zonewarden_bindings`); what has an invariant is a type of this crate with a private field ([`volume_id::VolumeId`]).
//! Row ids in names and comments (`F-41`, `E9`) are those of the rules' tables.
//!
//! Read in this order: [`settings`], [`keys`] and [`zones`], then one module per interface of the contract.

pub mod admission;
pub mod attachment;
pub mod csi_translation;
pub mod gce;
pub mod identity;
pub mod keys;
pub mod labelling;
pub mod mount_path;
pub mod placement;
pub mod provider_id;
pub mod region;
pub mod selector;
pub mod settings;
pub mod storage_class;
pub mod translation;
pub mod volume_id;
pub mod zone_choice;
pub mod zones;

mod answer;
