//! A real control plane, with doubles for EC2, the CSI controller, the cloud controller and the machines.
//!
//! Real are etcd, kube-apiserver, kube-controller-manager (attach-detach, node lifecycle, pod garbage collection, workloads),
//! kube-scheduler and csi-attacher; they come by [`binaries`]. A [`stage::Stage`] is all of it together with a
//! [`rescuer::Rescuer`]; a [`scene::Scene`] is one namespace on it with its machines and pods; [`scenarios`] are what happens
//! there. Who changed what is read from the API server's audit log, so that nothing goes unseen.
//!
//! Read in this order: `control_plane`, `kubelet`, `stage`, `scene`, `scenarios`.

pub mod account;
pub mod attachments;
pub mod audit;
pub mod background;
pub mod binaries;
pub mod cloud_controller;
pub mod control_plane;
pub mod csi;
pub mod fleet;
pub mod folder;
pub mod http_get;
pub mod kubelet;
pub mod process;
pub mod progress;
pub mod rbac;
pub mod rescuer;
pub mod scenarios;
pub mod scene;
pub mod stage;
pub mod waiting;
