//! PersistentVolumes as tests write them: a volume and its topology in one.

use super::world::*;
use std::cell::RefCell;
use zonewarden_bindings::placement::{self as contract, VolumeTopology};
use zonewarden_bindings::types::{Label, VolumeAffinity, VolumeEvidence, VolumeSource};

thread_local! {
    /// The topologies that this test's volumes were given: every pod of the test has all of them.
    static TOPOLOGIES: RefCell<Vec<VolumeTopology>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn topologies() -> Vec<VolumeTopology> {
    TOPOLOGIES.with_borrow(Clone::clone)
}

/// A volume and its topology in one.
#[derive(Debug, Clone)]
pub(super) struct PersistentVolume {
    pub(super) name: String,
    pub(super) source: VolumeSource,
    pub(super) labels: Vec<Label>,
    pub(super) affinity: VolumeAffinity,
    pub(super) evidence: VolumeEvidence,
}

impl PersistentVolume {
    /// As the contract has it.
    pub(super) fn shown(self) -> contract::PersistentVolume {
        let Self { name, source, labels, affinity, evidence } = self;
        let said = VolumeTopology { labels, affinity };
        let topology = TOPOLOGIES.with_borrow_mut(|known| {
            known.iter().position(|topology| *topology == said).unwrap_or_else(|| {
                known.push(said);
                known.len() - 1
            })
        });
        let topology = u32::try_from(topology).expect("there are few topologies");
        contract::PersistentVolume { name, source, topology, evidence }
    }
}

/// An EBS volume by CSI, of which nothing is known.
pub(super) fn pv(name: &str) -> PersistentVolume {
    PersistentVolume {
        name: name.to_owned(),
        source: csi(EBS, VOL),
        labels: vec![],
        affinity: VolumeAffinity::Unset,
        evidence: VolumeEvidence::Unknown,
    }
}

/// A hostPath volume, which no rule of ours is about.
pub(super) fn host_path(name: &str) -> PersistentVolume {
    PersistentVolume { source: VolumeSource::Other("hostPath".to_owned()), ..pv(name) }
}

pub(super) fn labelled(volume: PersistentVolume, pairs: &[(&str, &str)]) -> PersistentVolume {
    PersistentVolume { labels: labels(pairs), ..volume }
}
