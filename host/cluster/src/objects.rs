//! The kinds that are read, and one object of any of them.

use std::fmt;

use serde::Serialize;
use zonewarden_documents::{Fault, Piece};

use crate::records::{
    CsiDriver, CsiNode, Identity, Lease, Node, ObjectName, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass,
    VolumeAttachment,
};
use crate::wire::{self, Unreadable};

/// A kind that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Kind {
    /// A PersistentVolume.
    PersistentVolume,
    /// A PersistentVolumeClaim.
    PersistentVolumeClaim,
    /// A Pod.
    Pod,
    /// A Node.
    Node,
    /// A VolumeAttachment.
    VolumeAttachment,
    /// A CSINode.
    #[serde(rename = "CSINode")]
    CsiNode,
    /// A CSIDriver.
    #[serde(rename = "CSIDriver")]
    CsiDriver,
    /// A StorageClass.
    StorageClass,
    /// A Lease of a kubelet. Those of other namespaces are read too and mean nothing here.
    Lease,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::PersistentVolume,
        Self::PersistentVolumeClaim,
        Self::Pod,
        Self::Node,
        Self::VolumeAttachment,
        Self::CsiNode,
        Self::CsiDriver,
        Self::StorageClass,
        Self::Lease,
    ];

    /// Those that are watched. Of Leases there is one for each Node, renewed every ten seconds: they are read one by one.
    pub const WATCHED: [Self; 8] = {
        let [watched @ .., Self::Lease] = Self::ALL else { panic!("Leases stand last") };
        watched
    };

    /// The kind's name, as objects bear it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PersistentVolume => "PersistentVolume",
            Self::PersistentVolumeClaim => "PersistentVolumeClaim",
            Self::Pod => "Pod",
            Self::Node => "Node",
            Self::VolumeAttachment => "VolumeAttachment",
            Self::CsiNode => "CSINode",
            Self::CsiDriver => "CSIDriver",
            Self::StorageClass => "StorageClass",
            Self::Lease => "Lease",
        }
    }

    /// The kind's API group; empty for the core group.
    pub fn group(self) -> &'static str {
        match self {
            Self::PersistentVolume | Self::PersistentVolumeClaim | Self::Pod | Self::Node => "",
            Self::VolumeAttachment | Self::CsiNode | Self::CsiDriver | Self::StorageClass => "storage.k8s.io",
            Self::Lease => "coordination.k8s.io",
        }
    }

    /// `apiVersion`, as objects of the kind bear it.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::PersistentVolume | Self::PersistentVolumeClaim | Self::Pod | Self::Node => "v1",
            Self::VolumeAttachment | Self::CsiNode | Self::CsiDriver | Self::StorageClass => "storage.k8s.io/v1",
            Self::Lease => "coordination.k8s.io/v1",
        }
    }

    /// Whether its objects are in namespaces.
    pub fn is_namespaced(self) -> bool {
        matches!(self, Self::PersistentVolumeClaim | Self::Pod | Self::Lease)
    }

    /// The kind of this name in this group. Without a group the name decides.
    pub(crate) fn find(group: Option<&str>, name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name && group.is_none_or(|group| group == kind.group()))
    }

    /// What nobody reads of the kind and is long. Of a PersistentVolume the managedFields are read: they tell whose a label
    /// is.
    fn unread(self) -> &'static [(&'static str, &'static str)] {
        const MANAGED_FIELDS: (&str, &str) = ("metadata", "managedFields");
        match self {
            Self::PersistentVolume => &[],
            Self::Pod => &[
                MANAGED_FIELDS,
                ("spec", "containers"),
                ("spec", "ephemeralContainers"),
                ("spec", "initContainers"),
                ("spec", "tolerations"),
                ("status", "conditions"),
                ("metadata", "annotations"),
                ("metadata", "labels"),
            ],
            Self::Node => &[MANAGED_FIELDS, ("status", "images"), ("status", "nodeInfo")],
            Self::PersistentVolumeClaim
            | Self::VolumeAttachment
            | Self::CsiNode
            | Self::CsiDriver
            | Self::StorageClass
            | Self::Lease => &[MANAGED_FIELDS],
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One object, of any kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Object {
    /// A PersistentVolume.
    PersistentVolume(PersistentVolume),
    /// A PersistentVolumeClaim.
    PersistentVolumeClaim(PersistentVolumeClaim),
    /// A Pod.
    Pod(Pod),
    /// A Node.
    Node(Node),
    /// A VolumeAttachment.
    VolumeAttachment(VolumeAttachment),
    /// A CSINode.
    CsiNode(CsiNode),
    /// A CSIDriver.
    CsiDriver(CsiDriver),
    /// A StorageClass.
    StorageClass(StorageClass),
    /// A Lease.
    Lease(Lease),
}

impl Object {
    /// The object's kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::PersistentVolume(_) => Kind::PersistentVolume,
            Self::PersistentVolumeClaim(_) => Kind::PersistentVolumeClaim,
            Self::Pod(_) => Kind::Pod,
            Self::Node(_) => Kind::Node,
            Self::VolumeAttachment(_) => Kind::VolumeAttachment,
            Self::CsiNode(_) => Kind::CsiNode,
            Self::CsiDriver(_) => Kind::CsiDriver,
            Self::StorageClass(_) => Kind::StorageClass,
            Self::Lease(_) => Kind::Lease,
        }
    }

    /// Who it is.
    pub fn identity(&self) -> &Identity {
        match self {
            Self::PersistentVolume(object) => &object.identity,
            Self::PersistentVolumeClaim(object) => &object.identity,
            Self::Pod(object) => &object.identity,
            Self::Node(object) => &object.identity,
            Self::VolumeAttachment(object) => &object.identity,
            Self::CsiNode(object) => &object.identity,
            Self::CsiDriver(object) => &object.identity,
            Self::StorageClass(object) => &object.identity,
            Self::Lease(object) => &object.identity,
        }
    }

    /// Its namespace and name.
    pub fn name(&self) -> &ObjectName {
        &self.identity().name
    }

    /// Reads an object of this kind. Quantities that can't be read are noted.
    pub(crate) fn read(kind: Kind, piece: &Piece<'_>, unreadable: &mut Vec<Unreadable>) -> Result<Self, Fault> {
        let unread = kind.unread();
        Ok(match kind {
            Kind::PersistentVolume => {
                let object: wire::volume::PersistentVolume = piece.read(unread)?;
                Self::PersistentVolume(object.into_record(unreadable))
            }
            Kind::PersistentVolumeClaim => {
                let object: wire::volume::PersistentVolumeClaim = piece.read(unread)?;
                Self::PersistentVolumeClaim(object.into_record(unreadable))
            }
            Kind::Pod => Self::Pod(piece.read::<wire::pod::Pod>(unread)?.into_record()),
            Kind::Node => Self::Node(piece.read::<wire::node::Node>(unread)?.into_record()),
            Kind::VolumeAttachment => {
                Self::VolumeAttachment(piece.read::<wire::storage::VolumeAttachment>(unread)?.into_record())
            }
            Kind::CsiNode => Self::CsiNode(piece.read::<wire::node::CsiNode>(unread)?.into_record()),
            Kind::CsiDriver => Self::CsiDriver(piece.read::<wire::storage::CsiDriver>(unread)?.into_record()),
            Kind::StorageClass => Self::StorageClass(piece.read::<wire::storage::StorageClass>(unread)?.into_record()),
            Kind::Lease => Self::Lease(piece.read::<wire::node::Lease>(unread)?.into_record()),
        })
    }
}
