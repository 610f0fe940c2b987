//! Bulk verification of EBS volumes and instances behind one interface.
