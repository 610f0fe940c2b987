//! The one module that writes to the cluster's objects.
//!
//! Every write comes after a fresh read of all that it concerns and carries what that read showed as its precondition. What was
//! decided on the records of a watch may be a second old; what is written rests on what is.

use std::collections::BTreeSet;

use zonewarden_cluster::records::{AttachedSource, Lease};
use zonewarden_cluster::{Api, ApiError, Index, Kind, Object, ObjectName, Write};
use zonewarden_contract::types::{NodeName, Remedy};

use crate::act::{Act, Deed};
use crate::clock::Now;
use crate::leases::LeaseRead;
use crate::rails::Withheld;
use crate::rails::switch::Rail;
use crate::reconciler::Reconciler;

/// Where kubelets keep their Leases.
const LEASE_NAMESPACE: &str = "kube-node-lease";
/// An act is so many writes at most: the pods of one machine, and then some.
const MOST_WRITES: usize = 1_000;

/// Whether this replica may write now. It is asked before every single write.
pub trait Fence: Send + Sync {
    /// Whether the leadership was renewed lately enough that nobody else can have taken it.
    fn holds(&self) -> bool;
}

/// What came of an act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done, by so many writes.
    Done(usize),
    /// The rails forbade it at the last look. Earlier writes of it were made.
    Withheld(Withheld),
    /// The API server did not do it.
    Failed(ApiError),
}

/// What an act is carried out with.
pub(crate) struct Hand<'a> {
    pub(crate) api: &'a dyn Api,
    pub(crate) fence: &'a dyn Fence,
    pub(crate) clock: &'a (dyn Fn() -> Now + Send + Sync),
    /// What the watches know, which is what is read where a test takes the fresh read away.
    pub(crate) cached: &'a Index,
}

impl Hand<'_> {
    /// Carries an act out. That it may be done as far as modes, breaker and budget go was seen to before.
    pub(crate) async fn carry_out(&self, reconciler: &mut Reconciler, act: &Act) -> Outcome {
        let mut done = BTreeSet::new();
        let mut writes = 0;
        while writes < MOST_WRITES {
            let fresh = match self.read(reconciler, act).await {
                Ok(fresh) => fresh,
                Err(error) => return Outcome::Failed(error),
            };
            let write = match reconciler.next_write(&fresh, act, &done, (self.clock)()) {
                Ok(Some(write)) => write,
                Ok(None) => return Outcome::Done(writes),
                Err(withheld) => return Outcome::Withheld(withheld),
            };
            if !self.fence.holds() {
                return Outcome::Withheld(Withheld("not-leader"));
            }
            match self.api.write(&write).await {
                Ok(()) => writes += 1,
                // A pod that somebody else deleted, or touched, is looked at once more.
                Err(ApiError::Conflict(_)) if matches!(write, Write::DeletePod { .. }) => {}
                Err(error) => return Outcome::Failed(error),
            }
            match write {
                Write::DeletePod { pod, .. } => drop(done.insert(pod)),
                _ => return Outcome::Done(writes),
            }
        }
        Outcome::Done(writes)
    }

    /// Reads everything afresh that an act concerns.
    async fn read(&self, reconciler: &mut Reconciler, act: &Act) -> Result<Index, ApiError> {
        if !reconciler.rails.holds(Rail::FreshRead) {
            return Ok(self.cached.clone());
        }
        let mut fresh = Index::default();
        match &act.deed {
            Deed::Pair { remedy, attachment, node, .. } => {
                self.read_node(reconciler, &mut fresh, node).await?;
                for pod in self.api.pods_on_node(&node.node_name).await? {
                    fresh.apply(Object::Pod(pod));
                }
                self.read_attachment(&mut fresh, attachment).await?;
                if *remedy == Remedy::DeleteLeakedAttachment {
                    let namespaces: BTreeSet<_> =
                        fresh.claims().map(|claim| claim.identity.name.namespace.clone()).collect();
                    for namespace in namespaces {
                        for pod in self.api.pods_in_namespace(&namespace).await? {
                            fresh.apply(Object::Pod(pod));
                        }
                    }
                }
            }
            Deed::Untaint { node, .. } => self.read_node(reconciler, &mut fresh, node).await?,
            Deed::Label { volume, .. } | Deed::Affinity { volume, .. } => {
                drop(self.take(&mut fresh, Kind::PersistentVolume, volume).await?);
            }
        }
        Ok(fresh)
    }

    /// A VolumeAttachment, its volume, the volume's claim and the CSI driver.
    async fn read_attachment(&self, fresh: &mut Index, name: &ObjectName) -> Result<(), ApiError> {
        let Some(Object::VolumeAttachment(attachment)) = self.take(fresh, Kind::VolumeAttachment, name).await? else {
            return Ok(());
        };
        self.take(fresh, Kind::CsiDriver, &ObjectName::new("", &attachment.attacher)).await?;
        // An inline volume has no claim, so nobody can look up who else uses it; through this VolumeAttachment only pods on its
        // Node can, and those are read.
        let AttachedSource::PersistentVolume(volume) = &attachment.source else { return Ok(()) };
        let volume = self.take(fresh, Kind::PersistentVolume, &ObjectName::new("", volume)).await?;
        if let Some(Object::PersistentVolume(volume)) = volume
            && let Some(claim) = &volume.claim
        {
            self.take(fresh, Kind::PersistentVolumeClaim, &claim.name).await?;
        }
        Ok(())
    }

    /// A Node, its CSINode and its Lease.
    async fn read_node(&self, reconciler: &mut Reconciler, fresh: &mut Index, node: &NodeName) -> Result<(), ApiError> {
        let name = ObjectName::new("", &node.node_name);
        self.take(fresh, Kind::CsiNode, &name).await?;
        if self.take(fresh, Kind::Node, &name).await?.is_none() {
            return Ok(());
        }
        let lease = read_lease(self.api, node).await?;
        reconciler.watched.leases.note(node, lease.as_ref(), (self.clock)().moment);
        Ok(())
    }

    async fn take(&self, fresh: &mut Index, kind: Kind, name: &ObjectName) -> Result<Option<Object>, ApiError> {
        let object = self.api.get(kind, name).await?;
        if let Some(object) = &object {
            fresh.apply(object.clone());
        }
        Ok(object)
    }
}

/// Reads the Lease of a Node's kubelet.
pub(crate) async fn read_lease(api: &dyn Api, node: &NodeName) -> Result<Option<LeaseRead>, ApiError> {
    let name = ObjectName::new(LEASE_NAMESPACE, &node.node_name);
    let object = api.get(Kind::Lease, &name).await?;
    let Some(Object::Lease(Lease { identity, renewed, duration_seconds })) = object else { return Ok(None) };
    Ok(Some(LeaseRead { uid: identity.uid, renewed, duration_seconds }))
}
