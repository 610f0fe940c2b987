//! A real control plane, with doubles for EC2, the CSI controller and the machines.

pub mod csi;
